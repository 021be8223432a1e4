"""Activations, held against torch and against their formulas in float64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.one_operation import applied

Array = npt.NDArray[Any]

FLOATS = [(np.float32, "float32", 3e-6), (np.float16, "float32", 6e-4), (np.float16, "native", 8e-3)]
"""Data types, how they are computed with, and how far from the true number results may be."""

ABSOLUTE = {
    "float32": {"gelu": 5e-7},
    "native": dict.fromkeys(["gelu", "elu", "linear_activation", "sigmoid_hard"], 4e-3),
}
"""How far they may be where 1 or another number cancels out."""

LARGE = [0.0, -0.0, 20, -20, 88, -88, 89, -89, 100, -100, 104, -104, 1e4, -1e4, 6e4, -6e4]
SPECIAL = [np.inf, -np.inf, np.nan]


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


FORMULAS: dict[str, Callable[..., float]] = {
    "relu(x)": lambda x: max(x, 0),
    "relu6(x)": lambda x: min(max(x, 0), 6),
    "leaky_relu(x, alpha = 0.125)": lambda x: x if x >= 0 else 0.125 * x,
    "leaky_relu(x, alpha = -2.0)": lambda x: x if x >= 0 else -2 * x,
    "clamped_relu(x, alpha = 0.5, beta = 3.0)": lambda x: min(x, 3) if x >= 0 else min(0.5 * x, 3),
    "clamped_relu(x, alpha = 2.0, beta = -1.0)": lambda x: min(x, -1) if x >= 0 else min(2 * x, -1),
    "thresholded_relu(x, alpha = 1.5)": lambda x: x if x >= 1.5 else 0,
    "linear_activation(x, alpha = -0.5, beta = 2.0)": lambda x: -0.5 * x + 2,
    "sigmoid_hard(x, alpha = 0.25, beta = 0.5)": lambda x: min(max(0.25 * x + 0.5, 0), 1),
    "sigmoid(x)": logistic,
    "silu(x)": lambda x: x * logistic(x),
    'gelu(x, mode = "EXACT")': lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    "gelu(x)": lambda x: 0.5 * x * math.erfc(-x / math.sqrt(2)),
    'gelu(x, mode = "TANH_APPROXIMATION")': lambda x: (
        0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    ),
    'gelu(x, mode = "SIGMOID_APPROXIMATION")': lambda x: x * logistic(1.702 * x),
    "elu(x, alpha = 1.5)": lambda x: x if x > 0 else 1.5 * math.expm1(x),
    "scaled_tanh(x, alpha = 1.75, beta = 0.625)": lambda x: 1.75 * math.tanh(0.625 * x),
    "softsign(x)": lambda x: x / (1 + abs(x)),
    "softplus(x)": lambda x: max(x, 0) + math.log1p(math.exp(-abs(x))),
}


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), FLOATS)
@pytest.mark.parametrize("call", FORMULAS)
def test_an_activation_is_its_formula(call: str, dtype: Any, compute: str, tolerance: float) -> None:
    large = [x for x in LARGE if not ("_relu" in call and abs(x) > 1e4)]  # where twice x is too large for fp16
    x = np.concatenate([np.linspace(-12, 12, 601), np.geomspace(1e-7, 1, 30), -np.geomspace(1e-7, 1, 30), large])
    x = x.astype(dtype)
    [made] = applied(call, {"x": x}, compute=compute)
    expected = np.array([FORMULAS[call](each) for each in x.tolist()])
    assert made.dtype == dtype
    smallest = ABSOLUTE[compute].get(call.partition("(")[0], 1e-42 if dtype == np.float32 else 6e-8)
    np.testing.assert_allclose(made.astype(float), expected, rtol=tolerance, atol=smallest)


CURVES = [call for call in FORMULAS if not call.startswith(("silu", "gelu", "softsign"))]


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), FLOATS)
@pytest.mark.parametrize("call", CURVES)
def test_nan_continues_and_ends_are_limits(call: str, dtype: Any, compute: str, tolerance: float) -> None:
    [made] = applied(call, {"x": np.array(SPECIAL, dtype)}, compute=compute)
    far = [FORMULAS[call](x) for x in (700.0, -700.0)]
    limits = [math.copysign(math.inf, end) if abs(end) > 80 else end for end in far]
    np.testing.assert_allclose(made[:2].astype(float), limits, rtol=tolerance, atol=1e-7)
    assert np.isnan(made[2])


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0, 3), (2, 3), (1, 2, 1, 3, 2)])
@pytest.mark.parametrize("call", FORMULAS)
def test_any_shape_is_kept(call: str, shape: tuple[int, ...]) -> None:
    for dtype, compute, tolerance in FLOATS:
        [made] = applied(call, {"x": np.full(shape, 2, dtype)}, compute=compute)
        assert (made.shape, made.dtype) == (shape, dtype)
        np.testing.assert_allclose(made.astype(float), np.full(shape, FORMULAS[call](2.0)), rtol=tolerance)


def test_slopes_may_be_of_another_type_than_x() -> None:
    x = np.array([-2, 3], np.float16)
    for compute in ("float32", "native"):
        assert applied("leaky_relu(x, alpha = fp32(0.5))", {"x": x}, compute=compute)[0].tolist() == [-1, 3]


# ---- a number for each channel


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), FLOATS)
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (1, 3, 2, 2, 2), (2, 3, 0, 4), (0, 3, 1, 1)])
def test_prelu_has_a_slope_for_each_channel(shape: tuple[int, ...], dtype: Any, compute: str, tolerance: float) -> None:
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(1).normal(size=shape).astype(dtype)
    slopes = [0.25, 0.25, 0.25] if len(shape) != 4 else [0.25, -0.5, 2.0]
    [made] = applied(f"prelu(x, alpha = {slopes})", {"x": x}, compute=compute)
    tensors = [torch.tensor(np.asarray(each, float)) for each in (x, slopes)]
    assert made.dtype == dtype
    np.testing.assert_allclose(made.astype(float), torch.nn.functional.prelu(*tensors).numpy(), rtol=tolerance)


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), FLOATS)
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 5), (1, 3, 2, 2, 2), (2, 3, 0, 4)])
def test_softplus_has_numbers_for_each_channel(
    shape: tuple[int, ...], dtype: Any, compute: str, tolerance: float
) -> None:
    x = np.random.default_rng(2).normal(size=shape, scale=30).astype(dtype)
    [made] = applied(
        "softplus_parametric(x, alpha = [1.0, -2.0, 0.5], beta = [0.5, 4.0, -1.0])", {"x": x}, compute=compute
    )
    alpha, beta = (np.reshape(each, (3, *[1] * (len(shape) - 2))) for each in ([1.0, -2.0, 0.5], [0.5, 4.0, -1.0]))
    assert made.dtype == dtype
    expected = alpha * np.logaddexp(0, beta * x.astype(float))
    np.testing.assert_allclose(made.astype(float), expected, rtol=3 * tolerance, atol=6e-8)


# ---- softmax

SHARES = [((5,), 0), ((5,), -1), ((2, 3), 0), ((2, 3), 1), ((4, 2, 3), 1), ((2, 3, 2, 2), -3), ((1, 2, 3, 2, 2), 4)]


@pytest.mark.parametrize(("dtype", "compute", "tolerance"), FLOATS)
@pytest.mark.parametrize(("shape", "axis"), SHARES)
@pytest.mark.parametrize("scale", [1, 1000])
def test_softmax(shape: tuple[int, ...], axis: int, scale: float, dtype: Any, compute: str, tolerance: float) -> None:
    torch = pytest.importorskip("torch")
    x = (np.random.default_rng(3).normal(size=shape) * scale).astype(dtype)
    kept = x.copy()
    [made] = applied(f"softmax(x, axis = {axis})", {"x": x}, compute=compute)
    assert made.dtype == dtype
    np.testing.assert_array_equal(x, kept)
    expected = torch.softmax(torch.from_numpy(x.astype(float)), axis).numpy()
    np.testing.assert_allclose(made.astype(float), expected, rtol=tolerance, atol=6e-8)
    if axis == -1:
        np.testing.assert_array_equal(applied("softmax(x)", {"x": x}, compute=compute)[0], made)


@pytest.mark.parametrize(("shape", "axis"), [((0,), 0), ((2, 0), 1), ((2, 0), 0), ((0, 3), 1)])
def test_softmax_of_nothing(shape: tuple[int, ...], axis: int) -> None:
    assert applied(f"softmax(x, axis = {axis})", {"x": np.zeros(shape, np.float32)})[0].shape == shape


def test_softmax_of_a_scalar() -> None:
    [made] = applied("softmax(x)", {"x": np.float32(3).reshape(())})
    assert (made.shape, made) == ((), 1)


def test_softmax_of_infinities_is_as_torch_has_it() -> None:
    torch = pytest.importorskip("torch")
    x = np.array([[1, -np.inf, 2], [-np.inf] * 3, [np.inf, 1, 2], [np.nan, 1, 2], [3e38, -3e38, 3e38]], np.float32)
    [made] = applied("softmax(x)", {"x": x})
    np.testing.assert_allclose(made, torch.softmax(torch.from_numpy(x), -1).numpy(), rtol=1e-6)
