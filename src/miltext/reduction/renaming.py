"""Values that take the place of others wherever these are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Operation


def rename_uses(block: Block, names: Mapping[str, str]) -> None:
    """Have a block, and those inside it, use other values: their names by the old ones, which may lead on."""
    for operation in block.operations:
        rename_in(operation, names)
    block.outputs[:] = [found(name, names) for name in block.outputs]


def rename_in(operation: Operation, names: Mapping[str, str]) -> None:
    """Have an operation, and its blocks, use other values."""
    for argument in operation.inputs.values():
        for binding in argument.arguments:
            if binding.name in names:
                binding.name = found(binding.name, names)
    for block in operation.blocks:
        rename_uses(block, names)


def found(name: str, names: Mapping[str, str]) -> str:
    """Return where a name leads to."""
    while name in names:
        name = names[name]
    return name
