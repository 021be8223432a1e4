"""Functions done piece by piece, and the error function, held against Python's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from miltext.evaluation import pointwise
from miltext.evaluation.pointwise import PIECE, erf, in_pieces

Array = npt.NDArray[Any]

GRID = np.concatenate([np.linspace(-7, 7, 140_001), np.geomspace(1e-45, 1, 5000), -np.geomspace(1e-45, 1, 5000)])
SPECIAL = [np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-310, -5e-324, 3.9999, 4, 4.0001, 5.9999, 6, 6.0001]


def exact(numbers: Array) -> Array:
    return np.array([math.erf(number) for number in numbers.astype(float).tolist()])


@pytest.mark.parametrize(
    ("dtype", "units", "most"), [(np.float32, 3, 1e-7), (np.float64, 1000, 1e-14), (np.float16, 0.51, 3e-4)]
)
def test_the_error_function_is_exact_to_the_last_places(dtype: Any, units: float, most: float) -> None:
    with np.errstate(over="ignore"):
        numbers = np.concatenate([GRID, SPECIAL]).astype(dtype)
    made, expected = erf(numbers), exact(numbers)
    assert made.dtype == dtype
    assert np.isnan(made[np.isnan(numbers)]).all()
    kept = ~np.isnan(numbers)
    far = np.abs(made - expected)[kept]
    assert far.max() < most
    assert (far / np.spacing(np.abs(expected[kept]).astype(dtype)).astype(float)).max() < units


def test_the_error_function_of_zeros_and_ends() -> None:
    for dtype in (np.float16, np.float32, np.float64):
        made = erf(np.array([0.0, -0.0, np.inf, -np.inf, 6.5, -6.5], dtype))
        assert [str(each) for each in made.tolist()] == ["0.0", "-0.0", "1.0", "-1.0", "1.0", "-1.0"]


def test_the_error_function_does_not_write_into_its_argument() -> None:
    numbers = np.array([0.5, -2], np.float32)
    numbers.flags.writeable = False
    erf(numbers)


@in_pieces
def shifted(x: Array, by: float) -> Array:
    """Add a number; a piece has one dimension."""
    assert x.ndim == 1
    assert x.size <= PIECE
    return x + by


LAYOUTS = {
    "rank 0": np.float32(3).reshape(()),
    "empty": np.zeros(0, np.float32),
    "empty in the middle": np.zeros((2, 0, 3), np.float32),
    "one more than a piece": np.arange(PIECE + 1, dtype=np.float32),
    "some pieces": np.arange(PIECE * 3, dtype=np.float32).reshape(3, -1),
    "transposed": np.arange(PIECE * 4, dtype=np.float32).reshape(4, PIECE // 2, 2).transpose(2, 0, 1),
    "reversed": np.arange(PIECE * 2, dtype=np.float32)[::-1],
    "with gaps": np.arange(PIECE * 4, dtype=np.float32).reshape(-1, 4)[:, ::3],
    "repeated": np.broadcast_to(np.float32(2), (3, PIECE)),
    "big-endian": np.arange(5, dtype=">f4"),
    "fp16": np.arange(5, dtype=np.float16),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_pieces_make_the_whole(layout: str) -> None:
    x = LAYOUTS[layout]
    made = shifted(x=x, by=1.0)
    assert isinstance(made, np.ndarray)
    assert (made.shape, made.dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(made, x + np.float32(1).astype(x.dtype))


def test_pieces_of_a_read_only_array() -> None:
    x = np.arange(PIECE * 2, dtype=np.float32)
    x.flags.writeable = False
    assert shifted(x=x, by=0.0).flags.writeable
    np.testing.assert_array_equal(shifted(x=x, by=0.0), x)


def test_the_size_of_pieces_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = np.linspace(-4, 4, 10_001, dtype=np.float32)
    whole = erf(numbers)
    monkeypatch.setattr(pointwise, "PIECE", 64)
    np.testing.assert_array_equal(in_pieces(erf)(numbers), whole)
