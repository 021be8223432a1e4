"""Rules for products of matrices, and for attention."""

from __future__ import annotations

from collections.abc import Sequence

from miltext.checking.inference.operands import Arguments, InputConflict, Unknown
from miltext.checking.inference.rules import broadcast, rule, tensor
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, Shape, TensorType, Type, compatible, show


@rule("linear")
def linear_layer(op: Arguments) -> Sequence[Type]:
    """Return `x` with its last dimension replaced by the first dimension of the weight."""
    return tensor(op.tensor("x").dtype, *op.shape("x", least=1)[:-1], op.shape("weight", 2)[0])


@rule("matmul")
def matmul(op: Arguments) -> Sequence[Type]:
    """Return the product of the last two dimensions, the others broadcast; vectors are one row or one column."""
    x, y = op.shape("x", least=1), op.shape("y", least=1)
    *x_rest, rows, inner = left = _factor(op, "x")
    *y_rest, depth, columns = right = _factor(op, "y")
    if not compatible(inner, depth):
        clause = f"has {depth} rows, and `x` has {inner} columns: {show(left)} times {show(right)}"
        raise InputConflict(clause, "y", *op.given("x", "transpose_x", "transpose_y"), code=codes.WRONG_ARGUMENT_SHAPE)
    try:
        rest = broadcast(tuple(x_rest), tuple(y_rest))
    except InputConflict:
        clause = f"does not broadcast with `x`: {show(left)} times {show(right)}"
        raise InputConflict(clause, "y", "x", code=codes.WRONG_ARGUMENT_SHAPE) from None
    sizes = _by_a_row(rest) if len(x) == 1 else (*rest, rows)
    return tensor(_dtype(op), *sizes, *([columns] if len(y) > 1 else []))


def _factor(op: Arguments, name: str) -> Shape:
    """Return the shape of a factor in the multiplication, of rank 2 or more."""
    shape, swap = op.shape(name, least=1), op.scalar(f"transpose_{name}", bool, False)
    if len(shape) > 1:
        return (*shape[:-2], shape[-1], shape[-2]) if swap else shape
    if swap:
        raise InputConflict(
            f"is true, and `{name}` is a vector", f"transpose_{name}", name, code=codes.VALUE_OUT_OF_RANGE
        )
    return (1, *shape) if name == "x" else (*shape, 1)


def _by_a_row(rest: Shape) -> Shape:
    """Return the dimensions of a product by a vector `x` before its columns, None where versions of coremltools differ.

    Since 9.1 the row for `x` is removed, as in NumPy; 9.0 removes the first dimension instead.
    """
    return tuple(new if new == old else None for new, old in zip(rest, (*rest, 1)[1:], strict=True))


def _dtype(op: Arguments) -> str:
    """Return the data type of a product: the common one, or from ios17 on the type of the non-constant factor."""
    x, y = op.all("x")[0], op.all("y")[0]
    first, second = op.tensor("x").dtype, op.tensor("y").dtype
    if first == second:
        return first
    if x.constant != y.constant:
        return first if y.constant else second
    if x.constant:
        raise Unknown
    clause = f"is {second}, but `x` is {first}: they must be of one data type, unless one of them is a constant"
    raise InputConflict(clause, "y", "x", code=codes.DTYPES_DIFFER)


EQUATIONS = {3: "chw,whu->chu", 4: "nchw,nwhu->nchu"}
"""The supported products, by rank (iOS15/linear.py), with any letters."""


@rule("einsum")
def einsum(op: Arguments) -> Sequence[Type]:
    """Return the product of the two values by the equation, with other dimensions broadcast."""
    count = op.count("values")
    if count != 2:
        raise InputConflict(f"takes two tensors, not {count}", "values", place=max(0, min(count - 1, 2)))
    first, second = op.tensors("values")
    _hold_equation(op, first, second)
    x, y = first.shape, second.shape
    if first.dtype != second.dtype:
        clause = f"are {first.dtype} and {second.dtype}: they must be of one data type"
        raise InputConflict(clause, "values", code=codes.DTYPES_DIFFER, place=1)
    (*n, c, h, w), (*_, depth, _, u) = x, y
    if not compatible(w, depth):
        raise _clash_of_values(w, depth, x, y)
    (h,) = _batch(h, y[-2], x, y)
    return tensor(first.dtype, *(_batch(n[0], y[0], x, y) if n else ()), c, h, u)


def _hold_equation(op: Arguments, *values: TensorType) -> None:
    """Require a supported equation, and values of its ranks. Raise InputConflict."""
    for place, value in enumerate(values):
        if len(value.shape) not in EQUATIONS:
            clause = f"takes two tensors of rank 3 or 4, not of shape {show(value.shape)}"
            raise InputConflict(clause, "values", code=codes.WRONG_ARGUMENT_RANK, place=place)
    ranks = [len(value.shape) for value in values]
    if ranks[0] != ranks[1]:
        raise InputConflict(
            f"takes two tensors of one rank, not of ranks {ranks[0]} and {ranks[1]}",
            "values",
            code=codes.WRONG_ARGUMENT_RANK,
            place=1,
        )
    equation = op.scalar("equation", str)
    rank = next((rank for rank, known in EQUATIONS.items() if _numbered(equation) == _numbered(known)), None)
    if rank is None:
        forms = " or ".join(f'"{known}"' for known in EQUATIONS.values())
        raise InputConflict(f'takes {forms}, with any letters, not "{equation}"', "equation", code=codes.WRONG_EQUATION)
    if rank != ranks[0]:
        clause = f'is "{equation}", for tensors of rank {rank}, but `values` are of rank {ranks[0]}'
        raise InputConflict(clause, "equation", "values", code=codes.WRONG_EQUATION)


def _numbered(equation: str) -> list[int | str]:
    """Return an equation with a number for each letter: the place of its first occurrence."""
    return [letter if letter in ",->" else equation.index(letter) for letter in equation]


def _batch(first: Dimension, second: Dimension, x: Shape, y: Shape) -> Shape:
    try:
        return broadcast((first,), (second,))
    except InputConflict:
        raise _clash_of_values(first, second, x, y) from None


def _clash_of_values(first: Dimension, second: Dimension, x: Shape, y: Shape) -> InputConflict:
    clause = f"do not match, {first} and {second} differ: {show(x)} and {show(y)}"
    return InputConflict(clause, "values", code=codes.WRONG_ARGUMENT_SHAPE, place=1)


@rule("scaled_dot_product_attention")
def attention(op: Arguments) -> Sequence[Type]:
    """Return `query` with the last dimension of `value`; the mask broadcasts with both of their lengths."""
    *rest, _ = op.shape("query", least=1)
    if op.has("attn_mask"):
        _hold_mask(op, tuple(rest))
    return tensor(op.tensor("query").dtype, *rest, op.shape("value", least=1)[-1])


def _hold_mask(op: Arguments, rest: Shape) -> None:
    mask = op.shape("attn_mask", least=1)
    try:
        broadcast(rest, mask[:-1])
    except InputConflict:
        must = show((*rest, op.shape("key", least=2)[-2]))
        clause = f"must broadcast to {must}, and is of shape {show(mask)}"
        raise InputConflict(clause, "attn_mask", "query", "key", code=codes.WRONG_ARGUMENT_SHAPE) from None
