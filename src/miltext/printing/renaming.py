"""Canonical names: what the values of a program are called, by what makes them rather than by who wrote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from itertools import count
from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.schema.walk import operations

if TYPE_CHECKING:
    from miltext.ir.parts import Block, Value
    from miltext.schema.proto import Operation, Program

NAME = "name"
"""The attribute that says what an operation was called."""


def drop_names(program: Program) -> None:
    """Take away every operation's `name` attribute."""
    for _, operation in operations(program):
        operation.attributes.pop(NAME, None)


def rename_values(program: Program) -> None:
    """Name every value after the operation that makes it and its number among these, in the order of the text.

    `relu_0`, `relu_1`; an inner block's inputs are `input_0` and so on. The inputs of functions and the outputs of
    their blocks, by which the outside knows them, keep their names; a `name` attribute that repeats the value's goes
    along.
    """
    graph = Graph(program)
    for function in graph.functions.values():
        for block in function.blocks.values():
            _number_values(block, {*function.inputs, *block.inputs, *block.outputs, *function.undefined.values()})
    program.CopyFrom(graph.program())


def _number_values(block: Block, kept: Collection[Value]) -> None:
    """Name the values of a function's block, but for those that are `kept`, and other than these."""
    taken = {value.name for value in kept}
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    for value in [each for each in block.defined() if each not in kept]:
        stem = "input" if value.maker is None else value.maker.type
        rename(value, next(name for number in numbers[stem] if (name := f"{stem}_{number}") not in taken))


def rename(value: Value, name: str) -> None:
    """Give a value a new name. A `name` attribute that repeats the old name of a first output goes along."""
    maker = value.maker
    if maker is not None and maker.outputs[0] is value and names_itself(maker.message, value.name):
        maker.own().attributes[NAME].immediateValue.tensor.strings.values[0] = name
    value.name = name


def names_itself(operation: Operation, value: str) -> bool:
    """Return whether an operation's `name` attribute is the plain string `value`."""
    named = operation.attributes
    return NAME in named and list(named[NAME].immediateValue.tensor.strings.values) == [value]
