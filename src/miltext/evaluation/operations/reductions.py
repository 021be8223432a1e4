"""Rules that make one number of many."""

from __future__ import annotations

import numpy as np

from miltext.evaluation.rules import Array, Ints, rule


@rule("reduce_max")
def reduce_max(x: Array, axes: Ints | None, keep_dims: bool) -> Array:
    """Return the greatest along `axes`, all of them by default."""
    return np.asarray(x.max(axis=axes, keepdims=keep_dims))
