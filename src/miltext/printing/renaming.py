"""Canonical names: what the values of a program are called, by what makes them rather than by who wrote it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING

from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.walk import inner_values, operations

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, NamedValueType, Operation, Program, Value

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
    for name in sorted(program.functions):
        function = program.functions[name]
        for key in sorted(function.block_specializations):
            block = function.block_specializations[key]
            kept = {value.name for value in (*function.inputs, *block.inputs)}
            _Names(kept.union(block.outputs)).rename_in(block, {})


def rename_value(function: Function, old: str, new: str) -> None:
    """Give all values of a function that have a name another one, and what repeats it: the `name` of the operation that
    makes one, and the compiler's note of flexible inputs.
    """
    if ATTRIBUTE in function.attributes:
        noted = function.attributes[ATTRIBUTE]
        for value in (noted, *inner_values(noted)):
            _rename_among(value, old, new)
    _rename_values(function.inputs, old, new)
    for block in function.block_specializations.values():
        _rename_in_block(block, old, new)


def _rename_in_block(block: Block, old: str, new: str) -> None:
    """Rename in a block and those inside it; they nest no deeper than protobuf's limit."""
    _rename_values(block.inputs, old, new)
    block.outputs[:] = [new if each == old else each for each in block.outputs]
    for operation in block.operations:
        _rename_in_operation(operation, old, new)
        for inner in operation.blocks:
            _rename_in_block(inner, old, new)


def _rename_values(values: Iterable[NamedValueType], old: str, new: str) -> None:
    for value in values:
        if value.name == old:
            value.name = new


def _rename_in_operation(operation: Operation, old: str, new: str) -> None:
    makes_it = old in [output.name for output in operation.outputs]
    if makes_it and names_itself(operation, old) and not operation.attributes[NAME].type.tensorType.rank:
        _rename_among(operation.attributes[NAME], old, new)
    _rename_values(operation.outputs, old, new)
    for argument in operation.inputs.values():
        for binding in argument.arguments:
            if binding.name == old:
                binding.name = new


def _rename_among(value: Value, old: str, new: str) -> None:
    """Rename in the strings that a value holds; nothing is written where the name is not among them."""
    if old in value.immediateValue.tensor.strings.values:
        strings = value.immediateValue.tensor.strings.values
        strings[:] = [new if each == old else each for each in strings]


class _Names:
    """The names that one function's block hands out, other than those that are `kept`."""

    def __init__(self, kept: set[str]) -> None:
        self._kept = kept
        self._numbers: defaultdict[str, Iterator[int]] = defaultdict(count)

    def _fresh(self, stem: str) -> str:
        names = (f"{stem}_{number}" for number in self._numbers[stem])
        return next(name for name in names if name not in self._kept)

    def rename_in(self, block: Block, known: Mapping[str, str]) -> None:
        """Rename what a block defines and uses; `known` are the new names of what it sees from outside.

        Blocks nest no deeper than protobuf's limit, so that calling itself is safe.
        """
        scope = dict(known)
        self._define(block.inputs, "input", scope)
        for operation in block.operations:
            for argument in operation.inputs.values():
                for binding in argument.arguments:
                    if binding.name:
                        binding.name = scope.get(binding.name, binding.name)
            for inner in operation.blocks:
                self.rename_in(inner, scope)
            self._define_outputs(operation, scope)
        block.outputs[:] = [scope.get(name, name) for name in block.outputs]

    def _define_outputs(self, operation: Operation, scope: dict[str, str]) -> None:
        before = [output.name for output in operation.outputs]
        self._define(operation.outputs, operation.type, scope)
        if before and names_itself(operation, before[0]):
            named = operation.attributes[NAME].immediateValue.tensor.strings
            named.values[0] = operation.outputs[0].name

    def _define(self, values: Iterable[NamedValueType], stem: str, scope: dict[str, str]) -> None:
        for value in values:
            name = value.name if value.name in self._kept else self._fresh(stem)
            scope[value.name] = name
            value.name = name


def names_itself(operation: Operation, value: str) -> bool:
    """Whether an operation's `name` attribute is the plain string `value`."""
    named = operation.attributes
    return NAME in named and list(named[NAME].immediateValue.tensor.strings.values) == [value]
