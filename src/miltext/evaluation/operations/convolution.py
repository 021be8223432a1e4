"""Rules for convolution and transposed convolution."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import gcd, prod
from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.operations.depthwise import by_rows, has_rows
from miltext.evaluation.operations.windows import WORKING_ELEMENTS, Sliding, blocks, every, seen, sliding
from miltext.evaluation.rules import Array, Held, Index, Ints, Multiply, UnfitValues, rule

if TYPE_CHECKING:
    import numpy.typing as npt


@rule("conv")
def conv(
    x: Held,
    weight: Array,
    bias: Array | None,
    strides: Ints | None,
    pad_type: str,
    pad: Ints | None,
    dilations: Ints | None,
    groups: int,
    multiply: Multiply | None = None,
) -> Held:
    """Return y[n, o, p] = bias[o] + the sum over c and k of weight[o, c, k] x[n, g C + c, p stride + k dilation - pad].

    `weight` is [outputs, C, *kernel], where C are the channels of a group, and g is the group of o. Elements outside of
    `x` are zeros.
    """
    return convolved(x, weight, bias, (strides, dilations, pad_type, pad), groups, multiply, x.dtype)


def convolved(
    x: Held,
    weight: Array,
    bias: Array | None,
    moves: tuple[Ints | None, Ints | None, str, Ints | None],
    groups: int,
    multiply: Multiply | None,
    dtype: npt.DTypeLike,
) -> Held:
    """Return a convolution as `dtype`; `moves` are the strides, the dilations, and the padding as word and numbers."""
    windows = sliding(x.shape[2:], weight.shape[2:], *moves)
    out = np.empty((x.shape[0], weight.shape[0], *(each.places for each in windows)), dtype)
    _convolve(x, weight, bias, windows, groups, out, multiply)
    return out


@rule("conv_quantized")
def conv_quantized(
    x: Held,
    weight: Array,
    bias: Array | None,
    quantization_type: str,
    quant_scale: Array,
    quant_bias: Array,
    strides: Ints | None,
    pad_type: str,
    pad: Ints | None,
    dilations: Ints | None,
    groups: int,
) -> Held:
    """Return the convolution with the weight weight * quant_scale + quant_bias, both for each output.

    coremltools states this formula, but not the place of the table for a weight of indices ("lut").
    """
    if quantization_type != "linear":
        raise UnfitValues(f'`quantization_type` is "{quantization_type}", of which only "linear" is defined')
    each = (-1, *(1,) * (weight.ndim - 1))
    scale, offset = (values.reshape(each) if values.ndim <= 1 else values for values in (quant_scale, quant_bias))
    dequantized = weight.astype(scale.dtype) * scale + offset
    made: Held = conv(x, dequantized, bias, strides, pad_type, pad, dilations, groups)
    return made


@rule("conv_transpose")
def conv_transpose(
    x: Held,
    weight: Array,
    bias: Array | None,
    pad: Ints | None,
    output_shape: Ints | None,
    pad_type: str,
    strides: Ints | None,
    dilations: Ints | None,
    groups: int,
    multiply: Multiply | None,
) -> Held:
    """Return y[n, o, q] = bias[o] + the sum of weight[c, o, k] x[n, c, p] where q = p stride + k dilation - pad.

    `weight` is [inputs, outputs of a group, *kernel]. Outputs with the same remainder by `stride` are computed
    together: they are a convolution of `x` by every `stride`-th element of the reversed kernel.
    """
    rank = x.ndim - 2
    kernel, ones = weight.shape[2:], (1,) * rank
    strides, dilations = strides or ones, dilations or ones
    sizes = zip(x.shape[2:], kernel, strides, dilations, strict=True)
    whole = [(size - 1) * stride + (reach - 1) * dilation + 1 for size, reach, stride, dilation in sizes]
    counts, before = _left(whole, x.shape[2:], strides, pad_type, pad, output_shape)
    turned = _turned(weight, groups)
    out = np.empty((x.shape[0], turned.shape[0], *counts), x.dtype)
    for remainders in product(*map(range, strides)):
        axes = zip(remainders, x.shape[2:], kernel, strides, dilations, before, counts, strict=True)
        taps, windows = zip(*(_phase(*axis) for axis in axes), strict=True)
        chosen: Index = (..., *taps)
        places: Index = (..., *map(slice, remainders, counts, strides))
        _convolve(x, turned[chosen], bias, windows, groups, out[places], multiply)
    return out


def _left(
    whole: Sequence[int],
    sizes: Sequence[int],
    strides: Ints,
    pad_type: str,
    pad: Ints | None,
    output_shape: Ints | None,
) -> tuple[Sequence[int], Sequence[int]]:
    """Return the size of the output, and the number of omitted elements before it in the full result."""
    if pad_type == "custom":
        pads = pad or (0, 0) * len(sizes)
        before = pads[::2]
        counts = [size - sum(pads[2 * axis : 2 * axis + 2]) for axis, size in enumerate(whole)]
        return (output_shape[2:] if output_shape else counts), before
    if output_shape:
        counts = list(output_shape[2:])
    elif pad_type == "same":
        counts = [size * stride for size, stride in zip(sizes, strides, strict=True)]
    else:
        return whole, (0,) * len(sizes)
    return counts, [max(0, size - count) // 2 for size, count in zip(whole, counts, strict=True)]


def _turned(weight: Array, groups: int) -> Array:
    """Return the weight of a transposed convolution as [outputs, inputs of a group, *kernel], with the kernel
    reversed.
    """
    inputs, outputs, *kernel = weight.shape
    split = weight.reshape(groups, inputs // groups, outputs, *kernel).swapaxes(1, 2)
    return np.flip(split.reshape(groups * outputs, inputs // groups, *kernel), tuple(range(2, weight.ndim)))


def _phase(
    remainder: int, size: int, kernel: int, stride: int, dilation: int, before: int, count: int
) -> tuple[slice, Sliding]:
    """Return the elements of the reversed kernel, and the windows, that compute every `stride`-th output from
    `remainder` on.
    """
    common = gcd(stride, dilation)
    start, wanted = divmod(remainder + before, stride)
    taps = [place for place in range(kernel) if (place * dilation - wanted) % stride == 0]
    outputs = max(0, -((remainder - count) // stride))
    if not taps:
        return slice(0, 0), Sliding(size, 0, 1, 1, 0, outputs, size)
    farthest = (taps[-1] * dilation - wanted) // stride
    chosen = slice(kernel - 1 - taps[-1], None, stride // common)
    return chosen, Sliding(size, len(taps), 1, dilation // common, farthest - start, outputs, size)


def _convolve(
    x: Held,
    weight: Array,
    bias: Array | None,
    windows: Sequence[Sliding],
    groups: int,
    out: Held,
    multiply: Multiply | None = None,
) -> None:
    """Convolve `x` by `weight` into `out`, a block of outputs at a time to save memory."""
    if not out.size:
        return
    if 0 in weight.shape[2:]:
        out[...] = 0 if bias is None else bias.reshape(-1, *(1,) * len(windows))
    elif weight.shape[1] == 1 and groups > 1 and multiply is None:
        if not (has_rows(x, weight) and by_rows(x, weight, bias, windows, out)):
            _by_channel(x, weight, bias, windows, groups, out)
    else:
        _by_products(x, weight, bias, windows, groups, out, multiply)


def _by_products(
    x: Held,
    weight: Array,
    bias: Array | None,
    windows: Sequence[Sliding],
    groups: int,
    out: Held,
    multiply: Multiply | None,
) -> None:
    """Convolve by products of the weight and of each window's elements, a column of a matrix for each window."""
    outputs, channels, *kernel = weight.shape
    rows = weight.reshape(groups, outputs // groups, channels * prod(kernel))
    grouped = x.reshape(x.shape[0], groups, channels, *x.shape[2:])
    dtype = np.result_type(x, weight)
    each = max(1, outputs, groups * rows.shape[2])
    for batch, *block in blocks((x.shape[0], *out.shape[2:]), WORKING_ELEMENTS // each):
        columns = np.moveaxis(seen(grouped[batch], windows, block, dtype), 0, 2 + len(kernel))
        matrices = columns.reshape(groups, rows.shape[2], prod(columns.shape[2 + len(kernel) :]))
        starts = None if bias is None else bias.reshape(groups, -1, 1)
        if multiply is not None:
            made = multiply(rows, matrices, starts)
        else:
            made = rows @ matrices
            if starts is not None:
                made += starts
        places: Index = (batch, slice(None), *block)
        target = out[places]
        target[...] = made.reshape(outputs, target.shape[0], *target.shape[2:]).swapaxes(0, 1)


def _by_channel(x: Held, weight: Array, bias: Array | None, windows: Sequence[Sliding], groups: int, out: Held) -> None:
    """Convolve each channel by kernels of its own, by products of these and of the inputs of each kernel element.

    In a flat copy of the channel with padding, separated by the remainders of the strides, these inputs are adjacent.
    The sums at the end of each row are unused.
    """
    several, kernel, (_, *counts) = weight.shape[0] // groups, weight.shape[2:], out.shape[1:]
    rows = weight.reshape(groups, several, prod(kernel))
    target = out.reshape(x.shape[0], groups, several, *counts)
    for batch, channels, *block in blocks((x.shape[0], groups, *counts), WORKING_ELEMENTS // prod(kernel)):
        here = [each.among(places) for each, places in zip(windows, block, strict=True)]
        sizes = [each.places + (each.kernel - 1) * each.dilation // each.stride for each in here]
        columns = _runs(x[batch, channels], here, sizes, np.result_type(x, weight))
        sums = np.empty((*columns.shape[:2], several, here[0].places * prod(sizes[1:])), columns.dtype)
        np.matmul(rows[channels], columns, out=sums[..., : columns.shape[3]])
        if bias is not None:
            sums += bias.reshape(groups, several, 1)[channels]
        wanted: Index = (..., *(slice(each.places) for each in here))
        places: Index = (batch, channels, slice(None), *block)
        target[places] = sums.reshape(*sums.shape[:3], here[0].places, *sizes[1:])[wanted]


def _runs(x: Held, windows: Sequence[Sliding], sizes: Sequence[int], dtype: np.dtype[np.generic]) -> Array:
    """Return the adjacent inputs of each kernel element in rows of these sizes: [batch, channels, elements, length]."""
    kernel = [each.kernel for each in windows]
    steps = [prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    length = sum((each.places - 1) * step for each, step in zip(windows, steps, strict=True)) + 1
    runs = np.empty((*x.shape[:2], prod(kernel), length), dtype)
    laid: dict[tuple[int, ...], Array] = {}
    for place, taps in enumerate(np.ndindex(*kernel)):
        both = [divmod(tap * each.dilation, each.stride) for tap, each in zip(taps, windows, strict=True)]
        remainders = tuple(remainder for _, remainder in both)
        if remainders not in laid:
            laid[remainders] = every(x, windows, remainders, sizes, dtype)
        start = sum(offset * step for (offset, _), step in zip(both, steps, strict=True))
        runs[:, :, place] = laid[remainders][..., start : start + length]
    return runs
