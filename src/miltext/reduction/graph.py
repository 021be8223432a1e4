"""The units of a Program to remove as a whole, each usually an operation.

Constants are not units: they belong to their users. Nor are operations inside blocks, which belong to the block's
operation. An output that is a constant or comes straight from outside is a unit without an operation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.compile_time import constant_parameters
from miltext.ir import graph as ir
from miltext.ir.needs import behind
from miltext.schema.walk import blocks_of, is_constant, operations

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Value
    from miltext.schema.proto import Program, ValueType

NO_OPERATION = -1


class Unit(NamedTuple):
    """A unit that stays or is removed as a whole: the `place` of its operation in the block, and the names that it uses
    and makes.

    The `fixed` names among these must be known at compile time. `constants` are the places of the constants that
    belong to it, whose own needs are among its uses.
    """

    place: int
    makes: tuple[str, ...]
    uses: frozenset[str]
    fixed: frozenset[str]
    constants: frozenset[int]


@dataclass
class UnitScope:
    """The block of a function for an opset: its units in order, and the unit that makes each value.

    `names` are the values that each operation makes, by its place, and `outputs` the returned names, in order. `gives`
    are the returned values, and `idle` are values that are neither used nor returned.
    """

    function: str
    opset: str
    names: list[list[str]]
    outputs: list[str]
    units: list[Unit] = field(default_factory=list)
    makers: dict[str, int] = field(default_factory=dict)
    types: dict[str, ValueType] = field(default_factory=dict)
    gives: set[str] = field(default_factory=set)
    idle: set[str] = field(default_factory=set)


class ProgramUnit(NamedTuple):
    """A unit of a Program: the index of its scope, and its own index there."""

    scope: int
    unit: int


class UnitGraph:
    """A Program with the units of all its functions; `parts` are all units in the order of the program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.scopes = [
            _UnitReading(function, opset).scope
            for function in ir.Graph(program).functions.values()
            for opset in function.blocks
        ]
        self.parts = [
            ProgramUnit(nth, unit) for nth, scope in enumerate(self.scopes) for unit in range(len(scope.units))
        ]

    def at(self, part: ProgramUnit) -> tuple[UnitScope, Unit]:
        """Return the scope of a part, and its unit."""
        scope = self.scopes[part.scope]
        return scope, scope.units[part.unit]


def count_operations(program: Program) -> int:
    """Return the number of operations of a program, also in blocks, without constants."""
    return sum(not is_constant(operation.type) for _, operation in operations(program))


def extent(program: Program) -> tuple[int, ...]:
    """Return the extent of a program: the numbers of its operations, functions, inputs and outputs."""
    functions = [program.functions[name] for name in program.functions]
    outputs = sum(len(block.outputs) for each in functions for block in blocks_of(each).values())
    return count_operations(program), len(functions), sum(len(each.inputs) for each in functions), outputs


class _UnitReading:
    """A block of a function, read front to back."""

    def __init__(self, function: Function, opset: str) -> None:
        block = function.blocks[opset]
        self._ops = [*block]
        names = [[value.name for value in op.outputs] for op in self._ops]
        self.scope = UnitScope(function.name, opset, names, [output.name for output in block.outputs])
        self._places = {op: place for place, op in enumerate(self._ops)}
        for value in (*function.inputs, *block.inputs, *block.made()):
            if value.message is not None:
                self.scope.types[value.name] = value.message.type
        for place, op in enumerate(self._ops):
            if not op.is_constant:
                self._add(place, op)
        for value in block.outputs:
            if value.name not in self.scope.makers:
                self._add(NO_OPERATION, None, value)
        if not self.scope.units:
            self._add(NO_OPERATION, None)
        self.scope.gives.update(self.scope.outputs)
        used = self.scope.gives.union(*(unit.uses for unit in self.scope.units))
        self.scope.idle.update(self.scope.makers.keys() - used)

    def _add(self, place: int, op: Op | None, *given: Value) -> None:
        """Add a unit: for an operation, or for an output that the block does not make."""
        used = [*behind(given if op is None else op.used(), lambda value: value.is_constant)]
        constants = {value.maker for value in used if value.maker is not None and value.is_constant}
        fixed = {value.name for constant in constants for value in constant.used()}
        if op is not None:
            fixed.update(fixed_names(op, self.scope.opset))
        makes = () if op is None else tuple(value.name for value in op.outputs)
        self.scope.makers.update(dict.fromkeys(makes, len(self.scope.units)))
        uses = frozenset(value.name for value in used if not value.is_constant)
        places = frozenset(self._places[constant] for constant in constants)
        self.scope.units.append(Unit(place, makes, uses, uses & fixed, places))


def fixed_names(op: Op, opset: str) -> Iterator[str]:
    """Yield the names in parameters that must be known at compile time, inside blocks too."""
    for each in (op, *op.walk()):
        for parameter in constant_parameters(each.type, opset):
            yield from (value.name for value in each.values(parameter))
