"""Sources of sizes: each dimension as the ordered product of its factors.

`reshape` merges and splits dimensions in order, so that the new value of a dimension follows from its factors: of `[1,
16 * 24]`, which was `[1, 16, 24]`, the shape `[1, 4, 4, 24]` splits the 16.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from miltext.schema.types import Shape


OPEN = 1_000_003
"""The growth factor of an open size of a range: a prime number."""


class Factor(NamedTuple):
    """A factor of a dimension's size, before and now; OPEN times the old value for an open size."""

    before: int
    now: int


Lineage: TypeAlias = "tuple[tuple[Factor, ...], ...]"


class Recast(NamedTuple):
    """The dimensions after a `reshape`; `split` contains the changed sizes that it splits, with their parts."""

    lineage: Lineage
    split: tuple[tuple[Factor, Factor, Factor], ...]

    @property
    def shape(self) -> Shape:
        """The sizes now."""
        return sizes_of(self.lineage)


def sizes_of(lineage: Lineage) -> Shape:
    """Return the sizes of dimensions now."""
    sizes = (prod(factor.now for factor in factors) for factors in lineage)
    return tuple(None if size and size % OPEN == 0 else size for size in sizes)


def lineage_of(old: Shape, new: Shape) -> Lineage | None:
    """Return dimensions with one factor each; None if an old size is unknown or 0."""
    if len(old) != len(new):
        return None
    made: list[tuple[Factor, ...]] = []
    for before, now in zip(old, new, strict=True):
        if not before:
            return None
        made.append((Factor(before, before * OPEN if now is None else now),))
    return tuple(made)


def recast(lineage: Lineage, sizes: Sequence[int], open_at: int | None = None) -> Recast | None:
    """Return dimensions, regrouped to these old sizes; None for overlapping sizes.

    A split size that changed grows in its first part, as `height // 4, 4` does; in its second one where the first has
    to stay, or where a dimension further on is `open_at` its place: the -1 of a shape.
    """
    if min(sizes, default=1) < 1:
        return None
    left = [factor for factors in lineage for factor in factors if factor != (1, 1)]
    made: list[tuple[Factor, ...]] = []
    split: list[tuple[Factor, Factor, Factor]] = []
    for size in sizes:
        taken: list[Factor] = []
        while size > 1 or _is_grown_one(left, taken, size, sizes[len(made) + 1 :]):
            if not left:
                return None
            factor = left.pop(0)
            if factor.before > size or size % factor.before:
                is_later = open_at is not None and open_at > len(made)
                parts = _split(factor, gcd(factor.before, size), grow_second=is_later)
                if parts is None:
                    return None
                if factor.before != factor.now:
                    split.append((factor, *parts))
                factor, rest = parts
                left.insert(0, rest)
            taken.append(factor)
            size //= factor.before
        made.append(tuple(taken) or (Factor(1, 1),))
    if any(factor != (1, 1) for factor in left):
        return None
    return Recast(tuple(made), tuple(split))


def _is_grown_one(left: Sequence[Factor], taken: Sequence[Factor], size: int, others: Sequence[int]) -> bool:
    """Return whether the next factor is a size of 1 that grew and belongs to a 1 or to the last dimension."""
    return bool(left) and left[0].before == 1 and size == 1 and (not taken or not others)


def _split(factor: Factor, first: int, *, grow_second: bool) -> tuple[Factor, Factor] | None:
    """Return a size as two factors, the first with `first` as its old size; None if neither can grow.

    With `grow_second`, the second one grows if possible.
    """
    before, now = factor
    if first <= 1:
        return None
    rest = before // first
    if before == now:
        return Factor(first, first), Factor(rest, rest)
    grown_second = (Factor(first, first), Factor(rest, now // first)) if now % first == 0 else None
    if now % rest or (grow_second and grown_second):
        return grown_second
    return Factor(first, now // rest), Factor(rest, rest)
