"""Operations inside blocks, if the block itself is needed: their values become inputs of the function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.borders import is_takeable
from miltext.extraction.compile_time import constant_parameters
from miltext.ir.graph import Graph
from miltext.reduction.sweeping import sweep

if TYPE_CHECKING:
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op
    from miltext.schema.proto import Program


class Inner(NamedTuple):
    """An operation inside a block, by its first output, whose name is unique in the function."""

    function: str
    opset: str
    name: str


def inner_operations(program: Program) -> list[Inner]:
    """Return the operations inside blocks that make values, except constants, in the order of the text."""
    return [
        Inner(function.name, opset, op.outputs[0].name)
        for function in Graph(program).functions.values()
        for opset, block in function.blocks.items()
        for op in _inside(block)
    ]


def without(program: Program, gone: Collection[Inner]) -> Program | None:
    """Return a Program without some inner operations; None if their outputs cannot become inputs."""
    graph = Graph(program)
    for name, opset in {(each.function, each.opset) for each in gone}:
        function = graph.functions[name]
        names = {each.name for each in gone if (each.function, each.opset) == (name, opset)}
        for op in reversed([*_chosen(function.blocks[opset], names)]):
            if not _leave_out(op, function, opset):
                return None
    return graph.program() if sweep(graph) else None


def _chosen(block: Block, names: Collection[str]) -> Iterator[Op]:
    """Yield the operations of a block, and of its inner blocks, whose first output has any of the names."""
    for op in block:
        if op.outputs and op.outputs[0].name in names:
            yield op
        else:
            for inner in op.blocks:
                yield from _chosen(inner, names)


def _leave_out(op: Op, function: Function, opset: str) -> bool:
    """Replace the outputs of an operation by inputs of the function; return whether it is possible."""
    for value in [each for each in op.outputs if each.uses]:
        is_fixed = any(use.op and use.parameter in constant_parameters(use.op.type, opset) for use in value.uses)
        if is_fixed or value.message is None or not is_takeable(value):
            return False
        value.replace_uses(function.declare_input(value.message))
    op.remove()
    return True


def _inside(block: Block) -> Iterator[Op]:
    """Yield the operations inside a block's operations whose outputs all have unique names."""
    names = Counter(value.name for value in block.defined())
    for op in block:
        for inner in op.walk():
            if inner.outputs and not inner.is_constant and all(names[value.name] == 1 for value in inner.outputs):
                yield inner
