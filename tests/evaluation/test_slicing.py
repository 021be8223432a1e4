"""What is taken of tensors, and written into them, held against Python's own slices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.one_operation import applied, counted, taken

from miltext.evaluation.failures import OperationFailure

SLICES: list[tuple[tuple[int, ...], str, Any]] = [
    ((5,), "[1], [3]", np.s_[1:3]),
    ((5,), "[-4], [-1]", np.s_[1:4]),
    ((5,), "[0], [5], stride = [2]", np.s_[::2]),
    ((5,), "[4], [0], stride = [-1]", np.s_[4:0:-1]),
    ((5,), "[-1], [-6], stride = [-1]", np.s_[::-1]),
    ((5,), "[-1], [-2147483647], stride = [-2]", np.s_[::-2]),
    ((5,), "[2], [2147483647]", np.s_[2:]),
    ((5,), "[3], [0], end_mask = [true]", np.s_[3:]),
    ((5,), "[3], [2], begin_mask = [true]", np.s_[:2]),
    ((5,), "[3], [2], begin_mask = [true], end_mask = [true]", np.s_[:]),
    ((5,), "[3], [2], stride = [-2], begin_mask = [true], end_mask = [true]", np.s_[::-2]),
    ((5,), "[3], [0], stride = [-1], end_mask = [true]", np.s_[3::-1]),
    ((5,), "[3], [0], squeeze_mask = [true]", np.s_[3]),
    ((5,), "[-2], [0], squeeze_mask = [true]", np.s_[3]),
    ((5,), "[3], [0], begin_mask = [true], squeeze_mask = [true]", np.s_[0]),
    ((5,), "[3], [0], stride = [-1], begin_mask = [true], squeeze_mask = [true]", np.s_[0]),
    ((3, 4), "[1, 0], [2, 3]", np.s_[1:2, :3]),
    ((3, 4), "[1, 2], [9, 9], squeeze_mask = [true, true]", np.s_[1, 2]),
    ((3, 4), "[1, 0], [9, 4], squeeze_mask = [true, false], stride = [1, 3]", np.s_[1, ::3]),
    ((3, 4), "[0, -1], [0, 0], end_mask = [true, true]", np.s_[:, -1:]),
    ((2, 3, 1, 2, 4), "[0, 1, 0, 0, 3], [2, 3, 1, 1, 0], stride = [1, 1, 1, 1, -1]", np.s_[:2, 1:3, :1, :1, 3:0:-1]),
]


@pytest.mark.parametrize(("shape", "bounds", "index"), SLICES, ids=[bounds for _, bounds, _ in SLICES])
def test_a_slice_equals_that_of_python(shape: tuple[int, ...], bounds: str, index: Any) -> None:
    for dtype in taken("slice_by_index"):
        x = counted(shape, dtype)
        [made] = applied(f"slice_by_index(x, {bounds})", {"x": x})
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, x[index])


WRITTEN = [each for each in SLICES if not isinstance(counted(each[0], np.float32)[each[2]], np.float32)]


@pytest.mark.parametrize(("shape", "bounds", "index"), WRITTEN, ids=[bounds for _, bounds, _ in WRITTEN])
def test_an_update_takes_the_place_of_a_slice(shape: tuple[int, ...], bounds: str, index: Any) -> None:
    for dtype in taken("slice_update"):
        x = counted(shape, dtype)
        update = np.array(np.flip(x[index]), dtype) + np.array(1, dtype)
        [made] = applied(f"slice_update(x, u, {bounds})", {"x": x, "u": update})
        expected = x.copy()
        expected[index] = update
        assert made.dtype == dtype
        np.testing.assert_array_equal(made, expected)
        np.testing.assert_array_equal(x, counted(shape, dtype))


@pytest.mark.parametrize("bounds", ["[2], [2]", "[5], [9]"])
def test_a_slice_may_have_nothing(bounds: str) -> None:
    [made] = applied(f"slice_by_index(x, {bounds})", {"x": np.ones(5, np.float32)}, {"x": "tensor<fp32, [?]>"})
    assert made.shape == (0,)
    [made] = applied(
        f"slice_update(x, u, {bounds})",
        {"x": np.ones(5, np.float32), "u": np.ones(0, np.float32)},
        {"x": "tensor<fp32, [?]>", "u": "tensor<fp32, [?]>"},
    )
    assert made.tolist() == [1] * 5


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
@pytest.mark.parametrize(
    ("begin", "end", "expected"), [([1], [3], [2, 3]), ([-2], [5], [4, 5]), ([1], [-1], [2, 3, 4]), ([0], [99], None)]
)
def test_bounds_may_be_known_only_at_run_time(
    begin: list[int], end: list[int], expected: list[int] | None, dtype: type
) -> None:
    bounds: dict[str, Any] = {"b": np.array(begin, dtype), "e": np.array(end, dtype)}
    x = counted((5,), np.float32)
    [made] = applied("slice_by_index(x, b, e)", {"x": x, **bounds})
    assert made.tolist() == (x.tolist() if expected is None else expected)


def test_a_part_that_is_a_view_may_be_sliced_too() -> None:
    x = counted((5,), np.float32)
    _, part = applied("a, b = split(x, axis = 0, split_sizes = [1, 4])", {"x": x})
    [made] = applied("slice_by_index(x, [1], [3])", {"x": part})
    assert made.tolist() == [3, 4]


SIZES: list[tuple[tuple[int, ...], str, Any]] = [
    ((5,), "[1], [3]", np.s_[1:4]),
    ((5,), "[-2], [2]", np.s_[3:]),
    ((5,), "[2], [-1]", np.s_[2:]),
    ((3, 4), "[0, 1], [-1, 2]", np.s_[:, 1:3]),
    ((3, 4), "[2, -4], [1, 4]", np.s_[2:]),
    ((1, 2, 3, 2, 2), "[0, 0, 1, 1, 0], [1, 2, 2, 1, -1]", np.s_[:, :, 1:, 1:]),
]


@pytest.mark.parametrize(("shape", "stretch", "index"), SIZES, ids=[stretch for _, stretch, _ in SIZES])
def test_a_stretch_is_taken_by_its_size(shape: tuple[int, ...], stretch: str, index: Any) -> None:
    begin, size = (np.array(each.strip("[] ").split(", "), np.int32) for each in stretch.split("], "))
    for dtype in taken("slice_by_size"):
        x = counted(shape, dtype)
        for call in (f"slice_by_size(x, {stretch})", "slice_by_size(x, b, s)"):
            [made] = applied(call, {"x": x, "b": begin, "s": size})
            assert made.dtype == dtype
            np.testing.assert_array_equal(made, x[index])


def test_a_stretch_of_nothing_is_empty() -> None:
    x = {"x": np.ones([0, 3], np.float32)}
    [made] = applied("slice_by_size(x, [0, 1], [-1, 2])", x, {"x": "tensor<fp32, [?, 3]>"})
    assert made.shape == (0, 2)


UNFIT = [
    ("slice_by_index(x, b, e, squeeze_mask = [true])", [5], [0], "`begin` is 5 at axis 0, and `x` has 5 there"),
    ("slice_by_index(x, b, e, squeeze_mask = [true])", [-6], [0], "`begin` is -6 at axis 0, and `x` has 5 there"),
    ("slice_update(x, u, b, e)", [0], [3], r"`update` has the shape \[2\], but the slice has \[3\]"),
    ("slice_update(x, u, b, e)", [3], [1], r"`update` has the shape \[2\], but the slice has \[0\]"),
    ("slice_by_size(x, b, e)", [3], [3], "`size` is 3 from `begin` 3 on, and axis 0 of `x` has 5"),
    ("slice_by_size(x, b, e)", [-6], [1], "`size` is 1 from `begin` -6 on, and axis 0 of `x` has 5"),
    ("slice_by_size(x, b, e)", [6], [-1], "`size` is -1 from `begin` 6 on, and axis 0 of `x` has 5"),
    ("slice_by_size(x, b, e)", [0], [-2], "`size` is -2 from `begin` 0 on, and axis 0 of `x` has 5"),
]


@pytest.mark.parametrize(("call", "b", "e", "told"), UNFIT)
def test_a_missing_part_is_reported_at_its_operation(call: str, b: list[int], e: list[int], told: str) -> None:
    bounds = {"b": np.array(b, np.int32), "e": np.array(e, np.int32)}
    with pytest.raises(OperationFailure, match=told):
        applied(call, {"x": np.ones(5, np.float32), "u": np.ones(2, np.float32), **bounds})
