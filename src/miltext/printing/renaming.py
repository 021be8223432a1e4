"""Canonical names: names of values by their operations rather than by an author."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.walk import inner_values, operations
from miltext.syntax.names import FreshNames

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.parts import Value
    from miltext.schema import proto
    from miltext.schema.proto import Operation, Program

NAME = "name"
"""The attribute with the original name of an operation."""


def drop_names(program: Program) -> None:
    """Remove the `name` attributes of all operations."""
    for _, operation in operations(program):
        operation.attributes.pop(NAME, None)


def rename_values(program: Program) -> None:
    """Name each value after the type of its operation, with its number among these in the order of the text.

    `relu_0`, `relu_1`; an inner block's inputs are `input_0` and so on. The inputs of functions and the outputs of
    their blocks keep their names, which callers use; a `name` attribute equal to the value's name changes with it.
    """
    graph = Graph(program)
    for function in graph.functions.values():
        for block in function.blocks.values():
            kept = {*function.inputs, *block.inputs, *block.outputs, *function.undefined.values()}
            names = FreshNames(value.name for value in kept)
            for value in [each for each in block.defined() if each not in kept]:
                rename(value, names.numbered("input" if value.maker is None else value.maker.type))
    program.CopyFrom(graph.program())


def rename_all(function: Function, names: Mapping[str, str]) -> None:
    """Rename the values of a function; names may be exchanged.

    Copies of a name change, too: the `name` of a value's operation, and the compiler's facts about flexible inputs.
    """
    if ATTRIBUTE in function.attributes:
        function.set_attribute(ATTRIBUTE, _with_names(function.attributes[ATTRIBUTE], names))
    for op in function.walk():
        made = {value.name: names[value.name] for value in op.outputs if value.name in names}
        if made and NAME in op.attributes and not op.attributes[NAME].type.tensorType.rank:
            op.own().attributes[NAME].CopyFrom(_with_names(op.attributes[NAME], made))
    for value in [*function.defined(), *function.undefined.values()]:
        value.name = names.get(value.name, value.name)


def _with_names(value: proto.Value, names: Mapping[str, str]) -> proto.Value:
    """Return a copy of a value with new names in place of strings equal to old ones."""
    made = value.__class__()
    made.CopyFrom(value)
    for each in (made, *inner_values(made)):
        strings = each.immediateValue.tensor.strings.values if each.WhichOneof("value") == "immediateValue" else []
        for index, text in enumerate(strings):
            strings[index] = names.get(text, text)
    return made


def rename(value: Value, name: str) -> None:
    """Give a value a new name. A `name` attribute equal to the old name of a first output changes, too."""
    maker = value.maker
    if maker is not None and maker.outputs[0] is value and names_itself(maker.message, value.name):
        maker.own().attributes[NAME].immediateValue.tensor.strings.values[0] = name
    value.name = name


def names_itself(operation: Operation, value: str) -> bool:
    """Return whether an operation's `name` attribute is the plain string `value`."""
    named = operation.attributes
    return NAME in named and list(named[NAME].immediateValue.tensor.strings.values) == [value]
