"""fp16 as the Neural Engine reads and rounds it.

The exponent 31 is an exponent like the others: infinity is 65536, and a NaN is a number above it. The study measured
this in sums and in element-wise operations (numerics3_m6.txt, numerics4_m6.txt). Rounding is to the nearest, halves
away from zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.values import widened

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

EXPONENT, QUIET, FRACTION = 0x7C00, 0x0200, 0x03FF
"""Bits of fp16: the exponent 31, the bit of a quiet NaN, and the fraction."""

AWAY = 1 + 2.0**-40
"""A factor that moves each tie away from zero, and no other number to a tie.

A number to be rounded here has at most 31 significant bits, or is a sum of two fp16 numbers, which is a tie or differs
from one by more than 2^-40 of its size.
"""


def numbers(halves: Array) -> Array:
    """Return fp16 as float32, with the exponent 31 as a number; a signalling NaN is read as a quiet one."""
    bits = halves.view(np.uint16)
    special = (bits & EXPONENT) == EXPONENT
    wide = widened(halves)
    if special.any():
        found = bits[special]
        fraction = (found & FRACTION).astype(np.int32)
        fraction[fraction != 0] |= QUIET
        wide[special] = np.where(found >> 15, -64, 64) * (1024 + fraction)
    return wide


def rounded_away(exact: Array) -> Array:
    """Return float64 numbers as fp16, rounded to the nearest, halves away from zero."""
    return (exact * AWAY).astype(np.float16)
