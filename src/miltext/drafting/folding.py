"""Folding: a Program as people would write it, its constants where they are used, without what says nothing."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from miltext.drafting.given_defaults import Defaults
from miltext.models.compact import fold
from miltext.printing.printer import Printer
from miltext.printing.renaming import drop_names
from miltext.schema.proto import Block, Operation
from miltext.schema.walk import block_parts
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.printing.tensors import Style
    from miltext.schema.proto import Program, Value

LONGEST = 64
"""The longest literal of one use that is written where it is used."""

SHORT = 16
"""The longest literal of several uses that is."""

_ENDING = re.compile(r"(?<=.)(_cast|_to)_(fp16|fp32)(?=(_\d+)?$)")
"""What coremltools adds to the name of a value when it gives it another data type."""


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

    for function in made.functions.values():
        for block in function.block_specializations.values():
            fold(block, folds)
            _shorten(block, {value.name for value in (*function.inputs, *block.inputs)}.union(block.outputs))
    _leave_out_defaults(made, style.dialect)
    return made


def _shorten(block: Block, kept: set[str]) -> None:
    """Take the endings that coremltools puts to names of other data types from values, where these stay apart."""
    parts: list[Any] = [part for _, part in block_parts(block)]
    values = [value for part in parts for value in (part.outputs if isinstance(part, Operation) else part.inputs)]
    taken = kept.union(value.name for value in values)
    names = {name: name for name in taken}
    for name, count in Counter(value.name for value in values).items():
        short = _ENDING.sub("", name)
        if name not in kept and count == 1 and short not in taken:
            names[name] = short
            taken.add(short)
    for value in values:
        value.name = names[value.name]
    for part in parts:
        if isinstance(part, Block):
            part.outputs[:] = [names.get(name, name) for name in part.outputs]
        else:
            for binding in (each for argument in part.inputs.values() for each in argument.arguments):
                if binding.name:
                    binding.name = names.get(binding.name, binding.name)


def _leave_out_defaults(program: Program, dialect: str) -> None:
    """Take arguments that say the default out of the operations of a Program."""
    defaults = Defaults(program, dialect)
    for each in defaults.operations:
        inputs = each.operation.inputs
        values = {
            name: argument.arguments[0].value
            for name, argument in inputs.items()
            if len(argument.arguments) == 1 and argument.arguments[0].WhichOneof("binding") == "value"
        }
        for name in defaults.among(each, values):
            del inputs[name]
