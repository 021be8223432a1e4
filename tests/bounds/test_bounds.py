"""Ranges of values and of partial sums: no run leaves them; and the findings about numbers that fp16 does not have."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.running import RUNNER

import miltext
from miltext.bounds.findings import number_findings
from miltext.bounds.intervals import Interval, of_array
from miltext.bounds.ranging import Ranging
from miltext.bounds.samples import ranges_on
from miltext.bounds.transfers import TRANSFERS
from miltext.cli import command
from miltext.evaluation.devices.engine_rules import SOFTPLUS_END
from miltext.evaluation.failures import OperationFailure
from miltext.evaluation.random_inputs import random_inputs
from miltext.evaluation.subjects import opened
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.schema.operations import signature
from miltext.schema.paths import is_repeated

FLOATS = (10, 11)
"""The numbers of fp16 and fp32 in the schema."""

OPERATIONS = [name for name in TRANSFERS if signature(name, "ios17") or signature(name, "ios18")]


def text(inputs: str, operations: str, outputs: str = "y") -> str:
    return f"program(1.3)\n{{\n    func main<ios18>({inputs}) {{\n{operations}\n    }} -> ({outputs});\n}}\n"


def assert_contained(evaluator: miltext.Evaluator, inputs: dict[str, Any]) -> int:
    """Assert that all elements of all values are in their ranges; return the number of known ranges.

    A range that is not sure says nothing of elements that may follow from NaN or an infinity.
    """
    arrays = {name: value for name, value in inputs.items() if isinstance(value, np.ndarray)}
    ranging = Ranging(evaluator, {name: of_array(array) for name, array in arrays.items()})
    assert sum(1 for _ in ranging.bounds()) >= 0
    known = 0
    irregular = {each for each in evaluator.plan.inputs if each.name in arrays and not is_regular(arrays[each.name])}
    with suppress(OperationFailure):  # such as an index out of range
        for made in evaluator.steps(inputs, {}, allow_nan=True):
            operation = made.step.operation
            follows = not irregular.isdisjoint(operation.operands) or has_irregular_literals(operation)
            for value, array in zip(made.step.outputs, made.values, strict=True):
                found = ranging.ranges.get(value)
                if found is not None and isinstance(array, np.ndarray) and array.dtype.kind == "f":
                    known += found.is_known
                    if found.is_sure or not follows:
                        assert_within(array, found, operation.type)
                if follows or (isinstance(array, np.ndarray) and not is_regular(array)):
                    irregular.add(value)
    return known


def is_regular(array: Any) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def has_irregular_literals(operation: Any) -> bool:
    return any(not is_regular(array) for array in literals(operation.message))


def assert_within(array: Any, found: Interval, op_type: str) -> None:
    numbers = array[~np.isnan(array)].astype(float)
    assert numbers.size == array.size or not found.is_sure, (op_type, found)
    assert numbers.size == 0 or found.low <= numbers.min(), (op_type, found)
    assert numbers.size == 0 or numbers.max() <= found.high, (op_type, found)


def float_values(message: Any) -> Iterator[Any]:
    """Yield the Values in a message that have floats of 16 or 32 bits at their place."""
    if message.DESCRIPTOR.name == "Value":
        if message.type.tensorType.dataType in FLOATS and message.HasField("immediateValue"):
            yield message
        return
    for field, content in message.ListFields():
        if field.message_type is not None:
            is_map = field.message_type.GetOptions().map_entry
            for each in content.values() if is_map else content if is_repeated(field) else [content]:
                if hasattr(each, "DESCRIPTOR"):
                    yield from float_values(each)


def literals(message: Any) -> Iterator[Any]:
    """Yield the floats of the Values in a message as arrays."""
    for value in float_values(message):
        tensor = value.immediateValue.tensor
        held, halves = tensor.floats.values, tensor.bytes.values
        yield np.array(held, np.float32) if len(held) else np.frombuffer(halves, np.float16)


def planted(program: Any, random: np.random.Generator) -> int:
    """Make one number in about a third of the constants NaN or infinite; return how many."""
    count = 0
    for value in float_values(program):
        tensor, special = value.immediateValue.tensor, random.choice([np.nan, np.inf, -np.inf])
        if random.random() > 1 / 3:
            continue
        if len(tensor.floats.values):
            tensor.floats.values[random.integers(len(tensor.floats.values))] = special
        elif tensor.bytes.values:
            halves = np.frombuffer(tensor.bytes.values, np.float16).copy()
            halves[random.integers(halves.size)] = special
            tensor.bytes.values = halves.tobytes()
        count += 1
    return count


# ---- the law


@pytest.mark.parametrize("first", range(0, 256, 32))
def test_no_run_leaves_the_ranges(first: int) -> None:
    """256 programs, twice as large inputs and two ways to compute each: 1,024 runs."""
    known = 0
    for seed in range(first, first + 32):
        program = generate(seed, Options(operations=OPERATIONS, dtypes=["fp16", "fp32", "int32", "bool"], functions=1))
        for compute in ("float32", "ane"):
            evaluator = miltext.Evaluator(program, compute=compute)
            drawn = random_inputs(evaluator.inputs, seed, features=evaluator.features)
            for factor in (1, 30):
                inputs = {
                    name: np.asarray(each) * (factor if np.asarray(each).dtype.kind == "f" else 1)
                    for name, each in drawn.items()
                }
                known += assert_contained(evaluator, inputs)
    assert known > 100


@pytest.mark.parametrize("compute", ["float32", "ane", "cpu"])
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.01, 100), groups=st.sampled_from([1, 2]))
@settings(max_examples=40, deadline=None)
def test_no_order_of_terms_leaves_the_bound_of_a_sum(compute: str, seed: int, size: float, groups: int) -> None:
    random = np.random.default_rng(seed)
    weight = (random.standard_normal((4, 4 // groups, 3, 3)) * size / 10).astype(np.float16)
    bias, x = (random.standard_normal(shape) * scale for shape, scale in ((4, 1), ((1, 4, 5, 5), size)))
    bias, x = bias.astype(np.float16), x.astype(np.float16)
    operation = f"""w = const()[val = tensor<fp16, [4, {4 // groups}, 3, 3]>({weight.tolist()})];
        y = conv(x = x, weight = w, bias = tensor<fp16, [4]>({bias.tolist()}), groups = {groups}, pad_type = "same");"""
    evaluator = miltext.Evaluator(text("tensor<fp16, [1, 4, 5, 5]> x", operation), compute=compute)
    (bound,) = (each for each in Ranging(evaluator, {"x": of_array(x)}).bounds() if each.step.operation.type == "conv")
    assert bound.sum is not None
    plain = miltext.Evaluator(
        text(
            f"tensor<fp32, [1, 4, 5, 5]> x, tensor<fp32, [4, {4 // groups}, 3, 3]> w",
            f'y = conv(x = x, weight = w, groups = {groups}, pad_type = "same");',
        )
    )
    wide, factors = x.astype(np.float32), weight.astype(np.float32)
    above, below = np.maximum, np.minimum
    highest = sum(plain.run({"x": side(wide, 0), "w": side(factors, 0)})["y"] for side in (above, below))
    lowest = plain.run({"x": above(wide, 0), "w": below(factors, 0)})["y"]
    lowest = lowest + plain.run({"x": below(wide, 0), "w": above(factors, 0)})["y"]
    start = bias.astype(np.float32).reshape(1, -1, 1, 1)
    assert (highest + above(start, 0)).max() <= bound.sum.partial.high
    assert (lowest + below(start, 0)).min() >= bound.sum.partial.low
    safe = bound.sum.safe(32768)
    assert safe is not None
    with np.errstate(all="ignore"):
        largest = evaluator.run({"x": np.full((1, 4, 5, 5), min(safe, 65504) * 0.999, np.float16)})["y"]
    if compute == "ane" and safe < 65504:
        assert np.isfinite(largest).all()


@pytest.mark.parametrize("first", range(0, 256, 32))
def test_infinities_and_nan_leave_no_range_that_is_sure(first: int) -> None:
    """256 programs, with and without such constants, two ways to compute each: 1,024 runs with such inputs."""
    counts = [0, 0]
    for seed in range(first, first + 32):
        options = Options(operations=OPERATIONS, dtypes=["fp16", "fp32", "int32", "bool"], functions=1)
        program, random = generate(seed, options), np.random.default_rng(seed)
        for is_planted in (False, True):
            counts[0] += planted(program, random) if is_planted else 0
            for compute in ("ane", "cpu"):
                evaluator = miltext.Evaluator(program, compute=compute, check=False)
                inputs = {
                    name: with_specials(np.array(each), random)
                    for name, each in random_inputs(evaluator.inputs, seed, features=evaluator.features).items()
                }
                counts[1] += assert_contained(evaluator, inputs)
    assert counts[0] >= 5
    assert counts[1] > 20


def with_specials(array: Any, random: np.random.Generator) -> Any:
    """Return the array, of which some floats are NaN or infinite in half of the cases."""
    if array.dtype.kind == "f" and random.random() < 0.5:
        chosen = random.random(array.shape)
        array[chosen < 0.3] = random.choice([np.nan, np.inf, -np.inf])
        array[chosen < 0.1] = random.choice([np.inf, -np.inf, 65504])
    return array


@pytest.mark.parametrize(
    ("operation", "ends", "is_sure"),
    [
        ("y = mul(x = x, y = fp16(inf));", (-2, 3), False),
        ("y = mul(x = x, y = fp16(nan));", (-2, 3), False),
        ("y = add(x = x, y = fp16(-inf));", (-2, 3), False),
        ("a = mul(x = x, y = fp16(60000));\nb = mul(x = a, y = fp16(60000));\ny = sub(x = b, y = b);", (-2, 3), False),
        ("y = log(x = x, epsilon = fp16(0));", (0, 3), False),
        ("y = log(x = x, epsilon = fp16(0));", (1, 3), True),
        ("y = rsqrt(x = x, epsilon = fp16(0));", (0, 3), False),
        ("y = rsqrt(x = x, epsilon = fp16(nan));", (1, 3), False),
        ("y = inverse(x = x, epsilon = fp16(0));", (-2, 3), False),
        ("y = sqrt(x = x);", (-2, 3), False),
        ("y = real_div(x = fp16(1), y = x);", (-2, 3), False),
        ("y = real_div(x = fp16(1), y = x);", (1, 3), True),
        ("y = pow(x = x, y = fp16(nan));", (-2, 3), False),
        ("y = pow(x = x, y = fp16(0.5));", (-2, 3), False),
        ("y = pow(x = x, y = fp16(3));", (-300, 300), True),
        ("y = clip(x = x, alpha = fp16(nan), beta = fp16(1));", (-2, 3), False),
        ("y = layer_norm(x = x, axes = [-1], epsilon = fp16(0));", (-2, 3), False),
        ("y = layer_norm(x = x, axes = [-1], epsilon = fp16(1e-5));", (-2, 3), True),
        ("y = exp(x = x);", (-20, 20), True),
        ("y = linear(x = x, weight = tensor<fp16, [1, 2]>([[inf, 1]]));", (-2, 3), False),
        (
            "y = linear(x = x, weight = tensor<fp16, [1, 2]>([[1, 1]]), bias = tensor<fp16, [1]>([nan]));",
            (-2, 3),
            False,
        ),
    ],
)
@pytest.mark.parametrize("compute", ["float32", "ane", "cpu"])
def test_edges_are_within_the_range_or_not_sure(
    operation: str, ends: tuple[float, float], is_sure: bool, compute: str
) -> None:
    evaluator = miltext.Evaluator(text("tensor<fp16, [1, 2]> x", operation), compute=compute)
    bounds = [*Ranging(evaluator, {"x": Interval(*ends)}).bounds()]
    found = bounds[-1].ranges[bounds[-1].step.outputs[0]]
    assert found.is_sure == is_sure
    assert found.is_known <= (is_sure or operation.startswith(("y = clip", "y = layer_norm")))
    assert all(each.sum is None or not math.isnan(each.sum.partial.size) for each in bounds)
    inputs = np.array([[low, high] for low in (*ends, 0) for high in ends if ends[0] <= low], np.float16)
    for row in inputs:
        made = evaluator.run({"x": row[None]}, allow_nan=True)["y"]
        numbers = made[~np.isnan(made)]
        assert not is_sure or (numbers.size == made.size and (numbers >= found.low).all())
        assert not is_sure or (numbers <= found.high).all()


@pytest.mark.parametrize("bias", ["", ", bias = tensor<fp16, [0]>([])"])
def test_a_layer_without_outputs_has_no_sum(bias: str) -> None:
    program = text("tensor<fp16, [1, 2]> x", f"y = linear(x = x, weight = tensor<fp16, [0, 2]>([]){bias});")
    assert found(program, x=(-60000, 60000)) == []
    evaluator = miltext.Evaluator(program)
    (bound,) = Ranging(evaluator, {"x": Interval(-60000, 60000)}).bounds()
    assert (bound.result, bound.sum is not None) == (Interval(0, 0), True)


def test_samples_with_infinities_reach_the_sums_after_them() -> None:
    operations = f"a = add(x = x, y = fp16(1));\ny = linear(x = a, weight = {ONES});"
    evaluator = miltext.Evaluator(text("tensor<fp16, [1, 4]> x", operations))
    x = np.array([[60000, 1, 1, 1]], np.float16)
    rows = ranges_on(evaluator, [{"x": x}])
    assert [(row.name, row.may_overflow) for row in rows] == [("y", True)]
    grown = miltext.Evaluator(
        text(
            "tensor<fp16, [1, 4]> x",
            f"a = mul(x = x, y = fp16(2));\nb = tanh(x = a);\ny = linear(x = a, weight = {ONES});",
        )
    )
    (mul, linear) = ranges_on(grown, [{"x": x}])
    assert (mul.infinite, mul.greatest, mul.may_overflow) == (1, 2.0, True)
    assert (linear.partial, linear.may_overflow) == (math.inf, True)


# ---- sums

ONES = "tensor<fp16, [1, 4]>([[100, 100, -100, 50]])"


@pytest.mark.parametrize(
    ("operation", "high", "low", "largest"),
    [
        (f"y = linear(x = x, weight = {ONES});", 2, -1, 600.0),  # 2 * 250 + 100
        (f"y = linear(x = x, weight = {ONES}, bias = tensor<fp16, [1]>([7]));", 2, -1, 607.0),
        ("y = reduce_sum(x = x, axes = [-1], keep_dims = true);", 2, -3, 12.0),
        ("y = reduce_mean(x = x, axes = [-1], keep_dims = true);", 2, 0, 8.0),
        ("y = reduce_sum_square(x = x, axes = [-1], keep_dims = true);", 2, -3, 36.0),
        ("y = reduce_l1_norm(x = x, axes = [-1], keep_dims = true);", 2, -3, 12.0),
        ("y = cumsum(x = x, axis = -1);", 2, 1, 8.0),
        ("y = matmul(x = x, y = x, transpose_y = true);", 2, -3, 36.0),
    ],
)
def test_the_largest_partial_sum_in_any_order(operation: str, high: float, low: float, largest: float) -> None:
    evaluator = miltext.Evaluator(text("tensor<fp16, [1, 4]> x", operation))
    (bound,) = (each for each in Ranging(evaluator, {"x": Interval(low, high)}).bounds() if each.sum is not None)
    assert bound.sum is not None
    assert bound.sum.partial.size == pytest.approx(largest, rel=1e-3)


def test_constants_are_computed_and_no_ranges() -> None:
    operations = f"""a = const()[val = {ONES}];
        b = mul(x = a, y = fp16(2));
        y = linear(x = x, weight = b);"""
    evaluator = miltext.Evaluator(text("tensor<fp16, [1, 4]> x", operations))
    (bound,) = Ranging(evaluator, {"x": Interval(-1, 1)}).bounds()
    assert bound.sum is not None
    assert bound.sum.partial.size == pytest.approx(700, rel=1e-3)


# ---- findings


def found(source: str, **ranges: tuple[float, float]) -> list[tuple[str, str, str]]:
    """Return the codes, severities and messages of a program's findings, with their remarks."""
    subject = opened(source)
    findings = number_findings(subject, {name: Interval(*ends) for name, ends in ranges.items()})
    return [
        (each.code, each.severity, " | ".join([each.message, *(remark.message for remark in each.remarks)]))
        for each in findings
    ]


REPORTS = {
    "softplus": ("y = softplus(x = x);", "0 from x = 10.4 on", "safe: x up to 10.40", (-50, 10.39), (-1, 10.5)),
    "logsumexp": (
        "y = reduce_log_sum_exp(x = x, axes = [-1], keep_dims = false);",
        "from x = 7.62 on, and the result is 0",
        "safe: x up to log(65504 / 32) = 7.62",
        (-50, 7.62),
        (-1, 7.7),
    ),
    "log_softmax": (
        "p = softmax(x = x, axis = -1);\ny = log(x = p, epsilon = fp16(0));",
        "its logarithm is -inf",
        "less than 13.2 above the least",
        (-6, 6),
        (-10, 10),
    ),
    "logcumsumexp": (
        "e = exp(x = x);\ns = cumsum(x = e, axis = -1);\ny = log(x = s, epsilon = fp16(0));",
        "infinite in fp16 from x = 11.09 on",
        "at most 11.09",
        (-5, 7),
        (-5, 11),
    ),
}
"""The public failures: the operations, words of the finding, a safe range of inputs, and another one."""


@pytest.mark.parametrize("name", REPORTS)
def test_a_public_failure_is_found(name: str) -> None:
    operations, failure, safe, inside, outside = REPORTS[name]
    program = text("tensor<fp16, [1, 32]> x", operations)
    for ranges in ({}, {"x": outside}):
        warnings = [each for each in found(program, **ranges) if each[:2] == ("MIL851", "warning")]
        assert len(warnings) == 1
        assert failure in warnings[0][2]
        assert safe in warnings[0][2]
    assert found(program, x=inside) == []


@pytest.mark.parametrize("name", ["softplus", "logsumexp", "log_softmax"])
def test_the_engine_fails_outside_of_the_safe_range_alone(name: str) -> None:
    operations, _, _, inside, outside = REPORTS[name]
    program = text("tensor<fp16, [1, 32]> x", operations)
    engine, plain = miltext.Evaluator(program, compute="ane"), miltext.Evaluator(program)
    for (low, high), agrees in ((inside, True), (outside, False)):
        x = np.full((1, 32), high, np.float16)
        if name == "log_softmax":
            x[0, 1:] = low
        made, wanted = (each.run({"x": x})["y"].astype(float) for each in (engine, plain))
        assert np.allclose(made, wanted, rtol=0.02, atol=0.02) == agrees or name == "log_softmax"
        assert np.isfinite(made).all() == (agrees or name != "log_softmax")
    assert SOFTPLUS_END == 32768


def test_mish_is_named() -> None:
    operations = "s = softplus(x = x);\nt = tanh(x = s);\ny = mul(x = x, y = t);"
    ((_, _, message),) = found(text("tensor<fp16, [8]> x", operations))
    assert "so mish, x tanh(softplus(x)), is 0 there" in message


def test_powers_and_long_rows() -> None:
    ((_, severity, message),) = found(text("tensor<fp16, [8]> x", "y = pow(x = x, y = fp16(3));"), x=(-50, 50))
    assert severity == "warning"
    assert "|x| up to 40.31" in message
    assert found(text("tensor<fp16, [8]> x", "y = pow(x = x, y = fp16(3));"), x=(-40, 40)) == []
    norm = text("tensor<fp16, [1, 1024]> x", "y = layer_norm(x = x, axes = [-1], epsilon = fp16(1e-5));")
    ((_, severity, message),) = found(norm)
    assert severity == "note"  # any input can be too large
    assert "|x - mean| up to 7.998" in message
    assert found(norm, x=(-7, 7)) == []


def test_sums_out_of_range_are_found_where_the_range_is_known() -> None:
    program = text("tensor<fp16, [1, 4]> x", f"y = linear(x = x, weight = {ONES});")
    ((code, severity, message),) = found(program)
    assert (code, severity) == ("MIL852", "note")
    assert "`x` is unknown" in message
    ((code, severity, message),) = found(program, x=(-100, 100))
    assert (code, severity) == ("MIL850", "warning")
    assert "may add up to 35000" in message
    assert "a sum of 32768 or more is infinite on the Neural Engine" in message
    assert "inputs up to 93.62 in size" in message
    assert found(program, x=(-93, 93)) == []


def test_a_result_out_of_range_is_found_once() -> None:
    operations = "a = mul(x = x, y = x);\nb = mul(x = a, y = a);\nc = mul(x = b, y = b);\ny = relu(x = c);"
    ((code, _, message),) = found(text("tensor<fp16, [4]> x", operations), x=(-30, 30))
    assert code == "MIL850"
    assert message == "`b` (mul) reaches 811583, beyond the 65504 of fp16"


@pytest.mark.parametrize("most", [4, 65504])
def test_inputs_up_to_the_greatest_number_are_judged_after_moves(most: float) -> None:
    """A cast, or a change of shape, adds no error: the range stays known, and as narrow as it was."""
    operations = """h = cast(x = x, dtype = "fp16");
        t = transpose(x = h, perm = [1, 0]);
        r = relu(x = t);
        s = reshape(x = r, shape = [1, 4]);
        y = linear(x = s, weight = tensor<fp16, [1, 4]>([[1, 0, 0, 0]]));"""
    program = text("tensor<fp32, [1, 4]> x", operations)
    evaluator = miltext.Evaluator(program)
    ranging = Ranging(evaluator, {"x": Interval(-most, most)})
    *_, bound = ranging.bounds()
    assert bound.operands.interval("x") == Interval(0, most)
    assert [each[0] for each in found(program, x=(-most, most))] == (["MIL850"] if most > 32768 else [])


def test_fp32_is_not_judged() -> None:
    assert found(text("tensor<fp32, [4]> x", "y = softplus(x = x);"), x=(0, 1000)) == []


def test_loops_and_states_are_of_any_range() -> None:
    program = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x, state<tensor<fp16, [2]>> total) {
        before = read_state(input = total);
        after = add(x = before, y = x);
        write_state(data = after, input = total);
        y = softplus(x = after);
    } -> (y);
}
"""
    assert [each[0] for each in found(program, x=(-1, 1))] == ["MIL851"]


# ---- samples


def test_samples_have_ranges_and_sums(tmp_path: Path) -> None:
    operations = f"w = linear(x = x, weight = {ONES});\ny = mul(x = w, y = fp16(1e-7));"
    evaluator = miltext.Evaluator(text("tensor<fp16, [1, 4]> x", operations))
    rows = ranges_on(evaluator, [{"x": np.full((1, 4), number)} for number in (1, -120)])
    (linear, mul) = rows
    assert (linear.name, linear.operation, linear.limit, linear.least, linear.greatest) == (
        "w",
        "linear",
        32768,
        -18000,
        150,
    )
    assert linear.partial == pytest.approx(30000 + 100, rel=0.01)  # -120 * 250 - 100, at most
    assert not linear.may_overflow
    assert mul.subnormal == 1
    assert mul.partial is None


# ---- the command


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    whole = miltext.infer_draft(text("tensor<fp16, [1, 4]> x", f"y = linear(x = x, weight = {ONES});"))
    Path("sum.mil").write_text(whole, encoding="utf-8")
    return "sum.mil"


def test_the_command_bounds_numbers(program: str) -> None:
    plain = RUNNER.invoke(command, ["check", program])
    assert (plain.exit_code, plain.stdout) == (0, "")
    wide = RUNNER.invoke(command, ["check", "--numbers", program, "--input-range", "x=-100:100"])
    assert wide.exit_code == 1
    assert "warning[MIL850]: `y` (linear) may add up to 35000" in wide.stdout
    assert "note: safe: inputs up to 93.62 in size" in wide.stdout
    small = RUNNER.invoke(command, ["check", "--numbers", program, "--input-range", "x=-1:1"])
    assert (small.exit_code, small.stdout) == (0, "")
    ignored = RUNNER.invoke(command, ["check", "--numbers", "--ignore", "MIL85", program])
    assert (ignored.exit_code, ignored.stdout) == (0, "")


@pytest.mark.parametrize("words", ["x", "x=1", "x=2:1", "x=a:b", "x=0:inf", "x="])
def test_a_wrong_range_is_refused(program: str, words: str) -> None:
    assert RUNNER.invoke(command, ["check", "--numbers", program, "--input-range", words]).exit_code == 2


def test_a_range_of_no_input(program: str) -> None:
    made = RUNNER.invoke(command, ["check", "--numbers", program, "--input-range", "z=0:1"])
    assert made.exit_code == 2
    assert "--input-range z: no program has this input; the inputs are x" in made.stderr
    assert RUNNER.invoke(command, ["check", program, "--input-range", "x=0:1"]).exit_code == 2


def test_a_text_with_errors_has_only_these(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.mil").write_text(text("tensor<fp16, [1, 4]> x", "y = linear(x = q);"), encoding="utf-8")
    made = RUNNER.invoke(command, ["check", "--numbers", "wrong.mil"])
    assert made.exit_code == 1
    assert "MIL85" not in made.stdout


def test_the_command_shows_ranges_of_samples(program: str) -> None:
    Path("samples").mkdir()
    for number in (1, 120):
        np.savez(f"samples/{number}.npz", x=np.full((1, 4), number, np.float16))
    shown = RUNNER.invoke(command, ["run", program, "--ranges", "samples"])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout.splitlines()[-1] == "2 samples; 0 of 1 results may overflow, or did"
    record = json.loads(RUNNER.invoke(command, ["run", program, "--ranges", "samples", "--json"]).stdout)
    assert record["samples"] == 2
    assert record["ranges"][0]["operation"] == "linear"
    Path("empty").mkdir()
    for data in ("empty", "missing"):
        assert RUNNER.invoke(command, ["run", program, "--ranges", data]).exit_code == 2
    assert RUNNER.invoke(command, ["run", program, "--ranges", "samples", "--random"]).exit_code == 2


def test_the_command_explains_a_device(program: str) -> None:
    shown = RUNNER.invoke(command, ["run", program, "--random", "0", "--compute", "ane", "--explain"])
    assert shown.exit_code == 0
    assert "assumed   linear y: measured on 1x1 convolutions\n" in shown.stdout
    assert "the Neural Engine of an M4: 0 operations as measured, 1 assumed" in shown.stderr
    words = ["run", program, "--random", "0", "--compute", "cpu", "--chip", "M6", "--explain", "--json"]
    record = json.loads(RUNNER.invoke(command, words).stdout)
    assert (record["compute"], record["chip"]) == ("cpu", "M6")
    assert [each["operation"] for each in record["arithmetic"]] == ["linear"]
    for option in (["--explain"], ["--chip", "M6"]):
        assert RUNNER.invoke(command, ["run", program, "--random", "0", *option]).exit_code == 2


def test_comparing_finds_where_the_engine_parts(program: str) -> None:
    np.savez("large.npz", x=np.array([[100, 100, -100, 100]], np.float16))
    made = RUNNER.invoke(command, ["compare", program, program, "--inputs", "large.npz", "--compute", "ane"])
    assert made.exit_code == 1
    assert "`y` (linear) falls to -inf dB" in made.stdout
    plain = RUNNER.invoke(command, ["compare", program, program, "--inputs", "large.npz"])
    assert plain.exit_code == 0
