"""Products of matrices in the arithmetic of a device: the batches and blocks around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from miltext.evaluation.operations.windows import blocks

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array, Index

AT_ONCE = 1 << 16
"""The number of sums computed at once: they stay in a core's cache."""

LEAST_ROWS = 64
"""The number of rows in a block if there are as many columns as fill it."""

Sums: TypeAlias = "Callable[[Array, Array, Array], Array]"
"""A function of rows [M, K], columns [K, N] and starts [M, N] that returns the sums [M, N]; all are fp16."""


def products(sums: Sums, rows: Array, columns: Array, bias: Array | None) -> Array:
    """Return the products of matrices in the last two axes, as fp16; the others broadcast.

    A sum starts with its `bias`, which broadcasts with the result, and adds the products in the order of the shared
    axis.
    """
    outer = np.broadcast_shapes(rows.shape[:-2], columns.shape[:-2])
    made = np.empty((*outer, rows.shape[-2], columns.shape[-1]), np.float16)
    starts = np.broadcast_to(np.float16(0) if bias is None else bias.astype(np.float16, copy=False), made.shape)
    left = np.broadcast_to(rows, (*outer, *rows.shape[-2:]))
    right = np.broadcast_to(columns, (*outer, *columns.shape[-2:]))
    for batch in np.ndindex(*outer):
        for down, across in _tiles(*made.shape[-2:]):
            place: Index = (*batch, down, across)
            made[place] = sums(left[batch][down], right[batch][:, across], starts[place])
    return made


def _tiles(rows: int, columns: int) -> Iterator[tuple[slice, ...]]:
    """Yield blocks of rows and columns with about AT_ONCE elements each."""
    height = min(rows, max(LEAST_ROWS, AT_ONCE // max(1, columns)))
    for (down,) in blocks((rows,), height):
        for (across,) in blocks((columns,), max(1, AT_ONCE // max(1, height))):
            yield down, across
