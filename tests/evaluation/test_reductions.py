"""Reductions and running sums, held against torch in float64 and Python's own integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.one_operation import applied

from miltext.evaluation.failures import OperationFailure

Array = npt.NDArray[Any]

FLOATS = [(np.float32, "float32", 2e-6), (np.float16, "float32", 6e-4), (np.float16, "native", 2e-2)]

PLAIN: dict[str, Callable[[list[float]], float]] = {
    "reduce_sum": math.fsum,
    "reduce_mean": lambda numbers: math.fsum(numbers) / len(numbers),
    "reduce_prod": math.prod,
    "reduce_max": max,
    "reduce_min": min,
    "reduce_sum_square": lambda numbers: math.fsum(each * each for each in numbers),
    "reduce_l1_norm": lambda numbers: math.fsum(map(abs, numbers)),
    "reduce_l2_norm": lambda numbers: math.sqrt(math.fsum(each * each for each in numbers)),
    "reduce_log_sum": lambda numbers: math.log(math.fsum(numbers)),
    "reduce_log_sum_exp": lambda numbers: math.log(math.fsum(map(math.exp, numbers))),
}
"""Each reduction of the numbers that come together."""

AXES: list[tuple[tuple[int, ...], tuple[int, ...] | None]] = [
    ((1,), None),
    ((5,), (0,)),
    ((5,), (-1,)),
    ((2, 3), None),
    ((2, 3), (0,)),
    ((2, 3), (-1,)),
    ((2, 3), (0, 1)),
    ((2, 3), (1, 0)),
    ((4, 1, 3), (1,)),
    ((2, 3, 4), (0, -1)),
    ((2, 3, 2, 2, 3), (1, 3)),
    ((0, 3), (1,)),
    ((2, 3, 0, 2), (-1, 1)),
]


def expected_of(name: str, x: Array, axes: tuple[int, ...] | None, keep: bool) -> Array:
    """Compute one reduction number by number, in float64."""
    places = sorted(axis % x.ndim for axis in (range(x.ndim) if axes is None else axes))
    others = [axis for axis in range(x.ndim) if axis not in places]
    rows = x.transpose(*others, *places).reshape(
        [math.prod(x.shape[axis] for axis in some) for some in (others, places)]
    )
    made = np.array([PLAIN[name](row) for row in rows.tolist()])
    kept = [1 if axis in places else size for axis, size in enumerate(x.shape) if keep or axis not in places]
    return made.reshape(kept)


def call_of(name: str, axes: tuple[int, ...] | None, keep: bool) -> str:
    along = "" if axes is None else f", axes = {list(axes)}"
    return f"{name}(x{along}{', keep_dims = true' if keep else ''})"


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), FLOATS)
@pytest.mark.parametrize("name", PLAIN)
def test_floats(name: str, dtype: Any, compute: str, tolerance: float) -> None:
    for place, (shape, axes) in enumerate(AXES):
        x = np.array(np.random.default_rng(1).uniform(0.5, 2, shape), dtype)
        keep = place % 2 == 0
        [made] = applied(call_of(name, axes, keep), {"x": x}, compute=compute)
        expected = expected_of(name, x, axes, keep)
        assert (made.shape, made.dtype) == (expected.shape, dtype)
        np.testing.assert_allclose(made.astype(float), expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", PLAIN)
def test_integers_lose_their_fraction(name: str) -> None:
    for place, (shape, axes) in enumerate(AXES):
        x = np.array(np.random.default_rng(2).integers(1, 12, shape), np.int32)
        keep = place % 2 == 1
        [made] = applied(call_of(name, axes, keep), {"x": x})
        expected = expected_of(name, x, axes, keep)
        assert (made.shape, made.dtype) == (expected.shape, np.int32)
        np.testing.assert_array_equal(made, np.trunc(expected))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reduce_sum", -2),
        ("reduce_prod", 1),
        ("reduce_mean", 2**31 - 1),
        ("reduce_max", 2**31 - 1),
        ("reduce_sum_square", 2),
        ("reduce_l1_norm", -2),
        ("reduce_l2_norm", 2**31 - 1),
        ("reduce_log_sum_exp", 2**31 - 1),
    ],
)
def test_integers_wrap_around_in_the_end_only(name: str, expected: int) -> None:
    x = np.array([2**31 - 1, 2**31 - 1], np.int32)
    assert applied(f"{name}(x)", {"x": x})[0].tolist() == expected


def test_a_mean_of_integers_is_cut_off_towards_zero() -> None:
    for numbers, mean in (([-1, -2], -1), ([1, 2], 1), ([-7, 2], -2)):
        assert applied("reduce_mean(x)", {"x": np.array(numbers, np.int32)})[0].tolist() == mean


# ---- what is special


def test_no_axes_leave_each_element_for_itself() -> None:
    x = np.array([[1, 2], [3, 4]], np.float32)
    for name, expected in (("reduce_sum", x), ("reduce_mean", x), ("reduce_max", x), ("reduce_sum_square", x * x)):
        call = f"{name}(x, axes = tensor<int32, [0]>([]))"
        np.testing.assert_array_equal(applied(call, {"x": x}, {"made": "tensor<fp32, [2, 2]>"})[0], expected)


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "reduce_sum", "reduce_mean", "reduce_prod"])
def test_nan_continues(name: str) -> None:
    x = np.array([[1, np.nan, 2], [1, 2, 3]], np.float32)
    assert np.isnan(applied(f"{name}(x, axes = [1])", {"x": x})[0]).tolist() == [True, False]


EMPTY = {
    "reduce_sum": 0,
    "reduce_prod": 1,
    "reduce_sum_square": 0,
    "reduce_l1_norm": 0,
    "reduce_l2_norm": 0,
    "reduce_log_sum": -np.inf,
    "reduce_log_sum_exp": -np.inf,
    "reduce_mean": np.nan,
}


@pytest.mark.parametrize("name", EMPTY)
def test_reductions_of_empty_axes(name: str) -> None:
    x = np.zeros((2, 0), np.float32)
    np.testing.assert_array_equal(applied(f"{name}(x, axes = [1])", {"x": x})[0], [EMPTY[name]] * 2)
    np.testing.assert_array_equal(applied(f"{name}(x)", {"x": x})[0], EMPTY[name])


@pytest.mark.parametrize(
    "call", ["reduce_max(x)", "reduce_min(x, axes = [1])", "reduce_argmax(x, axis = 1)", "reduce_argmin(x, axis = -1)"]
)
def test_nothing_has_no_greatest(call: str) -> None:
    with pytest.raises(OperationFailure, match="`x` has no elements along the axes"):
        applied(call, {"x": np.zeros((2, 0), np.float32)})


def test_no_integers_have_no_mean() -> None:
    with pytest.raises(OperationFailure, match="`x` has no elements along `axes`"):
        applied("reduce_mean(x)", {"x": np.zeros((0,), np.int32)})


@pytest.mark.parametrize("compute", ["float32", "native"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_log_sum_exp_of_large_and_infinite_numbers(dtype: Any, compute: str) -> None:
    torch = pytest.importorskip("torch")
    rows = [[1000, 1000], [-1000, -1001], [-np.inf, -np.inf], [np.inf, 1], [-np.inf, 2], [np.nan, 1], [6e4, -6e4]]
    x = np.array(rows, dtype)
    [made] = applied("reduce_log_sum_exp(x, axes = [1])", {"x": x}, compute=compute)
    expected = torch.logsumexp(torch.from_numpy(x.astype(float)), 1).numpy()
    np.testing.assert_allclose(made.astype(float), expected, rtol=2e-7 if dtype == np.float32 else 1e-3)


def test_many_numbers_are_added_up_well() -> None:
    x = np.full((1, 1 << 20), 0.1, np.float32)
    exact = float(np.float32(0.1)) * (1 << 20)
    assert applied("reduce_sum(x)", {"x": x})[0] == pytest.approx(exact, rel=1e-6)
    assert applied("reduce_mean(x, axes = [1])", {"x": x})[0][0] == pytest.approx(0.1, rel=1e-6)
    halves = np.full(4096, 100, np.float16)
    for compute in ("float32", "native"):
        assert applied("reduce_mean(x)", {"x": halves}, compute=compute)[0] == 100


# ---- places


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((5,), -1), ((1,), 0), ((3, 4), 0), ((2, 3, 4), 1), ((2, 1, 3, 2, 2), -2), ((0, 3), 1)]
)
def test_places(name: str, shape: tuple[int, ...], axis: int) -> None:
    torch = pytest.importorskip("torch")
    for dtype in (np.float32, np.float16, np.int32):
        x = np.random.default_rng(3).permutation(math.prod(shape)).reshape(shape).astype(dtype)
        for keep in (False, True):
            expected = getattr(torch, name)(torch.from_numpy(x), axis, keep).numpy()
            for wanted in ("", ', output_dtype = "int32"', ', output_dtype = "uint16"'):
                call = f"reduce_{name}(x, axis = {axis}, keep_dims = {str(keep).lower()}{wanted})"
                [made] = applied(call, {"x": x})
                assert made.dtype == (np.uint16 if "uint16" in wanted else np.int32)
                np.testing.assert_array_equal(made, expected)


def test_places_by_default() -> None:
    x = np.array([[1, 9, 2], [9, 9, 7]], np.float32)
    assert applied("reduce_argmax(x)", {"x": x}, opset="ios15")[0].tolist() == [1, 0]
    assert applied("reduce_argmin(x)", {"x": x})[0].tolist() == [0, 2]
    assert applied("reduce_argmax(x)", {"x": np.array([1, np.nan, 3], np.float16)})[0].tolist() == 1


def test_places_beyond_uint16() -> None:
    x = np.zeros((2, 65537), np.float32)
    x[0, 65535] = 1
    call = 'reduce_argmax(x, output_dtype = "uint16")'
    assert applied(call, {"x": x})[0].tolist() == [65535, 0]
    x[1, 65536] = 1
    assert applied("reduce_argmax(x)", {"x": x})[0].tolist() == [65535, 65536]
    with pytest.raises(
        OperationFailure, match="`output_dtype` is uint16, which ends at 65535, and there is a place 65536"
    ):
        applied(call, {"x": x})


# ---- running sums


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), [*FLOATS, (np.int32, "float32", 0)])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"), [((5,), 0), ((1,), -1), ((2, 3), 1), ((2, 3), 0), ((2, 3, 4), 1), ((0, 2), 0), ((2, 0), 0)]
)
def test_running_sums(
    shape: tuple[int, ...], axis: int, reverse: bool, exclusive: bool, dtype: Any, compute: str, tolerance: float
) -> None:
    x = (np.arange(math.prod(shape)).reshape(shape) % 7 + 1).astype(dtype)
    flags = f"exclusive = {str(exclusive).lower()}, reverse = {str(reverse).lower()}"
    [made] = applied(f"cumsum(x, axis = {axis}, {flags})", {"x": x}, compute=compute)

    def sums(row: Array) -> list[float]:
        numbers = row.tolist()[:: -1 if reverse else 1]
        return list(accumulate([0, *numbers] if exclusive else numbers))[: len(numbers)][:: -1 if reverse else 1]

    expected = np.apply_along_axis(sums, axis, x) if x.size else x
    assert made.dtype == dtype
    np.testing.assert_allclose(made.astype(float), expected, rtol=tolerance)


def test_running_sums_by_default() -> None:
    x = np.array([[1, 2], [3, 4]], np.int32)
    assert applied("cumsum(x)", {"x": x})[0].tolist() == [[1, 2], [4, 6]]
    most = np.array([2**31 - 1, 1], np.int32)
    assert applied("cumsum(x)", {"x": most})[0].tolist() == [2**31 - 1, -(2**31)]
