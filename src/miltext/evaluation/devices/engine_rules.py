"""Rules for operations of fp16 that the Neural Engine computes in its own way."""

from __future__ import annotations

import numpy as np

from miltext.evaluation.devices.curves import drawn
from miltext.evaluation.devices.halves import numbers, rounded_away
from miltext.evaluation.pointwise import in_pieces
from miltext.evaluation.rules import Array, Held, Ints, Rule, rule

ENGINE: dict[str, Rule] = {}
"""The rules, by operation. Products of matrices have none of their own: their rules `multiply`."""

# ---- element by element: the exact result, rounded once


def _paired(function: np.ufunc, x: Array, y: Array) -> Array:
    """Return the result of add, subtract or multiply, which float64 holds exactly, as fp16."""
    return rounded_away(function(numbers(x), numbers(y), dtype=np.float64))


@rule("add", into=ENGINE)
def add(x: Held, y: Held) -> Held:
    """Return x + y."""
    return _paired(np.add, x, y)


@rule("sub", into=ENGINE)
def sub(x: Held, y: Held) -> Held:
    """Return x - y."""
    return _paired(np.subtract, x, y)


@rule("mul", into=ENGINE)
def mul(x: Held, y: Held) -> Held:
    """Return x * y."""
    return _paired(np.multiply, x, y)


@rule("square", into=ENGINE)
def square(x: Held) -> Held:
    """Return x², as x * x: the study found no table of it."""
    return _paired(np.multiply, x, x)


# ---- by tables


@rule("sigmoid", into=ENGINE)
@in_pieces
def sigmoid(x: Held) -> Held:
    """Return 1 / (1 + e^-x)."""
    return drawn("sigmoid", x)


@rule("tanh", into=ENGINE)
@in_pieces
def tanh(x: Held) -> Held:
    """Return the hyperbolic tangent of x."""
    return drawn("tanh", x)


@rule("erf", into=ENGINE)
@in_pieces
def erf(x: Held) -> Held:
    """Return the error function of x."""
    return drawn("erf", x)


@rule("sin", into=ENGINE)
@in_pieces
def sin(x: Held) -> Held:
    """Return the sine of x."""
    return drawn("sin", x)


@rule("exp", into=ENGINE)
@in_pieces
def exp(x: Held) -> Held:
    """Return e to the power of x."""
    return drawn("exp", x)


@rule("log", into=ENGINE)
@in_pieces
def log(x: Held, epsilon: float | None) -> Held:
    """Return the natural logarithm of x + epsilon, by default 1e-45, which is 0 in fp16."""
    return drawn("log", x, epsilon or 0)


@rule("sqrt", into=ENGINE)
@in_pieces
def sqrt(x: Held) -> Held:
    """Return the square root of x."""
    return drawn("sqrt", x)


@rule("rsqrt", into=ENGINE)
@in_pieces
def rsqrt(x: Held, epsilon: float | None) -> Held:
    """Return 1 / sqrt(x + epsilon), by default 1e-12, which is 0 in fp16."""
    return drawn("rsqrt", x, epsilon or 0)


@rule("inverse", into=ENGINE)
@in_pieces
def inverse(x: Held, epsilon: float | None) -> Held:
    """Return 1 / (x + epsilon), by default 1e-4."""
    return drawn("inverse", x, 1e-4 if epsilon is None else epsilon)


# ---- in steps of fp16

SOFTPLUS_END = 32768
"""From this value of 1 + e^x on, softplus was reported to be 0: log(32768) is 10.4 (apple/coremltools, issue 2687)."""


@rule("softplus", into=ENGINE)
@in_pieces
def softplus(x: Held) -> Held:
    """Return log(1 + e^x) in steps of fp16, and 0 where 1 + e^x is out of range."""
    sums = 1 + np.exp(x.astype(np.float32)).astype(np.float16)
    return np.where(sums >= SOFTPLUS_END, 0, np.log(sums.astype(np.float32))).astype(np.float16)


@rule("reduce_log_sum_exp", into=ENGINE)
def reduce_log_sum_exp(x: Held, axes: Ints | None, keep_dims: bool) -> Held:
    """Return log(sum(e^x)) in steps of fp16, and 0 where the sum is infinite (apple/coremltools, issue 2690)."""
    powers = np.exp(x.astype(np.float32)).astype(np.float16).astype(np.float32)
    sums = np.sum(powers, axis=axes, keepdims=keep_dims).astype(np.float16)
    return np.where(np.isinf(sums), 0, np.log(sums.astype(np.float32))).astype(np.float16)
