"""Nesting: which operations and weights may stand inside others, and the order in which `infer` takes them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.drafting.draft_printer import record_path
from miltext.models.compact import VALUE, is_plain_constant
from miltext.schema.operations import signature
from miltext.schema.paths import Path
from miltext.schema.proto import Block, Operation
from miltext.schema.walk import block_parts, uses_of
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

    from miltext.schema.proto import Program


def movable(program: Program, gaps: Set[Path]) -> set[Path]:
    """Return the paths of the operations that may stand inside another, which is the only one to use them."""
    found = set[Path]()
    for name, function in program.functions.items():
        for opset, block in function.block_specializations.items():
            parts = [*block_parts(block, ("functions", name, "block_specializations", opset))]
            uses = uses_of(part for _, part in parts)
            found.update(
                path
                for path, part in parts
                if isinstance(part, Operation)
                and (*path, "outputs", 0) in gaps
                and len(part.outputs) == 1
                and uses[part.outputs[0].name] == 1
                and (_is_plain(part, opset, function.opset) or _is_weight(part))
            )
    return found


def _is_plain(operation: Operation, *opsets: str) -> bool:
    """Tell whether an operation gives back one value, which does not depend on when it is computed."""
    if operation.type == "const" or operation.type.startswith("random_") or operation.blocks:
        return False
    every = [signature(operation.type, opset) for opset in opsets]
    return all(
        known is not None
        and known.outputs == (1, 1)
        and not known.blocks
        and not any("state" in parameter.kinds for parameter in known.parameters.values())
        for known in every
    )


def _is_weight(operation: Operation) -> bool:
    """Tell whether an operation is a constant in a file, which may stand as an argument."""
    value = operation.attributes[VALUE] if is_plain_constant(operation) else None
    return value is not None and not value.docString and record_path(value.blobFileValue.fileName) is not None


def in_order(program: Program, order: Mapping[Path, Sequence[int]]) -> Program:
    """Return a copy of a Program with the operations of each block in another order."""
    made = own_copy(program)
    for name, function in made.functions.items():
        for opset, block in function.block_specializations.items():
            path = ("functions", name, "block_specializations", opset)
            for place, part in reversed([*block_parts(block, path)]):
                if isinstance(part, Block) and [*order[place]] != [*range(len(part.operations))]:
                    copy = Block(operations=[part.operations[index] for index in order[place]])
                    del part.operations[:]
                    part.operations.MergeFrom(copy.operations)
    return made
