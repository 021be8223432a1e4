"""The generated Programs do cover the schema: every field of every message, there and not there."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings
from support.strategies import any_programs

from miltext.schema.proto import Program
from miltext.schema.walk import messages

Fact = tuple[str, str]


def expected(descriptor: Any, seen: set[str]) -> set[Fact]:
    """What should be met of a message and of those in it: empty; each field there and not there; each oneof unset."""
    name = descriptor.full_name
    if name in seen:
        return set()
    seen.add(name)
    facts = {(name, "empty"), *((name, f"{oneof.name} unset") for oneof in descriptor.oneofs)}
    for field in descriptor.fields:
        facts |= {(name, field.name), (name, f"no {field.name}")}
        inner = field.message_type
        if inner is not None:
            entry = inner.GetOptions().map_entry
            facts |= expected(inner.fields_by_name["value"].message_type if entry else inner, seen)
    return facts


def facts(message: Any) -> set[Fact]:
    descriptor = message.DESCRIPTOR
    name = descriptor.full_name
    present = {field.name for field, _ in message.ListFields()}
    found = {(name, field.name if field.name in present else f"no {field.name}") for field in descriptor.fields}
    found |= {(name, f"{oneof.name} unset") for oneof in descriptor.oneofs if not message.WhichOneof(oneof.name)}
    return found if present else found | {(name, "empty")}


SEED = 0
"""One that meets all early; any other does in the end."""


class AllMetError(Exception):
    """There is nothing left to wait for."""


@pytest.mark.any_version
def test_every_field_is_met_in_every_state() -> None:
    left = expected(Program.DESCRIPTOR, set())

    @seed(SEED)
    @settings(max_examples=5000, database=None, phases=[Phase.generate])
    @given(any_programs)
    def gather(program: Program) -> None:
        for _, message in messages(program):
            left.difference_update(facts(message))
        if not left:
            raise AllMetError

    with suppress(AllMetError):
        gather()
    assert left == set()
