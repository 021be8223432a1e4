"""Rules for ops that move elements about or pick some: reshape, concat, split, pad, slices, gathers, sorting."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.elementwise import named
from miltext.checking.inference.operands import Arguments, Conflict, Unknown, count, position
from miltext.checking.inference.rules import linear, merge, quotient, replaced, rule, tensor
from miltext.schema.types import Dimension, Shape, TensorType, Type, show

MOST_PARTS = 10_000
"""How many outputs a split may say that it has before it is taken for a slip."""


@rule("reshape")
def reshape(op: Arguments) -> Sequence[Type]:
    """Return what `shape` says: -1 is what is left over, 0 keeps a dimension (counted from the back since ios17)."""
    x, sizes = op.tensor("x"), op.sizes("shape")
    if 0 in sizes:
        sizes = _keep_zeros(x.shape, sizes, from_back=op.since("ios17"))
    shape = _fill_rest(x.shape, sizes)
    before, after = count(x.shape), count(shape)
    if before is not None and after is not None and before != after:
        raise Conflict(f"{show(x.shape)} has {before} elements, {show(shape)} has {after}")
    return [TensorType(x.dtype, shape)]


def _keep_zeros(shape: Shape, sizes: Shape, from_back: bool) -> Shape:
    if 0 in shape or (not from_back and len(shape) != len(sizes)):
        raise Unknown
    offset = len(shape) - len(sizes)
    kept = (shape[place + offset] if place + offset >= 0 else 1 for place in range(len(sizes)))
    return tuple(old if size == 0 else size for size, old in zip(sizes, kept, strict=True))


def _fill_rest(shape: Shape, sizes: Shape) -> Shape:
    if sizes.count(-1) > 1:
        raise Unknown
    if -1 not in sizes:
        return sizes
    place = sizes.index(-1)
    total, others = count(shape), count(sizes[:place] + sizes[place + 1 :])
    rest = None if total is None or not others else quotient(total, others)
    return replaced(sizes, place, rest)


@rule("reshape_like")
def reshape_like(op: Arguments) -> Sequence[Type]:
    """Return stretches of the shapes of `ref_tensors`, one after another."""
    references, shape = op.tensors("ref_tensors"), list[Dimension]()
    bounds = [[operand.value for operand in op.all(name)] for name in ("begins", "ends", "end_masks")]
    if {*map(len, bounds)} != {len(references)}:
        raise Unknown
    for reference, begin, end, to_end in zip(references, *bounds, strict=True):
        if not isinstance(begin, int) or not isinstance(end, int) or not isinstance(to_end, bool):
            raise Unknown
        shape += reference.shape[begin : None if to_end else end]
    return tensor(op.tensor("x").dtype, *shape)


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
    places = {position(axis, rank) for axis in axes}
    if len(places) != len(axes):
        raise Unknown
    rest = iter(x.shape)
    return tensor(x.dtype, *(1 if place in places else next(rest) for place in range(rank)))


@rule("squeeze")
def squeeze(op: Arguments) -> Sequence[Type]:
    """Return `x` without the ones at `axes`, or without any ones; writers differ on other sizes at `axes`."""
    x = op.tensor("x")
    ones = {place for place, size in enumerate(x.shape) if size == 1}
    axes = {position(axis, len(x.shape)) for axis in op.vector("axes", int)} if op.has("axes") else ones
    if not axes <= ones or (None in x.shape and not op.has("axes")):
        raise Unknown
    return tensor(x.dtype, *(size for place, size in enumerate(x.shape) if place not in axes))


@rule("flatten2d")
def flatten2d(op: Arguments) -> Sequence[Type]:
    """Return all dimensions before `axis` (1 by default) as one, and all others."""
    x, axis = op.tensor("x"), op.scalar("axis", int, 1)
    return tensor(x.dtype, count(x.shape[:axis]), count(x.shape[axis:]))


@rule("shape")
def shape(op: Arguments) -> Sequence[Type]:
    """Return as many int32 as `x` has dimensions."""
    return tensor("int32", len(op.shape("x")))


@rule("tile")
def tile(op: Arguments) -> Sequence[Type]:
    """Return each dimension times its number in `reps`."""
    x = op.tensor("x")
    columns = zip(x.shape, op.sizes("reps", len(x.shape), least=0), strict=True)
    return tensor(x.dtype, *(None if times is None else linear(size, times) for size, times in columns))


@rule("concat")
def concat(op: Arguments) -> Sequence[Type]:
    """Return the sum along `axis`; the other dimensions agree. Scalars give a vector."""
    values = op.tensors("values")
    ranks = {len(value.shape) for value in values}
    if len(ranks) > 1:
        raise Conflict(f"values of different ranks: {', '.join(show(value.shape) for value in values)}")
    dtypes = {value.dtype for value in values}
    if len(dtypes) > 1:
        raise Conflict(f"values of different types: {', '.join(sorted(dtypes))}")
    shapes = [value.shape or (1,) for value in values]
    axis = op.axis(len(shapes[0]))
    sizes: list[Dimension] = []
    for place, column in enumerate(zip(*shapes, strict=True)):
        known = [size for size in column if size is not None]
        joined = sum(known) if len(known) == len(column) else None
        sizes.append(joined if place == axis else merge(column, f"sizes at axis {place}"))
    return tensor(dtypes.pop(), *sizes)


@rule("stack")
def stack(op: Arguments) -> Sequence[Type]:
    """Return the common shape of `values` with their number inserted at `axis`."""
    values = op.tensors("values")
    shapes = [value.shape for value in values]
    if len({value.dtype for value in values}) > 1 or len(set(map(len, shapes))) > 1:
        raise Conflict(f"values do not agree: {', '.join(f'{value.dtype}{show(value.shape)}' for value in values)}")
    common = [merge(column, f"sizes at axis {place}") for place, column in enumerate(zip(*shapes, strict=True))]
    place = op.axis(len(common) + 1)
    return tensor(values[0].dtype, *common[:place], len(values), *common[place:])


@rule("split")
def split(op: Arguments) -> Sequence[Type]:
    """Return parts of `x` along `axis`: of the sizes given, or of equal size."""
    x = op.tensor("x")
    axis = op.axis(len(x.shape))
    if op.has("split_sizes"):
        return [TensorType(x.dtype, replaced(x.shape, axis, size)) for size in op.sizes("split_sizes")]
    parts = op.scalar("num_splits", int, least=1)
    if parts > MOST_PARTS:
        raise Unknown
    return tensor(x.dtype, *replaced(x.shape, axis, quotient(x.shape[axis], parts))) * parts


@rule("pad")
def pad(op: Arguments) -> Sequence[Type]:
    """Return the last dimensions grown by their pairs in `pad`."""
    x, amounts = op.tensor("x"), op.sizes("pad")
    first = len(x.shape) - len(amounts) // 2
    if first < 0 or len(amounts) % 2:
        raise Unknown
    columns = zip(x.shape[first:], amounts[::2], amounts[1::2], strict=True)
    return tensor(x.dtype, *x.shape[:first], *(_padded(*column) for column in columns))


def _padded(size: Dimension, before: Dimension, after: Dimension) -> Dimension:
    return None if before is None or after is None else linear(size, 1, before + after)


@rule("space_to_depth", "pixel_unshuffle")
def space_to_depth(op: Arguments) -> Sequence[Type]:
    """Return squares of height and width moved into the channels."""
    size = op.scalar("block_size" if op.op_type == "space_to_depth" else "downscale_factor", int, least=1)
    n, c, h, w = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, linear(c, size * size), quotient(h, size), quotient(w, size))


@rule("depth_to_space", "pixel_shuffle")
def depth_to_space(op: Arguments) -> Sequence[Type]:
    """Return channels moved into squares of height and width."""
    size = op.scalar("block_size" if op.op_type == "depth_to_space" else "upscale_factor", int, least=1)
    n, c, h, w = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, quotient(c, size * size), linear(h, size), linear(w, size))


@rule("space_to_batch")
def space_to_batch(op: Arguments) -> Sequence[Type]:
    """Return blocks of the padded height and width moved into the batch."""
    n, c, h, w = op.shape("x", 4)
    (rows, columns), (top, bottom, left, right) = _blocks(op, "paddings")
    h, w = quotient(linear(h, 1, top + bottom), rows), quotient(linear(w, 1, left + right), columns)
    return tensor(op.tensor("x").dtype, linear(n, rows * columns), c, h, w)


@rule("batch_to_space")
def batch_to_space(op: Arguments) -> Sequence[Type]:
    """Return blocks moved out of the batch into height and width, which are cropped then."""
    n, c, h, w = op.shape("x", 4)
    (rows, columns), (top, bottom, left, right) = _blocks(op, "crops")
    h, w = linear(h, rows, -top - bottom), linear(w, columns, -left - right)
    return tensor(op.tensor("x").dtype, quotient(n, rows * columns), c, h, w)


def _blocks(op: Arguments, borders: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the height and width of the blocks, and the four borders."""
    return op.vector("block_shape", int, 2, least=1), op.vector(borders, int, 4, least=0)


@rule("sliding_windows")
def sliding_windows(op: Arguments) -> Sequence[Type]:
    """Return windows of `size` along `axis`, `stride` (1 by default) apart, as a further dimension after it."""
    x, size, stride = op.tensor("x"), op.scalar("size", int, least=1), op.scalar("stride", int, 1, least=1)
    axis = op.axis(len(x.shape))
    length = x.shape[axis]
    windows = None if length is None or length < size else (length - size) // stride + 1
    return tensor(x.dtype, *x.shape[:axis], windows, size, *x.shape[axis + 1 :])


@rule("crop")
def crop(op: Arguments) -> Sequence[Type]:
    """Return the last two dimensions without their borders."""
    *rest, h, w = op.shape("x", least=2)
    rows, columns = (sum(op.vector(name, int, 2, least=0)) for name in ("crop_height", "crop_width"))
    return tensor(op.tensor("x").dtype, *rest, linear(h, 1, -rows), linear(w, 1, -columns))


# ---- picking


@rule("slice_by_index")
def slice_by_index(op: Arguments) -> Sequence[Type]:
    """Return `x[begin:end:stride]` in each dimension; masks open an end or drop the dimension."""
    x = op.tensor("x")
    rank = len(x.shape)
    begin, end = (op.sizes(name, rank) if op.has(name) else (None,) * rank for name in ("begin", "end"))
    stride = op.sizes("stride", rank) if op.has("stride") else (1,) * rank
    masks = [op.vector(name, bool, rank, False) for name in ("begin_mask", "end_mask", "squeeze_mask")]
    columns = zip(x.shape, begin, end, stride, *masks, strict=True)
    return tensor(x.dtype, *(_sliced(*column) for *column, squeezed in columns if not squeezed))


def _sliced(
    size: Dimension, begin: Dimension, end: Dimension, stride: Dimension, from_start: bool, to_end: bool
) -> Dimension:
    """Return how many elements a slice has.

    None where a bound is unknown or coremltools counts in a way of its own.
    """
    unknown = (begin is None and not from_start) or (end is None and not to_end)
    if unknown or not stride:
        return None
    begin, end = None if from_start else begin, None if to_end else end
    if begin is not None and end is not None and end - begin == 1 and stride > 0 and (begin >= 0) == (end >= 0):
        return 1  # however long the dimension is
    if size is None:
        return None
    first, last, stride = slice(begin, end, stride).indices(size)
    length = max(0, -((first - last) // stride))
    if size == 1 and length != 1:
        return None  # coremltools keeps the one element whatever the bounds say
    return None if stride < 0 and end is not None and end < -size else length


@rule("slice_by_size")
def slice_by_size(op: Arguments) -> Sequence[Type]:
    """Return `size` elements from `begin` on in each dimension; -1 is all the rest."""
    x = op.tensor("x")
    columns = zip(x.shape, *(op.sizes(name, len(x.shape)) for name in ("begin", "size")), strict=True)
    return tensor(x.dtype, *(_rest(length, begin) if size == -1 else size for length, begin, size in columns))


def _rest(size: Dimension, begin: Dimension) -> Dimension:
    return None if size is None or begin is None or not 0 <= begin <= size else size - begin


@rule("gather")
def gather(op: Arguments) -> Sequence[Type]:
    """Return `x` with the dimension `axis` (0 by default) replaced by the shape of `indices` without its batch."""
    x, indices = op.tensor("x"), op.shape("indices")
    axis = op.axis(len(x.shape), 0)
    batch = op.scalar("batch_dims", int, 0, least=0)
    return tensor(x.dtype, *x.shape[:axis], *indices[batch:], *x.shape[axis + 1 :])


@rule("gather_nd")
def gather_nd(op: Arguments) -> Sequence[Type]:
    """Return what the last dimension of `indices` leaves of `x`, for each index."""
    x, (*rest, depth) = op.tensor("x"), op.shape("indices", least=1)
    batch = op.scalar("batch_dims", int, 0, least=0)
    if depth is None or depth + batch > len(x.shape):
        raise Unknown
    return tensor(x.dtype, *rest, *x.shape[batch + depth :])


@rule("topk")
def topk(op: Arguments) -> Sequence[Type]:
    """Return `k` (1 by default) values along `axis` (the last by default), and where they stood, if that is asked."""
    x = op.tensor("x")
    shape = replaced(x.shape, op.scalar("axis", int, -1), op.size("k", 1))
    values = TensorType(x.dtype, shape)
    if not op.scalar("return_indices", bool, True):
        return [values]
    return [values, TensorType(named(op.scalar("output_indices_dtype", str, "int32")), shape)]


@rule("argsort")
def argsort(op: Arguments) -> Sequence[Type]:
    """Return the shape of `x`, of int32."""
    return tensor("int32", *op.shape("x"))


@rule("non_maximum_suppression")
def non_maximum_suppression(op: Arguments) -> Sequence[Type]:
    """Return the boxes kept, their scores, where they stood and (before ios17) how many they are."""
    boxes, scores, kept = op.tensor("boxes"), op.tensor("scores"), op.scalar("max_boxes", int)
    batch, _, classes = op.shape("scores", 3)
    indices = TensorType("int32", (batch, kept))
    if op.since("ios17"):  # which of the two last dimensions is which is not plain
        return [TensorType(boxes.dtype, (batch, None, None)), TensorType(scores.dtype, (batch, None, None)), indices]
    found = [TensorType(boxes.dtype, (batch, kept, 4)), TensorType(scores.dtype, (batch, kept, classes))]
    return [*found, indices, TensorType("int32", (batch,))]


@rule("non_zero")
def non_zero(op: Arguments) -> Sequence[Type]:
    """Return a row of int32 for each element that is not zero, as many as `x` has dimensions."""
    return tensor("int32", None, len(op.shape("x")))


@rule("one_hot")
def one_hot(op: Arguments) -> Sequence[Type]:
    """Return `indices` with a dimension of `one_hot_vector_size` inserted at `axis` (at the end by default)."""
    shape, depth = op.shape("indices"), op.size("one_hot_vector_size")
    place = op.axis(len(shape) + 1, -1)
    dtype = op.dtype("on_value", op.dtype("off_value", "int32"))
    return tensor(dtype, *shape[:place], depth, *shape[place:])
