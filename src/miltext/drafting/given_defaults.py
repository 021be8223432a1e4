"""Arguments equal to the default of their parameter."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.checking.defaults import defaults
from miltext.checking.inference.operands import InputConflict
from miltext.checking.inference.program import infer_types
from miltext.checking.inference.rules import apply
from miltext.parsing.parser import parse_value
from miltext.schema.operations import signature
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.checking.inference.operands import Arguments
    from miltext.checking.inference.program import Inference
    from miltext.schema.proto import Program, Value
    from miltext.schema.types import Type


class Defaults:
    """Finds the arguments equal to a default in a Program's operations."""

    def __init__(self, program: Program, dialect: str) -> None:
        self.dialect = dialect
        self.inferred = infer_types(program)
        self._wires: dict[str, bytes] = {}

    def missing(self) -> Iterator[str]:
        """Yield the parameters that operations leave out although they have a default."""
        for each in self.inferred:
            yield from defaults(each.arguments, self.dialect)

    def among(self, operation: Inference, values: Mapping[str, Value]) -> list[str]:
        """Return the names of the arguments that may be left out together, since `infer` restores them.

        Arguments that some loaders need are kept, and so are arguments without which another one has no effect.
        """
        op = operation.arguments
        known = signature(op.op_type, op.opset)
        found = {name for name in values if known and name in known.parameters and known.parameters[name].asked is None}
        while found:
            operands = {name: each for name, each in op.operands.items() if name not in found}
            kept = replace(op, operands=operands, doubts=[])
            made = defaults(kept, self.dialect)
            same = [name for name in made if name in found and self._wire(made[name][1]) == wire_of(values[name])]
            if len(same) == len(found):
                return same if _gives(kept, operation.inferred) and len(kept.doubts) <= len(op.doubts) else []
            found = {*same}
        return []

    def _wire(self, text: str) -> bytes:
        if text not in self._wires:
            self._wires[text] = wire_of(parse_value(text))
        return self._wires[text]


def _gives(op: Arguments, types: Sequence[Type] | None) -> bool:
    """Return whether these types follow from an operation's inputs: `fill` without a `value` returns fp32."""
    with suppress(InputConflict):
        return types is not None and [*(apply(op) or ())] == [*types]
    return False
