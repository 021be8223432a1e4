"""Products of matrices in the arithmetic of a device: the batches and blocks around it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from miltext.evaluation.operations.windows import blocks

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array, Index

AT_ONCE = 60_000
"""The number of sums computed at once: they stay in a core's cache.

It is not a power of two: rows of 1,024 sums would have the same places in the cache, which takes twice as long.
"""

LEAST_ROWS = 64
"""The number of rows in a block if there are as many columns as fill it."""

HAS_BLAS = sys.platform != "emscripten"
"""Whether numpy has a fast product of matrices; in a browser, it has none."""

Sums: TypeAlias = "Callable[[Array, Array, Array], Array]"
"""A function of rows [M, K], columns [K, N] and starts [M, N] that returns the sums [M, N]; all are fp16."""

WORTH_THREADS = 1 << 22
"""The least number of products that several threads compute faster than one.

Two threads on two cores took longer than one up to 2^20 products, and half of its time from 2^22 on, or less.
"""


def products(sums: Sums, rows: Array, columns: Array, bias: Array | None) -> Array:
    """Return the products of matrices in the last two axes, as fp16; the others broadcast.

    A sum starts with its `bias`, which broadcasts with the result, and adds the products in the order of the shared
    axis. Threads compute blocks of sums side by side: numpy lets go of the interpreter meanwhile.
    """
    outer = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    made = np.empty((*outer, rows.shape[-2], columns.shape[-1]), np.float16)
    starts = np.broadcast_to(np.float16(0) if bias is None else bias.astype(np.float16, copy=False), made.shape)
    left = np.broadcast_to(rows, (*outer, *rows.shape[-2:]))
    right = np.broadcast_to(columns, (*outer, *columns.shape[-2:]))

    def fill(place: Index) -> None:
        *batch, down, across = place
        above: Index = (*batch, down)
        beside: Index = (*batch, slice(None), across)
        with np.errstate(all="ignore"):  # each thread has its own state
            made[place] = sums(left[above], right[beside], starts[place])

    workers = _cores() if made.size * rows.shape[-1] >= WORTH_THREADS else 1
    tiles = [*_tiles(made.shape[-2], made.shape[-1], workers)]
    _for_each(fill, ((*batch, *tile) for batch in np.ndindex(*outer) for tile in tiles), workers)
    return made


def multiply_chosen(weights: Array, inputs: Array, out: Array) -> None:
    """Write the product of weights [M, L], each row with a single nonzero weight, and finite inputs [L, N].

    So each number is one product, rounded once, with zeros added. BLAS writes them in less time than a multiplication
    with broadcasting.
    """
    if HAS_BLAS:
        np.dot(weights, inputs, out=out)
    else:
        np.einsum("il,lj->ij", weights, inputs, out=out)


def _for_each(fill: Callable[[Index], None], places: Iterable[Index], workers: int) -> None:
    """Call a function with each place, in so many threads."""
    if workers == 1:
        for place in places:
            fill(place)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(fill, places):
            pass  # an error of a thread is raised here


def _cores() -> int:
    """Return the number of cores that this process may use; 1 in a browser, which starts no threads."""
    if sys.platform == "emscripten":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _tiles(rows: int, columns: int, workers: int) -> Iterator[tuple[slice, ...]]:
    """Yield the slices of tiles of about AT_ONCE elements. Tiles are smaller if there would be fewer than workers."""
    height = min(rows, max(LEAST_ROWS, AT_ONCE // max(1, columns)))
    height = max(1, min(height, -(-rows // workers)))
    for (down,) in blocks((rows,), height):
        for (across,) in blocks((columns,), max(1, AT_ONCE // height)):
            yield down, across
