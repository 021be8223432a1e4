"""Inputs of random numbers, for who has no others: the same for one seed, whichever of them are asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from miltext.diagnostics import MiltextError, error
from miltext.evaluation.values import rounded
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, spelled

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array
    from miltext.schema.types import Type


def random_inputs(
    types: Mapping[str, Type],
    seed: int = 0,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    images: Collection[str] = (),
) -> dict[str, Array]:
    """Return an array for each input: floats of the standard normal distribution, 0 or 1 for integers, true or false.

    Those of `images` are whole numbers from 0 to 255. `shapes` has the shapes of inputs whose types leave them open.
    The numbers of an input depend on the seed, on its name, its type and its shape, and on no other input. Raise
    MiltextError for what random numbers cannot stand for: MIL831 for strings, MIL833 for sizes that are not known.
    """
    known = shapes or {}
    return {name: _numbers(name, each, seed, known.get(name), name in images) for name, each in types.items()}


def _numbers(name: str, type: Type, seed: int, shape: Sequence[int] | None, is_image: bool) -> Array:
    if not isinstance(type, TensorType) or BY_NAME[type.dtype].kind == "string":
        raise _refused(
            "MIL831", f"the input `{name}` is {spelled(type)}, which random numbers cannot stand for; give it"
        )
    sizes = [size for size in (type.shape if shape is None else shape) if size is not None]
    if len(sizes) < len(type.shape):
        raise _refused("MIL833", f"the sizes of the input `{name}`, {spelled(type)}, are not known; choose them")
    generator = np.random.default_rng([seed, crc32(name.encode(errors="surrogateescape"))])
    if is_image:
        return rounded(generator.integers(0, 256, sizes), type.dtype)
    if BY_NAME[type.dtype].kind == "float":
        return rounded(generator.standard_normal(sizes, np.float32), type.dtype)
    return rounded(generator.integers(0, 2, sizes), type.dtype)


def _refused(code: str, message: str) -> MiltextError:
    return MiltextError([error(code, message)])
