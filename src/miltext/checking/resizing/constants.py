"""Constants beside values with changed sizes: tensors of the old sizes, and numbers computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from miltext.checking.inference.operands import number
from miltext.checking.resizing.facts import Follow, Resized, SizeChange, follows
from miltext.checking.resizing.numbers import form_of
from miltext.diagnostics import codes
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.schema.packing import Array

BROADCAST = (
    *("add", "sub", "mul", "real_div", "floor_div", "mod", "maximum", "minimum", "pow"),
    *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"),
    *("logical_and", "logical_or", "logical_xor", "select"),
)
"""Operations whose inputs are broadcast to one shape."""

OF_NUMBERS = (
    *("add", "sub", "mul", "real_div", "floor_div", "mod", "pow", "maximum", "minimum", "select"),
    *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"),
)
"""Operations with broadcast inputs whose numbers may have been computed from a size."""

NUMBERS = {
    "band_part": ("lower", "upper"),
    "clamped_relu": ("alpha", "beta"),
    "clip": ("alpha", "beta"),
    "elu": ("alpha",),
    "leaky_relu": ("alpha",),
    "linear_activation": ("alpha", "beta"),
    "scaled_tanh": ("alpha", "beta"),
    "sliding_windows": ("size",),
    "thresholded_relu": ("alpha",),
}
"""Parameters of other operations that may be computed from a size: a bound, a factor, a distance."""

SLOPES = frozenset({0.01, 0.1, 0.2, 0.25, 0.3})
"""Usual factors of activations, which are not functions of a size."""

ACTIVATIONS = ("elu", "leaky_relu", "scaled_tanh")
"""The operations of NUMBERS whose factors are kept, for they hardly ever depend on a size; the others are reported."""

MOST = 1 << 22
"""The greatest number of elements of a recomputed array."""


@follows(*BROADCAST)
def broadcast(op: Resized) -> Iterator[Follow]:
    """Update constants whose shape no longer matches the operands beside them, and numbers computed from a size."""
    wanted = _broadcast_changes(op)
    for name, operands in op.operands.items():
        operand = operands[0] if operands else None
        if operand is None or not operand.constant or not isinstance(operand.type, TensorType):
            continue
        shape = operand.type.shape
        if all(size == 1 for size in shape):
            if op.op_type in OF_NUMBERS:
                yield from _number(op, name)
            continue
        axes = {len(shape) + back: change for back, change in wanted.items() if -back <= len(shape)}
        held = {axis: change for axis, change in axes.items() if shape[axis] == change.before > 1}
        yield from _array(op, name, 0, held)


@follows(*NUMBERS)
def numbers(op: Resized) -> Iterator[Follow]:
    """Update parameters that may be functions of a size; a bound is usually the last position."""
    for name in NUMBERS[op.op_type]:
        yield from _number(op, name)


@follows("reverse_sequence")
def lengths(op: Resized) -> Iterator[Follow]:
    """Update `lengths` if they all equal the size of the axis; report them if only some do."""
    rows, axis, rank = op.row("lengths"), op.value("seq_axis"), len(op.shape("x") or ())
    change = op.changes("x").get(axis % rank) if type(axis) is int and rank else None
    if rows is None or change is None or change.before not in rows:
        return
    words = f"`lengths` of `reverse_sequence` contains {change.before}, which"
    depends = f"{words} depends on the changed size {change}"
    if {*rows} != {change.before}:
        yield Follow("lengths", codes.CONSTANT_MAY_FOLLOW, f"{words} may depend on the changed size {change}")
    elif change.now is None:
        yield Follow("lengths", codes.CONSTANT_CANNOT_FOLLOW, depends)
    else:
        elements = [change.now] * len(rows)
        yield Follow("lengths", codes.CONSTANT_RESIZED, f"{depends}; changed to {change.now}", elements, (len(rows),))


def _broadcast_changes(op: Resized) -> dict[int, SizeChange]:
    """Return the changed sizes of the broadcast operands, by axis from the back."""
    found: dict[int, SizeChange] = {}
    for name, operands in op.operands.items():
        for place in range(len(operands)):
            rank = len(op.shape(name, place) or ())
            found |= {axis - rank: change for axis, change in op.changes(name, place).items()}
    return found


def _number(op: Resized, name: str) -> Iterator[Follow]:
    """Update a number computed from a size of the operands beside it."""
    operand = op.operand(name)
    value = operand.value if operand is not None else None
    held = number(value[0] if isinstance(value, tuple) and len(value) == 1 else value)
    if held is None or operand is None or not isinstance(operand.type, TensorType):
        return
    form = form_of(held, operand.type.dtype, op.sizes)
    is_slope = op.op_type in ACTIVATIONS
    if form is None or form.now == held or (is_slope and round(abs(held), 4) in SLOPES):
        return
    words = f"`{name}` of `{op.op_type}` is {held:g}, which is {form.words}, and"
    depends = f"{words} depends on the changed size {form.change}"
    if is_slope or not form.is_sure:
        yield Follow(name, codes.CONSTANT_MAY_FOLLOW, f"{words} may depend on the changed size {form.change}")
    elif form.now is None:
        yield Follow(name, codes.CONSTANT_CANNOT_FOLLOW, depends)
    else:
        shape = tuple(size or 1 for size in operand.type.shape)
        now: float | int = round(form.now) if type(held) is int else form.now
        yield Follow(name, codes.CONSTANT_RESIZED, f"{depends}; changed to {now:g}", [now], shape)


def _array(op: Resized, name: str, place: int, axes: Mapping[int, SizeChange]) -> Iterator[Follow]:
    """Update an array at axes with changed sizes."""
    if not axes or any(change.before < 1 or change.now == 0 for change in axes.values()):
        return
    words = f"`{name}` of `{op.op_type}` was made for {_and(axes)}"
    if any(change.now is None for change in axes.values()):
        yield Follow(name, codes.CONSTANT_CANNOT_FOLLOW, words, place=place)
        return
    made = _made_anew(op.array(name, place), {axis: change.now or 0 for axis, change in axes.items()})
    if made is None:
        return  # it does not fit, which inference reports with its place
    array, pattern = made
    is_batch = all((axis, change.before) == (0, 1) for axis, change in axes.items())
    code, message = (None, "") if is_batch else (codes.CONSTANT_RESIZED, f"{words}; the new value is {pattern}")
    yield Follow(name, code, message, array.reshape(-1), array.shape, place)


def _and(axes: Mapping[int, SizeChange]) -> str:
    return " and ".join(f"{change} at axis {axis}" for axis, change in sorted(axes.items()))


def _made_anew(array: Array | None, axes: Mapping[int, int]) -> tuple[Array, str] | None:
    """Return an array with other sizes, and its description in words; None without a known pattern."""
    from miltext.checking.resizing.patterns import diagonal, remade

    if array is None or max(array.size, prod({**dict(enumerate(array.shape)), **axes}.values())) > MOST:
        return None
    for pair in combinations(sorted(axes), 2):
        made = diagonal(array, pair, (axes[pair[0]], axes[pair[1]]))
        if made is not None and len(axes) == len(pair):
            return made
    words: list[str] = []
    for axis, now in sorted(axes.items()):
        made = remade(array, axis, now)
        if made is None:
            return None
        array = made.array
        words.append(made.words)
    return array, " and ".join(dict.fromkeys(words))


@follows("concat", "stack")
def concat(op: Resized) -> Iterator[Follow]:
    """Update constants among `values` at all axes except the joined one."""
    count, axis = len(op.operands.get("values", ())), op.value("axis")
    changes: dict[int, SizeChange] = {}
    for place in range(count):
        changes |= op.changes("values", place)
    if type(axis) is not int:
        return
    for place, operand in enumerate(op.operands.get("values", ())):
        shape = op.shape("values", place) or ()
        joined = axis % len(shape) if shape and op.op_type == "concat" else None
        held = {
            at: each for at, each in changes.items() if at != joined and at < len(shape) and shape[at] == each.before
        }
        if operand.constant:
            yield from _array(op, "values", place, held)


@follows("gather")
def gather(op: Resized) -> Iterator[Follow]:
    """Update `indices` of a changed axis, if there is one for each position; report a possible last position."""
    axis, shape, indices = op.value("axis", 0), op.was("x"), op.operand("indices")
    if shape is None or type(axis) is not int or not -len(shape) <= axis < len(shape) or indices is None:
        return
    change = op.changes("x").get(axis % len(shape))
    if change is None or not indices.constant or not isinstance(indices.type, TensorType):
        return
    array = op.array("indices", 0)
    words = f"`indices` of `gather` refer to axis {axis % len(shape)}, whose size was {change.before}"
    if array is None or change.now is None or _is_flat(op, "x", axis):
        yield Follow("indices", codes.CONSTANT_CANNOT_FOLLOW, words)
    elif array.ndim == 1 and array.shape[0] == change.before > 1:
        made = _made_anew(array, {0: change.now})
        if made is None or made[1].startswith("the first"):
            yield Follow(
                "indices",
                codes.CONSTANT_CANNOT_FOLLOW,
                f"{words}, and is now {change.now}; write the indices to gather",
            )
        else:
            yield Follow(
                "indices",
                codes.CONSTANT_RESIZED,
                f"{words}; the new indices are {made[1]}",
                made[0].reshape(-1),
                made[0].shape,
            )
    elif array.size == 1 and int(array.flat[0]) * 2 >= change.before > 1:
        yield from _place(words, change, int(array.flat[0]), tuple(array.shape))
    elif array.ndim == 1 and (spread := _evenly(array, change)) is not None:
        yield Follow(
            "indices", codes.CONSTANT_RESIZED, f"{words}; the new indices are evenly spaced", spread, spread.shape
        )
    elif array.size > 1 or int(array.flat[0]) > 1:
        yield Follow("indices", codes.CONSTANT_MAY_FOLLOW, f"{words}, and is now {change.now}")


def _is_flat(op: Resized, name: str, axis: int) -> bool:
    """Return whether an axis is the product of several, so that a position depends on all of their sizes."""
    lineage = op.lineage(name)
    return lineage is not None and sum(factor.before > 1 for factor in lineage[axis]) > 1


@follows("scatter", "scatter_along_axis", "gather_along_axis")
def along_axis(op: Resized) -> Iterator[Follow]:
    """Report `indices` into a changed axis; positions in a product of several axes cannot be kept."""
    name = "data" if op.operand("data") else "x"
    axis, shape = op.value("axis", 0), op.was(name)
    if shape is None or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return
    change = op.changes(name).get(axis % len(shape))
    if change is None:
        return
    own = op.shape("indices") or ()
    at = 0 if op.op_type == "scatter" else axis % len(shape)
    is_whole = at < len(own) and own[at] == change.before > 1
    yield from _places(op, {axis % len(shape): change}, cannot_stay=is_whole or _is_flat(op, name, axis))


@follows("gather_nd", "scatter_nd")
def at_points(op: Resized) -> Iterator[Follow]:
    """Report `indices` of points on changed axes."""
    name = "data" if op.operand("data") else "x"
    own, first = op.shape("indices") or (), op.value("batch_dims", 0)
    if not own or own[-1] is None or type(first) is not int:
        return
    axes = {axis: each for axis, each in op.changes(name).items() if first <= axis < first + own[-1]}
    if axes:
        yield from _places(op, axes, cannot_stay=any(_is_flat(op, name, axis) for axis in axes))


def _places(op: Resized, axes: Mapping[int, SizeChange], *, cannot_stay: bool) -> Iterator[Follow]:
    """Report constant `indices` into changed axes, except for the first positions, which count from the start."""
    indices = op.operand("indices")
    if indices is None or not indices.constant:
        return
    array = op.array("indices", 0)
    words = f"`indices` of `{op.op_type}` refer to changed sizes: {_and(axes)}"
    if cannot_stay or array is None or any(change.now is None for change in axes.values()):
        yield Follow("indices", codes.CONSTANT_CANNOT_FOLLOW, words)
    elif array.size and int(array.max()) > 1:
        yield Follow("indices", codes.CONSTANT_MAY_FOLLOW, words)


def _evenly(array: Array, change: SizeChange) -> Array | None:
    """Return evenly spaced indices, from the first step to the last one."""
    import numpy as np

    if change.now is None or change.now > MOST:
        return None
    step = int(array[1]) - int(array[0]) if array.size > 2 else 0
    first, last = int(array[0]), int(array[-1])
    if (
        step < 2
        or first >= step
        or last < change.before - step
        or not np.array_equal(np.diff(array), [step] * (array.size - 1))
    ):
        return None
    return np.arange(first, change.now, step)


def _place(words: str, change: SizeChange, index: int, shape: tuple[int, ...]) -> Iterator[Follow]:
    """Update an index in the middle or near the end."""
    now = change.now or 0
    made = now // 2 if index * 2 == change.before else now - (change.before - index)
    if made < 0:
        yield Follow("indices", codes.CONSTANT_CANNOT_FOLLOW, words)
    else:
        yield Follow("indices", codes.CONSTANT_RESIZED, f"{words}; {index} is changed to {made}", [made], shape)


@follows("resample")
def resample(op: Resized) -> Iterator[Follow]:
    """Report `coordinates` with one entry for each pixel of the old `x`."""
    shape, changes = op.shape("coordinates"), op.changes("x")
    if shape is None or len(shape) != 4 or not (coordinates := op.operand("coordinates")) or not coordinates.constant:
        return
    axes = {axis - 1: change for axis, change in changes.items() if axis > 1 and shape[axis - 1] == change.before}
    if 0 in changes and shape[0] == changes[0].before:
        axes[0] = changes[0]
    yield from _array(op, "coordinates", 0, axes)
    if changes and not axes:
        yield Follow(
            "coordinates",
            codes.CONSTANT_MAY_FOLLOW,
            "`coordinates` of `resample` are kept, although the sizes of `x` change",
        )


ALIGNED: dict[str, dict[str, dict[int, tuple[str, int]]]] = {
    "lstm": {"initial_h": {0: ("x", 1)}, "initial_c": {0: ("x", 1)}},
    "gru": {"initial_h": {0: ("x", 1)}},
    "rnn": {"initial_h": {0: ("x", 1)}},
    "scaled_dot_product_attention": {"attn_mask": {-2: ("query", -2), -1: ("key", -2)}},
}
"""Parameters with an axis of the same size as an axis of another one."""


@follows(*ALIGNED)
def aligned(op: Resized) -> Iterator[Follow]:
    """Update constants with axes of the same sizes as another input's."""
    for name, axes in ALIGNED[op.op_type].items():
        operand, shape = op.operand(name), op.shape(name) or ()
        if operand is None or not operand.constant:
            continue
        held: dict[int, SizeChange] = {}
        for axis, (other, at) in axes.items():
            rank = len(op.shape(other) or ())
            change = op.changes(other).get(at % rank) if rank else None
            if change is not None and shape[axis] == change.before:
                held[axis % len(shape)] = change
        yield from _array(op, name, 0, held)


@follows("matmul")
def matmul(op: Resized) -> Iterator[Follow]:
    """Update a constant at the broadcast axes, and at the summed axis."""
    for name, other in (("x", "y"), ("y", "x")):
        operand, shape, rank = op.operand(name), op.shape(name) or (), len(op.shape(other) or ())
        if operand is None or not operand.constant or len(shape) < 2 or rank < 2:
            continue
        summed = {"x": -1, "y": -2}
        own, its = (
            summed[each] if not op.value(f"transpose_{each}", False) else -3 - summed[each] for each in (name, other)
        )
        changes = op.changes(other)
        held = {axis + len(shape) - rank: each for axis, each in changes.items() if axis < rank - 2}
        if rank + its in changes:
            held[len(shape) + own] = changes[rank + its]
        yield from _array(
            op, name, 0, {at: each for at, each in held.items() if at >= 0 and shape[at] == each.before > 1}
        )
