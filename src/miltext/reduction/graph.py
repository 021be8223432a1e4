"""The units of a Program to remove as a whole, each usually an operation.

Constants are not units: they belong to their users. Nor are operations inside blocks, which belong to the block's
operation. An output that is a constant or comes straight from outside is a unit without an operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.compile_time import fixed_values
from miltext.ir import graph as ir
from miltext.ir.needs import behind
from miltext.schema.walk import blocks_of, is_constant, operations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Value
    from miltext.schema.proto import Program


class Unit(NamedTuple):
    """A unit that stays or is removed as a whole: its operation, None for an output without one, and its used values.

    The `fixed` values among these must be known at compile time. `constants` are the constants that belong to it, whose
    own needs are among its uses.
    """

    op: Op | None
    uses: frozenset[Value]
    fixed: frozenset[Value]
    constants: frozenset[Op]

    @property
    def makes(self) -> list[Value]:
        """The values that its operation makes."""
        return [] if self.op is None else self.op.outputs


class UnitScope:
    """The block of a function for an opset: its units in order, and the unit that makes each value."""

    def __init__(self, function: Function, opset: str) -> None:
        self.function, self.opset, self.block = function, opset, function.blocks[opset]
        self.units: list[Unit] = []
        self.makers: dict[Value, int] = {}
        for op in self.block:
            if not op.is_constant:
                self._add(op, op.used())
        for value in self.block.outputs:
            if value not in self.makers:
                self._add(None, [value])
        if not self.units:
            self._add(None, [])

    def _add(self, op: Op | None, used: Iterable[Value]) -> None:
        """Add a unit: for an operation, or for an output that no operation except a constant makes."""
        found = [*behind(used, lambda value: value.is_constant)]
        constants = {value.maker for value in found if value.maker is not None and value.is_constant}
        fixed = {value for constant in constants for value in constant.used()}
        if op is not None:
            fixed.update(fixed_values(op, self.opset))
            self.makers.update(dict.fromkeys(op.outputs, len(self.units)))
        uses = frozenset(value for value in found if not value.is_constant)
        self.units.append(Unit(op, uses, uses & fixed, frozenset(constants)))


class ProgramUnit(NamedTuple):
    """A unit of a Program: the index of its scope, and its own index there."""

    scope: int
    unit: int


class UnitGraph:
    """A Program with the units of all its functions; `parts` are all units in the order of the program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        functions = ir.Graph(program).functions.values()
        self.scopes = [UnitScope(function, opset) for function in functions for opset in function.blocks]
        self.parts = [
            ProgramUnit(nth, unit) for nth, scope in enumerate(self.scopes) for unit in range(len(scope.units))
        ]

    def at(self, part: ProgramUnit) -> Unit:
        """Return the unit of a part."""
        return self.scopes[part.scope].units[part.unit]


def count_operations(program: Program) -> int:
    """Return the number of operations of a program, also in blocks, without constants."""
    return sum(not is_constant(operation.type) for _, operation in operations(program))


def extent(program: Program) -> tuple[int, ...]:
    """Return the extent of a program: the numbers of its operations, functions, inputs and outputs."""
    functions = [program.functions[name] for name in program.functions]
    outputs = sum(len(block.outputs) for each in functions for block in blocks_of(each).values())
    return count_operations(program), len(functions), sum(len(each.inputs) for each in functions), outputs
