"""Pooling: each kind against a definition that goes over the windows one by one, and against torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.layers import MODES, assert_near, layer, numbers

SHAPES = {"1-d": (2, 3, 9), "2-d": (2, 3, 7, 6), "3-d": (1, 2, 5, 4, 6), "an empty batch": (0, 3, 5)}
STEPS = {"by one": 1, "apart": 3, "side by side": 2}


def windows(x: Any, kernel: int, stride: int, pads: Any) -> Any:
    """Return the elements of each window that are of `x`, by the place of the window."""
    counts = [(size + sum(pad) - kernel) // stride + 1 for size, pad in zip(x.shape[2:], pads, strict=True)]
    for n, c, *place in np.ndindex(*x.shape[:2], *counts):
        starts = [at * stride - before for at, (before, _) in zip(place, pads, strict=True)]
        seen = tuple(slice(max(0, start), max(0, start + kernel)) for start in starts)
        yield (n, c, *place), x[n, c][seen]


def defined(op: str, x: Any, kernel: int, stride: int, pads: Any, *, excluded: bool) -> Any:
    """Return what a pooling makes of windows of one size along each axis."""
    found = dict(windows(x, kernel, stride, pads))
    counts = [(size + sum(pad) - kernel) // stride + 1 for size, pad in zip(x.shape[2:], pads, strict=True)]
    out = np.zeros((*x.shape[:2], *counts))
    for place, seen in found.items():
        if op == "max_pool":
            out[place] = seen.max()
        elif op == "l2_pool":
            out[place] = np.sqrt((seen**2).sum())
        else:
            out[place] = seen.sum() / (seen.size if excluded else kernel ** (x.ndim - 2))
    return out


@pytest.mark.parametrize("mode", MODES, ids="-".join)
@pytest.mark.parametrize("padded", [False, True], ids=["valid", "custom"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op", ["max_pool", "avg_pool", "l2_pool", "avg_pool excluding"])
def test_a_pooling_is_its_definition(op: str, shape: str, stride: int, padded: bool, mode: Any) -> None:
    x, rank, kernel = numbers(1, *SHAPES[shape]), len(SHAPES[shape]) - 2, 2 + padded
    if op == "l2_pool" and rank > 2:
        x, rank = x[..., 0], 2  # coremltools has it for one and two axes
    op, _, excluded = op.partition(" ")
    pads = [(1, axis % 2) if padded else (0, 0) for axis in range(rank)]
    attributes = f"kernel_sizes = {[kernel] * rank}, strides = {[stride] * rank}"
    attributes += f', pad_type = "custom", pad = {[each for pair in pads for each in pair]}'
    attributes += ", exclude_padding_from_average = true" * bool(excluded)
    found = layer(op, {"x": x}, attributes, mode=mode)
    assert_near(found, defined(op, x, kernel, stride, pads, excluded=bool(excluded)), mode)


@pytest.mark.parametrize("elements", [1, 50, 200])
@pytest.mark.parametrize("op", ["max_pool", "avg_pool", "l2_pool"])
def test_a_pooling_in_parts_is_the_same(op: str, elements: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miltext.evaluation.operations.windows.PART_ELEMENTS", elements)
    x = numbers(1, 2, 3, 7, 6)
    found = layer(op, {"x": x}, 'kernel_sizes = [3, 3], pad_type = "custom", pad = [1, 1, 1, 1]')
    assert_near(found, defined(op, x, 3, 1, [(1, 1), (1, 1)], excluded=False), MODES[0])


@pytest.mark.parametrize("pad_type", ["same", "same_lower"])
@pytest.mark.parametrize("op", ["max_pool", "avg_pool", "l2_pool"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "total"), [(7, 3, 1, 2), (7, 4, 1, 3), (8, 3, 2, 1), (5, 1, 3, 0)]
)
def test_same_makes_as_many_windows_as_strides(
    size: int, kernel: int, stride: int, total: int, op: str, pad_type: str
) -> None:
    x = numbers(1, 1, 2, size)
    less, more = total // 2, total - total // 2
    pads = [(less, more) if pad_type == "same" else (more, less)]
    attributes = f'kernel_sizes = [{kernel}], strides = [{stride}], pad_type = "{pad_type}"'
    found = layer(op, {"x": x}, attributes)
    assert found.shape[2] == -(-size // stride)
    assert_near(found, defined(op, x, kernel, stride, pads, excluded=False), MODES[0])


@pytest.mark.parametrize("excluded", [False, True])
@pytest.mark.parametrize("op", ["max_pool", "avg_pool"])
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize("size", range(4, 11))
def test_a_number_of_windows_that_is_rounded_up_is_as_in_torch(size: int, pad: int, op: str, excluded: bool) -> None:
    torch = pytest.importorskip("torch")
    x = numbers(1, 2, 2, size, size + 3)
    attributes = f'kernel_sizes = [3, 2], strides = [2, 2], ceil_mode = true, pad_type = "custom", pad = {[pad] * 4}'
    attributes += ", exclude_padding_from_average = true" * (excluded and op == "avg_pool")
    options = {"kernel_size": (3, 2), "stride": (2, 2), "padding": pad, "ceil_mode": True}
    if op == "avg_pool":
        expected = torch.nn.functional.avg_pool2d(torch.tensor(x), **options, count_include_pad=not excluded)
    else:
        expected = torch.nn.functional.max_pool2d(torch.tensor(x), **options)
    assert_near(layer(op, {"x": x}, attributes), expected.numpy(), MODES[0])


@pytest.mark.parametrize(("op", "nothing"), [("max_pool", -np.inf), ("avg_pool", np.nan), ("l2_pool", 0)])
@pytest.mark.parametrize("excluded", [False, True])
def test_a_window_that_has_nothing(op: str, nothing: float, excluded: bool) -> None:
    # coremltools declares this window where nothing is padded (ops/defs/_utils.py), and torch does not make it
    attributes = 'kernel_sizes = [2], strides = [4], ceil_mode = true, pad_type = "valid"'
    attributes += ", exclude_padding_from_average = true" * (excluded and op == "avg_pool")
    found = layer(op, {"x": np.ones((1, 1, 3))}, attributes)
    assert found.shape == (1, 1, 2)
    np.testing.assert_equal(found[0, 0, 1], nothing)


@pytest.mark.parametrize("op", ["max_pool", "avg_pool", "l2_pool"])
def test_nan_and_infinity_pass_through_their_windows_alone(op: str) -> None:
    x = np.array([[[1, 1, np.nan, 1, 1, 1, np.inf, 1]]])
    found = layer(op, {"x": x}, 'kernel_sizes = [2], strides = [2], pad_type = "valid"')
    assert np.isfinite(found[0, 0]).tolist() == [True, False, True, False]
    assert np.isnan(found[0, 0, 1])
    assert np.isposinf(found[0, 0, 3])


def test_all_of_an_axis_is_one_window() -> None:
    x = numbers(1, 2, 3, 5, 400)
    found = layer("avg_pool", {"x": x}, 'kernel_sizes = [5, 400], pad_type = "valid"')
    assert_near(found, x.mean(axis=(2, 3), keepdims=True), MODES[0])
