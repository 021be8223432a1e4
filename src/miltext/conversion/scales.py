"""Weights compressed as integers and scales: their greatest numbers, and their loss with converted scales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.conversion.contents import ConvertedConstant
from miltext.conversion.halves import Loss, halves
from miltext.conversion.known import dtype_of
from miltext.schema.dtypes import BY_NAME, GREATEST_HALF
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    import numpy.typing as npt

    from miltext.conversion.contents import Contents
    from miltext.conversion.numbers import Numbers
    from miltext.conversion.planning import BoundOperand
    from miltext.ir.parts import Op
    from miltext.schema.packing import Array

DATA_AND_SHIFT = {
    "constexpr_affine_dequantize": ("quantized_data", "zero_point"),
    "constexpr_blockwise_shift_scale": ("data", "offset"),
    "constexpr_sparse_blockwise_shift_scale": ("nonzero_data", "offset"),
}
"""The operations that compute `scale * (data - shift)`: the parameters of the data and of the shift."""


MANTISSA = 11
"""The bits of a number of fp16."""


class Scaled(NamedTuple):
    """A compressed weight: its scales, and the greatest magnitude that they multiply."""

    scales: Numbers
    steps: float

    @property
    def greatest(self) -> float:
        """The greatest magnitude that a number of the weight may have."""
        return self.scales.loss.greatest * self.steps

    def loss(self) -> Loss:
        """Return a bound of the weight's loss between fp32 and fp16, in either direction.

        The scale's own error is multiplied as the scale is, and in fp16 each number is rounded once more.
        """
        made = Loss()
        for piece in self.scales.chunks(self.scales.pieces()):
            scales = piece[np.isfinite(piece)]
            if scales.size and self.steps:
                self._measure(scales, made)
        return made

    def _measure(self, scales: Array, made: Loss) -> None:
        wide = scales.astype(np.float64)
        half = np.clip(halves(scales.astype(np.float32), self.scales.is_small), -GREATEST_HALF, GREATEST_HALF).astype(
            np.float64
        )
        greatest = np.abs(wide) * self.steps
        rounding = (
            np.spacing(np.clip(np.abs(half) * self.steps, 0, GREATEST_HALF).astype(np.float16)).astype(np.float64) / 2
        )
        rounding[_odd(half) * self.steps <= 2.0**MANTISSA] = 0  # all products have few bits
        errors = np.where(wide != 0, np.abs(wide - half) * self.steps + rounding, 0)
        place = int(errors.argmax())
        if errors[place] > made.absolute:
            made.absolute, made.at = float(errors[place]), float(greatest[place])
        shares = np.divide(errors, greatest, out=np.zeros_like(errors), where=greatest > 0)
        made.relative = max(made.relative, float(shares.max()))


def _odd(values: Array) -> Array:
    """Return the odd factors of fp16 numbers without their powers of two, and 0 for 0."""
    whole = np.abs(np.ldexp(np.frexp(values)[0], MANTISSA)).astype(np.int64)
    odd: npt.NDArray[np.int64] = whole // np.maximum(whole & -whole, 1)
    return odd


def scaled(op_type: str, bound: Mapping[str, list[BoundOperand]], contents: Contents) -> Scaled | None:
    """Return the compressed weight of an operation; None for other operations and unknown scales."""
    data_name, shift_name = DATA_AND_SHIFT.get(op_type, ("", ""))
    scale, data, shift = (next(iter(bound.get(name, ())), None) for name in ("scale", data_name, shift_name))
    scales = scale.known_numbers if scale else None
    if scales is None or data is None:
        return None
    steps = _steps(data, shift, contents)
    return None if steps is None else Scaled(scales, steps)


def compressed(
    op: Op, bound: Mapping[str, list[BoundOperand]], function: str, contents: Contents
) -> list[ConvertedConstant]:
    """Return the loss of an operation's compressed weight after the conversion of its scales, if any."""
    made = scaled(op.type, bound, contents)
    if made is None:
        return []
    output = op.outputs[-1]
    sizes = (output.type.shape or ()) if isinstance(output.type, TensorType) else ()
    shape = tuple(size if isinstance(size, int) else 0 for size in sizes)
    return [ConvertedConstant(output.name, function, shape, made.loss(), compressed=True)]


def _steps(data: BoundOperand, shift: BoundOperand | None, contents: Contents) -> float | None:
    """Return the greatest magnitude of data minus a shift; None for data of an unknown type."""
    dtype = BY_NAME.get(dtype_of(data.given.old) or "")
    if dtype is None:
        return None
    if dtype.kind == "float":
        numbers = data.known_numbers
        least = most = numbers.loss.greatest if numbers and numbers.dtype.bits > 16 else GREATEST_HALF
    else:
        least, most = -float(dtype.minimum), float(dtype.maximum)
    if shift is None:
        return max(least, most)
    found = _range(shift, contents)
    return least + most if found is None else max(most - found[0], least + found[1])


def _range(shift: BoundOperand, contents: Contents) -> tuple[float, float] | None:
    """Return the least and the greatest number of a constant; None if it cannot be read here."""
    held = shift.held
    if held is None:
        return None
    numbers = contents.numbers(held, "shift")
    if numbers.dtype.packed or (numbers.dtype.numpy[1] == "u" and numbers.dtype.kind == "float"):
        return None
    ends = [(float(each.min()), float(each.max())) for each in numbers.chunks(numbers.pieces()) if each.size]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else (0.0, 0.0)
