"""Rules for ops that change a shape: reshape, transpose, pad, blocks moved between dimensions, crops."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown, count, position
from miltext.checking.inference.positions import hold_axes, row_of, some
from miltext.checking.inference.rules import linear, replaced, rule, tensor
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, Shape, TensorType, Type, show


@rule("reshape")
def reshape(op: Arguments) -> Sequence[Type]:
    """Return the type by `shape`: -1 is the rest, 0 keeps a dimension (counted from the back since ios17)."""
    x, sizes = op.tensor("x"), op.sizes("shape")
    if sizes.count(-1) > 1:
        clause = f"has -1 more than once, {show(sizes)}, but only one size can be inferred"
        raise InputConflict(clause, "shape", code=codes.SIZES_DO_NOT_ADD_UP)
    asks = "requests"
    if 0 in sizes:
        asks = f"is {show(sizes)}, where 0 takes the size of `x`: it requests"
        sizes = _keep_zeros(x.shape, sizes, from_back=op.since("ios17"))
    shape = _fill_rest(x.shape, sizes)
    _hold_count(x.shape, shape, "shape", asks)
    return [TensorType(x.dtype, shape)]


def _keep_zeros(shape: Shape, sizes: Shape, from_back: bool) -> Shape:
    """Return sizes with a size of `x` in place of each 0, which is unknown if any size is unknown. coremltools 9.0 then
    declares a size of 0, and does not compare the ranks.
    """
    if 0 in shape:
        raise Unknown
    if None in (*shape, *sizes):
        return tuple(size or None for size in sizes)
    if not from_back and len(shape) != len(sizes):
        clause = f"keeps sizes of `x` with 0, and must be as long as `x` has dimensions, {len(shape)}, not {len(sizes)}"
        raise InputConflict(clause, "shape", "x", code=codes.SIZES_DO_NOT_ADD_UP)
    offset = len(shape) - len(sizes)
    kept = (shape[place + offset] if place + offset >= 0 else 1 for place in range(len(sizes)))
    return tuple(old if size == 0 else size for size, old in zip(sizes, kept, strict=True))


def _fill_rest(shape: Shape, sizes: Shape) -> Shape:
    if -1 not in sizes:
        return sizes
    place = sizes.index(-1)
    total, others = count(shape), count(sizes[:place] + sizes[place + 1 :])
    if total is None or not others:
        return replaced(sizes, place, None)
    if total % others:
        clause = (
            f"requests {show(sizes)}, and the {total} elements of `x`, {show(shape)}, are not a multiple of {others}"
        )
        raise InputConflict(clause, "shape", "x", code=codes.SIZES_DO_NOT_ADD_UP)
    return replaced(sizes, place, total // others)


def _hold_count(before: Shape, after: Shape, name: str, asks: str) -> None:
    """Require a shape with as many elements as `x`. Raise InputConflict."""
    had, has = count(before), count(after)
    if had is not None and has is not None and had != has:
        clause = f"{asks} {show(after)}, {has} elements, and `x`, {show(before)}, has {had}"
        raise InputConflict(clause, name, "x", code=codes.SIZES_DO_NOT_ADD_UP)


@rule("reshape_like")
def reshape_like(op: Arguments) -> Sequence[Type]:
    """Return ranges of the shapes of `ref_tensors`, one after another."""
    x, references, shape = op.tensor("x"), some(op, "ref_tensors"), list[Dimension]()
    begins, ends, masks = (_one_each(op, name, len(references)) for name in ("begins", "ends", "end_masks"))
    for place, (reference, begin, end, to_end) in enumerate(zip(references, begins, ends, masks, strict=True)):
        if not isinstance(begin, int) or not isinstance(end, int) or not isinstance(to_end, bool):
            raise Unknown
        rank = len(reference.shape)
        for name, bound in (("begins", begin), *((("ends", end),) if not to_end else ())):
            if not -rank <= bound <= rank:
                clause = f"names dimension {bound} of {show(reference.shape)}, which has {rank}"
                raise InputConflict(clause, name, "ref_tensors", code=codes.POSITION_OUTSIDE_TENSOR, place=place)
        shape += reference.shape[begin : None if to_end else end]
    _hold_count(x.shape, tuple(shape), "ref_tensors", "with `begins`, `ends` and `end_masks` requests")
    return tensor(x.dtype, *shape)


def _one_each(op: Arguments, name: str, number: int) -> list[object]:
    """Return the scalars bound to a parameter, one for each reference. Raise InputConflict."""
    if op.count(name) != number:
        clause = f"must have a value for each of the {number} `ref_tensors`, not {op.count(name)}"
        raise InputConflict(clause, name, "ref_tensors", code=codes.SIZES_DO_NOT_ADD_UP)
    operands = op.all(name)
    for place, operand in enumerate(operands):
        if isinstance(operand.type, TensorType) and operand.type.shape:
            clause = f"takes scalars, not a tensor of shape {show(operand.type.shape)}"
            raise InputConflict(clause, name, code=codes.WRONG_ARGUMENT_RANK, place=place)
    return [operand.value for operand in operands]


@rule("transpose")
def transpose(op: Arguments) -> Sequence[Type]:
    """Return the dimensions of `x` in the order of `perm`."""
    x = op.tensor("x")
    perm = [position(axis, len(x.shape)) for axis in op.vector("perm", int, len(x.shape))]
    if len({*perm}) != len(perm):
        raise Unknown
    return tensor(x.dtype, *(x.shape[axis] for axis in perm))


@rule("expand_dims")
def expand_dims(op: Arguments) -> Sequence[Type]:
    """Return `x` with ones at the places `axes` of the result."""
    x, axes = op.tensor("x"), op.vector("axes", int)
    rank = len(x.shape) + len(axes)
    hold_axes(axes, rank, "axes", "x")
    places, rest = {position(axis, rank) for axis in axes}, iter(x.shape)
    return tensor(x.dtype, *(1 if place in places else next(rest) for place in range(rank)))


@rule("squeeze")
def squeeze(op: Arguments) -> Sequence[Type]:
    """Return `x` without the ones at `axes`, or without any ones; writers differ on unknown sizes at `axes`."""
    x = op.tensor("x")
    ones = {place for place, size in enumerate(x.shape) if size == 1}
    axes = {position(axis, len(x.shape)) for axis in op.vector("axes", int)} if op.has("axes") else ones
    for axis in sorted(axes - ones):
        if x.shape[axis] is not None:
            clause = f"names axis {axis}, but `x`, {show(x.shape)}, has {x.shape[axis]} there: it must be 1"
            raise InputConflict(clause, "axes", "x", code=codes.SIZES_DO_NOT_ADD_UP)
    if not axes <= ones or (None in x.shape and not op.has("axes")):
        raise Unknown
    return tensor(x.dtype, *(size for place, size in enumerate(x.shape) if place not in axes))


@rule("flatten2d")
def flatten2d(op: Arguments) -> Sequence[Type]:
    """Return all dimensions before `axis` (1 by default), which may be after the last one, as one, and all others."""
    x, axis = op.tensor("x"), op.scalar("axis", int, 1)
    if op.has("axis"):
        hold_axes([axis], max(1, len(x.shape)) + 1, "axis", "x", least=-len(x.shape))
    return tensor(x.dtype, count(x.shape[:axis]), count(x.shape[axis:]))


@rule("shape")
def shape(op: Arguments) -> Sequence[Type]:
    """Return as many int32 as `x` has dimensions."""
    return tensor("int32", len(op.shape("x")))


@rule("tile")
def tile(op: Arguments) -> Sequence[Type]:
    """Return each dimension times its number in `reps`."""
    x = op.tensor("x")
    columns = zip(x.shape, op.sizes("reps", len(x.shape), least=1), strict=True)
    return tensor(x.dtype, *(None if times is None else linear(size, times) for size, times in columns))


@rule("pad")
def pad(op: Arguments) -> Sequence[Type]:
    """Return the last dimensions grown by their pairs in `pad`."""
    x, amounts = op.tensor("x"), op.sizes("pad", least=0)
    rank, first = len(x.shape), len(x.shape) - len(amounts) // 2
    if len(amounts) % 2:
        clause = f"has {len(amounts)} numbers, but must have two for each dimension that it pads: before and after it"
        raise InputConflict(clause, "pad", code=codes.WRONG_ARGUMENT_SHAPE)
    if first < 0 or (first and not op.all("pad")[0].constant and None in amounts):
        most = "but must have at most" if first < 0 else "but as it is not constant, it must have"
        clause = f"has {len(amounts)} numbers, {most} {2 * rank} for the {rank} dimensions of `x`"
        raise InputConflict(clause, "pad", "x", code=codes.WRONG_ARGUMENT_SHAPE)
    _hold_filling(op, x.dtype)
    if op.has("mode") and (mode := op.single("mode")) in ("reflect", "replicate"):
        _hold_mirrors(mode == "reflect", x.shape, first, amounts)
    columns = zip(x.shape[first:], amounts[::2], amounts[1::2], strict=True)
    return tensor(x.dtype, *x.shape[:first], *(_padded(*column) for column in columns))


def _hold_filling(op: Arguments, dtype: str) -> None:
    """Require the data type of `x`, or fp32, for `constant_val`. Raise InputConflict.

    fp32 is the type of coremltools' default.
    """
    given = op.dtype("constant_val", dtype)
    if given not in (dtype, "fp32"):
        raise InputConflict(
            f"is {given}, but `x` is {dtype}: they must be of one data type",
            "constant_val",
            "x",
            code=codes.DTYPES_DIFFER,
        )


def _hold_mirrors(reflects: bool, shape: Shape, first: int, amounts: Shape) -> None:
    """Require paddings with values of `x` itself to be within its size. Raise InputConflict."""
    for place, amount in enumerate(amounts):
        axis = first + place // 2
        size = shape[axis]
        most = None if size is None else size - reflects
        if amount is not None and most is not None and amount > most:
            clause = f"is {amount} at axis {axis}; this `mode` takes at most {most} from the {size} of `x` there"
            raise InputConflict(clause, "pad", "x", code=codes.POSITION_OUTSIDE_TENSOR)


def _padded(size: Dimension, before: Dimension, after: Dimension) -> Dimension:
    return None if before is None or after is None else linear(size, 1, before + after)


# ---- blocks moved between dimensions


def _share(size: Dimension, of: str, by: int, name: str) -> Dimension:
    """Return a size of `x` divided into equal parts, None when it is unknown.

    Raise InputConflict if it is not a multiple.
    """
    if size is None:
        return None
    if size % by:
        raise InputConflict(
            f"requires a multiple of {by}, but {of} is {size}", name, "x", code=codes.SIZES_DO_NOT_ADD_UP
        )
    return size // by


@rule("space_to_depth", "pixel_unshuffle")
def space_to_depth(op: Arguments) -> Sequence[Type]:
    """Return squares of height and width moved into the channels."""
    name = "block_size" if op.op_type == "space_to_depth" else "downscale_factor"
    size = op.scalar(name, int, least=1)
    n, c, h, w = op.shape("x", 4)
    rows, columns = _share(h, "the height of `x`", size, name), _share(w, "the width of `x`", size, name)
    return tensor(op.tensor("x").dtype, n, linear(c, size * size), rows, columns)


@rule("depth_to_space", "pixel_shuffle")
def depth_to_space(op: Arguments) -> Sequence[Type]:
    """Return channels moved into squares of height and width."""
    name = "block_size" if op.op_type == "depth_to_space" else "upscale_factor"
    size = op.scalar(name, int, least=1)
    n, c, h, w = op.shape("x", 4)
    channels = _share(c, "the number of channels of `x`", size * size, name)
    return tensor(op.tensor("x").dtype, n, channels, linear(h, size), linear(w, size))


@rule("space_to_batch")
def space_to_batch(op: Arguments) -> Sequence[Type]:
    """Return blocks of the padded height and width moved into the batch."""
    n, c, h, w = op.shape("x", 4)
    (rows, columns), (top, bottom, left, right) = _blocks(op, "paddings")
    h = _share(linear(h, 1, top + bottom), "the height of `x` with its `paddings`", rows, "block_shape")
    w = _share(linear(w, 1, left + right), "the width of `x` with its `paddings`", columns, "block_shape")
    return tensor(op.tensor("x").dtype, linear(n, rows * columns), c, h, w)


@rule("batch_to_space")
def batch_to_space(op: Arguments) -> Sequence[Type]:
    """Return blocks moved out of the batch into height and width, which are cropped then."""
    n, c, h, w = op.shape("x", 4)
    (rows, columns), (top, bottom, left, right) = _blocks(op, "crops")
    n = _share(n, "the batch of `x`", rows * columns, "block_shape")
    h = _cropped(linear(h, rows), top + bottom, "height", "crops")
    w = _cropped(linear(w, columns), left + right, "width", "crops")
    return tensor(op.tensor("x").dtype, n, c, h, w)


def _blocks(op: Arguments, borders: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the height and width of the blocks, and the four borders."""
    return op.vector("block_shape", int, 2, least=1), op.vector(borders, int, 4, least=0)


def _cropped(size: Dimension, by: int, what: str, name: str) -> Dimension:
    """Return the rest of a size, None when it is unknown. Raise InputConflict when nothing is left."""
    if size is not None and by >= size > 0:
        raise InputConflict(
            f"removes {by} from a {what} of {size}: nothing is left", name, "x", code=codes.POSITION_OUTSIDE_TENSOR
        )
    return linear(size, 1, -by)


@rule("crop")
def crop(op: Arguments) -> Sequence[Type]:
    """Return the last two dimensions without their borders."""
    *rest, h, w = op.shape("x", least=2)
    rows, columns = (sum(op.vector(name, int, 2, least=0)) for name in ("crop_height", "crop_width"))
    h, w = _cropped(h, rows, "height", "crop_height"), _cropped(w, columns, "width", "crop_width")
    return tensor(op.tensor("x").dtype, *rest, h, w)


@rule("sliding_windows")
def sliding_windows(op: Arguments) -> Sequence[Type]:
    """Return windows of `size` along `axis`, `stride` (1 by default) apart, as a further dimension after it."""
    x, size, stride = op.tensor("x"), op.scalar("size", int, least=1), op.scalar("stride", int, 1, least=1)
    axis = op.axis(len(x.shape))
    length = x.shape[axis]
    if length is not None and length < size:
        raise InputConflict(
            f"is {size}, and `axis` {axis} of `x` has {length}", "size", "x", code=codes.POSITION_OUTSIDE_TENSOR
        )
    windows = None if length is None else (length - size) // stride + 1
    return tensor(x.dtype, *x.shape[:axis], windows, size, *x.shape[axis + 1 :])


@rule("reverse_sequence")
def reverse_sequence(op: Arguments) -> Sequence[Type]:
    """Return the type of `x`."""
    with suppress(Unknown):  # the result is the same for any other arguments
        _hold_lengths(op)
    return [op.type("x")]


def _hold_lengths(op: Arguments) -> None:
    """Require `lengths` with one length for each row, within the sequence. Raise InputConflict."""
    shape, [rows] = op.shape("x"), op.shape("lengths", 1)
    batch, sequence = (op.axis(len(shape), 0, name=name) for name in ("batch_axis", "seq_axis"))
    size, most = shape[batch], shape[sequence]
    named = op.given("seq_axis", "batch_axis")
    if batch == sequence and named:
        clause = f"names axis {sequence}, and `seq_axis` and `batch_axis` must be two"
        raise InputConflict(clause, named[0], *named[1:], "x", code=codes.REPEATED_AXIS)
    if size is not None and rows is not None and rows != size:
        clause = f"must have a length for each of the {size} rows along `batch_axis` {batch} of `x`, not {rows}"
        raise InputConflict(clause, "lengths", "x", code=codes.WRONG_ARGUMENT_SHAPE)
    for length in row_of(op, "lengths"):
        if most is not None and isinstance(length, int) and length > most:
            clause = f"has a length of {length}, and `seq_axis` {sequence} of `x` is {most} long"
            raise InputConflict(clause, "lengths", "x", code=codes.VALUE_OUT_OF_RANGE)
