"""Lists: how they are made, written, grown and read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.evaluation import computed

from miltext.evaluation.failures import OperationFailure


def made(body: str, outputs: str, **inputs: Any) -> list[Any]:
    """The outputs of statements on a vector `x`, and on an int32 `i` and int32s `j` where they are given."""
    types = {"x": "tensor<fp32, [2]>", "i": "int32", "j": "tensor<int32, [?]>", "m": "tensor<fp32, [?, 2]>"}
    given = {"x": np.array([1, 2], np.float32)} | {
        name: np.array(value, np.float32 if name == "m" else np.int32) for name, value in inputs.items()
    }
    declared = ", ".join(f"{types[name]} {name}" for name in given)
    found = computed(f"program(1.3) {{ func main<ios18>({declared}) {{ {body} }} -> ({outputs}); }}", given)
    return [found[name].tolist() for name in outputs.split(", ")]


GROWN = "a = make_list(init_length = 2, elem_shape = (2));"
FIXED = "a = make_list(init_length = 2, dynamic_length = false, elem_shape = (2));"
NAMED = 'a = make_list(init_length = 2, elem_shape = ("n"));'
READ = "n = list_length(a); y = list_read(a, index = 0); z = list_gather(a, indices = [1, 0, 1]);"


@pytest.mark.parametrize("head", [GROWN, FIXED])
def test_a_list_is_zeros_at_first(head: str) -> None:
    assert made(head + READ, "n, y, z") == [2, [0, 0], [[0, 0]] * 3]


@pytest.mark.parametrize("head", [GROWN, FIXED, NAMED])
def test_writing_leaves_the_list_that_was(head: str) -> None:
    body = head + "b = list_write(a, index = 1, value = x); c = list_write(b, index = 1, value = add(x, x));"
    body += "p = list_read(b, index = 1); q = list_read(c, index = 1); r = list_read(c, index = 0);"
    assert made(body, "p, q, r") == [[1, 2], [2, 4], [0, 0]]


@pytest.mark.parametrize("index", [0, 1, 2, 5])
def test_a_list_grows_by_zeros(index: int) -> None:
    body = GROWN + "b = list_write(a, index = i, value = x); n = list_length(b); m = list_length(a);"
    body += "r = range_1d(start = 0, end = n, step = 1); y = list_gather(b, indices = r);"
    rows = [[1, 2] if place == index else [0, 0] for place in range(max(2, index + 1))]
    assert made(body, "n, m, y", i=index) == [len(rows), 2, rows]


@pytest.mark.parametrize(
    ("indices", "rows"),
    [
        ([0, 1], [[1, 2], [3, 4]]),
        ([1, 0], [[3, 4], [1, 2]]),
        ([3, 0], [[3, 4], [0, 0], [0, 0], [1, 2]]),
        ([1, 1], [[0, 0], [3, 4]]),
    ],
)
def test_scattering_writes_in_order(indices: list[int], rows: list[list[float]]) -> None:
    body = GROWN + "b = list_scatter(a, indices = j, value = m); n = list_length(b);"
    body += "r = range_1d(start = 0, end = n, step = 1); y = list_gather(b, indices = r);"
    assert made(body, "n, y", j=indices, m=[[1, 2], [3, 4]]) == [len(rows), rows]


def test_nothing_scattered_and_nothing_gathered() -> None:
    body = GROWN + "b = list_scatter(a, indices = j, value = m); n = list_length(b); y = list_gather(b, indices = j);"
    assert made(body, "n, y", j=[], m=np.zeros((0, 2))) == [2, []]


def test_an_empty_list_grows() -> None:
    body = "a = make_list(init_length = 0, elem_shape = (2)); b = list_write(a, index = 0, value = x);"
    assert made(body + "n = list_length(a); m = list_length(b); y = list_read(b, index = 0);", "n, m, y") == [
        0,
        1,
        [1, 2],
    ]


@pytest.mark.parametrize(
    ("dtype", "value"), [("fp16", "fp16(0.5)"), ("int32", "int32(-7)"), ("bool", "true"), ("fp32", "fp32(2)")]
)
def test_elements_of_each_data_type(dtype: str, value: str) -> None:
    text = f"""program(1.3) {{ func main<ios18>(fp32 x) {{ a = make_list(elem_shape = (2, 1), dtype = "{dtype}");
        v = fill(shape = [2, 1], value = {value}); b = list_write(a, index = 1, value = v);
        y = list_gather(b, indices = [0, 1]); }} -> (y); }}"""
    found = computed(text, {"x": np.float32(0)})["y"]
    assert found.dtype == np.dtype(dtype.replace("fp", "float"))
    assert found[0].tolist() == [[0], [0]]
    assert found[1].tolist() == [[{"true": True}.get(value, float(value.partition("(")[2].rstrip(")") or 0))]] * 2


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            FIXED + "b = list_write(a, index = i, value = x); y = list_length(b);",
            "`index` is 2, and `ls` has 2 elements and does not grow",
        ),
        (
            FIXED + "b = list_scatter(a, indices = j, value = m); y = list_length(b);",
            "`indices` is 4, and `ls` has 2 elements and does not grow",
        ),
        (
            FIXED
            + "b = list_write(a, index = 0, value = x); c = list_write(b, index = i, value = x); y = list_length(c);",
            "`index` is 2, and `ls` has 2 elements and does not grow",
        ),
        (GROWN + "y = list_read(a, index = i);", "`index` is 2, and `ls` has 2 elements"),
        (GROWN + "y = list_gather(a, indices = j);", "`indices` is 4, and `ls` has 2 elements"),
        (
            GROWN + "k = sub(0, i); b = list_write(a, index = k, value = x); y = list_length(b);",
            "`index` is -2, and cannot be negative",
        ),
        (GROWN + "k = sub(0, i); y = list_read(a, index = k);", "`index` is -2, and `ls` has 2 elements"),
        (
            NAMED + "y = list_read(a, index = 0);",
            "`ls` has nothing at 0: its elements have no shape before one is written",
        ),
        (
            "a = make_list(init_length = sub(0, i), elem_shape = (2)); y = list_length(a);",
            "`init_length` is -2, and cannot be negative",
        ),
        (
            GROWN + "b = list_scatter(a, indices = [0], value = m); y = list_length(b);",
            "`indices` names 1 places, for 2 elements of `value`",
        ),
    ],
)
def test_places_that_do_not_exist_are_reported(body: str, told: str) -> None:
    with pytest.raises(OperationFailure, match=re.escape(told)):
        made(body, "y", i=2, j=[0, 4], m=[[1, 2], [3, 4]])


def test_a_list_is_carried_through_a_loop() -> None:
    text = """program(1.3) { func main<ios18>(tensor<fp32, [2]> x, int32 n) {
        a = make_list(init_length = 1, elem_shape = (2));
        zero = fill(shape = [], value = int32(0));
        int32 k, list<tensor<fp32, [2]>, ?> c, tensor<fp32, [2]> v = while_loop(loop_vars = (zero, a, x))
            (int32 i, list<tensor<fp32, [2]>, ?> b, tensor<fp32, [2]> u) { bool more = less(x = i, y = n); } -> (more)
            (int32 i, list<tensor<fp32, [2]>, ?> b, tensor<fp32, [2]> u) {
                list<tensor<fp32, [2]>, ?> d = list_write(ls = b, index = i, value = u);
                int32 j = add(x = i, y = int32(1));
                tensor<fp32, [2]> w = add(x = u, y = u);
            } -> (j, d, w);
        m = list_length(c);
        y = list_gather(c, indices = range_1d(start = 0, end = m, step = 1));
    } -> (y); }"""
    rows = [[2**place, 2 * 2**place] for place in range(5)]
    for count in (0, 1, 5):
        found = computed(text, {"x": np.array([1, 2], np.float32), "n": np.array(count, np.int32)})["y"]
        assert found.tolist() == (rows[:count] or [[0, 0]])
