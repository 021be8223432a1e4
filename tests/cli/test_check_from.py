"""`miltext check TEXT --from MODEL`: the findings of the model that `build TEXT --from MODEL` would write."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from conftest import EXAMPLE
from support.containers import pipeline
from support.contradictions.contradicted import Case, Inapplicable
from support.contradictions.drawing import CONTRADICTIONS, EQUIVALENT
from support.kinds import kind
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model

Found = Counter[tuple[str, str, str]]

OF_MANIFESTS = {"MIL270", "MIL271"}
"""The codes of findings in a manifest, which a build writes anew."""


def ran(*words: object) -> tuple[int, str]:
    result = RUNNER.invoke(command, [*map(str, words)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout + result.stderr


def found(*words: object) -> Found:
    """The findings of `check`: severity, code and message."""
    result = RUNNER.invoke(command, ["check", *map(str, words), "--format", "json", "--isolated"])
    assert result.stdout, result.stderr
    each = (each for each in json.loads(result.stdout)["diagnostics"] if each["code"] not in OF_MANIFESTS)
    return Counter((one["severity"], one["code"], _ABSENT.sub("is absent", one["message"])) for one in each)


_ABSENT = re.compile("is not a regular file|is a git-lfs pointer.*|does not exist")
"""The reasons for a weight file that is absent: a build leaves it out."""


def agree(text: Path, model: Path, place: str, ending: str) -> bool:
    """Compare with the model that is built; return whether one is."""
    words = ["--from", model, *(["--model", place] if place else [])]
    there = sorted(text.parent.iterdir())
    checked, out = found(text, *words), text.parent / "out" / f"Out.{ending}"
    assert sorted(text.parent.iterdir()) == there
    out.parent.mkdir()
    status, told = ran("build", text, *words, "--no-check", "-o", out)
    if status:
        out.parent.rmdir()
        assert any(code in told for _, code, _ in checked) or any(each == "error" for each, _, _ in checked)
        return False
    assert checked == found(out), told
    shutil.rmtree(out.parent)
    return True


# ---- the law


@pytest.mark.parametrize("name", ["image-RGB", "ranges", "labels-string", "pipeline-2", "two-files", "functions"])
@pytest.mark.parametrize("edits", ["model", "text"])
def test_check_reports_the_model_that_build_writes(name: str, edits: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    random, built, source = Random(name + edits), 0, kind(name)
    ways = [*CONTRADICTIONS.values(), *EQUIVALENT.values()]
    while built < 8:
        folder = tmp_path / str(random.getrandbits(32))
        folder.mkdir()
        case = Case(source, folder / "M.mlpackage", Random(random.getrandbits(32)))
        try:
            random.choice(ways).make(case)
        except Inapplicable:
            continue
        case.save()
        try:
            stages = [*open_model(case.folder).programs()] and open_model(source).programs()
        except miltext.MiltextError:
            continue
        place, text = random.choice(stages).place, folder / "t.mil"
        edited, model = (source, case.folder) if edits == "model" else (case.folder, source)
        text.write_text(miltext.to_text(open_model(edited).select(place).program), encoding="utf-8")
        built += agree(text, model, place, random.choice(["mlpackage", "mlmodel"]))


# ---- single cases


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "m.mil"
    path.write_text(miltext.to_text(miltext.load(EXAMPLE).program), encoding="utf-8")
    return path


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """The example, with a description that has another name for its input."""
    spec = open_model(EXAMPLE).spec
    assert spec is not None
    spec.description.input[0].name = "ghost"
    made = tmp_path / "Odd.mlpackage"
    shutil.copytree(EXAMPLE, made)
    (made / "Data/com.apple.CoreML/model.mlmodel").write_bytes(spec.SerializeToString())
    return made


def test_a_whole_model_has_no_findings(text: Path) -> None:
    assert ran("check", text, "--from", EXAMPLE) == (0, "nothing found in 1 program\n")


def test_a_contradiction_has_its_place_in_the_text(text: Path, odd: Path) -> None:
    lines = text.read_text().split("func main")[0].count("\n") + 1
    status, told = ran("check", text, "--from", odd)
    assert status == 1
    assert f"{text}:{lines}:" in told
    assert "MIL265" in told
    assert "`ghost`" in told


def test_a_comment_ignores_a_contradiction(text: Path, odd: Path) -> None:
    def ignoring(line: str) -> str:
        return f"{line} // mil: ignore[MIL265]" if "func main" in line else line

    text.write_text("\n".join(map(ignoring, text.read_text().split("\n"))))
    assert ran("check", text, "--from", odd)[0] == 0
    assert "MIL713" in ran("check", text, "--from", EXAMPLE)[1]


@pytest.mark.parametrize("form", ["elided", "draft", "crlf"])
def test_any_form_of_a_text_is_checked_with_its_model(form: str, odd: Path, tmp_path: Path) -> None:
    program, path = miltext.load(EXAMPLE).program, tmp_path / "m.mil"
    made = (
        miltext.to_draft(program)
        if form == "draft"
        else miltext.to_text(program, elide=4 if form == "elided" else None)
    )
    path.write_bytes(made.replace("\n", "\r\n" if form == "crlf" else "\n").encode())
    assert ran("check", path, "--from", EXAMPLE, "--ignore", "MIL712")[0] == 0
    reported = {code for severity, code, _ in found(path, "--from", odd) if severity == "error"}
    assert reported == {"MIL265"}


def test_weights_that_the_model_lacks_are_missing(text: Path, tmp_path: Path) -> None:
    model = tmp_path / "M.mlpackage"
    shutil.copytree(EXAMPLE, model)
    shutil.rmtree(model / "Data/com.apple.CoreML/weights")
    assert {code for _, code, _ in found(text, "--from", model)} == {"MIL264"}
    assert ran("check", text, "--from", model, "--ignore", "MIL264")[0] == 0


def test_an_error_of_the_build_is_reported_at_its_place(text: Path) -> None:
    text.write_text(text.read_text().replace("weights/weight.bin", "weights/other.bin", 1))
    status, told = ran("check", text, "--from", EXAMPLE)
    assert (status, "MIL302" in told) == (1, True), told
    assert f"{text}:" in told


def test_errors_of_a_text_are_reported_alone(text: Path) -> None:
    text.write_text(text.read_text().replace("relu(", "relo(", 1) + "}")
    assert found(text, "--from", EXAMPLE) == found(text)


def test_a_program_alone_only_gives_its_values(text: Path, tmp_path: Path) -> None:
    program = miltext.load(EXAMPLE).program
    (tmp_path / "p.pb").write_bytes(program.SerializeToString())
    text.write_text(miltext.to_text(program, elide=4))
    assert ran("check", text, "--from", tmp_path / "p.pb")[0] == 0


def test_arrays_of_a_text_are_not_missing_weights(tmp_path: Path) -> None:
    import numpy as np

    np.save(tmp_path / "w.npy", np.ones((1, 4), np.float32))
    path, model = tmp_path / "m.mil", tmp_path / "M.mlpackage"
    head = "program(1.3)\n{\n    func main<ios18>(tensor<fp32, [1, 4]> x) {\n"
    const = '        tensor<fp32, [1, 4]> w = const()[val = tensor<fp32, [1, 4]>($npy("w.npy"))];\n'
    path.write_text(f"{head}{const}        tensor<fp32, [1, 4]> y = add(x = x, y = w);\n    }} -> (y);\n}}\n")
    miltext.build(path, model)
    assert ran("check", path, "--from", model) == (0, "nothing found in 1 program\n")


def test_a_pipeline_needs_the_model_of_the_text(tmp_path: Path, text: Path) -> None:
    spec = open_model(EXAMPLE).spec
    assert spec is not None
    whole = tmp_path / "P.mlpackage"
    shutil.copytree(EXAMPLE, whole)
    two = pipeline(spec, spec, names=("a", "b"))
    (whole / "Data/com.apple.CoreML/model.mlmodel").write_bytes(two.SerializeToString())
    status, told = ran("check", text, "--from", whole)
    assert (status, "MIL257" in told) == (1, True), told
    assert agree(text, whole, "b", "mlpackage")
    assert ran("check", text, "--from", whole, "--model", "c")[0] != 0


def test_a_model_is_chosen_in_the_pipeline_of_from(text: Path) -> None:
    status, told = ran("check", text, "--model", "1")
    assert (status, "--from" in told) == (2, True)


def test_a_fix_of_a_text_leaves_the_model(text: Path, odd: Path) -> None:
    text.write_text(text.read_text().replace("relu(", "relo(", 1))
    before = {path: path.read_bytes() for path in odd.rglob("*") if path.is_file()}
    ran("check", text, "--from", odd, "--fix", "--unsafe-fixes")
    assert "relo(" not in text.read_text()
    assert {path: path.read_bytes() for path in before} == before
