"""Parameters with sizes of an operation's outputs: target shapes, counts of copies, sizes of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from miltext.checking.inference.operands import count as product
from miltext.checking.resizing.facts import Follow, Resized, SizeChange, follows
from miltext.checking.resizing.lineage import OPEN, Factor, recast
from miltext.diagnostics import codes
from miltext.schema.types import Dimension, show

COUNTS = 3
"""Counts of copies from this on may be a size minus a constant."""


@follows("reshape")
def reshape(op: Resized) -> Iterator[Follow]:
    """Update `shape`: each dimension remains the product of the same sizes."""
    shape, lineage = op.row("shape"), op.lineage("x")
    if shape is None or not op.changes("x") or None in op.old.shape or len(op.old.shape) != len(shape):
        return
    open_at = shape.index(-1) if -1 in shape else None
    made = recast(lineage, op.old.shape, open_at) if lineage is not None else None  # type: ignore[arg-type]
    if made is None:
        yield from _regrouped(op, shape)
        return
    elements = [size if size <= 0 else -1 if now is None else now for size, now in zip(shape, made.shape, strict=True)]
    if elements.count(-1) > 1:
        sizes = show(made.shape)
        yield Follow(
            "shape",
            codes.CONSTANT_CANNOT_FOLLOW,
            f"`shape` of `reshape` is {list(shape)}, but only one size of {sizes} can be open",
        )
        return
    splits = [split for split in made.split if not _is_usual(split)] if open_at is None else []
    message = ""
    if splits:
        whole, first, second = map(_spelled, splits[0])
        words = f"{whole} as [{first}, {second}]"
        message = f"`shape` of `reshape` splits {words}"
    if tuple(elements) != shape or message:
        yield Follow("shape", codes.CONSTANT_RESIZED if message else None, message, elements, (len(elements),))


def _regrouped(op: Resized, shape: tuple[int, ...]) -> Iterator[Follow]:
    """Update sizes of `x` in another order, as where rows and columns are read as columns and rows."""
    changes: dict[int, set[Dimension]] = {}
    for before, now in zip(op.was("x") or (), op.shape("x") or (), strict=True):
        changes.setdefault(before or 0, set()).add(now)
    made = [next(iter(changes[size])) if len(changes.get(size, ())) == 1 else size for size in shape]
    total = [product(each or ()) for each in (op.was("x"), op.shape("x"))]
    if None in made or tuple(made) == shape:
        return
    if all(whole is not None and _fits(row, whole) for row, whole in zip((shape, made), total, strict=True)):
        message = f"`shape` of `reshape` contains sizes of `x` in another order, {show(shape)}"
        yield Follow("shape", codes.CONSTANT_RESIZED, f"{message}; changed to {show((*made,))}", made, (len(made),))


def _fits(shape: Sequence[Dimension], total: int) -> bool:
    """Return whether a tensor of a number of elements can have a shape, with at most one size of -1."""
    known = product(tuple(size for size in shape if size != -1))
    return bool(known) and (total % (known or 1) == 0 if -1 in shape else total == known)


def _spelled(factor: Factor) -> str:
    return f"{factor.before} -> {'?' if factor.now % OPEN == 0 else factor.now}"


def _is_usual(split: tuple[Factor, ...]) -> bool:
    """Return whether a size is not really split: one part is 1."""
    _, first, second = split
    return first == (1, 1) or second == (1, 1)


@follows("conv_transpose")
def conv_transpose(op: Resized) -> Iterator[Follow]:
    """Update `output_shape`: each further element of `x` adds a stride, for any kernel and padding."""
    shape, old = op.row("output_shape"), op.was("x")
    if shape is None or old is None or len(shape) != len(old):
        return
    spatial = len(shape) - 2
    strides = op.row("strides") or (1,) * spatial
    made = list(shape)
    for axis, change in op.changes("x").items():
        if change.now is None:
            yield Follow(
                "output_shape",
                codes.CONSTANT_CANNOT_FOLLOW,
                f"`output_shape` of `conv_transpose` is {shape[axis]} at axis {axis}",
            )
            return
        if axis != 1 and len(strides) == spatial:
            by = 1 if axis == 0 else strides[axis - 2]
            made[axis] += (change.now - change.before) * by
    if tuple(made) != shape:
        yield Follow("output_shape", None, "", made, (len(made),))


@follows("tile")
def tile(op: Resized) -> Iterator[Follow]:
    """Update `reps` equal to a size that the repeated value depends on."""
    reps, shape = op.row("reps"), op.was("x")
    if reps is None or shape is None or len(reps) != len(shape):
        return
    made, reasons = list(reps), list[tuple[str, str]]()
    changes = op.changes("x")
    for axis, count in enumerate(reps):
        if axis in changes or count <= 1:
            continue
        change = op.change_of(count, axis - len(reps))
        words = f"{count} at axis {axis}"
        if change is not None:
            reasons.append(
                (
                    codes.CONSTANT_CANNOT_FOLLOW if change.now is None else codes.CONSTANT_RESIZED,
                    f"{words}, a size that changes to {_now(change)}",
                )
            )
            made[axis] = count if change.now is None else change.now
        elif count >= COUNTS and (near := _near(count, op.sizes.changed)) is not None:
            reasons.append((codes.CONSTANT_MAY_FOLLOW, f"{words}, which may depend on the changed size {near}"))
    for code, why in reasons:
        elements = None if tuple(made) == reps else made
        yield Follow("reps", code, f"`reps` of `tile` is {why}", elements, (len(made),))


def _near(number: int, upstream: frozenset[SizeChange]) -> SizeChange | None:
    """Return a size whose neighbour, half or multiple is a number."""
    near = (each for each in sorted(upstream, key=str) if each.before > 1 and not each.spread)
    return next((each for each in near if abs(number - each.before) == 1 or number in _multiples(each.before)), None)


def _multiples(size: int) -> tuple[int, ...]:
    return (size // 2 if size % 2 == 0 else -1, size * 2, size * 4)


def _now(change: SizeChange) -> str:
    return "?" if change.now is None else str(change.now)


@follows("split")
def split(op: Resized) -> Iterator[Follow]:
    """Update `split_sizes`, equal except for the last: the same number of parts of the new size."""
    sizes, shape, axis = op.row("split_sizes"), op.was("x"), op.value("axis")
    if sizes is None or shape is None or type(axis) is not int or not -len(shape) <= axis < len(shape):
        return
    change = op.changes("x").get(axis % len(shape))
    if change is None:
        return
    words = f"`split_sizes` of `split` are {list(sizes)} for the size {change.before} of axis {axis % len(shape)}"
    share = None if change.now is None else -(-change.now // len(sizes))
    rest = -1 if share is None or change.now is None else change.now - share * (len(sizes) - 1)
    if len({*sizes[:-1]}) > 1 or sizes[-1] > sizes[0] or share is None or rest <= 0:
        yield Follow(
            "split_sizes",
            codes.CONSTANT_CANNOT_FOLLOW,
            f"{words}, which changes to {_now(change)}; write the sizes of the parts",
        )
        return
    if len(sizes) == change.before:
        yield Follow("split_sizes", codes.CONSTANT_CANNOT_FOLLOW, f"{words}: one part for each position")
        return
    made = [*[share] * (len(sizes) - 1), rest]
    yield Follow(
        "split_sizes", codes.CONSTANT_RESIZED, f"{words}; changed to {made} for {change.now}", made, (len(made),)
    )


@follows("topk")
def topk(op: Resized) -> Iterator[Follow]:
    """Update a `k` equal to the size of an axis; report a `k` that may be a part of it."""
    shape, axis, k = op.was("x"), op.value("axis", -1), op.value("k")
    if shape is None or type(axis) is not int or type(k) is not int or not -len(shape) <= axis < len(shape):
        return
    change = op.changes("x").get(axis % len(shape))
    if change is None or k <= 1:
        return
    words = f"`k` of `topk` is {k} for the size {change.before} of axis {axis % len(shape)}"
    if k == change.before and change.now is not None:
        yield Follow("k", codes.CONSTANT_RESIZED, f"{words}; changed to {change.now}", [change.now])
    else:
        yield Follow(
            "k",
            codes.CONSTANT_CANNOT_FOLLOW if k == change.before else codes.CONSTANT_MAY_FOLLOW,
            f"{words}, which changes to {_now(change)}",
        )


@follows("affine")
def affine(op: Resized) -> Iterator[Follow]:
    """Update output sizes equal to sizes of `x`."""
    yield from _targets(op, ("output_height", "output_width"))


@follows("resize_bilinear", "resize_nearest_neighbor", "crop_resize")
def resize(op: Resized) -> Iterator[Follow]:
    """Update target sizes equal to sizes of earlier values."""
    yield from _targets(op, ("target_size_height", "target_size_width", "target_height", "target_width"))


def _targets(op: Resized, names: tuple[str, ...]) -> Iterator[Follow]:
    """Update parameters with the height or the width of the output: axis -2 or -1."""
    own = op.changes("x")
    rank = len(op.was("x") or ())
    if not own:
        return
    for name in names:
        size, axis = op.value(name), rank - (2 if "height" in name else 1)
        if type(size) is not int:
            continue
        if axis not in own and (op.was("x") or ())[axis] == size:
            continue
        change = own[axis] if axis in own and own[axis].before == size else op.change_of(size)
        words = f"`{name}` of `{op.op_type}` is {size}"
        if change is not None and change.now is not None:
            yield Follow(name, codes.CONSTANT_RESIZED, f"{words}, a size that changes to {change.now}", [change.now])
        elif change is not None:
            yield Follow(name, codes.CONSTANT_CANNOT_FOLLOW, f"{words}, a size that becomes a range")
        elif axis in own:
            yield Follow(
                name, codes.CONSTANT_MAY_FOLLOW, f"{words}, which may depend on the changed size of `x`, {own[axis]}"
            )


@follows("fill", "random_normal", "random_uniform", "random_bernoulli", "random_categorical", "one_hot")
def stated(op: Resized) -> Iterator[Follow]:
    """Report sizes equal to a changed size that an input depends on."""
    for name in ("shape", "size", "one_hot_vector_size"):
        for number in op.row(name) or ():
            change = op.change_of(number)
            if change is not None:
                yield Follow(
                    name,
                    codes.CONSTANT_MAY_FOLLOW,
                    f"`{name}` of `{op.op_type}` contains {number}, a size that changes to {_now(change)}",
                )
