"""The boundaries that a user requests: by the bytes of weights, by the number of parts, or at values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.building.editing import unknown_value
from miltext.diagnostics import Note, codes, wording
from miltext.extraction.wanted import inner_names, listed, top_values
from miltext.files.refusals import refusal
from miltext.ir.needs import Needs
from miltext.splitting.choosing import SplitUnit, TooLarge, evenly, within
from miltext.splitting.line import OperationLine, needed

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from miltext.diagnostics import ModelError
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Value
    from miltext.splitting.carrying import Carrying
    from miltext.splitting.line import Lifespan

SHOWN = 3
"""The most reasons in a message."""


class Cuts(NamedTuple):
    """The operations in a line, and the chosen boundaries in it, in order."""

    line: OperationLine
    boundaries: list[int]


class Cutting:
    """A function to be cut; `weights` are the bytes of its weights, by an identity for each, at each operation."""

    def __init__(
        self, function: Function, block: Block, carrying: Carrying, weights: Mapping[Op, Mapping[Hashable, int]]
    ) -> None:
        self._function, self._block, self._carrying, self._weights = function, block, carrying, weights
        self._needs = Needs(block)
        self._ops = needed(self._needs, block)

    def by_size(self, most: int) -> Cuts:
        """Return the boundaries of the fewest parts without more than so many bytes of weights.

        Raise ModelError (MIL499) if a part between two possible boundaries has more.
        """
        line = self._line(self._ops)
        starts = [0, *line.boundaries()]
        try:
            chosen = within(self._units(line, starts, is_weighed=True), most)
        except TooLarge as failure:
            end = starts[failure.unit + 1] if failure.unit + 1 < len(starts) else len(line)
            raise self._too_large(line, starts[failure.unit], end, most) from failure
        return Cuts(line, [starts[each] for each in chosen[1:]])

    def by_number(self, number: int) -> Cuts:
        """Return the boundaries of so many parts with about equal weights; without weights, operations count.

        Raise ModelError (MIL499) if there are not enough possible boundaries.
        """
        line = self._line(self._ops)
        starts = [0, *line.boundaries()]
        if number > len(starts):
            most = "it cannot be cut" if len(starts) == 1 else f"{len(starts)} are possible"
            message = f"{number} parts are requested of `{self._function.name}`, but {most}"
            raise refusal(codes.IMPOSSIBLE_SPLIT, message, None, *self._reasons(line))
        units = self._units(line, starts, is_weighed=any(self._weights.values()))
        return Cuts(line, [starts[each] for each in evenly(units, number)[1:]])

    def at(self, names: Sequence[str]) -> Cuts:
        """Return the boundaries after values: each part has the operations that its value needs, without the earlier
        parts, and the last part has the rest.

        Raise ModelError: MIL430 for an unknown name, MIL446 and MIL452 for a value that cannot cross a boundary, MIL494
        for a value that parts nothing.
        """
        places = {op: place for place, op in enumerate(self._needs.ops)}
        values = sorted((self._boundary(name) for name in names), key=lambda each: places[each.maker])  # type: ignore[index]
        order: dict[Op, None] = {}
        boundaries: list[int] = []
        inside = {*self._ops}
        for value in values:
            there = len(order)
            order.update((op, None) for op in self._needs.of([value], whole_states=True).ops if op in inside)
            if len(order) == there:
                raise self._needless(
                    value, f"the part before `{values[len(boundaries) - 1].name}` contains everything that it needs"
                )
            boundaries.append(len(order))
        if len(order) == len(self._ops):
            raise self._needless(values[-1], "the outputs of the function need nothing after it")
        order.update(dict.fromkeys(self._ops))
        line = self._line([*order])
        for value, boundary in zip(values, boundaries, strict=True):
            self._check(line, value, boundary)
        return Cuts(line, boundaries)

    def _line(self, ops: Sequence[Op]) -> OperationLine:
        return OperationLine(self._needs, self._block.outputs, ops, self._carrying)

    def _units(self, line: OperationLine, starts: Sequence[int], *, is_weighed: bool) -> list[SplitUnit]:
        """Return the operations between possible boundaries."""
        unit = [0] * len(line)
        for start in starts[1:]:
            unit[start] = 1
        number, places = 0, []
        for each in unit:
            number += each
            places.append(number)
        weights: list[dict[Hashable, int]] = [{} for _ in starts]
        for op, place in line.position.items() if len(line) else ():
            weights[places[place]].update(self._weights.get(op, {}) if is_weighed else {op: 1})
        return [SplitUnit(each, line.crossing[start]) for each, start in zip(weights, starts, strict=True)]

    # ---- values

    def _boundary(self, name: str) -> Value:
        """Return the value of a name, at which a boundary may be."""
        values = top_values(self._function)
        value = values.get(name)
        if value is None and name in inner_names(self._function):
            raise refusal(codes.IMPOSSIBLE_PART_INPUT, f"`{name}` is a value of an inner block, which cannot be cut")
        if value is None:
            raise unknown_value(name, {*values}, None)
        if value.maker is None:
            raise self._needless(value, "it is an input of the function, which every part may take")
        if value.is_constant:
            raise self._needless(value, "it is a constant, which every part that uses it contains")
        if value.maker not in {*self._ops}:
            raise self._needless(value, "no output of the function needs it")
        return value

    def _check(self, line: OperationLine, value: Value, boundary: int) -> None:
        """Refuse a boundary that parts a state, or a value that cannot cross it."""
        crosses = any(each.value is value and each.parts_at(boundary) for each in line.spans)
        if not crosses and value not in line.outputs:
            raise self._needless(value, "a state that it depends on is used after it, too, by all that needs it")
        for span in sorted(line.bars(boundary), key=lambda each: each.value is not value):
            if span.value.is_state:
                users = [self._label(line, each) for each in (span.first, span.last)]
                why = f"the state `{span.value.name}` is used before and after it, by {users[0]} and {users[1]}"
                raise self._needless(value, why)
            fault = self._carrying.fault(span.value)
            assert fault is not None, "it may not cross"
            note = Note(f"it would cross the boundary at `{value.name}`, to {self._label(line, span.last)}")
            fault.diagnostics[0] = fault.diagnostics[0]._replace(notes=(note, *fault.diagnostics[0].notes))
            raise fault

    def _needless(self, value: Value, why: str) -> ModelError:
        return refusal(codes.IMPOSSIBLE_BOUNDARY, f"`{value.name}` is not a boundary between parts: {why}")

    # ---- reasons

    def _too_large(self, line: OperationLine, start: int, end: int, most: int) -> ModelError:
        """Return the error about positions between two possible boundaries that have more weights than a part may."""
        sizes = {op: self._weights.get(op, {}) for op, place in line.position.items() if start <= place < end}
        for op, held in sizes.items():
            key = max(held, key=lambda each: held[each], default=None)
            if key is not None and held[key] > most:
                message = (
                    f"a weight of {held[key]:,} bytes, which {named(op)} uses, is larger than a part of {most:,} bytes"
                )
                return refusal(codes.IMPOSSIBLE_SPLIT, message)
        total = sum({key: size for held in sizes.values() for key, size in held.items()}.values())
        first, last = line.ops[start], line.ops[end - 1]
        place = named(first) if first is last else f"the operations from {named(first)} to {named(last)}"
        verb = "uses" if first is last else "use"
        message = f"{place} {verb} {total:,} bytes of weights, more than a part of {most:,} bytes"
        return refusal(codes.IMPOSSIBLE_SPLIT, message, None, *self._reasons(line, start, end))

    def _reasons(self, line: OperationLine, start: int = 0, end: int | None = None) -> list[Note]:
        """Return notes with the values and states that prevent most boundaries within positions."""
        last = len(line) if end is None else end
        found = [each for each in line.barred if each.first < last and each.last > start]
        found.sort(key=lambda each: each.first - each.last)
        notes = [Note(self._reason(line, each)) for each in found[:SHOWN]]
        left = len(found) - len(notes)
        return [*notes, *[Note(f"and {wording.tally(left, 'more value')} between the operations")] * bool(left)]

    def _reason(self, line: OperationLine, span: Lifespan) -> str:
        users = f"from {self._label(line, span.first)} to {self._label(line, span.last)}"
        fault = None if span.value.is_state else self._carrying.fault(span.value)
        if fault is None:
            return f"the state `{span.value.name}` is used {users}"
        return f"{fault.diagnostics[0].message}: it is used {users}"

    def _label(self, line: OperationLine, position: int) -> str:
        return named(line.ops[position])


def named(op: Op) -> str:
    """Return the name of an operation for a message: its outputs, or its type."""
    return listed([value.name for value in op.outputs]) if op.outputs else f"`{op.type}`"
