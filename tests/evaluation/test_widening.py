"""fp16 numbers as float32: each pattern of bits keeps its value, however many there are, however they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from miltext.evaluation.values import AT_ONCE, WORTH_WIDENING, widened

PATTERNS = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
FINITE = PATTERNS[np.isfinite(PATTERNS)]


def assert_widened(halves: Any) -> None:
    """Hold what is widened against numpy's own conversion, bit for bit, except for the payloads of NaNs."""
    wide, expected = widened(halves), halves.astype(np.float32)
    assert wide.dtype == np.float32
    assert wide.shape == halves.shape
    np.testing.assert_array_equal(np.isnan(wide), np.isnan(expected))
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(wide[kept].view(np.uint32), expected[kept].view(np.uint32))


def test_each_pattern_keeps_its_value() -> None:
    assert_widened(FINITE)
    assert_widened(PATTERNS)
    for last in (np.inf, -np.inf, np.nan, -np.nan):
        assert_widened(np.append(FINITE, np.float16(last)))


@pytest.mark.parametrize(
    "size", [0, 1, WORTH_WIDENING - 1, WORTH_WIDENING, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE]
)
@pytest.mark.parametrize("special", [None, np.inf, np.nan])
def test_any_number_of_them_is_widened(size: int, special: float | None) -> None:
    halves = np.resize(FINITE, size)
    if special is not None and size:
        halves[size // 2] = special
    assert_widened(halves)


@pytest.mark.parametrize("order", ["transposed", "every other", "turned", "broadcast", "Fortran"])
def test_values_of_any_memory_layout_are_widened(order: str) -> None:
    square = np.resize(FINITE, (256, 200))
    lying = {
        "transposed": square.T,
        "every other": square[:, ::2],
        "turned": square[::-1],
        "broadcast": np.broadcast_to(square[0], (300, 200)),
        "Fortran": np.asfortranarray(square),
    }
    assert_widened(lying[order])


def test_a_widened_value_stays_unchanged() -> None:
    halves = np.resize(FINITE, 2 * AT_ONCE)
    halves.flags.writeable = False
    before = halves.tobytes()
    widened(halves)
    assert halves.tobytes() == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.bool_])
def test_other_numbers_are_left_as_they_are(dtype: Any) -> None:
    array = np.ones(2 * AT_ONCE, dtype)
    assert widened(array) is array
