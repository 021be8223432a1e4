"""The parts between chosen boundaries: the operations, inputs and outputs of each, and its weights."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.extraction.planning import AssignedPart, plan_assigned, plan_function
from miltext.printing.printer import type_text
from miltext.splitting.line import constants_of, unused_constants
from miltext.splitting.results import PartValue, SplitPart

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from miltext.extraction.extracting import Planner
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Value
    from miltext.splitting.cuts import Cuts

WeightsByOp: TypeAlias = "Mapping[Op, Mapping[Hashable, int]]"
"""The bytes of the weights of operations, by an identity for each stored tensor."""

BytesOf: TypeAlias = "Callable[[Value], int]"
"""A function that returns the bytes of a value, by its type; 0 if they are not known."""


class PlannedPart(NamedTuple):
    """A part in the report, and the planner of its program."""

    shown: SplitPart
    planner: Planner


class Parting:
    """The parts of a function between boundaries; `bytes_of` returns the bytes of a value, by its type."""

    def __init__(self, function: Function, cuts: Cuts, weights: WeightsByOp, bytes_of: BytesOf) -> None:
        self._function, self._weights, self._bytes_of = function, weights, bytes_of
        self._line, self._boundaries = cuts.line, cuts.boundaries
        self._last = len(cuts.boundaries)
        self._places = {op: place for place, op in enumerate(self._line.needs.ops)}
        self._ops: list[list[Op]] = [[] for _ in range(self._last + 1)]
        for op, position in self._line.position.items():
            self._ops[bisect(self._boundaries, position)].append(op)
        self._made = {value: number for number, ops in enumerate(self._ops) for op in ops for value in op.outputs}
        self._takers: dict[Value, list[int]] = defaultdict(list)
        self._used = [[*dict.fromkeys(value for op in ops for value in op.used())] for ops in self._ops]
        for number, used in enumerate(self._used):
            for value in used:
                if self._made.get(value, number) != number:
                    self._takers[value].append(number)

    def parts(self, names: Callable[[int], str]) -> list[PlannedPart]:
        """Return the parts in order; `names` returns the name of each, by its number from 1 on."""
        return [self._part(number, names(number + 1)) for number in range(self._last + 1)]

    def _part(self, number: int, name: str) -> PlannedPart:
        ops, outputs = self._ops[number], self._outputs(number)
        constants = constants_of(ops, outputs) + (
            unused_constants(self._function, self._line.needs) if not number else []
        )
        inputs = self._inputs(number, outputs)
        crossing = sorted(
            (each for each in self._used[number] if each in self._takers and self._made[each] < number), key=self._place
        )
        assigned = AssignedPart(
            self._function.name,
            sorted(self._places[op] for op in (*ops, *constants)),
            [each.name for each in inputs],
            [each.name for each in crossing],
            [each.name for each in outputs],
        )
        shown = SplitPart(
            name,
            self._function.name,
            len(ops),
            weight_of((*ops, *constants), self._weights),
            tuple(self._shown(each, [self._made[each]] if each in self._made else []) for each in (*inputs, *crossing)),
            tuple(self._shown(each, self._takers.get(each, [])) for each in outputs),
        )
        return PlannedPart(shown, partial(plan_assigned, assigned))

    def _inputs(self, number: int, outputs: Iterable[Value]) -> list[Value]:
        """Return the inputs of the function that a part takes; the first one takes unused ones, too."""
        used = {*self._used[number], *outputs}
        unused: set[Value] = set()
        if number == 0:
            results = self._line.outputs
            unused = {*self._function.inputs}.difference(*self._used, results)
        return [each for each in self._function.inputs if each in used or each in unused]

    def _outputs(self, number: int) -> list[Value]:
        """Return the outputs of a part: the function's, then values for later parts, in order.

        Constants and inputs of the function that it returns are outputs of the last part.
        """
        own = [each for each in self._line.outputs if self._made.get(each, self._last) == number]
        crossing = sorted((each for each in self._takers if self._made[each] == number), key=self._place)
        return [*own, *(each for each in crossing if each not in own)]

    def _place(self, value: Value) -> tuple[int, int]:
        maker = value.maker
        assert maker is not None, "an input of the function crosses nothing"
        return self._places[maker], maker.outputs.index(value)

    def _shown(self, value: Value, parts: Iterable[int]) -> PartValue:
        return _shown(self._bytes_of, tuple(each + 1 for each in parts), value)


def _shown(bytes_of: BytesOf, parts: tuple[int, ...], value: Value) -> PartValue:
    declared = value.message
    stated = type_text(declared.type) if declared is not None else "undefined"
    return PartValue(value.name, stated, bytes_of(value) or None, parts)


def whole_function(function: Function, name: str, weights: WeightsByOp, bytes_of: BytesOf) -> PlannedPart:
    """Return a function as a part by itself."""
    shown = partial(_shown, bytes_of, ())
    part = SplitPart(
        name,
        function.name,
        sum(not op.is_constant for own in function.blocks.values() for op in own),
        weight_of(function.walk(), weights),
        tuple(map(shown, function.inputs)),
        tuple(map(shown, function.outputs)),
    )
    return PlannedPart(part, partial(plan_function, function.name))


def weight_of(ops: Iterable[Op], weights: WeightsByOp) -> int:
    """Return the bytes of the weights of operations, each stored tensor once."""
    return sum({key: size for op in ops for key, size in weights.get(op, {}).items()}.values())
