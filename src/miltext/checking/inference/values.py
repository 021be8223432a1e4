"""The statically known part of an op's value, for the few ops that compute shapes.

An unknown dimension of a function input is a None among known numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from miltext.checking.inference.operands import (
    LARGEST,
    Arguments,
    InputConflict,
    Row,
    Scalar,
    Unknown,
    Value,
    elements,
    finite,
    position,
)
from miltext.schema.dtypes import BY_NAME
from miltext.schema.types import TensorType, Type

INT32 = BY_NAME["int32"]

NUMBERS: dict[str, Callable[[int, int], int | None]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "floor_div": lambda x, y: x // y if y else None,
    "mod": lambda x, y: x % y if y else None,
    "maximum": max,
    "minimum": min,
}


def infer_value(op: Arguments, output: Type) -> Value:
    """Return the value of an op whose output is a scalar or vector of int32; None for an unknown value."""
    compute = VALUES.get(op.op_type)
    if compute is None or not isinstance(output, TensorType) or output.dtype != "int32" or len(output.shape) > 1:
        return None
    with suppress(Unknown, InputConflict):
        return _fitted(compute(op), output)
    return None


def _fitted(row: Row, output: TensorType) -> Value:
    """Return the value, if the output has exactly that many elements, and each known element is an int32."""
    if len(row) > LARGEST or not all(element is None or _is_int32(element) for element in row):
        return None
    if not output.shape:
        return row[0] if len(row) == 1 else None
    return row if output.shape[0] in (None, len(row)) else None


def _is_int32(number: Scalar) -> bool:
    return isinstance(number, int) and INT32.minimum <= number <= INT32.maximum


def _known(op: Arguments, name: str) -> Row:
    """Return the elements of a constant, at least partly known."""
    operand = op.all(name)[0]
    if operand.value is None:
        raise Unknown
    return elements(operand)


def _known_vector(op: Arguments, name: str) -> Row:
    op.shape(name, 1)
    return _known(op, name)


def _elementwise(op: Arguments) -> Row:
    x, y = _known(op, "x"), _known(op, "y")
    x, y = x * (len(y) if len(x) == 1 else 1), y * (len(x) if len(y) == 1 else 1)
    if len(x) != len(y):
        raise Unknown
    return tuple(_number(NUMBERS[op.op_type], *pair) for pair in zip(x, y, strict=True))


def _number(compute: Callable[[int, int], int | None], x: Scalar | None, y: Scalar | None) -> int | None:
    """Compute a number; the result of an overflow, or of an unknown number, is unknown."""
    number = compute(x, y) if isinstance(x, int) and isinstance(y, int) else None
    return number if number is not None and _is_int32(number) else None


def _cast(op: Arguments) -> Row:
    return tuple(_whole(element) for element in _known(op, "x"))


def _whole(element: Scalar | None) -> int | None:
    number = element if isinstance(element, bool) else finite(element)
    return None if number is None else int(number)


def _gather(op: Arguments) -> Row:
    x, indices = _known_vector(op, "x"), op.vector("indices", int)
    return tuple(x[position(place, len(x))] for place in indices)


def _concat(op: Arguments) -> Row:
    if op.scalar("interleave", bool, False):
        raise Unknown
    return tuple(element for operand in op.all("values") for element in elements(operand))


def _slice(op: Arguments) -> Row:
    x = _known_vector(op, "x")
    begin, end = (op.vector(name, int, 1)[0] for name in ("begin", "end"))
    [stride] = op.vector("stride", int, 1, 1)
    masks = (op.vector(name, bool, 1, False)[0] for name in ("begin_mask", "end_mask", "squeeze_mask"))
    from_start, to_end, squeezed = masks
    if squeezed:
        return (x[position(0 if from_start else begin, len(x))],)
    if not stride:
        raise Unknown
    return x[None if from_start else begin : None if to_end else end : stride]


def _slice_by_size(op: Arguments) -> Row:
    x, [begin], [size] = _known_vector(op, "x"), op.vector("begin", int, 1), op.vector("size", int, 1)
    if begin < 0:
        raise Unknown
    return x[begin:] if size == -1 else x[begin : begin + size]


VALUES: dict[str, Callable[[Arguments], Row]] = {
    "cast": _cast,
    "shape": lambda op: op.shape("x"),
    "gather": _gather,
    "concat": _concat,
    "slice_by_index": _slice,
    "slice_by_size": _slice_by_size,
    **dict.fromkeys(("identity", "expand_dims", "squeeze", "reshape"), lambda op: _known(op, "x")),
    **dict.fromkeys(NUMBERS, _elementwise),
}
