"""Two runs in lockstep: each value is kept until its partners exist, measured against them, and freed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.evaluation.comparing.measures import Measure, measure
from miltext.evaluation.comparing.precisions import is_rounded
from miltext.ir.parts import Value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, Type, spelled

if TYPE_CHECKING:
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.comparing.partners import Held, Pair, Partners, Walked
    from miltext.evaluation.machine import Made
    from miltext.ir.parts import Op

EXACT_INTEGERS = 150.0
"""The ratio in dB that counts as exact, for types other than floats."""


@dataclass(slots=True)
class Waiting:
    """A computed value, its declared type, the number of earlier values in its run, and `left`, the number of missing
    partners.
    """

    value: Carried
    type: Type
    moment: int
    left: int
    size: int


class Sighting(NamedTuple):
    """A measured value: `turn` is the number of earlier runs of its operation, as in a loop, `moment` its position in
    the new program's run.

    `inputs` are the pairs of its inputs, with their ratios; `lost` is the loss in dB from the worst of these to this
    value.
    """

    moment: int
    turn: int
    measure: Measure
    inputs: tuple[tuple[int, float], ...]
    lost: float


@dataclass(slots=True)
class Track:
    """The facts of a pair: its types, and its sightings with the lowest ratio, with the largest loss, and with the
    first fall.

    A constant number, such as the `y` of a `mul`, loses nothing: its user does. `is_rounded` is false for constants
    that differ by more than rounding.
    """

    types: tuple[str, str] | None = None
    is_number: bool = False
    is_rounded: bool = True
    level: float = math.inf
    worst: Sighting | None = None
    steepest: Sighting | None = None
    fall: Sighting | None = None


class Oddity(NamedTuple):
    """The first NaN or infinity of a run: its kind, the number of elements, the value and the turn."""

    kind: str
    elements: int
    value: Value
    turn: int


@dataclass
class WaitingRun:
    """A run: the values waiting for partners, by value and turn, their bytes without constants, and the number of times
    that each was computed.
    """

    walked: Walked | None
    waiting: dict[tuple[Held, int], Waiting] = field(default_factory=dict)
    turns: Counter[Held] = field(default_factory=Counter)
    moment: int = 0
    oddities: dict[str, Oddity] = field(default_factory=dict)
    size: int = 0

    def keep(self, key: tuple[Held, int], held: Waiting) -> None:
        """Keep a value until its partners exist."""
        self.waiting[key] = held
        self.size += held.size

    def drop(self, key: tuple[Held, int]) -> None:
        """Free a value."""
        self.size -= self.waiting.pop(key).size


class Lockstep:
    """Measures the pairs of two runs; `thresholds` are the required ratios of the pairs in dB."""

    def __init__(self, old: Walked | None, partners: Partners, thresholds: Sequence[float]) -> None:
        self.partners = partners
        self.thresholds = thresholds
        self.sides = (WaitingRun(old), WaitingRun(partners.new))
        self.tracks = [Track() for _ in partners.pairs]
        self._of: tuple[dict[Held, list[int]], dict[Held, list[int]]] = ({}, {})
        for index, pair in enumerate(partners.pairs):
            self._of[0].setdefault(pair.old, []).append(index)
            self._of[1].setdefault(pair.new, []).append(index)

    def run(self, steps: Mapping[int, Generator[Made, None, Carried]], progress: Callable[[int], object]) -> None:
        """Run both sides to their ends, or one side against given values.

        Raise their errors. The side whose partners wait runs first; if values wait on both sides, the side with fewer
        waiting bytes. `progress` is called for each step.
        """
        running = dict(steps)
        while running:
            side = min(running, key=lambda each: self.sides[each].size)
            try:
                made = next(running[side])
            except StopIteration:
                del running[side]
            else:
                self._take(side, made)
                progress(1)

    def _take(self, side: int, made: Made) -> None:
        walked = self.sides[side].walked
        assert walked is not None
        op = walked.ops[made.step.path]
        for value, array, declared in zip(op.outputs, made.values, made.step.types, strict=False):
            self.put(side, value, array, declared, is_constant=op.type == "const")
        if op.blocks:
            self._close(side, op)

    def put(self, side: int, value: Held, array: Carried, type: Type, *, is_constant: bool = False) -> None:
        """Add a value of one side, and measure all pairs complete by now."""
        own = self.sides[side]
        turn, own.turns[value] = own.turns[value], own.turns[value] + 1
        own.moment += 1
        if isinstance(value, Value) and not is_constant:
            self._look_for_oddities(own, value, array, turn)
        partners = self._of[side].get(value)
        if partners:
            size = 0 if is_constant else getattr(array, "nbytes", 1)
            own.keep((value, turn), Waiting(array, type, own.moment, len(partners), size))
            for index in partners:
                self._meet(index, turn)

    def _meet(self, index: int, turn: int) -> None:
        """Measure a pair if both values exist, and free values without further partners."""
        pair = self.partners.pairs[index]
        keys = (pair.old, turn), (pair.new, turn)
        old, new = (side.waiting.get(key) for side, key in zip(self.sides, keys, strict=True))
        if old is None or new is None:
            return
        self._record(index, pair, turn, old, new)
        for side, key, held in zip(self.sides, keys, (old, new), strict=True):
            held.left -= 1
            if not held.left:
                side.drop(key)

    def _close(self, side: int, op: Op) -> None:
        """Free the values made inside an operation that has ended on both sides: no partners can follow."""
        for index in self._of[side].get(op.outputs[0], ()) if op.outputs else ():
            pair = self.partners.pairs[index]
            if self.sides[0].turns[pair.old] == self.sides[1].turns[pair.new]:
                for each, value in zip(self.sides, pair[:2], strict=True):
                    maker = value.maker if isinstance(value, Value) and each.waiting else None
                    inner = {made for inside in maker.walk() for made in inside.outputs} if maker else ()
                    for key in [key for key in each.waiting if key[0] in inner]:
                        each.drop(key)

    # ---- findings

    def _record(self, index: int, pair: Pair, turn: int, old: Waiting, new: Waiting) -> None:
        track = self.tracks[index]
        found = measure(old.value, new.value)
        track.types = track.types or (spelled_of(old), spelled_of(new))
        track.level = found.level
        track.is_number = not new.size and found.count == 1
        if not new.size and found.level < math.inf:
            track.is_rounded = is_rounded(old.value, new.value)
        inputs = tuple((other, self.tracks[other].level) for other in self.partners.nearest(pair.new))
        levels = (level for other, level in inputs if not self.tracks[other].is_number)
        best = min([precision(old.type), precision(new.type), *levels])
        sighting = Sighting(new.moment, turn, found, inputs, max(0.0, best - found.level) if best > -math.inf else 0.0)
        if track.worst is None or found.level < track.worst.measure.level:
            track.worst = sighting
        if track.steepest is None or sighting.lost > track.steepest.lost:
            track.steepest = sighting
        if track.fall is None and has_fallen(found, self.thresholds[index]):
            track.fall = sighting

    def _look_for_oddities(self, side: WaitingRun, value: Value, array: Carried, turn: int) -> None:
        if len(side.oddities) == 2 or not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            return
        if not np.isfinite(array).all():
            for kind, test in (("NaN", np.isnan), ("infinity", np.isinf)):
                count = int(np.count_nonzero(test(array)))
                if count and kind not in side.oddities:
                    side.oddities[kind] = Oddity(kind, count, value, turn)


def has_fallen(found: Measure, threshold: float) -> bool:
    """Return whether the ratio of a value is below the threshold; for types other than floats, whether any element
    differs.
    """
    return found.level < threshold


def precision(type: Type) -> float:
    """Return the approximate ratio in dB after rounding to a type: 6 for each bit of the significand, and 7."""
    dtype = BY_NAME[type.dtype] if isinstance(type, TensorType) else None
    if dtype is None or dtype.kind != "float":
        return EXACT_INTEGERS
    return 6.02 * (dtype.mantissa + 1) + 7


def spelled_of(held: Waiting) -> str:
    """Spell the type of a value, with its actual sizes."""
    if isinstance(held.type, TensorType) and isinstance(held.value, np.ndarray):
        return spelled(TensorType(held.type.dtype, held.value.shape))
    return "" if held.type is None else spelled(held.type)
