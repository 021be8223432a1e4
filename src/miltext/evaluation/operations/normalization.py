"""Rules for normalization."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from miltext.evaluation.operations.pooling import pooled
from miltext.evaluation.operations.windows import Sliding, parts
from miltext.evaluation.rules import Array, Held, Ints, Widen, rule


@rule("batch_norm")
def batch_norm(
    x: Held, mean: Array, variance: Array, gamma: Array | None, beta: Array | None, epsilon: float, widen: Widen
) -> Held:
    """Return gamma (x - mean) / sqrt(variance + epsilon) + beta, each of a number for every channel (axis 1)."""
    scale = 1 / np.sqrt(variance + epsilon)
    numbers = mean, scale if gamma is None else gamma * scale, beta
    middle, factor, offset = (_by_channel(each, x) for each in numbers)
    made = np.empty(x.shape, x.dtype)
    for batch, channels in parts(x, 2):
        part = widen(x[batch, channels]) - middle[channels]
        made[batch, channels] = _scaled(part, factor[channels], offset if offset is None else offset[channels])
    return made


@rule("instance_norm")
def instance_norm(x: Held, gamma: Array | None, beta: Array | None, epsilon: float, widen: Widen) -> Held:
    """Return gamma (x - mean) / sqrt(variance + epsilon) + beta, with the mean and variance of each channel."""
    made, axes = np.empty(x.shape, x.dtype), tuple(range(2, x.ndim))
    for batch, channels in parts(x, 2):
        factor, offset = (None if each is None else _by_channel(each, x)[channels] for each in (gamma, beta))
        made[batch, channels] = _scaled(_normalized(widen(x[batch, channels]), axes, epsilon), factor, offset)
    return made


@rule("layer_norm")
def layer_norm(
    x: Held, axes: Ints | None, gamma: Array | None, beta: Array | None, epsilon: float, widen: Widen
) -> Held:
    """Return gamma (x - mean) / sqrt(variance + epsilon) + beta, with the mean and variance along `axes`.

    `gamma` and `beta` have the sizes of `x` along `axes`, in the order of the axes of `x`.
    """
    along = tuple(range(x.ndim) if axes is None else sorted({axis % x.ndim for axis in axes}))
    sizes = [size if axis in along else 1 for axis, size in enumerate(x.shape)]
    factor, offset = (None if each is None else each.reshape(sizes) for each in (gamma, beta))
    made = np.empty(x.shape, x.dtype)
    for part in parts(x, min(along, default=0)):
        made[part] = _scaled(_normalized(widen(x[part]), along, epsilon), factor, offset)
    return made


@rule("l2_norm")
def l2_norm(x: Held, epsilon: float, widen: Widen) -> Held:
    """Return x / sqrt(sum of x^2 + epsilon), with the sum over the last three axes."""
    made = np.empty(x.shape, x.dtype)
    for part in parts(x, x.ndim - 3):
        wide = widen(x[part])
        made[part] = wide / np.sqrt(np.square(wide).sum(axis=(-3, -2, -1), keepdims=True) + epsilon)
    return made


@rule("local_response_norm")
def local_response_norm(x: Held, size: int, alpha: float, beta: float, k: float, widen: Widen) -> Held:
    """Return x / (k + alpha / size * sum of x^2) ^ beta, with the sum over `size` channels around each."""
    window = Sliding(x.shape[1], size, 1, 1, size // 2, x.shape[1], x.shape[1] + size - 1)
    made = np.empty(x.shape, x.dtype)
    source, target = np.moveaxis(x, 1, -1), np.moveaxis(made, 1, -1)
    for part in parts(source, x.ndim - 1):
        wide = widen(source[part])
        target[part] = wide / (k + alpha / size * pooled(np.add, np.square(wide), [window])) ** beta
    return made


def _by_channel(numbers: Any, x: Held) -> Any:
    """Return a number for each channel in a shape that broadcasts with `x`; None if there are none."""
    return None if numbers is None else numbers.reshape(-1, *(1,) * (x.ndim - 2))


def _normalized(x: Array, axes: Ints, epsilon: float) -> Array:
    """Return `x` with mean 0 and variance 1 along axes, as a new array."""
    count = prod(x.shape[axis] for axis in axes)
    made: Array = x - x.sum(axis=axes, keepdims=True) / count
    made *= 1 / np.sqrt(np.square(made).sum(axis=axes, keepdims=True) / count + epsilon)
    return made


def _scaled(made: Array, factor: Array | None, offset: Array | None) -> Array:
    """Return a new array times a factor plus an offset, in its place."""
    if factor is not None:
        made *= factor
    if offset is not None:
        made += offset
    return made
