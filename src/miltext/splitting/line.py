"""The operations of a function in a line, and the values and states that a boundary between two of them would part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.liveness import crossing
from miltext.ir.needs import behind, postponed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.ir.functions import Block, Function
    from miltext.ir.needs import Needs
    from miltext.ir.parts import Op, Value
    from miltext.splitting.carrying import Carrying


class Lifespan(NamedTuple):
    """A value that positions `first` to `last` make or use."""

    value: Value
    first: int
    last: int

    def parts_at(self, boundary: int) -> bool:
        """Return whether a boundary parts the positions."""
        return self.first < boundary <= self.last


class OperationLine:
    """The operations that the outputs of a function need, constants aside: `ops`, in a valid order.

    `position` is the place of each operation in the line. Any other operation has the position of the last operation
    that it depends on. Boundary b is before position b. `crossing` are the bytes of the values that cross each
    boundary, and `barred` the values and states that may not.
    """

    def __init__(self, needs: Needs, outputs: Sequence[Value], ops: Sequence[Op], carrying: Carrying) -> None:
        self.needs, self.ops, self.outputs = needs, ops, outputs
        self.position = {op: place for place, op in enumerate(ops)}
        for op, used in zip(needs.ops, needs.uses, strict=True):
            if op not in self.position and not op.is_constant:
                makers = [value.maker for value in used]
                self.position[op] = max((self.position[each] for each in makers if each in self.position), default=0)
        self.spans = [*self._spans()]
        self._carrying = carrying
        sizes = ((each.first, each.last, carrying.bytes(each.value)) for each in self.spans)
        self.crossing = crossing(sizes, len(self))
        self.barred = [*self._states(), *(each for each in self.spans if not carrying.can_cross(each.value))]
        self._bars = crossing(((each.first, each.last, 1) for each in self.barred), len(self))

    def __len__(self) -> int:
        return len(self.ops)

    def is_possible(self, boundary: int) -> bool:
        """Return whether a boundary parts no state and no value that must not cross."""
        return not self._bars[boundary]

    def boundaries(self) -> list[int]:
        """Return the possible boundaries inside the line."""
        return [each for each in range(1, len(self)) if self.is_possible(each)]

    def bars(self, boundary: int) -> list[Lifespan]:
        """Return the values and states that prevent a boundary."""
        return [each for each in self.barred if each.parts_at(boundary)]

    def _spans(self) -> Iterator[Lifespan]:
        """Yield each value that a later position uses."""
        last: dict[Value, int] = {}
        for op, used in zip(self.needs.ops, self.needs.uses, strict=True):
            place = self.position.get(op, 0)
            for value in used:
                if value.maker in self.position:
                    last[value] = max(last.get(value, 0), place)
        for value, place in last.items():
            assert value.maker is not None
            if self.position[value.maker] < place:
                yield Lifespan(value, self.position[value.maker], place)

    def _states(self) -> Iterator[Lifespan]:
        for state, places in self.needs.states.items():
            found = [self.position[self.needs.ops[each]] for each in places]
            if min(found) < max(found):
                yield Lifespan(state, min(found), max(found))


def needed(needs: Needs, block: Block) -> list[Op]:
    """Return the operations that the outputs of a block need, in a valid order, constants aside.

    The order is that of the block, but operations that depend on constants alone come just before their first use, so
    that their values cross no boundary before it.
    """
    ops = [op for op in needs.of(block.outputs, later_writes=False).ops if not op.is_constant]
    fixed: set[Op] = set()
    for op in ops:
        if all(value.is_constant or value.maker in fixed for value in op.used()):
            fixed.add(op)
    return postponed(ops, fixed)


def constants_of(ops: Iterable[Op], values: Iterable[Value] = ()) -> list[Op]:
    """Return the constants that operations use, and the constants among values, with the constants that these use."""
    used = (*values, *(value for op in ops for value in op.used()))
    found = behind(used, lambda value: value.is_constant)
    return [*dict.fromkeys(value.maker for value in found if value.maker is not None and value.is_constant)]


def unused_constants(function: Function, needs: Needs) -> list[Op]:
    """Return the constants that neither an operation nor the function's result uses."""
    ops = [op for op in needs.ops if not op.is_constant]
    used = {*constants_of(ops, function.outputs)}
    return [op for op in needs.ops if op.is_constant and op not in used]
