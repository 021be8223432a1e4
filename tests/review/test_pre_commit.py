"""The pre-commit hooks, run by the real pre-commit in a repository of the test's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from miltext.cli import VERBS

HOOKS = ROOT / ".pre-commit-hooks.yaml"
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
GOOD = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""

pytestmark = pytest.mark.skipif(not HOOKS.exists() or shutil.which("git") is None, reason="needs git and the tree")


def hooks() -> list[dict[str, Any]]:
    pytest.importorskip("pre_commit", reason="needs pre-commit")
    yaml = pytest.importorskip("yaml", reason="needs PyYAML, as pre-commit does")
    found: list[dict[str, Any]] = yaml.safe_load(HOOKS.read_text())
    return found


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the hooks as its own: as published they would be installed from the network, once each."""
    local = [{**hook, "language": "system"} for hook in hooks()]
    config = {"repos": [{"repo": "local", "hooks": local}]}
    folder = tmp_path / "repository"
    shutil.copytree(EXAMPLE, folder / "Model.mlpackage")
    (folder / ".pre-commit-config.yaml").write_text(json.dumps(config))  # JSON is YAML
    (folder / "good.mil").write_text(GOOD)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def run(folder: Path, hook: str) -> tuple[int, str]:
    """Run a hook on all files as they are now."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), environment["PATH"]])
    environment["PRE_COMMIT_HOME"] = str(folder.parent / "pre-commit")
    subprocess.run(["git", "add", "."], cwd=folder, check=True, env=environment)
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files", hook]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def test_each_hook_is_a_verb_that_there_is() -> None:
    assert [hook["id"] for hook in hooks()] == ["miltext-fmt", "miltext-check", "miltext-sidecar"]
    assert {hook["entry"].split()[1] for hook in hooks()} <= {*VERBS}
    assert {hook["language"] for hook in hooks()} == {"python"}


def test_the_hook_and_the_verb_pass_over_the_same_sidecars() -> None:
    from miltext.review.sidecar import is_sidecar

    exclude = next(hook["exclude"] for hook in hooks() if hook["id"] == "miltext-check")
    kinds = ("mlmodel", "mlpackage", "mlmodelc", "mil", "pb", "txtpb", "onnx", "")
    names = [f"a/Model.{kind}{place}.mil" for kind in kinds for place in ("", ".0", ".1.12", ".x")]
    found = [name for name in names if is_sidecar(name)]
    assert found == [name for name in names if re.search(exclude, name)]
    assert len(found) == 18


def test_fmt_lays_out_what_is_committed(repository: Path) -> None:
    assert run(repository, "miltext-fmt")[0] == 0
    (repository / "bad.mil").write_text(GOOD.replace("    ", " "))
    status, shown = run(repository, "miltext-fmt")
    assert (status, "reformatted bad.mil" in shown) == (1, True)
    assert (repository / "bad.mil").read_text() == GOOD
    assert run(repository, "miltext-fmt")[0] == 0


def test_check_refuses_a_program_that_is_wrong(repository: Path) -> None:
    status, shown = run(repository, "miltext-check")
    assert status == 0, shown
    (repository / "bad.mil").write_text(GOOD.replace("relu(x = x)", "relu(x = z)"))
    status, shown = run(repository, "miltext-check")
    assert (status, "bad.mil:4:" in shown) == (1, True), shown


def test_check_takes_a_draft_unless_drafts_are_refused(repository: Path) -> None:
    (repository / "draft.mil").write_text(GOOD.replace("tensor<fp16, [2]> y = relu(x = x)", "y = relu(x)"))
    for hook in ("miltext-fmt", "miltext-check"):
        status, shown = run(repository, hook)
        assert status == 0, shown
    (repository / "pyproject.toml").write_text("[tool.miltext]\ndrafts = false\n")
    status, shown = run(repository, "miltext-check")
    assert (status, "draft.mil:4:" in shown, "error[MIL712]" in shown) == (1, True, True), shown


def test_sidecar_refuses_a_model_without_its_text(repository: Path) -> None:
    status, shown = run(repository, "miltext-sidecar")
    assert (status, "to write it: miltext sidecar Model.mlpackage" in shown) == (1, True), shown
    assert shown.count("stale:") == 1
    subprocess.run([sys.executable, "-m", "miltext", "sidecar", "Model.mlpackage"], cwd=repository, check=True)
    for hook in ("miltext-sidecar", "miltext-fmt", "miltext-check"):
        status, shown = run(repository, hook)
        assert status == 0, shown
