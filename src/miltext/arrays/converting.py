"""Conversion of elements between data types: conversions on request, and values out of range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.schema.packing import decode, encode

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.schema.dtypes import DType
    from miltext.schema.packing import Array


def is_pattern(source: DType, target: DType) -> bool:
    """Return whether a type of unsigned integers is numpy's type for the bits of a float that numpy lacks."""
    same = (source.bits, source.numpy) == (target.bits, target.numpy)
    return same and source.kind == "uint" and target.kind == "float"


def holds(target: DType, source: DType) -> bool:
    """Return whether a type accepts the elements of another without a conversion: integers in its range, floats if it
    contains all of them, and the bit patterns of floats that numpy lacks.
    """
    if target == source or is_pattern(source, target):
        return target.kind != "string"
    if target.kind in ("int", "uint"):
        return source.kind in ("int", "uint")
    if target.kind != "float" or source.kind != "float" or not target.infinite:
        return False
    return target.mantissa >= source.mantissa and exponent_bits(target) >= exponent_bits(source)


def exponent_bits(dtype: DType) -> int:
    """Return the width of a float's exponent."""
    return dtype.bits - 1 - dtype.mantissa


def converts(target: DType, source: DType) -> bool:
    """Return whether numbers of a type can be converted to another on request."""
    return "string" not in (target.kind, source.kind) and not is_pattern(source, target)


class UnfitElement(ValueError):
    """A value that a type cannot hold, with its place among the elements."""

    def __init__(self, place: int, value: object) -> None:
        super().__init__(f"{value}")
        self.place = place


def converted(elements: Array, source: DType, target: DType) -> Array:
    """Return flat elements of a type converted to another: in the numpy type of each, bf16 and fp8 as bit patterns.

    Floats are rounded once, to the nearest number, ties to even. Raise UnfitElement for a finite value that becomes
    infinite or NaN, an infinity or a NaN that the type lacks, a fraction for an integer, and a value out of range.
    """
    values = decode(elements, source)
    if source.kind == "bool":
        values = values.view(np.uint8)
    made = _made(values, target)
    bad = _is_lost(values, decode(made, target)) if target.kind == "float" else ~_is_in_range(values, target)
    if bad.any():
        place = int(bad.argmax())
        raise UnfitElement(place, values[place].item())
    return made


def _made(values: Array, target: DType) -> Array:
    numpy = np.dtype(target.numpy)
    with np.errstate(all="ignore"):
        if target.kind == "float" and numpy.kind != "f":
            return encode(values, target)
        return values.astype(numpy)


def _is_lost(values: Array, made: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the values that are infinite, or NaN, on only one side of the conversion."""
    lost: npt.NDArray[np.bool_] = (np.isfinite(values) != np.isfinite(made)) | (np.isnan(values) != np.isnan(made))
    return lost


def _is_in_range(values: Array, target: DType) -> npt.NDArray[np.bool_]:
    """Return a mask of the integers in the range of a type of integers, or bool."""
    least, most = (0, 1) if target.kind == "bool" else (target.minimum, target.maximum)
    if values.dtype.kind == "f":
        wide = values.astype(np.float64)
        fits: npt.NDArray[np.bool_] = (wide == np.trunc(wide)) & (wide >= least) & (wide < float(most + 1))
        return fits
    own = np.iinfo(values.dtype)
    inside: npt.NDArray[np.bool_] = (values >= max(least, own.min)) & (values <= min(most, own.max))
    return inside


def range_of(dtype: DType) -> str:
    """Return the numbers of a type in words for a message."""
    if dtype.kind == "bool":
        return "0 and 1"
    if dtype.kind != "float":
        return f"whole numbers from {dtype.minimum} to {dtype.maximum}"
    bias = (1 << exponent_bits(dtype) - 1) - 1
    step = 2.0**-dtype.mantissa
    greatest = (2 - step) * 2.0**bias if dtype.infinite else (2 - 2 * step) * 2.0 ** (bias + 1)
    return f"numbers up to {greatest:.8g}"
