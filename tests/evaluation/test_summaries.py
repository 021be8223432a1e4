"""Summaries of values: the statistics, the table, and the record for programs."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import numpy as np
import pytest

from miltext.diagnostics.wording import table
from miltext.evaluation.summaries import HEADINGS, PIECE, record, row, summarize, type_of
from miltext.schema.types import DictionaryType, ListType, TensorType, Type

NAN, INF = np.nan, np.inf
PROBABILITIES = DictionaryType(TensorType("string", ()), TensorType("fp64", ()))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        ([1, 2, 0, -3], (-3, 2, 0, 0, 0, 1)),
        ([NAN, 1, INF, -INF, 0, -0.0], (0, 1, 1 / 3, 1, 2, 2)),
        ([NAN, NAN], (None, None, None, 2, 0, 0)),
        ([INF], (None, None, None, 0, 1, 0)),
        ([], (None, None, None, 0, 0, 0)),
    ],
)
def test_statistics_are_of_finite_elements(dtype: type, elements: list[float], expected: tuple[Any, ...]) -> None:
    assert summarize(np.array(elements, dtype)) == pytest.approx(expected)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "int64", "uint64"])
def test_integers_are_exact(dtype: str) -> None:
    most = 1 if dtype == "bool" else int(np.iinfo(dtype).max)
    found = summarize(np.array([0, most, most], dtype))
    assert (found.least, found.greatest, found.zeros) == (0, most, 1)
    assert isinstance(found.greatest, int)


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7])
def test_pieces_make_up_the_whole(size: int) -> None:
    array = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    array[[0, size // 2, size - 1]] = [NAN, 0, 100]
    wide = array[1:].astype(np.float64)
    assert summarize(array) == pytest.approx((wide.min(), 100, wide.mean(), 1, 0, 1))


@pytest.mark.parametrize("turn", [lambda a: a.T, lambda a: a[::-1, ::2], lambda a: np.broadcast_to(a[0], (50, 300))])
def test_arrays_of_every_layout(turn: Any) -> None:
    array = turn(np.arange(90_000, dtype=np.float32).reshape(300, 300))
    found = summarize(array)
    assert (found.least, found.greatest, found.mean) == (array.min(), array.max(), array.mean(dtype=np.float64))


def test_a_large_array_is_not_copied() -> None:
    array = np.ones((2000, 2000), np.float16).T
    tracemalloc.start()
    summarize(array)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < array.nbytes / 4


def fp32(*shape: int | None) -> TensorType:
    return TensorType("fp32", shape)


ROWS: list[tuple[Any, Type, tuple[str, ...]]] = [
    (np.array([[1, 2], [0.5, NAN]]), fp32(None, 2), ("tensor<fp32, [2, 2]>", "[[1, 2], [0.5, nan]]")),
    (np.array(2.25), fp32(), ("fp32", "2.25")),
    (np.zeros((0, 3)), fp32(0, 3), ("tensor<fp32, [0, 3]>", "no elements")),
    (np.arange(7), TensorType("int32", (7,)), ("tensor<int32, [7]>", "0", "6", "3", "0", "0", "1")),
    (np.full(7, NAN), fp32(7), ("tensor<fp32, [7]>", "-", "-", "-", "7", "0", "0")),
    (np.array([True, False]), TensorType("bool", (2,)), ("tensor<bool, [2]>", "[true, false]")),
    (np.array('a "cat"\n', object), TensorType("string", ()), ("string", r'"a \"cat\"\n"')),
    (np.array(["é"] * 9, object), TensorType("string", (9,)), ("tensor<string, [9]>", '"é", ' * 6 + "... of 9")),
    (np.array([], object), TensorType("string", (0,)), ("tensor<string, [0]>", "no elements")),
    (
        [np.zeros(2), np.ones(2)],
        ListType(fp32(2), None),
        ("list<tensor<fp32, [2]>, 2>", "0", "1", "0.5", "0", "0", "2"),
    ),
    ([], ListType(fp32(2), None), ("list<tensor<fp32, [2]>, 0>", "no elements")),
    ({}, PROBABILITIES, ("dict<string, fp64>", "no elements")),
    ({"b": 0.25, "a": 0.75}, PROBABILITIES, ("dict<string, fp64>", '"a" 0.75, "b" 0.25')),
    (
        dict(enumerate([NAN, 0.5, 0.25, 0.125, 0.1, 0.0])),
        PROBABILITIES,
        ("dict<string, fp64>", "1 0.5, 2 0.25, 3 0.125, 4 0.1, 5 0, ... of 6"),
    ),
]


@pytest.mark.parametrize(("value", "declared", "expected"), ROWS)
def test_a_row(value: Any, declared: Type, expected: tuple[str, ...]) -> None:
    assert row("x", value, declared) == ("x", *expected)


@pytest.mark.parametrize(("value", "declared", "expected"), ROWS)
def test_a_record_is_json_and_is_equal_type(value: Any, declared: Type, expected: tuple[str, ...]) -> None:
    found = record("x", value, declared)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["name"], found["type"]) == ("x", expected[0])
    assert "value" in found or "min" in found


def test_records() -> None:
    assert record("x", np.array([NAN, -INF, 1]), fp32(None))["value"] == ["nan", "-inf", 1]
    assert record("x", {"a": 0.5, "b": NAN}, PROBABILITIES)["value"] == {"a": 0.5, "b": "nan"}
    large = record("x", np.zeros((2, 8), np.float16), TensorType("fp16", (2, None)))
    assert (large["shape"], large["dtype"], large["zeros"], "value" in large) == ([2, 8], "fp16", 16, False)


def test_a_short_row_reaches_over_the_columns_after_it() -> None:
    lines = table([("a", "fp32", "x" * 50), ("longer", "fp32", "1", "2", "3", "0", "0", "0")], HEADINGS)
    assert lines[0].split() == list(HEADINGS)
    assert lines[1] == "a       fp32  " + "x" * 50
    assert lines[2] == "longer  fp32  1    2    3     0    0    0"
    assert table([], HEADINGS) == ["  ".join(HEADINGS)]


def test_undeclared_values_are_unchanged() -> None:
    assert type_of(np.zeros(2), None) is None
    assert row("x", np.zeros(7), None)[1:3] == ("an unknown type", "0")
    assert type_of({}, PROBABILITIES) == PROBABILITIES
