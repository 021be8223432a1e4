"""Writing of a graph as a message: unedited parts are copied from the original message.

Edited operations, arguments and values keep their unknown fields: the copy is changed only where the graph differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.parts import Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miltext.diagnostics.dynamic import Fields
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Operand
    from miltext.schema import proto


def write_function(target: proto.Function, function: Function, *, is_copy: bool) -> None:
    """Write an edited function into a message, which may be a copy of the original."""
    if not is_copy:
        _copy(target, function.message)
    _declare(target.inputs, function.inputs)
    if target.opset != function.opset:
        target.opset = function.opset
    _set_attributes(target.attributes, function.changed)
    for opset in [each for each in target.block_specializations if each not in function.blocks]:
        del target.block_specializations[opset]
    for opset, block in function.blocks.items():
        is_there = function.message.block_specializations.get(opset) is block.message
        _write_block(target.block_specializations[opset], block, is_copy=is_there)


def _set_attributes(target: Fields, changed: Mapping[str, proto.Value | None]) -> None:
    """Set the changed attributes; None removes an attribute."""
    for key, value in changed.items():
        target.pop(key, None)
        if value is not None:
            _copy(target[key], value)


def _write_block(target: proto.Block, block: Block, *, is_copy: bool) -> None:
    """Write a block into a message, which may be a copy of the original."""
    if not is_copy:
        _copy(target, block.message)
    if not block.is_edited:
        return
    if block.is_rebuilt:
        del target.operations[:]
    for place, op in enumerate(block):
        made = target.operations.add() if block.is_rebuilt else target.operations[place]
        if block.is_rebuilt or op.is_own:
            _copy(made, op.message)
        if op.is_edited:
            _change_op(made, op)
    _declare(target.inputs, block.inputs)
    _set_attributes(target.attributes, block.changed)
    target.outputs[:] = [value.name for value in block.outputs]


def _change_op(target: proto.Operation, op: Op) -> None:
    """Apply the edits of an operation to a copy of its message."""
    for parameter in [each for each in target.inputs if each not in op.inputs]:
        del target.inputs[parameter]
    for parameter, operands in op.inputs.items():
        _bind(target.inputs[parameter].arguments, operands)
    _declare(target.outputs, op.outputs)
    if op.has_other_blocks:
        del target.blocks[:]
    for place, block in enumerate(op.blocks):
        is_there = place < len(target.blocks)
        _write_block(target.blocks[place] if is_there else target.blocks.add(), block, is_copy=is_there)


def _bind(bindings: Fields, operands: Sequence[Operand]) -> None:
    """Bind arguments to operands, and keep arguments with the right binding."""
    while len(bindings) > len(operands):
        del bindings[-1]
    for place, operand in enumerate(operands):
        binding = bindings[place] if place < len(bindings) else bindings.add()
        if isinstance(operand, Value):
            if binding.name != operand.name or binding.WhichOneof("binding") != "name":
                binding.name = operand.name
        elif operand is None:
            if binding.WhichOneof("binding") is not None:
                binding.ClearField(binding.WhichOneof("binding"))
        elif binding.WhichOneof("binding") != "value" or binding.value != operand:
            _copy(binding.value, operand)


def _declare(declared: Fields, values: Sequence[Value]) -> None:
    """Declare values with their messages, under their present names."""
    if len(declared) != len(values) or any(
        message != value.message for message, value in zip(declared, values, strict=True)
    ):
        del declared[:]
        for value in values:
            _copy(declared.add(), value.message)
    for message, value in zip(declared, values, strict=True):
        if message.name != value.name:
            message.name = value.name


def _copy(target: Fields, message: Fields) -> None:
    """Make a message equal to another, which may be of another copy of the schema."""
    if target.__class__ is message.__class__:
        target.CopyFrom(message)
    else:
        target.ParseFromString(message.SerializeToString())
