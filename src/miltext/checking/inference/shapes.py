"""Rules for ops that move elements about: reshape, transpose, concat, split, pad and their like."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, Conflict, Unknown
from miltext.checking.inference.rules import count, linear, merge, position, quotient, replaced, rule, show, tensor
from miltext.checking.inference.value_types import Dimension, Shape, TensorType, Type

MOST_PARTS = 10_000
"""How many outputs a split may say that it has before it is taken for a slip."""


@rule("reshape")
def reshape(op: Arguments) -> Sequence[Type]:
    """What `shape` says: -1 is what is left over, 0 keeps a dimension (counted from the back since ios17)."""
    x, sizes = op.tensor("x"), op.elements("shape")
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
    """Stretches of the shapes of `ref_tensors`, one after another."""
    shape: list[Dimension] = []
    bounds = (op.all(name) for name in ("begins", "ends", "end_masks"))
    for reference, *bound in zip(op.tensors("ref_tensors"), *bounds, strict=True):
        begin, end, to_end = (operand.value for operand in bound)
        if not isinstance(begin, int) or not isinstance(end, int) or to_end is None:
            raise Unknown
        shape += reference.shape[begin:] if to_end else reference.shape[begin:end]
    return tensor(op.tensor("x").dtype, *shape)


@rule("transpose")
def transpose(op: Arguments) -> Sequence[Type]:
    """The dimensions of `x` in the order of `perm`."""
    x, perm = op.tensor("x"), op.vector("perm")
    if {position(axis, len(x.shape)) for axis in perm} != set(range(len(x.shape))) or len(perm) != len(x.shape):
        raise Unknown
    return [TensorType(x.dtype, tuple(x.shape[axis] for axis in perm))]


@rule("expand_dims")
def expand_dims(op: Arguments) -> Sequence[Type]:
    """`x` with ones at the places `axes` of the result."""
    x, axes = op.tensor("x"), op.vector("axes")
    rank = len(x.shape) + len(axes)
    places = {position(axis, rank) for axis in axes}
    if len(places) != len(axes):
        raise Unknown
    rest = iter(x.shape)
    return [TensorType(x.dtype, tuple(1 if place in places else next(rest) for place in range(rank)))]


@rule("squeeze")
def squeeze(op: Arguments) -> Sequence[Type]:
    """`x` without the ones at `axes`, or without any ones; other sizes at `axes` are treated in several ways."""
    x = op.tensor("x")
    if op.has("axes"):
        places = {position(axis, len(x.shape)) for axis in op.vector("axes")}
        if any(x.shape[place] != 1 for place in places):
            raise Unknown
    elif None in x.shape:
        raise Unknown
    else:
        places = {place for place, size in enumerate(x.shape) if size == 1}
    return [TensorType(x.dtype, tuple(size for place, size in enumerate(x.shape) if place not in places))]


@rule("flatten2d")
def flatten2d(op: Arguments) -> Sequence[Type]:
    """All dimensions before `axis` (1 by default) as one, and all others."""
    x, axis = op.tensor("x"), op.value("axis", 1)
    return tensor(x.dtype, count(x.shape[:axis]), count(x.shape[axis:]))


@rule("shape")
def shape(op: Arguments) -> Sequence[Type]:
    """As many int32 as `x` has dimensions."""
    return tensor("int32", len(op.shape("x")))


@rule("tile")
def tile(op: Arguments) -> Sequence[Type]:
    """Each dimension times its number in `reps`."""
    x = op.tensor("x")
    columns = zip(x.shape, op.elements("reps", least=0), strict=True)
    sizes = [None if times is None else linear(size, times) for size, times in columns]
    return tensor(x.dtype, *sizes)


@rule("concat")
def concat(op: Arguments) -> Sequence[Type]:
    """The sum along `axis`; the other dimensions agree. Scalars give a vector."""
    values = op.tensors("values")
    ranks = {len(value.shape) for value in values}
    if len(ranks) > 1:
        raise Conflict(f"values of different ranks: {', '.join(show(value.shape) for value in values)}")
    dtypes = {value.dtype for value in values}
    if len(dtypes) > 1:
        raise Conflict(f"values of different types: {', '.join(sorted(dtypes))}")
    shapes = [value.shape or (1,) for value in values]
    axis = position(op.value("axis"), len(shapes[0]))
    sizes: list[Dimension] = []
    for place, column in enumerate(zip(*shapes, strict=True)):
        known = [size for size in column if size is not None]
        joined = sum(known) if len(known) == len(column) else None
        sizes.append(joined if place == axis else merge(column, f"sizes at axis {place}"))
    return tensor(dtypes.pop(), *sizes)


@rule("stack")
def stack(op: Arguments) -> Sequence[Type]:
    """The common shape of `values` with their number inserted at `axis`."""
    values = op.tensors("values")
    shapes = [value.shape for value in values]
    if len({value.dtype for value in values}) > 1 or len(set(map(len, shapes))) > 1:
        raise Conflict(f"values do not agree: {', '.join(f'{value.dtype}{show(value.shape)}' for value in values)}")
    common = [merge(column, f"sizes at axis {place}") for place, column in enumerate(zip(*shapes, strict=True))]
    place = position(op.value("axis"), len(common) + 1)
    return tensor(values[0].dtype, *common[:place], len(values), *common[place:])


@rule("split")
def split(op: Arguments) -> Sequence[Type]:
    """Parts of `x` along `axis`: of the sizes given, or of equal size."""
    x, axis = op.tensor("x"), op.value("axis")
    if op.has("split_sizes"):
        sizes: Sequence[Dimension] = op.elements("split_sizes")
    else:
        parts = op.value("num_splits", least=1)
        if parts > MOST_PARTS:
            raise Unknown
        sizes = [quotient(x.shape[axis], parts)] * parts
    return [TensorType(x.dtype, replaced(x.shape, axis, size)) for size in sizes]


@rule("pad")
def pad(op: Arguments) -> Sequence[Type]:
    """The last dimensions grown by their pairs in `pad`."""
    x, amounts = op.tensor("x"), op.elements("pad")
    sizes, first = list(x.shape), len(x.shape) - len(amounts) // 2
    if first < 0 or len(amounts) % 2:
        raise Unknown
    for place in range(first, len(sizes)):
        before, after = amounts[2 * (place - first) : 2 * (place - first) + 2]
        sizes[place] = None if before is None or after is None else linear(sizes[place], 1, before + after)
    return tensor(x.dtype, *sizes)


@rule("space_to_depth", "pixel_unshuffle")
def space_to_depth(op: Arguments) -> Sequence[Type]:
    """Squares of height and width moved into the channels."""
    size = op.value("block_size" if op.op_type == "space_to_depth" else "downscale_factor", least=1)
    n, c, h, w = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, linear(c, size * size), quotient(h, size), quotient(w, size))


@rule("depth_to_space", "pixel_shuffle")
def depth_to_space(op: Arguments) -> Sequence[Type]:
    """Channels moved into squares of height and width."""
    size = op.value("block_size" if op.op_type == "depth_to_space" else "upscale_factor", least=1)
    n, c, h, w = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, quotient(c, size * size), linear(h, size), linear(w, size))


@rule("space_to_batch")
def space_to_batch(op: Arguments) -> Sequence[Type]:
    """Blocks of the padded height and width moved into the batch."""
    n, c, *spatial = op.shape("x", 4)
    blocks, paddings = op.vector("block_shape", least=1), op.vector("paddings", least=0)
    pairs = zip(spatial, paddings[::2], paddings[1::2], strict=True)
    padded = [linear(size, 1, before + after) for size, before, after in pairs]
    sizes = [quotient(size, block) for size, block in zip(padded, blocks, strict=True)]
    return tensor(op.tensor("x").dtype, linear(n, blocks[0] * blocks[1]), c, *sizes)


@rule("batch_to_space")
def batch_to_space(op: Arguments) -> Sequence[Type]:
    """Blocks moved out of the batch into height and width, which are cropped then."""
    n, c, *spatial = op.shape("x", 4)
    blocks, crops = op.vector("block_shape", least=1), op.vector("crops", least=0)
    offsets = [-(before + after) for before, after in zip(crops[::2], crops[1::2], strict=True)]
    sizes = [linear(size, block, offset) for size, block, offset in zip(spatial, blocks, offsets, strict=True)]
    return tensor(op.tensor("x").dtype, quotient(n, blocks[0] * blocks[1]), c, *sizes)


@rule("sliding_windows")
def sliding_windows(op: Arguments) -> Sequence[Type]:
    """Windows of `size` along `axis`, `stride` (1 by default) apart, as a further dimension after it."""
    x, size, stride = op.tensor("x"), op.value("size", least=1), op.value("stride", 1, least=1)
    axis = position(op.value("axis"), len(x.shape))
    length = x.shape[axis]
    windows = None if length is None or length < size else (length - size) // stride + 1
    return tensor(x.dtype, *x.shape[:axis], windows, size, *x.shape[axis + 1 :])


@rule("crop")
def crop(op: Arguments) -> Sequence[Type]:
    """The last two dimensions without their borders."""
    x = op.tensor("x")
    *rest, h, w = x.shape
    cut = [sum(op.vector(name, least=0)) for name in ("crop_height", "crop_width")]
    return tensor(x.dtype, *rest, linear(h, 1, -cut[0]), linear(w, 1, -cut[1]))
