"""Compile-time values, which cannot come from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.needs import behind
from miltext.schema.operations import signature

if TYPE_CHECKING:
    from miltext.ir.parts import Op, Value


class CompileTimeValue(NamedTuple):
    """A compile-time parameter of an operation, its value, and that value's `source`, which comes from outside."""

    op: Op
    parameter: str
    value: Value
    source: Value

    def __str__(self) -> str:
        made = ", ".join(output.name for output in self.op.outputs)
        place = f"`{self.parameter}` of `{made or self.op.type}` ({self.op.type})"
        return place if self.value is self.source else f"{place}, which is `{self.value.name}`"


def needed_when_compiled(ops: Iterable[Op], given: Iterable[Value], opset: str) -> Iterator[CompileTimeValue]:
    """Yield each constant parameter that depends on values from outside."""
    varying = {value: value for value in given}
    return _constants(ops, varying, opset) if varying else iter(())


def _constants(ops: Iterable[Op], varying: dict[Value, Value], opset: str) -> Iterator[CompileTimeValue]:
    """Yield the constants among operations; `varying` contains the sources of values, and gets the outputs' sources."""
    for op in ops:
        source = next((varying[value] for value in op.used() if value in varying), None)
        if source is not None:
            yield from _parameters(op, varying, opset)
            for block in op.blocks:
                yield from _constants(block, varying, opset)
            varying.update((output, source) for output in op.outputs)


def _parameters(op: Op, varying: Mapping[Value, Value], opset: str) -> Iterator[CompileTimeValue]:
    for parameter in constant_parameters(op.type, opset):
        for value in op.values(parameter):
            if value in varying:
                yield CompileTimeValue(op, parameter, value, varying[value])


def compile_time_values(ops: Iterable[Op], opset: str) -> set[Value]:
    """Return the values among operations that constant parameters depend on, constants aside: none may be an input."""
    fixed = [value for op in ops for value in fixed_values(op, opset)]
    return {value for value in behind(fixed, _varies) if _varies(value)}


def _varies(value: Value) -> bool:
    """Return whether an operation makes a value, and no constant."""
    return value.maker is not None and not value.is_constant


def fixed_values(op: Op, opset: str) -> Iterator[Value]:
    """Yield the values of the compile-time parameters of an operation, and of those inside its blocks."""
    for each in (op, *op.walk()):
        for parameter in constant_parameters(each.type, opset):
            yield from each.values(parameter)


@lru_cache(maxsize=1 << 12)
def constant_parameters(op_type: str, opset: str) -> tuple[str, ...]:
    """Return the compile-time parameters of an operation."""
    known = signature(op_type, opset)
    return tuple([each.name for each in known.parameters.values() if each.constant]) if known else ()
