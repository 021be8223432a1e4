"""How to measure: contenders take turns, A B A B, and their medians and quartiles are compared.

miltext remembers names, types and small values from one call to the next. `cold` empties these caches. It then reads an
empty program twice and formats it, so that the tables of the grammar and of the operations are loaded, as they are in a
process that has read two files: it reads a short first file without coarse tokens (the start-up figures include its
tables). Python's garbage collector stays on, as it does for users.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import miltext
from miltext.parsing.parser import parse_tree
from miltext.schema.operations import all_names

EMPTY = "program(1.3)\n{\n}\n"

Action = Callable[[], Any]


def seconds(run: Action) -> float:
    """Measure how long an action takes, without the time that freeing its result takes."""
    start = time.perf_counter()
    result = run()
    duration = time.perf_counter() - start
    del result
    return duration


def peak_bytes(run: Action) -> float:
    """Measure the most that Python's allocators hold at once for an action; protobuf (upb) keeps messages elsewhere."""
    tracemalloc.start()
    try:
        result = run()
        peak = tracemalloc.get_traced_memory()[1]
        del result
        return peak
    finally:
        tracemalloc.stop()


def returned(run: Action) -> float:
    """Return what an action returns: a size to compare with, not a measurement."""
    return float(run())


class Contender(NamedTuple):
    """One contender. `run` does `units` (operations, bytes, elements) of the work; `before` precedes it, off the clock.

    `run` is None if it needs something that is not installed.
    """

    name: str
    run: Action | None
    units: float = 1.0
    before: Action = lambda: None
    gauge: Callable[[Action], float] = seconds


class Contest(NamedTuple):
    """Contenders in one kind of work; `unit` is one of `report.UNITS`. The others are compared with the first."""

    name: str
    unit: str
    contenders: Sequence[Contender]


class Spread(NamedTuple):
    """A median with its quartiles."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, figures: Sequence[float]) -> Spread:
        """Make the spread of at least one figure."""
        several = figures if figures[1:] else [*figures, *figures]
        low, median, high = statistics.quantiles(several, n=4, method="inclusive")
        return cls(median, low, high)


class Result(NamedTuple):
    """Each contender's cost of one unit in each round of a contest; None for those not installed."""

    contest: str
    unit: str
    costs: dict[str, list[float] | None]

    def cost(self, name: str) -> Spread | None:
        """Return the cost of one unit."""
        costs = self.costs[name]
        return Spread.of(costs) if costs else None

    def ratio(self, over: str, under: str) -> Spread | None:
        """Divide the cost of one by that of another, round by round: what slows a whole round cancels out."""
        first, second = self.costs[over], self.costs[under]
        return Spread.of([a / b for a, b in zip(first, second, strict=False)]) if first and second else None


def measure(contest: Contest, rounds: int, budget: float) -> Result:
    """Run the contenders in turn. One that has taken more than `budget` seconds sits out after three rounds."""
    costs: dict[str, list[float] | None] = {each.name: None if each.run is None else [] for each in contest.contenders}
    spent = dict.fromkeys(costs, 0.0)
    for number in range(rounds):
        for contender in contest.contenders:
            taken = costs[contender.name]
            if contender.run is None or taken is None or (number >= 3 and spent[contender.name] > budget):
                continue
            contender.before()
            gc.collect()
            start = time.perf_counter()
            taken.append(contender.gauge(contender.run) / contender.units)
            spent[contender.name] += time.perf_counter() - start
    return Result(contest.name, contest.unit, costs)


def cold() -> None:
    """Empty every cache in miltext's modules, then load the tables of the grammar and of the operations again."""
    for cache in _caches():
        cache.cache_clear()
    miltext.parse(EMPTY)
    miltext.parse(EMPTY)
    parse_tree(EMPTY)
    miltext.format_text(EMPTY)
    all_names()


def _caches() -> Iterator[Any]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "miltext":
            homes = [module, *(each for each in vars(module).values() if isinstance(each, type))]
            for home in homes:
                held = [each for each in vars(home).values() if not isinstance(each, type)]
                yield from (each for each in held if hasattr(each, "cache_clear"))


def cold_and_warm(name: str, run: Action, units: float = 1.0) -> list[Contender]:
    """Make two contenders of an action of miltext: with empty caches, and again right after, with full ones."""
    return [Contender(name, run, units, cold), Contender(f"{name}, warm", run, units)]
