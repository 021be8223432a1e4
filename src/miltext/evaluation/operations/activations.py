"""Rules for activations.

The formulas come from coremltools' docstrings (iOS15/activation.py), written so that nothing overflows where the result
is finite. A line that bends at 0 is the sum of two, max(x, 0) and a slope times min(x, 0): numpy's `where` is slower on
random signs.
"""

from __future__ import annotations

import numpy as np

from miltext.evaluation.pointwise import bounded, erf, in_pieces
from miltext.evaluation.rules import Array, Held, rule

# ---- bent lines


@rule("relu")
def relu(x: Array) -> Array:
    """Return max(x, 0)."""
    return np.maximum(x, 0)


@rule("relu6")
def relu6(x: Held) -> Held:
    """Return min(max(x, 0), 6)."""
    return bounded(x, 0, 6)


@rule("leaky_relu")
@in_pieces
def leaky_relu(x: Array, alpha: float) -> Array:
    """Return x where x >= 0, alpha * x elsewhere."""
    return _bent(x, alpha)


@rule("prelu")
def prelu(x: Array, alpha: Array) -> Array:
    """Return x where x > 0, alpha * x elsewhere; each channel, along the second axis, has its own alpha."""
    return _bent(x, _by_channel(alpha, x))


@rule("clamped_relu")
@in_pieces
def clamped_relu(x: Array, alpha: float, beta: float) -> Array:
    """Return min(x, beta) where x >= 0, min(alpha * x, beta) elsewhere."""
    return np.minimum(_bent(x, alpha), beta)


@rule("thresholded_relu")
@in_pieces
def thresholded_relu(x: Array, alpha: float) -> Array:
    """Return x where x >= alpha, 0 elsewhere; NaN stays."""
    return np.where(x < alpha, 0, x)


@rule("linear_activation")
@in_pieces
def linear_activation(x: Array, alpha: float, beta: float) -> Array:
    """Return alpha * x + beta."""
    return alpha * x + beta


@rule("sigmoid_hard")
@in_pieces
def sigmoid_hard(x: Array, alpha: float, beta: float) -> Array:
    """Return min(max(alpha * x + beta, 0), 1)."""
    return np.clip(alpha * x + beta, 0, 1)


def _bent(x: Array, slope: float | Array) -> Array:
    return np.maximum(x, 0) + slope * np.minimum(x, 0)


def _by_channel(numbers: Array, x: Array) -> Array:
    """Return one number for each channel, in the shape that broadcasts with x."""
    return numbers.reshape(-1, *[1] * (x.ndim - 2))


# ---- curves


@rule("sigmoid")
@in_pieces
def sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x)."""
    return _sigmoid(x)


@rule("silu")
@in_pieces
def silu(x: Array) -> Array:
    """Return x * sigmoid(x)."""
    return x * _sigmoid(x)


@rule("gelu")
@in_pieces
def gelu(x: Array, mode: str) -> Array:
    """Return x times the probability that a standard normal number is below x, exactly or approximately.

    `EXACT` is 0.5 * x * (1 + erf(x / sqrt(2))), `TANH_APPROXIMATION` 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 *
    x³))), `SIGMOID_APPROXIMATION` x * sigmoid(1.702 * x).
    """
    if mode == "TANH_APPROXIMATION":
        return 0.5 * x * (1 + np.tanh(x * (0.7978845608028654 + 0.035677408136300125 * np.square(x))))
    if mode == "SIGMOID_APPROXIMATION":
        return x * _sigmoid(1.702 * x)
    return 0.5 * x * (1 + erf(0.7071067811865476 * x))


@rule("elu")
@in_pieces
def elu(x: Array, alpha: float) -> Array:
    """Return x where x > 0, alpha * (e^x - 1) elsewhere."""
    return np.maximum(x, 0) + alpha * np.expm1(np.minimum(x, 0))


@rule("scaled_tanh")
@in_pieces
def scaled_tanh(x: Array, alpha: float, beta: float) -> Array:
    """Return alpha * tanh(beta * x)."""
    return alpha * np.tanh(beta * x)


@rule("softsign")
@in_pieces
def softsign(x: Array) -> Array:
    """Return x / (1 + |x|)."""
    return x / (1 + np.abs(x))


@rule("softplus")
@in_pieces
def softplus(x: Array) -> Array:
    """Return log(1 + e^x)."""
    return _softplus(x)


@rule("softplus_parametric")
def softplus_parametric(x: Array, alpha: Array, beta: Array) -> Array:
    """Return alpha * log(1 + e^(beta * x)); each channel, along the second axis, has its own alpha and beta."""
    return _by_channel(alpha, x) * _softplus(_by_channel(beta, x) * x)


@rule("softmax")
def softmax(x: Array, axis: int) -> Array:
    """Return e^x / sum(e^x) along `axis`, as e^(x - max(x)) / sum(e^(x - max(x)))."""
    powers = np.asarray(x - np.max(x, axis=axis, keepdims=True, initial=-np.inf))  # a scalar, of rank 0
    np.exp(powers, out=powers)
    return np.divide(powers, np.sum(powers, axis=axis, keepdims=True), out=powers)


def _sigmoid(x: Array) -> Array:
    """Return 1 / (1 + e^-x), as e^x / (1 + e^x) below 0."""
    return np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))


def _softplus(x: Array) -> Array:
    """Return log(1 + e^x), as max(x, 0) + log(1 + e^-|x|)."""
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))
