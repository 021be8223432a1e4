"""Inputs of one type made one: a Program takes fewer then."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from miltext.extraction.cutting import leave_inputs
from miltext.reduction.renaming import rename_uses
from miltext.schema.proto import Program
from miltext.schema.wire import wire_of


class Twin(NamedTuple):
    """An input of a function that another one, which stands before it, may take the place of."""

    function: str
    name: str
    other: str


def twins(program: Program) -> list[Twin]:
    """Return the inputs that have the type of an earlier one; not states, which are more than their value."""
    found = []
    for name in sorted(program.functions):
        first: dict[bytes, str] = {}
        for value in program.functions[name].inputs:
            if value.type.WhichOneof("type") != "stateType":
                other = first.setdefault(wire_of(value.type), value.name)
                if other != value.name:
                    found.append(Twin(name, value.name, other))
    return found


def merge(program: Program, merged: Collection[Twin]) -> Program:
    """Return a Program in which other inputs take the place of these."""
    made = Program()
    made.CopyFrom(program)
    for name in {twin.function for twin in merged}:
        function = made.functions[name]
        names = {twin.name: twin.other for twin in merged if twin.function == name}
        leave_inputs(function, {value.name for value in function.inputs}.difference(names))
        for block in function.block_specializations.values():
            rename_uses(block, names)
    return made
