"""Text that leaves values out: what a check says of it, and what a build does without the original."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from conftest import corpus_files
from models.test_build_text import built, function, original, program, text_model

import miltext
from miltext.checking.verifier import examine
from miltext.cli import command
from miltext.containers.opening import load, open_model
from miltext.diagnostics import Diagnostic, ParseError
from miltext.models.model import Model

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"


def whole(value: str = "[1.5, 2.5, 3.5]", more: str = "") -> str:
    kind = "tensor<fp32, [3]>"
    operations = [
        f'            {kind} w = const()[name = string("w"), val = {kind}({value})];',
        f"            {kind} v = add(x = x, y = {kind}({value}));",
        f"            {kind} y = mul(x = v, y = w);",
        more,
    ]
    return program(function(f"{kind} x", "y", "\n".join(operations)))


def elided(text: str) -> str:
    return miltext.to_text(miltext.parse(text), elide=2)


def codes(found: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(each.severity, each.code) for each in found]


NOTE = [("note", "MIL107")]
WRONG = "            tensor<fp32, [4]> z = tanh(x = w);"


@pytest.mark.parametrize("path", [EXAMPLE, *corpus_files("bundles/*.mlpackage", "mlprograms/*.mlmodel")])
def test_a_check_finds_the_same_as_in_the_whole_text(path: Path) -> None:
    model = open_model(path)
    models = [each for each in model.models or [model] if each.type == "mlProgram"]
    for each in models:
        text = miltext.to_text(each.program, elide=4)
        filled = examine(text_model_of(text, path), originals=[each.program]).diagnostics
        assert [found[:3] for found in filled] == [found[:3] for found in miltext.check(each.program)]
        if "$elided" in text:
            assert sorted(codes(miltext.check(text))) == sorted(NOTE + codes(miltext.check(each.program)))


def text_model_of(text: str, path: Path) -> Model:
    from miltext.containers.programs import TextModel

    return TextModel(text.encode(), str(path), path)


def test_a_value_that_is_left_out_has_a_type_and_no_more(tmp_path: Path) -> None:
    text = elided(whole())
    (note,) = miltext.check(text)
    assert codes([note]) == NOTE
    assert "2 literals are left out" in note.message
    assert note.span is not None
    assert text[slice(*note.span)] == "$elided"
    wrong = elided(whole(more=WRONG))
    assert codes(miltext.check(wrong)) == [*NOTE, ("error", "MIL701")]
    broken = wrong.replace("mul(x = v, y = w);", "mul(x = v, y = w)")
    assert {*NOTE, ("error", "MIL010"), ("error", "MIL701")} == {*codes(miltext.check(broken))}
    draft = elided(whole()).replace("tensor<fp32, [3]> y", "_ y")
    assert codes(miltext.check(draft)) == [*NOTE, ("note", "MIL712")]
    assert miltext.check(whole() + '// $elided(3, "sha256:00")\n') == []


def test_parts_from_the_original_are_checked_too(tmp_path: Path) -> None:
    old = original(tmp_path, whole())
    for text, expected in (
        (elided(whole()), []),
        (elided(whole(more=WRONG)), [("error", "MIL701")]),
        (elided(whole("[9, 8, 7]")), [("error", "MIL410")]),
        (elided(whole()).replace("$elided(3,", "$elided(4,", 1), [("error", "MIL410")]),
        (
            elided(whole()).replace("fp32, [3]>($elided", "fp16, [3]>($elided", 1),
            [("error", "MIL411"), ("error", "MIL701")],
        ),
    ):
        found = examine(text_model(text, tmp_path), originals=[old.program]).diagnostics
        assert {*codes(found)} >= {*expected}, text
        assert bool(found) == bool(expected)


def test_literals_omitted_by_a_draft_stay_out_when_completed() -> None:
    text = elided(whole())
    assert miltext.infer_draft(text.replace("tensor<fp32, [3]> y = mul(x = v, y = w)", "y = mul(v, w)")) == text
    assert miltext.infer_draft(text) == text


def test_parts_of_a_draft_from_the_original_are_checked_too(tmp_path: Path) -> None:
    old = original(tmp_path, whole())
    notice = ("note", "MIL712")
    for text, used, expected in (
        (elided(whole()), "w", [notice]),
        (elided(whole("[9, 8, 7]")), "w", [("error", "MIL410"), notice]),
        (elided(whole()).replace("$elided(3,", "$elided(4,", 1), "w", [("error", "MIL410"), notice]),
        (elided(whole("[9, 8, 7]")), "nobody", [("error", "MIL410"), notice, ("error", "MIL604")]),
    ):
        draft = text.replace("tensor<fp32, [3]> y = mul(x = v, y = w)", f"y = mul(v, {used})")
        assert draft != text
        found = examine(text_model(draft, tmp_path), originals=[old.program]).diagnostics
        assert codes(found) == expected
        places = [draft[each.span.start :] for each in found if each.span]
        assert places[-1].startswith("nobody" if used == "nobody" else "v, w")
        assert all("$elided" in place[:30] for place in places[: len(expected) - 1 - (used == "nobody")])


def test_arrays_beside_a_text_are_looked_at(tmp_path: Path) -> None:
    text = whole('$npy("w.npy")')
    np.save(tmp_path / "w.npy", np.zeros(3, np.float32))
    assert codes(miltext.check(text)) == [("note", "MIL111")]
    assert examine(text_model(text, tmp_path)).diagnostics == []
    np.save(tmp_path / "w.npy", np.zeros(4, np.float32))
    assert codes(examine(text_model(text, tmp_path)).diagnostics) == [("error", "MIL412")] * 2  # at each place


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(command, [*map(str, arguments)])
    return result.exit_code, result.output


def test_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "model.mil"
    assert run("print", EXAMPLE, "--elide", "4", "-o", path)[0] == 0
    status, shown = run("check", path)
    assert (status, "note[MIL107]" in shown, "--from" in shown) == (0, True, True)
    assert run("check", path, "--from", EXAMPLE) == (0, "nothing found in 1 program\n")
    path.write_text(path.read_text().replace('"sha256:', '"sha256:00', 1))
    status, shown = run("check", path, "--from", EXAMPLE)
    assert (status, "error[MIL410]" in shown) == (1, True)
    assert run("check", path, "--from", tmp_path / "none.mlpackage")[0] == 2


@pytest.mark.parametrize("count", ["2", "4", "865", "03", "0", "-3", "3.0"])
def test_a_count_that_is_not_the_originals_is_refused(count: str, tmp_path: Path) -> None:
    old = original(tmp_path, whole())
    text = elided(whole())
    assert built(text, tmp_path, original=old).program == load(tmp_path / "Old.mlpackage").program
    with pytest.raises(ParseError, match=r"model\.mil:4:\d+: error\[MIL410"):
        built(text.replace("$elided(3,", f"$elided({count},", 1), tmp_path, original=old)


def test_a_build_without_the_original_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match=r"model\.mil:4:\d+: error\[MIL107") as failure:
        built(elided(whole()), tmp_path)
    assert "`original=`" in str(failure.value)
    assert "that makes `w`" in str(failure.value)
