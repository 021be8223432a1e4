"""The elements of an array in Fortran order brought into C order, with little of it in memory at once.

A box of the array is read, turned and written to a file in C order, and then the next box. A box is long in the first
axes, whose elements lie together in the source, and in the last ones, whose elements lie together in the result; so
each of its runs is long, whatever the shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import IO, TypeAlias

import numpy as np

BOX = 1 << 23
"""The most bytes turned at once; as many again are needed for the result."""

Read: TypeAlias = Callable[[int, memoryview], object]
"""Fill a view with the array's bytes from an offset on."""


def turn_round(read: Read, shape: Sequence[int], item: int, target: IO[bytes]) -> Iterator[int]:
    """Write the elements of an array, which `read` returns in Fortran order, to a file in C order; `item` bytes each.

    Yield the number of bytes of each finished box.
    """
    shape = [size for size in shape if size > 1]  # numpy's arrays have a few dozen axes at most
    most = sides_of_box(shape, BOX // item)
    data = bytearray(prod(most) * item)
    for corner in product(*(range(0, size, side) for size, side in zip(shape, most, strict=True))):
        sides = [min(side, size - first) for side, size, first in zip(most, shape, corner, strict=True)]
        view = memoryview(data)[: prod(sides) * item]
        done = 0
        for start, count in runs(corner, sides, shape):
            read(start * item, view[done : done + count * item])
            done += count * item
        box = np.frombuffer(view, f"u{item}").reshape(sides[::-1]).T
        turned = np.ascontiguousarray(box).data.cast("B")
        done = 0
        for start, count in runs(corner[::-1], sides[::-1], shape[::-1]):
            target.seek(start * item)
            target.write(turned[done : done + count * item])
            done += count * item
        yield done


def sides_of_box(shape: Sequence[int], most: int) -> list[int]:
    """Return the sides of a box of at most so many elements: the first axes and the last are doubled in turn."""
    sides = [1] * len(shape)
    while True:
        for axes in (range(len(shape)), reversed(range(len(shape)))):
            axis = next((axis for axis in axes if sides[axis] < shape[axis]), None)
            if axis is None or 2 * prod(sides) > most:
                return sides
            sides[axis] = min(2 * sides[axis], shape[axis])


def runs(corner: Sequence[int], sides: Sequence[int], shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the start and the length of each run of adjacent elements of a box, in an array whose first axis is
    fastest.
    """
    whole = next((axis for axis, size in enumerate(shape) if sides[axis] < size), len(shape) - 1)
    steps = [prod(shape[:axis]) for axis in range(len(shape))]
    first = sum(place * step for place, step in zip(corner[: whole + 1], steps, strict=False))
    places = [
        range(corner[axis] * steps[axis], (corner[axis] + sides[axis]) * steps[axis], steps[axis])
        for axis in reversed(range(whole + 1, len(shape)))
    ]
    count = prod(sides[: whole + 1])
    return ((first + sum(outer), count) for outer in product(*places))
