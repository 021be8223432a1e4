"""Numbers of fp32 as fp16: how they are rounded, what stands for an infinity, and what is told of the loss."""

from __future__ import annotations

import numpy as np
import pytest

from miltext.conversion.halves import FEW, Loss, halves, measured, rounded
from miltext.schema.dtypes import GREATEST_HALF, LEAST_HALF


def made(*numbers: float, small: bool = True) -> list[float]:
    return [float(number) for number in halves(np.array(numbers, np.float32), small)]


def loss(*numbers: float, small: bool = True) -> Loss:
    return measured([np.array(numbers, np.float32)], small)


@pytest.mark.parametrize(
    ("number", "half"),
    [
        (0.1, 0.0999755859375),
        (1.00048828125, 1.0),  # half-way: to the even one
        (1.00146484375, 1.001953125),
        (65504, 65504),
        (65519.9, 65504),
        (-65504, -65504),
        (1e38, GREATEST_HALF),
        (-3.4028235e38, -GREATEST_HALF),
        (float("inf"), float("inf")),
        (float("-inf"), float("-inf")),
        (1e-12, LEAST_HALF),
        (-1e-12, -LEAST_HALF),
        (1.4e-45, LEAST_HALF),
        (LEAST_HALF, LEAST_HALF),
        (0.0, 0.0),
    ],
)
def test_a_number_becomes_the_nearest(number: float, half: float) -> None:
    assert made(number) == [half]


def test_a_nan_stays_one_and_so_does_the_sign_of_a_zero() -> None:
    nan, zero = made(float("nan"), -0.0)
    assert (np.isnan(nan), np.signbit(zero)) == (True, True)


def test_numbers_out_of_range_are_reported_and_not_hidden() -> None:
    assert np.isinf(made(65520.0, -1e37)).all()
    assert loss(1, 65520.0, -1e37).overflow == pytest.approx(-1e37)
    assert loss(65519.0, 1e38, float("inf"), float("nan")).overflow is None


def test_only_in_a_large_array_may_a_number_become_0() -> None:
    assert made(1e-12, -1e-12, small=False) == [0, 0]
    assert (loss(1e-12, small=False).zeros, loss(1e-12, small=False).raised) == (1, 0)
    assert (loss(1e-12).zeros, loss(1e-12).raised) == (0, 1)
    assert FEW == 400


def test_numbers_are_counted_by_their_result() -> None:
    found = loss(0, -0.0, 1, 1e-5, 1e-12, -2e38, float("inf"), float("nan"), small=False)
    assert (found.zeros, found.subnormals, found.raised, found.clamped) == (1, 1, 0, 1)


def test_largest_and_largest_relative_error_may_differ() -> None:
    found = loss(1000.3, 1e-12, float("inf"), 1e38)
    assert found.absolute == pytest.approx(0.2, abs=1e-3)
    assert found.at == pytest.approx(1000.3)
    assert found.share == pytest.approx(0.2 / 1000.3, rel=1e-2)
    assert found.relative == pytest.approx(LEAST_HALF / 1e-12, rel=1e-3)


def test_a_loss_is_the_same_of_one_chunk_and_of_many() -> None:
    numbers = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    assert measured(np.split(numbers, 10), False) == measured([numbers], False)
    assert measured([], True) == measured([numbers[:0]], True) == Loss()


def test_values_known_to_inference_are_rounded_alike() -> None:
    assert rounded((0.1, 3, None, "x")) == (made(0.1)[0], 3, None, "x")
    assert rounded(None) is None
