"""All operations and values of a block, those of the blocks inside it, too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.schema.proto import Block, NamedValueType, Operation


def operations_in(block: Block) -> Iterator[Operation]:
    """Yield a block's operations, each before those inside it."""
    for operation in block.operations:
        yield operation
        yield from operations_inside(operation)


def operations_inside(operation: Operation) -> Iterator[Operation]:
    """Yield the operations inside an operation's blocks."""
    for block in operation.blocks:
        yield from operations_in(block)


def values_in(block: Block) -> Iterator[NamedValueType]:
    """Yield what declares the values of a block, and of those inside it."""
    yield from block.inputs
    for operation in block.operations:
        yield from operation.outputs
        for inner in operation.blocks:
            yield from values_in(inner)
