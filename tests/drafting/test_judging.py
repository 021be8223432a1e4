"""What is built is checked before anything is written: errors refuse, and what the original has is told as it is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from conftest import wire
from support.containers import TEXT, pipeline, write, write_bundle, write_package

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.diagnostics import MiltextError, ModelError, ParseError
from miltext.drafting.building import build
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Model as Spec

BASE = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> h = relu(x = x)[name = string("h")];
            tensor<fp16, [1, 4]> y = tanh(x = h)[name = string("y")];
        } -> (y);
}
"""

DANGLING = BASE.replace("x = h", "x = hh")
GELU = BASE.replace("relu(x = x)", "gelu(x = x)")
IGNORED = DANGLING.replace('"y")];', '"y")];  // mil: ignore[MIL604]')

WRONG = {
    "dangling name": (DANGLING, "MIL604"),
    "used before it is defined": (BASE.replace("relu(x = x)", "relu(x = y)"), "MIL605"),
    "unknown operation": (BASE.replace("relu", "rellu"), "MIL501"),
    "unknown parameter": (BASE.replace("tanh(x = h)", "tanh(x = h, z = h)"), "MIL504"),
    "missing parameter": (BASE.replace("tanh(x = h)", "add(x = h)"), "MIL503"),
    "data type that the operation does not take": (BASE.replace("fp16", "int32"), "MIL505"),
    "wrong data type": (BASE.replace("tensor<fp16, [1, 4]> y", "tensor<fp32, [1, 4]> y"), "MIL701"),
    "wrong shape": (BASE.replace("tensor<fp16, [1, 4]> y", "tensor<fp16, [1, 5]> y"), "MIL701"),
}
"""Texts that coremltools does not open, and the code of what is wrong with them."""

USE = """            tensor<fp16, [1, 4]> z = tanh(x = hh)[name = string("z")];
"""

ONLY_OURS = {
    "defined twice": (BASE.replace("> h =", "> y =").replace("x = h", "x = y"), "MIL602"),
    "axis out of range": (BASE.replace("relu(x = x)", "softmax(axis = int32(7), x = x)"), "MIL516"),
    "odd name": (BASE.replace("> h =", '> $"a b" =').replace("x = h", 'x = $"a b"'), "MIL601"),
}


def text_model(text: str) -> TextModel:
    return TextModel(text.encode(), "m.mil", None)


def built(text: str, out: Path, **choices: Any) -> list[str]:
    """The codes of the warnings of a build from a text."""
    return [each.code for each in build(text_model(text), out, **choices)]


def package(folder: Path, text: str, name: str = "Old.mlpackage") -> Path:
    """A package with a program that need not be right."""
    build(text_model(text), folder / name, check=False)
    return folder / name


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(each) for each in arguments])


# ---- a text


@pytest.mark.parametrize("case", [*WRONG, *ONLY_OURS])
def test_an_error_refuses(case: str, tmp_path: Path) -> None:
    text, code = (WRONG | ONLY_OURS)[case]
    out = tmp_path / "New.mlpackage"
    with pytest.raises(ParseError) as refused:
        built(text, out)
    assert {each.code for each in refused.value.diagnostics} == {code}
    assert (refused.value.text, refused.value.path) == (text, "m.mil")
    assert all(each.span is not None for each in refused.value.diagnostics)
    assert "`check=False`" in str(refused.value)
    assert [*tmp_path.iterdir()] == []
    assert built(text, out, check=False) == []
    assert wire(miltext.load(out).program) == wire(miltext.parse(text))


@pytest.mark.parametrize("case", WRONG)
def test_coremltools_refuses_the_refused_inputs(case: str, tmp_path: Path) -> None:
    pytest.importorskip("coremltools")
    from miltext.checking.loading import loader_findings

    assert loader_findings(miltext.load(package(tmp_path, BASE, "Right.mlpackage"))) == []
    (said,) = loader_findings(miltext.load(package(tmp_path, WRONG[case][0])))
    assert said.code == "MIL801"


def test_all_is_reported_at_once_in_the_order_of_the_text(tmp_path: Path) -> None:
    text = BASE.replace("relu", "rellu").replace("x = h", "x = hh").replace("-> (y)", "-> (y, x)")
    text = text.replace("(tensor", "(fp16 unused, tensor").replace("rellu(x = x)", "rellu(x = x, y = yy)")
    with pytest.raises(ParseError) as refused:
        built(text, tmp_path / "New.mlpackage")
    found = refused.value.diagnostics
    assert [each.code for each in found] == ["MIL501", "MIL604", "MIL604", "MIL626"]
    assert [bool(each.notes) for each in found] == [False, False, True, False]


def test_warnings_are_reported_and_do_not_refuse(tmp_path: Path) -> None:
    assert built(GELU, tmp_path / "New.mlpackage") == ["MIL513"]
    path = tmp_path / "m.mil"
    path.write_text(GELU)
    done = run("build", path, "-o", tmp_path / "Other.mlpackage")
    assert done.exit_code == 0
    assert re.search(r"m\.mil:4:\d+: warning\[MIL513\]", done.output), done.output


def test_a_comment_counts_in_a_build_as_in_a_check(tmp_path: Path) -> None:
    assert built(IGNORED, tmp_path / "New.mlpackage") == []
    idle = BASE.replace('"y")];', '"y")];  // mil: ignore[MIL604]')
    assert built(idle, tmp_path / "Other.mlpackage") == ["MIL713"]


def test_arrays_and_elided_literals_are_not_findings(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    np.save(tmp_path / "w.npy", np.ones((1, 4), np.float16))
    value = 'tensor<fp16, [1, 4]>($npy("w.npy"))'
    weight = f'tensor<fp16, [1, 4]> w = const()[name = string("w"), val = {value}];\n            '
    text = BASE.replace("tensor<fp16, [1, 4]> h", weight + "tensor<fp16, [1, 4]> h")
    text = text.replace("relu(x = x)", "add(x = x, y = w)")
    (tmp_path / "m.mil").write_text(text)
    assert build(miltext.load(tmp_path / "m.mil"), tmp_path / "New.mlpackage") == []
    numbers = text.replace('$npy("w.npy")', "[[1, 2, 3, 4]]")
    old = package(tmp_path, numbers)
    elided = miltext.to_text(miltext.load(old).program, elide=2)
    assert "$elided" in elided
    assert built(elided, tmp_path / "Elided.mlpackage", original=miltext.load(old)) == []
    broken = elided.replace("y = w)", "y = v)")
    with pytest.raises(ParseError, match="MIL604") as refused:
        built(broken, tmp_path / "Elided.mlpackage", original=miltext.load(old), force=True)
    assert refused.value.text == broken


def test_findings_about_a_program_are_in_its_printed_text(tmp_path: Path) -> None:
    data = miltext.parse(DANGLING).SerializeToString()
    with pytest.raises(ModelError) as refused:
        build(open_model(write(tmp_path / "p.pb", data)), tmp_path / "New.mlpackage")
    assert refused.value.text == miltext.to_text(miltext.parse(DANGLING))
    assert f"{tmp_path / 'p.pb'}:5:" in str(refused.value)


def test_a_draft_is_checked_once_and_refused_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from miltext.drafting import building

    monkeypatch.setattr(building, "judge", None)
    draft = BASE.replace("tensor<fp16, [1, 4]> h", "h")
    assert built(draft, tmp_path / "New.mlpackage") == []
    with pytest.raises(ParseError, match="MIL604"):
        built(draft.replace("x = h", "x = hh"), tmp_path / "Other.mlpackage", check=False)


def test_a_text_without_findings_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from miltext.checking import findings

    read: list[str] = []

    def counted(text: str, **how: Any) -> Any:
        read.append(text)
        return parse_tree(text, **how)

    monkeypatch.setattr(findings, "parse_tree", counted)
    built(BASE, tmp_path / "New.mlpackage")
    assert read == []
    built(GELU, tmp_path / "Other.mlpackage")
    assert read == [GELU]


UNKNOWN_IN_DRAFT = BASE.replace("relu", "my_own").replace("tensor<fp16, [1, 4]> y", "y")


def test_a_draft_with_an_unknown_operation_is_refused_too(tmp_path: Path) -> None:
    out = tmp_path / "New.mlpackage"
    with pytest.raises(ParseError, match="my_own") as refused:
        built(UNKNOWN_IN_DRAFT, out)
    (found,) = refused.value.diagnostics
    assert (found.severity, found.code, refused.value.text) == ("error", "MIL501", UNKNOWN_IN_DRAFT)
    assert found.span is not None
    assert UNKNOWN_IN_DRAFT[slice(*found.span)] == "my_own"
    assert built(UNKNOWN_IN_DRAFT, out, check=False) == ["MIL501"]
    old = miltext.load(out)
    assert built(UNKNOWN_IN_DRAFT, tmp_path / "Other.mlpackage", original=old) == ["MIL501"]
    ignored = UNKNOWN_IN_DRAFT.replace('"h")];', '"h")];  // mil: ignore[MIL501]')
    assert built(ignored, tmp_path / "Ignored.mlpackage") == []


# ---- beside an original


def test_an_edit_does_not_answer_for_the_errors_of_its_original(tmp_path: Path) -> None:
    old = miltext.load(package(tmp_path, DANGLING))
    edited = DANGLING.replace("relu", "sigmoid")
    (told,) = build(text_model(edited), tmp_path / "New.mlpackage", original=old)
    assert (told.severity, told.code) == ("warning", "MIL604")
    assert told.message.endswith("the original has this error, too")
    assert told.span is not None
    assert edited[slice(*told.span)] == "hh"


def test_an_error_more_than_the_original_has_refuses(tmp_path: Path) -> None:
    old = miltext.load(package(tmp_path, DANGLING))
    more = DANGLING.replace("relu(x = x)", "relu(x = xx)")
    with pytest.raises(ParseError) as refused:
        built(more, tmp_path / "New.mlpackage", original=old)
    assert [(each.severity, each.code) for each in refused.value.diagnostics] == [
        ("error", "MIL604"),
        ("warning", "MIL604"),
    ]
    assert "`check=False`" in refused.value.diagnostics[0].notes[-1].message


NEW_USES = {
    "after": [("} -> (y)", USE + "        } -> (y, z)")],
    "before": [("tensor<fp16, [1, 4]> h =", USE.strip() + " tensor<fp16, [1, 4]> h ="), ("-> (y)", "-> (y, z)")],
    "twice in an operation": [("tanh(x = hh)", "add(x = hh, y = hh)")],
}
"""Further uses of a name that the original does not define either."""


@pytest.mark.parametrize("case", NEW_USES)
def test_a_new_use_of_a_name_that_is_missing_refuses(case: str, tmp_path: Path) -> None:
    old, text = miltext.load(package(tmp_path, DANGLING)), DANGLING
    for before, after in NEW_USES[case]:
        text = text.replace(before, after)
    with pytest.raises(ParseError) as refused:
        built(text, tmp_path / "New.mlpackage", original=old)
    told = [(each.severity, each.code) for each in refused.value.diagnostics]
    assert sorted(told) == [("error", "MIL604"), ("warning", "MIL604")]


def test_a_name_that_is_missing_is_reported_once_in_a_function(tmp_path: Path) -> None:
    text = DANGLING.replace("tanh(x = hh)", "add(x = hh, y = hh)")
    old = miltext.load(package(tmp_path, text))
    assert built(text, tmp_path / "New.mlpackage", original=old) == ["MIL604"]
    assert built(text.replace("y = hh", "y = h"), tmp_path / "Less.mlpackage", original=old) == ["MIL604"]
    with pytest.raises(ParseError) as refused:
        built(text, tmp_path / "Alone.mlpackage")
    assert [each.code for each in refused.value.diagnostics] == ["MIL604"]


def test_a_new_use_of_an_unknown_operation_refuses_a_draft(tmp_path: Path) -> None:
    custom = BASE.replace("relu", "my_own")
    old = miltext.load(package(tmp_path, custom))
    more = USE.replace("tanh(x = hh)", "my_own(x = x)")
    draft = UNKNOWN_IN_DRAFT.replace("        } -> (y)", more + "        } -> (y, z)")
    with pytest.raises(ParseError) as refused:
        built(draft, tmp_path / "New.mlpackage", original=old)
    assert sorted(each.severity for each in refused.value.diagnostics) == ["error", "warning"]


def test_warnings_of_the_original_are_not_reported_again(tmp_path: Path) -> None:
    old = miltext.load(package(tmp_path, GELU))
    assert built(GELU.replace("tanh", "sigmoid"), tmp_path / "New.mlpackage", original=old) == []
    twice = GELU.replace("tanh(x = h)", "gelu(x = h)")
    assert built(twice, tmp_path / "Other.mlpackage", original=old) == ["MIL513"]


def test_a_comment_is_used_where_original_has_same_warning(tmp_path: Path) -> None:
    old = miltext.load(package(tmp_path, GELU))
    ignored = GELU.replace('"h")];', '"h")];  // mil: ignore[MIL513]')
    assert built(ignored, tmp_path / "New.mlpackage", original=old) == []


def test_an_operation_that_the_original_has_may_stay_unknown(tmp_path: Path) -> None:
    custom = BASE.replace("relu", "my_own")
    old = package(tmp_path, custom)
    out = tmp_path / "New.mlpackage"
    assert [each.severity for each in build(text_model(custom), out, original=miltext.load(old))] == ["warning"]
    done = run("rename", old, "x", "image", "-o", tmp_path / "Renamed.mlpackage")
    assert (done.exit_code, done.output.count("MIL501")) == (0, 1), done.output


@pytest.mark.parametrize("edit", [("rename", "x", "image"), ("rename", "hh", "right"), ("expose", "h")])
def test_one_edit_of_an_odd_model_is_possible_and_not_silent(edit: tuple[str, ...], tmp_path: Path) -> None:
    old = package(tmp_path, DANGLING)
    done = run(edit[0], old, *edit[1:], "-o", tmp_path / "New.mlpackage")
    assert (done.exit_code, "warning[MIL604]" in done.output) == (0, True), done.output
    silent = run(edit[0], old, *edit[1:], "--no-check", "-o", tmp_path / "Other.mlpackage")
    assert (silent.exit_code, "MIL604" in silent.output) == (0, False)


@pytest.mark.parametrize("verb", [("build",), ("rename", "x", "image"), ("expose", "h")])
def test_errors_of_a_text_alone_are_refused(verb: tuple[str, ...], tmp_path: Path) -> None:
    path, out = tmp_path / "m.mil", tmp_path / "New.mlpackage"
    path.write_text(DANGLING)
    refused = run(verb[0], path, *verb[1:], "-o", out)
    assert (refused.exit_code, out.exists()) == (1, False)
    assert "error[MIL604]" in refused.output
    assert "--no-check" in refused.output
    assert run(verb[0], path, *verb[1:], "--no-check", "-o", out).exit_code == 0


# ---- a model as it is


def test_model_written_as_it_is_keeps_errors_and_reports_it(tmp_path: Path) -> None:
    old = package(tmp_path, DANGLING)
    (told,) = build(open_model(old), tmp_path / "New.mlpackage")
    assert (told.severity, told.code, told.span) == ("warning", "MIL604", None)
    assert f"at {old}:5:" in told.notes[0].message
    assert open_model(tmp_path / "New.mlpackage").spec == open_model(old).spec


def test_a_compiled_model_is_reported_in_its_own_text(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "C.mlmodelc", DANGLING)
    (told,) = (each for each in build(open_model(folder), tmp_path / "New.mlpackage") if each.code == "MIL604")
    assert told.span is not None
    assert DANGLING[slice(*told.span)] == "hh"
    done = run("build", folder, "-o", tmp_path / "Other.mlpackage")
    assert f"{folder / 'model.mil'}:5:" in done.output


def test_an_error_made_in_memory_refuses(tmp_path: Path) -> None:
    for path in (package(tmp_path, BASE), write_bundle(tmp_path / "C.mlmodelc", BASE)):
        model = miltext.load(path)
        block = model.program.functions["main"].block_specializations["CoreML8"]
        block.operations[1].inputs["x"].arguments[0].name = "gone"
        with pytest.raises(ModelError, match="MIL604") as refused:
            build(model, tmp_path / "New.mlpackage", force=True)
        assert "x = gone" in (refused.value.text or "")
        assert build(model, tmp_path / "New.mlpackage", check=False, force=True) == []
        model.save(tmp_path / "New.mlpackage", force=True)


def test_an_earlier_error_in_memory_is_a_warning(tmp_path: Path) -> None:
    model = miltext.load(package(tmp_path, DANGLING))
    block = model.program.functions["main"].block_specializations["CoreML8"]
    block.operations[0].type = "sigmoid"
    assert [each.severity for each in build(model, tmp_path / "New.mlpackage")] == ["warning"]


def odd_pipeline(folder: Path) -> Path:
    one = Spec(specificationVersion=9, mlProgram=miltext.parse(TEXT))
    two = Spec(specificationVersion=9, mlProgram=miltext.parse(DANGLING))
    return write_package(folder / "P.mlpackage", pipeline(one, two, names=("a", "b")).SerializeToString())


def test_a_pipeline_is_reported_by_its_stages(tmp_path: Path) -> None:
    path = odd_pipeline(tmp_path)
    (told,) = build(open_model(path), tmp_path / "New.mlpackage")
    assert 'P.mlpackage, model 1 "b":5:' in told.notes[0].message
    whole = open_model(path)
    whole.models[0].program.functions["main"].block_specializations["CoreML8"].outputs[:] = ["gone"]
    with pytest.raises(ModelError) as refused:
        build(whole, tmp_path / "New.mlpackage", force=True)
    assert 'P.mlpackage, model 0 "a":' in str(refused.value)


def test_an_edit_inside_a_pipeline_answers_for_its_stage_alone(tmp_path: Path) -> None:
    whole = open_model(odd_pipeline(tmp_path))
    assert built(TEXT, tmp_path / "New.mlpackage", original=whole, model="a") == []
    with pytest.raises(ParseError, match="MIL604"):
        built(DANGLING, tmp_path / "New.mlpackage", original=whole, model="a", force=True)
    build(text_model(TEXT), tmp_path / "New.mlpackage", original=whole, model="b", force=True)
    assert miltext.load(tmp_path / "New.mlpackage", "b").program == miltext.parse(TEXT)


def test_a_stage_by_itself_equals_the_stage_as_read(tmp_path: Path) -> None:
    stage = miltext.load(odd_pipeline(tmp_path), "b")
    assert [each.severity for each in build(stage, tmp_path / "New.mlpackage")] == ["warning"]
    stage.program.functions["main"].block_specializations["CoreML8"].operations[0].type = "rellu"
    with pytest.raises(MiltextError, match="MIL501"):
        build(stage, tmp_path / "Other.mlpackage")


def test_standard_input_is_as_it_was_read(tmp_path: Path) -> None:
    data = Spec(specificationVersion=9, mlProgram=miltext.parse(DANGLING)).SerializeToString()
    done = CliRunner().invoke(command, ["build", "-", "-o", str(tmp_path / "New.mlpackage")], input=data)
    assert (done.exit_code, "warning[MIL604]" in done.output) == (0, True), done.output


# ---- what is there


def test_a_check_that_fails_leaves_the_old_model_whole(tmp_path: Path) -> None:
    old = package(tmp_path, BASE)
    before = {path: path.read_bytes() for path in old.rglob("*") if path.is_file()}
    (tmp_path / "m.mil").write_text(DANGLING)
    refused = run("build", tmp_path / "m.mil", "--from", old, "-o", old, "--force")
    assert (refused.exit_code, "error[MIL604]" in refused.output) == (1, True)
    assert {path: path.read_bytes() for path in old.rglob("*") if path.is_file()} == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["Old.mlpackage", "m.mil"]


def test_nothing_is_expected_of_a_build_that_is_refused(tmp_path: Path) -> None:
    asked: list[object] = []
    with pytest.raises(ParseError):
        built(DANGLING, tmp_path / "New.mlpackage", expect=asked.append, progress=asked.append)
    assert asked == []
    built(BASE, tmp_path / "New.mlpackage", expect=asked.append)
    assert len(asked) == 1
