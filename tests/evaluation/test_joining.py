"""What is put together, and taken apart, held against numpy's indexing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.one_operation import DTYPES, applied, counted, taken

from miltext.evaluation.failures import OperationFailure

PARTS = [
    ([(2, 3), (1, 3)], 0),
    ([(2, 3), (2, 0), (2, 1)], -1),
    ([(2, 3)], 1),
    ([(3,), (0,), (2,)], 0),
    ([(0, 2), (0, 2)], 1),
    ([(1, 2, 1, 2, 3), (1, 2, 4, 2, 3)], -3),
]


@pytest.mark.parametrize(("shapes", "axis"), PARTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_are_one_after_another(shapes: list[tuple[int, ...]], axis: int, dtype: Any) -> None:
    values = {f"v{place}": counted(shape, dtype) for place, shape in enumerate(shapes)}
    [made] = applied(f"concat(({', '.join(values)}), axis = {axis})", values)
    assert made.dtype == dtype
    ends = np.cumsum([shape[axis] for shape in shapes])
    for value, end in zip(values.values(), ends, strict=True):
        part = np.take(made, range(end - value.shape[axis], end), axis)
        np.testing.assert_array_equal(part, value)
    assert made.shape[axis] == ends[-1]


def test_scalars_are_in_a_vector() -> None:
    values = {"a": np.array(1, np.int32), "b": np.array(5, np.int32)}
    for more in ("", ", interleave = true", ", interleave = false"):
        [made] = applied(f"concat((a, b, a), axis = 0{more})", values)
        assert made.tolist() == [1, 5, 1]


@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 0), ((2, 3), 1), ((2, 3), -2), ((3,), 0), ((2, 1, 2, 3), 2)])
def test_interleaved_elements_take_turns(shape: tuple[int, ...], axis: int) -> None:
    a = counted(shape, np.float16)
    [made] = applied(f"concat((a, b, c), axis = {axis}, interleave = true)", {"a": a, "b": a * 2, "c": -a})
    for turn, value in enumerate([a, a * 2, -a]):
        np.testing.assert_array_equal(np.take(made, range(turn, made.shape[axis], 3), axis), value)


@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 0), ((2, 3), 2), ((2, 3), -1), ((), 0), ((0, 2), 1), ((3,), -2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_stacked_tensors_are_along_a_further_dimension(shape: tuple[int, ...], axis: int, dtype: Any) -> None:
    a, b = counted(shape, dtype), np.zeros(shape, dtype)
    [made] = applied(f"stack((a, b, a), axis = {axis})", {"a": a, "b": b})
    assert made.dtype == dtype
    assert made.ndim == len(shape) + 1
    for place, value in enumerate([a, b, a]):
        np.testing.assert_array_equal(np.take(made, place, axis), value)


SPLITS = [
    ((6,), "axis = 0, num_splits = 3", [np.s_[:2], np.s_[2:4], np.s_[4:]]),
    ((2, 6), "axis = -1, num_splits = 2", [np.s_[:, :3], np.s_[:, 3:]]),
    ((2, 6), "axis = 1, split_sizes = [1, 3, 2]", [np.s_[:, :1], np.s_[:, 1:4], np.s_[:, 4:]]),
    ((5, 2), "axis = -2, num_splits = 2, split_sizes = [4, 1]", [np.s_[:4], np.s_[4:]]),
    ((0, 2), "axis = 1, num_splits = 2", [np.s_[:, :1], np.s_[:, 1:]]),
    ((3,), "axis = 0, split_sizes = [0, 3]", [np.s_[:0], np.s_[:]]),
    ((3,), "axis = 0, split_sizes = [3]", [np.s_[:]]),
    ((3,), "axis = 0, num_splits = 1", [np.s_[:]]),
]


@pytest.mark.parametrize(("shape", "how", "indices"), SPLITS, ids=[how for _, how, _ in SPLITS])
def test_parts_match_a_split(shape: tuple[int, ...], how: str, indices: list[Any]) -> None:
    for dtype in taken("split"):
        x = counted(shape, dtype)
        names = ", ".join(f"p{place}" for place in range(len(indices)))
        made = applied(f"{names} = split(x, {how})", {"x": x})
        for part, index in zip(made, indices, strict=True):
            assert part.dtype == dtype
            np.testing.assert_array_equal(part, x[index])


UNFIT = [
    ("a, b = split(x, axis = 0, num_splits = 2)", 5, "`num_splits` is 2, and `axis` 0 of `x` has 5"),
    ("a, b = split(x, axis = 0, split_sizes = [2, 2])", 5, r"`split_sizes` are \[2, 2\], and `axis` 0 of `x` has 5"),
    ("concat((x, y), axis = 1)", 3, "has no result"),
    ("concat((x, y), axis = 0, interleave = true)", 3, "has no result"),
    ("stack((x, y), axis = 0)", 3, "has no result"),
]


@pytest.mark.parametrize(("call", "size", "told"), UNFIT)
def test_shapes_that_do_not_fit_are_reported_at_their_operation(call: str, size: int, told: str) -> None:
    unknown = {"x": "tensor<fp32, [?, 2]>", "y": "tensor<fp32, [?, 2]>"}
    with pytest.raises(OperationFailure, match=told):
        applied(call, {"x": np.ones([size, 2], np.float32), "y": np.ones([2, 2], np.float32)}, unknown)
