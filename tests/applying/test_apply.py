"""Differences carried out: the old model with the entries of a difference is the new one, and nothing else is used."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import CORPUS, EXAMPLE, wire
from descriptions.test_parts import CHOICES, all_edits, filled_program, model
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import integers
from support.applied_edits import edited, left_over, program_of
from support.diff_cases import CASES, FOLDER, WEIGHTS, write_weights
from support.field_edits import edits
from support.pipelines import binary, piped, unary

import miltext
from miltext.containers.opening import open_model
from miltext.containers.spec import SpecModel
from miltext.diffing.structure import Change
from miltext.schema.proto import Model, Program
from miltext.testing.generated import programs

SEEDS = 500


def of_spec(spec: Model) -> SpecModel:
    return SpecModel("mlmodel", "it", None, None, spec)


def left(old: Any, new: Any, **choices: Any) -> str:
    """What differs after a difference is applied; the law is that nothing does."""
    made = miltext.apply(miltext.diff(old, new, build_info=True, **choices), old)
    found = miltext.diff(made, new, build_info=True, **choices)
    return "" if found.same is not False else found.to_text(full=True)


# ---- the law


@pytest.mark.parametrize("case", CASES)
def test_each_golden_is_carried_out_in_both_directions(case: str, tmp_path: Path) -> None:
    for text in ("a.mil", "b.mil"):
        (tmp_path / text).write_bytes((FOLDER / case / text).read_bytes())
    if case in WEIGHTS:
        write_weights(tmp_path / "weights", WEIGHTS[case])
    a, b = tmp_path / "a.mil", tmp_path / "b.mil"
    ignored = case == "weights_absent"
    for old, new in ((a, b), (b, a)):
        made = miltext.apply(miltext.diff(old, new, build_info=True, ignore_weights=ignored), old)
        assert miltext.diff(made, new, build_info=True, ignore_weights=ignored).same, case


@pytest.mark.parametrize("start", range(0, SEEDS, 50))
def test_random_edits_are_carried_out_in_both_directions(start: int) -> None:
    differing = 0
    for seed in range(start, start + 50):
        random = Random(seed)
        old = program_of(seed)
        new = edited(random, old, random.randint(1, 5))
        differing += wire(old) != wire(new)
        assert left_over(old, new) == "", seed
        assert left_over(new, old) == "", seed
    assert differing > 30


@settings(max_examples=20, deadline=None, suppress_health_check=[*HealthCheck])
@given(old=programs(ops=(1, 12)), seed=integers(0, 1 << 32), count=integers(1, 4))
def test_edits_of_drawn_programs_are_carried_out(old: Program, seed: int, count: int) -> None:
    """As above, with programs that shrink."""
    assert left_over(old, edited(Random(seed), old, count)) == ""


def test_an_edit_of_any_field_of_a_program_is_carried_out() -> None:
    root, count = filled_program(), 0
    for edit in edits(root, once=True):
        if edit.field == "unknown":
            continue  # these are refused
        count += 1
        assert left_over(root, edit.made) == "", edit[:4]
        assert left_over(edit.made, root) == "", edit[:4]
    assert count >= 40


@pytest.mark.parametrize("choice", CHOICES)
def test_an_edit_of_any_field_of_a_description_is_carried_out(choice: int) -> None:
    root = deepcopy(model(choice))
    root.mlProgram.version = 1
    count = 0
    for edit in all_edits(choice):
        new = deepcopy(edit.made)
        new.mlProgram.version = 1
        for old, other in ((root, new), (new, root)):
            made = miltext.apply(miltext.diff(of_spec(old), of_spec(other), build_info=True), of_spec(old))
            assert isinstance(made, SpecModel)
            assert wire(made.spec) == wire(other), edit[:4]
            count += 1
    assert count > 20


def test_both_directions_of_the_streaming_encoder() -> None:
    first = CORPUS / "pairs" / "FluidAudio__160ms_streaming_encoder" / "model.mlmodel"
    second = CORPUS / "changes" / "streaming_encoder" / "1280ms.mlmodel"
    if not (first.exists() and second.exists()):
        pytest.skip("the corpus is not there")
    for old, new in ((first, second), (second, first)):
        made = miltext.apply(miltext.diff(old, new, build_info=True, ignore_weights=True), old)
        there = open_model(new).spec
        assert isinstance(made, SpecModel)
        assert there is not None
        assert wire(made.spec) == wire(there)


# ---- entries


def without_each(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield a difference without each of its entries, with the kind of the entry."""
    if isinstance(thing, tuple) and not hasattr(thing, "_fields"):
        for place, each in enumerate(thing):
            if is_dataclass(each):
                kind = f"{type(each).__name__} {each.kind}" if isinstance(each, Change) else type(each).__name__
                yield kind, (*thing[:place], *thing[place + 1 :])
            for inner, made in without_each(each):
                yield inner, (*thing[:place], made, *thing[place + 1 :])
    elif is_dataclass(thing) and not isinstance(thing, type):
        for field in fields(thing):
            if field.name not in ("edits", "_texts", "measure", "summary", "_summary"):
                for kind, made in without_each(getattr(thing, field.name)):
                    yield kind, replace(thing, **{field.name: made})


ENTRIES = {
    "Change argument", "Change attribute", "Change type", "Change outputs", "Change opset", "Change operation",
    "Change input", "Change inputs", "Change version", "Change docString", "AddedOperation", "RemovedOperation",
    "MovedOperations", "Rename", "WeightChange", "FunctionDifference", "BlockDifference", "ChangedOperation",
}  # fmt: skip


def test_an_entry_that_is_taken_out_is_not_carried_out(tmp_path: Path) -> None:
    """It is then still a difference, or an error if the others need it."""
    seen, refused = set(), 0
    for case in CASES:
        folder = tmp_path / case
        folder.mkdir()
        for text in ("a.mil", "b.mil"):
            (folder / text).write_bytes((FOLDER / case / text).read_bytes())
        if case in WEIGHTS:
            write_weights(folder / "weights", WEIGHTS[case])
        old, new = folder / "a.mil", folder / "b.mil"
        whole = miltext.diff(old, new, ignore_weights=True)
        for kind, made in without_each(whole):
            if kind == "Change blocks":
                continue  # it counts other entries
            seen.add(kind)
            try:
                result = miltext.apply(made, old)
            except miltext.ModelError as failure:
                code = failure.diagnostics[0].code
            else:
                code = ""
                assert miltext.diff(result, new, ignore_weights=True).same is False, (case, kind)
            assert code in ("", "MIL497"), (case, kind)
            refused += bool(code)
    assert seen >= ENTRIES
    assert refused > 0


def test_edits_are_in_no_form() -> None:
    difference = miltext.diff(program_of(1), program_of(2), ignore_weights=True)
    assert "edits" not in str(difference.to_json())
    assert "Edits" not in repr(difference)


# ---- models


def test_a_pipeline_is_carried_out_model_by_model() -> None:
    three = piped(unary("x", "a"), unary("a", "b"), binary("b", "x", "y"), names=["one", "two", "three"])
    others = [
        piped(unary("x", "a"), unary("a", "b", "other"), names=["one", "second"]),
        piped(unary("a", "b"), unary("x", "a"), binary("b", "x", "y"), names=["two", "one", "three"]),
        piped(unary("x", "a"), unary("a", "c"), unary("c", "b"), binary("b", "x", "y"), names=["one", "n", "two", "z"]),
        piped(unary("x", "y", "renamed"), names=["one"]),
    ]
    for other in others:
        other.description.metadata.author = "Somebody"
        for old, new in ((three, other), (other, three)):
            assert left(of_spec(old), of_spec(new)) == ""
    assert left(of_spec(three), of_spec(three)) == ""


def test_a_package_is_saved_with_its_new_weights(tmp_path: Path) -> None:
    old, new = tmp_path / "Old.mlpackage", tmp_path / "New.mlpackage"
    shutil.copytree(EXAMPLE, old)
    miltext.convert_weights(old, "fp16" if "fp32" in miltext.to_text(old) else "fp32", new)
    for first, second, name in ((old, new, "There"), (new, old, "Back")):
        made = miltext.apply(miltext.diff(first, second, build_info=True), first)
        assert miltext.diff(made, second, build_info=True).same
        made.save(tmp_path / f"{name}.mlpackage")
        assert miltext.diff(tmp_path / f"{name}.mlpackage", second, build_info=True).same


@pytest.fixture
def retrained(tmp_path: Path) -> tuple[Path, Path]:
    """A text in a folder of its own, and one with other weights in another folder."""
    for side in ("a", "b"):
        (tmp_path / side).mkdir()
        text = (FOLDER / "weights_retrained" / f"{side}.mil").read_text(encoding="utf-8")
        (tmp_path / side / "m.mil").write_text(text, encoding="utf-8")
        write_weights(tmp_path / side / "weights", WEIGHTS["weights_retrained"])
    (tmp_path / "a" / "weights" / "b.bin").unlink()
    (tmp_path / "b" / "weights" / "a.bin").unlink()
    return tmp_path / "a" / "m.mil", tmp_path / "b" / "m.mil"


def test_new_weights_are_searched_in_the_new_model(retrained: tuple[Path, Path], tmp_path: Path) -> None:
    old, new = retrained
    difference = miltext.diff(old, new)
    assert miltext.diff(miltext.apply(difference, old), new).same
    copy = tmp_path / "copy"
    shutil.copytree(new.parent, copy)
    (new.parent / "weights" / "b.bin").unlink()
    with pytest.raises(miltext.ModelError, match=r"MIL498.*sha256:"):
        miltext.apply(difference, old)
    with pytest.raises(miltext.ModelError, match=r"MIL498"):
        miltext.apply(difference, old, weights_from=old)
    made = miltext.apply(difference, old, weights_from=copy / "m.mil")
    assert miltext.diff(made, copy / "m.mil").same


def test_a_weight_that_was_not_read_is_not_a_guess(retrained: tuple[Path, Path]) -> None:
    old, new = retrained
    difference = miltext.diff(old, miltext.load(new).program, ignore_weights=True)
    with pytest.raises(miltext.ModelError, match=r"MIL498.*not read"):
        miltext.apply(difference, old)
    assert miltext.diff(miltext.apply(difference, old, weights_from=new), new).same


# ---- sources, and what is refused


def test_the_result_has_the_kind_of_the_source(tmp_path: Path) -> None:
    old, new = program_of(1), program_of(2)
    difference = miltext.diff(old, new)
    path = tmp_path / "old.mil"
    path.write_text(miltext.to_text(old), encoding="utf-8")
    of_text = miltext.apply(difference, path.read_text(encoding="utf-8"))
    assert isinstance(of_text, Program)
    assert wire(miltext.apply(difference, old)) == wire(of_text)
    made = miltext.apply(difference, path)
    assert isinstance(made, miltext.Model)
    assert wire(made.program) == wire(miltext.apply(difference, old))
    with pytest.raises(TypeError, match="expected MIL text"):
        miltext.apply(difference, 1)  # type: ignore[call-overload]


def test_another_model_is_refused(tmp_path: Path) -> None:
    old, new = program_of(1), program_of(2)
    difference = miltext.diff(old, new)
    for other in (new, Program(version=1), program_of(3)):
        with pytest.raises(miltext.ModelError, match=r"MIL495.*not the compared program"):
            miltext.apply(difference, other)
    three = of_spec(piped(unary("x", "a"), unary("a", "b"), names=["one", "two"]))
    with pytest.raises(miltext.ModelError, match=r"MIL495"):
        miltext.apply(difference, three)
    with pytest.raises(miltext.ModelError, match=r"MIL495"):
        miltext.apply(miltext.diff(three, of_spec(piped(unary("x", "a"), names=["one"]))), old)


def test_a_description_that_is_another_one_is_refused() -> None:
    first, second, third = (deepcopy(unary("x", "y")) for _ in range(3))
    first.description.metadata.author = "A"
    second.description.metadata.author = "B"
    difference = miltext.diff(of_spec(first), of_spec(second))
    for author in ("C", ""):
        third.description.metadata.author = author
        with pytest.raises(miltext.ModelError, match=r"MIL495.*author"):
            miltext.apply(difference, of_spec(third))


def test_parts_that_cannot_be_applied_are_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "M.mlmodelc"
    miltext.build(EXAMPLE, bundle, check=False)
    with pytest.raises(miltext.ModelError, match=r"MIL496.*compiler"):
        miltext.apply(miltext.diff(bundle, EXAMPLE), bundle)
    assert left(EXAMPLE, bundle) == ""
    old, new = Model(specificationVersion=4), Model(specificationVersion=4)
    old.neuralNetwork.SetInParent() if hasattr(old, "neuralNetwork") else old.MergeFromString(b"\xa2\x1f\x00")
    new.MergeFromString(b"\xa2\x1f\x02\x08\x01")
    with pytest.raises(miltext.ModelError, match=r"MIL496.*`contents`"):
        miltext.apply(miltext.diff(of_spec(old), of_spec(new)), of_spec(old))
    breaking = replace(miltext.diff(program_of(1), program_of(2)), breaking=True)
    with pytest.raises(miltext.ModelError, match=r"MIL496.*breaking"):
        miltext.apply(breaking, program_of(1))


def test_an_entry_without_data_is_refused() -> None:
    old = program_of(1)
    difference = replace(miltext.diff(old, deepcopy(old)), changes=(Change("version", "", "1", "2"),))
    with pytest.raises(miltext.ModelError, match=r"MIL497.*only its text"):
        miltext.apply(difference, old)


@pytest.mark.parametrize("seed", [70085, 70724, 70904, 71225])
def test_invalid_programs_are_carried_out(seed: int) -> None:
    """A `perm` out of range, and a palette without dimensions."""
    random = Random(seed)
    old = program_of(seed)
    assert left_over(old, edited(random, old, random.randint(1, 6))) == ""
