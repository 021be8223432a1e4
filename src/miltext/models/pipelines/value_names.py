"""New names for the values of a Program: wherever they are made, used and given out, in inner blocks too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.models.refusals import refusal
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.walk import inner_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.schema.proto import Block, Function, NamedValueType, Operation, Program, Value

NAME = "name"
"""The attribute of an operation that repeats the name of what it makes."""


def rename_values(program: Program, names: Mapping[str, str], place: object) -> None:
    """Give the values of a Program new names, by their old ones, which may be exchanged.

    Each function that has such a value is changed. Raise ModelError (MIL431) for a new name that another value of it
    has; `place` is what the error calls the model.
    """
    for function_name in sorted(program.functions):
        function = program.functions[function_name]
        there = {*_names(function)}
        if there.isdisjoint(names):
            continue
        kept = Counter(names.get(name, name) for name in there)
        for new in names.values():
            if kept[new] > 1:
                raise refusal("MIL431", f"the function `{function_name}` of {place} already has a value `{new}`")
        _rename(function, names)


def value_names(program: Program) -> set[str]:
    """Return the names of all values of a Program."""
    return {name for function in program.functions.values() for name in _names(function)}


def _blocks(function: Function) -> Iterator[Block]:
    """Yield the blocks of a function, inner ones too."""
    todo = list(function.block_specializations.values())
    while todo:
        block = todo.pop()
        yield block
        todo += [inner for operation in block.operations for inner in operation.blocks]


def _names(function: Function) -> Iterator[str]:
    yield from (value.name for value in function.inputs)
    for block in _blocks(function):
        yield from (value.name for value in block.inputs)
        yield from (value.name for operation in block.operations for value in operation.outputs)


def _rename(function: Function, names: Mapping[str, str]) -> None:
    _rename_made(function.inputs, names)
    if ATTRIBUTE in function.attributes:
        _rename_strings(function.attributes[ATTRIBUTE], names)
    for block in _blocks(function):
        _rename_made(block.inputs, names)
        for index, name in enumerate(block.outputs):
            if name in names:
                block.outputs[index] = names[name]
        for operation in block.operations:
            _rename_operation(operation, names)


def _rename_made(values: Iterable[NamedValueType], names: Mapping[str, str]) -> None:
    for value in values:
        if value.name in names:
            value.name = names[value.name]


def _rename_operation(operation: Operation, names: Mapping[str, str]) -> None:
    for argument in operation.inputs.values():
        for binding in argument.arguments:
            if binding.name in names:
                binding.name = names[binding.name]
    made = {value.name for value in operation.outputs} & names.keys()
    if not made:
        return
    _rename_made(operation.outputs, names)
    if NAME in operation.attributes:
        _rename_strings(operation.attributes[NAME], {name: names[name] for name in made})


def _rename_strings(value: Value, names: Mapping[str, str]) -> None:
    for each in (value, *inner_values(value)):
        strings = each.immediateValue.tensor.strings.values if each.WhichOneof("value") == "immediateValue" else []
        for index, text in enumerate(strings):
            strings[index] = names.get(text, text)
