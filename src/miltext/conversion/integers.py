"""Casts of integers to floats: the casts to keep, and the integers that may be lost in fp16."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from miltext.conversion.known import dtype_of
from miltext.ir.parts import Op
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Value
    from miltext.conversion.planning import BoundOperand
    from miltext.ir.parts import Use
    from miltext.schema.types import Type

GREATEST_WHOLE = 2048
"""The magnitude up to which fp16 contains all integers: it has 11 bits."""


def is_whole(type: Type) -> bool:
    """Return whether the elements of a type are whole numbers, or bool."""
    dtype = dtype_of(type)
    return dtype is not None and BY_NAME[dtype].kind in ("int", "uint", "bool")


def is_wide(type: Type) -> bool:
    """Return whether a type has integers beyond the range that fp16 contains."""
    return is_whole(type) and BY_NAME[dtype_of(type) or ""].maximum > GREATEST_WHOLE


def is_float(type: Type) -> bool:
    """Return whether the elements of a type are floats."""
    dtype = dtype_of(type)
    return dtype is not None and BY_NAME[dtype].kind == "float"


def is_exact(op: Op, bound: Mapping[str, list[BoundOperand]]) -> bool:
    """Return whether an operation is a `cast` of integers to fp32 that only casts use.

    Its input may be such a cast, too.
    """
    if op.type != "cast" or len(op.outputs) != 1 or any(map(_computes, op.outputs[0].uses)):
        return False
    given = bound.get("x", ())
    is_fp32 = dtype_of(op.outputs[0].type) == "fp32"
    return is_fp32 and any(is_whole(each.given.old) or (each.known and each.known.exact) for each in given)


def _computes(use: Use) -> bool:
    """Return whether a use is neither a cast nor an output of the function."""
    return use.user.type != "cast" if isinstance(use.user, Op) else isinstance(use.user.owner, Op)


def may_count(op_type: str, given: Iterable[BoundOperand], type: Type, value: Value) -> bool:
    """Return whether an output of a type may have integers beyond the range that fp16 contains.

    They come from an input or from a constant; indices, sizes and values computed from bool count as small.
    """
    if not (is_wide(type) or op_type == "cast"):
        return False
    if value is not None:
        return _is_beyond(value)
    return any(_counts(op_type, each) for each in given)


def _counts(op_type: str, each: BoundOperand) -> bool:
    if each.known is not None:
        return each.known.counts and (is_wide(each.given.old) or op_type == "cast")
    value = each.given.operand.value
    return is_wide(each.given.old) and (value is None or _is_beyond(value))


def _is_beyond(value: Value) -> bool:
    numbers = value if isinstance(value, tuple) else (value,)
    return any(isinstance(each, int | float) and not abs(each) <= GREATEST_WHOLE for each in numbers)
