"""Folding of a Program for people, with constants at their uses, and without redundant arguments.

Nesting finds the operations and weights that may be inside others.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from miltext.checking.operations import message_path
from miltext.drafting.draft_printer import record_path
from miltext.drafting.given_defaults import Defaults
from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.models.compact import VALUE, fold, is_plain_constant
from miltext.printing.printer import Printer
from miltext.printing.renaming import drop_names
from miltext.schema.operations import signature
from miltext.schema.paths import Path, block_path
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

    from miltext.ir import parts
    from miltext.ir.functions import Block
    from miltext.printing.tensors import Style
    from miltext.schema.proto import Operation, Program, Value

LONGEST = 64
"""The most characters of a literal written at its only use."""

SHORT = 16
"""The most characters of a literal written at each of several uses."""

_ENDING = re.compile(r"(?<=.)(_cast|_to)_(fp16|fp32)(?=(_\d+)?$)")
"""The ending that coremltools adds to the name of a value when it changes its data type."""


def folded(program: Program, style: Style) -> Program:
    """Return a copy of a Program that computes the same, without names of operations, with constants folded in.

    Weights in files and long literals stay where they are.
    """
    made = own_copy(program)
    drop_names(made)
    printer = Printer(style._replace(elide=None))

    def folds(value: Value, uses: int) -> bool:
        is_here = value.WhichOneof("value") == "immediateValue" and value.ByteSize() <= 8 * LONGEST
        return is_here and len(printer.literal(value)) <= (LONGEST if uses == 1 else SHORT)

    graph = Graph(made)
    for function in graph.functions.values():
        for block in function.blocks.values():
            fold(block, folds)
            _shorten(block, {*function.inputs, *block.inputs, *block.outputs, *function.undefined.values()})
    return _without_defaults(graph.program(), style.dialect)


def _shorten(block: Block, kept: set[parts.Value]) -> None:
    """Remove the endings that coremltools adds to names of converted values, where the names stay unique."""
    values = [value for value in block.defined() if value not in kept]
    counts = Counter(value.name for value in (*values, *kept))
    taken = {*counts}
    for value in values:
        short = _ENDING.sub("", value.name)
        if counts[value.name] == 1 and short not in taken:
            value.name = short
            taken.add(short)


def _without_defaults(program: Program, dialect: str) -> Program:
    """Return a Program without the arguments equal to their default."""
    graph, defaults = Graph(program), Defaults(program, dialect)
    operations = graph.operations()
    for each in defaults.inferred:
        op = operations[message_path(each.path)]
        for name in defaults.among(each, op.literals()):
            op.remove_input(name)
    return graph.program()


# ---- operations inside others


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
    """Return whether an operation has one output, with a unique name, which one argument uses."""
    if len(op.outputs) != 1 or counts[op.outputs[0].name] != 1:
        return False
    return [use.op is not None for use in op.outputs[0].uses] == [True]


def _is_plain(operation: Operation, *opsets: str) -> bool:
    """Return whether an operation has one output, whose value does not depend on the operation's place."""
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
    """Return whether an operation is a constant in a weight file, which may be written as an argument."""
    value = operation.attributes[VALUE] if is_plain_constant(operation) else None
    return value is not None and not value.docString and record_path(value.blobFileValue.fileName) is not None
