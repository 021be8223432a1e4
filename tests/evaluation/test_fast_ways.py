"""A fast way computes what the slow way does: depthwise convolutions, fp16 numbers and limits, steps nobody sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.nearness import nearness

import miltext
from miltext.evaluation import machine
from miltext.evaluation.comparing.runners import filled
from miltext.evaluation.evaluator import Evaluator, Execution
from miltext.evaluation.operations import convolution, depthwise
from miltext.evaluation.operations.windows import sliding
from miltext.evaluation.pointwise import bounded
from miltext.evaluation.values import AT_ONCE, WORTH_WIDENING, narrowed
from miltext.generation.programs import generate

# ---- limits of fp16


@pytest.mark.parametrize("low", [-np.inf, -65504.0, -1.5, -0.0, 0.0, 0.1, 6e-8, 1e9, np.nan])
@pytest.mark.parametrize("high", [-2.0, 0.0, 0.3, 6.0, 70000.0, np.inf, np.nan])
def test_fp16_limited_by_its_bits_is_limited_in_float32(low: float, high: float) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    for x in (every, every[np.isfinite(every)], every[:0], every[::-7].reshape(-1, 3)[:, 1], every[5].reshape(())):
        with np.errstate(all="ignore"):
            expected = np.minimum(np.maximum(x.astype(np.float32), low), high).astype(np.float16)
            np.testing.assert_array_equal(np.asarray(bounded(x, low, high)).astype(np.float16), expected)


# ---- depthwise convolutions


def convolutions(seed: int, count: int) -> Iterator[tuple[Any, ...]]:
    """Yield random arguments of depthwise convolutions of images: tensors, windows, and how many groups."""
    chosen = np.random.default_rng(seed)
    while count:
        batch, groups, several = chosen.integers(1, [3, 7, 3])
        sizes, kernel = chosen.integers(1, 20, 2), chosen.integers(1, 7, 2)
        strides, dilations = (tuple(chosen.integers(1, 4, 2).tolist()) for _ in range(2))
        kind, pads = str(chosen.choice(["valid", "same", "same_lower", "custom"])), chosen.integers(0, 6, 4).tolist()
        windows = sliding(sizes.tolist(), kernel.tolist(), strides, dilations, kind, tuple(pads))
        if all(each.places > 0 for each in windows):
            x = chosen.standard_normal((batch, groups, *sizes)).astype(chosen.choice(["float16", "float32", "float64"]))
            weight = chosen.standard_normal((groups * several, 1, *kernel)).astype(np.float32)
            yield x, weight, chosen.standard_normal(groups * several).astype(np.float32), windows, int(groups)
            count -= 1


def slowly(x: Any, weight: Any, bias: Any, windows: Any, groups: int) -> Any:
    """Convolve in the way that takes any rank; what it leaves at the ends of rows may be any number."""
    made = np.empty((x.shape[0], weight.shape[0], *(each.places for each in windows)), np.result_type(x, weight))
    with np.errstate(all="ignore"):
        convolution._by_channel(x, weight, bias, windows, groups, made)
    return made


@pytest.mark.parametrize("room", [1, 60, 700, depthwise.LAID_ELEMENTS])
def test_rows_at_once_equal_the_result_of_each_channel(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(depthwise, "LAID_ELEMENTS", room)
    for x, weight, bias, windows, groups in convolutions(room, 80):
        expected = slowly(x, weight, bias, windows, groups)
        for dtype in {x.dtype, expected.dtype}:
            made = np.full(expected.shape, np.nan, dtype)
            assert depthwise.by_rows(x, weight, bias, windows, made)
            least = 55 if dtype == np.float16 else 120
            assert nearness(made, expected) > least, (x.shape, weight.shape, windows)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan, 3e38])
@pytest.mark.parametrize("where", ["x", "weight"])
def test_an_infinite_value_stays_where_it_is(where: str, odd: float) -> None:
    """Rows at once would make NaN of infinity times the zeros beside a kernel: then each channel is made alone."""
    chosen = np.random.default_rng(9)
    for x, weight, bias, windows, groups in convolutions(2, 40):
        tensor = {"x": x, "weight": weight}[where]
        tensor.reshape(-1)[chosen.integers(tensor.size)] = odd if x.dtype != np.float16 or where == "weight" else np.inf
        expected = slowly(x, weight, bias, windows, groups)
        out = np.empty(expected.shape, expected.dtype)
        with np.errstate(all="ignore"):
            convolution._convolve(x, weight, bias, windows, groups, out)
        np.testing.assert_array_equal(np.isfinite(out), np.isfinite(expected))
        np.testing.assert_array_equal(out[~np.isfinite(out)], expected[~np.isfinite(out)])


def noting(taken: list[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that notes its name, and does what another does."""

    def noted(*arguments: Any) -> Any:
        taken.append(name)
        return function(*arguments)

    return noted


@pytest.mark.parametrize(("shape", "kernel", "is_fast"), [
    ((1, 4, 9, 9), (5, 5), True), ((1, 4, 9), (5,), False), ((1, 4, 5, 5, 5), (3, 3, 3), False),
])  # fmt: skip
def test_the_fast_way_is_taken_for_images(
    shape: tuple[int, ...], kernel: tuple[int, ...], is_fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    for name in ("by_rows", "_by_channel"):
        monkeypatch.setattr(convolution, name, noting(taken, name, getattr(convolution, name)))
    x, weight = np.ones(shape, np.float32), np.ones((4, 1, *kernel), np.float32)
    made = convolution.conv(x, weight, None, None, "valid", None, None, 4)
    assert made.ravel()[0] == np.prod(kernel)
    assert taken == ["by_rows" if is_fast else "_by_channel"]


# ---- fp16


def assert_narrowed(floats: Any) -> None:
    """Hold what is narrowed against numpy's own conversion, bit for bit, except for the payloads of NaNs."""
    with np.errstate(over="ignore", invalid="ignore"):
        made, expected = narrowed(floats), floats.astype(np.float16)
    assert made.dtype == np.float16
    assert made.shape == floats.shape
    np.testing.assert_array_equal(np.isnan(made), np.isnan(expected))
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(made[kept].view(np.uint16), expected[kept].view(np.uint16))


HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
EXACT = np.sort(HALVES[np.isfinite(HALVES)].astype(np.float32))
MIDDLES = (EXACT[1:] + EXACT[:-1]) / 2


@pytest.mark.parametrize("numbers", [EXACT, MIDDLES], ids=["exact", "middles"])
@pytest.mark.parametrize("towards", [None, -np.inf, np.inf])
def test_each_number_becomes_the_nearest(numbers: Any, towards: float | None) -> None:
    """Ties, and what is just beside them; with too large ones, and without."""
    floats = numbers if towards is None else np.nextafter(numbers, np.float32(towards), dtype=np.float32)
    assert_narrowed(floats)
    assert_narrowed(np.append(floats, np.array([65519.99, 65520, 1e9, np.inf, -np.inf, np.nan], np.float32)))


@pytest.mark.parametrize("size", [0, 1, WORTH_WIDENING - 1, WORTH_WIDENING, AT_ONCE, AT_ONCE + 1, 5 * AT_ONCE])
def test_any_bits_are_narrowed(size: int) -> None:
    bits = np.random.default_rng(size).integers(0, 1 << 32, size, dtype=np.uint32)
    assert_narrowed(bits.view(np.float32))
    assert_narrowed((bits & 0x8FFFFFFF | 0x30000000).view(np.float32))
    assert_narrowed(np.zeros(size, np.float32))
    assert_narrowed(np.stack([bits.view(np.float32)] * 3)[:, ::2])


# ---- steps that nobody sees

LOOP = """program(1.3) { func main<ios18>(tensor<fp32, [2, 3]> x, tensor<fp16, [2, 3]> z, bool p) {
    n, y, u = while_loop(loop_vars = (0, x, z))
        (int32 i, tensor<fp32, [2, 3]> a, tensor<fp16, [2, 3]> c) { more = less(x = i, y = 5); } -> (more)
        (int32 j, tensor<fp32, [2, 3]> b, tensor<fp16, [2, 3]> d) {
            k = add(x = j, y = 1);
            w = const()[val = tensor<fp32, [3, 3]>([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])];
            s = linear(x = b, weight = w);
            t = cond(pred = p) () { f = tanh(x = s); } -> (f) () { g = sigmoid(x = s); } -> (g);
            h, l = split(x = d, num_splits = 2, axis = 0);
            e = concat(values = (l, h), axis = 0);
            o = mul(x = e, y = 1.1);
        } -> (k, t, o);
    r = random_normal(shape = [2, 3], mean = 0.0, stddev = 1.0, seed = -1);
    v = add(x = r, y = y);
} -> (n, y, u, v); }"""


@pytest.mark.parametrize("compute", ["float32", "native"])
@pytest.mark.parametrize("p", [True, False])
def test_steps_that_no_one_sees_make_the_same(p: bool, compute: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet: list[str] = []
    monkeypatch.setattr(machine.Machine, "_quietly", noting(quiet, "_quietly", machine.Machine._quietly))
    evaluator = Evaluator(LOOP, compute=compute)
    chosen = np.random.default_rng(1)
    given = {"x": chosen.random((2, 3), np.float32), "z": chosen.random((2, 3)).astype(np.float16), "p": np.array(p)}
    fast = evaluator.run(given, seed=3)
    assert len(quiet) == 1 + 6 + 2 * 5  # the function, each look at the condition, each body with a branch
    quiet.clear()
    seen = evaluator.run(given, seed=3, values="all")
    assert quiet == []
    steps = Execution(evaluator.steps(given, None, 3))
    assert len([*steps]) > 40
    slow = steps.outputs
    for name, value in fast.items():
        for other in (slow[name], seen[name]):
            assert (value.dtype, value.tobytes()) == (other.dtype, other.tobytes()), name


def outcome(evaluator: Evaluator, given: dict[str, Any], values: str | None) -> dict[str, Any]:
    """Return what a run computes, or its error."""
    try:
        return evaluator.run(given, seed=1, values=values, allow_nan=True)
    except miltext.MiltextError as failure:
        return {"failure": np.array(str(failure))}


@pytest.mark.parametrize("seed", range(30))
def test_generated_programs_make_the_same(seed: int) -> None:
    """With `values`, steps are seen, and without, they are not."""
    evaluator = Evaluator(generate(seed))
    given = filled(evaluator, {}, seed)
    fast, seen = (outcome(evaluator, given, values) for values in (None, "all"))
    for name, value in fast.items():
        np.testing.assert_array_equal(np.asarray(value), np.asarray(seen[name]), name)


def test_an_error_in_a_loop_is_reported_at_its_operation() -> None:
    text = """program(1.3) { func main<ios18>(tensor<fp32, [2]> x, int32 n) {
        i, y = while_loop(loop_vars = (0, x)) (int32 a, tensor<fp32, [2]> b) { l = less(x = a, y = 5); } -> (l)
            (int32 c, tensor<fp32, [2]> d) {
                e = add(x = c, y = 1);
                g = gather(x = d, indices = c, axis = 0);
                t = add(x = d, y = g);
            } -> (e, t);
    } -> (y); }"""
    for values in (None, "all"):
        with pytest.raises(miltext.MiltextError, match="`g`, of `gather`, cannot be computed") as caught:
            Evaluator(text).run({"x": [1, 2], "n": 1}, values=values)
        assert [each.code for each in caught.value.diagnostics] == ["MIL838"]
