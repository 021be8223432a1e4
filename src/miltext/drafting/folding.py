"""Folding: a Program as people would write it, with constants where they are used, without redundant arguments."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from miltext.checking.operations import message_path
from miltext.drafting.given_defaults import Defaults
from miltext.ir.graph import Graph
from miltext.models.compact import fold
from miltext.printing.printer import Printer
from miltext.printing.renaming import drop_names
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.ir import parts
    from miltext.printing.tensors import Style
    from miltext.schema.proto import Program, Value

LONGEST = 64
"""The longest literal with one use written where it is used."""

SHORT = 16
"""The longest literal with several uses written where it is used."""

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


def _shorten(block: parts.Block, kept: set[parts.Value]) -> None:
    """Take the endings that coremltools puts to names of other data types from values, where these stay apart."""
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
