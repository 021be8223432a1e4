"""Placements: the backend of each operation, read from a dump or from a compute plan, and its segments."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from miltext.dumps.placed import ANE, DEVICES, PlacedOperation, SwitchingCosts, device_of
from miltext.dumps.recognition import is_dump
from miltext.dumps.texts import read_dump
from miltext.files.contents import decode, wide_text
from miltext.placement.plans import read_plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DUMP, PLAN = "dump", "plan"
"""The kinds of sources: a dump of the runtime, and an export of an MLComputePlan."""


class Segment(NamedTuple):
    """A run of consecutive operations of a function on one backend, without conversions.

    `time` is the sum of their estimates in milliseconds, None if one is unknown; `start` is the cost of its begin, and
    `switch` that of the change from the segment before it, None if the function states no costs.
    """

    function: str
    backend: str | None
    run: Sequence[PlacedOperation]
    time: float | None
    start: float | None
    switch: float | None

    @property
    def first(self) -> str:
        """The name of the first operation."""
        return self.run[0].name

    @property
    def last(self) -> str:
        """The name of the last operation."""
        return self.run[-1].name


class TypeCount(NamedTuple):
    """The operations of a type: how many, on which devices, and the time.

    The Neural Engine takes `taken` of the `judged` operations, about which the source states anything.
    """

    type: str
    number: int
    devices: Mapping[str, int]
    taken: int
    judged: int
    time: float | None


@dataclass(frozen=True)
class Placement:
    """The operations of a model with their backends, in their order; `costs` of a dump by function."""

    name: str
    kind: str
    placed: Sequence[PlacedOperation]
    costs: Mapping[str, SwitchingCosts] = field(default_factory=dict)

    @property
    def own(self) -> list[PlacedOperation]:
        """The operations of the model, without the conversions of the runtime."""
        return [each for each in self.placed if not each.is_conversion]

    @property
    def strange(self) -> list[str]:
        """The backends whose device is not known, each once, in the order of their operations."""
        named = [each for operation in self.own for each in (operation.backend, *operation.supported) if each]
        return [each for each in dict.fromkeys(named) if each not in DEVICES]

    def segments(self) -> list[Segment]:
        """Return the segments of all functions."""
        found: list[Segment] = []
        for (function, backend), group in groupby(self.own, lambda each: (each.function, each.backend)):
            run = [*group]
            before = found[-1].backend if found and found[-1].function == function else None
            start, switch = self._begin(function, before, backend)
            found.append(Segment(function, backend, run, added(run), start, switch))
        return found

    def _begin(self, function: str, before: str | None, backend: str | None) -> tuple[float | None, float | None]:
        """Return the costs of the begin of a segment after the one on the backend `before`."""
        costs = self.costs.get(function)
        if costs is None or backend is None:
            return None, None
        return costs.start.get(backend, 0.0), costs.switch.get((before or backend, backend), 0.0)

    def total(self) -> float | None:
        """Return the estimated milliseconds of all, with the costs of segments; None if an estimate is unknown."""
        parts = [part for each in self.segments() for part in (each.time, each.start, each.switch)]
        known = [each for each in parts if each is not None]
        if not self.costs or len(known) < len(parts):
            return None
        return sum(known) + sum(self._end(name) for name in self.costs)

    def _end(self, function: str) -> float:
        """Return the cost of the end of a function, whose outputs leave the Neural Engine."""
        own = [each for each in self.own if each.function == function]
        return end_cost(own[-1].backend, self.costs[function]) if own else 0.0

    def types(self) -> list[TypeCount]:
        """Return the operations by type, the most frequent first."""
        groups = defaultdict[str, list[PlacedOperation]](list)
        for each in self.own:
            groups[each.type].append(each)
        return [_type_count(*each) for each in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))]

    def devices(self) -> Counter[str]:
        """Return the number of operations on each device."""
        return Counter(each.device or "none" for each in self.own)


def added(run: Sequence[PlacedOperation]) -> float | None:
    """Return the sum of the estimates on the chosen backends; None if one is unknown."""
    times = [each.time for each in run]
    known = [each for each in times if each is not None]
    return sum(known) if len(known) == len(times) else None


def end_cost(backend: str | None, costs: SwitchingCosts) -> float:
    """Return the cost of outputs on a backend: the change from the Neural Engine, and nothing from the CPU.

    Source: the study's notes on dispatch, exact in 440 of its 482 dumps; see docs/placement.md.
    """
    if backend != ANE:
        return 0.0
    return min((cost for (before, _), cost in costs.switch.items() if before == backend), default=0.0)


def takes(operation: PlacedOperation) -> bool | None:
    """Return whether the Neural Engine takes an operation; None if the source states nothing about it."""
    if operation.device == device_of(ANE) or any(device_of(each) == device_of(ANE) for each in operation.supported):
        return True
    return False if operation.supported or operation.reason else None


def _type_count(type: str, group: list[PlacedOperation]) -> TypeCount:
    devices = Counter(each.device or "none" for each in group)
    judged = [each for each in map(takes, group) if each is not None]
    return TypeCount(type, len(group), dict(sorted(devices.items())), sum(judged), len(judged), added(group))


def read_placement(data: bytes, name: str) -> Placement | None:
    """Return the placement in the bytes of a file: a dump, or a plan as JSON or as a table; None for another file.

    Raise ParseError for a broken dump, and ModelError (MIL890) for a broken plan.
    """
    text = wide_text(data, name)  # of spreadsheets and shells of Windows
    if text is None:
        if b"\0" in data:
            return None
        text = decode(data, name).removeprefix("\ufeff")
    if is_dump(text):
        dump = read_dump(text, name)
        return Placement(name, DUMP, dump.placed, dump.costs)
    plan = read_plan(text, name)
    return None if plan is None else Placement(name, PLAN, plan)


def functions_of(placement: Placement) -> Iterator[str]:
    """Yield the functions of a placement, each once."""
    yield from dict.fromkeys(each.function for each in placement.own)
