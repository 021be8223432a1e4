"""The new sizes in a literal after the sizes of the types around it changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import TYPE_CHECKING, TypeGuard

from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.schema.types import Shape, Type

CHOICES = 1 << 10
"""The greatest number of shapes tried in place of a wrong one."""

Sizes = tuple[int, ...]


class Refitting:
    """The new values of sizes, by the types seen until now."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[Shape, Shape], None] = {}

    def learn(self, old: Type, new: Type) -> None:
        """Record the new sizes of a type."""
        if isinstance(old, TensorType) and isinstance(new, TensorType) and len(old.shape) == len(new.shape):
            self._shapes[old.shape, new.shape] = None

    def refit(self, sizes: object, shape: Shape) -> Sizes | None:
        """Return the new sizes for the number of elements of a shape; None if they are not certain.

        Each size may become the new value of the same size elsewhere or else of a product of several dimensions. If no
        combination has the right number, one size is scaled, so that the first (usually the batch) equals the shape's
        if possible.
        """
        if not isinstance(sizes, tuple) or not _are_known(sizes) or not _are_known(shape):
            return None
        count = prod(shape)
        for longest in (1, None):
            known = self._became(longest)
            choices = [{size, *known.get(size, ())} for size in sizes]
            is_small = prod(map(len, choices)) <= CHOICES
            fitting = {each for each in product(*choices) if prod(each) == count} if is_small else set[Sizes]()
            if fitting:
                return _only(fitting)
        scaled = _scaled(sizes, count)
        return _only({each for each in scaled if each[:1] == shape[:1]} or scaled)

    def became(self, size: int) -> tuple[int, int] | None:
        """Return a size and its new value, if all changed dimensions of that size have the same one; else None."""
        found = [*self._became(1).get(size, ())]
        return (size, found[0]) if size > 1 and len(found) == 1 else None

    def _became(self, longest: int | None) -> dict[int, set[int]]:
        """Return the new values of sizes, and of products of adjacent dimensions, at most `longest` of them."""
        found: dict[int, set[int]] = {}
        for old, new in self._shapes:
            if not _are_known(old) or not _are_known(new):
                continue
            for run in range(1, (longest or len(old)) + 1):
                for start in range(len(old) - run + 1):
                    before, after = prod(old[start : start + run]), prod(new[start : start + run])
                    if before != after:
                        found.setdefault(before, set()).add(after)
        return found


def _scaled(sizes: Sizes, count: int) -> set[Sizes]:
    """Yield sizes with a single size scaled to a number of elements, for each size that divides evenly."""
    total = prod(sizes)
    return {
        (*sizes[:place], count * size // total, *sizes[place + 1 :])
        for place, size in enumerate(sizes)
        if count * size % total == 0
    }


def _are_known(values: Sequence[object]) -> TypeGuard[Sizes]:
    return all(isinstance(value, int) and value > 0 for value in values)


def _only(found: set[Sizes]) -> Sizes | None:
    return next(iter(found)) if len(found) == 1 else None
