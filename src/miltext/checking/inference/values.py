"""What is known of an op's value before it runs, for the few ops that shapes are worked out with.

A dimension that a function input leaves unknown is a None among known numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from miltext.checking.inference.operands import LARGEST, Arguments, Operand, Unknown, Value, expect
from miltext.checking.inference.rules import count
from miltext.checking.inference.value_types import TensorType, Type
from miltext.schema.dtypes import BY_NAME

INT32 = BY_NAME["int32"]

NUMBERS: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "floor_div": lambda x, y: x // y,
    "mod": lambda x, y: x % y,
    "maximum": max,
    "minimum": min,
}


def infer_value(op: Arguments, output: Type) -> Value:
    """The value of an op whose output is a scalar or vector of int32; None when nothing is known of it."""
    if op.op_type not in VALUES or not isinstance(output, TensorType):
        return None
    if output.dtype != "int32" or len(output.shape) > 1:
        return None
    try:
        return _shaped(_row(VALUES[op.op_type](op)), output)
    except Exception:  # noqa: BLE001  # as rules do, it reads an op as if it were well formed
        return None


def _shaped(elements: tuple[Any, ...], output: TensorType) -> Value:
    """The value, if the output has room for just that, and each element that is known is an int32."""
    if not all(element is None or _is_int32(element) for element in elements):
        return None
    if not output.shape:
        (single,) = elements
        return single  # type: ignore[no-any-return]
    return elements if output.shape[0] in (None, len(elements)) and len(elements) <= LARGEST else None


def _is_int32(element: object) -> bool:
    return isinstance(element, int) and INT32.minimum <= element <= INT32.maximum


def _known(op: Arguments, name: str) -> Value:
    value = op.all(name)[0].value
    if value is None:
        raise Unknown
    return value


def _elementwise(op: Arguments) -> Value:
    rows = [_row(_known(op, name)) for name in ("x", "y")]
    size = max(map(len, rows))
    columns = zip(*(row * size if len(row) == 1 else row for row in rows), strict=True)
    return tuple(_number(NUMBERS[op.op_type], *column) for column in columns)


def _number(compute: Callable[[int, int], int], x: int | None, y: int | None) -> int | None:
    """Nothing is known of a number that overflows, or is made of none."""
    number = compute(x, y) if isinstance(x, int) and isinstance(y, int) else None
    return number if _is_int32(number) else None


def _cast(op: Arguments) -> Value:
    return tuple(None if element is None else int(element) for element in _row(_known(op, "x")))


def _row(value: Value) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _gather(op: Arguments) -> Value:
    x, indices = _known(op, "x"), _known(op, "indices")
    if not isinstance(x, tuple) or len(op.shape("x")) != 1:
        raise Unknown
    picked = tuple(x[place] for place in _row(indices))
    return picked if isinstance(indices, tuple) else picked[0]


def _concat(op: Arguments) -> Value:
    if op.value("interleave", False):
        raise Unknown
    return tuple(element for operand in op.all("values") for element in _elements(operand))


def _elements(operand: Operand) -> tuple[Any, ...]:
    """The elements of a scalar or vector, each None when nothing but their number is known."""
    if operand.value is not None:
        return _row(operand.value)
    size = count(expect(operand.type, TensorType).shape)
    if size is None or size > LARGEST:
        raise Unknown
    return (None,) * size


def _slice(op: Arguments) -> Value:
    x = _known(op, "x")
    if not isinstance(x, tuple) or len(op.shape("x")) != 1:
        raise Unknown
    (begin,), (end,), (stride,) = op.vector("begin"), op.vector("end"), op.vector("stride", (1,))
    masks = (op.vector(name, (False,))[0] for name in ("begin_mask", "end_mask", "squeeze_mask"))
    from_start, to_end, squeezed = masks
    if squeezed:
        return x[0 if from_start else begin]  # type: ignore[no-any-return]
    return x[slice(None if from_start else begin, None if to_end else end, stride)]


def _slice_by_size(op: Arguments) -> Value:
    x, (begin,), (size,) = _known(op, "x"), op.vector("begin"), op.vector("size")
    if not isinstance(x, tuple) or begin < 0:
        raise Unknown
    return x[begin:] if size == -1 else x[begin : begin + size]


VALUES: dict[str, Callable[[Arguments], Value]] = {
    "cast": _cast,
    "shape": lambda op: op.shape("x"),
    "gather": _gather,
    "concat": _concat,
    "slice_by_index": _slice,
    "slice_by_size": _slice_by_size,
    **dict.fromkeys(("identity", "expand_dims", "squeeze", "reshape"), lambda op: _known(op, "x")),
    **dict.fromkeys(NUMBERS, _elementwise),
}
