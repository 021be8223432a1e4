"""Checks of axes and positions in arguments, shared by several rules and limits."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, InputConflict, Row, position
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, Shape, TensorType, compatible, show


def hold_axes(axes: Sequence[int], rank: int, name: str, *beside: str, least: int | None = None) -> None:
    """Require distinct axes of a rank, from `least` on, by default `-rank`. Raise InputConflict."""
    least = -rank if least is None else least
    for axis in axes:
        if not least <= axis < rank:
            there = f"the axes here are from {least} to {rank - 1}" if rank else "a scalar has none"
            raise InputConflict(f"names axis {axis}; {there}", name, *beside, code=codes.AXIS_OUT_OF_RANGE)
    places = [axis % rank for axis in axes]
    for axis, place in zip(axes, places, strict=True):
        if places.count(place) > 1:
            raise InputConflict(f"names axis {axis} more than once: {[*axes]}", name, *beside, code=codes.REPEATED_AXIS)


def axis_of(op: Arguments, rank: int, *beside: str) -> int:
    """Return the `axis` of a rank, counted from the front. Raise InputConflict for a missing axis."""
    axis = op.scalar("axis", int)
    hold_axes([axis], rank, "axis", *beside)
    return position(axis, rank)


def some(op: Arguments, name: str) -> list[TensorType]:
    """Return the types of the tensors bound to a parameter. Raise InputConflict if there are none."""
    if not op.operands.get(name, [None]):
        raise InputConflict("takes one value or more, not none", name, code=codes.SEVERAL_VALUES)
    return op.tensors(name)


def hold_positions(
    row: Sequence[object], size: Dimension, where: str, name: str, *beside: str, least: int | None = None
) -> None:
    """Require positions of a dimension, from `least` on if not from its negative size. Raise InputConflict."""
    if size is None:
        return
    least = -size if least is None else least
    for number in row:
        if isinstance(number, int) and not least <= number < size:
            there = f"positions from {least} to {size - 1}" if size else "no position"
            raise InputConflict(
                f"names position {number}; {where} has {there}", name, *beside, code=codes.POSITION_OUTSIDE_TENSOR
            )


def hold_shape(op: Arguments, name: str, shape: Shape, because: str, *beside: str) -> None:
    """Require the shape of an argument that other arguments determine. Raise InputConflict."""
    given = op.shape(name)
    if not compatible(given, shape):
        clause = f"must be of shape {show(shape)}, {because}, not {show(given)}"
        raise InputConflict(clause, name, *beside, code=codes.WRONG_ARGUMENT_SHAPE)


def row_of(op: Arguments, name: str) -> Row:
    """Return the known elements of an argument, no elements for an unknown value."""
    value = op.all(name)[0].value
    return () if value is None else value if isinstance(value, tuple) else (value,)
