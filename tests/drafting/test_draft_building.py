"""From a draft to a model: all that is wrong with it is reported in its own places, and what is right is built."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE, GOLDEN, ROOT, Check, wire
from hypothesis import given, settings
from hypothesis import strategies as st
from support.draft_builds import ELIDED, HALVED, built, model_of, program, run, written
from support.model_checks import assert_coremltools_opens, assert_same_model
from support.short_drafts import BROKEN, DRAFTS

import miltext
from miltext.building.build import build as build_whole
from miltext.building.choices import BuildChoices
from miltext.checking.ignores import GAPS
from miltext.containers.programs import TextModel
from miltext.diagnostics import Diagnostic, MiltextError, ModelError, ParseError
from miltext.drafting.building import build

CASES = sorted((GOLDEN / "built").glob("*.mil"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_draft_of_the_readme_is_built(folder: Path) -> None:
    for path in (ROOT / "examples" / "ffn").iterdir():
        shutil.copy(path, folder)
    draft = Path("ffn.mil").read_text(encoding="utf-8")
    assert miltext.format_text(draft) == draft
    assert run("check", "ffn.mil").exit_code == 0
    result = run("build", "ffn.mil", "-o", "FFN.mlpackage")
    assert (result.exit_code, result.stderr) == (0, "")
    assert_coremltools_opens(folder / "FFN.mlpackage")


# ---- what is wrong


def test_goldens_exist() -> None:
    assert {"ten_mistakes", "warnings", "missing_array", "undescribed_output"} <= {case.stem for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_golden(case: Path, folder: Path, matches_golden: Check) -> None:
    """Only doubts leave a model."""
    written(case.read_bytes(), case.name)
    result = run("build", case.name, "-o", "Out.mlpackage")
    assert result.stdout == ""
    matches_golden(case.with_suffix(".txt"), result.stderr)
    is_right = "error[" not in result.stderr
    assert result.exit_code == (0 if is_right else 1)
    assert [path.name for path in sorted(folder.iterdir())] == ["Out.mlpackage"] * is_right + [case.name]


def test_ten_mistakes_of_different_kinds_are_ten_reports(folder: Path) -> None:
    text = (GOLDEN / "built" / "ten_mistakes.mil").read_text()
    with pytest.raises(ParseError) as refused:
        build(model_of(text), "Out.mlpackage")
    found = refused.value.diagnostics
    assert [each.severity for each in found] == ["error"] * 10
    assert len({each.code for each in found}) == 10
    assert [each for each in miltext.check(text) if each.code != "MIL712"] == found


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("options", [(), ("--from", EXAMPLE)], ids=["alone", "from"])
def test_all_that_check_finds_is_shown_and_nothing_is_written(text: str, options: tuple[str], folder: Path) -> None:
    written(text)
    shown = run("check", "draft.mil").stdout
    result = run("build", "draft.mil", *options, "-o", "Out.mlpackage")
    assert (result.exit_code, result.stdout) == (1, "")
    assert heads(result.stderr) == [head for head in heads(shown) if "[MIL712]" not in head]
    assert [path.name for path in folder.iterdir()] == ["draft.mil"]


def heads(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.startswith("draft.mil:")]


SLIPS = [
    "",
    "(",
    ")",
    ",",
    ";",
    "=",
    "_ ",
    "x",
    "0.5",
    "}",
    '"',
    "/*",
    "int64",
    "silu(x)",
    '$npy("w.npy")',
    "\n",
    "\r\n",
]


@pytest.mark.any_version
@settings(max_examples=60)
@given(
    st.sampled_from([HALVED, DRAFTS["feed_forward"], *[case.read_text() for case in CASES]]),
    st.floats(0, 1, exclude_max=True),
    st.integers(0, 12),
    st.sampled_from(SLIPS),
)
def test_building_a_wrong_draft_reports_the_findings_of_check(text: str, place: float, length: int, slip: str) -> None:
    at = int(place * len(text))
    broken = text[:at] + slip + text[at + length :]
    checked = miltext.check(broken, path="draft.mil")
    found = [each for each in checked if each.code not in GAPS]
    is_draft = any(each.code == "MIL712" for each in checked)
    with tempfile.TemporaryDirectory() as folder:
        said, is_written = attempted(broken, Path(folder))
    if isinstance(said, list):
        assert is_written
        assert not is_draft or said[: len(found)] == found
    else:
        assert not is_written
        assert not is_draft or said.text == broken
        if is_draft and any(each.severity == "error" for each in found):
            assert said.diagnostics == found


def attempted(text: str, folder: Path) -> tuple[list[Diagnostic] | MiltextError, bool]:
    """What the build of a draft returns or raises, and whether it writes something."""
    output = folder / "Out.mlpackage"
    said: list[Diagnostic] | MiltextError
    try:
        said = build(TextModel(text.encode(), "draft.mil", folder / "draft.mil"), output)
    except MiltextError as refused:
        said = refused
    return said, output.exists()


@pytest.mark.parametrize("comment", ["", " // mil: ignore", " // mil: ignore[MIL5]", " // mil: ignore[MIL712]"])
def test_ignored_findings_are_not_shown(comment: str, folder: Path) -> None:
    written(program(f"z = log(x);{comment}", "y = relu(z);"))
    result = run("build", "draft.mil", "-o", "Out.mlpackage")
    ignored = "MIL5" in comment or comment.endswith("ignore")
    assert (result.exit_code, "warning[MIL513]" in result.stderr) == (0, not ignored)
    assert "[MIL713]" not in result.stderr
    assert built() == ["log", "relu"]


def test_the_function_returns_the_findings_then_its_warnings(folder: Path) -> None:
    text = program("z = log(x);", "y = relu(z);", inputs="tensor<fp16, [2]> x")
    build(model_of(text.replace("fp16", "fp32")), "Old.mlpackage")
    old = miltext.load("Old.mlpackage")
    assert old.description is not None
    old.description.input[0].type.multiArrayType.floatDefaultValue = 0.1
    found = build(model_of(text), "Out.mlpackage", original=old)
    assert [each.code for each in found] == ["MIL513", "MIL450"]
    assert found[0].span is not None
    assert text[slice(*found[0].span)] == "log"
    whole = miltext.infer_draft(text)
    assert found[1:] == build_whole(model_of(whole, "whole.mil"), "Whole.mlpackage", BuildChoices(original=old))


# ---- places


NPY = 'w = const()[val = tensor<fp16, [2]>($npy("{}"))];'
BLOB = 'w = const()[val = tensor<fp16, [2]>(BLOBFILE(path = string("@model_path/no.bin"), offset = uint64(64)))];'
STATE = "state<tensor<fp16, [?]>> s"

PLACES = [
    (program("y = relu(x);", inputs="fp16 x, bool b"), "MIL420", "bool b"),
    (program("y = relu(x);", inputs=f"fp16 x, {STATE}"), "MIL621", STATE),
    (program('y = cast(mul(x, 2.0), dtype = "uint8");'), "MIL420", "y"),
    (program('y = cast(x, "uint8");').replace("(1.3)", "(1.3) $draft(consts, defaults)"), "MIL420", "y"),
    (program(BLOB, "y = add(relu(x), w);", inputs="fp16 x"), "MIL302", '"@model_path/no.bin"'),
    (program(NPY.format("no.npy"), "y = add(relu(x), w);", inputs="fp16 x"), "MIL41", "$npy"),
    (program("h = const()[val = 0.5];", NPY.format("w.npy"), "y = add(mul(h, 1), w);"), "MIL41", "$npy"),
    (ELIDED, "MIL107", "$elided"),
]
"""Drafts that are right, but cannot be built: with what, and the words that are to blame."""


@pytest.mark.parametrize(("text", "code", "marked"), PLACES)
@pytest.mark.parametrize("crlf", [False, True])
def test_an_error_of_a_build_has_its_place_in_the_draft(
    text: str, code: str, marked: str, crlf: bool, folder: Path
) -> None:
    np.save("w.npy", np.zeros(3, np.float16))
    text = text.replace("\n", "\r\n") if crlf else text
    with pytest.raises(MiltextError) as refused:
        build(model_of(text), "Out.mlpackage")
    [found] = refused.value.diagnostics
    assert found.span is not None
    assert found.code.startswith(code)
    assert marked in text[slice(*found.span)]
    assert (refused.value.text, refused.value.path) == (text, "draft.mil")
    assert not Path("Out.mlpackage").exists()


# ---- what is right


SHORT = sorted((GOLDEN / "short").glob("*.mil"))


@pytest.mark.parametrize("text", [HALVED, *DRAFTS.values(), *[path.read_text() for path in SHORT[:3]]])
@pytest.mark.parametrize("name", ["Out.mlpackage", "Out.mlmodel"])
def test_a_draft_is_built_as_its_inferred_text(text: str, name: str, folder: Path) -> None:
    def made(text: str) -> MiltextError | bytes:
        try:
            build(model_of(text), f"{len(text)}-{name}")
        except ModelError as refused:  # for want of weights
            return refused.diagnostics[0].code.encode()
        return wire(miltext.load(f"{len(text)}-{name}").spec)  # type: ignore[arg-type]

    assert made(text) == made(miltext.infer_draft(text))


@pytest.mark.parametrize("text", [HALVED, DRAFTS["feed_forward"]])
def test_coremltools_opens_a_built_model(text: str, folder: Path) -> None:
    pytest.importorskip("coremltools")
    written(text)
    assert run("build", "draft.mil", "-o", "Out.mlpackage").exit_code == 0
    assert_coremltools_opens(folder / "Out.mlpackage")


def test_arrays_beside_a_draft_are_stored(folder: Path) -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    written(
        program('w = const()[val = tensor<fp16, [2, 3]>($npy("a/w.npy"))];', "y = mul(silu(x), w);"), "in/draft.mil"
    )
    (folder / "in" / "a").mkdir()
    np.save("in/a/w.npy", array)
    assert run("build", "in/draft.mil", "-o", "Out.mlpackage").stderr == ""
    assert np.array_equal(miltext.load("Out.mlpackage").weights["w"], array)
    assert run("infer", "in/draft.mil", "-o", "in/whole.mil").exit_code == 0
    assert '$npy("a/w.npy")' in Path("in/whole.mil").read_text()
    assert run("build", "in/whole.mil", "-o", "Same.mlpackage").stderr == ""
    assert_same_model(folder / "Same.mlpackage", folder / "Out.mlpackage")


def test_weight_files_beside_a_draft_are_taken_along(folder: Path) -> None:
    for words in (["--weights", "Whole.mlpackage/Data/com.apple.CoreML"], ["--from", "Whole.mlpackage"]):
        np.save("w.npy", np.ones(20, np.float16))
        text = program('w = const()[val = tensor<fp16, [20]>($npy("w.npy"))];', "y = mul(silu(x), w);", inputs="fp16 x")
        build(model_of(text), "Whole.mlpackage", force=True)
        named = text.replace(
            '$npy("w.npy")', 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))'
        )
        written(named)
        assert run("build", "draft.mil", *words, "-o", "Out.mlpackage", "--force").stderr == ""
        assert_same_model(folder / "Out.mlpackage", folder / "Whole.mlpackage")


def test_constants_of_a_draft_are_moved_into_the_weight_file(folder: Path) -> None:
    written(program("w = const()[val = [[1, 2, 3], [4, 5, 6]]];", "y = mul(silu(x), w);"))
    assert run("build", "draft.mil", "--externalize", "4", "-o", "Out.mlpackage").stderr == ""
    assert [each.blob is not None for each in miltext.load("Out.mlpackage").weights.entries.values()] == [True]


def test_elided_literals_of_a_draft_are_filled_in(folder: Path) -> None:
    run("print", EXAMPLE, "--elide", 2, "-o", "model.mil")
    text = Path("model.mil").read_text()
    draft = text.replace("tensor<fp16, [1, 6, 8, 8]> lit_cast_fp16 = relu(x = ", "lit_cast_fp16 = relu(")
    assert draft != text
    written(draft)
    result = run("build", "draft.mil", "--from", EXAMPLE, "-o", "Out.mlpackage")
    assert (result.exit_code, result.stderr) == (0, "")
    assert_same_model(folder / "Out.mlpackage", EXAMPLE)
    written(draft.replace("sha256:", "sha256:0", 1))
    wrong = run("build", "draft.mil", "--from", EXAMPLE, "-o", "Wrong.mlpackage")
    assert (wrong.exit_code, "draft.mil:" in wrong.stderr, "error[MIL410]" in wrong.stderr) == (1, True, True)
    assert not Path("Wrong.mlpackage").exists()


def test_a_draft_takes_the_place_of_a_models_program(folder: Path) -> None:
    written(HALVED)
    assert run("build", "draft.mil", "-o", "Old.mlpackage").exit_code == 0
    for text, changed in ((HALVED.replace("0.5", "2.5"), False), (HALVED.replace("[2, 3]", "[4]"), True)):
        written(text)
        result = run("build", "draft.mil", "--from", "Old.mlpackage", "-o", "Out.mlpackage", "--force")
        assert (result.exit_code, built()) == (0, ["silu", "mul"])
        told = [f"~ {value}: shape [2, 3] -> [4]\n" for value in ("input x", "output y") if changed]
        assert result.stderr == "".join(told)


@pytest.mark.parametrize("name", ["draft.mil", "whole.mil", "Model.mlpackage", "."])
def test_an_original_that_is_not_a_model_is_refused(name: str, folder: Path) -> None:
    written(HALVED)
    written(miltext.infer_draft(HALVED), "whole.mil")
    for kind in ("draft.mil", "whole.mil"):
        result = run("build", kind, "--from", name, "-o", "Out.mlpackage")
        code = {"Model.mlpackage": "not found", ".": "MIL251"}.get(name, "MIL404")
        assert (result.exit_code in (1, 2), code in result.stderr) == (True, True)
    assert not Path("Out.mlpackage").exists()
