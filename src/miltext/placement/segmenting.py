"""The choice of Core ML's segmenter: the cheapest way through the operations, by their estimates.

The cost of a way is the sum of the estimates, the begin of each segment, each change of the backend, and the end on the
Neural Engine. A dump states the costs; those of the known dumps are all 0.125 ms.
Source: the study's notes on dispatch: 440 of its 482 dumps exactly, 41 ties and 1 wrong. In docs/placement.md is the
count for the dumps that miltext was tried on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.dumps.placed import ANE, SwitchingCosts, device_of
from miltext.placement.placements import end_cost, functions_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.dumps.placed import PlacedOperation
    from miltext.placement.placements import Placement

STEP = 0.125
"""Milliseconds of each begin of a segment on the Neural Engine, and of each change, in all known dumps."""

TIE = 1e-12
"""Milliseconds by which costs differ that are sums of the same numbers in another order."""

USUAL = SwitchingCosts(
    {ANE: STEP}, {(a, b): STEP for a in (ANE, "bnns", "classic_cpu") for b in (ANE, "bnns", "classic_cpu") if a != b}
)
"""The costs for a model without a dump."""


class Step(NamedTuple):
    """The cheapest way to an operation on a backend: its cost, and the step before."""

    cost: float
    backend: str
    before: Step | None


class Choice(NamedTuple):
    """The predicted backends of the operations with estimates (`timed`), and the cost in milliseconds."""

    timed: Sequence[PlacedOperation]
    backends: Sequence[str]
    cost: float

    @property
    def devices(self) -> list[str]:
        """The predicted devices."""
        return [device_of(each) for each in self.backends]

    def agrees(self) -> bool:
        """Return whether each device is the selected one."""
        return self.devices == [each.device for each in self.timed]


def choices(placement: Placement) -> dict[str, Choice]:
    """Return the predicted choice for each function with estimates."""
    found = {}
    for function in functions_of(placement):
        timed = [each for each in placement.placed if each.function == function and each.times]
        if timed:
            found[function] = cheapest(timed, placement.costs.get(function, USUAL))
    return found


def cheapest(timed: Sequence[PlacedOperation], costs: SwitchingCosts) -> Choice:
    """Return the cheapest way through operations with estimates.

    If several are equal, the last backend by name decides, as in all 51 known dumps with a tie.
    """
    ways: list[Step] = []
    for operation in timed:
        backends = sorted(operation.times, reverse=True)
        ways = [_best(ways, backend, operation.times[backend], costs) for backend in backends]
    last = least([way._replace(cost=way.cost + end_cost(way.backend, costs)) for way in ways])
    chosen = list[str]()
    step: Step | None = last
    while step is not None:
        chosen.append(step.backend)
        step = step.before
    return Choice(timed, chosen[::-1], last.cost)


def _best(ways: Sequence[Step], backend: str, time: float, costs: SwitchingCosts) -> Step:
    """Return the cheapest way to an operation on a backend."""
    start = costs.start.get(backend, 0.0)
    if not ways:
        return Step(start + time, backend, None)
    steps = [
        Step(
            way.cost
            + time
            + (0.0 if way.backend == backend else start + costs.switch.get((way.backend, backend), 0.0)),
            backend,
            way,
        )
        for way in ways
    ]
    return least(steps)


def least(steps: Sequence[Step]) -> Step:
    """Return the first of the cheapest steps."""
    lowest = min(step.cost for step in steps)
    return next(step for step in steps if step.cost <= lowest + TIE)
