"""Folding: a Program as people would write it, its constants where they are used, without what says nothing."""

from __future__ import annotations

import json
import re
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import ParseError
from miltext.models.compact import fold
from miltext.parsing.parser import parse_value
from miltext.printing.printer import Printer
from miltext.printing.renaming import drop_names
from miltext.schema.operations import signature
from miltext.schema.paths import Path
from miltext.schema.proto import Block, Operation
from miltext.schema.walk import block_parts
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from collections.abc import Set

    from miltext.printing.tensors import Style
    from miltext.schema.operations import Parameter, Signature
    from miltext.schema.proto import Program, Value

LONGEST = 64
"""The longest literal of one use that is written where it is used."""

SHORT = 16
"""The longest literal of several uses that is."""


_ENDING = re.compile(r"(?<=.)(_cast|_to)_(fp16|fp32)$")
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

    defaults = _Defaults(printer)
    for function in made.functions.values():
        for opset, block in function.block_specializations.items():
            fold(block, folds)
            _shorten(block, {value.name for value in (*function.inputs, *block.inputs)}.union(block.outputs))
            for _, part in block_parts(block):
                if isinstance(part, Operation):
                    defaults.leave_out(part, opset)
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


class _Defaults:
    """Takes arguments that say the default out of operations."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer
        self.values: dict[tuple[str, bytes], bytes] = {}

    def leave_out(self, operation: Operation, opset: str) -> None:
        """Take them out of one operation."""
        known = signature(operation.type, opset)
        for name in [*operation.inputs]:
            parameter = known.parameters.get(name) if known else None
            bindings = operation.inputs[name].arguments
            is_value = len(bindings) == 1 and bindings[0].WhichOneof("binding") == "value"
            is_free = is_value and known and parameter and _is_settled(parameter, known)
            if is_free and self.is_default(parameter, bindings[0].value):
                del operation.inputs[name]

    def is_default(self, parameter: Parameter, value: Value) -> bool:
        """Tell whether a value is what a parameter is without one."""
        if parameter.default is None or parameter.required:
            return False
        key = json.dumps(parameter.default), value.type.SerializeToString(deterministic=True)
        if key not in self.values:
            self.values[key] = b""
            with suppress(ParseError):
                meant = parse_value(f"{self.printer.type_of(value, 'type').text}({key[0]})")
                self.values[key] = meant.SerializeToString(deterministic=True)
        return value.SerializeToString(deterministic=True) == self.values[key]


def _is_settled(parameter: Parameter, known: Signature) -> bool:
    """Tell whether a parameter that is left out has the same data type: `fill` without a `value` is of fp32."""
    same = (each for each in known.parameters.values() if each.required and each.domain == parameter.domain)
    return len(parameter.dtypes) == 1 or (parameter.domain is not None and any(same))


def movable(program: Program, gaps: Set[Path]) -> set[Path]:
    """Return the paths of the operations that may stand inside another, which is the only one to use them."""
    found = set[Path]()
    for name, function in program.functions.items():
        for opset, block in function.block_specializations.items():
            parts = [*block_parts(block, ("functions", name, "block_specializations", opset))]
            uses = _uses([part for _, part in parts])
            found.update(
                path
                for path, part in parts
                if isinstance(part, Operation)
                and (*path, "outputs", 0) in gaps
                and len(part.outputs) == 1
                and uses[part.outputs[0].name] == 1
                and _is_plain(part, opset, function.opset)
            )
    return found


def _uses(parts: list[Any]) -> Counter[str]:
    """Count the uses of each name; of what is defined twice, or what a block gives back, there are more than one."""
    used = Counter[str]()
    for part in parts:
        if isinstance(part, Block):
            used.update([*part.outputs] * 2)
        else:
            used.update(each.name for argument in part.inputs.values() for each in argument.arguments)
    defined = Counter(
        output.name for part in parts for output in (part.outputs if isinstance(part, Operation) else part.inputs)
    )
    used.update(name for name, count in defined.items() if count > 1 for _ in range(2))
    return used


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


def in_order(program: Program, order: dict[Path, list[int]]) -> Program:
    """Return a copy of a Program with the operations of each block in another order."""
    made = own_copy(program)
    for name, function in made.functions.items():
        for opset, block in function.block_specializations.items():
            path = ("functions", name, "block_specializations", opset)
            for place, part in reversed([*block_parts(block, path)]):
                if isinstance(part, Block) and order[place] != [*range(len(part.operations))]:
                    copy = Block(operations=[part.operations[index] for index in order[place]])
                    del part.operations[:]
                    part.operations.MergeFrom(copy.operations)
    return made
