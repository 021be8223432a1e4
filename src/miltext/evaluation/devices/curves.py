"""Functions that the Neural Engine computes by lookup tables, and lines between their entries.

The recipes reproduce the largest errors that the study published for grids of inputs (f3_lut_m6.txt, lut_ulp_m6.txt).
They are not proven bit by bit: `facts` states how far each of them goes. The engine's results for infinities, NaN and
numbers outside of a function's domain are unknown; here they follow IEEE 754.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.evaluation.devices.halves import rounded_away
from miltext.evaluation.devices.tables import GRIDS, entries

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

SIGMOID_END, SIGMOID_SLOPE = 9.9375, 1.735e-4
"""Where the line beyond sigmoid's table reaches 0, and its slope: the maxima allow 1.7316e-4 to 1.7386e-4."""

ERF_SLOPE = 0.0129
"""The slope of the line beyond erf's table: the maxima allow 0.01276 to 0.01304."""

LOG2_E, LN_2 = (float(np.float16(number)) for number in (math.log2(math.e), math.log(2)))


def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x): a table within 8, then a line to 0 and to 1."""
    size = np.abs(x)
    inside = _looked_up("sigmoid", np.clip((x + 8) * 2, 0, 32))
    low = np.maximum(0, (SIGMOID_END - size) * SIGMOID_SLOPE)
    return np.where(size <= 8, inside, np.where(x < 0, low, 1 - low))


def tanh(x: Array) -> Array:
    """Return the hyperbolic tangent: a table up to 4, then 1."""
    size = np.abs(x)
    return np.copysign(np.where(size < 4, _looked_up("tanh", np.minimum(size * 8, 32)), 1), x)


def erf(x: Array) -> Array:
    """Return the error function: a table up to 2, then a line to 1."""
    size = np.abs(x)
    beyond = np.minimum(1, float(entries("erf")[-1]) + (size - 2) * ERF_SLOPE)
    return np.copysign(np.where(size < 2, _looked_up("erf", np.minimum(size * 16, 32)), beyond), x)


def sin(x: Array) -> Array:
    """Return the sine, by a table of a quarter wave; the engine's reduction of the argument is not known."""
    turn = np.mod(np.abs(x) / GRIDS["sin"].step, 128)
    half = np.mod(turn, 64)
    return np.copysign(_looked_up("sin", np.minimum(half, 64 - half)), np.where(turn < 64, x, -x))


def exp(x: Array) -> Array:
    """Return e^x as 2^z: the whole part of z is the exponent, and a table has 2 to the power of the fraction."""
    z = _fp16(x * LOG2_E)
    whole = np.floor(z)
    return np.ldexp(_fp16(_looked_up("exp", (z - whole) * 32)), np.clip(whole, -64, 64).astype(np.int32))


def log(x: Array) -> Array:
    """Return the natural logarithm: the sum of a table's binary logarithm and the exponent, times log 2."""
    fraction, exponent = np.frexp(x)
    made: Array = _fp16(_fp16(_looked_up("log", (fraction - 0.5) * 64)) + exponent) * LN_2
    return made


def sqrt(x: Array) -> Array:
    """Return the square root, by a table from 0.5 to 2 and half of the exponent."""
    fraction, half = _paired(x)
    return np.ldexp(_fp16(_looked_up("sqrt", (fraction - 0.5) * 16)), half)


def rsqrt(x: Array) -> Array:
    """Return 1 / sqrt(x), by a table from 0.5 to 2 and half of the exponent."""
    fraction, half = _paired(x)
    return np.ldexp(_fp16(_looked_up("rsqrt", (fraction - 0.5) * 16)), -half)


def inverse(x: Array) -> Array:
    """Return 1 / x, by a table from 0.5 to 1 and the exponent."""
    fraction, exponent = np.frexp(np.abs(x))
    return np.copysign(np.ldexp(_fp16(_looked_up("inverse", (fraction - 0.5) * 64)), -exponent), x)


def drawn(name: str, x: Array, epsilon: float = 0) -> Array:
    """Return a function of fp16 numbers plus epsilon, as fp16; the sums are rounded to fp16 first."""
    curve, ordinary, (least, greatest) = CURVES[name]
    wide = x.astype(np.float64)
    if epsilon:
        wide = _fp16(wide + float(np.float16(epsilon)))
    is_regular = (wide > least) & (wide < greatest) & ((wide != 0) | (name != "inverse"))
    regular = np.where(is_regular, wide, 1)
    return np.where(is_regular, rounded_away(curve(regular)), ordinary(wide).astype(np.float16))


def _looked_up(name: str, place: Array) -> Array:
    """Return the value of a table at places between its entries, as float64, before the last rounding.

    The product of the slope is rounded to fp16.
    """
    table = entries(name).astype(np.float64)
    first = np.clip(np.floor(place), 0, len(table) - 2).astype(np.intp)
    made: Array = table[first] + _fp16((table[first + 1] - table[first]) * (place - first))
    return made


def _fp16(exact: Array) -> Array:
    """Return numbers rounded to fp16, as float64."""
    return rounded_away(exact).astype(np.float64)


def _paired(x: Array) -> tuple[Array, Array]:
    """Return a fraction in [0.5, 2), and half of the remaining exponent."""
    fraction, exponent = np.frexp(x)
    odd = exponent % 2
    return fraction * (1 + odd), (exponent - odd) // 2


def _sigmoid_at_end(x: Array) -> Array:
    return np.where(np.isnan(x), x, x > 0)


class Curve(NamedTuple):
    """A function by its table, as in IEEE 754, and the open range of the numbers that the table serves."""

    by_table: Callable[[Array], Array]
    ordinary: Callable[[Array], Array]
    range: tuple[float, float]


EVERYWHERE, POSITIVE = (-np.inf, np.inf), (0.0, np.inf)

CURVES: dict[str, Curve] = {
    "sigmoid": Curve(sigmoid, _sigmoid_at_end, EVERYWHERE),
    "tanh": Curve(tanh, np.tanh, EVERYWHERE),
    "erf": Curve(erf, np.sign, EVERYWHERE),
    "sin": Curve(sin, np.sin, EVERYWHERE),
    "exp": Curve(exp, np.exp, EVERYWHERE),
    "log": Curve(log, np.log, POSITIVE),
    "sqrt": Curve(sqrt, np.sqrt, POSITIVE),
    "rsqrt": Curve(rsqrt, lambda x: 1 / np.sqrt(x), POSITIVE),
    "inverse": Curve(inverse, np.reciprocal, EVERYWHERE),
}
"""The functions by name."""
