"""Compressed weights: what is said of their errors, and scales that stay fp32."""

from __future__ import annotations

import numpy as np
import pytest
from support.conversions import Converted, convert, draft

import miltext

DATA = "[[127, -100, 3, 4], [5, 6, 7, -128]]"
AFFINE = (
    "w = constexpr_affine_dequantize(axis = 0, quantized_data = tensor<int8, [2, 4]>(DATA), scale = SCALE, "
    "zero_point = ZERO); y = linear(x, w);"
)
BLOCKWISE = (
    "w = constexpr_blockwise_shift_scale(data = tensor<int8, [2, 4]>(DATA), "
    "scale = tensor<fp32, [2, 1]>(SCALE)); y = linear(x, w);"
)
FOUR_BITS = BLOCKWISE.replace("int8", "int4").replace("DATA", "[[7, -8, 3, 4], [5, 6, 7, -8]]")
CASES = {
    "affine": (AFFINE, "fp32(0.0123)", "int8(0)"),
    "a zero point": (AFFINE, "fp32(0.0123)", "int8(-77)"),
    "scales of channels": (AFFINE, "tensor<fp32, [2]>([0.0123, 3.3])", "tensor<int8, [2]>([3, -128])"),
    "a negative scale": (AFFINE, "fp32(-0.7)", "int8(5)"),
    "subnormal products": (AFFINE, "fp32(1e-7)", "int8(0)"),
    "a scale of nothing": (AFFINE, "tensor<fp32, [2]>([0.0, 0.1])", "int8(0)"),
    "blockwise": (BLOCKWISE, "[[0.01], [2.2]]", ""),
    "blockwise of 4 bits": (FOUR_BITS, "[[0.01], [2.2]]", ""),
}


def converted(body: str, scale: str, zero: str = "int8(0)", to: str = "fp16") -> Converted:
    text = body.replace("SCALE", scale).replace("ZERO", zero).replace("DATA", DATA)
    return convert(draft(text, "y", "tensor<fp32, [1, 4]> x"), to)


def weights(made: Converted) -> list[np.ndarray]:
    x = {"x": np.ones((1, 4), np.float32)}
    found = [miltext.run(program, x, values=["w"])["w"] for program in (made.before, made.after)]
    return [each.astype(np.float64) for each in found]


@pytest.mark.parametrize("name", CASES)
def test_the_error_matches_the_weight(name: str) -> None:
    made = converted(*CASES[name])
    before, after = weights(made)
    error, loss = np.abs(before - after).max(), made.changes["w"].loss
    assert error > 0
    assert error <= loss.absolute * (1 + 1e-6)
    assert loss.absolute <= 3 * error + np.abs(before).max() * 2**-9
    assert loss.absolute >= made.changes["w.scale"].loss.absolute
    assert made.changes["w"].shape == (2, 4)


@pytest.mark.parametrize("name", CASES)
def test_a_weight_moves_on_the_way_back_too(name: str) -> None:
    there = converted(*CASES[name])
    back = convert(there.after, "fp32")
    before, after = weights(back)
    error, change = np.abs(before - after).max(), back.changes["w"]
    assert change.compressed
    assert back.changes["w.scale"].loss.absolute == 0
    assert error <= change.loss.absolute * (1 + 1e-6)


@pytest.mark.parametrize("scale", ["fp32(1e-8)", "tensor<fp32, [2]>([1e-12, 0.1])"])
def test_a_scale_that_fp16_would_raise_stays(scale: str) -> None:
    made = converted(AFFINE, scale)
    before, after = weights(made)
    np.testing.assert_array_equal(before, after)
    [told] = made.warnings
    smallest = "1e-08" if "8)" in scale else "1e-12"
    assert (
        told.message == f"`w` has a scale of {smallest}, below 5.96e-08, the least number of fp16: `w`, `y` stay fp32"
    )
    assert made.changes == {}


@pytest.mark.parametrize(
    ("zero", "scale", "stays"),
    [
        ("int8(0)", "fp32(511.0)", False),
        ("int8(0)", "fp32(512.0)", True),
        ("int8(100)", "fp32(287.0)", False),
        ("int8(100)", "fp32(288.0)", True),
        ("tensor<int8, [2]>([0, 100])", "tensor<fp32, [2]>([288.0, 1.0])", True),
    ],
)
def test_a_weight_beyond_fp16_stays(zero: str, scale: str, stays: bool) -> None:
    made = converted(AFFINE, scale, zero)
    assert [each.code for each in made.warnings] == ["MIL437"] * stays


@pytest.mark.parametrize(("body", "is_cast"), [("y = add(x, 1e9);", False), ("y = relu(add(x, 1e9));", True)])
def test_results_are_claimed_to_be_cast_where_they_are(body: str, is_cast: bool) -> None:
    [told] = convert(draft(body, "y"), "fp16").warnings
    assert told.notes[0].message.startswith("the results are cast to fp16") == is_cast
