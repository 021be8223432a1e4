"""Random inputs: for a seed, each is the same in any selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError, Note, codes, error
from miltext.evaluation.features import NOTHING_SAID
from miltext.evaluation.inputs import Refused, refuse_shape
from miltext.evaluation.values import rounded
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, known_sizes, show, spelled

if TYPE_CHECKING:
    from miltext.evaluation.features import Feature
    from miltext.evaluation.rules import Array
    from miltext.schema.types import Type


def random_inputs(
    types: Mapping[str, Type],
    seed: int = 0,
    *,
    features: Mapping[str, Feature] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> dict[str, Array]:
    """Return an array for each input: floats of the standard normal distribution, 0 or 1 for integers, true or false.

    An image, by its feature, is of whole numbers from 0 to 255. An input whose type leaves sizes open has its feature's
    default shape, or its shape in `shapes`. The numbers of an input depend on the seed, on its name, its type and its
    shape, and on no other input. Raise MiltextError for inputs without random numbers: MIL831 for strings, MIL833 for
    unknown sizes.
    """
    known, chosen = features or {}, shapes or {}
    sizes = {name: _shape(name, each, known.get(name, NOTHING_SAID), chosen.get(name)) for name, each in types.items()}
    return {
        name: _numbers(name, each.dtype, shape, seed, is_image=known.get(name, NOTHING_SAID).image is not None)
        for name, (each, shape) in sizes.items()
    }


def _shape(name: str, type: Type, feature: Feature, chosen: Sequence[int] | None) -> tuple[TensorType, tuple[int, ...]]:
    """Return the type of an input that can be random, and its shape."""
    if not isinstance(type, TensorType) or BY_NAME[type.dtype].kind == "string":
        message = f"the input `{name}` is {spelled(type)}, which cannot be random numbers"
        raise _refused(codes.MISSING_INPUT, message, "give its value, with its name")
    shape = next((each for each in (chosen, known_sizes(type.shape), feature.default) if each is not None), None)
    if shape is None:
        message = f"the input `{name}`, {spelled(type)}, has open sizes"
        way = f'give it with the wanted sizes, or random numbers of such sizes by `shapes={{"{name}": SIZES}}`'
        raise _refused(codes.WRONG_INPUT_SHAPE, message, way)
    try:
        refuse_shape(f"the input {named(name)}", tuple(shape), type, feature)
    except Refused as refused:
        raise MiltextError([refused.diagnostic]) from None
    return type, tuple(shape)


def _numbers(name: str, dtype: str, shape: tuple[int, ...], seed: int, *, is_image: bool) -> Array:
    generator = np.random.default_rng([seed, crc32(name.encode(errors="surrogateescape"))])
    try:
        if not is_image and BY_NAME[dtype].kind == "float":
            return rounded(generator.standard_normal(shape, np.float32), dtype)
        return rounded(generator.integers(0, 256 if is_image else 2, shape), dtype)
    except (MemoryError, ValueError) as failure:
        message = f"the input `{name}` of the shape {show(shape)} does not fit into memory"
        raise _refused(codes.WRONG_INPUT_SHAPE, message, "choose smaller sizes") from failure


def _refused(code: str, message: str, way: str) -> MiltextError:
    return MiltextError([error(code, message, None, Note(way))])
