"""New names for the values of a Program: wherever they are made, used and given out, in inner blocks too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.models.refusals import refusal
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.renaming import NAME
from miltext.schema.walk import inner_values

if TYPE_CHECKING:
    from miltext.ir.parts import Function
    from miltext.schema.proto import Program, Value


def rename_values(program: Program, names: Mapping[str, str], place: object) -> None:
    """Give the values of a Program new names, by their old ones, which may be exchanged.

    Each function that has such a value is changed. Raise ModelError (MIL431) for a new name that another value of it
    has; `place` is what the error calls the model.
    """
    graph = Graph(program)
    for function_name, function in graph.functions.items():
        there = {value.name for value in function.defined()}
        if there.isdisjoint(names):
            continue
        kept = Counter(names.get(name, name) for name in there)
        for new in names.values():
            if kept[new] > 1:
                raise refusal("MIL431", f"the function `{function_name}` of {place} already has a value `{new}`")
        _rename(function, names)
    program.CopyFrom(graph.program())


def value_names(program: Program) -> set[str]:
    """Return the names of all values of a Program."""
    return {value.name for function in Graph(program).functions.values() for value in function.defined()}


def _rename(function: Function, names: Mapping[str, str]) -> None:
    if ATTRIBUTE in function.attributes:
        function.set_attribute(ATTRIBUTE, _renamed(function.attributes[ATTRIBUTE], names))
    for op in function.walk():
        made = {value.name: names[value.name] for value in op.outputs if value.name in names}
        if made and NAME in op.attributes:
            op.own().attributes[NAME].CopyFrom(_renamed(op.attributes[NAME], made))
    for value in [*function.defined(), *function.undefined.values()]:
        value.name = names.get(value.name, value.name)


def _renamed(value: Value, names: Mapping[str, str]) -> Value:
    """Return a copy of a value in which each string that is an old name is the new one."""
    made = value.__class__()
    made.CopyFrom(value)
    for each in (made, *inner_values(made)):
        strings = each.immediateValue.tensor.strings.values if each.WhichOneof("value") == "immediateValue" else []
        for index, text in enumerate(strings):
            strings[index] = names.get(text, text)
    return made
