"""The bytes of two programs' weights, and the operations whose weights grew or shrank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing.constants import labelled, uses_of
from miltext.diffing.structure import WeightSize, WeightSizes
from miltext.pairing.keyed import label
from miltext.scopes.weight_extents import NOTHING, holders_of, placed, short_literals, total_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from miltext.diffing.compression import Compressed
    from miltext.ir.parts import Op
    from miltext.pairing.keyed import KeyedGraph
    from miltext.scopes.weight_extents import Holders, WeightExtent


def weight_sizes(
    old: KeyedGraph, new: KeyedGraph, partners: Mapping[Op, Op], forms: tuple[Compressed, Compressed]
) -> WeightSizes:
    """Return the bytes of both programs' weights, and the weights with another number of bytes, the largest change
    first.

    `partners` are the old operations by the new ones.
    """
    extents = placed_alike(holders_of(old), holders_of(new), partners)
    found = [
        WeightSize(
            *(label(b or a), before, after),  # type: ignore[arg-type]
            *(_form(forms[0], a), _form(forms[1], b), _uses(b or a)),
        )
        for a, b, before, after in resized(*extents, partners)
    ]
    found.sort(key=lambda each: (-abs(each.new_bytes - each.old_bytes), each.name))
    return WeightSizes(total_bytes(extents[0]), total_bytes(extents[1]), tuple(found))


def resized(
    old: Mapping[Op, WeightExtent], new: Mapping[Op, WeightExtent], partners: Mapping[Op, Op]
) -> Iterator[tuple[Op | None, Op | None, int, int]]:
    """Yield the partners whose weights have another number of bytes, and weights without a partner, with the bytes
    before and after. The weights are those of `placed_alike`.
    """
    mates = {before: after for after, before in partners.items()}
    rows: list[tuple[Op | None, Op | None]] = [(partners.get(op), op) for op in new]
    rows += [(op, mates.get(op)) for op in old if mates.get(op) not in new]
    for pair in rows:
        was, now = (side.get(op, NOTHING).bytes if op else 0 for side, op in zip((old, new), pair, strict=True))
        if was != now:
            yield *pair, was, now


def placed_alike(
    old: Holders, new: Holders, partners: Mapping[Op, Op]
) -> tuple[dict[Op, WeightExtent], dict[Op, WeightExtent]]:
    """Return the weights of both sides, each stored one once: at the first operation that it belongs to or, on the old
    side, at the partner of such an operation. A short literal counts if its partner is a weight.
    """
    old, new = {**old}, {**new}
    for op, partner in partners.items():
        if (op in new) != (partner in old):
            side, other = (old, partner) if op in new else (new, op)
            if literals := short_literals(other):
                side[other] = literals
    first = {partners[op]: None for op in new if op in partners}
    return placed({op: old[op] for op in (*(each for each in first if each in old), *old)}), placed(new)


def _form(forms: Compressed, op: Op | None) -> str | None:
    return None if op is None or not op.is_constant or len(op.outputs) != 1 else forms.form(op)


def _uses(op: Op | None) -> tuple[tuple[str, str], ...]:
    return labelled(uses_of(op)) if op is not None and op.is_constant else ()
