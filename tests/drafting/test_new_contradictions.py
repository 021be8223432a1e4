"""No verb writes a contradiction between a program and its description that the original does not have."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.containers import pipeline, write_package
from support.model_checks import STATEFUL, reported
from support.running import RUNNER

import miltext
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError
from miltext.schema.proto import Model as Spec

Change = Callable[[Spec], object]


def _name(side: str) -> Change:
    return lambda spec: setattr(getattr(spec.description, side)[0], "name", "ghost")


def _type_of(spec: Spec, side: str) -> miltext.schema.proto.ArrayFeatureType:
    return getattr(spec.description, side)[0].type.multiArrayType  # type: ignore[no-any-return]


def _listed(spec: Spec, *names: str) -> None:
    """Describe functions in a list, each as the model."""
    described = spec.description
    for name in names:
        described.functions.add(name=name, input=described.input, output=described.output, state=described.state)
    described.defaultFunctionName = names[0]
    for side in ("input", "output", "state"):
        described.ClearField(side)


CHANGES: dict[str, Change] = {
    "another input": _name("input"),
    "another output": _name("output"),
    "another state": _name("state"),
    "no input": lambda spec: spec.description.ClearField("input"),
    "a further output": lambda spec: spec.description.output.add(name="z").type.CopyFrom(
        spec.description.output[0].type
    ),
    "another shape": lambda spec: _type_of(spec, "input").shape.append(2),
    "another data type": lambda spec: setattr(_type_of(spec, "output"), "dataType", 131104),
    "an unknown predicted feature": lambda spec: setattr(spec.description, "predictedFeatureName", "label"),
    "too old a version": lambda spec: setattr(spec, "specificationVersion", 6),
    "a function that is not there": lambda spec: _listed(spec, "main", "ghost"),
}
"""Contradictions, each made in the message of a model that has none."""

each_change = pytest.mark.parametrize("change", CHANGES)
each_form = pytest.mark.parametrize("form", ["mlpackage", "mlmodel", "mlmodelc"])


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "m.mil").write_text(STATEFUL)
    miltext.build(tmp_path / "m.mil", tmp_path / "M.mlpackage")
    return tmp_path / "M.mlpackage"


def changed(package: Path, change: str) -> Path:
    """A package with a contradiction."""
    spec = open_model(package).spec
    assert spec is not None
    CHANGES[change](spec)
    return write_package(package.with_name("Odd.mlpackage"), spec.SerializeToString())


def ran(*arguments: object) -> tuple[int, str]:
    result = RUNNER.invoke(command, [str(each) for each in arguments])
    return result.exit_code, result.stdout + result.stderr


@each_form
@each_change
def test_a_contradiction_made_in_memory_refuses(change: str, form: str, package: Path) -> None:
    model, out = miltext.load(package), package.with_name(f"New.{form}")
    assert model.spec is not None
    CHANGES[change](model.spec)
    there = sorted(package.parent.iterdir())
    with pytest.raises(ModelError, match="`check=False`") as refused:
        miltext.build(model, out)
    assert {each.code for each in refused.value.diagnostics if each.severity == "error"} != set()
    assert sorted(package.parent.iterdir()) == there
    miltext.build(model, out, check=False)
    assert reported(out)


@each_form
@each_change
def test_a_contradiction_of_the_original_stays(change: str, form: str, package: Path) -> None:
    odd, out = changed(package, change), package.with_name(f"New.{form}")
    status, told = ran("build", odd, "-o", out)
    assert status == 0, told
    assert ("it is compiled so" in told) == (form == "mlmodelc")
    assert {each.message for each in reported(out)} <= {each.message for each in reported(odd)}


VERBS = {
    "build": ["build"],
    "rename an input": ["rename", "x", "image"],
    "rename an output": ["rename", "y", "result"],
    "expose": ["expose", "h"],
    "convert-weights": ["convert-weights", "--to", "fp32"],
    "prune": ["build", "--prune-weights"],
    "into a file": ["build", "mlmodel"],
    "reshape": ["reshape", "x=2,4"],
    "extract": ["extract", "y"],
}


@pytest.mark.parametrize("verb", VERBS)
@each_change
def test_a_verb_does_not_answer_for_contradictions(change: str, verb: str, package: Path) -> None:
    odd, (first, *words) = changed(package, change), VERBS[verb]
    out = package.with_name("New.mlmodel" if words == ["mlmodel"] else "New.mlpackage")
    status, told = ran(first, odd, *(each for each in words if each != "mlmodel"), "-o", out)
    assert status == 0, told
    before, after = reported(odd), reported(out)
    assert sum(after.values()) <= sum(before.values()), (before, after)


NEW = {
    "rename": (["rename", "x", "image"], "the input `image` of `main`"),
    "reshape": (["reshape", "x=2,4"], "the output `y` of `main`"),
    "extract": (["extract", "h"], "the state `s` of `main`"),
}
"""Edits of a function that is not described, and the value that each leaves without a description."""


@pytest.mark.parametrize("verb", NEW)
def test_an_edit_of_an_undescribed_function_is_refused(verb: str, package: Path) -> None:
    (first, *words), value = NEW[verb]
    spec = open_model(package).spec
    assert spec is not None
    _listed(spec, "ghost")
    odd, out = (
        write_package(package.with_name("Odd.mlpackage"), spec.SerializeToString()),
        package.with_name("New.mlpackage"),
    )
    status, told = ran(first, odd, *words, "-o", out)
    assert (status, f"error[MIL265]: {value} is not described" in told) == (1, True), told
    assert "nothing is written; fix it, or write the model with `--no-check`" in told
    assert not out.exists()
    status, told = ran(first, odd, *words, "-o", out, "--no-check")
    assert (status, any(value in each.message for each in reported(out))) == (0, True), told


def test_a_text_beside_an_odd_original_is_not_blamed(package: Path) -> None:
    odd = changed(package, "an unknown predicted feature")
    (package.parent / "m.mil").write_text(STATEFUL.replace("tanh", "sigmoid"))
    status, told = ran("build", package.parent / "m.mil", "--from", odd, "-o", package.with_name("New.mlpackage"))
    assert (status, "error[MIL265]" in told) == (0, False), told
    assert "warning[MIL265]" in told
    assert "the original has this error, too" in told


def test_a_draft_of_an_odd_original_is_compiled_with_a_warning(package: Path) -> None:
    odd, draft = changed(package, "another shape"), package.parent / "m.mil"
    draft.write_text(STATEFUL.replace("tensor<fp16, [1, 4]> h", "h"))
    status, told = ran("build", draft, "--from", odd, "-o", package.with_name("New.mlmodelc"))
    assert (status, "it is compiled so" in told) == (0, True), told


def test_a_stage_that_an_edit_does_not_reach_is_judged(package: Path) -> None:
    spec = open_model(package).spec
    assert spec is not None
    other = Spec.FromString(spec.SerializeToString())
    path = write_package(package.with_name("P.mlpackage"), pipeline(spec, other, names=("a", "b")).SerializeToString())
    whole = open_model(path)
    assert whole.models[1].spec is not None
    whole.models[1].spec.description.predictedFeatureName = "label"
    text = miltext.load(package.parent / "m.mil")
    with pytest.raises(ModelError, match="label") as refused:
        miltext.build(text, package.with_name("New.mlpackage"), original=whole, model="a")
    assert 'model 1 "b"' in str(refused.value)


def test_compiling_and_building_back_changes_nothing(package: Path) -> None:
    (package.parent / "m.mil").write_text(STATEFUL.replace("tanh", "sigmoid"))
    edited, compiled, back = (package.with_name(each) for each in ("E.mlpackage", "C.mlmodelc", "B.mlpackage"))
    for source, out in ((package.parent / "m.mil", edited), (edited, compiled), (compiled, back)):
        words = ["--from", package] if out is edited else []
        assert ran("build", source, *words, "-o", out)[0] == 0
        assert not reported(out)


def test_an_edit_keeps_probabilities_that_had_no_label(package: Path) -> None:
    spec = open_model(package).spec
    assert spec is not None
    spec.description.predictedProbabilitiesName = "y"
    odd, out = (
        write_package(package.with_name("Odd.mlpackage"), spec.SerializeToString()),
        package.with_name("New.mlpackage"),
    )
    status, told = ran("rename", odd, "y", "result", "-o", out)
    assert (status, "was removed" in told) == (0, False), told
    made = open_model(out).description
    assert made is not None
    assert made.predictedProbabilitiesName == "result"


def test_another_contradiction_beside_an_old_one_refuses(package: Path) -> None:
    model = miltext.load(changed(package, "another output"))
    assert model.spec is not None
    model.spec.description.predictedFeatureName = "nothing"
    with pytest.raises(ModelError, match="`nothing`") as refused:
        miltext.build(model, package.with_name("New.mlpackage"))
    assert [each.severity for each in refused.value.diagnostics].count("error") == 1
