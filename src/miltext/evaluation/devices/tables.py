"""The Neural Engine's lookup tables, made from their formulas, and the line between two entries.

Formulas and grids: table 8-6 of the study's report. The values are plain samples, rounded to the nearest fp16. The
tables of gelu and silu are fitted, and not public.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array


class Grid(NamedTuple):
    """The samples of a function: `size` of them from `start` on, a `step` apart. The first `published` are public."""

    function: Callable[[float], float]
    start: float
    step: float
    size: int
    published: int


GRIDS: dict[str, Grid] = {
    "sigmoid": Grid(lambda x: 1 / (1 + math.exp(-x)), -8, 0.5, 33, 33),
    "tanh": Grid(math.tanh, 0, 0.125, 33, 33),
    "erf": Grid(math.erf, 0, 1 / 16, 33, 33),
    "sin": Grid(math.sin, 0, math.pi / 64, 33, 33),
    "exp": Grid(lambda x: 2.0**x, 0, 1 / 32, 33, 33),
    "log": Grid(math.log2, 0.5, 1 / 64, 33, 29),
    "sqrt": Grid(math.sqrt, 0.5, 1 / 16, 25, 25),
    "rsqrt": Grid(lambda x: 1 / math.sqrt(x), 0.5, 1 / 16, 25, 25),
    "inverse": Grid(lambda x: 1 / x, 0.5, 1 / 64, 33, 29),
}
"""The grid of each table; `curves` describes its use.

After four special values, the tables of log and inverse have room for 29 samples, up to 0.9375. The largest errors that
were published need four more.
"""


@cache
def entries(name: str) -> Array:
    """Return the entries of a table, as fp16."""
    grid = GRIDS[name]
    samples = [grid.function(grid.start + place * grid.step) for place in range(grid.size)]
    return np.array(samples, np.float64).astype(np.float16)
