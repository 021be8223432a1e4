"""Canonical names: what the values of a program are called, by what makes them rather than by who wrote it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from miltext.schema.walk import operations

NAME = "name"
"""The attribute that says what an operation was called."""


def drop_names(program: Any) -> None:
    """Take away every operation's `name` attribute."""
    for _, operation in operations(program):
        operation.attributes.pop(NAME, None)


def rename_values(program: Any) -> None:
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
            _Names(kept | set(block.outputs)).rename_in(block, {name: name for name in kept})


class _Names:
    """The names that one function's block hands out; none of those that are `kept`."""

    def __init__(self, kept: set[str]) -> None:
        self._kept = kept
        self._counts: dict[str, int] = {}

    def _fresh(self, stem: str) -> str:
        while True:
            number = self._counts[stem] = self._counts.get(stem, -1) + 1
            name = f"{stem}_{number}"
            if name not in self._kept:
                return name

    def rename_in(self, block: Any, known: Mapping[str, str]) -> None:
        """Rename what a block defines and uses; `known` are the new names of what it sees from outside.

        Blocks nest no deeper than protobuf's limit, so that calling itself is safe.
        """
        scope = dict(known)
        for operation in block.operations:
            for argument in operation.inputs.values():
                for binding in argument.arguments:
                    if binding.name:
                        binding.name = scope.get(binding.name, binding.name)
            for inner in operation.blocks:
                inner_scope = dict(scope)
                self._define(inner.inputs, "input", inner_scope)
                self.rename_in(inner, inner_scope)
            self._define_outputs(operation, scope)
        block.outputs[:] = [scope.get(name, name) for name in block.outputs]

    def _define_outputs(self, operation: Any, scope: dict[str, str]) -> None:
        before = [output.name for output in operation.outputs]
        self._define(operation.outputs, operation.type, scope)
        if before and names_itself(operation, before[0]):
            named = operation.attributes[NAME].immediateValue.tensor.strings
            named.values[0] = operation.outputs[0].name

    def _define(self, values: Any, stem: str, scope: dict[str, str]) -> None:
        for value in values:
            if value.name not in self._kept:
                scope[value.name] = fresh = self._fresh(stem)
                value.name = fresh
            else:
                scope[value.name] = value.name


def names_itself(operation: Any, value: str) -> bool:
    """Whether an operation's `name` attribute is the plain string `value`."""
    if NAME not in operation.attributes:
        return False
    strings = operation.attributes[NAME].immediateValue.tensor.strings.values
    return len(strings) == 1 and strings[0] == value
