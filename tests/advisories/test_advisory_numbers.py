"""The numbers of the faults that follow from the arithmetic, computed by the evaluator on the programs of the table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import miltext
from miltext.advisories.table import table_file

COMPUTE = pytest.mark.parametrize("compute", ["float32", "native"])
half = np.float16


def result(compute: str, name: str, **inputs: Any) -> list[float]:
    text = table_file().alone(name)
    [output] = miltext.run(text, inputs, function=name, compute=compute).values()
    return [float(each) for each in np.asarray(output).ravel()]


@COMPUTE
def test_the_logarithm_of_a_softmax_is_infinite(compute: str) -> None:
    scores = np.array([[0, 0, 0, 50, 0, 0, 0, 0]], half)  # of the report
    infinity = float("-inf")
    assert result(compute, "example_log_softmax_fp16", x=scores) == [*[infinity] * 3, 0.0, *[infinity] * 4]
    done = miltext.rewrite(table_file().alone("example_log_softmax_fp16"), "log_softmax")
    [right] = miltext.run(done.program, {"x": scores}, function="example_log_softmax_fp16", compute=compute).values()
    assert right.ravel().tolist() == [*[-50.0] * 3, 0.0, *[-50.0] * 4]


@COMPUTE
def test_the_logarithm_of_running_sums_is_infinite(compute: str) -> None:
    found = result(compute, "example_logcumsumexp_fp16", x=np.array([[1, 5, 10, 12, 15, 20, 50]], half))
    assert found[:3] == pytest.approx([1, 5.02, 10.01], abs=0.01)
    assert found[3:] == [float("inf")] * 4


@COMPUTE
def test_the_logarithm_of_one_plus_an_exponential_is_infinite(compute: str) -> None:
    found = result(compute, "example_log_one_plus_exp_fp16", x=np.array([1, 11, 11.125, 12], half))
    assert found[:2] == pytest.approx([1.313, 11], abs=0.01)
    assert found[2:] == [float("inf")] * 2


@COMPUTE
def test_a_product_with_infinity_is_nan(compute: str) -> None:
    mask, scores = np.array([[[[1, 1, 0, 0]]]], half), np.zeros((1, 2, 4, 4), half)
    assert np.isnan(result(compute, "example_product_with_infinity", m=mask, scores=scores)).all()
    right = result(compute, "keep_product_with_infinity", m=mask, scores=scores)
    assert right[:4] == [0.5, 0.5, 0.0, 0.0]


@COMPUTE
def test_an_epsilon_is_lost_in_fp16(compute: str) -> None:
    zeros = np.zeros((1, 4, 8), half)
    assert np.isnan(result(compute, "example_rsqrt_epsilon_fp16", x=zeros)).all()
    assert result(compute, "keep_rsqrt_epsilon_fp16", x=zeros) == [0.0] * 32


@COMPUTE
@pytest.mark.parametrize("name", ["square_mean_fp16", "product_mean_fp16", "power_mean_fp16"])
def test_a_normalization_by_squares_gives_zeros(compute: str, name: str) -> None:
    example = f"example_{name}"
    assert result(compute, example, x=np.full((1, 4, 8), 255, half)) == pytest.approx([1.0] * 32, abs=0.01)
    assert result(compute, example, x=np.full((1, 4, 8), 300, half)) == [0.0] * 32


@COMPUTE
def test_an_epsilon_counts_as_often_as_the_square_of_the_maximum(compute: str) -> None:
    text = table_file().alone("example_rms_norm_epsilon").replace("[1, 4, 8]", "[1, 1, 4096]")
    spiky = np.zeros((1, 1, 4096), np.float32)
    spiky[..., 0] = 100
    [found] = miltext.run(text, {"x": spiky}, function="example_rms_norm_epsilon", compute=compute).values()
    right = 100 / np.sqrt(100**2 / 4096 + 1e-5)
    assert found.ravel()[0] / right == pytest.approx(1 / np.sqrt(1 + 4096 * 1e-5), rel=1e-5)  # 2 % less
    zeros = result(compute, "example_rms_norm_epsilon", x=np.zeros((1, 4, 8), np.float32))
    assert np.isnan(zeros).all()


def test_a_pass_loses_the_floor_of_a_division() -> None:
    x = np.array([1.5, -0.5, 2.9, -2.1], np.float32)
    assert result("native", "example_floor_div_by_one", x=x) == [2.0, 0.0, 3.0, -2.0]
    mb: Any = pytest.importorskip("coremltools.converters.mil").Builder
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY

    @mb.program(input_specs=[mb.TensorSpec(shape=(4,))])  # type: ignore[untyped-decorator]
    def program(x: Any) -> Any:
        return mb.add(x=mb.floor_div(x=x, y=1.0), y=1.0)

    PASS_REGISTRY["common::noop_elimination"](program)
    assert [op.op_type for op in program.functions["main"].operations if op.op_type != "const"] == ["add"]


def test_a_pass_fails_at_a_mean_without_axes() -> None:
    mb: Any = pytest.importorskip("coremltools.converters.mil").Builder
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY

    @mb.program(input_specs=[mb.TensorSpec(shape=(2, 5, 3))])  # type: ignore[untyped-decorator]
    def program(x: Any) -> Any:
        return mb.reduce_mean(x=mb.transpose(x=x, perm=[1, 0, 2]))

    with pytest.raises(KeyError, match="axes"):
        PASS_REGISTRY["common::reduce_transposes"](program)


def test_a_pass_adds_the_size_of_another_dimension_to_negative_indices() -> None:
    numbers = np.arange(30, dtype=np.float32).reshape(2, 5, 3)
    right = result("native", "keep_gather_nd_negative", x=numbers)
    assert result("native", "example_gather_nd_negative", x=numbers) == right
    converters: Any = pytest.importorskip("coremltools.converters.mil")
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY

    mb, indices = converters.Builder, np.array([[[-1], [0]], [[-1], [1]]], np.int32)

    @mb.program(input_specs=[], opset_version=converters.mil.builder.AvailableTarget.iOS17)  # type: ignore[untyped-decorator]
    def program() -> Any:
        return mb.gather_nd(x=numbers, indices=indices, batch_dims=1)

    PASS_REGISTRY["common::guard_negative_gather_indices"](program)
    [gather] = program.functions["main"].find_ops(op_type="gather_nd")
    assert gather.indices.val.ravel().tolist() == [1, 0, 1, 1]  # 4 is right for -1
