"""The extension's commands for models, in node with a stand-in for VS Code, and the packed extension."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE
from support.commands import miltext
from support.highlighters import EDITORS, SCRIPTS, absent

pytestmark = pytest.mark.skipif(absent("node") is not None, reason="node is not installed")

FOLDER = EDITORS / "vscode"
ODD = "a 'b' \"c\" $(d) é"
"""A folder's name that a shell would take apart."""


@pytest.fixture
def command(tmp_path: Path) -> str:
    """The command of miltext, as a program of its own."""
    script = tmp_path / "bin" / "miltext"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m miltext "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / (ODD if sys.platform != "win32" else "a b é")
    folder.mkdir()
    return shutil.copytree(EXAMPLE, folder / "M.mlpackage")


def used(command: str, *steps: tuple[str, list[Path]], answers: list[Path] | None = None) -> Any:
    """Call commands of the extension, and return all that VS Code has seen."""
    given = {
        "command": command,
        "steps": [(name, list(map(str, paths))) for name, paths in steps],
        "answers": list(map(str, answers or [])),
    }
    words = ["node", str(SCRIPTS / "vscode.cjs"), str(FOLDER), json.dumps(given)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
    return json.loads(done.stdout)


def test_each_declared_command_exists(command: str) -> None:
    declared = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["contributes"]["commands"]
    assert sorted(each["command"] for each in declared) == sorted(used(command)["commands"])


def test_a_package_opens_as_its_text(command: str, model: Path) -> None:
    seen = used(command, ("mil.openAsText", [model]))
    assert seen["texts"] == [miltext("print", model).stdout.decode()]
    assert seen["errors"] == []


def test_a_text_follows_the_files_of_its_model(command: str, model: Path) -> None:
    seen = used(command, ("mil.openAsText", [model]), ("mil.openAsText", [model]))
    assert seen["watched"] == [[str(model.parent), "M.mlpackage"], [str(model.parent), "M.mlpackage/**"]]
    assert seen["changes"] == 6


def test_a_package_opens_as_a_page(command: str, model: Path) -> None:
    seen = used(command, ("mil.openAsPage", [model]), ("custom", [model]))
    ((title, page), (_, custom)) = seen["pages"]
    assert (title, page) == ("M.mlpackage", custom)
    assert page.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" in page


def test_two_selected_models_are_compared(command: str, model: Path) -> None:
    other = shutil.copytree(model, model.parent / "N.mlpackage")
    seen = used(command, ("mil.compareModels", [model, other]))
    text = miltext("print", model).stdout.decode()
    assert seen["differences"] == [[text, text, "M.mlpackage ↔ N.mlpackage", ".mil"]]


def test_a_dialog_requests_missing_models(command: str, model: Path) -> None:
    seen = used(command, ("mil.compareModels", []), ("mil.openAsText", []), answers=[model, model, model])
    assert [each[2] for each in seen["differences"]] == ["M.mlpackage ↔ M.mlpackage"]
    assert len(seen["texts"]) == 1
    cancelled = used(command, ("mil.compareModels", [model]), ("mil.openAsPage", []), ("mil.openAsText", []))
    assert (cancelled["differences"], cancelled["pages"], cancelled["texts"], cancelled["errors"]) == ([], [], [], [])


@pytest.mark.parametrize("name", ["missing.mlpackage", "folder.mlpackage", "text.mlmodel"])
def test_a_model_that_cannot_be_read_is_reported(name: str, command: str, tmp_path: Path) -> None:
    (tmp_path / "folder.mlpackage").mkdir()
    (tmp_path / "text.mlmodel").write_text("<b>no model</b>", encoding="utf-8")
    seen = used(command, ("mil.openAsText", [tmp_path / name]), ("mil.openAsPage", [tmp_path / name]))
    assert len(seen["errors"]) == 2
    assert name in seen["errors"][0]
    assert seen["texts"] == [f"// {seen['errors'][0]}\n"]
    assert "<b>" not in seen["pages"][0][1]


def test_a_missing_command_is_reported_with_the_way_to_it(model: Path, tmp_path: Path) -> None:
    seen = used(str(tmp_path / "none"), ("mil.openAsText", [model]))
    (message,) = seen["errors"]
    assert "was not found. Install miltext with pip, or name the command in the setting mil.server.path." in message


@pytest.mark.skipif(
    not (FOLDER / "node_modules" / "@vscode" / "vsce").is_dir(), reason="run `npm ci` in editors/vscode"
)
def test_the_extension_packs_without_warnings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILTEXT_PUBLISHER", "somebody")
    words = ["node", "package.mjs", str(tmp_path / "mil.vsix")]
    done = subprocess.run(words, cwd=FOLDER, capture_output=True, encoding="utf-8", check=True)
    assert "WARNING" not in done.stdout + done.stderr
    with zipfile.ZipFile(tmp_path / "mil.vsix") as packed:
        names = {name for name in packed.namelist() if name.startswith("extension/")}
        manifest = json.loads(packed.read("extension/package.json"))
    assert {"extension/LICENSE.txt", "extension/icon.png", "extension/dist/extension.js"} <= names
    assert not [name for name in names if "node_modules" in name]
    assert manifest["publisher"] == "somebody"
    assert {"scripts", "dependencies", "devDependencies"}.isdisjoint(manifest)
