"""Arguments that say what a parameter is without one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from miltext.checking.defaults import defaults
from miltext.checking.draft_constants import usual_dtypes
from miltext.checking.inference.program import Walk, declare
from miltext.checking.inference.reading import read_program
from miltext.parsing.parser import parse_value
from miltext.schema.operations import signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.checking.inference.operands import Arguments
    from miltext.checking.inference.program import Inference
    from miltext.schema.operations import Parameter, Signature
    from miltext.schema.proto import Program, Value


class Defaults:
    """Knows the operations of a Program, and which of their arguments say the default."""

    def __init__(self, program: Program, dialect: str) -> None:
        read = read_program(program)
        self.dialect = dialect
        self.usual = {
            name: usual_dtypes(declare({}, function.inputs).values()) for name, function in read.functions.items()
        }
        self.operations = Walk().program(read)
        self._wires: dict[str, bytes] = {}

    def missing(self) -> Iterator[str]:
        """Yield the parameters that operations leave out although they have a default."""
        for each in self.operations:
            yield from defaults(each.arguments, self.usual[str(each.path[0])], self.dialect)

    def among(self, operation: Inference, values: Mapping[str, Value]) -> set[str]:
        """Return those of the arguments with these values that may be left out together."""
        known = signature(operation.arguments.op_type, operation.arguments.opset)
        found = {name for name in values if known and name in known.parameters and _is_settled(name, known)}
        wrong = found
        while found and wrong:
            wrong = found - self._same(operation.arguments, str(operation.path[0]), found, values)
            found -= wrong
        return found

    def _same(self, op: Arguments, function: str, left_out: set[str], values: Mapping[str, Value]) -> set[str]:
        """Return those of the arguments of which the default is the value, if they all are left out."""
        kept = {name: operands for name, operands in op.operands.items() if name not in left_out}
        made = defaults(replace(op, operands=kept), self.usual[function], self.dialect)
        return {
            name
            for name in left_out & made.keys()
            if self._wire(made[name][1]) == values[name].SerializeToString(deterministic=True)
        }

    def _wire(self, text: str) -> bytes:
        if text not in self._wires:
            self._wires[text] = parse_value(text).SerializeToString(deterministic=True)
        return self._wires[text]


def _is_settled(name: str, known: Signature) -> bool:
    """Tell whether a parameter that is left out has the same data type: `fill` without a `value` is of fp32."""

    def is_alike(other: Parameter) -> bool:
        return other.required and other.domain is not None and other.domain == parameter.domain

    parameter = known.parameters[name]
    return not parameter.required and (len(parameter.dtypes) == 1 or any(map(is_alike, known.parameters.values())))
