"""The bytes of two programs' weights, and the operations whose weights grew or shrank."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing.constants import labelled, uses_of
from miltext.diffing.structure import WeightSize, WeightSizes
from miltext.pairing.keyed import label
from miltext.scopes.weight_extents import holders_of, placed, stored_sizes, wholes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.diffing.compression import Compressed
    from miltext.ir.parts import Op
    from miltext.pairing.keyed import KeyedGraph
    from miltext.scopes.weight_extents import Holders, WeightExtent


class WeightHolders:
    """The operations of two programs that weights belong to; `partners` are the old operations by the new ones.

    The parts of a compressed weight belong to it.
    """

    def __init__(self, old: KeyedGraph, new: KeyedGraph, partners: Mapping[Op, Op]) -> None:
        self._held = holders_of(old), holders_of(new)
        self._partners = partners
        for op, partner in partners.items():
            _complete(self._held, (old, new), (partner, op))

    def sizes(self, forms: tuple[Compressed, Compressed]) -> WeightSizes:
        """Return the bytes of both programs' weights, each stored one once, and the weights with another number of
        bytes. The largest change comes first.
        """
        held = self._held
        was, now = ({op: sum(size.bytes for size in each.values()) for op, each in side.items()} for side in held)
        mates = {old: new for new, old in self._partners.items()}
        rows: list[tuple[Op | None, Op | None]] = [(self._partners.get(op), op) for op in now]
        rows += [(op, mates.get(op)) for op in was.keys() - {a for a, _ in rows}]
        found = [
            WeightSize(
                *(label(b or a), was.get(a, 0), now.get(b, 0)),  # type: ignore[arg-type]
                *(_form(forms[0], a), _form(forms[1], b), _uses(b or a)),
            )
            for a, b in rows
            if was.get(a, 0) != now.get(b, 0)  # type: ignore[arg-type]
        ]
        found.sort(key=lambda each: (-abs(each.new_bytes - each.old_bytes), each.name))
        return WeightSizes(_stored(held[0]), _stored(held[1]), tuple(found))

    def placed(self) -> tuple[dict[Op, WeightExtent], dict[Op, WeightExtent]]:
        """Return the weights of both programs, as `placed_alike` does."""
        return placed_alike(*self._held, self._partners)


def placed_alike(
    old: Holders, new: Holders, partners: Mapping[Op, Op]
) -> tuple[dict[Op, WeightExtent], dict[Op, WeightExtent]]:
    """Return the weights of both sides, each stored one once: at the first operation that it belongs to or, on the old
    side, at the partner of such an operation.
    """
    first = {partners[op]: None for op in new if op in partners}
    return placed({op: old[op] for op in (*(each for each in first if each in old), *old)}), placed(new)


def _form(forms: Compressed, op: Op | None) -> str | None:
    return None if op is None or not op.is_constant or len(op.outputs) != 1 else forms.form(op)


def _uses(op: Op | None) -> tuple[tuple[str, str], ...]:
    return labelled(uses_of(op)) if op is not None and op.is_constant else ()


def _stored(held: Holders) -> int:
    return sum({key: size.bytes for each in held.values() for key, size in each.items()}.values())


def _complete(held: tuple[Holders, Holders], graphs: tuple[KeyedGraph, KeyedGraph], pair: tuple[Op, Op]) -> None:
    """Enter a short literal whose partner is a weight, so that both are compared whole."""
    is_held = [op in side for op, side in zip(pair, held, strict=True)]
    if any(is_held) and not all(is_held):
        side = is_held.index(False)
        op = pair[side]
        sizes = dict(stored_sizes(graphs[side], op, 0)) if op.is_constant and wholes_of(op) == [op] else {}
        if sizes:
            held[side][op] = sizes
