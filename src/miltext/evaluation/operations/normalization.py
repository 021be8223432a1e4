"""Rules for normalization."""

from __future__ import annotations

from math import prod

import numpy as np

from miltext.evaluation.operations.pooling import pooled
from miltext.evaluation.operations.windows import Sliding
from miltext.evaluation.rules import Array, Ints, rule


@rule("batch_norm")
def batch_norm(
    x: Array, mean: Array, variance: Array, gamma: Array | None, beta: Array | None, epsilon: float
) -> Array:
    """Return gamma (x - mean) / sqrt(variance + epsilon) + beta, each of a number for every channel (axis 1)."""
    scale = 1 / np.sqrt(variance + epsilon)
    if gamma is not None:
        scale = gamma * scale
    made = x - _by_channel(mean, x)
    made *= _by_channel(scale, x)
    if beta is not None:
        made += _by_channel(beta, x)
    return made


@rule("instance_norm")
def instance_norm(x: Array, gamma: Array | None, beta: Array | None, epsilon: float) -> Array:
    """Return gamma (x - mean) / sqrt(variance + epsilon) + beta, mean and variance those of a channel."""
    factor, offset = (None if each is None else _by_channel(each, x) for each in (gamma, beta))
    return _normalized(x, tuple(range(2, x.ndim)), factor, offset, epsilon)


@rule("layer_norm")
def layer_norm(x: Array, axes: Ints | None, gamma: Array | None, beta: Array | None, epsilon: float) -> Array:
    """Return gamma (x - mean) / sqrt(variance + epsilon) + beta, mean and variance those along `axes`.

    `gamma` and `beta` have the sizes of `x` along `axes`, in the order of the axes of `x`.
    """
    along = range(x.ndim) if axes is None else sorted(axis % x.ndim for axis in axes)
    sizes = [size if axis in along else 1 for axis, size in enumerate(x.shape)]
    factor, offset = (None if each is None else each.reshape(sizes) for each in (gamma, beta))
    return _normalized(x, tuple(along), factor, offset, epsilon)


@rule("l2_norm")
def l2_norm(x: Array, epsilon: float) -> Array:
    """Return x / sqrt(sum of x^2 + epsilon), with the sum over the last three axes."""
    made: Array = x / np.sqrt(np.square(x).sum(axis=(-3, -2, -1), keepdims=True) + epsilon)
    return made


@rule("local_response_norm")
def local_response_norm(x: Array, size: int, alpha: float, beta: float, k: float) -> Array:
    """Return x / (k + alpha / size * sum of x^2) ^ beta, with the sum over `size` channels around each."""
    channels = x.shape[1]
    window = Sliding(channels, size, 1, 1, size // 2, channels, channels + size - 1)
    sums = np.moveaxis(pooled(np.add, np.moveaxis(np.square(x), 1, -1), [window]), -1, 1)
    made: Array = x / (k + alpha / size * sums) ** beta
    return made


def _by_channel(numbers: Array, x: Array) -> Array:
    """Return a number for each channel in a shape that goes with `x`."""
    return numbers.reshape(-1, *(1,) * (x.ndim - 2))


def _normalized(x: Array, axes: Ints, gamma: Array | None, beta: Array | None, epsilon: float) -> Array:
    """Return `x` with mean 0 and variance 1 along axes, times `gamma`, plus `beta`; made in one new array."""
    count = prod(x.shape[axis] for axis in axes)
    made: Array = x - x.sum(axis=axes, keepdims=True) / count
    made *= 1 / np.sqrt(np.square(made).sum(axis=axes, keepdims=True) / count + epsilon)
    if gamma is not None:
        made *= gamma
    if beta is not None:
        made += beta
    return made
