"""Nesting: the operations and weights that may be inside others."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from miltext.drafting.draft_printer import record_path
from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.models.compact import VALUE, is_plain_constant
from miltext.schema.operations import signature
from miltext.schema.paths import Path, block_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from miltext.schema.proto import Operation, Program


def movable(program: Program, gaps: Set[Path]) -> set[Path]:
    """Return the paths of the operations that may be inside another, their only user."""
    found = set[Path]()
    for function in Graph(program).functions.values():
        for opset, block in function.blocks.items():
            counts = Counter(value.name for value in (*function.inputs, *block.defined()))
            found.update(
                place
                for place, op in block.parts(block_path(function.name, opset))
                if isinstance(op, Op)
                and (*place, "outputs", 0) in gaps
                and _has_one_use(op, counts)
                and (_is_plain(op.message, opset, function.message.opset) or _is_weight(op.message))
            )
    return found


def _has_one_use(op: Op, counts: Mapping[str, int]) -> bool:
    """Return whether an operation has one output, of a name of its own, that one argument takes."""
    if len(op.outputs) != 1 or counts[op.outputs[0].name] != 1:
        return False
    return [use.op is not None for use in op.outputs[0].uses] == [True]


def _is_plain(operation: Operation, *opsets: str) -> bool:
    """Return whether an operation has one output, which does not depend on the time of its computation."""
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
    """Return whether an operation is a constant in a file, which may stand as an argument."""
    value = operation.attributes[VALUE] if is_plain_constant(operation) else None
    return value is not None and not value.docString and record_path(value.blobFileValue.fileName) is not None
