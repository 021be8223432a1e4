"""Numbers as their data type carries them, held against torch and Python's own integers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from miltext.evaluation.values import CARRIERS, rounded
from miltext.schema.dtypes import BY_NAME

FLOATS = {"fp16": "float16", "bf16": "bfloat16", "fp8e4m3fn": "float8_e4m3fn", "fp8e5m2": "float8_e5m2"}
INTEGERS = [name for name, dtype in BY_NAME.items() if dtype.kind in ("int", "uint") and not dtype.packed]


def patterns(seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Floats of all sizes, and those half-way between two numbers of few bits, a little more and a little less."""
    bits = np.random.default_rng(seed).integers(0, 1 << 32, 100_000, np.uint32)
    ties = (bits & 0xFFF80000) | 0x00080000
    small = (
        np.ldexp(np.arange(-64, 65, dtype=np.float32) / 4, np.arange(-20, 21)[:, None]).astype(np.float32).reshape(-1)
    )
    kinds = [bits, ties, ties + 1, ties - 1, bits & 0xFFFF8000, bits & 0xFFFFE000, bits & 0x807FFFFF]
    ends = np.array([448, 464, -464, 57344, 61439, 61440, 65519, 65520, np.inf, -np.inf, np.nan], np.float32)
    return np.concatenate([np.concatenate(kinds).astype(np.uint32).view(np.float32), small, ends])


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_are_rounded_as_torch_rounds_them(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    numbers = patterns(1)
    if dtype == "fp8e4m3fn":  # of what is beyond its largest number, torch's releases make NaN or that number
        numbers = numbers[~(np.abs(numbers) > 464)]
    with np.errstate(all="ignore"):
        made = rounded(numbers, dtype)
    expected = torch.from_numpy(numbers).to(getattr(torch, FLOATS[dtype])).to(torch.float32).numpy()
    assert made.dtype == CARRIERS[dtype]
    np.testing.assert_array_equal(made.astype(np.float32), expected)
    np.testing.assert_array_equal(np.signbit(made[expected == 0]), np.signbit(expected[expected == 0]))


@pytest.mark.parametrize("dtype", [name for name in BY_NAME if name != "string"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (3, 2)])
def test_shapes_stay(dtype: str, shape: tuple[int, ...]) -> None:
    for given in (np.float32, np.float16, np.float64, np.int32, np.bool_):
        made = rounded(np.ones(shape, given).T, dtype)
        assert (made.shape, made.dtype) == (shape[::-1], CARRIERS[dtype])
        assert made.all()
        assert isinstance(made, np.ndarray)


@pytest.mark.parametrize("dtype", [name for name in BY_NAME if name != "string"])
def test_rounding_twice_changes_nothing(dtype: str) -> None:
    with np.errstate(all="ignore"):
        once = rounded(patterns(2), dtype)
        np.testing.assert_array_equal(rounded(once, dtype), once)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("given", [np.float16, np.float32, np.float64])
def test_floats_lose_their_fraction_and_stay_within_integer_type(dtype: str, given: type[np.floating[Any]]) -> None:
    least, most = BY_NAME[dtype].minimum, BY_NAME[dtype].maximum
    numbers = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        0.999,
        -0.999,
        1.5,
        -1.5,
        2.5,
        100.75,
        -100.75,
        250.5,
        300.0,
        -300.0,
        4e4,
        -4e4,
        6e4,
    ]
    values = np.array(numbers, given)
    expected = [min(max(math.trunc(value), least), most) for value in values.tolist()]
    assert rounded(values, dtype).tolist() == expected
    beyond = rounded(np.array([np.inf, -np.inf, np.nan, 1e30, -1e30]).astype(np.float32), dtype).astype(float).tolist()
    assert beyond == [float(most), float(least), 0, float(most), float(least)]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_integers_wrap_around(dtype: str) -> None:
    values = [0, 1, -1, 127, 128, -128, -129, 255, 256, 65535, 65536, -32769, 2**31 - 1, 2**31, -(2**31) - 1, 2**40 + 3]
    described = BY_NAME[dtype]
    expected = [(value - described.minimum) % (1 << described.bits) + described.minimum for value in values]
    assert rounded(np.array(values, np.int64), dtype).tolist() == expected


def test_numbers_beyond_e4m3_are_nan() -> None:
    assert rounded(np.array([448, 464, -464], np.float32), "fp8e4m3fn").tolist() == [448, 448, -448]
    assert np.isnan(rounded(np.array([464.1, -465, 1e30, np.inf, -np.inf, np.nan]), "fp8e4m3fn")).all()


def test_nonzero_numbers_are_true() -> None:
    numbers = np.array([0, -0.0, 0.25, -3, np.nan, np.inf, 1e-45], np.float32)
    assert rounded(numbers, "bool").tolist() == [False, False, True, True, True, True, True]
    assert rounded(np.array([0, 2, -1, 256]), "bool").tolist() == [False, True, True, True]


def test_an_array_of_its_type_is_not_copied() -> None:
    for dtype in ("fp32", "fp16", "int32", "bool"):
        array = np.ones(3, CARRIERS[dtype])
        assert rounded(array, dtype) is array
