"""The law of parts: where the bytes of two messages differ, a difference is told; edits of both are merged."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from descriptions.test_laws import assert_kept
from support.field_edits import Edit, edits, filled

from miltext.descriptions.parts import differences, facts, leaves, part_of
from miltext.descriptions.surroundings import Surroundings
from miltext.merging.messages import merge_messages
from miltext.schema.proto import Model, Program
from miltext.schema.wire import wire_of

CHOICES = [0, 1, 2, 3, 11, 4, 12, 20, 5, 13, 6, 14, 7]
"""Each type of a feature, with each of the choices in it."""


@cache
def model(choice: int) -> Model:
    """A model with all that a description can have, and a Type of its own."""
    types = "mlProgram", "pipeline", "pipelineClassifier", "pipelineRegressor"
    return filled(Model(), choice, skipped=(*types, "output", "trainingInput"))


@cache
def all_edits(choice: int) -> list[Edit]:
    """Edits of each kind of message in a model, of its Type too."""
    return [*edits(model(choice), once=True)]


def test_all_fields_of_all_messages_are_edited() -> None:
    found = {(each.kind, each.field) for choice in CHOICES for each in all_edits(choice)}
    wanted = set[tuple[str, str]]()
    waiting, seen = list[Any]([Model.DESCRIPTOR]), set[str]()
    while waiting:
        descriptor = waiting.pop()
        if descriptor.full_name in seen or descriptor.full_name.startswith("CoreML.Specification.MILSpec"):
            continue
        seen.add(descriptor.full_name)
        if descriptor.GetOptions().map_entry or descriptor.name.startswith("Pipeline"):
            continue
        wanted |= {(descriptor.name, field.name) for field in descriptor.fields} | {(descriptor.name, "unknown")}
        waiting += [field.message_type for field in descriptor.fields if field.message_type is not None]
    assert wanted - found == set()


@pytest.mark.parametrize("choice", CHOICES)
def test_any_part_with_other_bytes_is_reported(choice: int) -> None:
    base = part_of(model(choice))
    for edit in all_edits(choice):
        there, back = [*differences(base, part_of(edit.made))], [*differences(part_of(edit.made), base)]
        assert there, edit[:4]
        assert all(each.old != each.new for each in there), edit[:4]
        assert sorted((each.path, each.new, each.old) for each in back) == sorted(each[:3] for each in there), edit[:4]


@pytest.mark.parametrize("choice", CHOICES)
def test_nothing_is_reported_a_copy(choice: int) -> None:
    assert [*differences(part_of(model(choice)), part_of(deepcopy(model(choice))))] == []
    paths = [path for path, _ in facts(model(choice))]
    assert len({*paths}) == len(paths)


@pytest.mark.parametrize("choice", CHOICES)
def test_an_edit_of_one_side_is_merged(choice: int) -> None:
    base = model(choice)
    for edit in all_edits(choice):
        for ours, theirs in ((base, edit.made), (edit.made, base), (edit.made, edit.made)):
            merged = deepcopy(ours)
            assert merge_messages(base, merged, theirs) == [], edit[:4]
            assert wire_of(merged) == wire_of(edit.made), edit[:4]


@pytest.mark.parametrize("choice", CHOICES)
def test_edits_of_two_places_are_both_merged(choice: int) -> None:
    base = model(choice)
    mine = deepcopy(base)
    mine.description.metadata.author = "me"
    for edit in all_edits(choice):
        if (edit.kind, edit.field) in (
            ("Metadata", "author"),
            ("ModelDescription", "metadata"),
            ("Model", "description"),
        ):
            continue
        both = deepcopy(edit.made)
        both.description.metadata.author = "me"
        for ours, theirs in ((mine, edit.made), (edit.made, mine)):
            merged = deepcopy(ours)
            assert merge_messages(base, merged, theirs) == [], edit[:4]
            assert [*leaves(part_of(merged), "")] == [*leaves(part_of(both), "")], edit[:4]


@pytest.mark.parametrize("choice", CHOICES)
def test_different_edits_of_one_part_are_never_lost_in_silence(choice: int) -> None:
    """Of two edits at one place, each is there in the end, or a clash is told."""
    base = model(choice)
    by_place: dict[tuple[str, str], list[Edit]] = {}
    for edit in all_edits(choice):
        by_place.setdefault((edit.path, edit.field), []).append(edit)
    for listed in by_place.values():
        for first in listed:
            for second in listed:
                merged = deepcopy(first.made)
                if merge_messages(base, merged, second.made):
                    continue
                if "reverse" in (first.edit, second.edit):
                    continue  # of two, one of which the other side drops
                told = {each.path for each in differences(part_of(base), part_of(merged))}
                for side in (first, second):
                    wanted = {each.path for each in differences(part_of(base), part_of(side.made))}
                    assert wanted & told, (first[:4], second[:4])


@pytest.mark.parametrize("choice", CHOICES)
def test_descriptions_state_every_edit(choice: int) -> None:
    for edit in all_edits(choice):
        if edit.edit == "another wire type" or edit.field.startswith(("pipeline", "mlProgram")):
            continue
        assert_kept(Surroundings(edit.made))


def test_programs_have_the_same_law() -> None:
    """Maps of messages are there, and messages in themselves."""
    for edit in edits(filled_program()):
        assert [*differences(part_of(filled_program()), part_of(edit.made))], edit[:4]


def filled_program() -> Program:
    made = Program(version=1)
    for name in ("a", "b"):
        block = made.functions[name].block_specializations["CoreML8"]
        block.operations.add(type="relu").inputs["x"].arguments.add(name="x")
        made.attributes[name].docString = "about"
    return made
