"""Drafts where models are reviewed: beside them, in git, and what is seen of weights there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from conftest import ROOT
from support.commands import RUNNER
from support.containers import NEURAL_NETWORK
from support.repositories import EXAMPLE, MODEL, WEIGHTS, Repository, changes

import miltext
from miltext.cli import command
from miltext.review.textconv import ModelForm, file_text
from miltext.schema.proto import Program

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "Model.mlpackage"))


def run(*words: object, status: int = 0) -> Result:
    result = RUNNER.invoke(command, [*map(str, words)])
    assert result.exit_code == status, result.output
    return result


def main_operations(program: Program) -> list[miltext.schema.proto.Operation]:
    return list(next(iter(program.functions["main"].block_specializations.values())).operations)


def break_program(path: Path) -> None:
    """Have the first relu of a model read a value that there is not."""
    spec = miltext.schema.proto.Model.FromString(path.read_bytes())
    relu = next(each for each in main_operations(spec.mlProgram) if each.type == "relu")
    relu.inputs["x"].arguments[0].name = "nothing"
    path.write_bytes(spec.SerializeToString(deterministic=True))


def flip_last_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def drafted(text: str) -> str:
    """What follows the head of comments."""
    return text[text.index("program(") :]


# ---- sidecars


def test_a_sidecar_is_a_draft_with_digests(package: Path) -> None:
    run("sidecar", "--draft", package)
    text = package.with_name("Model.mlpackage.mil").read_text()
    assert text.splitlines()[0].endswith(": miltext sidecar --draft Model.mlpackage")
    assert "// description {" in text
    assert "program(1.3) $draft(names, consts, defaults)\n" in text
    assert "lit_cast_fp16 = relu(edges_cast_fp16);" in text
    assert ["BLOBFILE" in text, "$blob" in text] == [False, False]
    assert len(re.findall(r'\(\$elided\(\d+, "sha256:[0-9a-f]{16}"\)\)', text)) == 2
    assert miltext.format_text(text) == text
    assert len(text) < len(miltext.to_text(miltext.load(package).program))


def test_each_form_is_current_for_its_own_option_only(package: Path) -> None:
    for made in ([], ["--full"], ["--draft"]):
        run("sidecar", *made, package)
        for asked in ([], ["--full"], ["--draft"]):
            result = run("sidecar", "--check", *asked, package, status=int(asked != made))
            command_line = " ".join(["to write it: miltext sidecar", *asked, str(package)])
            assert (command_line in result.stderr) is (asked != made)
    result = run("sidecar", "--full", "--draft", package, status=2)
    assert "leave out one" in result.stderr


def test_a_changed_weight_makes_a_draft_stale(package: Path) -> None:
    run("sidecar", "--draft", package)
    sidecar = package.with_name("Model.mlpackage.mil")
    before = sidecar.read_text().splitlines()
    flip_last_bit(next(package.rglob("weight.bin")))
    assert "stale: " in run("sidecar", "--check", "--draft", package, status=1).stderr
    run("sidecar", "--draft", package)
    after = sidecar.read_text().splitlines()
    found = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert [("sha256:" in old, "sha256:" in new) for old, new in found] == [(True, True)]


def test_a_weight_that_cannot_be_read_is_an_error(package: Path) -> None:
    next(package.rglob("weight.bin")).unlink()
    assert "MIL302" in run("sidecar", "--draft", package, status=1).stderr
    assert not package.with_name("Model.mlpackage.mil").exists()


def test_a_sidecar_of_a_program_with_errors_is_in_full(package: Path) -> None:
    path = next(package.rglob("model.mlmodel"))
    break_program(path)
    result = run("sidecar", "--draft", package)
    assert result.stderr.startswith("wrote ")
    assert result.stderr.count("\n") == 1
    text = package.with_name("Model.mlpackage.mil").read_text()
    assert 'relu(x = nothing)[name = string("' in text
    assert text.count(" const()") == sum(each.type == "const" for each in main_operations(miltext.load(path).program))
    assert ["BLOBFILE" in text, "$draft" in text, text.count("sha256:")] == [False, False, 2]
    run("sidecar", "--check", "--draft", package)


def test_a_pipeline_and_another_kind_of_model_have_sidecars(tmp_path: Path) -> None:
    spec = miltext.schema.proto.Model
    inner = spec.FromString((EXAMPLE / "Data/com.apple.CoreML/model.mlmodel").read_bytes())
    pipeline = spec(specificationVersion=9)
    pipeline.pipeline.models.extend([spec.FromString(NEURAL_NETWORK), inner])
    (tmp_path / "p.mlmodel").write_bytes(pipeline.SerializeToString())
    (tmp_path / "n.mlmodel").write_bytes(NEURAL_NETWORK)
    shutil.copytree(next(EXAMPLE.rglob("weights")), tmp_path / "weights")
    run("sidecar", "--draft", tmp_path / "p.mlmodel")
    assert [path.name for path in tmp_path.glob("p*.mil")] == ["p.mlmodel.1.mil"]
    assert "$draft(" in (tmp_path / "p.mlmodel.1.mil").read_text()
    in_form = [run("sidecar", *form, tmp_path / "n.mlmodel", status=1).stderr for form in ([], ["--draft"])]
    assert in_form[0] == in_form[1]
    text = "".join(file_text(tmp_path / "p.mlmodel", ModelForm(as_draft=True, build_info=True)))
    assert '// ---- model 1 "": mlProgram\n' in text
    assert drafted(text) == miltext.to_draft(inner.mlProgram, elide=256)


def test_hooks_pass_over_drafts_beside_models(package: Path) -> None:
    run("sidecar", "--draft", package)
    assert run("check", package.parent).stdout.count("Model.mlpackage.mil") == 0
    run("fmt", "--check", package.with_name("Model.mlpackage.mil"))


# ---- git


@needs_git
def test_git_shows_drafts(repository: Repository) -> None:
    planned = repository.miltext("git", "setup", "--draft")
    assert " textconv --draft " in planned
    assert " textconv --draft " in repository.git("config", "diff.miltext.textconv")
    repository.edit()
    shown = repository.git("diff", "-U0")
    lines = [line for line in shown.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert [f"{line[0]}{line[1:].strip()}" for line in lines] == [
        "-lit_cast_fp16 = relu(edges_cast_fp16);",
        "+lit_cast_fp16 = tanh(edges_cast_fp16);",
    ]
    repository.commit()
    for command_line in (("log", "-p", "-1"), ("show",), ("diff", "HEAD~")):
        assert "+            lit_cast_fp16 = tanh(edges_cast_fp16);" in repository.git(*command_line)


@needs_git
def test_a_second_setup_changes_how_programs_are_shown(repository: Repository) -> None:
    repository.edit()
    repository.commit()
    for options, found in (["--draft"], []), ([], ["-relu", "+tanh"]), (["--draft"], []):
        repository.miltext("git", "setup", *options)
        assert changes(repository.git("show")) == (found or ["-relu", "+tanh"])
        assert ("[name = string(" in repository.git("show")) is bool(found)
    repository.miltext("git", "undo")
    assert "Binary files" in repository.git("diff", "HEAD~")


@needs_git
def test_the_text_shown_without_miltext_names_the_option(repository: Repository) -> None:
    planned = repository.miltext("git", "setup", "--draft", "--global", "--dry-run")
    assert "to record where it is now: miltext git setup --draft --global" in planned


@needs_git
def test_git_shows_a_changed_weight_beside_drafts(repository: Repository) -> None:
    repository.miltext("git", "setup", "--draft")
    flip_last_bit(repository.folder / WEIGHTS)
    lines = [line for line in repository.git("diff", "-U0").splitlines() if "sha256:" in line]
    assert [line[0] for line in lines] == ["-", "+"]


@needs_git
def test_git_shows_a_program_with_errors_in_full(repository: Repository) -> None:
    repository.miltext("git", "setup", "--draft")
    break_program(repository.folder / MODEL)
    shown = repository.git("diff")
    assert re.search(r'^\+ .*relu\(x = nothing\)\[name = string\("', shown, re.MULTILINE)
    assert "`miltext check`" not in shown


def test_a_text_for_git_names_the_places_of_weights() -> None:
    path = EXAMPLE / "Data/com.apple.CoreML/model.mlmodel"
    program = miltext.load(path).program
    text = drafted("".join(file_text(path, ModelForm(as_draft=True, build_info=True))))
    assert text == miltext.to_draft(program, elide=256)
    assert text.count('weights/weight.bin", ') == text.count("$blob(") == 1
    assert text.count("BLOBFILE(") == 1  # an argument: `infer` would make a const of the short form
    assert miltext.parse(miltext.infer_draft(text)) == program


@pytest.mark.parametrize("data", [b"", b"\0\1" * 99, b"program(1.3) {", (EXAMPLE / "Manifest.json").read_bytes()])
def test_any_file_is_shown_as_without_drafts(data: bytes, tmp_path: Path) -> None:
    for name in ("model.mlmodel", "coremldata.bin", "weight.bin"):
        (tmp_path / name).write_bytes(data)
        assert [*file_text(tmp_path / name, ModelForm(as_draft=True))] == [*file_text(tmp_path / name)]


def test_textconv_takes_the_option() -> None:
    path = EXAMPLE / "Data/com.apple.CoreML/model.mlmodel"
    done = subprocess.run(
        [sys.executable, "-m", "miltext", "textconv", "--draft", path], cwd=ROOT, capture_output=True, check=True
    )
    assert done.stdout.decode().replace("\r\n", "\n") == "".join(file_text(path, ModelForm(as_draft=True)))
    assert done.stderr == b""
