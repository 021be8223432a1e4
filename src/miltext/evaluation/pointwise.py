"""Functions of each element: computation by pieces, limits of fp16, and the error function, which numpy lacks."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array, Held

PIECE = 16384
"""Number of elements of a piece: its intermediate values stay in the cache."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def in_pieces(function: _Function) -> _Function:
    """Return a function that applies another one to flat pieces of `x`, which returns arrays of their shape and
    dtype.
    """

    @functools.wraps(function)
    def done(x: Array, *settings: Any, **others: Any) -> Any:
        if 0 < x.size <= PIECE and x.flags.c_contiguous:
            return function(x.reshape(-1), *settings, **others).reshape(x.shape).astype(x.dtype, copy=False)
        walk = np.nditer(
            [x, None],
            flags=["external_loop", "buffered", "zerosize_ok"],
            op_flags=[["readonly"], ["writeonly", "allocate"]],
            buffersize=PIECE,
        )
        with walk:
            for piece, result in walk:
                result[...] = function(piece, *settings, **others)
            return walk.operands[1]

    return cast("_Function", done)


def bounded(x: Held, low: float, high: float) -> Held:
    """Return min(max(x, low), high) of floats; for fp16 by its bits, since a limit needs no conversion to float32."""
    if np.isnan(low) or np.isnan(high):  # no limits to `clip` of numpy 1
        return np.minimum(np.maximum(x, low), high)
    if x.dtype != np.float16:
        return np.clip(x, low, high)
    keys, (none, least, most, infinite) = _keys(x), _keys(np.array([-np.inf, low, high, np.inf]).astype(np.float16))
    if keys.min(initial=none) < none or keys.max(initial=infinite) > infinite:  # NaN
        return np.clip(x.astype(np.float32), low, high)
    made: Held = _keys(np.clip(keys, least, most).view(np.float16)).view(np.float16)
    return made


def _keys(halves: Held) -> Array:
    """Return fp16 numbers as integers in the same order; for such integers, viewed as fp16, return the bits of the
    numbers.
    """
    bits = halves.view(np.int16)
    return bits ^ (bits >> np.int16(15) & np.int16(0x7FFF))  # numpy 1 widens a number beside an int


def erf(x: Array) -> Array:
    """Return the error function of floats: 2 / sqrt(pi) times the integral of e^-t² for t from 0 to x.

    It is 1 - e^(-t q(t)) for t = |x|, where q is a polynomial: within 3 units in the last place of float32, and within
    1e-14 in float64. fp16 is computed in float32.
    """
    precise = x.dtype == np.float64
    numbers = x if precise else x.astype(np.float32, copy=False)
    end, coefficients = _exponent(precise)
    size = np.minimum(np.abs(numbers), end)
    exponent = np.full_like(size, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        exponent *= size
        exponent += coefficient
    exponent *= -size
    return np.copysign(np.expm1(exponent), numbers).astype(x.dtype, copy=False)


@functools.cache
def _exponent(precise: bool) -> tuple[float, list[float]]:
    """Return the coefficients of q, by rising power, and where erf is 1 in float32, or in float64 if `precise`.

    Higher degrees do not make the largest error smaller: the rest is rounding.
    """
    from numpy.polynomial import Chebyshev, Polynomial

    end, degree = (6.0, 28) if precise else (4.0, 10)
    curve = Chebyshev.interpolate(np.vectorize(_quotient), degree, domain=[0, end])
    return end, curve.convert(kind=Polynomial).coef.tolist()


def _quotient(t: float) -> float:
    """Return -log(1 - erf(t)) / t for t > 0."""
    return -(math.log1p(-math.erf(t)) if t < 0.5 else math.log(math.erfc(t))) / t
