"""Whole numbers that are cast: what stays exact, and what is warned of."""

from __future__ import annotations

import numpy as np
import pytest
from support.conversions import convert, draft

import miltext

N = np.array([50257, -65537, 2049], np.int32)
INPUTS = "tensor<int32, [3]> n"

EXACT = {
    "a cast back": ('f = cast(n, "fp32"); y = cast(f, "int32");', "y"),
    "several casts": ('f = cast(n, "fp32"); y = cast(f, "int32"); z = cast(f, "bool");', "y, z"),
    "an output": ('y = cast(n, "fp32");', "y"),
    "an output and a cast": ('y = cast(n, "fp32"); z = cast(y, "int32");', "y, z"),
    "a cast of a cast": ('f = cast(n, "fp32"); g = cast(f, "fp32"); y = cast(g, "int32");', "y"),
    "inside a block": (
        'y = cond(pred = p) () { f = cast(n, "fp32"); a = cast(f, "int32"); } -> (a) () { } -> (n);',
        "y",
    ),
}


@pytest.mark.parametrize("name", EXACT)
def test_values_that_only_casts_use_stay_exact(name: str) -> None:
    body, returns = EXACT[name]
    inputs = INPUTS + ", bool p" * ("p)" in body)
    body = body.replace("y = cond", "tensor<int32, [3]> y = cond")
    made = convert(draft(body, returns, inputs), "fp16")
    given = {"n": N} | ({"p": np.array(True)} if "bool p" in inputs else {})
    before, after = (miltext.run(program, dict(given)) for program in (made.before, made.after))
    for value in before:
        np.testing.assert_array_equal(before[value], after[value])
    assert made.warnings == []
    assert convert(made.after, "fp16").after == made.after


@pytest.mark.parametrize(
    ("body", "inputs", "warned"),
    [
        ('f = cast(n, "fp32"); y = relu(f);', INPUTS, True),
        ('m = add(n, 1); f = cast(m, "fp32"); y = relu(f);', INPUTS, True),
        ('i = cast(x, "int32"); f = cast(i, "fp32"); y = relu(f);', "tensor<fp32, [3]> x", True),
        ('c = const()[val = tensor<int32, [2]>([1, 4097])]; f = cast(c, "fp32"); y = mul(f, f);', "bool b", True),
        ('c = const()[val = tensor<int32, [2]>([1, 2048])]; f = cast(c, "fp32"); y = mul(f, f);', "bool b", False),
        ('f = cast(n, "fp32"); y = relu(f);', "tensor<int16, [3]> n", True),
        ('f = cast(n, "fp32"); y = relu(f);', "tensor<int8, [3]> n", False),
        ('f = cast(b, "fp32"); y = relu(f);', "tensor<bool, [3]> b", False),
        ('i = cast(b, "int32"); f = cast(i, "fp32"); y = relu(f);', "tensor<bool, [3]> b", False),
        (
            'i = reduce_argmax(x, axis = 0); f = cast(i, "fp32"); y = relu(f);',
            "tensor<fp32, [3]> x",
            False,
        ),
        ('s = shape(x); f = cast(s, "fp32"); y = relu(f);', "tensor<fp32, [3]> x", False),
        ('f = cast(n, "fp16"); y = relu(f);', INPUTS, False),
    ],
)
def test_casts_of_numbers_that_may_be_rounded_are_warned_of_once(body: str, inputs: str, warned: bool) -> None:
    made = convert(draft(body, "y", inputs), "fp16")
    told = "`f` gives integers as fp16, which rounds integers beyond 2048"
    assert [each.message for each in made.warnings] == [told] * warned


def test_many_casts_are_one_warning() -> None:
    body = "".join(f'f{index} = cast(n, "fp32"); y{index} = relu(f{index});' for index in range(5))
    [told] = convert(draft(body, "y0, y1, y2, y3, y4", INPUTS), "fp16").warnings
    assert told.message.startswith("`f0`, `f1`, `f2` and 2 more give integers as fp16")


def test_to_fp32_warns_of_nothing() -> None:
    made = convert(draft('f = cast(n, "fp16"); y = cast(f, "int32");', "y", INPUTS), "fp32")
    assert made.warnings == []
    assert made.lines == ['y = cast(cast(n, "fp32"), "int32");']
