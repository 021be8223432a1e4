"""The result of two runs in lockstep: the fallen values, and their origins."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from miltext.checking.findings import named
from miltext.evaluation.comparing.comparison import ComparedValue, FirstOddity, Origin
from miltext.evaluation.comparing.partners import VALUE, Sameness, between
from miltext.evaluation.comparing.precisions import but_rounded
from miltext.ir.needs import reached
from miltext.ir.parts import Op, Value
from miltext.pairing.keyed import label
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.evaluation.comparing.lockstep import Lockstep, Sighting, WaitingRun
    from miltext.evaluation.comparing.partners import Held

HEALED = 40.0
"""The gain in dB with which an operation may still pass on an error, such as a sum with larger numbers."""

SLIGHT = 20.0
"""The loss in dB that an operation may have without a fault, such as a difference of similar numbers."""


class Verdict:
    """The evaluation of two runs' tracks. Pairs are identified by index; in `mixed` pairs, only one side is coarse."""

    def __init__(self, lockstep: Lockstep, mixed: Container[int] = ()) -> None:
        self._lockstep = lockstep
        self._mixed = mixed
        self._partners = lockstep.partners
        self._pairs = lockstep.partners.pairs
        self._tracks = lockstep.tracks
        self._same: dict[int, bool] = {}
        seen = [index for index, track in enumerate(self._tracks) if track.worst is not None]
        self.seen = sorted(seen, key=self._moment)

    def values(self, *, outputs: bool) -> Iterator[ComparedValue]:
        """Yield the compared values, outputs or all others, in the order of the new program."""
        places = {value: place for place, value in enumerate(self._partners.new.block.outputs)}
        chosen = [index for index in self.seen if self._is_output(index) is outputs and index not in self._strangers]
        if outputs:
            chosen.sort(key=lambda index: places.get(self._pairs[index].new, len(places)))
        yield from map(self.value, chosen)

    def _is_output(self, index: int) -> bool:
        return self._pairs[index].kind != VALUE

    def value(self, index: int) -> ComparedValue:
        """Return the compared value of a pair."""
        pair, track = self._pairs[index], self._tracks[index]
        assert track.worst is not None
        assert track.steepest is not None
        assert track.types is not None
        operation = _operation(pair.new)
        old = pair.old if isinstance(pair.old, Value) else None
        return ComparedValue(
            kind={"": "input", "const": "constant"}.get(operation, VALUE) if pair.kind == VALUE else pair.kind,
            name=self._name(index),
            old_name=(old or pair.new).name,
            operation=operation,
            old_operation=_operation(old) if old else "",
            type=track.types[1],
            old_type=track.types[0],
            measure=track.worst.measure,
            turn=track.worst.turn,
            lost=track.steepest.lost,
            fell=index in self.fallen,
            min_snr=self._lockstep.thresholds[index],
        )

    def _name(self, index: int) -> str:
        return self._pairs[index].new.name

    def _moment(self, index: int) -> int:
        worst = self._tracks[index].fall or self._tracks[index].worst
        return worst.moment if worst else 0

    # ---- fallen values

    @cached_property
    def fallen(self) -> dict[int, Sighting]:
        """The fallen pairs with their first sightings below the threshold, without constant strings, which select a
        computation.
        """
        return {
            index: fall
            for index in self.seen
            if (fall := self._tracks[index].fall) is not None
            and not (self._is_constant(index) and "string" in (self._tracks[index].types or ("",))[-1])
        }

    def _is_constant(self, index: int) -> bool:
        return _operation(self._pairs[index].new) == "const"

    def _fell_before(self, index: int) -> list[int]:
        """Return the sources of a pair that fell before it, also through others that pass on errors."""
        moment = self.fallen[index].moment
        found: dict[int, None] = {}
        through = {index: None}
        waiting = [index]
        while waiting:
            here = waiting.pop()
            for each in self._partners.nearest(self._pairs[here].new):
                if each in self.fallen:
                    if self.fallen[each].moment < moment and (here == index or self._hands_on(each, here)):
                        found[each] = None
                elif each not in through and self._hands_on(each, here):
                    through[each] = None
                    waiting.append(each)
        return list(found)

    def _hands_on(self, source: int, index: int) -> bool:
        """Return whether a source pair can be the cause of a pair's error.

        An operation in both programs gets its whole error from its inputs, whether it grows or shrinks.
        """
        if self._is_same(index):
            return self._level(source) < math.inf
        regained = self._level(index) - self._level(source)
        return -SLIGHT <= regained <= HEALED

    def _is_same(self, index: int) -> bool:
        """Return whether both programs compute a pair by the same operation of the same type, from paired inputs."""
        if index not in self._same:
            self._same[index] = self._partners.are_made_alike(self._lockstep.sides[0].walked, self._pairs[index])
        return self._same[index]

    def _is_rounded(self, index: int) -> bool:
        """Return whether a pair is computed in the same way, but in different precisions."""
        if index not in self._mixed or self._is_constant(index):
            return index in self._mixed and self._tracks[index].is_rounded
        by = but_rounded(lambda each: self._tracks[each].is_rounded)
        return self._partners.are_made_alike(self._lockstep.sides[0].walked, self._pairs[index], by)

    def origins(self) -> list[Origin]:
        """Return the values that fell although their inputs did not, causes of fallen outputs first.

        A constant counts if its user falls for no other reason, for a number without effect may differ. A rounding
        difference on the coarser side counts if an output falls.
        """
        found: dict[int, None] = {}
        for index in self.fallen:
            before = [] if self._is_constant(index) else self._fell_before(index)
            if not self._is_constant(index) and all(map(self._is_constant, before)):
                found.update(dict.fromkeys(before or [index]))
        reaching = self._reaching()
        if not reaching:
            found = {index: None for index in found if not self._is_rounded(index)}
        found = {index: None for index in found if index not in self._strangers}
        ordered = sorted(found, key=lambda index: (index not in reaching, self.fallen[index].moment))
        return [self._origin(index, self.fallen[index], index in reaching) for index in ordered]

    @cached_property
    def _strangers(self) -> set[int]:
        """The fallen pairs of inner values with different names and arguments that made no output fall.

        The outputs show that the one value does not stand for the other.
        """
        reaching = self._reaching()
        found = set[int]()
        by = Sameness(is_kept=lambda index: index not in found)
        for index in self.fallen:  # the sources of a value before it
            if index not in reaching and not self._is_constant(index) and self._is_strange(index, by):
                found.add(index)
        return found

    def _is_strange(self, index: int, by: Sameness) -> bool:
        """Return whether the values of a pair have different names and are computed from different values."""
        pair, walked = self._pairs[index], self._lockstep.sides[0].walked
        if pair.kind != VALUE or walked is None or not isinstance(pair.old, Value) or pair.old.name == pair.new.name:
            return False
        op, other = pair.old.maker, pair.new.maker
        return op is not None and other is not None and not self._partners.take_alike(walked, op, other, by)

    def _reaching(self) -> set[int]:
        """Return the pairs that lead to a fallen output through fallen pairs."""
        return {*reached(filter(self._is_output, self.fallen), self._fell_before)}

    def _origin(self, index: int, sighting: Sighting, reaches_output: bool) -> Origin:
        before, now, _ = self._pairs[index]
        old = self._lockstep.sides[0].walked
        alone = between(self._partners.new, now, self._partners.main) if old else []
        known: set[Held] = {pair.old for pair in self._pairs}
        gone = between(old, before, known) if old and isinstance(before, Value) else []
        inputs = [(name_text(self._name(other)), level) for other, level in sighting.inputs]
        return Origin(
            value=self.value(index),
            measure=sighting.measure,
            turn=sighting.turn,
            inputs=tuple(dict.fromkeys(inputs)),
            between=_labels(alone),
            removed=_labels(gone),
            reaches_output=reaches_output,
            path=self._partners.new.path(now),
        )

    # ---- where most was lost

    def steepest(self) -> Origin | None:
        """Return the largest loss before the worst output; None if all values are as exact as their types."""
        outputs = [index for index in self.seen if self._is_output(index)]
        if not outputs:
            return None
        chain = self._worst_way(min(outputs, key=self._level))
        able = [index for index in reversed(chain) if self._is_computed(index)]
        index = max(able, key=lambda each: self._steepest(each).lost, default=None)
        if index is None or self._steepest(index).lost == 0:
            return None
        return self._origin(index, self._steepest(index), True)

    def _is_computed(self, index: int) -> bool:
        """Return whether a value can lose precision: a float, but no constant."""
        return self._steepest(index).measure.snr is not None and not self._tracks[index].is_number

    def _worst_way(self, index: int) -> list[int]:
        """Return a pair, followed by the worst source that can cause its error, the worst source of that, and so on."""
        chain = {index: None}
        while True:
            level = self._level(index)
            inputs = self._partners.nearest(self._pairs[index].new)
            able = [each for each in inputs if each not in chain and self._level(each) >= level - HEALED]
            worst = min(able, key=self._level, default=None)
            if worst is None or self._level(worst) == math.inf:
                return list(chain)
            chain[worst] = None
            index = worst

    def _level(self, index: int) -> float:
        worst = self._tracks[index].worst
        return worst.measure.level if worst else math.inf

    def _steepest(self, index: int) -> Sighting:
        steepest = self._tracks[index].steepest
        assert steepest is not None
        return steepest

    # ---- NaN and infinity

    def oddities(self) -> Iterator[FirstOddity]:
        """Yield the first NaN and the first infinity of each run."""
        for name, side in zip(("old", "new"), self._lockstep.sides, strict=True):
            yield from (self._oddity(name, side, kind) for kind in sorted(side.oddities))

    def _oddity(self, name: str, side: WaitingRun, kind: str) -> FirstOddity:
        found = side.oddities[kind]
        return FirstOddity(name, kind, found.value.name, _operation(found.value), found.elements, found.turn)

    # ---- values that do not run alike

    def missed(self) -> Iterator[str]:
        """Yield a note for each output that a run did not compute, for example in a block that did not run."""
        for index, pair in enumerate(self._pairs):
            if pair.kind != VALUE and self._tracks[index].worst is None:
                yield f"the value {named(self._name(index))} was not computed: its block does not run for these inputs"

    def uneven(self) -> Iterator[str]:
        """Yield a note for each operation whose inner blocks run a different number of times."""
        reported: set[str] = set()
        for pair in self._pairs:
            turns = [side.turns[value] for side, value in zip(self._lockstep.sides, pair[:2], strict=True)]
            around = pair.new.maker.block if pair.new.maker else None
            outer = around.owner if around else None
            is_explained = turns[0] == turns[1] or not self._lockstep.sides[0].walked
            if isinstance(outer, Op) and not is_explained and label(outer) not in reported:
                reported.add(label(outer))
                yield (
                    f"a block of {label(outer)} ({outer.type}) runs {_times(turns[0])} in the old program, "
                    f"and {_times(turns[1])} in the new one"
                )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _labels(ops: list[Op]) -> tuple[str, ...]:
    """Return the displayed names of operations."""
    return tuple(f"{label(op)} ({op.type})" for op in ops)


def _operation(value: Value) -> str:
    """Return the type of the operation that makes a value; empty for an input."""
    return value.maker.type if value.maker else ""
