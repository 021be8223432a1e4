"""A site as a program by itself, to prove its replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.rewriting.literals import literal_message
from miltext.schema.types import TensorType, filled

if TYPE_CHECKING:
    from miltext.ir.functions import Block
    from miltext.ir.parts import Value
    from miltext.rewriting.operands import ConstantContents
    from miltext.rewriting.sites import AnySite
    from miltext.schema.proto import Program
    from miltext.schema.types import Type

FUNCTION = "site"
"""The name of the function of a site."""

SIZES = (2, 1, 3, 16, 64)
"""The sizes tried for unknown dimensions, in this order."""


def site_program(site: AnySite, contents: ConstantContents, size: int) -> Program:
    """Return a Program with the matched operations of a site, its free values as inputs, and its constants as literals.

    Unknown dimensions of inputs have this size; other values keep their types, since sizes follow at run time. Each
    output passes through an `identity`, so that the output does not have the name of a replaced value.
    """
    assert site.root.block is not None, "a site is in a block"
    graph = Graph.alone(FUNCTION, site.root.block.opset)
    function = graph.functions[FUNCTION]
    block = function.block
    assert block is not None, "it was made so"
    made: dict[Value, Value] = {}
    for op in reversed([*dict.fromkeys(site.match.ops.values())]):
        _copy(op, block, made, {*site.match.ops.values()}, size)
    _hold_literals(block, contents)
    outputs = []
    for value in site.root.outputs:
        through = Op.new("identity", {"x": made[value]}, {f"{value.name}_out": value.type})
        block.append(through)
        outputs.append(through.outputs[0])
    block.outputs = outputs
    return graph.program()


def _copy(op: Op, block: Block, made: dict[Value, Value], inside: set[Op], size: int) -> None:
    """Append a copy of an operation after copies of the operations that it needs."""
    if op.outputs[0] in made:
        return
    for value in op.operands:
        if value in made:
            continue
        if value.maker is not None and (value.maker in inside or value.is_constant):
            _copy(value.maker, block, made, inside, size)
        else:
            made[value] = block.function.add_input(value.name, closed(value.type, size))
    copy = op.copy(made.__getitem__)
    for value, output in zip(op.outputs, copy.outputs, strict=True):
        output.type = value.type
        made[value] = output
    block.append(copy)


def _hold_literals(block: Block, contents: ConstantContents) -> None:
    """Put literals in place of constants in files."""
    for op in block:
        for name, value in op.attributes.items():
            array = contents.array(value) if value.WhichOneof("value") == "blobFileValue" else None
            if array is not None:
                op.own().attributes[name].CopyFrom(literal_message(array))


def closed(type: Type, size: int = SIZES[0]) -> Type:
    """Return a type in which each unknown size is `size`."""
    if not isinstance(type, TensorType):
        return type
    return filled(type, TensorType(type.dtype, (size,) * len(type.shape)))
