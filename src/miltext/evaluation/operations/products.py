"""Rules for products of matrices, and for attention."""

from __future__ import annotations

from math import prod

import numpy as np

from miltext.evaluation.operations.windows import WORKING_ELEMENTS, blocks
from miltext.evaluation.rules import Array, Arrays, Held, Multiply, Widen, rule


@rule("linear")
def linear(x: Array, weight: Held, bias: Array | None, widen: Widen, multiply: Multiply | None) -> Array:
    """Return the product of `x` and `weight` over their last axes, plus `bias`.

    The weight is widened by blocks of rows: a large fp16 weight is never converted to float32 as a whole.
    """
    if multiply is not None:
        made = multiply(x.reshape(-1, x.shape[-1]), weight.T, bias)
        return made.reshape(*x.shape[:-1], len(weight))
    x, weight = in_order(x), in_order(weight)
    if x.dtype == weight.dtype or weight.size <= WORKING_ELEMENTS:
        made = _product(x, widen(weight).T)
    else:
        made = np.empty((*x.shape[:-1], weight.shape[0]), np.result_type(x, weight))
        for (rows,) in blocks(weight.shape[:1], WORKING_ELEMENTS // max(1, weight.shape[1])):
            made[..., rows] = _product(x, widen(weight[rows]).T)
    if bias is not None:
        fits = bias.dtype == made.dtype or np.can_cast(
            bias.dtype, made.dtype, "same_kind"
        )  # not a bias of fractions for products of integers
        made = np.add(made, bias, out=made if fits else None)
    return made


@rule("matmul")
def matmul(x: Array, y: Array, transpose_x: bool, transpose_y: bool, multiply: Multiply | None) -> Array:
    """Return the products of matrices in the last two axes; the others broadcast, and a vector is one row or column."""
    if transpose_x and x.ndim > 1:
        x = x.swapaxes(-1, -2)
    if transpose_y and y.ndim > 1:
        y = y.swapaxes(-1, -2)
    if multiply is not None:
        return _multiplied(x, y, multiply)
    return _product(in_order(x), in_order(y))


@rule("einsum")
def einsum(values: Arrays, multiply: Multiply | None) -> Array:
    """Return the product nchw,nwhu->nchu, or chw,whu->chu; n and h broadcast.

    coremltools and `check` allow no other equations, so the ranks determine which one it is.
    """
    x, y = values
    rows, columns = x.swapaxes(-3, -2), y.swapaxes(-3, -2)
    made: Array = in_order(rows) @ in_order(columns) if multiply is None else multiply(rows, columns, None)
    return made.swapaxes(-3, -2)


@rule("scaled_dot_product_attention")
def attention(query: Array, key: Array, value: Array, attn_mask: Array | None) -> Array:
    """Return softmax(query key^T / sqrt(E) + mask) value, where E is the size of the last axis of `query`.

    A `mask` of bools excludes the false places. The scores are computed and used block by block.
    """
    *rest, lengths, width = query.shape
    keys, values = (np.broadcast_to(each, (*rest, *each.shape[-2:])) for each in (key.swapaxes(-1, -2), value))
    made = np.empty((*rest, lengths, value.shape[-1]), np.result_type(query, key, value))
    mask = None if attn_mask is None else np.broadcast_to(attn_mask, (*rest, lengths, key.shape[-2]))
    for block in blocks((*rest, lengths), WORKING_ELEMENTS // max(1, key.shape[-2])):
        scores = (query[block] * width**-0.5) @ keys[block[:-1]]
        if mask is not None:
            scores = _masked(scores, mask[block])
        scores -= scores.max(axis=-1, keepdims=True, initial=-np.inf)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        made[block] = scores @ values[block[:-1]]
    return made


def _masked(scores: Array, mask: Array) -> Array:
    if mask.dtype == np.bool_:
        scores[~mask] = -np.inf
        return scores
    return scores + mask


def in_order(array: Array) -> Array:
    """Return an array whose elements are in order in memory.

    BLAS adds in another order for a transposed array, so without this, a product would depend on how its arguments were
    made, and not on their values alone.
    """
    return np.ascontiguousarray(array) if array.ndim else array


def _multiplied(x: Array, y: Array, multiply: Multiply) -> Array:
    """Return x @ y in a device's arithmetic; a vector is one row or column."""
    made = multiply(x[None] if x.ndim == 1 else x, y[:, None] if y.ndim == 1 else y, None)
    return np.squeeze(made, (-2,) * (x.ndim == 1) + (-1,) * (y.ndim == 1))


def _product(x: Array, y: Array) -> Array:
    """Return x @ y; all rows of `x` at once where `y` is one matrix."""
    if y.ndim != 2 or x.ndim < 3 or not x.flags.c_contiguous:
        made: Array = np.matmul(x, y)
        return made
    return (x.reshape(prod(x.shape[:-1]), x.shape[-1]) @ y).reshape(*x.shape[:-1], y.shape[-1])
