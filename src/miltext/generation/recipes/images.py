"""Recipes for images, and for blocks moved between dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.generation.calls import Requirements
from miltext.generation.recipes.table import recipe

if TYPE_CHECKING:
    from miltext.generation.calls import Call

CORNERS = ("CORNERS_HEIGHT_FIRST", "CORNERS_WIDTH_FIRST", "CENTER_SIZE_HEIGHT_FIRST", "CENTER_SIZE_WIDTH_FIRST")


@recipe("space_to_depth", "pixel_unshuffle")
def space_to_depth(call: Call) -> None:
    """Generate a block size that divides height and width."""
    by = 2 + call.choices.integer(0, 1)
    call.sized("x", lambda shape: len(shape) == 4 and shape[2] % by == shape[3] % by == 0, lambda: (1, 2, by, by * 2))
    call.number("block_size" if call.has("block_size") else "downscale_factor", by)


@recipe("depth_to_space", "pixel_shuffle")
def depth_to_space(call: Call) -> None:
    """Generate a block size whose square divides the number of channels."""
    call.sized("x", lambda shape: len(shape) == 4 and shape[1] % 4 == 0, lambda: (1, 4, 2, 3))
    call.number("block_size" if call.has("block_size") else "upscale_factor", 2)


@recipe("space_to_batch")
def space_to_batch(call: Call) -> None:
    """Generate a block shape that divides the padded height and width."""
    call.tensor("x")
    _, _, h, w = call.shape("x")
    block = [call.choices.integer(1, 2), call.choices.integer(1, 2)]
    call.vector("block_shape", block)
    pads = [0, -h % block[0], 0, -w % block[1]]
    call.number("paddings", *pads, shape=(2, 2))


@recipe("batch_to_space")
def batch_to_space(call: Call) -> None:
    """Generate a block shape whose number of elements divides the batch."""
    call.sized("x", lambda shape: len(shape) == 4 and shape[0] % 2 == 0, lambda: (4, 1, 2, 3))
    call.vector("block_shape", call.choices.pick([[1, 2], [2, 1]]))
    call.number("crops", 0, call.choices.integer(0, 1), 0, call.choices.integer(0, 1), shape=(2, 2))


@recipe("crop")
def crop(call: Call) -> None:
    """Generate borders that do not remove everything."""
    call.tensor("x")
    for name, size in zip(("crop_height", "crop_width"), call.shape("x")[-2:], strict=True):
        before = call.choices.integer(0, size - 1)
        call.vector(name, [before, call.choices.integer(0, size - 1 - before)])


@recipe("crop_resize")
def crop_resize(call: Call) -> None:
    """Generate boxes within the picture, each with its picture since ios17."""
    call.tensor("x")
    if not call.has("boxes"):
        old_crop_resize(call)
        return
    count = call.choices.integer(1, call.size("b"))
    dtype = call.choices.pick([each for each in ("fp32", "fp16", "uint16") if each in call.parameter("boxes").dtypes])
    boxes = [0, 0, 1, 1] if dtype == "uint16" else [0, 0, 0.5, 1]
    call.number("boxes", *boxes * count, shape=(count, 4), dtype=dtype)
    if call.choices.flag():
        call.vector("box_indices", [call.choices.integer(0, call.size("b") - 1) for _ in range(count)])
    call.leave_out("box_indices", *["normalized_coordinates"] * (dtype == "uint16"))


def old_crop_resize(call: Call) -> None:
    """Generate boxes cut out of all pictures, before ios17 (iOS15/image_resizing.py)."""
    count = call.choices.integer(1, 2)
    call.number("roi", *[0, 0, 1, 1] * count, shape=(count, 1, 4, 1, 1), dtype=call.type("x").dtype)


@recipe("affine", "resample")
def warped(call: Call) -> None:
    """Generate finite numbers for the places to read."""
    call.tensor("x")
    call.tensor("transform_matrix" if call.has("transform_matrix") else "coordinates", Requirements(fresh=True))


@recipe("upsample_nearest_neighbor", "upsample_bilinear")
def upsample(call: Call) -> None:
    """Generate whole factors, of one data type."""
    call.tensor("x")
    dtype = call.choices.pick(["int32", "fp32"])
    for name in ("scale_factor_height", "scale_factor_width"):
        call.number(name, call.choices.integer(1, 3), dtype=dtype)
    if call.has("half_pixel_centers") and call.choices.flag():
        call.number("align_corners", False)
        call.number("half_pixel_centers", call.choices.flag())
    call.leave_out("half_pixel_centers")


@recipe("resize")
def resize(call: Call) -> None:
    """Generate the new sizes of the last dimensions."""
    call.sized("x", lambda shape: len(shape) in (3, 4), lambda: (1, 2, call.choices.integer(1, 4), 3))
    dtype = call.dtype("shape")
    call.vector("shape", [call.choices.integer(1, 6), call.choices.integer(1, 6)], dtype)
    call.number("resized_dims", 2)
