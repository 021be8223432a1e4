"""Rules for layers: convolution, pooling, products of matrices, attention, recurrence, and images."""

from __future__ import annotations

import math
from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, Conflict, Unknown, finite
from miltext.checking.inference.rules import broadcast, linear, rule, tensor, whole
from miltext.schema.types import Dimension, Shape, TensorType, Type, show


@rule("conv", "conv_quantized")
def conv(op: Arguments) -> Sequence[Type]:
    """Return batch, the weight's output channels, and the spatial dimensions that padding, strides, dilations leave."""
    n, c, *spatial = op.shape("x", least=2)
    weight = op.shape("weight", least=2)
    outputs, inputs, *kernel = weight
    groups = op.scalar("groups", int, 1, least=1)
    if op.op_type == "conv" and c is not None and inputs is not None and c != inputs * groups:
        raise Conflict(f"x has {c} channels, the weight {show(weight)} takes {inputs * groups} in {groups} group(s)")
    dilations = op.vector("dilations", int, len(kernel), 1, least=1)
    reach = [linear(size, dilation, 1 - dilation) for size, dilation in zip(kernel, dilations, strict=True)]
    return tensor(op.tensor("x").dtype, n, outputs, *_windows(op, spatial, reach, "valid"))


@rule("max_pool", "avg_pool", "l2_pool")
def pool(op: Arguments) -> Sequence[Type]:
    """Return batch and channels, and the spatial dimensions as padding and strides leave them."""
    n, c, *spatial = op.shape("x", least=2)
    kernel = op.vector("kernel_sizes", int, least=1)
    return tensor(op.tensor("x").dtype, n, c, *_windows(op, spatial, kernel, None))


def _windows(op: Arguments, spatial: Sequence[Dimension], kernel: Sequence[Dimension], pad_type: str | None) -> Shape:
    if len(kernel) != len(spatial):
        raise Unknown
    strides = op.vector("strides", int, len(spatial), 1, least=1)
    padding, ceil = op.scalar("pad_type", str, pad_type).lower(), op.scalar("ceil_mode", bool, False)
    if padding in ("same", "same_lower"):
        columns = zip(spatial, strides, strict=True)
        return tuple(None if size is None or ceil else -(-size // stride) for size, stride in columns)
    amounts = _paddings(op, padding, len(spatial))
    return tuple(_fitting(*column, ceil) for column in zip(spatial, kernel, strides, amounts, strict=True))


def _paddings(op: Arguments, pad_type: str, rank: int) -> list[int]:
    """Return how much is added to each spatial dimension, before and after it."""
    if pad_type == "valid":
        return [0] * rank
    if pad_type != "custom":
        raise Unknown
    pads = op.vector("pad", int, 2 * rank, 0)
    return [before + after for before, after in zip(pads[::2], pads[1::2], strict=True)]


def _fitting(size: Dimension, kernel: Dimension, stride: int, padding: int, ceil: bool) -> Dimension:
    if size is None or kernel is None or size + padding < kernel:
        return None
    room = size + padding - kernel
    if not ceil:
        return room // stride + 1
    windows = -(-room // stride) + 1
    starts_in_padding = padding > 0 and (windows - 1) * stride >= size + padding / 2
    return windows - 1 if starts_in_padding else windows


@rule("conv_transpose")
def conv_transpose(op: Arguments) -> Sequence[Type]:
    """Return batch, the weight's output channels, and what a convolution of the same parameters comes from."""
    dtype = op.tensor("x").dtype
    if op.has("output_shape"):
        return tensor(dtype, *op.vector("output_shape", int))
    n, _, *spatial = op.shape("x", least=2)
    _, outputs, *kernel = op.shape("weight", len(spatial) + 2)
    sizes = _spread(op, spatial, kernel, op.scalar("pad_type", str, "valid"))
    return tensor(dtype, n, linear(outputs, op.scalar("groups", int, 1, least=1)), *sizes)


def _spread(op: Arguments, spatial: Sequence[Dimension], kernel: Sequence[Dimension], pad_type: str) -> Shape:
    rank = len(spatial)
    strides, dilations = (op.vector(name, int, rank, 1, least=1) for name in ("strides", "dilations"))
    if pad_type == "same":
        return tuple(linear(size, stride) for size, stride in zip(spatial, strides, strict=True))
    columns = zip(spatial, kernel, strides, dilations, _paddings(op, pad_type, rank), strict=True)
    return tuple(
        None if reach is None else linear(size, stride, (reach - 1) * dilation + 1 - stride - padding)
        for size, reach, stride, dilation, padding in columns
    )


@rule("linear")
def linear_layer(op: Arguments) -> Sequence[Type]:
    """Return `x` with its last dimension replaced by the first of the weight."""
    (*rest, last), (outputs, inputs) = op.shape("x", least=1), op.shape("weight", 2)
    if last is not None and inputs is not None and last != inputs:
        raise Conflict(f"the last dimension of x is {last}, the weight takes {inputs}")
    return tensor(op.tensor("x").dtype, *rest, outputs)


@rule("matmul")
def matmul(op: Arguments) -> Sequence[Type]:
    """Return the product of the last two dimensions, the others broadcast; a vector `x` stands for one row."""
    x, y = op.tensor("x"), op.tensor("y")
    if x.dtype != y.dtype or not x.shape or len(y.shape) < 2:
        raise Unknown
    if len(x.shape) == 1 and len(y.shape) > 2:
        raise Unknown  # coremltools drops the first dimension there, not the row
    left = x.shape if len(x.shape) > 1 else (1, *x.shape)
    *x_rest, rows, inner = _transposed(left, op.scalar("transpose_x", bool, False))
    *y_rest, depth, columns = _transposed(y.shape, op.scalar("transpose_y", bool, False))
    if inner is not None and depth is not None and inner != depth:
        raise Conflict(f"the inner dimensions of {show(x.shape)} and {show(y.shape)} differ: {inner} and {depth}")
    sizes = (*broadcast(tuple(x_rest), tuple(y_rest)), rows, columns)
    return tensor(x.dtype, *(sizes if len(x.shape) > 1 else (*sizes[:-2], columns)))


def _transposed(shape: Shape, swap: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


@rule("einsum")
def einsum(op: Arguments) -> Sequence[Type]:
    """Return the dimensions that the letters after `->` stand for."""
    values = op.tensors("values")
    given, arrow, result = op.scalar("equation", str).replace(" ", "").partition("->")
    terms = given.split(",")
    if (
        not arrow
        or list(map(len, terms)) != [len(value.shape) for value in values]
        or not {*result} <= {*"".join(terms)}
    ):
        raise Unknown
    sizes: dict[str, Shape] = {}
    for term, value in zip(terms, values, strict=True):
        for letter, size in zip(term, value.shape, strict=True):
            sizes[letter] = broadcast(sizes.get(letter, (size,)), (size,))
    return tensor(values[0].dtype, *(sizes[letter][0] for letter in result))


@rule("scaled_dot_product_attention")
def attention(op: Arguments) -> Sequence[Type]:
    """Return `query` with the last dimension of `value`."""
    *rest, _ = op.shape("query", least=1)
    return tensor(op.tensor("query").dtype, *rest, op.shape("value", least=1)[-1])


@rule("rnn", "gru")
def recurrent(op: Arguments) -> Sequence[Type]:
    """Return the outputs, all or the last, and the state."""
    return _states(op, op.shape("weight_hh", 2)[1])[:2]


@rule("lstm")
def lstm(op: Arguments) -> Sequence[Type]:
    """Return the outputs, all or the last, and the two states; both directions side by side."""
    both = op.scalar("direction", str, "forward") == "bidirectional"
    return _states(op, linear(op.shape("weight_hh", 2)[1], 2 if both else 1))


def _states(op: Arguments, hidden: Dimension) -> list[Type]:
    length, batch, _ = op.shape("x", 3)
    dtype = op.tensor("x").dtype
    outputs = length if op.scalar("output_sequence", bool, False) else 1
    state = TensorType(dtype, (batch, hidden))
    return [TensorType(dtype, (outputs, batch, hidden)), state, state]


# ---- images, whose height and width are the last two dimensions


@rule("upsample_nearest_neighbor", "upsample_bilinear")
def upsample(op: Arguments) -> Sequence[Type]:
    """Return height and width times their factors (1 by default), rounded down."""
    *rest, h, w = op.shape("x", least=2)
    h, w = _scaled(op, h, "scale_factor_height"), _scaled(op, w, "scale_factor_width")
    return tensor(op.tensor("x").dtype, *rest, h, w)


def _scaled(op: Arguments, size: Dimension, name: str) -> Dimension:
    """Return a size times the factor that a parameter says."""
    factor = finite(op.single(name)) if op.has(name) else 1
    if factor is None:
        raise Unknown
    return None if size is None else whole(size * factor, math.floor)


@rule("resize_nearest_neighbor", "resize_bilinear")
def resize_to_size(op: Arguments) -> Sequence[Type]:
    """Return the height and width given (1 by default for the bilinear one)."""
    default = 1 if op.op_type == "resize_bilinear" else None
    *rest, _, _ = op.shape("x", least=2)
    size = [op.scalar(name, int, default) for name in ("target_size_height", "target_size_width")]
    return tensor(op.tensor("x").dtype, *rest, *size)


@rule("resize")
def resize(op: Arguments) -> Sequence[Type]:
    """Return the last `resized_dims` dimensions as `shape` ends; 0 keeps one."""
    x, sizes, resized = op.tensor("x"), op.sizes("shape"), op.scalar("resized_dims", int)
    if not 0 <= resized <= min(len(sizes), len(x.shape)):
        raise Unknown
    kept = len(x.shape) - resized
    pairs = zip(sizes[len(sizes) - resized :], x.shape[kept:], strict=True)
    return tensor(x.dtype, *x.shape[:kept], *(old if new == 0 else new for new, old in pairs))


@rule("crop_resize")
def crop_resize(op: Arguments) -> Sequence[Type]:
    """Return a picture of the size given (1 by default) for each region, and before ios17 also for each picture."""
    n, c, _, _ = op.shape("x", 4)
    size = op.scalar("target_height", int, 1), op.scalar("target_width", int, 1)
    dtype = op.tensor("x").dtype
    if op.has("boxes"):
        return tensor(dtype, op.shape("boxes", least=1)[0], c, *size)
    return tensor(dtype, op.shape("roi", least=1)[0], n, c, *size)


@rule("affine")
def affine(op: Arguments) -> Sequence[Type]:
    """Return batch and channels, and the height and width given."""
    n, c, _, _ = op.shape("x", 4)
    return tensor(op.tensor("x").dtype, n, c, op.scalar("output_height", int), op.scalar("output_width", int))


@rule("resample")
def resample(op: Arguments) -> Sequence[Type]:
    """Return batch and channels, and the height and width of the coordinates."""
    n, c, _, _ = op.shape("x", 4)
    _, h, w, _ = op.shape("coordinates", 4)
    return tensor(op.tensor("x").dtype, n, c, h, w)
