"""Rules for convolution, pooling, products of matrices, attention and recurrence."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, Conflict, Unknown
from miltext.checking.inference.rules import broadcast, linear, rule, show, tensor
from miltext.checking.inference.value_types import Dimension, Shape, TensorType, Type


@rule("conv", "conv_quantized")
def conv(op: Arguments) -> Sequence[Type]:
    """Batch, the weight's output channels, and the spatial dimensions as padding, strides and dilations leave them."""
    x, weight = op.tensor("x"), op.shape("weight")
    n, c, *spatial = x.shape
    outputs, inputs, *kernel = weight
    groups = op.value("groups", 1, least=1)
    if op.op_type == "conv" and c is not None and inputs is not None and c != inputs * groups:
        raise Conflict(f"x has {c} channels, the weight {show(weight)} takes {inputs * groups} in {groups} group(s)")
    dilations = op.vector("dilations", (1,) * len(spatial), least=1)
    reach = [linear(size, dilation, 1 - dilation) for size, dilation in zip(kernel, dilations, strict=True)]
    return tensor(x.dtype, n, outputs, *_windows(op, spatial, reach, "valid"))


@rule("max_pool", "avg_pool", "l2_pool")
def pool(op: Arguments) -> Sequence[Type]:
    """Batch and channels, and the spatial dimensions as padding and strides leave them."""
    x = op.tensor("x")
    n, c, *spatial = x.shape
    return tensor(x.dtype, n, c, *_windows(op, spatial, op.vector("kernel_sizes", least=1), None))


def _windows(op: Arguments, spatial: Sequence[Dimension], kernel: Sequence[Dimension], pad_type: str | None) -> Shape:
    strides = op.vector("strides", (1,) * len(spatial), least=1)
    padding, ceil = op.value("pad_type", pad_type).lower(), op.value("ceil_mode", False)
    if padding in ("same", "same_lower"):
        columns = zip(spatial, strides, kernel, strict=True)
        return tuple(None if size is None or ceil else -(-size // stride) for size, stride, _ in columns)
    amounts = _paddings(op, padding, len(spatial))
    return tuple(_fitting(*column, ceil) for column in zip(spatial, kernel, strides, amounts, strict=True))


def _paddings(op: Arguments, pad_type: str, rank: int) -> list[int]:
    """How much is added to each spatial dimension, before and after it."""
    if pad_type not in ("valid", "custom"):
        raise Unknown
    pads = op.vector("pad", (0,) * 2 * rank) if pad_type == "custom" else (0,) * 2 * rank
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
    """Batch, the weight's output channels, and what a convolution of the same parameters would have come from."""
    x, weight = op.tensor("x"), op.shape("weight")
    if op.has("output_shape"):
        return tensor(x.dtype, *op.vector("output_shape"))
    n, _, *spatial = x.shape
    _, outputs, *kernel = weight
    sizes = _spread(op, spatial, kernel, op.value("pad_type", "valid"))
    return tensor(x.dtype, n, linear(outputs, op.value("groups", 1, least=1)), *sizes)


def _spread(op: Arguments, spatial: Sequence[Dimension], kernel: Sequence[Dimension], pad_type: str) -> Shape:
    ones = (1,) * len(spatial)
    strides, dilations = op.vector("strides", ones, least=1), op.vector("dilations", ones, least=1)
    if pad_type == "same":
        return tuple(linear(size, stride) for size, stride in zip(spatial, strides, strict=True))
    columns = zip(spatial, kernel, strides, dilations, _paddings(op, pad_type, len(spatial)), strict=True)
    return tuple(
        None if reach is None else linear(size, stride, (reach - 1) * dilation + 1 - stride - padding)
        for size, reach, stride, dilation, padding in columns
    )


@rule("linear")
def linear_layer(op: Arguments) -> Sequence[Type]:
    """`x` with its last dimension replaced by the first of the weight."""
    x, (outputs, inputs) = op.tensor("x"), op.shape("weight", 2)
    if x.shape[-1] is not None and inputs is not None and x.shape[-1] != inputs:
        raise Conflict(f"the last dimension of x is {x.shape[-1]}, the weight takes {inputs}")
    return tensor(x.dtype, *x.shape[:-1], outputs)


@rule("matmul")
def matmul(op: Arguments) -> Sequence[Type]:
    """The product of the last two dimensions, the others broadcast; a vector `x` stands for one row."""
    x, y = op.tensor("x"), op.tensor("y")
    if x.dtype != y.dtype or not x.shape or len(y.shape) < 2:
        raise Unknown
    if len(x.shape) == 1 and len(y.shape) > 2:
        raise Unknown  # coremltools drops the first dimension there, not the row
    left = x.shape if len(x.shape) > 1 else (1, *x.shape)
    *x_rest, rows, inner = _transposed(left, op.value("transpose_x", False))
    *y_rest, depth, columns = _transposed(y.shape, op.value("transpose_y", False))
    if inner is not None and depth is not None and inner != depth:
        raise Conflict(f"the inner dimensions of {show(x.shape)} and {show(y.shape)} differ: {inner} and {depth}")
    sizes = (*broadcast(tuple(x_rest), tuple(y_rest)), rows, columns)
    return tensor(x.dtype, *(sizes if len(x.shape) > 1 else (*sizes[:-2], columns)))


def _transposed(shape: Shape, swap: bool) -> Shape:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape


@rule("einsum")
def einsum(op: Arguments) -> Sequence[Type]:
    """The dimensions that the letters after `->` stand for."""
    values = op.tensors("values")
    given, arrow, result = op.value("equation").replace(" ", "").partition("->")
    terms = given.split(",")
    if not arrow:
        raise Unknown
    sizes: dict[str, Shape] = {}
    for term, value in zip(terms, values, strict=True):
        for letter, size in zip(term, value.shape, strict=True):
            sizes[letter] = broadcast(sizes.get(letter, (size,)), (size,))
    return tensor(values[0].dtype, *(sizes[letter][0] for letter in result))


@rule("scaled_dot_product_attention")
def attention(op: Arguments) -> Sequence[Type]:
    """`query` with the last dimension of `value`."""
    query = op.tensor("query")
    return tensor(query.dtype, *query.shape[:-1], op.shape("value")[-1])


@rule("rnn", "gru")
def recurrent(op: Arguments) -> Sequence[Type]:
    """The outputs, all or the last, and the state."""
    return _states(op, op.shape("weight_hh", 2)[1])[:2]


@rule("lstm")
def lstm(op: Arguments) -> Sequence[Type]:
    """The outputs, all or the last, and the two states; both directions side by side."""
    both = op.value("direction", "forward") == "bidirectional"
    return _states(op, linear(op.shape("weight_hh", 2)[1], 2 if both else 1))


def _states(op: Arguments, hidden: Dimension) -> list[Type]:
    length, batch, _ = op.shape("x", 3)
    dtype = op.tensor("x").dtype
    outputs = length if op.value("output_sequence", False) else 1
    state = TensorType(dtype, (batch, hidden))
    return [TensorType(dtype, (outputs, batch, hidden)), state, state]
