"""Merging of inputs of the same type."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.cutting import leave_inputs
from miltext.ir.graph import Graph
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.schema.proto import Program


class Twin(NamedTuple):
    """An input of a function, and an earlier input as its replacement."""

    function: str
    name: str
    other: str


def twins(program: Program) -> list[Twin]:
    """Return the inputs with the type of an earlier one, except states."""
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
    """Return a Program in which earlier inputs replace these."""
    graph = Graph(program)
    for twin in merged:
        function = graph.functions[twin.function]
        function.value(twin.name).replace_uses(function.value(twin.other))
        leave_inputs(function, {value.name for value in function.inputs} - {twin.name})
    return graph.program()
