"""Inputs for proofs: random numbers, and the numbers at which arithmetic changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.random_inputs import random_inputs
from miltext.evaluation.values import rounded
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array
    from miltext.schema.types import Type

SEEDS = 4
"""The number of random inputs of each kind."""

SCALES = (1.0, 1e-3, 30.0)
"""The factors of random inputs."""

EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 10.4, 11.0, -11.0, 11.1, 88.8, -104.0, 200.0, 256.0, -256.0, 2048.0, 2049.0,
    65504.0, -65504.0, 65520.0, 2.0**-14, -(2.0**-14), 2.0**-24, 2.0**-25, 1e-30, 3.4e38, -3.4e38, 1e-45,
)  # fmt: skip
"""Finite numbers: both zeros, the limits of fp16 and fp32, and arguments at which functions overflow in them."""

WILD = (np.inf, -np.inf, np.nan)
"""Numbers that are not finite."""


def proving_inputs(types: Mapping[str, Type], domain: float | None) -> Iterator[dict[str, Array]]:
    """Yield the inputs of a proof, with sizes for all dimensions; `domain` is the greatest magnitude of finite numbers,
    None to include infinities and NaN.

    Raise MiltextError as `random_inputs` does.
    """
    for seed in range(SEEDS):
        for scale in SCALES:
            made = random_inputs(types, seed)
            yield {name: _scaled(array, types[name], scale, domain) for name, array in made.items()}
        yield _of_edges(types, seed, EDGES, domain)
        if domain is None:
            yield _of_edges(types, seed, (*EDGES, *WILD), domain)
            yield from _with_one(types, seed)


def _scaled(array: Array, type: Type, scale: float, domain: float | None) -> Array:
    assert isinstance(type, TensorType), "random inputs are tensors"
    if array.dtype.kind != "f":
        return array
    most = np.inf if domain is None else domain
    return rounded(np.clip(array.astype(np.float64) * scale, -most, most), type.dtype)


def _of_edges(types: Mapping[str, Type], seed: int, edges: tuple[float, ...], domain: float | None) -> dict[str, Array]:
    """Return inputs of edges in random order, each as often as the others."""
    generator = np.random.default_rng([seed, len(edges)])
    most = np.inf if domain is None else domain
    allowed = [each for each in edges if not abs(each) > most]
    return {
        name: _tiled(generator, allowed, types[name], array) if array.dtype.kind == "f" else array
        for name, array in random_inputs(types, seed).items()
    }


@np.errstate(over="ignore")
def _tiled(generator: np.random.Generator, edges: list[float], type: Type, like: Array) -> Array:
    """Return edges of a data type; those beyond its range are left out, unless they are infinite themselves."""
    assert isinstance(type, TensorType), "random inputs are tensors"
    numbers = rounded(np.array(edges, np.float64), type.dtype)
    fitting = numbers[np.isfinite(numbers) | ~np.isfinite(np.array(edges))]
    times = -(-like.size // max(len(fitting), 1))
    return generator.permutation(np.tile(fitting, max(times, 1)))[: like.size].reshape(like.shape)


def _with_one(types: Mapping[str, Type], seed: int) -> Iterator[dict[str, Array]]:
    """Yield random inputs in which one element of each is not finite, and inputs of zeros of one sign."""
    for wild in (*WILD, 0.0, -0.0):
        made = {}
        for name, array in random_inputs(types, seed).items():
            made[name] = array = array.copy()
            if array.dtype.kind == "f" and array.size:
                if wild == 0:
                    array[...] = wild
                else:
                    array.reshape(-1)[seed % array.size] = wild
        yield made
