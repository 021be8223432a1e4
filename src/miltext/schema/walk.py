"""Walks over a Program: its blocks, operations and values, inner blocks' too, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, Operation, Program, Value


class Held(NamedTuple):
    """A Value of a Program and what holds it: a function's name, an operation if it is one's, and the name of its
    attribute or argument there.
    """

    value: Value
    function: str
    operation: Operation | None
    key: str

    @property
    def name(self) -> str:
        """What people call it: the output of a `const`; else the operation's output and the argument, `w.lut`."""
        operation = self.operation
        if operation is None:
            return self.key
        output = operation.outputs[0].name if operation.outputs else operation.type
        return output if (operation.type, self.key) == ("const", "val") else f"{output}.{self.key}"

    @property
    def is_weight(self) -> bool:
        """Whether coremltools keeps such a value in the weight file: a `const`, or a part of a compressed one."""
        operation = self.operation
        if operation is None:
            return False
        return (operation.type, self.key) == ("const", "val") or operation.type.startswith("constexpr_")


def own_block(function: Function) -> Block | None:
    """Return the block of the function's own opset, or the only one there is."""
    blocks = function.block_specializations
    if function.opset in blocks:
        return blocks[function.opset]
    return blocks[next(iter(blocks))] if len(blocks) == 1 else None


def operations(block: Block) -> Iterator[Operation]:
    """Every operation of a block, followed by those of its inner blocks."""
    for operation in block.operations:
        yield operation
        for inner in operation.blocks:
            yield from operations(inner)


def function_operations(function: Function) -> Iterator[Operation]:
    """Every operation of a function, block after block."""
    for opset in sorted(function.block_specializations):
        yield from operations(function.block_specializations[opset])


def values(program: Program) -> Iterator[Held]:
    """Every Value that is an attribute or an argument, and every one inside such a Value."""
    yield from _mapped(program.attributes, "", None)
    for name in sorted(program.functions):
        function = program.functions[name]
        yield from _mapped(function.attributes, name, None)
        for opset in sorted(function.block_specializations):
            yield from _of_block(function.block_specializations[opset], name)


def _of_block(block: Block, function: str) -> Iterator[Held]:
    yield from _mapped(block.attributes, function, None)
    for operation in block.operations:
        yield from _of_operation(operation, function)
        for inner in operation.blocks:
            yield from _of_block(inner, function)


def _of_operation(operation: Operation, function: str) -> Iterator[Held]:
    for key in sorted(operation.inputs):
        for binding in operation.inputs[key].arguments:
            if binding.WhichOneof("binding") == "value":
                yield from _with_inner(Held(binding.value, function, operation, key))
    yield from _mapped(operation.attributes, function, operation)


def _mapped(attributes: Mapping[str, Value], function: str, operation: Operation | None) -> Iterator[Held]:
    for key in sorted(attributes):
        yield from _with_inner(Held(attributes[key], function, operation, key))


def _with_inner(held: Held) -> Iterator[Held]:
    yield held
    yield from (held._replace(value=value) for value in inner_values(held.value))


def inner_values(value: Value) -> Iterator[Value]:
    """Every Value inside a list, a tuple or a dictionary, however deep."""
    if value.WhichOneof("value") != "immediateValue":
        return
    immediate = value.immediateValue
    kind = immediate.WhichOneof("value")
    if kind == "dictionary":
        inside = [each for pair in immediate.dictionary.values for each in (pair.key, pair.value)]
    elif kind in ("list", "tuple"):
        inside = list((immediate.list if kind == "list" else immediate.tuple).values)
    else:
        return
    for each in inside:
        yield each
        yield from inner_values(each)
