"""Whole numbers that are cast to floats: which casts stay, and which may lose numbers in fp16."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.conversion.known import dtype_of
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Value
    from miltext.checking.inference.reading import Block, Operation
    from miltext.conversion.planning import Bound
    from miltext.schema.types import Type

GREATEST_WHOLE = 2048
"""Up to this magnitude, fp16 has all whole numbers: it has 11 bits."""


def is_whole(type: Type) -> bool:
    """Whether a type is one of whole numbers, or bool."""
    dtype = dtype_of(type)
    return dtype is not None and BY_NAME[dtype].kind in ("int", "uint", "bool")


def is_wide(type: Type) -> bool:
    """Whether a type has whole numbers beyond those that fp16 has all of."""
    return is_whole(type) and BY_NAME[dtype_of(type) or ""].maximum > GREATEST_WHOLE


def is_float(type: Type) -> bool:
    """Whether a type is one of floats."""
    dtype = dtype_of(type)
    return dtype is not None and BY_NAME[dtype].kind == "float"


def computed_with(block: Block) -> set[str]:
    """Return the names of the values that anything but a `cast` takes, or that an inner block gives back."""
    return {name for operation in _operations(block) for name in _computed_with(operation)}


def _operations(block: Block) -> Iterator[Operation]:
    for operation in block.operations:
        yield operation
        for inner in operation.blocks:
            yield from _operations(inner)


def _computed_with(operation: Operation) -> Iterator[str]:
    if operation.type != "cast":
        yield from (each for bindings in operation.inputs.values() for each in bindings if isinstance(each, str))
    yield from (name for inner in operation.blocks for name in inner.outputs if name)


def is_exact(operation: Operation, bound: Mapping[str, list[Bound]], computed: Collection[str]) -> bool:
    """Whether an operation is a `cast` of whole numbers to fp32, with which nothing is `computed`.

    What is cast may be such a cast, too.
    """
    if operation.type != "cast" or len(operation.outputs) != 1 or operation.outputs[0].name in computed:
        return False
    given = bound.get("x", ())
    is_fp32 = dtype_of(operation.outputs[0].stated.type) == "fp32"
    return is_fp32 and any(is_whole(each.given.old) or (each.known and each.known.exact) for each in given)


def may_count(op_type: str, given: Iterable[Bound], type: Type, value: Value) -> bool:
    """Whether an output of a type may have whole numbers beyond those that fp16 has all of.

    They come of an input or of a constant: indices, sizes and what is made of bool are taken to be small.
    """
    if not (is_wide(type) or op_type == "cast"):
        return False
    if value is not None:
        return _is_beyond(value)
    return any(_counts(op_type, each) for each in given)


def _counts(op_type: str, each: Bound) -> bool:
    if each.known is not None:
        return each.known.counts and (is_wide(each.given.old) or op_type == "cast")
    value = each.given.operand.value
    return is_wide(each.given.old) and (value is None or _is_beyond(value))


def _is_beyond(value: Value) -> bool:
    numbers = value if isinstance(value, tuple) else (value,)
    return any(isinstance(each, int | float) and not abs(each) <= GREATEST_WHOLE for each in numbers)
