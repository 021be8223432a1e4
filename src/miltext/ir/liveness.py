"""The lives of values: the last operation that uses each one, and the places that they cross."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from miltext.ir.parts import Op, Value


def last_places(ops: Sequence[Op], others: Sequence[Iterable[Value]] = ()) -> dict[Value, int]:
    """Return the place of the last operation, in this order, that uses or makes each value, also inside its blocks.

    `others` are further values that each operation uses.
    """
    last: dict[Value, int] = {}
    for place, op in enumerate(ops):
        last.update(dict.fromkeys((*op.used(), *op.outputs, *(others[place] if others else ())), place))
    return last


def crossing(lives: Iterable[tuple[int, int, int]], length: int) -> list[int]:
    """Return, for each boundary of a line of operations, the sum of the sizes of the values that cross it.

    `lives` are the place where each value is made, the last place that uses it, and its size. Boundary b is before
    place b.
    """
    steps = [0] * (length + 2)
    for first, last, size in lives:
        steps[first + 1] += size
        steps[last + 1] -= size
    return [*accumulate(steps)]
