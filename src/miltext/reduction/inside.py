"""Operations inside blocks, where the block itself is needed: what is left out comes in as an input of the function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.borders import can_take
from miltext.extraction.cutting import leave_operations
from miltext.extraction.needs import free_names
from miltext.reduction.graph import fixed_names
from miltext.reduction.sweeping import sweep
from miltext.schema.proto import Program
from miltext.schema.walk import is_constant, operations_inside, values_in

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Operation, ValueType


class Inner(NamedTuple):
    """An operation inside a block, by the first value that it makes, whose name no other value of the function has."""

    function: str
    opset: str
    name: str


def inner_operations(program: Program) -> list[Inner]:
    """Return the operations inside blocks that make values, but for constants, in the order of the text."""
    return [
        Inner(name, opset, operation.outputs[0].name)
        for name in sorted(program.functions)
        for opset in sorted(program.functions[name].block_specializations)
        for operation in _inside(program.functions[name].block_specializations[opset])
    ]


def without(program: Program, gone: Collection[Inner]) -> Program | None:
    """Return a Program without some inner operations; None if what they make cannot come from outside."""
    made = Program()
    made.CopyFrom(program)
    for name, opset in {(each.function, each.opset) for each in gone}:
        function = made.functions[name]
        block = function.block_specializations[opset]
        left = _Leaving(opset, {each.name for each in gone if (each.function, each.opset) == (name, opset)})
        left.out(block)
        for value in left.types:
            if value in left.uses:
                if value in left.fixed or not can_take(left.types[value]):
                    return None
                function.inputs.add(name=value, type=left.types[value])
    return made if sweep(made) else None


def _inside(block: Block) -> Iterator[Operation]:
    """Yield the operations inside a block's operations."""
    names = Counter(value.name for value in values_in(block))
    for operation in block.operations:
        for inner in operations_inside(operation):
            if inner.outputs and not is_constant(inner) and all(names[value.name] == 1 for value in inner.outputs):
                yield inner


class _Leaving:
    """Operations that are left out of a block: the `types` of what they make, and what is used still.

    What is `fixed` of that has to be known when the program is compiled.
    """

    def __init__(self, opset: str, names: Collection[str]) -> None:
        self._opset, self._names = opset, names
        self.types: dict[str, ValueType] = {}
        self.uses = set[str]()
        self.fixed = set[str]()

    def out(self, block: Block) -> None:
        """Leave them out of a block, and of those inside."""
        kept = []
        for place, operation in enumerate(block.operations):
            if operation.outputs and operation.outputs[0].name in self._names:
                self.types |= {value.name: value.type for value in operation.outputs}
                continue
            for inner in operation.blocks:
                self.out(inner)
            self.uses |= {*free_names(operation)}
            self.fixed |= {*fixed_names(operation, self._opset)}
            kept.append(place)
        self.uses |= {*block.outputs}
        leave_operations(block, kept)
