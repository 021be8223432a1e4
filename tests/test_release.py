"""The release: its script, its workflow, and the files that state the version."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import tomlkit
from conftest import ROOT

BUILD = ROOT / ".ci" / "build"
WORKFLOW = (ROOT / ".github" / "workflows" / "release.yml") if (ROOT / ".github").exists() else None

pytestmark = pytest.mark.skipif(not BUILD.exists(), reason="needs the source tree")


def version() -> str:
    project = tomlkit.parse((ROOT / "pyproject.toml").read_text(encoding="utf-8")).unwrap()["project"]
    return str(project["version"])


@pytest.mark.skipif(sys.platform == "win32", reason="the release is built on Linux")
@pytest.mark.parametrize("tag", ["v9.9.9", "1.0", "v"])
def test_a_tag_of_another_version_is_refused(tag: str, tmp_path: Path) -> None:
    done = subprocess.run([BUILD, tmp_path / "dist", tag], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"the tag {tag} is not v{version()}, the version in pyproject.toml\n")
    assert not (tmp_path / "dist").exists()


def test_the_citation_states_the_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", text, re.MULTILINE) == [version()]


def test_the_changelog_begins_with_the_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## ([^,\n]+)", text, re.MULTILINE)[0] == version()


def test_only_a_tag_is_published_and_without_a_password() -> None:
    assert WORKFLOW is not None
    text = WORKFLOW.read_text(encoding="utf-8")
    build, publish = text.split("\n  publish:\n")
    assert 'run: .ci/build dist "$TAG"' in build
    assert "id-token" not in build
    assert publish.startswith("    if: github.ref_type == 'tag'\n    needs: build\n")
    assert {"id-token: write", "attestations: write"} <= {*re.findall(r"^      ([\w-]+: write)", publish, re.MULTILINE)}
    assert "password:" not in text
