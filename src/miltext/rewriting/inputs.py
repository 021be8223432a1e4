"""Inputs for proofs: random numbers, and the numbers at which arithmetic changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.random_inputs import random_inputs
from miltext.evaluation.values import rounded
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.evaluation.features import Feature
    from miltext.evaluation.rules import Array
    from miltext.schema.types import Type

SEEDS = 4
"""The number of random inputs of each kind."""

ENOUGH = 1000
"""The number of elements enough for one random input of each kind: edges stand in it many times."""

INNER_STEPS = 200_000
"""The most operations in inner blocks on drawn inputs: an edge value may make a loop endless."""

INNER_STEPS_AFTER = 10 * INNER_STEPS
"""The same after a change, which may be into more operations."""

SCALES = (1.0, 1e-3, 30.0)
"""The factors of random inputs."""

EDGES = (
    0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 10.4, 11.0, -11.0, 11.1, 88.8, -104.0, 200.0, 256.0, -256.0, 2048.0, 2049.0,
    65504.0, -65504.0, 65520.0, 2.0**-14, -(2.0**-14), 2.0**-24, 2.0**-25, 1e-30, 3.4e38, -3.4e38, 1e-45,
)  # fmt: skip
"""Finite numbers: both zeros, the limits of fp16 and fp32, and arguments at which functions overflow in them."""

WILD = (np.inf, -np.inf, np.nan)
"""Infinite numbers and NaN."""

INTEGERS = (
    0, 1, -1, 2, 3, -3, 10, 127, 128, -128, -129, 255, 256, 2049, 32767, 32768, -32768, -32769, 65504, 65505, 65535,
    65536, 2**24 + 1, -(2**24) - 1, 2**31 - 1, -(2**31),
)  # fmt: skip
"""Integers: the limits of all types of integers, and the first numbers that fp16 and fp32 round."""

SIZING = frozenset("fill fill_like one_hot pad range_1d resize tile".split())
"""The operations whose integers state the size of a result: large ones would fill the memory."""


def takes_integers(op_types: Iterable[str]) -> bool:
    """Return whether operations of these types take INTEGERS."""
    return not any(each in SIZING or each.startswith("random_") for each in op_types)


@dataclass(frozen=True)
class InputDrawer:
    """Draws the inputs of a proof, with sizes for all dimensions.

    `domain` is the greatest magnitude of finite numbers, None to include infinities and NaN. `features` describe the
    inputs. Integers are 0 and 1, and with `integers` also the limits of their types. The methods raise MiltextError as
    `random_inputs` does.
    """

    types: Mapping[str, Type]
    domain: float | None = None
    features: Mapping[str, Feature] | None = None
    integers: bool = False

    def inputs(self) -> Iterator[dict[str, Array]]:
        """Yield all inputs of a proof."""
        for seed in range(SEEDS if self._are_small() else 1):
            yield from self.random(seed)
            yield from self.edges(seed)

    def _are_small(self) -> bool:
        """Return whether there are inputs, of few elements."""
        return bool(self.types) and min(each.size for each in self._drawn(0).values()) < ENOUGH

    def random(self, seed: int) -> Iterator[dict[str, Array]]:
        """Yield random inputs of several scales; for a function without inputs once."""
        for scale in SCALES if self.types else SCALES[:1]:
            yield {name: self._scaled(array, self.types[name], scale) for name, array in self._drawn(seed).items()}

    def edges(self, seed: int) -> Iterator[dict[str, Array]]:
        """Yield inputs with edge values; none for a function without inputs."""
        if not self.types:
            return
        yield self._of_edges(seed, EDGES)
        if self.domain is None:
            yield self._of_edges(seed, (*EDGES, *WILD))
            yield from self._with_one(seed)

    def _drawn(self, seed: int) -> dict[str, Array]:
        return random_inputs(self.types, seed, features=self.features)

    @property
    def _most(self) -> float:
        return np.inf if self.domain is None else self.domain

    def _scaled(self, array: Array, type: Type, scale: float) -> Array:
        assert isinstance(type, TensorType), "random inputs are tensors"
        if array.dtype.kind != "f":
            return array
        return rounded(np.clip(array.astype(np.float64) * scale, -self._most, self._most), type.dtype)

    def _of_edges(self, seed: int, edges: tuple[float, ...]) -> dict[str, Array]:
        """Return inputs of edges in random order, each as often as the others."""
        generator = np.random.default_rng([seed, len(edges)])
        allowed = [each for each in edges if not abs(each) > self._most]
        made = self._drawn(seed)
        for name, array in made.items():
            if array.dtype.kind == "f":
                made[name] = _tiled(generator, _floats(allowed, self.types[name]), array)
            elif array.dtype.kind in "iu" and self.integers:
                made[name] = _tiled(generator, _integers(self.types[name]), array)
        return made

    def _with_one(self, seed: int) -> Iterator[dict[str, Array]]:
        """Yield random inputs in which one element of each is not finite, and inputs of zeros of one sign."""
        for wild in (*WILD, 0.0, -0.0):
            made = {}
            for name, array in self._drawn(seed).items():
                made[name] = array = array.copy()
                if array.dtype.kind == "f" and array.size:
                    if wild == 0:
                        array[...] = wild
                    else:
                        array.reshape(-1)[seed % array.size] = wild
            yield made


@np.errstate(over="ignore")
def _floats(edges: list[float], type: Type) -> Array:
    """Return edges of a data type; those beyond its range are left out, unless they are infinite themselves."""
    assert isinstance(type, TensorType), "random inputs are tensors"
    numbers = rounded(np.array(edges, np.float64), type.dtype)
    return np.asarray(numbers[np.isfinite(numbers) | ~np.isfinite(np.array(edges))])


def _integers(type: Type) -> Array:
    """Return the INTEGERS within a data type."""
    assert isinstance(type, TensorType), "random inputs are tensors"
    dtype = BY_NAME[type.dtype]
    fitting = [each for each in INTEGERS if dtype.minimum <= each <= dtype.maximum]
    return rounded(np.array(fitting, np.int64), type.dtype)


def _tiled(generator: np.random.Generator, numbers: Array, like: Array) -> Array:
    """Return numbers in random order, each as often as the others, in the shape of an array."""
    times = -(-like.size // max(len(numbers), 1))
    return generator.permutation(np.tile(numbers, max(times, 1)))[: like.size].reshape(like.shape)
