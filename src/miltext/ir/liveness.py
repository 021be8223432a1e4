"""The lives of values: the last operation that uses each one."""

from __future__ import annotations

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
