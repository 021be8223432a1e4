"""Rules for images, whose height and width are the last two dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown, finite
from miltext.checking.inference.rules import rule, tensor, whole
from miltext.diagnostics import codes

if TYPE_CHECKING:
    from miltext.schema.types import Dimension, Type


ROUNDING = 1e-6
"""The greatest error in fp32 of the product of an exact size and an exact factor. coremltools computes a factor from
two sizes, after adding 1e-4 to the requested size, so that rounding down returns that size
(`converters/mil/frontend/torch/ops.py`).
"""


@rule("upsample_nearest_neighbor", "upsample_bilinear")
def upsample(op: Arguments) -> Sequence[Type]:
    """Return height and width times their factors (1 by default), rounded down."""
    *rest, h, w = op.shape("x", least=2)
    h, w = _scaled(op, h, "scale_factor_height"), _scaled(op, w, "scale_factor_width")
    return tensor(op.tensor("x").dtype, *rest, h, w)


def _scaled(op: Arguments, size: Dimension, name: str) -> Dimension:
    """Return a size times the factor that a parameter states."""
    given = op.single(name) if op.has(name) else 1
    if isinstance(given, int | float) and not 0 < given < math.inf:
        raise InputConflict(f"takes a finite number above 0, not {given}", name, code=codes.VALUE_OUT_OF_RANGE)
    factor = finite(given)
    if factor is None:
        raise Unknown
    scaled = None if size is None else whole(size * factor, math.floor, ROUNDING)
    if size and scaled == 0:
        raise InputConflict(f"reduces the size {size} of `x` to less than 1", name, "x", code=codes.VALUE_OUT_OF_RANGE)
    return scaled


@rule("resize_nearest_neighbor", "resize_bilinear")
def resize_to_size(op: Arguments) -> Sequence[Type]:
    """Return the given height and width (1 by default for the bilinear one)."""
    default = 1 if op.op_type == "resize_bilinear" else None
    *rest, _, _ = op.shape("x", least=2)
    size = [op.scalar(name, int, default) for name in ("target_size_height", "target_size_width")]
    return tensor(op.tensor("x").dtype, *rest, *size)


@rule("resize")
def resize(op: Arguments) -> Sequence[Type]:
    """Return `x` with its last `resized_dims` dimensions from `shape`, where 0 keeps a size."""
    x, sizes, resized = op.tensor("x"), op.sizes("shape"), op.scalar("resized_dims", int)
    if len(sizes) > len(x.shape):
        clause = f"has {len(sizes)} sizes, more than the {len(x.shape)} of `x`"
        raise InputConflict(clause, "shape", "x", code=codes.WRONG_ARGUMENT_SHAPE)
    if not 0 <= resized <= len(sizes):
        raise Unknown
    kept = len(x.shape) - resized
    pairs = zip(sizes[len(sizes) - resized :], x.shape[kept:], strict=True)
    return tensor(x.dtype, *x.shape[:kept], *(old if new == 0 else new for new, old in pairs))


@rule("crop_resize")
def crop_resize(op: Arguments) -> Sequence[Type]:
    """Return a picture of the given size (1 by default) for each region, before ios17 also for each picture."""
    n, c, _, _ = op.shape("x", 4)
    size = op.scalar("target_height", int, 1), op.scalar("target_width", int, 1)
    dtype = op.tensor("x").dtype
    if op.has("boxes"):
        return tensor(dtype, _boxes(op, n), c, *size)
    return tensor(dtype, op.shape("roi", least=1)[0], n, c, *size)


def _boxes(op: Arguments, pictures: Dimension) -> Dimension:
    """Return the number of boxes; without `box_indices`, box i belongs to picture i."""
    boxes = op.shape("boxes", least=1)[0]
    if not op.has("box_indices") and boxes is not None and pictures is not None and boxes > pictures:
        clause = f"has {boxes} boxes, and `x` {pictures} in its batch; give the picture of each box in `box_indices`"
        raise InputConflict(clause, "boxes", "x", code=codes.WRONG_ARGUMENT_SHAPE)
    if op.scalar("normalized_coordinates", bool, False) and op.tensor("boxes").dtype == "uint16":
        clause = "takes `fp16` or `fp32`, not `uint16`, where `normalized_coordinates` is true"
        raise InputConflict(clause, "boxes", "normalized_coordinates", code=codes.UNSUPPORTED_DTYPE)
    return boxes


@rule("affine")
def affine(op: Arguments) -> Sequence[Type]:
    """Return batch and channels, and the given height and width."""
    n, c, _, _ = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, c, op.scalar("output_height", int), op.scalar("output_width", int))


@rule("resample")
def resample(op: Arguments) -> Sequence[Type]:
    """Return batch and channels, and the height and width of the coordinates."""
    n, c, _, _ = op.shape("x", 4)
    _, h, w, _ = op.shape("coordinates", 4)
    return tensor(op.tensor("x").dtype, n, c, h, w)
