"""How far a value is from its reference: by a definition that takes another way, and at the edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from miltext.evaluation.comparing.measures import PIECE, Measure, measure

INF, NAN = math.inf, math.nan


def defined(a: Any, b: Any) -> float:
    """The signal-to-noise ratio of finite numbers, as it is defined."""
    a, b = np.asarray(a, np.longdouble).ravel(), np.asarray(b, np.longdouble).ravel()
    return float(20 * np.log10(np.linalg.norm(a.astype(float)) / np.linalg.norm((a - b).astype(float))))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, PIECE + 3)], ids=str)
def test_the_ratio_follows_its_definition(dtype: str, shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(1)
    a = np.asarray(generator.normal(size=shape), dtype)
    b = np.asarray(a + generator.normal(size=shape) * 0.01, dtype)
    found = measure(a, b)
    assert found.snr == pytest.approx(defined(a, b), abs=1e-6)
    wide = a.astype(np.float64), b.astype(np.float64)
    assert found.maximum == pytest.approx(float(np.max(np.abs(wide[0] - wide[1]))))
    assert found.cosine == pytest.approx(
        float(np.sum(wide[0] * wide[1]) / np.sqrt(np.sum(wide[0] ** 2) * np.sum(wide[1] ** 2)))
    )
    assert (found.count, found.equal) == (a.size, np.mean(a == b))


@pytest.mark.parametrize(
    ("a", "b", "snr", "maximum", "equal"),
    [
        ([1.0, 2.0], [1.0, 2.0], INF, 0, 1),
        ([0.0, 0.0], [0.0, 0.0], INF, 0, 1),
        ([0.0, -0.0], [-0.0, 0.0], INF, 0, 1),
        ([0.0, 0.0], [0.0, 1.0], -INF, 1, 0.5),
        ([1.0, 1.0], [0.0, 0.0], 0, 1, 0),
        ([NAN, 1.0], [NAN, 1.0], INF, 0, 1),
        ([INF, 1.0], [INF, 1.0], INF, 0, 1),
        ([-INF], [-INF], INF, 0, 1),
        ([INF], [-INF], -INF, INF, 0),
        ([NAN, 1.0], [2.0, 1.0], -INF, INF, 0.5),
        ([2.0, 1.0], [NAN, 1.0], -INF, INF, 0.5),
        ([2.0, 1.0], [INF, 1.0], -INF, INF, 0.5),
        ([INF, 1.0], [NAN, 1.0], -INF, INF, 0.5),
        ([INF, 10.0], [INF, 9.0], 20, 1, 0.5),
        ([NAN, 10.0], [NAN, 9.0], 20, 1, 0.5),
        ([], [], INF, 0, 1),
        ([1e-30], [0.0], 0, 1e-30, 0),
        ([3e38, 1.0], [3e38, 1.0], INF, 0, 1),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_edges(a: list[float], b: list[float], snr: float, maximum: float, equal: float, dtype: str) -> None:
    found = measure(np.array(a, dtype), np.array(b, dtype))
    assert found.snr == pytest.approx(snr, abs=1e-4)
    assert found.maximum == pytest.approx(maximum)
    assert found.equal == equal


def test_counted_elements() -> None:
    a = np.array([NAN, 1, 2, 3, INF, 0, 0, 5], np.float32)
    b = np.array([NAN, NAN, INF, 0, INF, 0, 1, 5], np.float32)
    found = measure(a, b)
    assert (found.nans, found.infinities, found.vanished) == ((1, 2), (1, 2), 1)


@pytest.mark.parametrize(
    ("a", "b", "equal", "snr"),
    [
        (np.array([1, 2, 3]), np.array([1, 2, 4]), 2 / 3, None),
        (np.array([True, False]), np.array([True, True]), 0.5, None),
        (np.array(["cat"], object), np.array(["cat"], object), 1, None),
        (np.array(["cat", "dog"], object), np.array(["cat", "cow"], object), 0.5, None),
        (np.array(["cat"]), np.array(["cat"], object), 1, None),
        (np.zeros(0, np.int32), np.zeros(0, np.int32), 1, None),
        (np.array([2**53], np.int64), np.array([2**53 + 1], np.int64), 0, None),
        (np.array([1, 2], np.int32), np.array([1, 2], np.int8), 1, None),
        (np.array([1, 2], np.int32), np.array([1, 2], np.float16), 1, INF),
        (np.array([1, 2], np.int32), np.array(["a", "b"], object), 0, None),
        ({"cat": 0.25, "dog": 0.75}, {"dog": 0.75, "cat": 0.25}, 1, INF),
        ({1: 10.0}, {1: 9.0}, 0, 20),
        ([np.array([10.0])], [np.array([9.0])], 0, 20),
        ([np.array([1]), None], [np.array([1]), None], 1, None),
        ([], [], 1, None),
        ({}, {}, 1, INF),
    ],
)
def test_values_without_a_distance_and_values_of_several(a: Any, b: Any, equal: float, snr: float | None) -> None:
    found = measure(a, b)
    assert found.equal == pytest.approx(equal)
    assert found.snr == (None if snr is None else pytest.approx(snr))
    assert found.level == pytest.approx(INF if equal == 1 else -INF if snr is None else snr)


@pytest.mark.parametrize(
    ("a", "b", "misfit"),
    [
        (np.zeros((2, 3)), np.zeros((3, 2)), "shape [2, 3] against [3, 2]"),
        (np.zeros(()), np.zeros(1), "shape [] against [1]"),
        (np.zeros(0), np.zeros(1), "shape [0] against [1]"),
        ({"a": 1.0}, {"b": 1.0, "c": 2.0}, "other keys: 1 only in the reference, 2 only here"),
        ({"a": 1.0}, np.zeros(1), "a dictionary against a tensor"),
        (np.zeros(1), [np.zeros(1)], "a tensor against a list"),
        ([np.zeros(1)], [], "1 elements against 0"),
        ([np.zeros(1)], [np.zeros(2)], "shape [1] against [2] at 0"),
        ([np.zeros(1)], [None], "only one has an element at 0"),
    ],
)
def test_unmeasurable_values(a: Any, b: Any, misfit: str) -> None:
    found = measure(a, b)
    assert found == Measure(misfit=misfit)
    assert found.level == -INF


def test_an_array_in_another_order_is_measured_by_its_elements() -> None:
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert measure(a, np.asfortranarray(a)).equal == 1
    assert measure(a.T, a.T.copy()).equal == 1
    assert measure(a[::-1], a).equal < 1


def test_nothing_is_written_and_nothing_warned(recwarn: pytest.WarningsRecorder) -> None:
    a, b = np.array([NAN, INF, 1e300]), np.array([1.0, -INF, -1e300])
    a.flags.writeable = b.flags.writeable = False
    assert measure(a, b).snr == -INF
    assert not recwarn.list


# ---- elements that stand for infinity


@pytest.mark.parametrize("hidden", [-1e4, -65504.0, 1e9, -3e38])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("count", [1, 40, 3 * PIECE])
def test_saturation_hides_no_difference(hidden: float, dtype: str, count: int) -> None:
    generator = np.random.default_rng(4)
    a, b = generator.normal(size=(2, count + 4))
    b = a + 0.01 * b
    a[:4] += hidden
    b[:4] += hidden
    with np.errstate(over="ignore"):
        a, b = a.astype(dtype), b.astype(dtype)
    found = measure(a, b)
    assert found.saturated == (0 if np.isinf(a).any() else 4)
    assert found.snr == pytest.approx(defined(a[4:], b[4:]), abs=1e-6)


@pytest.mark.parametrize(
    ("a", "b", "saturated", "snr"),
    [
        ([-1e4, 1.0], [-1e4, 0.9], 1, 20),
        ([-1e4, 1.0], [-9e3, 1.0], 1, 20),  # what is saturated counts, too
        ([-1e4, 1.0], [-9e3, 0.99], 1, 20),
        ([-1e4, 0.0], [-1e4, 0.0], 0, INF),  # nothing differs
        ([-1e4, 0.0], [-1e4, 0.1], 1, -INF),
        ([-1e4, -1e4], [-9e3, -9e3], 2, 20),  # there is nothing else
        ([-1e4, 100.0, 1.0], [-1e4, 100.0, 0.9], 1, 60),
        ([-1e4, 1000.0, 1.0], [-1e4, 1000.0, 0.9], 0, 100),  # 1000 is between
        ([-1e4, 1.0], [-1.0, 1.0], 0, 0),  # saturated on one side
        ([-900.0, 1.0], [-900.0, 0.9], 0, 79.1),  # too small
        ([-2e4, -1e4, 1.0], [-2e4, -1e4, 0.9], 2, 20),  # hidden twice
        ([-INF, -1e4, 1.0], [-INF, -1e4, 0.9], 1, 20),
        ([NAN, -1e4, 1.0], [NAN, -1e4, 0.9], 1, 20),
        ([INF, -1e4, 1.0], [-1e4, -1e4, 0.9], 0, -INF),
    ],
)
def test_saturated_numbers(a: list[float], b: list[float], saturated: int, snr: float) -> None:
    found = measure(np.array(a), np.array(b))
    assert found.saturated == saturated
    assert found.snr == pytest.approx(snr, abs=0.1)
    turned = measure(np.array(b[::-1]), np.array(a[::-1]))
    assert turned.saturated == saturated
