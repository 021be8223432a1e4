"""New names for the values of a Program: everywhere they are made, used and output, in inner blocks too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.printing.renaming import rename_all

if TYPE_CHECKING:
    from miltext.schema.proto import Program


def rename_values(program: Program, names: Mapping[str, str], place: object) -> None:
    """Rename the values of a Program, by their old names, which may be exchanged.

    Each function with such a value is changed. Raise ModelError (MIL431) for a new name that another value of it has;
    `place` is the model's name in the error.
    """
    graph = Graph(program)
    for function_name, function in graph.functions.items():
        there = {value.name for value in function.defined()}
        if there.isdisjoint(names):
            continue
        kept = Counter(names.get(name, name) for name in there)
        for new in names.values():
            if kept[new] > 1:
                raise refusal(
                    codes.NAME_IN_USE, f"the function `{function_name}` of {place} already has a value `{new}`"
                )
        rename_all(function, names)
    program.CopyFrom(graph.program())


def value_names(program: Program) -> set[str]:
    """Return the names of all values of a Program."""
    return {value.name for function in Graph(program).functions.values() for value in function.defined()}
