"""Rules that create tensors: filled, counted, random ones."""

from __future__ import annotations

from math import ceil, isfinite
from typing import Any

import numpy as np

from miltext.evaluation.operations.counts import count_of
from miltext.evaluation.rules import Array, Held, Ints, Made, Random, UnfitValues, rule
from miltext.evaluation.values import CARRIERS
from miltext.schema.types import show


@rule("fill")
def fill(shape: Ints, value: Held) -> Held:
    """Return a tensor of `shape` with `value` as each element."""
    return np.full(_sizes(shape), value, value.dtype)


@rule("fill_like")
def fill_like(ref_tensor: Held, value: Held) -> Held:
    """Return a tensor of the shape of `ref_tensor` with `value` as each element."""
    return np.full(ref_tensor.shape, value, value.dtype)


@rule("range_1d")
def range_1d(end: float, start: float, step: float, made: Made) -> Array:
    """Return start + i * step for i = 0, 1, ... as long as the number is before `end`; ceil((end - start) / step)
    numbers.
    """
    if not step:
        raise UnfitValues("`step` is 0")
    steps = (end - start) / step
    if not isfinite(steps):
        raise UnfitValues(f"`step` is {step}, and does not lead from `start`, {start}, to `end`, {end}")
    return start + np.arange(max(0, count_of(steps, ceil, made[0], 0))) * step


def _sizes(shape: Ints) -> Ints:
    if min(shape, default=0) < 0:
        raise UnfitValues(f"`shape` is {show(shape)}, and a size cannot be negative")
    return shape


# ---- random numbers; a seed of the op's own gives the same ones at each run


@rule("random_uniform")
def random_uniform(shape: Ints, low: float, high: float, seed: int, made: Made, random: Random) -> Array:
    """Return uniformly distributed numbers, at least `low` and less than `high`."""
    declared: Any = made[0]
    dtype = CARRIERS[declared.dtype]
    drawn = (low + (high - low) * _generator(seed, random).random(_sizes(shape))).astype(dtype)
    below = np.nextafter(dtype.type(high), dtype.type(low))  # for numbers that rounding to the data type makes `high`
    return np.where(drawn == dtype.type(high), below, drawn)


@rule("random_normal")
def random_normal(shape: Ints, mean: float, stddev: float, seed: int, random: Random) -> Array:
    """Return mean + stddev * z for numbers z of the standard normal distribution."""
    return mean + stddev * _generator(seed, random).standard_normal(_sizes(shape))


@rule("random_bernoulli")
def random_bernoulli(shape: Ints, prob: float, seed: int, random: Random) -> Array:
    """Return ones with a probability of `prob`, else zeros."""
    return _generator(seed, random).random(_sizes(shape)) < prob


@rule("random_categorical")
def random_categorical(x: Array, mode: str, size: int, seed: int, random: Random) -> Array:
    """Return `size` positions along the last axis of `x`, drawn with replacement from its distribution.

    `x` contains probabilities ("probs") or their logarithms ("logits"), up to a factor.
    """
    if not x.shape[-1]:
        raise UnfitValues("`x` has rows without elements, from which nothing can be drawn")
    weights = x.astype(np.float64)
    if mode == "logits":
        weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    sums = weights.cumsum(axis=-1)
    if not (weights >= 0).all() or not np.isfinite(sums[..., -1:]).all() or not sums[..., -1:].all():
        raise UnfitValues("`x` has a row that is not a distribution")
    rows = sums.reshape(-1, x.shape[-1]) / sums[..., -1:].reshape(-1, 1)
    firsts = np.arange(len(rows))[:, np.newaxis]  # row after row, the sums go up from 0 to the number of rows
    drawn = _generator(seed, random).random((len(rows), size)) + firsts
    places = np.searchsorted((rows + firsts).reshape(-1), drawn, side="right") - firsts * x.shape[-1]
    return np.reshape(places.clip(0, x.shape[-1] - 1), (*x.shape[:-1], size))


def _generator(seed: int, random: Random) -> Random:
    """Return the generator of an op's numbers: a new one from the op's seed, or the run's generator for the seed -1."""
    return random if seed == -1 else np.random.default_rng(seed % (1 << 32))
