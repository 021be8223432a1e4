"""Windows, pads and factors: parameters that determine an output size from an input size."""

from __future__ import annotations

from collections.abc import Iterator

from miltext.checking.inference.operands import number
from miltext.checking.resizing.facts import Follow, Resized, SizeChange, follows
from miltext.diagnostics import codes

MARGIN = 1e-4
"""The number that coremltools adds to a requested size before it divides by the input's size.

Source: `upsample_bilinear2d` in coremltools/converters/mil/frontend/torch/ops.py.
"""


@follows("avg_pool", "max_pool", "l2_pool")
def pool(op: Resized) -> Iterator[Follow]:
    """Update windows that divide a whole axis into a number of outputs, as in adaptive pooling.

    Source: `_adaptive_pool2d` in coremltools/converters/mil/frontend/torch/ops.py.
    """
    kernel, shape = op.row("kernel_sizes"), op.was("x")
    strides = op.row("strides") or (1,) * len(kernel or ())
    if kernel is None or shape is None or len(kernel) != len(strides) or any(op.row("pad") or ()):
        return
    windows, steps, reasons = list(kernel), list(strides), list[tuple[str, str]]()
    for axis, change in op.changes("x").items():
        place = axis - (len(shape) - len(kernel))
        count = _windows(change.before, kernel[place], strides[place]) if place >= 0 else 0
        if not count:
            continue
        words = f"{kernel[place]} at axis {axis}, which reduces the size {change.before} to {count}"
        now = change.now
        if not _is_adaptive(count, kernel[place]):
            reasons.append(
                (
                    codes.CONSTANT_MAY_FOLLOW,
                    f"{words}; to reduce {_now(change)} to {count}, write another size",
                )
            )
        elif now is None or now < count:
            reasons.append((codes.CONSTANT_CANNOT_FOLLOW, words))
        elif now % count:
            reasons.append((codes.CONSTANT_CANNOT_FOLLOW, f"{words}, but {now} is not a multiple of {count}"))
        else:
            windows[place], steps[place] = now // count, now // count
            reasons.append((codes.CONSTANT_RESIZED, f"{words}; changed to {windows[place]} for {now}"))
    for code, why in reasons:
        made = None if tuple(windows) == kernel else windows
        yield Follow("kernel_sizes", code, f"`kernel_sizes` of `{op.op_type}` is {why}", made, (len(windows),))
    if tuple(steps) != strides and op.row("strides"):
        yield Follow("strides", None, "", steps, (len(steps),))


def _windows(size: int, kernel: int, stride: int) -> int:
    """Return the number of windows of adaptive pooling for a kernel and a size; 0 for another kernel."""
    if kernel == size:
        return 1
    return size // kernel if kernel == stride and kernel > 1 and size % kernel == 0 else 0


def _is_adaptive(count: int, kernel: int) -> bool:
    """Return whether the number of windows is probably intended, not their size as in layers of 2 x 2 and 3 x 3."""
    return count == 1 or (kernel > 3 and count <= 8)


def _now(change: SizeChange) -> str:
    return "?" if change.now is None else str(change.now)


@follows("pad")
def pad(op: Resized) -> Iterator[Follow]:
    """Update pads at one side that produce a round size; report possible ones."""
    pads, shape = op.row("pad"), op.was("x")
    if pads is None or shape is None or len(pads) % 2 or len(pads) > 2 * len(shape):
        return
    made, reasons = list(pads), list[tuple[str, str]]()
    for axis, change in op.changes("x").items():
        place = 2 * (axis - (len(shape) - len(pads) // 2))
        before, after = pads[place : place + 2] if place >= 0 else (0, 0)
        if (not before and not after) or (before == after and op.value("mode", "constant") != "constant"):
            continue
        whole = before + change.before + after
        words = f"[{before}, {after}] at axis {axis}, which extends the size {change.before} to {whole}"
        if before == 0 and after > 2 and change.now is not None and change.now <= whole:
            made[place + 1] = whole - change.now
            reasons.append((codes.CONSTANT_RESIZED, f"{words}; changed to [0, {made[place + 1]}] for {change.now}"))
        elif before == 0 and after > 2:
            reasons.append((codes.CONSTANT_CANNOT_FOLLOW, f"{words}, but the size changes to {_now(change)}"))
        else:
            reasons.append(
                (codes.CONSTANT_MAY_FOLLOW, f"{words}; to keep {whole}, write another pad for {_now(change)}")
            )
    for code, why in reasons:
        elements = None if tuple(made) == pads else made
        yield Follow("pad", code, f"`pad` of `pad` is {why}", elements, (len(made),))


@follows("upsample_bilinear", "upsample_nearest_neighbor", "resize")
def upsample(op: Resized) -> Iterator[Follow]:
    """Update factors computed from a requested size; report likely ones."""
    rank = len(op.was("x") or ())
    for axis, change in op.changes("x").items():
        name = {rank - 2: "scale_factor_height", rank - 1: "scale_factor_width"}.get(axis)
        factor = number(op.value(name)) if name else None
        old = op.old.shape[axis] if axis < len(op.old.shape) else None
        if name is None or factor is None or old is None or factor == 1:
            continue
        words = f"`{name}` of `{op.op_type}` is {factor:g}, which scales the size {change.before} to {old}"
        is_requested = abs(factor * change.before - old - MARGIN) < MARGIN / 2
        if not is_requested:
            yield Follow(
                name,
                codes.CONSTANT_MAY_FOLLOW,
                f"{words}; to keep {old}, write another factor for {_now(change)}",
            )
        elif not change.now:
            yield Follow(name, codes.CONSTANT_CANNOT_FOLLOW, words)
        else:
            exact = old % change.now == 0
            made = old / change.now if exact else (old + MARGIN) / change.now
            yield Follow(
                name,
                codes.CONSTANT_RESIZED,
                f"{words}; changed to {made:g}, which scales {change.now} to {old}",
                [made],
            )
