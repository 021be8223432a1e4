"""What takes or writes elements at places, or finds places, held against definitions element by element."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.one_operation import applied, counted, taken

from miltext.evaluation.failures import OperationFailure

RNG = np.random.default_rng
OPSETS = ("ios15", "ios16", "ios17", "ios18")


def places(shape: tuple[int, ...], size: int, dtype: Any = np.int32) -> Any:
    return RNG(7).integers(0, size, shape).astype(dtype)


def cells(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return iter(np.ndindex(*shape))


# ---- gathers


def gather_by_element(x: Any, indices: Any, axis: int = 0, batch_dims: int = 0) -> Any:
    axis %= x.ndim
    made = np.empty((*x.shape[:axis], *indices.shape[batch_dims:], *x.shape[axis + 1 :]), x.dtype)
    for before in cells(x.shape[:axis]):
        for at in cells(indices.shape[batch_dims:]):
            for after in cells(x.shape[axis + 1 :]):
                there = (*before, int(indices[before[:batch_dims] + at]), *after)
                made[before + at + after] = x[there]
    return made


@pytest.mark.parametrize(
    ("shape", "indices", "axis", "batch_dims"),
    [
        ((5,), (), 0, 0),
        ((5,), (3,), -1, 0),
        ((5,), (2, 2), 0, 0),
        ((4, 3), (), 1, 0),
        ((4, 3), (5,), 0, 0),
        ((4, 3), (2, 2), 1, 0),
        ((4, 3), (4, 2), 1, 1),
        ((4, 3), (4,), 1, 1),
        ((2, 3, 4), (2, 6), 1, 1),
        ((2, 3, 4), (2, 5), 2, 1),
        ((2, 3, 4), (2, 3, 2, 2), -1, 2),
        ((2, 3, 4), (2, 3), 2, 2),
        ((2, 3, 4), (0,), 1, 0),
        ((0, 3), (2,), 1, 0),
        ((2, 0, 3), (2, 2), 2, 1),
        ((1, 2, 1, 3, 2), (2, 1), 3, 0),
        ((2, 2, 1, 3, 2), (2, 2, 1), -2, 2),
    ],
)
def test_gather_takes_slices(shape: tuple[int, ...], indices: tuple[int, ...], axis: int, batch_dims: int) -> None:
    x, where = counted(shape, np.float32), places(indices, shape[axis])
    [made] = applied(f"gather(x, indices = i, axis = {axis}, batch_dims = {batch_dims})", {"x": x, "i": where})
    assert np.array_equal(made, gather_by_element(x, where, axis, batch_dims))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("op_type", ["gather", "gather_along_axis", "gather_nd"])
def test_gathers_take_each_data_type(op_type: str, opset: str) -> None:
    expected = {"gather": [[3, 4]], "gather_along_axis": [[3, 2]], "gather_nd": [4]}[op_type]
    index = {"gather": [1], "gather_along_axis": [[1, 0]], "gather_nd": [[1, 1]]}[op_type]
    for dtype in taken(op_type, opset):
        for kind in taken(op_type, opset, "indices"):
            inputs = {"x": np.array([[1, 2], [3, 4]], dtype), "i": np.array(index, kind)}
            [made] = applied(f"{op_type}(x, indices = i)", inputs, opset=opset)
            assert made.tolist() == expected
            assert made.dtype == dtype


@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [
        ((4,), (7,), 0),
        ((3, 4), (3, 2), 1),
        ((3, 4), (5, 4), -2),
        ((2, 3, 4), (2, 3, 0), 2),
        ((2, 1, 3, 2, 2), (2, 1, 4, 2, 2), 2),
    ],
)
def test_gather_along_axis_takes_elements(shape: tuple[int, ...], indices: tuple[int, ...], axis: int) -> None:
    x, where = counted(shape, np.float32), places(indices, shape[axis])
    [made] = applied(f"gather_along_axis(x, indices = i, axis = {axis})", {"x": x, "i": where})
    expected = np.empty(indices, np.float32)
    for at in cells(indices):
        there = list(at)
        there[axis] = where[at]
        expected[at] = x[tuple(there)]
    assert np.array_equal(made, expected)


GATHERS_ND = [
    ((4,), (1,), 0),
    ((4, 3), (5, 1), 0),
    ((4, 3), (5, 2), 0),
    ((4, 3), (2, 2, 2), 0),
    ((4, 3), (4, 1), 1),
    ((4, 3), (4, 2, 1), 1),
    ((2, 3, 4), (2, 5, 1), 1),
    ((2, 3, 4), (2, 5, 2), 1),
    ((2, 3, 4), (2, 3, 1), 2),
    ((2, 3, 4), (6, 2), 0),
    ((2, 3, 4), (0, 2), 0),
    ((0, 3), (0, 2, 1), 1),
]


@pytest.mark.parametrize(("shape", "indices", "batch_dims"), GATHERS_ND)
def test_gather_nd_takes_slices(shape: tuple[int, ...], indices: tuple[int, ...], batch_dims: int) -> None:
    x, depth = counted(shape, np.float32), indices[-1]
    sizes = shape[batch_dims : batch_dims + depth]
    where = np.stack([RNG(3).integers(0, size, indices[:-1]) for size in sizes], -1).astype(np.int32)
    [made] = applied(f"gather_nd(x, indices = i, batch_dims = {batch_dims})", {"x": x, "i": where})
    expected = np.empty((*indices[:-1], *shape[batch_dims + depth :]), np.float32)
    for at in cells(indices[:-1]):
        expected[at] = x[at[:batch_dims] + tuple(where[at])]
    assert np.array_equal(made, expected)


def test_gather_nd_of_whole_tensors() -> None:
    x = counted((2, 3), np.float32)
    [made] = applied("gather_nd(x, indices = i)", {"x": x, "i": np.zeros((4, 0), np.int32)})
    assert np.array_equal(made, np.stack([x] * 4))


# ---- scatters


def put(mode: str, old: Any, new: Any) -> Any:
    """One element after a write, in fp64."""
    combined: dict[str, Callable[[Any, Any], Any]] = {
        "update": lambda _, b: b,
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "max": max,
        "min": min,
    }
    return combined[mode](old, new)


MODES = ("update", "add", "sub", "mul", "div", "max", "min")


def some(shape: tuple[int, ...], seed: int, dtype: Any) -> Any:
    """Numbers of few bits, so that sums and products of some of them are exact in any float."""
    return RNG(seed).choice([-2, -1, 1, 2, 4], shape).astype(dtype)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [
        ((5,), (7,), 0),
        ((4, 3), (6,), 0),
        ((4, 3), (2,), -1),
        ((2, 3, 4), (5,), 1),
        ((4, 3), (0,), 0),
    ],
)
def test_scatter_writes_slices(
    shape: tuple[int, ...], indices: tuple[int, ...], axis: int, dtype: Any, mode: str
) -> None:
    data, where = some(shape, 0, dtype), places(indices, shape[axis])
    along = axis % len(shape)
    updates = some((*shape[:along], *indices, *shape[along + 1 :]), 1, dtype)
    expected = data.astype(np.float64)
    for turn, place in enumerate(where.tolist()):
        for before in cells(shape[:along]):
            for after in cells(shape[along + 1 :]):
                there, here = (*before, place, *after), (*before, turn, *after)
                expected[there] = put(mode, expected[there], float(updates[here]))
    call = f'scatter(data = data, indices = i, updates = u, axis = {axis}, mode = "{mode}")'
    for compute in ("float32", "native"):
        [made] = applied(call, {"data": data, "i": where, "u": updates}, compute=compute)
        assert made.dtype == dtype
        assert np.array_equal(made, expected.astype(dtype))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [((4,), (9,), 0), ((3, 4), (3, 2), 1), ((3, 4), (6, 4), -2), ((2, 3, 4), (2, 5, 4), 1)],
)
def test_scatter_along_axis_writes_elements(
    shape: tuple[int, ...], indices: tuple[int, ...], axis: int, dtype: Any, mode: str
) -> None:
    data, where, updates = some(shape, 0, dtype), places(indices, shape[axis]), some(indices, 1, dtype)
    expected = data.astype(np.float64)
    for at in cells(indices):
        there = list(at)
        there[axis] = int(where[at])
        expected[tuple(there)] = put(mode, expected[tuple(there)], float(updates[at]))
    call = f'scatter_along_axis(data = data, indices = i, updates = u, axis = {axis}, mode = "{mode}")'
    for compute in ("float32", "native"):
        [made] = applied(call, {"data": data, "i": where, "u": updates}, compute=compute)
        assert made.dtype == dtype
        assert np.array_equal(made, expected.astype(dtype))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize(
    ("shape", "indices"), [((4,), (6, 1)), ((3, 4), (5, 2)), ((3, 4), (2, 2, 1)), ((2, 3, 4), (4, 2)), ((3,), (1,))]
)
def test_scatter_nd_writes_slices(shape: tuple[int, ...], indices: tuple[int, ...], dtype: Any, mode: str) -> None:
    data, depth = some(shape, 0, dtype), indices[-1]
    where = np.stack([RNG(3).integers(0, size, indices[:-1]) for size in shape[:depth]], -1).astype(np.int32)
    updates = some((*indices[:-1], *shape[depth:]), 1, dtype)
    expected = data.astype(np.float64)
    for at in cells(indices[:-1]):
        for after in cells(shape[depth:]):
            there = (*where[at].tolist(), *after)
            expected[there] = put(mode, expected[there], float(updates[at + after]))
    call = f'scatter_nd(data = data, indices = i, updates = u, mode = "{mode}")'
    for compute in ("float32", "native"):
        [made] = applied(call, {"data": data, "i": where, "u": updates}, compute=compute)
        assert made.dtype == dtype
        assert np.array_equal(made, expected.astype(dtype))


@pytest.mark.parametrize("op_type", ["scatter", "scatter_along_axis", "scatter_nd"])
def test_scatters_add_by_default_and_leave_their_input(op_type: str) -> None:
    data = np.array([1, 2, 3], np.float32)
    inputs = {"data": data, "i": np.array([2, 2], np.int32), "u": np.array([10, 20], np.float32)}
    if op_type == "scatter_nd":
        inputs["i"] = inputs["i"].reshape(2, 1)
    [made] = applied(f"{op_type}(data = data, indices = i, updates = u)", inputs)
    assert made.tolist() == [1, 2, 33]
    assert data.tolist() == [1, 2, 3]


def test_floats_are_divided_by_zero_and_integers_are_not() -> None:
    call, where = 'scatter(data = data, indices = i, updates = u, mode = "div")', np.array([0, 1], np.int32)
    floats = {"data": np.array([1, 0], np.float32), "i": where, "u": np.array([0, 0], np.float32)}
    assert [str(each) for each in applied(call, floats)[0].tolist()] == ["inf", "nan"]
    integers = {"data": np.array([1, 0], np.int32), "i": where, "u": np.array([1, 0], np.int32)}
    with pytest.raises(OperationFailure, match="integer division by zero: `updates` contains a 0"):
        applied(call, integers)


# ---- places that do not exist, and those from the end

AT = {
    "gather": ("gather(x, indices = i{})", [9]),
    "gather_along_axis": ("gather_along_axis(x, indices = i{})", [9]),
    "gather_nd": ("gather_nd(x, indices = i{})", [[9]]),
    "scatter": ("scatter(data = x, indices = i, updates = u{})", [9]),
    "scatter_along_axis": ("scatter_along_axis(data = x, indices = i, updates = u{})", [9]),
    "scatter_nd": ("scatter_nd(data = x, indices = i, updates = u{})", [[9]]),
}


def at(op_type: str, index: int, opset: str, validated: bool | None = None) -> Any:
    call, indices = AT[op_type]
    inputs = {"x": np.array([1, 2, 3], np.float32), "i": np.array(indices, np.int32) * 0 + np.int32(index)}
    if "scatter" in op_type:
        inputs["u"] = np.array([5], np.float32)
    option = "" if validated is None else f", validate_indices = {str(validated).lower()}"
    [made] = applied(call.format(option), inputs, opset=opset)
    return made


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("op_type", AT)
def test_a_negative_place_counts_from_the_end(op_type: str, opset: str) -> None:
    assert np.array_equal(at(op_type, -1, opset), at(op_type, 2, opset))


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("index", [3, -4])
@pytest.mark.parametrize("op_type", AT)
def test_a_place_that_does_not_exist_is_reported(op_type: str, index: int, opset: str) -> None:
    with pytest.raises(OperationFailure, match=f"`indices` contains {index}, but must be from -3 to 2"):
        at(op_type, index, opset)


@pytest.mark.parametrize("index", [3, -1])
@pytest.mark.parametrize("op_type", AT)
def test_validated_places_count_from_the_start(op_type: str, index: int) -> None:
    assert np.array_equal(at(op_type, 2, "ios17", True), at(op_type, 2, "ios17"))
    assert np.array_equal(at(op_type, -1, "ios17", False), at(op_type, 2, "ios17"))
    with pytest.raises(OperationFailure, match=f"`indices` contains {index}, but must be from 0 to 2"):
        at(op_type, index, "ios17", True)


def test_an_axis_without_elements_has_no_places() -> None:
    x, where = np.zeros((0, 2), np.float32), np.zeros(1, np.int32)
    with pytest.raises(OperationFailure, match="`indices` contains 0, but the axis has no elements"):
        applied("gather(x, indices = i)", {"x": x, "i": where})


# ---- order


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize(
    ("shape", "axis"), [((9,), 0), ((3, 7), -1), ((3, 7), 0), ((2, 5, 3), 1), ((2, 0), 1), ((0, 2), 1)]
)
def test_argsort_orders_equals_by_place(shape: tuple[int, ...], axis: int, dtype: Any, ascending: bool) -> None:
    x = RNG(0).integers(-2, 3, shape).astype(dtype)
    expected = np.empty(np.moveaxis(x, axis, -1).shape, np.int32)
    for at in cells(expected.shape[:-1]):
        row = np.moveaxis(x, axis, -1)[at].tolist()
        expected[at] = sorted(range(len(row)), key=lambda place: row[place] if ascending else -row[place])
    option = str(ascending).lower()
    for compute in ("float32", "native"):
        [made] = applied(f"argsort(x, axis = {axis}, ascending = {option})", {"x": x}, compute=compute)
        assert np.array_equal(made, np.moveaxis(expected, -1, axis))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("argsort(x)", [2, 0, 3, 1]),
        ("argsort(x, ascending = true)", [1, 0, 3, 2]),
        ("a, b = topk(x)", [2]),
        ("a, b = topk(x, k = 2)", [2, 0]),
        ("a, b = topk(x, k = 3, ascending = true)", [1, 0, 3]),
        ("a, b = topk(x, k = -1)", [2, 0, 3, 1]),
        ("a, b = topk(x, k = 2, sort = false)", [2, 0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int8, np.uint8, np.int16, np.uint16])
def test_order_of_each_data_type(call: str, expected: list[int], dtype: Any) -> None:
    if "argsort" in call and dtype not in taken("argsort"):
        return
    least = (np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else np.finfo(dtype)).min
    x = np.array([7, least, 90, 7]).astype(dtype)
    *values, order = applied(call, {"x": x})
    assert order.tolist() == expected
    assert all(value.tolist() == x[expected].tolist() and value.dtype == dtype for value in values)


ODD = {"x": np.array([0, 999, 1, 999, 0], np.float32), "y": np.array([-999, 999, -999, 0, 999], np.float32)}
"""Of these, exp(x) - exp(y) is 1, NaN, e, inf and -inf."""


def test_nan_is_last_in_either_order() -> None:
    assert applied("argsort(sub(exp(x), exp(y)), ascending = true)", ODD)[0].tolist() == [4, 0, 2, 3, 1]
    assert applied("argsort(sub(exp(x), exp(y)))", ODD)[0].tolist() == [3, 2, 0, 4, 1]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize(("shape", "axis"), [((7,), 0), ((3, 5), 0), ((3, 5), 1), ((2, 4, 3), -2)])
def test_topk_takes_along_an_axis(shape: tuple[int, ...], axis: int, opset: str) -> None:
    x = RNG(0).permutation(np.prod(shape)).astype(np.float32).reshape(shape)
    values, order = applied(f"a, b = topk(x, k = 2, axis = {axis})", {"x": x}, opset=opset)
    expected = np.flip(np.sort(x, axis), axis).take([0, 1], axis)
    assert np.array_equal(values, expected)
    assert np.array_equal(np.take_along_axis(x, order, axis), expected)


def test_topk_gives_the_request() -> None:
    x = np.array([3, 1, 2], np.float32)
    [values] = applied("topk(x, k = 2, return_indices = false)", {"x": x}, {"made": "tensor<fp32, [2]>"})
    assert values.tolist() == [3, 2]
    _, order = applied('a, b = topk(x, k = 2, output_indices_dtype = "uint16")', {"x": x})
    assert order.dtype == np.uint16


def test_topk_at_places_that_uint16_does_not_hold() -> None:
    call, x = 'a, b = topk(x, output_indices_dtype = "uint16")', np.zeros(65537, np.float32)
    x[65535] = 1
    assert applied(call, {"x": x})[1].tolist() == [65535]
    x[65536] = 2
    with pytest.raises(OperationFailure, match=r"`output_indices_dtype` is uint16, .* and there is a place 65536"):
        applied(call, {"x": x})


@pytest.mark.parametrize("shape", [(2, 0), (0, 2)])
def test_topk_of_nothing(shape: tuple[int, ...]) -> None:
    values, order = applied("a, b = topk(x, k = -1)", {"x": np.zeros(shape, np.float32)})
    assert values.shape == order.shape == shape


def test_topk_of_too_few() -> None:
    text = "a, b = topk(x, k = 4)"
    with pytest.raises(OperationFailure, match="`k` is 4, and `x` has 3 elements along `axis` -1"):
        applied(text, {"x": np.zeros(3, np.float32)}, {"x": "tensor<fp32, [?]>"})


# ---- places that are found


@pytest.mark.parametrize("dtype", list(taken("non_zero")))
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 1, 3), (0, 2), (1, 2, 1, 2, 2)])
def test_non_zero_names_places_in_order(shape: tuple[int, ...], dtype: Any) -> None:
    x = RNG(1).integers(0, 2, shape).astype(dtype)
    [made] = applied("non_zero(x)", {"x": x})
    assert made.tolist() == [list(at) for at in cells(shape) if x[at]]
    assert made.shape[1] == len(shape)


def test_nan_is_not_zero_and_minus_zero_is() -> None:
    assert applied("non_zero(sub(exp(x), exp(y)))", ODD)[0].tolist() == [[0], [1], [2], [3], [4]]
    assert applied("non_zero(x)", {"x": np.array([-0.0, 0, 1], np.float32)})[0].tolist() == [[2]]


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (0,), (1, 2, 1, 2)])
@pytest.mark.parametrize("axis", [-1, 0, -2])
@pytest.mark.parametrize(
    ("options", "on", "off", "dtype"),
    [
        ("", 1, 0, np.int32),
        (", on_value = fp32(2.5)", 2.5, 0, np.float32),
        (", off_value = fp16(-1.5)", 1, -1.5, np.float16),
        (", on_value = false, off_value = true", False, True, np.bool_),
    ],
)
def test_one_hot_rows(shape: tuple[int, ...], axis: int, options: str, on: Any, off: Any, dtype: Any) -> None:
    if not -len(shape) - 1 <= axis <= len(shape):
        return
    indices = RNG(0).integers(-1, 4, shape).astype(np.int32)
    [made] = applied(f"one_hot(indices = i, one_hot_vector_size = 3, axis = {axis}{options})", {"i": indices})
    assert made.dtype == dtype
    rows = np.moveaxis(made, axis, -1)
    for at in cells(shape):
        assert rows[at].tolist() == [on if indices[at] == place else off for place in range(3)]


@pytest.mark.parametrize("size", [0, 2, -1])
def test_one_hot_of_a_size_that_is_computed(size: int) -> None:
    call = "one_hot(indices = i, one_hot_vector_size = n)"
    inputs = {"i": np.array([0, 1], np.int32), "n": np.array(size, np.int32)}
    if size >= 0:
        assert applied(call, inputs)[0].tolist() == np.eye(2, size, dtype=np.int32).tolist()
        return
    with pytest.raises(OperationFailure, match=re.escape("`one_hot_vector_size` is -1, and cannot be negative")):
        applied(call, inputs)


# ---- boxes


def overlap(first: list[float], second: list[float]) -> float:
    sides = [
        max(0.0, min(a + w / 2, b + v / 2) - max(a - w / 2, b - v / 2))
        for a, w, b, v in zip(first[:2], first[2:], second[:2], second[2:], strict=True)
    ]
    common = sides[0] * sides[1]
    return common / (first[2] * first[3] + second[2] * second[3] - common)


def kept_by_definition(
    boxes: Any, scores: Any, most_shared: float, least: float, count: int, per_class: bool
) -> list[int]:
    best = [max(row) for row in scores.tolist()]
    order = sorted(range(len(best)), key=lambda place: -best[place])
    order = [place for place in order if best[place] >= least] or order[:1]
    kept: list[int] = []
    for place in order:
        rivals = [other for other in kept if not per_class or scores[other].argmax() == scores[place].argmax()]
        if all(overlap(boxes[place].tolist(), boxes[other].tolist()) <= most_shared for other in rivals):
            kept.append(place)
    return kept[:count]


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("per_class", [False, True])
@pytest.mark.parametrize("count", [1, 4, 30])
@pytest.mark.parametrize(("most_shared", "least"), [(0.3, 20.0), (0.75, 0.0), (0.1, 60.0), (0.5, 1000.0)])
def test_boxes_that_share_too_much_are_dropped(
    most_shared: float, least: float, count: int, per_class: bool, opset: str
) -> None:
    late = opset in ("ios17", "ios18")
    boxes = np.concatenate([RNG(0).uniform(0, 20, (2, 20, 2)), RNG(1).uniform(4, 12, (2, 20, 2))], 2).astype(np.float32)
    scores = RNG(2).uniform(-100, 100, (2, 20, 3)).astype(np.float32)
    given = {"b": boxes, "s": scores}
    if late:
        given = {name: np.ascontiguousarray(array.swapaxes(1, 2)) for name, array in given.items()}
    options = f"iou_threshold = {most_shared}, max_boxes = {count}, per_class_suppression = {str(per_class).lower()}"
    names, options = ("p, q, r", options) if late else ("p, q, r, n", f"{options}, score_threshold = {least}")
    found = applied(f"{names} = non_maximum_suppression(boxes = b, scores = s, {options})", given, opset=opset)
    made = [found[0].swapaxes(1, 2), found[1].swapaxes(1, 2), found[2]] if late else found
    for batch in range(2):
        bound = -np.inf if late else least
        kept = kept_by_definition(boxes[batch], scores[batch], most_shared, bound, count, per_class)
        rest = count - len(kept)
        assert made[2][batch].tolist() == kept + [-1] * rest
        assert np.array_equal(made[0][batch], np.concatenate([boxes[batch][kept], np.zeros((rest, 4))]))
        assert np.array_equal(made[1][batch], np.concatenate([scores[batch][kept], np.zeros((rest, 3))]))
        assert late or made[3][batch] == len(kept)


@pytest.mark.parametrize(("opset", "kept"), [("ios16", [0, 1]), ("ios17", [0, -1])])
def test_a_box_that_shares_just_the_threshold(opset: str, kept: list[int]) -> None:
    boxes = np.array([[[1.5, 2, 1, 2], [1, 1, 2, 2]]], np.float32)  # a fifth of both is shared
    scores = np.array([[[4], [2]]], np.float32)
    if opset == "ios17":
        boxes, scores = boxes.swapaxes(1, 2).copy(), scores.swapaxes(1, 2).copy()
    names, least = ("p, q, r", "") if opset == "ios17" else ("p, q, r, n", ", score_threshold = 0.0")
    call = f"non_maximum_suppression(boxes = b, scores = s, iou_threshold = 0.2, max_boxes = 2{least})"
    assert applied(f"{names} = {call}", {"b": boxes, "s": scores}, opset=opset)[2].tolist() == [kept]


@pytest.mark.parametrize("boxes", [np.zeros((1, 4, 3), np.float32), np.zeros((1, 4, 0), np.float32)])
def test_boxes_without_area_share_nothing(boxes: Any) -> None:
    scores = np.arange(boxes.shape[2], dtype=np.float32).reshape(1, 1, -1)
    call = "p, q, r = non_maximum_suppression(boxes = b, scores = s, iou_threshold = 0.0, max_boxes = 4)"
    assert applied(call, {"b": boxes, "s": scores})[2].tolist() == [[*range(boxes.shape[2])[::-1], *[-1] * 4][:4]]


@pytest.mark.parametrize(
    ("opset", "boxes", "scores"), [("ios17", (1, 20, 4), (1, 20, 3)), ("ios18", (1, 4, 5), (1, 1, 6))]
)
def test_boxes_in_another_order_are_reported(opset: str, boxes: tuple[int, ...], scores: tuple[int, ...]) -> None:
    call = "p, q, r = non_maximum_suppression(boxes = b, scores = s, iou_threshold = 0.0, max_boxes = 4)"
    given = {"b": np.zeros(boxes, np.float32), "s": np.zeros(scores, np.float32)}
    with pytest.raises(
        OperationFailure, match=re.escape("`boxes` must be [batches, 4, boxes], and `scores` have as many")
    ):
        applied(call, given, opset=opset)
