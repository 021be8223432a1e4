"""The pre-commit hooks, run by the real pre-commit in a repository of the test's own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from support.containers import pipeline, write_package

import miltext
from miltext.cli import VERBS
from miltext.schema.proto import Model

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


def run(folder: Path, hook: str, *words: str) -> tuple[int, str]:
    """Run a hook on all files as they are now, or on the files in other `words` for pre-commit."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), environment["PATH"]])
    environment["PRE_COMMIT_HOME"] = str(folder.parent / "pre-commit")
    subprocess.run(["git", "add", "."], cwd=folder, check=True, env=environment)
    command = [sys.executable, "-m", "pre_commit", "run", *(words or ["--all-files"]), hook]
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


def test_fmt_formats_the_committed_texts(repository: Path) -> None:
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


# ---- whole models

INNER = Path("Model.mlpackage/Data/com.apple.CoreML")


def _other_input(package: Path) -> None:
    file = package / "Data/com.apple.CoreML/model.mlmodel"
    spec = Model.FromString(file.read_bytes())
    spec.description.input[0].name = "ghost"
    file.write_bytes(spec.SerializeToString())


FAULTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "another input": (_other_input, "Data/com.apple.CoreML/model.mlmodel", "MIL265"),
    "weights cut": (
        lambda package: os.truncate(package / "Data/com.apple.CoreML/weights/weight.bin", 100),
        "Data/com.apple.CoreML/weights/weight.bin",
        "MIL263",
    ),
    "a git-lfs pointer": (
        lambda package: (package / "Data/com.apple.CoreML/weights/weight.bin").write_text(POINTER),
        "Data/com.apple.CoreML/weights/weight.bin",
        "MIL264",
    ),
    "another author": (
        lambda package: (package / "Manifest.json").write_text(
            (package / "Manifest.json").read_text().replace('"author"', '"writer"', 1)
        ),
        "Manifest.json",
        "MIL271",
    ),
}
"""Faults of a package: the change, the file that it changes, and the code of the finding."""

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 4096\n"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_changed_file_of_a_package_is_checked_as_the_whole(fault: str, repository: Path) -> None:
    change, file, code = FAULTS[fault]
    run(repository, "miltext-check")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repository)]
    subprocess.run([*git, "commit", "-q", "--no-verify", "-m", "first"], check=True)
    change(repository / "Model.mlpackage")
    staged = subprocess.run([*git, "diff", "--name-only"], check=True, capture_output=True, text=True).stdout.split()
    assert staged == [f"Model.mlpackage/{file}"]
    status, shown = run(repository, "miltext-check", "--files", *staged)
    assert (status, code in shown) == (1, True), shown
    assert shown.count(f"[{code}]") >= 1


def test_a_deleted_weight_file_is_found_among_all_files(repository: Path) -> None:
    run(repository, "miltext-check")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(repository)]
    subprocess.run([*git, "commit", "-q", "--no-verify", "-m", "first"], check=True)
    (repository / INNER / "weights/weight.bin").unlink()
    status, shown = run(repository, "miltext-check", "--hook-stage", "pre-commit")
    assert (status, "no files to check" in shown) == (0, True), shown  # pre-commit passes no deleted file
    status, shown = run(repository, "miltext-check")
    assert (status, shown.count("[MIL264]")) == (1, 1), shown


def test_a_file_of_a_pipeline_stands_for_all_its_models(repository: Path) -> None:
    first, second = _program_model(repository / "good.mil"), _program_model(repository / "good.mil")
    second.description.input[0].name = "ghost"
    package = repository / "P.mlpackage"
    write_package(package, pipeline(first, second, names=("a", "b")).SerializeToString())
    status, shown = run(repository, "miltext-check", "--files", "P.mlpackage/Manifest.json")
    assert (status, 'model 1 "b"' in shown, "MIL265" in shown) == (1, True, True), shown


def _program_model(text: Path) -> Model:
    package = text.parent.parent / "One.mlmodel"
    miltext.build(text, package, force=True)
    return Model.FromString(package.read_bytes())


def test_several_files_of_a_package_are_one_model(repository: Path) -> None:
    files = [
        str(each.relative_to(repository)) for each in (repository / "Model.mlpackage").rglob("*") if each.is_file()
    ]
    done = subprocess.run(
        [sys.executable, "-m", "miltext", "check", *files], cwd=repository, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "nothing found in 1 program\n")


def test_a_clone_without_the_folder_of_weights_is_reported(repository: Path) -> None:
    _cut_weights(repository)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "add", "."], cwd=repository, check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], cwd=repository, check=True)
    clone = repository.parent / "clone"
    subprocess.run([*git, "clone", "-q", str(repository), str(clone)], check=True)
    assert not (clone / INNER / "weights").exists()
    status, shown = run(clone, "miltext-check")
    assert (status, "MIL271" in shown) == (1, True), shown


def _cut_weights(repository: Path) -> None:
    """Make the model of a program without weights, as coremltools writes it: with an empty folder of weights."""
    text, package = repository / "good.mil", repository / "Model.mlpackage"
    shutil.rmtree(package)
    miltext.build(text, package)
    (repository / INNER / "weights").mkdir()
    file = package / "Manifest.json"
    whole = json.loads(file.read_text())
    whole["itemInfoEntries"]["w"] = {
        "author": "com.apple.CoreML",
        "description": "CoreML Model Weights",
        "name": "weights",
        "path": "com.apple.CoreML/weights",
    }
    file.write_text(json.dumps(whole))
