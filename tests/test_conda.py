"""The recipe for conda has the facts of pyproject.toml."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tomlkit
from conftest import ROOT

yaml = pytest.importorskip("yaml", reason="PyYAML comes with pre-commit")


def _recipe() -> Any:
    return yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))


def _spelled(requirement: str) -> str:
    """Return a requirement of pip as conda spells it."""
    found = re.fullmatch(r"([\w-]+)(.*)", requirement.partition(";")[0].strip())
    assert found is not None
    return f"{found[1]} {found[2]}".strip()


def test_the_recipe_has_the_facts_of_the_project() -> None:
    whole = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8")).unwrap()
    project, recipe = whole["project"], _recipe()
    python = f"python {project['requires-python']}"
    assert recipe["context"]["version"] == project["version"]
    assert recipe["package"]["name"] == project["name"]
    assert recipe["requirements"]["run"] == [python, *map(_spelled, project["dependencies"])]
    assert recipe["requirements"]["host"] == [python, "pip", *map(_spelled, whole["build-system"]["requires"])]
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {at}" for name, at in project["scripts"].items()]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["license_file"] == project["license-files"]
    assert recipe["about"]["summary"] == project["description"]


def test_paths_in_the_recipe_exist() -> None:
    recipe = _recipe()
    assert (ROOT / "conda" / recipe["source"]["path"] / "pyproject.toml").resolve() == ROOT / "pyproject.toml"
    assert all((ROOT / name).is_file() for name in recipe["about"]["license_file"])
