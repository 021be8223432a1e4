"""Images in other sizes and at other places, held against torch, and against numpy one axis at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.one_operation import applied, counted
from support.written_arrays import written

from miltext.evaluation.failures import OperationFailure

PRECISIONS: list[tuple[npt.DTypeLike, str, float]] = [
    (np.float32, "float32", 1e-6),
    (np.float16, "float32", 1e-3),
    (np.float32, "native", 1e-6),
    (np.float16, "native", 5e-3),
]
"""A data type, how to compute, and how far a result may be off, as a share of the largest number."""

# The notes of resize_bilinear in coremltools, by their letter: Xin pixels, Xout wanted.
NOTES: dict[str, Callable[[int, float, int], float]] = {
    "STRICT_ALIGN_CORNERS": lambda i, old, new: i * (old - 1) / (new - 1) if new > 1 else 0,
    "ALIGN_CORNERS": lambda i, old, new: i * (old - 1) / (new - 1) if new > 1 else (old - 1) / 2,
    "DEFAULT": lambda i, old, new: i * (old - old / new) / (new - 1) if new > 1 else 0,
    "OFFSET_CORNERS": lambda i, old, new: 0.5 * (max(1, old - 1) / new) + i * max(1, old - 1) / new,
    "UNALIGN_CORNERS": lambda i, old, new: i * (old / new) + 0.5 * (old / new) - 0.5,
}

SIZES = [(2, 5), (1, 3), (3, 1), (1, 1), (4, 4), (7, 3), (3, 10), (6, 2)]
"""How many pixels there are, and how many are wanted."""


def picture(*shape: int) -> npt.NDArray[np.float32]:
    """Return a picture of numbers that fp16 holds."""
    return (np.random.default_rng(len(shape)).integers(-128, 128, shape) / 16).astype(np.float32)


def places(mode: str, old: float, new: int) -> list[float]:
    """Return where the pixels wanted are, as the notes say."""
    return [min(old - 1, max(0, NOTES[mode](i, old, new))) for i in range(new)]


def along(x: npt.NDArray[Any], axis: int, at: list[float]) -> npt.NDArray[Any]:
    """Return what is at places along an axis, as numpy's interp has it."""
    return np.apply_along_axis(lambda line: np.interp(at, np.arange(len(line)), line), axis, x.astype(np.float64))


def assert_near(actual: npt.NDArray[Any], expected: Any, off: float) -> None:
    """Assert that an array is as expected, but for a share of the largest number."""
    assert actual.shape == np.shape(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=off * max(1, np.nanmax(np.abs(expected), initial=0)))


@pytest.mark.parametrize(("dtype", "compute", "off"), PRECISIONS)
@pytest.mark.parametrize(("old", "new"), SIZES)
@pytest.mark.parametrize("mode", NOTES)
def test_a_sampling_mode_is_as_the_notes_state(
    mode: str, old: int, new: int, dtype: npt.DTypeLike, compute: str, off: float
) -> None:
    x = picture(2, old, 3).astype(dtype)
    call = f'resize_bilinear(x, target_size_height = {new}, target_size_width = 4, sampling_mode = "{mode}")'
    expected = along(along(x, 1, places(mode, old, new)), 2, places(mode, 3, 4))
    (actual,) = applied(call, {"x": x}, compute=compute)
    assert actual.dtype == dtype
    assert_near(actual, expected, off)
    (actual,) = applied(f'resize(x, shape = [{new}, 4], resized_dims = 2, sampling_mode = "{mode}")', {"x": x})
    assert_near(actual, expected, off)


@pytest.mark.parametrize(
    ("mode", "new", "expected"),
    [
        ("UNALIGN_CORNERS", 5, [0, 0.1, 0.5, 0.9, 1]),
        ("STRICT_ALIGN_CORNERS", 5, [0, 0.25, 0.5, 0.75, 1]),
        ("ALIGN_CORNERS", 5, [0, 0.25, 0.5, 0.75, 1]),
        ("DEFAULT", 5, [0, 0.4, 0.8, 1, 1]),
        ("OFFSET_CORNERS", 5, [0.1, 0.3, 0.5, 0.7, 0.9]),
        ("UNALIGN_CORNERS", 6, [0, 0, 1 / 3, 2 / 3, 1, 1]),
        ("DEFAULT", 6, [0, 1 / 3, 2 / 3, 1, 1, 1]),
        ("OFFSET_CORNERS", 6, [1 / 12, 0.25, 5 / 12, 7 / 12, 0.75, 11 / 12]),
    ],
)
def test_the_examples_of_the_notes_hold(mode: str, new: int, expected: list[float]) -> None:
    x = np.array([[[0, 1]]], np.float32)
    (actual,) = applied(f'resize_bilinear(x, target_size_width = {new}, sampling_mode = "{mode}")', {"x": x})
    assert_near(actual, [[expected]], 1e-7)


@pytest.mark.parametrize(("dtype", "compute", "off"), PRECISIONS)
@pytest.mark.parametrize("factors", [(2, 3), (1, 1), (2.5, 2.0), (0.5, 0.75), (3.17, 0.67), (1.0, 2.6)], ids=str)
@pytest.mark.parametrize("corners", [True, False])
def test_bilinear_upsampling_is_torchs(
    corners: bool, factors: tuple[float, float], dtype: npt.DTypeLike, compute: str, off: float
) -> None:
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    x = picture(2, 3, 4, 6).astype(dtype)
    expected = torch.nn.functional.interpolate(
        torch.tensor(x.astype(np.float32)),
        scale_factor=factors,
        mode="bilinear",
        align_corners=corners,
        recompute_scale_factor=True,
    )
    height, width = factors
    call = f"upsample_bilinear(x, scale_factor_height = {height}, scale_factor_width = {width}, align_corners = "
    (actual,) = applied(f"{call}{str(corners).lower()})", {"x": x}, compute=compute)
    assert_near(actual, expected.numpy(), off)


@pytest.mark.parametrize(
    ("settings", "mode"),
    [
        ("", "STRICT_ALIGN_CORNERS"),
        (", align_corners = true, half_pixel_centers = false", "STRICT_ALIGN_CORNERS"),
        (", align_corners = false", "UNALIGN_CORNERS"),
        (", align_corners = false, half_pixel_centers = true", "UNALIGN_CORNERS"),
        (", align_corners = false, half_pixel_centers = false", "DEFAULT"),
    ],
)
def test_bilinear_upsampling_has_three_modes(settings: str, mode: str) -> None:
    x = picture(1, 3, 4)
    expected = along(along(x, 1, places(mode, 3, 6)), 2, places(mode, 4, 4))
    (actual,) = applied(f"upsample_bilinear(x, scale_factor_height = 2{settings})", {"x": x})
    assert_near(actual, expected, 1e-6)


def test_both_corners_and_centers_cannot_be() -> None:
    with pytest.raises(OperationFailure, match="half_pixel_centers"):
        applied("upsample_bilinear(x, half_pixel_centers = true)", {"x": picture(1, 2, 2)})


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("factors", [(2, 3), (1, 1), (4.5, 5.5), (2.5, 0.5), (0.67, 1.12)], ids=str)
def test_nearest_upsampling_is_torchs(factors: tuple[float, float], dtype: npt.DTypeLike) -> None:
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    x = counted((1, 2, 3, 5), dtype)
    expected = torch.nn.functional.interpolate(torch.tensor(x.astype(np.float32)), scale_factor=factors, mode="nearest")
    height, width = factors
    call = f"upsample_nearest_neighbor(x, scale_factor_height = {height}, scale_factor_width = {width})"
    (actual,) = applied(call, {"x": x})
    assert np.array_equal(actual, expected.numpy())


FRACTIONS = [(5, 1.4), (3, 5 / 3), (10, 1.4), (10, 2.3), (10, 0.7), (5, 1.3), (8, 1.7), (3, 2.5), (7, 0.3)]


@pytest.mark.parametrize(("old", "factor"), FRACTIONS)
def test_nearest_upsampling_follows_the_factor(old: int, factor: float) -> None:
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    x = counted((1, 1, old, old), np.float32)
    expected = torch.nn.functional.interpolate(torch.tensor(x), scale_factor=factor, mode="nearest").numpy()
    call = f"upsample_nearest_neighbor(x, scale_factor_height = {factor}, scale_factor_width = {factor})"
    assert np.array_equal(applied(call, {"x": x})[0], expected)


@pytest.mark.parametrize(("old", "factor"), FRACTIONS)
def test_bilinear_upsampling_has_torchs_sizes(old: int, factor: float) -> None:
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    x = picture(1, 1, old, old)
    expected = torch.nn.functional.interpolate(
        torch.tensor(x), scale_factor=factor, mode="bilinear", align_corners=True, recompute_scale_factor=True
    )
    call = f"upsample_bilinear(x, scale_factor_height = {factor}, scale_factor_width = {factor}, align_corners = true)"
    assert_near(applied(call, {"x": x})[0], expected.numpy(), 1e-5)


@pytest.mark.parametrize(("old", "new"), [*SIZES, (2, 3), (2, 4), (5, 20), (20, 60), (60, 7), (10, 15)])
def test_nearest_resizing_takes_the_pixel_in_which_a_centre_lies(old: int, new: int) -> None:
    x = counted((1, old, 2), np.float32)
    taken = [int((i + 0.5) * old / new) for i in range(new)]
    call = f"resize_nearest_neighbor(x, target_size_height = {new}, target_size_width = 2)"
    assert np.array_equal(applied(call, {"x": x})[0], x[:, taken])
    call = f'resize(x, shape = [{new}, 0], resized_dims = 2, interpolation_mode = "NEAREST_NEIGHBOR")'
    assert np.array_equal(applied(call, {"x": x})[0], x[:, taken])


@pytest.mark.parametrize("mode", sorted({*NOTES} - {"DEFAULT"}))
@pytest.mark.parametrize(("old", "new"), SIZES)
def test_nearest_resizing_takes_the_pixel_nearest_to_a_place(mode: str, old: int, new: int) -> None:
    x = counted((1, old, 2), np.float32)
    taken = [int(place + 0.5) for place in places(mode, old, new)]
    settings = f'interpolation_mode = "NEAREST_NEIGHBOR", sampling_mode = "{mode}"'
    assert np.array_equal(
        applied(f"resize(x, shape = [{new}], resized_dims = 1, {settings})", {"x": x.swapaxes(1, 2)})[0],
        x[:, taken].swapaxes(1, 2),
    )


@pytest.mark.parametrize(
    ("shape", "resized", "asked", "expected"),
    [
        ((2, 3, 4), 0, [5], (2, 3, 4)),
        ((2, 3, 4), 1, [9, 8], (2, 3, 8)),
        ((2, 3, 4), 2, [9, 6, 8], (2, 6, 8)),
        ((2, 3, 4), 2, [1, 0, 0], (2, 3, 4)),
        ((2, 3, 4), 3, [1, 0, 2], (1, 3, 2)),
        ((3,), 1, [5], (5,)),
        ((1, 2, 1, 2, 1), 4, [4, 3, 0, 2], (1, 4, 3, 2, 2)),
        ((0, 3, 4), 2, [6, 8], (0, 6, 8)),
    ],
)
@pytest.mark.parametrize("how", ["LINEAR", "NEAREST_NEIGHBOR"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_resize_changes_the_last_dimensions(
    shape: tuple[int, ...], resized: int, asked: list[int], expected: tuple[int, ...], how: str, dtype: npt.DTypeLike
) -> None:
    x = counted(shape, dtype)
    settings = f'resized_dims = {resized}, interpolation_mode = "{how}"'
    (actual,) = applied(f"resize(x, shape = {written(np.array(asked, np.int32))}, {settings})", {"x": x})
    assert (actual.shape, actual.dtype) == (expected, dtype)
    wanted = x.astype(np.float64)
    for axis, (old, new) in enumerate(zip(shape, expected, strict=True)):
        if axis < len(shape) - resized:
            continue
        if how == "LINEAR":
            wanted = along(wanted, axis, places("DEFAULT", old, new)) if wanted.size else np.zeros(expected)
        else:
            wanted = wanted.take([int((i + 0.5) * old / new) for i in range(new)], axis)
    assert_near(actual, np.rint(wanted) if dtype == np.int32 else wanted, 1e-3 if dtype == np.float16 else 1e-6)


def test_a_size_may_come_at_run_time() -> None:
    shape = np.array([1, 3, 2], np.int32)
    (actual,) = applied(
        "resize(x, shape = shape, resized_dims = 2)",
        {"x": picture(1, 2, 2), "shape": shape},
        {"made": "tensor<fp32, [1, ?, ?]>"},
    )
    assert actual.shape == (1, 3, 2)


@pytest.mark.parametrize("call", ["resize_bilinear", "resize_nearest_neighbor"])
def test_nothing_cannot_be_made_larger(call: str) -> None:
    with pytest.raises(OperationFailure, match="`x` has no elements along dimension 2, and cannot be resized to 3"):
        applied(f"{call}(x, target_size_height = 3, target_size_width = 1)", {"x": np.zeros((2, 2, 0, 1), np.float32)})


def test_many_pictures_are_resized_some_at_a_time() -> None:
    x = np.random.default_rng(2).standard_normal((2, 5, 90, 80)).astype(np.float32)
    call = 'resize_bilinear(x, target_size_height = 200, target_size_width = 170, sampling_mode = "UNALIGN_CORNERS")'
    expected = along(along(x, 2, places("UNALIGN_CORNERS", 90, 200)), 3, places("UNALIGN_CORNERS", 80, 170))
    assert_near(applied(call, {"x": x})[0], expected, 1e-6)


def test_pictures_without_pixels_have_none_to_read() -> None:
    given = {"x": np.zeros((1, 3, 0, 8), np.float32), "at": np.zeros((1, 2, 2, 2), np.float32)}
    modes = 'align_corners = false, coordinates_mode = "unnormalized", padding_mode = "border", padding_value = 0.0'
    for sampling in ("nearest", "bilinear"):
        with pytest.raises(OperationFailure, match="`x` has no pixels in pictures of 0 x 8"):
            applied(f'resample(x, at, {modes}, sampling_mode = "{sampling}")', given)
    crop = "crop_resize(x, boxes, box_indices = [0], target_height = 4, target_width = 4)"
    with pytest.raises(OperationFailure, match="`x` has no elements along dimension 2, and cannot be resized to 4"):
        applied(crop, {"x": given["x"], "boxes": np.zeros((1, 4), np.float32)}, opset="ios17")


@pytest.mark.parametrize("mode", NOTES)
def test_a_pixel_without_weight_has_no_part(mode: str) -> None:
    x = np.array([[[1, np.nan, 3, np.inf, 5]]], np.float32)
    call = f'resize_bilinear(x, target_size_width = 9, sampling_mode = "{mode}")'
    (actual,) = applied(call, {"x": x})
    at = np.array(places(mode, 5, 9))
    whole = np.isclose(at, np.rint(at), atol=1e-9, rtol=0)
    assert np.array_equal(actual[0, 0, whole], x[0, 0, np.rint(at[whole]).astype(int)], equal_nan=True)
    assert np.isnan(actual[0, 0, (at > 0.1) & (at < 1.9)]).all()


# ---- at places that are given

PADDINGS = {"constant": "zeros", "border": "border", "reflection": "reflection", "symmetric": "reflection"}


def coordinates(*shape: int) -> npt.NDArray[np.float32]:
    """Return coordinates within and outside of an image, of which none is a tie of two pixels."""
    return (np.random.default_rng(7).integers(-300, 300, shape) / 128 + 0.003).astype(np.float32)


def sampled(x: str, settings: tuple[str, str, float, str, bool]) -> str:
    """Return a call of resample with its settings."""
    sampling, padding, value, mode, corners = settings
    return (
        f'resample({x}, coordinates, sampling_mode = "{sampling}", padding_mode = "{padding}", '
        f'padding_value = {value}, coordinates_mode = "{mode}", align_corners = {str(corners).lower()})'
    )


@pytest.mark.parametrize("mode", ["unnormalized", "normalized_minus_one_to_one", "normalized_zero_to_one"])
@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("sampling", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(4, 5), (1, 3), (1, 1), (2, 2)], ids=str)
def test_resampling_is_torchs(size: tuple[int, int], sampling: str, padding: str, mode: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    x, at = picture(2, 3, *size), coordinates(2, 6, 7, 2)
    corners = padding == "reflection"  # torch reflects at the edges where this is false, which is "symmetric"
    height, width = size
    theirs: Any = at * 2 - 1 if mode == "normalized_zero_to_one" else at
    if mode == "unnormalized":
        sizes = np.array([width, height], np.float32)
        theirs = at / np.maximum(sizes - 1, 1) * 2 - 1 if corners else (at * 2 + 1) / sizes - 1
        theirs = np.where((sizes == 1) & corners, 0, theirs).astype(np.float32)
    expected = torch.nn.functional.grid_sample(
        torch.tensor(x), torch.tensor(theirs), mode=sampling, padding_mode=PADDINGS[padding], align_corners=corners
    )
    call = sampled("x", (sampling, padding, 0.0, mode, corners))
    (actual,) = applied(call, {"x": x, "coordinates": at})
    assert_near(actual, expected.numpy(), 2e-5)
    if mode == "unnormalized":
        call = sampled("x", (sampling, padding, 0.0, mode, not corners))
        assert np.array_equal(applied(call, {"x": x, "coordinates": at})[0], actual)


@pytest.mark.parametrize(("dtype", "compute", "off"), PRECISIONS)
@pytest.mark.parametrize("sampling", ["bilinear", "nearest"])
def test_resampling_is_as_exact_as_its_type(sampling: str, dtype: npt.DTypeLike, compute: str, off: float) -> None:
    x, at = picture(1, 2, 4, 4).astype(dtype), (coordinates(1, 3, 3, 2) * 2).astype(dtype)
    call = sampled("x", (sampling, "border", 0.0, "unnormalized", True))
    (actual,) = applied(call, {"x": x, "coordinates": at}, compute=compute)
    expected = np.empty((1, 2, 3, 3))
    for row, column in np.ndindex(3, 3):
        across, down = (min(max(float(each), 0), 3) for each in at[0, row, column])
        if sampling == "nearest":
            across, down = round(across), round(down)
        expected[0, :, row, column] = along(along(x[0], 1, [down]), 2, [across])[:, 0, 0]
    assert_near(actual, expected, off)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32])
def test_whole_coordinates_count_pixels(kind: npt.DTypeLike) -> None:
    x, at = counted((1, 1, 2, 3), np.float32), np.array([[[[0, 0], [2, 1], [1, 0]]]], kind)
    for corners in (True, False):
        call = sampled("x", ("bilinear", "constant", 9.0, "unnormalized", corners))
        assert applied(call, {"x": x, "coordinates": at})[0].tolist() == [[[[1, 6, 2]]]]


@pytest.mark.parametrize("sampling", ["bilinear", "nearest"])
def test_samples_outside_an_image_are_the_padding(sampling: str) -> None:
    x = counted((1, 1, 2, 2), np.float32)
    far = [[-1, 0], [0, 2], [np.inf, 0], [-np.inf, 1e30], [np.nan, 0], [1, np.nan]]
    call = sampled("x", (sampling, "constant", 7.5, "unnormalized", True))
    (actual,) = applied(call, {"x": x, "coordinates": np.array([[far]], np.float32)})
    assert np.array_equal(actual.ravel(), [7.5, 7.5, 7.5, 7.5, np.nan, np.nan], equal_nan=True)
    call = sampled("x", (sampling, "border", 7.5, "unnormalized", True))
    (actual,) = applied(call, {"x": x, "coordinates": np.array([[far]], np.float32)})
    assert np.array_equal(actual.ravel(), [1, 3, 2, 3, np.nan, np.nan], equal_nan=True)


def test_half_of_the_padding_is_half_a_pixel_outside() -> None:
    x, at = np.array([[[[2]]]], np.float32), np.array([[[[-0.5, 0], [0.25, 0], [0.5, 0.5]]]], np.float32)
    call = sampled("x", ("bilinear", "constant", 10.0, "unnormalized", True))
    assert applied(call, {"x": x, "coordinates": at})[0].tolist() == [[[[6, 4, 8]]]]


def test_the_nearest_of_two_is_the_even_one() -> None:
    x, at = counted((1, 1, 1, 5), np.float32), np.array([[[[0.5, 0], [1.5, 0], [2.5, 0], [3.5, 0]]]], np.float32)
    call = sampled("x", ("nearest", "border", 0.0, "unnormalized", True))
    assert applied(call, {"x": x, "coordinates": at})[0].tolist() == [[[[1, 3, 3, 5]]]]
    turned = {"x": x.swapaxes(2, 3), "coordinates": at[..., ::-1]}
    assert applied(call, turned)[0].tolist() == [[[[1, 3, 3, 5]]]]


@pytest.mark.parametrize("batches", [(0, 2, 2), (2, 0, 3), (1, 2, 0)])
def test_no_places_make_no_pixels(batches: tuple[int, int, int]) -> None:
    batch, height, width = batches
    inputs = {"x": picture(batch, 3, 2, 2), "coordinates": np.zeros((batch, height, width, 2), np.float32)}
    call = sampled("x", ("bilinear", "constant", 0.0, "unnormalized", True))
    assert applied(call, inputs)[0].shape == (batch, 3, height, width)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid")
@pytest.mark.parametrize(("dtype", "compute", "off"), PRECISIONS)
@pytest.mark.parametrize("size", [(3, 4), (1, 5), (1, 1), (6, 2)], ids=str)
@pytest.mark.parametrize("matrices", [1, 2])
def test_an_affine_transform_is_torchs(
    matrices: int, size: tuple[int, int], dtype: npt.DTypeLike, compute: str, off: float
) -> None:
    torch = pytest.importorskip("torch", reason="torch is what this is held against")
    x = picture(2, 3, 4, 5).astype(dtype)
    matrix = (np.random.default_rng(3).integers(-8, 8, (matrices, 6)) / 8).astype(dtype)
    whole = torch.tensor(np.resize(matrix, (2, 6)).astype(np.float32).reshape(2, 2, 3))
    grid = torch.nn.functional.affine_grid(whole, [2, 3, *size], align_corners=True)
    expected = torch.nn.functional.grid_sample(torch.tensor(x.astype(np.float32)), grid, align_corners=True)
    call = (
        f"affine(x, matrix, output_height = {size[0]}, output_width = {size[1]}, "
        'sampling_mode = "bilinear", padding_mode = "constant", padding_value = 0.0, '
        'coordinates_mode = "Normalized_Minus_One_to_One", align_corners = true)'
    )
    (actual,) = applied(call, {"x": x, "matrix": matrix}, compute=compute)
    assert_near(actual, expected.numpy(), off)


# ---- boxes


def cropped(
    x: npt.NDArray[Any], box: list[float], size: tuple[int, int], mode: str, padding: float
) -> npt.NDArray[Any]:
    """Return the part of a picture between top, left, bottom and right, pixel by pixel."""
    top, left, bottom, right = box
    rows = [top + np.sign(bottom - top) * place for place in places(mode, abs(bottom - top) + 1, size[0])]
    columns = [left + np.sign(right - left) * place for place in places(mode, abs(right - left) + 1, size[1])]
    result = np.empty((len(x), *size))
    for down, across in np.ndindex(*size):
        row, column = rows[down], columns[across]
        inside = 0 <= row <= x.shape[1] - 1 and 0 <= column <= x.shape[2] - 1
        result[:, down, across] = along(along(x, 1, [row]), 2, [column])[:, 0, 0] if inside else padding
    return result


BOXES: list[list[float]] = [
    [1.0, 1, 2, 2],
    [0.25, 0.5, 3, 3.5],
    [2, 2, 1, 1],
    [0, 0, 0, 0],
    [1, 1.25, 1.5, 2],
    [-1, 0, 5, 2],
    [3, 4, 0.5, 0.25],
]


@pytest.mark.parametrize(("dtype", "compute", "off"), PRECISIONS)
@pytest.mark.parametrize("size", [(2, 2), (1, 1), (4, 3)], ids=str)
@pytest.mark.parametrize("mode", NOTES)
def test_a_box_is_cut_out_and_resized(
    mode: str, size: tuple[int, int], dtype: npt.DTypeLike, compute: str, off: float
) -> None:
    x = picture(2, 3, 4, 5).astype(dtype)
    indices = np.arange(len(BOXES)) % 2
    call = (
        f"crop_resize(x, boxes, box_indices, target_height = {size[0]}, target_width = {size[1]}, "
        f'sampling_mode = "{mode}", pad_value = 1.5)'
    )
    inputs = {"x": x, "boxes": np.array(BOXES, dtype), "box_indices": indices.astype(np.int32)}
    (actual,) = applied(call, inputs, compute=compute)
    expected = [cropped(x[index], box, size, mode, 1.5) for index, box in zip(indices, BOXES, strict=True)]
    assert_near(actual, np.stack(expected), off)


@pytest.mark.parametrize(
    ("mode", "order", "center"),
    [
        ("CORNERS_HEIGHT_FIRST", [0, 1, 2, 3], False),
        ("CORNERS_WIDTH_FIRST", [1, 0, 3, 2], False),
        ("CENTER_SIZE_HEIGHT_FIRST", [0, 1, 2, 3], True),
        ("CENTER_SIZE_WIDTH_FIRST", [1, 0, 3, 2], True),
    ],
)
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_boxes_are_stated_in_four_ways(
    mode: str, order: list[int], center: bool, normalized: bool, scale: float
) -> None:
    x, box = picture(1, 2, 5, 9), np.array([1.0, 2, 3, 6])
    said = box / ([4, 8, 4, 8] if normalized else 1) / scale
    if center:
        said = np.concatenate([(said[:2] + said[2:]) / 2, said[2:] - said[:2]])
    call = (
        f'crop_resize(x, boxes, target_height = 3, target_width = 3, box_coordinate_mode = "{mode}", '
        f"normalized_coordinates = {str(normalized).lower()}, spatial_scale = {scale}, "
        'sampling_mode = "ALIGN_CORNERS")'
    )
    (actual,) = applied(call, {"x": x, "boxes": said[order][None].astype(np.float32)})
    assert np.array_equal(actual[0], x[0][:, 1:4][:, :, 2:7:2])


@pytest.mark.parametrize("opset", ["ios15", "ios16"])
def test_a_roi_of_four_is_of_all_pictures(opset: str) -> None:
    x, boxes = picture(3, 2, 4, 5), np.array(BOXES[:2], np.float32)
    call = 'crop_resize(x, roi, target_height = 2, target_width = 3, sampling_mode = "ALIGN_CORNERS")'
    (actual,) = applied(call, {"x": x, "roi": boxes.reshape(2, 1, 4, 1, 1)}, opset=opset)
    assert actual.shape == (2, 3, 2, 2, 3)
    for box, index in np.ndindex(2, 3):
        assert_near(actual[box, index], cropped(x[index], BOXES[box], (2, 3), "ALIGN_CORNERS", 0), 1e-6)


@pytest.mark.parametrize(("opset", "expected"), [("ios15", [3.5, 5.5, 11.5, 13.5]), ("ios16", [0, 0, 0, 0])])
def test_outside_is_a_mirror_or_the_padding(opset: str, expected: list[float]) -> None:
    x, roi = counted((1, 1, 4, 4), np.float32), np.array([2, 2, 1, 1], np.float32).reshape(1, 1, 4, 1, 1)
    call = (
        "crop_resize(x, roi, target_height = 2, target_width = 2, normalized_coordinates = true, "
        'sampling_mode = "UNALIGN_CORNERS")'
    )
    assert applied(call, {"x": x, "roi": roi}, opset=opset)[0].ravel().tolist() == expected


def test_a_roi_of_five_states_its_picture() -> None:
    x = picture(1, 2, 4, 5)
    roi = np.array([[0, *box] for box in BOXES[:3]], np.float32).reshape(3, 1, 5, 1, 1)
    call = 'crop_resize(x, roi, target_height = 2, target_width = 3, sampling_mode = "ALIGN_CORNERS")'
    (actual,) = applied(call, {"x": x, "roi": roi}, opset="ios16")
    for box in range(3):
        assert_near(actual[box, 0], cropped(x[0], BOXES[box], (2, 3), "ALIGN_CORNERS", 0), 1e-6)


def test_the_parameters_of_crop_resize_may_be_left_out() -> None:
    x, boxes = picture(2, 1, 3, 3), np.array([[1, 2, 0, 0], [0, 1, 2, 2]], np.float32)
    (actual,) = applied("crop_resize(x, boxes)", {"x": x, "boxes": boxes})
    assert actual.tolist() == [[[[x[0, 0, 1, 2]]]], [[[x[1, 0, 0, 1]]]]]


def test_whole_boxes_and_indices_are_taken_too() -> None:
    x, boxes = picture(2, 1, 3, 3), np.array([[0, 0, 2, 2]], np.uint16)
    call = 'crop_resize(x, boxes, indices, target_height = 3, target_width = 3, sampling_mode = "ALIGN_CORNERS")'
    (actual,) = applied(call, {"x": x, "boxes": boxes, "indices": np.array([1], np.uint16)})
    assert np.array_equal(actual, x[1:])


def test_no_boxes_cut_nothing_out() -> None:
    inputs = {"x": picture(2, 3, 4, 4), "boxes": np.zeros((0, 4), np.float32)}
    assert applied("crop_resize(x, boxes)", inputs)[0].shape == (0, 3, 1, 1)


@pytest.mark.parametrize("index", [-1, 2, 70])
def test_a_missing_picture_is_reported(index: int) -> None:
    inputs = {"x": picture(2, 1, 3, 3), "boxes": np.zeros((1, 4), np.float32), "at": np.array([index], np.int32)}
    with pytest.raises(OperationFailure, match=f"`box_indices` names picture {index}, and `x` has 2"):
        applied("crop_resize(x, boxes, at)", inputs)
    inputs = {"x": picture(2, 1, 3, 3), "roi": np.array([index, 0, 0, 1, 1], np.float32).reshape(1, 1, 5, 1, 1)}
    with pytest.raises(OperationFailure, match=f"`roi` names picture {index}, and `x` has 2"):
        applied("crop_resize(x, roi)", inputs, opset="ios16")


def test_a_box_that_is_nowhere_holds_nothing() -> None:
    inputs = {"x": picture(1, 1, 3, 3), "boxes": np.array([[np.nan, 0, 1, 1]], np.float32)}
    assert np.isnan(applied("crop_resize(x, boxes, target_height = 2)", inputs)[0]).all()
