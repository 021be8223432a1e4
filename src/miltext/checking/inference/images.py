"""Rules for ops that resize and sample images: height and width are the last two dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from miltext.checking.inference.creation import TOLERANCE
from miltext.checking.inference.operands import Arguments, Unknown
from miltext.checking.inference.rules import rule, tensor

if TYPE_CHECKING:
    from miltext.checking.inference.value_types import Dimension, Type


@rule("upsample_nearest_neighbor", "upsample_bilinear")
def upsample(op: Arguments) -> Sequence[Type]:
    """Height and width times their factors (1 by default), rounded down."""
    *rest, h, w = op.shape("x")
    factors = op.value("scale_factor_height", 1), op.value("scale_factor_width", 1)
    return tensor(op.tensor("x").dtype, *rest, _scaled(h, factors[0]), _scaled(w, factors[1]))


def _scaled(size: Dimension, factor: float) -> Dimension:
    """Rounded down, unless the product is so near to a whole number that the float's width decides."""
    if size is None:
        return None
    product = size * factor
    near = product != round(product) and abs(product - round(product)) < TOLERANCE * product
    return None if near else math.floor(product)


@rule("resize_nearest_neighbor", "resize_bilinear")
def resize_to_size(op: Arguments) -> Sequence[Type]:
    """The height and width given (1 by default for the bilinear one)."""
    default = 1 if op.op_type == "resize_bilinear" else None
    *rest, _, _ = op.shape("x")
    size = op.value("target_size_height", default), op.value("target_size_width", default)
    return tensor(op.tensor("x").dtype, *rest, *size)


@rule("resize")
def resize(op: Arguments) -> Sequence[Type]:
    """The last `resized_dims` dimensions as `shape` ends; 0 keeps one."""
    x, sizes, resized = op.tensor("x"), op.elements("shape"), op.value("resized_dims")
    if resized > len(sizes) or resized > len(x.shape):
        raise Unknown
    kept = len(x.shape) - resized
    last = sizes[len(sizes) - resized :]
    return tensor(
        x.dtype, *x.shape[:kept], *(old if new == 0 else new for new, old in zip(last, x.shape[kept:], strict=True))
    )


@rule("crop_resize")
def crop_resize(op: Arguments) -> Sequence[Type]:
    """A picture of the size given (1 by default) for each region, and before ios17 for each region and picture."""
    n, c, _, _ = op.shape("x", 4)
    size = op.value("target_height", 1), op.value("target_width", 1)
    dtype = op.tensor("x").dtype
    if op.has("boxes"):
        return tensor(dtype, op.shape("boxes")[0], c, *size)
    return tensor(dtype, op.shape("roi")[0], n, c, *size)


@rule("affine")
def affine(op: Arguments) -> Sequence[Type]:
    """Batch and channels, and the height and width given."""
    n, c, _, _ = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, c, op.value("output_height"), op.value("output_width"))


@rule("resample")
def resample(op: Arguments) -> Sequence[Type]:
    """Batch and channels, and the height and width of the coordinates."""
    n, c, _, _ = op.shape("x", 4)
    _, h, w, _ = op.shape("coordinates", 4)
    return tensor(op.tensor("x").dtype, n, c, h, w)
