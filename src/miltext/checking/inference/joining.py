"""Rules for ops that join or split tensors: concat, stack, split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown
from miltext.checking.inference.positions import axis_of, some
from miltext.checking.inference.rules import replaced, rule, tensor
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, Shape, TensorType, Type, show

MOST_PARTS = 10_000
"""The greatest number of outputs of a split; a greater one counts as a mistake."""


@rule("concat")
def concat(op: Arguments) -> Sequence[Type]:
    """Return the sum of sizes at `axis`; the other dimensions must be equal. Scalars become a vector."""
    dtype, shapes = _agreeing(op)
    shapes = [shape or (1,) for shape in shapes]
    axis = axis_of(op, len(shapes[0]), "values")
    if op.has("interleave") and op.single("interleave") is True:
        sizes = [*_common(shapes, ", as `interleave` is true")]
    else:
        sizes = [*_common(shapes, f", as `axis` is {axis}", free=axis)]
    joined = [shape[axis] for shape in shapes]
    known = [size for size in joined if size is not None]
    sizes[axis] = sum(known) if len(known) == len(joined) else None
    return tensor(dtype, *sizes)


@rule("stack")
def stack(op: Arguments) -> Sequence[Type]:
    """Return the common shape of `values` with their number inserted at `axis`."""
    dtype, shapes = _agreeing(op)
    common = _common(shapes)
    place = axis_of(op, len(common) + 1, "values")
    return tensor(dtype, *common[:place], len(shapes), *common[place:])


def _agreeing(op: Arguments) -> tuple[str, list[Shape]]:
    """Return the data type of `values` and their shapes, which are of one rank. Raise InputConflict."""
    values = some(op, "values")
    ranks, dtypes = [len(value.shape) for value in values], [value.dtype for value in values]
    if (odd := _odd(ranks)) is not None:
        place, usual = odd
        _clash("rank", place, show(values[place].shape), usual, show(values[usual].shape))
    if (odd := _odd(dtypes)) is not None:
        place, usual = odd
        _clash("data type", place, dtypes[place], usual, dtypes[usual], code=codes.DTYPES_DIFFER)
    return dtypes[0], [value.shape for value in values]


def _common(shapes: Sequence[Shape], why: str = "", *, free: int | None = None) -> Shape:
    """Return the sizes that shapes of one rank share, at any axis but the `free` one.

    Raise InputConflict with the reason `why`.
    """
    sizes = list[Dimension]()
    for axis, column in enumerate(zip(*shapes, strict=True)):
        if axis != free and (odd := _odd(column)) is not None:
            place, usual = odd
            _clash(f"size at axis {axis}{why}", place, show(shapes[place]), usual, show(shapes[usual]))
        sizes.append(next((size for size in column if size is not None), None))
    return tuple(sizes)


def _odd(column: Sequence[object]) -> tuple[int, int] | None:
    """Return the index of the first unusual value, and an index of the most common one; None if all are equal.

    A None among the values is unknown.
    """
    known = Counter(each for each in column if each is not None)
    if len(known) < 2:
        return None
    [(usual, _)] = known.most_common(1)
    place = next(place for place, each in enumerate(column) if each is not None and each != usual)
    return place, column.index(usual)


def _clash(what: str, place: int, has: str, usual: int, others: str, code: str = codes.SIZES_DO_NOT_ADD_UP) -> None:
    clause = f"must be of one {what}; number {place + 1} is {has}, number {usual + 1} is {others}"
    raise InputConflict(clause, "values", code=code, place=place)


@rule("split")
def split(op: Arguments) -> Sequence[Type]:
    """Return parts of `x` along `axis`: of the given sizes, or of equal sizes."""
    x = op.tensor("x")
    axis = op.axis(len(x.shape))
    if op.has("split_sizes"):
        return [TensorType(x.dtype, replaced(x.shape, axis, size)) for size in _parts(op, axis, x.shape[axis])]
    if not op.has("num_splits"):
        raise InputConflict("one of `num_splits` and `split_sizes` must be given", code=codes.MISSING_PARAMETER)
    parts, size = op.scalar("num_splits", int, least=1), x.shape[axis]
    if parts > MOST_PARTS:
        raise Unknown
    if size is not None and size % parts:
        clause = f"is {parts}, and `axis` {axis} of `x` has {size}, which is not a multiple of {parts}"
        raise InputConflict(clause, "num_splits", "x", code=codes.SIZES_DO_NOT_ADD_UP)
    return tensor(x.dtype, *replaced(x.shape, axis, None if size is None else size // parts)) * parts


def _parts(op: Arguments, axis: int, size: Dimension) -> Shape:
    """Return `split_sizes`, which add up to the size, and are as many as a given `num_splits`."""
    parts = op.sizes("split_sizes", least=0)
    number = op.size("num_splits") if op.has("num_splits") else None
    if number is not None and number != len(parts):
        clause = f"has {len(parts)} sizes, {show(parts)}, and `num_splits` is {number}"
        raise InputConflict(clause, "split_sizes", code=codes.SIZES_DO_NOT_ADD_UP)
    known = [part for part in parts if part is not None]
    if size is not None and len(known) == len(parts) and sum(known) != size:
        clause = f"sums up to {sum(known)}, {show(parts)}, and `axis` {axis} of `x` has {size}"
        raise InputConflict(clause, "split_sizes", "x", code=codes.SIZES_DO_NOT_ADD_UP)
    return parts
