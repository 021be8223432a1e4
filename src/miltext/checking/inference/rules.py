"""The table of rules: each infers the output types of one op, or of a family of ops, from its inputs.

The rules follow coremltools 9.0's ops (their `type_inference` in coremltools/converters/mil), and are weaker, never
stronger, wherever another writer of Programs might differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeAlias

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown, position
from miltext.schema.types import Dimension, ListType, Shape, TensorType, Type, show

Rule: TypeAlias = "Callable[[Arguments], Sequence[Type]]"

RULES: dict[str, Rule] = {}

LARGEST_SIZE = (1 << 64) - 1
"""The largest size that fits in the schema's `Dimension`."""

LARGEST_RANK = 1_000
"""The most dimensions that a rule may give a tensor: the dimensions of a gather from a gather double each time."""

TOLERANCE = 1e-4
"""The distance to a whole number below which rounding in floats would decide a count."""


def rule(*op_types: str) -> Callable[[Rule], Rule]:
    """Enter a rule into the table for the named ops."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(op_types, function))
        return function

    return enter


def apply(arguments: Arguments) -> Sequence[Type] | None:
    """Return the result of an op's rule; None without a rule, or if the rule cannot decide.

    Raise InputConflict, also for sizes that the schema cannot hold.
    """
    found = RULES.get(arguments.op_type)
    if found is None:
        return None
    try:
        types = found(arguments)
        for made in types:
            _hold_sizes(made)
    except Unknown:
        return None
    return types


def followed(arguments: Arguments) -> tuple[Type, ...] | None:
    """Return the inferred types of an op's outputs; None for unknown types, and for a wrong op."""
    with suppress(InputConflict):
        return tuple(apply(replace(arguments, doubts=[])) or ()) or None
    return None


def _hold_sizes(type: Type) -> None:
    """Require valid sizes in a type. Raise InputConflict, or Unknown for too many of them."""
    if isinstance(type, ListType):
        _hold_sizes(type.element)
    elif isinstance(type, TensorType):
        if len(type.shape) > LARGEST_RANK:
            raise Unknown
        for size in type.shape:
            if size is not None and not 0 <= size <= LARGEST_SIZE:
                raise InputConflict(f"the shape would be {show(type.shape)}, and a size is from 0 to {LARGEST_SIZE}")


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape that results from elementwise operations on these. Raise InputConflict."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(_broadcast_dimension(sizes, shapes) for sizes in zip(*padded, strict=True))


def _broadcast_dimension(sizes: Sequence[Dimension], shapes: Sequence[Shape]) -> Dimension:
    known = {size for size in sizes if size != 1}
    sure = known - {None}
    if len(sure) > 1:
        raise InputConflict(f"shapes {' and '.join(map(show, shapes))} do not broadcast")
    if sure:
        return sure.pop()
    return None if known else 1


def broadcast_of(op: Arguments, first: str, *others: str) -> Shape:
    """Return the shape that results from elementwise operations on parameters.

    Raise InputConflict about the first parameter that does not broadcast with those before it.
    """
    made, before = op.shape(first), [first]
    for name in others:
        given = op.shape(name)
        pairs = zip(reversed(given), reversed(made), strict=False)
        clash = next(((-place, *pair) for place, pair in enumerate(pairs, 1) if not _broadcasts(*pair)), None)
        if clash is not None:
            axis, size, other = clash
            clause = f"shapes {show(given)} and {show(made)} have {size} and {other} at axis {axis}"
            raise InputConflict(f"does not broadcast with {_and(before)}: {clause}", name, *before)
        made, before = broadcast(made, given), [*before, name]
    return made


def _broadcasts(size: Dimension, other: Dimension) -> bool:
    return size is None or other is None or size == other or 1 in (size, other)


def _and(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def merge(sizes: Sequence[Dimension], what: str) -> Dimension:
    """Return the common value of sizes, None if all are unknown. Raise InputConflict."""
    known = {size for size in sizes if size is not None}
    if len(known) > 1:
        raise InputConflict(f"{what} differ: {', '.join(map(str, sizes))}")
    return known.pop() if known else None


def replaced(shape: Shape, axis: int, size: Dimension) -> Shape:
    """Return the shape with one dimension replaced. Raise Unknown if it has no such axis."""
    axis = position(axis, len(shape))
    return (*shape[:axis], size, *shape[axis + 1 :])


def quotient(size: Dimension, by: int) -> Dimension:
    """Return a dimension divided into equal parts, None when it is unknown or not a multiple."""
    return None if size is None or size % by else size // by


def linear(size: Dimension, factor: int = 1, offset: int = 0) -> Dimension:
    """Return a dimension times `factor` plus `offset`, None when it is unknown or would be negative."""
    return None if size is None or size * factor + offset < 0 else size * factor + offset


def whole(number: float, rounded: Callable[[float], int], tolerance: float = TOLERANCE) -> Dimension:
    """Return a count computed in floats, rounded down; None if it is infinite, or so near a whole number that the error
    decides.

    The `tolerance` is relative to the number.
    """
    if not math.isfinite(number):
        return None
    near = number != round(number) and abs(number - round(number)) < tolerance * max(1.0, abs(number))
    return None if near else rounded(number)


def tensor(dtype: str, *sizes: Dimension) -> list[Type]:
    """Return one output: a tensor."""
    return [TensorType(dtype, sizes)]
