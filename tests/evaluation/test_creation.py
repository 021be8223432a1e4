"""Tensors that are filled, counted or drawn."""

from __future__ import annotations

import re
from math import ceil
from typing import Any

import numpy as np
import pytest
from support.evaluation import computed
from support.one_operation import DTYPES, applied, taken

from miltext.evaluation.failures import OperationFailure

# ---- filled


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2), (1, 2, 1, 3, 2)])
@pytest.mark.parametrize(
    ("options", "value", "dtype"),
    [
        ("", 0, np.float32),
        (", value = fp32(2.5)", 2.5, np.float32),
        (", value = fp16(0.1)", float(np.float16(0.1)), np.float16),
        (", value = int32(-7)", -7, np.int32),
        (", value = true", True, np.bool_),
    ],
)
def test_fill(shape: tuple[int, ...], options: str, value: Any, dtype: Any) -> None:
    [made] = applied(f"fill(shape = s{options})", {"s": np.array(shape, np.int32)})
    assert made.shape == shape
    assert made.dtype == dtype
    assert set(made.ravel().tolist()) <= {value}
    for given in taken("fill_like", parameter="ref_tensor"):
        [like] = applied(f"fill_like(ref_tensor = x{options})", {"x": np.ones(shape, given)})
        assert np.array_equal(like, made)
        assert like.dtype == dtype


@pytest.mark.parametrize("op_type", ["fill", "random_uniform", "random_normal", "random_bernoulli"])
def test_a_size_that_is_negative_is_reported(op_type: str) -> None:
    with pytest.raises(OperationFailure, match=re.escape("`shape` is [2, -1], and a size cannot be negative")):
        applied(f"{op_type}(shape = s)", {"s": np.array([2, -1], np.int32)})


# ---- counted


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float16])
@pytest.mark.parametrize(
    ("start", "end", "step"),
    [
        (0, 5, 1),
        (0, 5, 2),
        (1, 7, 3),
        (5, 0, -1),
        (5, 0, -2),
        (-3, 4, 2),
        (0, 0, 1),
        (3, 3, -1),
        (5, 0, 1),
        (0, 300, 7),
    ],
)
def test_range_counts(start: int, end: int, step: int, dtype: Any) -> None:
    inputs = {name: np.array(value, dtype) for name, value in {"s": start, "e": end, "d": step}.items()}
    [made] = applied("range_1d(start = s, end = e, step = d)", inputs)
    assert made.tolist() == list(range(start, end, step))
    assert made.dtype == dtype


@pytest.mark.parametrize(
    ("start", "end", "step"),
    [(0, 1, 0.1), (0.5, 9.75, 0.25), (1, -1, -0.3), (0, 0.3, 0.1), (0, 1, 0.01), (0, 0.6, 0.2), (0, 1.2, 0.1)],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_range_has_as_many_numbers_as_inference_states(start: float, end: float, step: float, dtype: Any) -> None:
    name = DTYPES[np.dtype(dtype)]
    low, high, by = (float(dtype(each)) for each in (start, end, step))
    stated = ", ".join(f"{key} = {name}({value})" for key, value in [("start", low), ("end", high), ("step", by)])
    text = f"program(1.3) {{ func main<ios18>(fp32 x) {{ y = range_1d({stated}); }} -> (y); }}"
    count = ceil(np.float32(high - low) / np.float32(by))
    expected = [low + place * by for place in range(count)]
    assert computed(text, {"x": np.float32(0)})["y"].tolist() == [float(dtype(each)) for each in expected]


def test_range_has_as_many_numbers_as_are_declared() -> None:
    text = """program(1.3)
{
    func main<ios18>(fp32 x) {
            tensor<fp32, [%d]> y = range_1d(start = 0.0, end = 1.0, step = 0.01);
        } -> (y);
}
"""
    for declared in (100, 101):
        assert computed(text % declared, {"x": np.float32(0)})["y"].shape == (declared,)
    with pytest.raises(OperationFailure, match="makes"):
        computed(text % 103, {"x": np.float32(0)})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("range_1d(start = 0.0, end = 1.0, step = x)", "`step` is 0"),
        ("range_1d(start = 0.0, end = real_div(1.0, x), step = 1.0)", "does not lead from `start`, 0.0, to `end`, inf"),
        ("range_1d(start = 0.0, end = 1.0, step = real_div(x, x))", "`step` is nan, and does not lead from `start`"),
    ],
)
def test_a_range_that_does_not_end_is_reported(call: str, told: str) -> None:
    with pytest.raises(OperationFailure, match=re.escape(told)):
        applied(call, {"x": np.array(0, np.float32)})


# ---- drawn

DRAWS = [
    "random_uniform(shape = s{})",
    "random_normal(shape = s{})",
    "random_bernoulli(shape = s{})",
    "random_categorical(x = p, size = 50{})",
]


def drawn(call: str, seed: int | None, options: str = "", opset: str = "ios18") -> Any:
    """What a call draws twice over: once, and once more in the same run."""
    text = f"""program(1.3) {{ func main<{opset}>(tensor<int32, [1]> s, tensor<fp32, [4]> p) {{
        a = {call.format(options)}; b = {call.format(options)}; }} -> (a, b); }}"""
    made = computed(text, {"s": np.array([50], np.int32), "p": np.arange(4, dtype=np.float32)}, seed=seed)
    return made["a"], made["b"]


@pytest.mark.parametrize("options", ["", ", seed = -1"])
@pytest.mark.parametrize("call", DRAWS)
def test_a_run_with_a_seed_is_repeated(call: str, options: str) -> None:
    first, second = drawn(call, 1, options)
    assert not np.array_equal(first, second)
    again = drawn(call, 1, options)
    assert np.array_equal(first, again[0])
    assert np.array_equal(second, again[1])
    assert not np.array_equal(first, drawn(call, 2, options)[0])
    assert not np.array_equal(drawn(call, None, options)[0], drawn(call, None, options)[0])


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 1, -2, -(2**31)])
@pytest.mark.parametrize("call", DRAWS)
def test_a_seed_of_the_op_is_stronger(call: str, seed: int) -> None:
    first, second = drawn(call, 1, f", seed = {seed}")
    assert np.array_equal(first, second)
    assert np.array_equal(first, drawn(call, None, f", seed = {seed}")[0])
    assert not np.array_equal(first, drawn(call, 1, f", seed = {seed ^ 64}")[0])


def many(call: str, compute: str = "float32", **inputs: Any) -> Any:
    [made] = applied(call, {"s": np.array([300, 100], np.int32), **inputs}, compute=compute)
    return made


@pytest.mark.parametrize("compute", ["float32", "native"])
@pytest.mark.parametrize(("kind", "dtype"), [("fp32", np.float32), ("fp16", np.float16)])
def test_distributions(kind: str, dtype: Any, compute: str) -> None:
    uniform = many(f"random_uniform(shape = s, low = {kind}(-2), high = {kind}(4), seed = 1)", compute).astype("f8")
    assert uniform.min() >= -2
    assert uniform.max() < 4
    assert abs(uniform.mean() - 1) < 0.05
    assert abs(uniform.var() - 3) < 0.1
    normal = many(f"random_normal(shape = s, mean = {kind}(5), stddev = {kind}(0.5), seed = 1)", compute).astype("f8")
    assert abs(normal.mean() - 5) < 0.02
    assert abs(normal.std() - 0.5) < 0.02
    assert abs(((normal - 5) ** 4).mean() / 0.5**4 - 3) < 0.2
    bernoulli = many(f"random_bernoulli(shape = s, prob = {kind}(0.25), seed = 1)", compute)
    assert set(bernoulli.ravel().tolist()) == {0, 1}
    assert abs(bernoulli.astype("f8").mean() - 0.25) < 0.02
    assert bernoulli.dtype == dtype


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("random_bernoulli(shape = s, prob = 0.0)", 0),
        ("random_bernoulli(shape = s, prob = 1.0)", 1),
        ("random_normal(shape = s, mean = 3.0, stddev = 0.0)", 3),
        ("random_uniform(shape = s, low = 2.0, high = 2.0)", 2),
    ],
)
def test_draws_without_a_choice(call: str, value: float) -> None:
    assert set(many(call).ravel().tolist()) == {value}


def test_the_upper_end_is_never_drawn() -> None:
    low, high = np.float16(1), np.nextafter(np.float16(1), np.float16(2))
    made = many(f"random_uniform(shape = s, low = fp16({float(low)}), high = fp16({float(high)}), seed = 0)")
    assert set(made.ravel().tolist()) == {1}


WEIGHTS = np.array([[1, 2, 0, 5, 0], [0, 0, 3, 3, 2]])


@pytest.mark.parametrize("mode", ["probs", "logits", None])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_categories_are_drawn_by_their_weights(mode: str | None, dtype: Any) -> None:
    chances = WEIGHTS / 8
    with np.errstate(divide="ignore"):
        x = chances if mode == "probs" else np.maximum(np.log(chances) + 3, -60)
    option = f', mode = "{mode}"' if mode else ""
    made = many(f"random_categorical(x, size = 20000, seed = 3{option})", x=x.astype(dtype))
    assert made.shape == (2, 20000)
    assert made.dtype == dtype
    for row, chance in zip(made, chances, strict=True):
        shares = np.bincount(row.astype(int), minlength=5) / 20000
        assert np.abs(shares - chance).max() < 0.015
        assert not shares[chance == 0].any()


@pytest.mark.parametrize(
    ("shape", "size", "expected"), [((5,), 1, (1,)), ((2, 3, 4), 6, (2, 3, 6)), ((0, 4), 2, (0, 2))]
)
def test_categories_of_each_row(shape: tuple[int, ...], size: int, expected: tuple[int, ...]) -> None:
    [made] = applied(f"random_categorical(x, size = {size}, seed = 1)", {"x": np.zeros(shape, np.float32)})
    assert made.shape == expected
    assert set(made.ravel().tolist()) <= set(range(shape[-1]))


@pytest.mark.parametrize("row", [[0, 0], [-1, 2], [3e38, 3e38, 3e38]])
def test_weights_that_are_not_a_distribution_are_reported(row: list[float]) -> None:
    x = np.array([row], np.float32)
    if row[0] > 1:
        assert applied('random_categorical(x, mode = "probs", seed = 0)', {"x": x})[0].shape == (1, 1)
        return
    with pytest.raises(OperationFailure, match="`x` has a row that is not a distribution"):
        applied('random_categorical(x, mode = "probs")', {"x": x})


@pytest.mark.parametrize("mode", ["probs", "logits"])
def test_nothing_is_drawn_from_nothing(mode: str) -> None:
    with pytest.raises(OperationFailure, match="`x` has rows without elements, from which nothing can be drawn"):
        applied(f'random_categorical(x, mode = "{mode}")', {"x": np.zeros((2, 0), np.float32)})
