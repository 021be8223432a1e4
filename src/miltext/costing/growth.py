"""The growth of a model's costs: functions, scopes and operations with other work than in the model before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.costing.costs import cost_of, programs_of
from miltext.costing.work import Work, total
from miltext.diffing.partners import partners_of
from miltext.diffing.pipelines import paired_findings
from miltext.pairing.contents import Keys
from miltext.pairing.pairing import pair_functions
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.costing.programs import CostedProgram
    from miltext.costing.work import FunctionCost, OperationCost
    from miltext.descriptions.sizes import Sizes
    from miltext.models.model import Model

NOTHING = Work()


class FunctionCostGrowth(NamedTuple):
    """The work and the peak of a function before and after; 0 for a function that only one model has."""

    model: str
    function: str
    old: Work
    new: Work
    old_peak_bytes: int
    new_peak_bytes: int


class ScopeCostGrowth(NamedTuple):
    """The work in a scope before and after."""

    model: str
    function: str
    scope: str
    old: Work
    new: Work


class OperationCostGrowth(NamedTuple):
    """The work of two operations that correspond; None for an operation that only the other model has."""

    model: str
    function: str
    name: str
    type: str
    old: Work | None
    new: Work | None


@dataclass(frozen=True)
class CostGrowth:
    """The growth of the costs from the model `old` to `new`, which is true if some differ."""

    old: str
    new: str
    functions: tuple[FunctionCostGrowth, ...]
    scopes: tuple[ScopeCostGrowth, ...]
    ops: tuple[OperationCostGrowth, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.scopes or self.ops) or any(map(_differs, self.functions))


def cost_growth(old: Model, new: Model, shapes: Mapping[str, Sizes], function: str | None = None) -> CostGrowth:
    """Return the growth from an old model to a new one for the same shapes, by the pairs of operations that `diff`
    finds. Raise as `cost` does.
    """
    with gc_paused:
        keys = Keys()
        sides = [[*programs_of(each, shapes, function, keys)] for each in (old, new)]
        found = [_PairedCosts(*each) for each in paired_findings(*sides)]
        notes = dict.fromkeys(note for side in sides for note in cost_of("", side).notes)
        return CostGrowth(
            old.name,
            new.name,
            tuple(each for pair in found for each in pair.functions()),
            tuple(each for pair in found for each in pair.scopes() if each.old != each.new),
            tuple(each for pair in found for each in pair.ops() if each.old != each.new),
            (*notes,),
        )


def _differs(growth: FunctionCostGrowth) -> bool:
    return (growth.old, growth.old_peak_bytes) != (growth.new, growth.new_peak_bytes)


class _PairedCosts:
    """Two programs that correspond, or one without a partner."""

    def __init__(self, old: CostedProgram | None, new: CostedProgram | None) -> None:
        self._old = [] if old is None else old.rows
        self._new = [] if new is None else new.rows
        self._costs = [[] if each is None else each.functions for each in (old, new)]
        stage = new or old
        self._place = stage.stage.place if stage else ""
        pairs = pair_functions(old.graph, new.graph) if old is not None and new is not None else []
        self._partners = partners_of(pairs).ops
        self._names = {name_text(each.old_name): name_text(each.name) for each in pairs}

    def _name(self, function: str) -> str:
        """Return the new name of an old function."""
        return self._names.get(function, function)

    def functions(self) -> Iterator[FunctionCostGrowth]:
        """Yield the functions of both programs."""
        old = {self._name(each.function): each for each in self._costs[0]}
        new = {each.function: each for each in self._costs[1]}
        for name in dict.fromkeys([*new, *old]):
            works, peaks = zip(_sums(old.get(name)), _sums(new.get(name)), strict=True)
            yield FunctionCostGrowth(self._place, name, *works, *peaks)  # type: ignore[arg-type]

    def scopes(self) -> Iterator[ScopeCostGrowth]:
        """Yield the scopes of both programs."""
        sums: list[dict[tuple[str, str], list[Work]]] = [{}, {}]
        for found, rows in zip(sums, (self._old, self._new), strict=True):
            for row in rows:
                cost = row.cost
                name = self._name(cost.function) if rows is self._old else cost.function
                found.setdefault((name, cost.scope), []).append(cost.work)
        for key in dict.fromkeys([*sums[1], *sums[0]]):
            yield ScopeCostGrowth(self._place, *key, total(sums[0].get(key, ())), total(sums[1].get(key, ())))

    def ops(self) -> Iterator[OperationCostGrowth]:
        """Yield the operations of both programs."""
        old = {row.op: row.cost for row in self._old}
        for row in self._new:
            was = old.pop(self._partners[row.op], None) if row.op in self._partners else None
            yield self._operation(row.cost, was.work if was else None, row.cost.work)
        for cost in old.values():
            yield self._operation(cost._replace(function=self._name(cost.function)), cost.work, None)

    def _operation(self, cost: OperationCost, old: Work | None, new: Work | None) -> OperationCostGrowth:
        return OperationCostGrowth(self._place, cost.function, cost.name, cost.type, old, new)


def _sums(cost: FunctionCost | None) -> tuple[Work, int]:
    return (NOTHING, 0) if cost is None else (cost.work, cost.peak_bytes)
