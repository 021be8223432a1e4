"""Values that are needed when a program is compiled, and so cannot come from outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.needs import free_names
from miltext.schema.operations import signature

if TYPE_CHECKING:
    from miltext.schema.proto import Operation


class Constant(NamedTuple):
    """A parameter of an operation that has to be known, the value that it is given, and the `source` of that, which
    comes from outside.
    """

    operation: Operation
    parameter: str
    value: str
    source: str

    def __str__(self) -> str:
        made = ", ".join(output.name for output in self.operation.outputs)
        place = f"`{self.parameter}` of `{made or self.operation.type}` ({self.operation.type})"
        return place if self.value == self.source else f"{place}, which is `{self.value}`"


def needed_when_compiled(operations: Iterable[Operation], given: Iterable[str], opset: str) -> Iterator[Constant]:
    """Yield each constant parameter that depends on values which are given from outside."""
    varying = {name: name for name in given}
    return _constants(operations, varying, opset) if varying else iter(())


def _constants(operations: Iterable[Operation], varying: dict[str, str], opset: str) -> Iterator[Constant]:
    """Yield the constants among operations; `varying` has the sources of values, and gets those that are made."""
    for operation in operations:
        source = next((varying[name] for name in free_names(operation) if name in varying), None)
        if source is not None:
            yield from _parameters(operation, varying, opset)
            for block in operation.blocks:
                own = {value.name for value in block.inputs}
                inner = {name: each for name, each in varying.items() if name not in own}
                yield from _constants(block.operations, inner, opset)
            varying.update((output.name, source) for output in operation.outputs)


def _parameters(operation: Operation, varying: Mapping[str, str], opset: str) -> Iterator[Constant]:
    for parameter, name in constant_arguments(operation, opset):
        if name in varying:
            yield Constant(operation, parameter, name, varying[name])


def constant_arguments(operation: Operation, opset: str) -> Iterator[tuple[str, str]]:
    """Yield each parameter of an operation that has to be known when the program is compiled, and each name it has."""
    known = signature(operation.type, opset)
    for parameter in known.parameters.values() if known else ():
        if parameter.constant and parameter.name in operation.inputs:
            for binding in operation.inputs[parameter.name].arguments:
                if binding.name:
                    yield parameter.name, binding.name
