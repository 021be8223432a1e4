"""Rules that join and split tensors."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from miltext.evaluation.rules import Held, Helds, Ints, UnfitValues, rule
from miltext.schema.types import show


@rule("concat")
def concat(values: Helds, axis: int, interleave: bool) -> Held:
    """Return `values`, one after another along `axis`; scalars as a vector.

    With `interleave`, element i of value v along `axis` comes to place i * (number of values) + v.
    """
    if interleave:
        return _interleaved([np.atleast_1d(value) for value in values], axis)
    return np.concatenate([np.atleast_1d(value) for value in values], axis)


def _interleaved(values: Helds, axis: int) -> Held:
    shape = values[0].shape
    place = axis % len(shape)
    return np.stack(values, place + 1).reshape(*shape[:place], shape[place] * len(values), *shape[place + 1 :])


@rule("stack")
def stack(values: Helds, axis: int) -> Held:
    """Return `values` along a further dimension, which is `axis` of the result."""
    return np.stack(values, axis)


@rule("split")
def split(x: Held, num_splits: int | None, split_sizes: Ints | None, axis: int) -> tuple[Held, ...]:
    """Return the parts of `x` along `axis`: `num_splits` of one size, or of `split_sizes`."""
    size = x.shape[axis]
    if split_sizes is None:
        if not num_splits or size % num_splits:
            raise UnfitValues(
                f"`num_splits` is {num_splits}, and `axis` {axis} of `x` has {size}, which is not a multiple"
            )
        split_sizes = (size // num_splits,) * num_splits
    if min(split_sizes, default=0) < 0 or sum(split_sizes) != size:
        raise UnfitValues(f"`split_sizes` are {show(split_sizes)}, and `axis` {axis} of `x` has {size}")
    return tuple(np.split(x, list(accumulate(split_sizes))[:-1], axis))
