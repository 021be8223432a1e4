"""Rules that resample images.

The place of an output pixel among the input's pixels is computed along each axis. Its value is the weighted sum of the
pixel before and the pixel after. A pixel with the weight 0 is ignored, even NaN; at a NaN place the result is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from miltext.checking.inference.rules import TOLERANCE
from miltext.evaluation.operations.counts import count_of
from miltext.evaluation.rules import Array, Held, Ints, Made, UnfitValues, rule

GRIDS: dict[str, Callable[[Array, int, float], Array]] = {
    "STRICT_ALIGN_CORNERS": lambda steps, size, span: span * steps / max(size - 1, 1),
    "ALIGN_CORNERS": lambda steps, size, span: span * steps / (size - 1) if size != 1 else steps + span / 2,
    "UNALIGN_CORNERS": lambda steps, size, span: (steps + 0.5) * (span + 1) / size - 0.5,
    "DEFAULT": lambda steps, size, span: steps * (span + 1) / size,
    "OFFSET_CORNERS": lambda steps, size, span: (steps + 0.5) * max(span, 1.0) / size,
}
"""The places of `size` pixels between 0 and `span`, the last pixel of the input, by sampling mode.

Source: the notes of resize_bilinear in coremltools, where the input has Xin = span + 1 pixels.
"""

PIECE = 1 << 18
"""Number of pixels made at a time: their intermediate values stay in the cache."""

FIRST_CORNER = {"normalized_minus_one_to_one": -1.0, "normalized_zero_to_one": 0.0}
"""The coordinate of the first corner of an image; the last corner is at 1."""

PADDINGS: dict[str, Callable[[Array, int], Array]] = {
    "constant": lambda places, size: places.clip(-1, size),
    "border": lambda places, size: places.clip(0, size - 1),
    "reflection": lambda places, size: _folded(places, 0, size - 1),
    "symmetric": lambda places, size: _folded(places, -0.5, size - 0.5).clip(0, size - 1),
}
"""Functions that map places outside of `size` pixels to places inside, by padding mode."""


# ---- to another size


@rule("resize")
def resize(x: Array, shape: Ints, resized_dims: int, interpolation_mode: str, sampling_mode: str) -> Array:
    """Return `x` with its last `resized_dims` dimensions resized to the last sizes of `shape`; a 0 keeps the size."""
    kept = x.ndim - resized_dims
    requested = shape[len(shape) - resized_dims :]
    sizes = [size or old for size, old in zip(requested, x.shape[kept:], strict=True)]
    if interpolation_mode == "NEAREST_NEIGHBOR":
        return _nearest(x, sizes, sampling_mode)
    return _linear(x, sizes, sampling_mode)


@rule("resize_bilinear")
def resize_bilinear(x: Array, target_size_height: int, target_size_width: int, sampling_mode: str) -> Array:
    """Return `x` in another height and width, interpolated linearly along both."""
    return _linear(x, (target_size_height, target_size_width), sampling_mode)


@rule("resize_nearest_neighbor")
def resize_nearest_neighbor(x: Held, target_size_height: int, target_size_width: int) -> Held:
    """Return `x` in another height and width, each pixel equal to the pixel of `x` that contains its centre."""
    return _nearest(x, (target_size_height, target_size_width), "DEFAULT")


@rule("upsample_bilinear")
def upsample_bilinear(
    x: Array,
    scale_factor_height: float,
    scale_factor_width: float,
    align_corners: bool,
    half_pixel_centers: bool | None,
    made: Made,
) -> Array:
    """Return `x` with height and width times their factors, rounded down, interpolated linearly along both."""
    # By the definition, the factor is the quotient of the two sizes, as it is with torch's recompute_scale_factor.
    # By default, half_pixel_centers is the opposite of align_corners.
    if align_corners and half_pixel_centers:
        raise UnfitValues("`half_pixel_centers` is true, and so is `align_corners`: only one of them may be true")
    centers = not align_corners if half_pixel_centers is None else half_pixel_centers
    mode = "STRICT_ALIGN_CORNERS" if align_corners else "UNALIGN_CORNERS" if centers else "DEFAULT"
    return _linear(x, _scaled(x, (scale_factor_height, scale_factor_width), made), mode)


@rule("upsample_nearest_neighbor")
def upsample_nearest_neighbor(x: Held, scale_factor_height: float, scale_factor_width: float, made: Made) -> Held:
    """Return `x` with height and width times their factors, rounded down: pixel i is the pixel at floor(i / factor).

    The place is floor(i old / new) if the factor is the quotient of the two sizes, and for equal sizes, as in torch.
    """
    factors = (scale_factor_height, scale_factor_width)
    for axis, size, factor in zip((-2, -1), _scaled(x, factors, made), factors, strict=True):
        old = _some(x, axis, size)
        places = np.arange(size)
        is_quotient = old == size or abs(old * factor - size) < TOLERANCE * size
        chosen = places * old // max(size, 1) if is_quotient else np.floor(places / factor).astype(np.intp)
        x = x.take(chosen.clip(0, max(old - 1, 0)), axis)
    return x


def _scaled(x: Array, factors: tuple[float, float], made: Made) -> list[int]:
    """Return the sizes of height and width times their factors."""
    return [
        count_of(x.shape[axis] * factor, math.floor, made[0], axis)
        for axis, factor in zip((-2, -1), factors, strict=True)
    ]


def _linear(x: Array, sizes: Sequence[int], mode: str) -> Array:
    """Return `x` with its last dimensions in these sizes, computed for a few pictures at a time."""
    kept = x.ndim - len(sizes)
    axes = range(-len(sizes), 0)
    grids = [_grid_between(0, _some(x, axis, size) - 1, size, mode) for axis, size in zip(axes, sizes, strict=True)]
    pictures = x.reshape(math.prod(x.shape[:kept]), *x.shape[kept:])
    result = np.empty((len(pictures), *sizes), x.dtype)
    step = max(1, PIECE // max(1, math.prod(sizes)))
    for start in range(0, len(pictures), step):
        some = pictures[start : start + step]
        floats = some if x.dtype.kind == "f" else some.astype(np.float64)
        for axis, places in zip(axes, grids, strict=True):
            floats = _interpolated(floats, places, axis)
        result[start : start + step] = floats if x.dtype.kind == "f" else np.rint(floats)
    return result.reshape(*x.shape[:kept], *sizes)


def _nearest(x: Held, sizes: Sequence[int], mode: str) -> Held:
    """Return `x` with its last dimensions in these sizes, each element equal to the nearest in `x`."""
    # By default an element is that in which its centre lies: coremltools makes such ops of TensorFlow's resize with
    # half_pixel_centers.
    mode = "UNALIGN_CORNERS" if mode == "DEFAULT" else mode
    for axis, size in enumerate(sizes, -len(sizes)):
        places = _grid_between(0, _some(x, axis, size) - 1, size, mode)
        x = x.take(np.floor(places + 0.5).astype(np.intp), axis)
    return x


def _some(x: Array, axis: int, size: int) -> int:
    """Return the number of elements along an axis. Raise UnfitValues for an axis without elements, unless `size` is
    0.
    """
    old: int = x.shape[axis]
    if size and not old:
        raise UnfitValues(f"`x` has no elements along dimension {x.ndim + axis}, and cannot be resized to {size}")
    return old


def _grid_between(first: float, last: float, size: int, mode: str) -> Array:
    """Return the places of `size` pixels between a first and a last place, in any order, as fp64."""
    span = last - first
    steps = GRIDS[mode](np.arange(size, dtype=np.float64), size, abs(span))
    places = first + (steps if span >= 0 else -steps)
    return np.minimum(np.maximum(places, min(first, last)), max(first, last))  # a NaN is none to `clip` of numpy 1


def _interpolated(x: Array, places: Array, axis: int) -> Array:
    """Return the values at places along an axis, from the first pixel to the last."""
    before = np.floor(np.nan_to_num(places)).astype(np.intp)
    part = (places - before).astype(x.dtype).reshape(-1, *[1] * (-1 - axis))
    low = x.take(before, axis)
    return _mixed(low, x.take(np.minimum(before + 1, x.shape[axis] - 1), axis), part) if part.any() else low


def _mixed(low: Array, high: Array, part: Array) -> Array:
    """Return low (1 - part) + high part, in `high`, and low itself where the part is 0."""
    high *= part
    high += low * (1 - part)
    np.copyto(high, low, where=part == 0)
    return high


# ---- at given places


@rule("crop_resize")
def crop_resize(
    x: Array,
    roi: Array | None,
    boxes: Array | None,
    box_indices: Held | None,
    target_height: int,
    target_width: int,
    normalized_coordinates: bool,
    spatial_scale: float,
    box_coordinate_mode: str,
    sampling_mode: str,
    pad_value: float | None,
) -> Array:
    """Return the part of a picture in each box, in another height and width, with `pad_value` outside of the picture.

    The picture of a box has the index in `box_indices`, or in the first of the 5 numbers of a `roi`. A `roi` of 4
    numbers applies to all pictures.
    """
    for axis, size in ((-2, target_height), (-1, target_width)):
        _some(x, axis, size)
    numbers = np.asarray(boxes if roi is None else roi.reshape(roi.shape[0], roi.shape[2]), np.float64)
    corners = _corners(numbers[:, -4:], box_coordinate_mode) * spatial_scale
    if normalized_coordinates:
        corners *= np.tile(x.shape[2:], 2) - 1
    pictures = [x] * len(numbers) if roi is not None and roi.shape[2] == 4 else _pictures(x, numbers, box_indices)
    leading = x.shape[1:2] if roi is None else (len(x) if roi.shape[2] == 4 else 1, x.shape[1])
    result = np.empty((len(numbers), *leading, target_height, target_width), x.dtype)
    for place, (top, left, bottom, right) in enumerate(corners):
        rows = _grid_between(top, bottom, target_height, sampling_mode)
        columns = _grid_between(left, right, target_width, sampling_mode)
        # ios15 has no pad_value; coremltools' test of this mode expects the picture mirrored there.
        if pad_value is None and sampling_mode == "UNALIGN_CORNERS":
            rows, columns = _folded(rows, 0, x.shape[-2] - 1), _folded(columns, 0, x.shape[-1] - 1)
        result[place] = _cropped(pictures[place], rows, columns, pad_value or 0)
    return result


def _pictures(x: Array, boxes: Array, indices: Held | None) -> Sequence[Array]:
    """Return the picture of each box. Raise UnfitValues for a number without a picture."""
    name, numbers = "box_indices", np.arange(len(boxes)) if indices is None else indices
    if boxes.shape[1] == 5:
        name, numbers = "roi", boxes[:, 0]
    for number in numbers:
        if not 0 <= number < len(x):
            raise UnfitValues(f"`{name}` names picture {number:g}, and `x` has {len(x)}")
    return [x[int(number)] for number in numbers]


def _corners(boxes: Array, mode: str) -> Array:
    """Return the top, left, bottom and right of boxes."""
    first, second = boxes[:, :2], boxes[:, 2:]
    if mode.startswith("CENTER_SIZE"):
        first, second = first - second / 2, first + second / 2
    return np.hstack([first, second])[:, [1, 0, 3, 2] if mode.endswith("WIDTH_FIRST") else [0, 1, 2, 3]]


def _cropped(picture: Array, rows: Array, columns: Array, padding: float) -> Array:
    """Return the values at rows and columns of a picture, with padding outside of it."""
    for axis, places in ((-2, rows), (-1, columns)):
        last = picture.shape[axis] - 1
        picture = _interpolated(picture, places.clip(0, last), axis)
        outside = ((places < 0) | (places > last)).reshape(-1, *[1] * (-1 - axis))
        picture = np.where(outside, padding, picture)
    return picture


@rule("affine")
def affine(
    x: Array,
    transform_matrix: Array,
    output_height: int,
    output_width: int,
    sampling_mode: str,
    padding_mode: str,
    padding_value: Array,
    coordinates_mode: str,
    align_corners: bool,
) -> Array:
    """Return the values at (a0 u + a1 v + a2, b0 u + b1 v + b2) of `x`, for each output column u and row v.

    All of them are coordinates; a row of `transform_matrix` is (a0, a1, a2, b0, b1, b2), of a picture or of all.
    """
    columns, rows = (_coordinates(size, align_corners, x.dtype) for size in (output_width, output_height))
    places = np.stack((*np.broadcast_arrays(columns, rows[:, None]), np.ones((output_height, output_width), x.dtype)))
    coordinates = np.einsum("bck,khw->bhwc", transform_matrix.reshape(-1, 2, 3), places)
    coordinates = np.broadcast_to(coordinates, (len(x), *coordinates.shape[1:]))
    words = sampling_mode.lower(), padding_mode.lower(), padding_value, coordinates_mode.lower()
    result: Array = resample(x, coordinates, *words, align_corners)
    return result


def _coordinates(size: int, align_corners: bool, dtype: npt.DTypeLike) -> Array:
    """Return the coordinates of pixels between -1 and 1, as torch's affine_grid does: a single pixel is at 0."""
    centers = (2 * np.arange(size) + 1) / size - 1
    return (np.linspace(-1, 1, size) if align_corners and size != 1 else centers).astype(dtype)


@rule("resample")
def resample(
    x: Array,
    coordinates: Array,
    sampling_mode: str,
    padding_mode: str,
    padding_value: Array,
    coordinates_mode: str,
    align_corners: bool,
) -> Array:
    """Return the values at each of the `coordinates` (column, row) of `x`: interpolated linearly, or the nearest pixel.

    With `align_corners`, the first and the last coordinate are in the middle of a pixel, else at its edge.
    """
    # As torch's grid_sample, which coremltools converts to it: the nearest of two is the even one.
    floats = coordinates if coordinates.dtype.kind == "f" else coordinates.astype(np.float64)
    columns, rows = (
        PADDINGS[padding_mode](_placed(floats[..., axis], size, coordinates_mode, align_corners), size)
        for axis, size in enumerate((x.shape[3], x.shape[2]))
    )
    result = np.empty((*x.shape[:2], *coordinates.shape[1:3]), x.dtype)
    for place, picture in enumerate(x):
        if sampling_mode == "nearest":
            result[place] = _pixels(picture, np.rint(rows[place]), np.rint(columns[place]), padding_value)
        else:
            result[place] = _between(picture, rows[place], columns[place], padding_value)
    return result


def _placed(coordinates: Array, size: int, mode: str, align_corners: bool) -> Array:
    """Return coordinates as places, which count pixels."""
    if mode == "unnormalized":
        return coordinates
    first = FIRST_CORNER[mode]
    share = (coordinates - first) / (1 - first)
    return share * (size - 1) if align_corners else share * size - 0.5


def _folded(places: Array, first: float, last: float) -> Array:
    """Return places, reflected at the first and the last until they are between these."""
    span = last - first
    away = np.fmod(abs(places - first), 2 * span) if span else places * 0
    return np.where(away > span, 2 * span - away, away) + first


def _between(picture: Array, rows: Array, columns: Array, padding: Array) -> Array:
    """Return the weighted sum of the four pixels around each place."""
    top, left = np.floor(rows), np.floor(columns)
    across = (columns - left).astype(picture.dtype)
    above, below = (
        _mixed(_pixels(picture, row, left, padding), _pixels(picture, row, left + 1, padding), across)
        for row in (top, top + 1)
    )
    return _mixed(above, below, (rows - top).astype(picture.dtype))


def _pixels(picture: Array, rows: Array, columns: Array, padding: Array) -> Array:
    """Return the pixels of whole rows and columns, `padding` outside of the picture, NaN where row or column is NaN."""
    channels, height, width = picture.shape
    if not height * width:
        raise UnfitValues(f"`x` has no pixels in pictures of {height} x {width}")
    row, column = (np.nan_to_num(each).astype(np.intp) for each in (rows, columns))
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    pixels = picture.reshape(channels, height * width).take(np.where(inside, row * width + column, 0), 1)
    np.copyto(pixels, padding, where=~inside, casting="same_kind")
    np.copyto(pixels, np.nan, where=np.isnan(rows + columns))
    return pixels
