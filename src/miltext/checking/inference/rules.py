"""The table of rules: each infers the output types of one op, or of a family of ops, from what it is given.

The rules state what coremltools 9.0's ops do (their `type_inference` in coremltools/converters/mil), and
say less, never more, wherever another writer of Programs might differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from miltext.checking.inference.operands import Arguments, Conflict, Unknown
from miltext.checking.inference.value_types import Dimension, ListType, Shape, TensorType, Type

Rule: TypeAlias = "Callable[[Arguments], Sequence[Type]]"

RULES: dict[str, Rule] = {}

LARGEST_SIZE = (1 << 64) - 1
"""The largest size that the schema's `Dimension` can say."""


def rule(*op_types: str) -> Callable[[Rule], Rule]:
    """Enters a rule into the table for the ops named."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(op_types, function))
        return function

    return enter


def apply(arguments: Arguments) -> Sequence[Type] | None:
    """What the rule of an op says; None where there is none, or it cannot tell. Raises Conflict.

    Each type that it says can be written: whatever a rule made of numbers that nobody foresaw stops here.
    """
    found = RULES.get(arguments.op_type)
    if found is None:
        return None
    try:
        types = found(arguments)
        for made in types:
            _hold_sizes(made)
        return types
    except Conflict:
        raise
    except Exception:  # noqa: BLE001  # a rule reads an op as if it were well formed; where it is not, others say so
        return None


def _hold_sizes(type: Type) -> None:
    """See to it that every size in a type can be one. Raises Conflict where one cannot, Unknown for no number."""
    if isinstance(type, TensorType):
        for size in type.shape:
            if size is not None and (size.__class__ is not int or not 0 <= size <= LARGEST_SIZE):
                raise _no_shape(type.shape)
    elif isinstance(type, ListType):
        _hold_sizes(type.element)


def _no_shape(shape: Shape) -> Unknown | Conflict:
    if any(size is not None and size.__class__ is not int for size in shape):
        return Unknown()
    return Conflict(f"the shape would be {show(shape)}, and a size is from 0 to {LARGEST_SIZE}")


def broadcast(*shapes: Shape) -> Shape:
    """The shape that results from elementwise operations on these. Raises Conflict."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(_broadcast_dimension(sizes, shapes) for sizes in zip(*padded, strict=True))


def _broadcast_dimension(sizes: Sequence[Dimension], shapes: Sequence[Shape]) -> Dimension:
    known = {size for size in sizes if size != 1}
    sure = known - {None}
    if len(sure) > 1:
        raise Conflict(f"shapes {' and '.join(map(show, shapes))} do not broadcast")
    if sure:
        return sure.pop()
    return None if known else 1


def merge(sizes: Sequence[Dimension], what: str) -> Dimension:
    """The one size that all of these stand for, None when none is known. Raises Conflict."""
    known = {size for size in sizes if size is not None}
    if len(known) > 1:
        raise Conflict(f"{what} differ: {', '.join(map(str, sizes))}")
    return known.pop() if known else None


def replaced(shape: Shape, axis: int, size: Dimension) -> Shape:
    """The shape with one dimension changed. Raises IndexError when it has no such axis."""
    axis = position(axis, len(shape))
    return (*shape[:axis], size, *shape[axis + 1 :])


def position(axis: int, rank: int) -> int:
    """An axis as a place from the front. Raises IndexError when there is no such axis."""
    if not -rank <= axis < rank:
        raise IndexError
    return axis % rank


def count(sizes: Sequence[Dimension]) -> Dimension:
    """The product of dimensions, None when one of them is unknown."""
    product = 1
    for size in sizes:
        if size is None:
            return None
        product *= size
    return product


def quotient(size: Dimension, by: int) -> Dimension:
    """A dimension divided into equal parts, None when it is unknown or no multiple."""
    return None if size is None or size % by else size // by


def linear(size: Dimension, factor: int = 1, offset: int = 0) -> Dimension:
    """A dimension times `factor` plus `offset`, None when it is unknown or would be negative."""
    return None if size is None or size * factor + offset < 0 else size * factor + offset


def show(shape: Shape) -> str:
    """A shape as MIL text writes it."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def tensor(dtype: str, *sizes: Dimension) -> list[Type]:
    """One output: a tensor."""
    return [TensorType(dtype, sizes)]
