"""Rules for slices of a tensor: slice_by_index, slice_by_size, slice_update."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown
from miltext.checking.inference.positions import hold_positions, hold_shape
from miltext.checking.inference.rules import rule, tensor
from miltext.diagnostics import codes

if TYPE_CHECKING:
    from miltext.schema.types import Dimension, Shape, Type

BOUNDS = ("begin", "end", "stride", "begin_mask", "end_mask", "squeeze_mask")

TO_THE_END = 2**31 - 1
"""The number that exporters write for the end of a dimension of any length; backwards, this number or one less, for its
start.
"""


@rule("slice_by_index")
def slice_by_index(op: Arguments) -> Sequence[Type]:
    """Return `x[begin:end:stride]` in each dimension; masks open an end or drop the dimension."""
    return tensor(op.tensor("x").dtype, *_slice(op))


@rule("slice_update")
def slice_update(op: Arguments) -> Sequence[Type]:
    """Return the type of `x`; `update` replaces a slice of it."""
    with suppress(Unknown):  # the result is the same for any other arguments
        bounds = ", ".join(f"`{name}`" for name in BOUNDS if op.has(name))
        hold_shape(op, "update", _slice(op), f"that of the slice of `x` by {bounds}", "x")
    return [op.type("x")]


class _Column(NamedTuple):
    """The slice of a dimension; an unknown bound is None."""

    axis: int
    size: Dimension
    begin: Dimension
    end: Dimension
    stride: Dimension
    from_start: bool
    to_end: bool
    squeezed: bool


def _slice(op: Arguments) -> Shape:
    """Return the shape of a slice. Raise InputConflict."""
    shape = op.shape("x")
    rank = len(shape)
    begin, end = (op.sizes(name, rank) if op.has(name) else (None,) * rank for name in ("begin", "end"))
    stride = op.sizes("stride", rank) if op.has("stride") else (1,) * rank
    masks = [op.vector(name, bool, rank, False) for name in ("begin_mask", "end_mask", "squeeze_mask")]
    columns = [_Column(*column) for column in zip(range(rank), shape, begin, end, stride, *masks, strict=True)]
    for column in columns:
        _hold(op, column)
    kept = [(column, _sliced(column)) for column in columns if not column.squeezed]
    for column, length in kept:
        _doubt_end(op, column, length)
    return tuple(length for _, length in kept)


def _hold(op: Arguments, column: _Column) -> None:
    """Require bounds within one dimension, and in order. Raise InputConflict."""
    axis, size, begin, end, stride, from_start, to_end, squeezed = column
    if stride == 0:
        raise InputConflict(
            f"takes steps forwards or backwards, not 0 at axis {axis}", "stride", code=codes.VALUE_OUT_OF_RANGE
        )
    if begin is not None and not from_start:
        _hold_begin(op, begin, column)
    if end is None or to_end or squeezed:
        return
    if size is not None and -TO_THE_END < end < -size - 1:
        raise InputConflict(
            f"is {end} at axis {axis}, and `x` has {size} there", "end", "x", code=codes.POSITION_OUTSIDE_TENSOR
        )
    if not (begin is None or from_start or stride is None):
        _hold_order(axis, size, begin, end, stride)


def _hold_begin(op: Arguments, begin: int, column: _Column) -> None:
    """Require an existing position for the begin of a slice. Raise InputConflict.

    coremltools also accepts the end of a dimension for a slice that may be empty, and clips positions past the end in
    backward slices.
    """
    size, stride = column.size, column.stride or 1
    is_cut = size is not None and not column.squeezed and (begin == size or (begin > size and stride < 0))
    try:
        hold_positions([begin], size, f"axis {column.axis} of `x`", "begin", "x")
    except InputConflict as wrong:
        if not is_cut:
            raise
        if size:
            op.doubts.append(wrong.clash)


def _hold_order(axis: int, size: Dimension, begin: int, end: int, stride: int) -> None:
    """Require bounds in the direction of the steps, if they are known. Raise InputConflict."""
    if size is None and (begin < 0) != (end < 0):
        return
    first, last = (bound if size is None or bound >= 0 else bound + size for bound in (begin, end))
    if (last - first) * stride < 0:
        clause = f"is {_counted(begin, first)} at axis {axis}, and `end` is {_counted(end, last)}"
        raise InputConflict(
            f"{clause}: steps of {stride} do not lead there", "begin", "end", code=codes.POSITION_OUTSIDE_TENSOR
        )


def _counted(bound: int, place: int) -> str:
    """Return a bound as written, with its place from the front."""
    return f"{bound}" if bound == place else f"{bound} (that is {place})"


def _doubt_end(op: Arguments, column: _Column, length: Dimension) -> None:
    """Note a doubt about a cut-off end, and about an empty slice of a dimension, unless its begin is past that
    dimension.
    """
    axis, size, begin, end, _, from_start, *_ = column
    if not size or (begin is not None and begin >= size and not from_start):
        return
    if not column.to_end and end is not None and size < end < TO_THE_END:
        clause = f"is {end} at axis {axis}; it is cut off at {size}, the size of `x` there"
        op.doubt(clause, "end", "x", code=codes.POSITION_OUTSIDE_TENSOR)
    elif length == 0:
        op.doubt(
            f"leaves nothing of the {size} that `x` has at axis {axis}", "end", "x", code=codes.POSITION_OUTSIDE_TENSOR
        )


def _sliced(column: _Column) -> Dimension:
    """Return the number of elements in a slice.

    None if a bound is unknown, or coremltools counts differently.
    """
    _, size, begin, end, stride, from_start, to_end, _ = column
    unknown = (begin is None and not from_start) or (end is None and not to_end)
    if unknown or not stride:
        return None
    begin, end = None if from_start else begin, None if to_end else end
    if begin is not None and end is not None and end - begin == 1 and stride > 0 and (begin >= 0) == (end >= 0):
        return 1  # for a dimension of any length
    if size is None:
        return None
    first, last, stride = slice(begin, end, stride).indices(size)
    length = max(0, -((first - last) // stride))
    if size == 1 and length != 1:
        return None  # coremltools keeps the one element for any bounds
    return None if stride < 0 and end is not None and end < -size else length


@rule("slice_by_size")
def slice_by_size(op: Arguments) -> Sequence[Type]:
    """Return `size` elements from `begin` on in each dimension; -1 is all the rest."""
    x = op.tensor("x")
    begins, sizes = (op.sizes(name, len(x.shape)) for name in ("begin", "size"))
    columns = [*zip(x.shape, begins, sizes, strict=True)]
    for axis, (length, begin, size) in enumerate(columns):
        _hold_stretch(op, axis, length, begin, size)
    return tensor(x.dtype, *(_rest(*column[:2]) if column[2] == -1 else column[2] for column in columns))


def _hold_stretch(op: Arguments, axis: int, length: Dimension, begin: Dimension, size: Dimension) -> None:
    """Require `size` elements from `begin` on within a dimension, and note a doubt about a size of 0. Raise
    InputConflict.
    """
    where = f"axis {axis} of `x`"
    if begin is not None and begin != length:
        hold_positions([begin], length, where, "begin", "x")
    if length is None or size is None:
        return
    first = 0 if begin is None else begin + length if begin < 0 else begin
    if size >= 0 and first + size > length:
        clause = f"is {size} from `begin` {first} on, and {where} has {length}"
        raise InputConflict(clause, "size", "x", code=codes.POSITION_OUTSIDE_TENSOR)
    if length and (size == 0 or first == length):
        clause = f"is {size} from `begin` {first} on, and {where} has {length}: nothing is left"
        op.doubt(clause, "size", "begin", "x", code=codes.POSITION_OUTSIDE_TENSOR)


def _rest(size: Dimension, begin: Dimension) -> Dimension:
    return None if size is None or begin is None or not 0 <= begin <= size else size - begin
