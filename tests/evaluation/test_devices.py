"""The arithmetic of devices, by published measurements, by exact arithmetic, and by cases of our own."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from support import engine
from support.engine import needs_measurements

from miltext.evaluation.devices import sequential
from miltext.evaluation.devices.curves import CURVES, drawn
from miltext.evaluation.devices.fixed_point import engine_products
from miltext.evaluation.devices.sequential import cpu_products
from miltext.evaluation.devices.tables import GRIDS, entries
from miltext.evaluation.pointwise import erf

EXACT: dict[str, Any] = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "erf": erf,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "inverse": np.reciprocal,
    "sin": np.sin,
}
"""The functions in float64."""

# ---- the measurements


@needs_measurements()
def test_the_engine_sums_as_measured() -> None:
    made = list(engine.sums("ane"))
    assert len(made) == 544
    assert [(row["id"], bits) for row, bits in made if bits != row["expect"]] == []


@needs_measurements()
@pytest.mark.parametrize("worth_looping", [sequential.WORTH_LOOPING, 1])
def test_the_cpu_sums_as_measured(worth_looping: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sequential, "WORTH_LOOPING", worth_looping)  # the cases are too small for the fast way
    made = [(row, bits) for row, bits in engine.sums("cpu") if row["cpu"] is not None]
    replicated = sum(row["chip"] == "M6" and "numerics2" in row["id"] for row, _ in made)
    assert (len(made), len(made) - replicated) == (526, 418)
    assert [(row["id"], bits) for row, bits in made if bits != row["cpu"]] == []


@needs_measurements()
@pytest.mark.parametrize(("compute", "column"), [("ane", "expect"), ("cpu", "cpu")])
def test_pairs_are_computed_as_measured(compute: str, column: str) -> None:
    made = list(engine.pairs(compute))
    assert len(made) == 57
    assert [(row["id"], bits) for row, bits in made if bits != row[column]] == []


@needs_measurements()
def test_int8_is_computed_as_measured() -> None:
    made = [(row, bits) for row, bits in engine.quantized("ane") if row["valid"]]
    assert len(made) == 29
    assert [(row["id"], bits) for row, bits in made if bits != row["expect"]] == []


@needs_measurements()
def test_the_cpu_computes_int8_as_measured() -> None:
    made = list(engine.quantized("cpu"))
    assert len(made) == 42
    differing = [(row["id"], bits) for row, bits in made if bits != row["cpu"]]
    assert differing == [("numerics_i8/results/18", "2400")]  # not a valid case: where it ran is not known


@needs_measurements()
@pytest.mark.parametrize("name", GRIDS)
def test_a_table_is_the_published_one(name: str) -> None:
    table = json.loads(engine.FOLDER.joinpath("tables.json").read_text(encoding="utf-8"))["tables"][name]["fp16"]
    assert len(table) == GRIDS[name].published
    assert [f"{bits:04x}" for bits in entries(name)[: len(table)].view(np.uint16).tolist()] == table


@needs_measurements()
@pytest.mark.parametrize("name", CURVES)
def test_a_curve_has_the_largest_error_that_was_measured(name: str) -> None:
    (row,) = (each for each in engine.rows("activation_stats_m6") if each["function"] == name)
    spaced = np.linspace if row["spacing"] == "linear" else np.geomspace
    grid = np.unique(spaced(row["low"], row["high"], row["samples"]).astype(np.float16))
    assert len(grid) == row["distinct_fp16"]
    exact = EXACT[name](grid.astype(np.float64))
    found = drawn(name, grid, 1e-4 if name == "inverse" else 0)
    error = np.abs(found.astype(np.float64) - exact)
    assert f"{error.max():.3e}" == row["max_abs_error"]
    unit = np.maximum(
        2.0 ** (np.floor(np.log2(np.abs(exact), where=exact != 0, out=np.zeros_like(exact))) - 10), 2**-24
    )
    if name != "sin":  # the engine's reduction of its argument is not known
        assert f"{(error / unit).max():.1f}" == str(row["max_ulp"])


# ---- exact arithmetic, term by term


def number(half: np.float16) -> tuple[Fraction, int]:
    """Return a number of fp16, and its exponent."""
    pattern = int(half.view(np.uint16))
    sign, exponent, fraction = -1 if pattern >> 15 else 1, pattern >> 10 & 31, pattern & 1023
    if exponent == 31 and fraction:
        fraction |= 512
    if exponent == 0:
        return sign * Fraction(fraction, 1 << 24), -14
    return sign * Fraction(1024 + fraction, 1024) * Fraction(2) ** (exponent - 15), exponent - 15


def away(exact: Fraction) -> int:
    whole = int(abs(exact) + Fraction(1, 2))
    return whole if exact > 0 else -whole


def expected(weights: Any, inputs: Any, start: np.float16) -> float:
    """Return a sum by the rules as they are written, in fractions."""
    total = away(number(start)[0] * 65536)
    for weight, value in zip(weights, inputs, strict=True):
        if abs(total) >= 1 << 31:
            break
        (left, one), (right, other) = number(weight), number(value)
        if one + other > -17:
            total += away(left * right * 65536)
    if abs(total) >= 1 << 31:
        return math.copysign(math.inf, total)
    unit = Fraction(2) ** (max(abs(total).bit_length() - 17, -14) - 10)
    return float(away(Fraction(total, 65536) / unit) * unit)


@pytest.mark.parametrize("seed", range(24))
def test_sums_of_every_size_and_shape_follow_the_rules(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, columns, terms = random.choice([1, 3, 130]), random.choice([1, 2, 700]), random.integers(0, 50)
    weights = (random.standard_normal((rows, terms)) * 10.0 ** random.uniform(-4, 2)).astype(np.float16)
    inputs = (random.standard_normal((terms, columns)) * 10.0 ** random.uniform(-4, 3)).astype(np.float16)
    inputs[random.random(inputs.shape) < 0.2] = 0
    if seed % 4 == 0 and terms:
        inputs.view(np.uint16)[random.integers(terms), 0] = random.choice([0x7C00, 0x7C01, 0xFFFF])
    starts = (random.standard_normal((rows, 1)) * random.choice([0, 1, 1e3, 1e4])).astype(np.float16)
    with np.errstate(all="ignore"):
        made = engine_products(weights, inputs, starts)
    for _ in range(60):
        row, column = random.integers(rows), random.integers(columns)
        assert made[row, column] == expected(weights[row], inputs[:, column], starts[row, 0])


@pytest.mark.parametrize("size", [1, 3000])
def test_ties_in_float32_are_rounded_away_from_zero(size: int) -> None:
    """Products of odd multiples of 2^-17, and their neighbours, in many sums at once, of which float32 has room."""
    weights = np.full((8, 3), 2.0**-7, np.float16)
    inputs = np.tile(np.array([[2.0**-10 * 3], [-(2.0**-10) * 5], [2.0**-10 * 3 + 2.0**-18]], np.float16), size)
    made = engine_products(weights, inputs, None)
    assert np.all(made == expected(weights[0], inputs[:, 0], np.float16(0)))


@pytest.mark.parametrize("shape", [(1, 40, 1), (40, 30, 20)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
def test_the_cpu_adds_in_fp16(shape: tuple[int, int, int], scale: float) -> None:
    rows, terms, columns = shape
    random = np.random.default_rng(5)
    weights = (random.standard_normal((rows, terms)) * scale).astype(np.float16)
    inputs = (random.standard_normal((terms, columns)) * scale).astype(np.float16)
    with np.errstate(all="ignore"):
        total = np.zeros((rows, columns), np.float16)
        for term in range(terms):
            total = total + weights[:, term, None] * inputs[term]
        assert np.array_equal(cpu_products(weights, inputs, None), total, equal_nan=True)


# ---- programs


def computed(inputs: str, operations: str, given: dict[str, Any], compute: str = "ane") -> Any:
    return engine.evaluator(inputs, operations, compute).run(given, allow_nan=True)["y"]


def test_ones_are_counted_beyond_2048_on_the_engine_alone() -> None:
    declared, given = "tensor<fp16, [1, 4096]> x, tensor<fp16, [1, 4096]> w", dict.fromkeys("xw", np.ones((1, 4096)))
    operation = "y = matmul(x = x, y = w, transpose_y = true);"
    assert computed(declared, operation, given) == 4096
    assert computed(declared, operation, given, "cpu") == 2048


@pytest.mark.parametrize(
    ("x", "z", "operation"),
    [
        ([2, 8, 2], [2, 2, 8], "y = matmul(x = x, y = z);"),
        ([2, 8, 2], [2, 2, 8], "y = matmul(x = z, y = x, transpose_x = true, transpose_y = true);"),
        ([8, 2], [3, 2, 8], "y = matmul(x = x, y = z);"),
        ([2], [2], "y = matmul(x = x, y = z);"),
        ([2], [2, 8], "y = matmul(x = x, y = z);"),
        ([8, 2], [2], "y = matmul(x = x, y = z);"),
        ([2, 8, 2], [2, 8, 2], 'y = einsum(values = (x, z), equation = "chw,whu->chu");'),
    ],
)
def test_every_product_of_matrices_overflows_at_32768(x: list[int], z: list[int], operation: str) -> None:
    declared, given = f"tensor<fp16, {x}> x, tensor<fp16, {z}> z", {"x": np.full(x, 128), "z": np.full(z, 128)}
    made = computed(declared, operation, given)
    assert made.shape == computed(declared, operation, given, "float32").shape
    assert np.all(np.isposinf(made))
    assert np.all(computed(declared, operation, given, "cpu") == 32768)


@pytest.mark.parametrize(("groups", "stride"), [(1, 1), (4, 1), (2, 2)])
@pytest.mark.parametrize("compute", ["ane", "cpu"])
def test_convolutions_of_all_kinds_are_close_to_float32(groups: int, stride: int, compute: str) -> None:
    random = np.random.default_rng(2)
    given = {
        "x": random.standard_normal((2, 4, 6, 5)).astype(np.float16),
        "w": random.standard_normal((8, 4 // groups, 3, 3)).astype(np.float16),
        "b": random.standard_normal(8).astype(np.float16),
    }
    declared = f"tensor<fp16, [2, 4, 6, 5]> x, tensor<fp16, [8, {4 // groups}, 3, 3]> w, tensor<fp16, [8]> b"
    settings = f'strides = [{stride}, {stride}], pad_type = "same", groups = {groups}'
    operation = f"y = conv(x = x, weight = w, bias = b, {settings});"
    made, plain = computed(declared, operation, given, compute), computed(declared, operation, given, "float32")
    assert np.allclose(made.astype(float), plain.astype(float), atol=0.05)


def test_transposed_convolutions_are_close_to_float32() -> None:
    random = np.random.default_rng(3)
    given = {"x": random.standard_normal((1, 3, 4, 4)), "w": random.standard_normal((3, 2, 3, 3))}
    given = {name: each.astype(np.float16) for name, each in given.items()}
    declared = "tensor<fp16, [1, 3, 4, 4]> x, tensor<fp16, [3, 2, 3, 3]> w"
    operation = "y = conv_transpose(x = x, weight = w, strides = [2, 2]);"
    made, plain = computed(declared, operation, given), computed(declared, operation, given, "float32")
    assert np.allclose(made.astype(float), plain.astype(float), atol=0.01)


def test_other_types_are_computed_as_before() -> None:
    given = {"x": np.full((1, 1), 300.0), "w": np.full((1, 1), 300.0)}
    declared = "tensor<fp32, [1, 1]> x, tensor<fp32, [1, 1]> w"
    assert computed(declared, "y = matmul(x = x, y = w);", given) == 90000
    assert computed("tensor<int32, [1]> x", "y = add(x = x, y = x);", {"x": [5]}).tolist() == [10]


def test_weights_with_a_zero_point_are_computed_in_fp16() -> None:
    """A sum of 40000 is infinite in fp16, and not in integers."""
    for zero, result in ((0, 40000.0), (1, np.inf)):
        stored = f"quantized_data = tensor<int8, [1, 4, 1, 1]>({np.full((1, 4, 1, 1), 100 + zero).tolist()})"
        operations = f"""q = quantize(input = x, scale = fp16(1), output_dtype = "int8");
            d = dequantize(input = q, scale = fp16(1));
            w = constexpr_affine_dequantize()[{stored}, zero_point = int8({zero}), scale = fp16(1), axis = 0];
            y = conv(x = d, weight = w);"""
        given = {"x": np.full((1, 4, 1, 1), 100)}
        assert computed("tensor<fp16, [1, 4, 1, 1]> x", operations, given).item() == result


def test_the_thresholds_equal_those_of_the_reports() -> None:
    """apple/coremltools, issues 2687 and 2690."""
    x = np.array([8, 10, 10.375, 10.4375, 11, 50])
    made = computed("tensor<fp16, [6]> x", "y = softplus(x = x);", {"x": x})
    assert made.tolist() == [8, 10, 10.375, 0, 0, 0]
    assert np.isclose(float(np.log(32768)), 10.4, atol=0.01)
    operation = "y = reduce_log_sum_exp(x = x, axes = [0], keep_dims = false);"
    declared = "tensor<fp16, [32]> x"
    assert computed(declared, operation, {"x": np.full(32, 7.61)}).item() == pytest.approx(11.08, abs=0.02)
    assert computed(declared, operation, {"x": np.full(32, 7.64)}).item() == 0


def test_a_probability_that_underflows_has_an_infinite_logarithm() -> None:
    """apple/coremltools, issue 2728."""
    x = np.array([[0, 0, 0, 50]])
    made = computed("tensor<fp16, [1, 4]> x", "p = softmax(x = x, axis = -1);\ny = log(x = p);", {"x": x})
    assert made.tolist() == [[-np.inf, -np.inf, -np.inf, 0]]


@pytest.mark.parametrize("name", CURVES)
def test_numbers_outside_of_a_table_follow_ieee(name: str) -> None:
    with np.errstate(all="ignore"):
        made = drawn(name, np.array([np.nan, np.inf, -np.inf, 0], np.float16))
        plain = np.array([np.nan, np.inf, -np.inf, 0])
        wanted = np.array([math.erf(x) for x in plain]) if name == "erf" else EXACT[name](plain)
    assert np.array_equal(made, wanted.astype(np.float16), equal_nan=True)
