"""Bounds of slices that a converter wrote as numbers from the front."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.inference.slicing import TO_THE_END
from miltext.checking.resizing.cuts import count_of, parts
from miltext.checking.resizing.facts import Follow, Resized, follows
from miltext.diagnostics import codes

if TYPE_CHECKING:
    from miltext.checking.resizing.facts import SizeChange

PARTS = (2, 3, 4, 8)
"""The likely divisors of a size in a bound."""

SMALL = 2
"""Bounds up to this number are probably not parts of a much greater size."""


@follows("slice_by_index", "slice_update")
def slice_by_index(op: Resized) -> Iterator[Follow]:
    """Update `begin` and `end` at changed axes of `x`."""
    changes = op.changes("x")
    shape = op.was("x")
    begin, end = op.row("begin"), op.row("end")
    if not changes or shape is None or begin is None or end is None or not len(begin) == len(end) == len(shape):
        return
    masks = [op.flags(name, len(shape)) for name in ("begin_mask", "end_mask", "squeeze_mask")]
    rows = {"begin": list(begin), "end": list(end)}
    reasons: dict[str, list[tuple[str, str]]] = {"begin": [], "end": []}
    for axis, change in changes.items():
        from_start, to_end, squeezed = (mask[axis] for mask in masks)
        first = 0 if from_start else begin[axis]
        last = first + 1 if squeezed else change.before if to_end else end[axis]
        count = count_of(op.cuts, axis, change.before)
        if count and (squeezed or not to_end) and (first, last) in parts(change.before, count):
            _follow_cut(rows, reasons, axis, change, (first, last), count)
            continue
        bounds = {} if from_start else {"begin": first}
        if not to_end and not squeezed:
            bounds["end"] = last
        for name, bound in bounds.items():
            now, code, why = _bound(name, bound, first, last, change)
            if code is not None:
                reasons[name].append((code, f"{bound} at axis {axis}, {why}"))
            if now is not None:
                rows[name][axis] = now
        if squeezed and not to_end and "begin" in bounds:
            rows["end"][axis] += rows["begin"][axis] - begin[axis]
    yield from _findings(op, "begin", begin, rows["begin"], reasons["begin"])
    yield from _findings(op, "end", end, rows["end"], reasons["end"])


def _follow_cut(
    rows: dict[str, list[int]],
    reasons: dict[str, list[tuple[str, str]]],
    axis: int,
    change: SizeChange,
    span: tuple[int, int],
    count: int,
) -> None:
    """Update a slice among slices that cut a value into equal parts."""
    words = f"a bound at axis {axis}, whose size {change.before} is cut into {count} equal parts"
    if count == change.before or change.now is None or change.now < count:
        reasons["begin"].append(
            (codes.CONSTANT_CANNOT_FOLLOW, f"{words}, and changes to {'?' if change.now is None else change.now}")
        )
        return
    now = dict(zip(parts(change.before, count), parts(change.now, count), strict=True))
    rows["begin"][axis], rows["end"][axis] = now[span]
    reasons["begin"].append((codes.CONSTANT_RESIZED, f"{words}; changed for as many parts of {change.now}"))


def _findings(
    op: Resized, name: str, row: tuple[int, ...], now: list[int], reasons: list[tuple[str, str]]
) -> Iterator[Follow]:
    """Yield the change of a row of bounds, once for each reason."""
    elements = None if tuple(now) == row else now
    if not reasons and elements is not None:
        yield Follow(name, None, "", elements, (len(now),))
    for code, why in reasons:
        yield Follow(name, code, f"`{name}` of `{op.op_type}` is {why}", elements, (len(now),))


def _bound(name: str, bound: int, first: int, last: int, change: SizeChange) -> tuple[int | None, str | None, str]:
    """Return the new value of a bound, None if it is kept, the code of its finding, if any, and the reason."""
    size, now = change.before, change.now
    if bound < 0:
        is_part = any(size == -bound * part for part in PARTS) and -bound > 1
        reason = f"counted from the end, which may be a part of the size {size}"
        return None, codes.CONSTANT_MAY_FOLLOW if is_part else None, reason
    if bound == size and name == "end":
        end = TO_THE_END if now is None else now
        known = ", the end of any size" if now is None else ""
        return end, codes.CONSTANT_RESIZED, f"the end of the size {size}; changed to {end}{known}"
    if bound == 0:
        return None, None, ""
    part = _part(name, bound, first, last, size)
    if part is not None:
        made = None if now is None else now * part[0] // part[1]
        return _remade(made, f"{_fraction(*part)} of the size {size}")
    if bound * 2 > size:
        return _before_the_end(size - bound, size, now)
    if bound > SMALL or any(bound * part == size for part in PARTS) or size - bound <= SMALL:
        reason = f"which may depend on the changed size {change}"
        return None, codes.CONSTANT_MAY_FOLLOW, reason
    return None, None, ""


def _before_the_end(left: int, size: int, now: int | None) -> tuple[int | None, str | None, str]:
    """Return the new value of a bound at `left` before the end of a size, its code and the reason."""
    why = f"{left} before the end of the size {size}"
    if now is None:
        return -left, codes.CONSTANT_RESIZED, f"{why}; changed to {-left}, counted from the end"
    return _remade(now - left if now > left else None, why)


def _remade(made: int | None, why: str) -> tuple[int | None, str | None, str]:
    """Return a recomputed bound, its code and the reason; None for a bound that cannot be computed."""
    if made is None:
        return None, codes.CONSTANT_CANNOT_FOLLOW, why
    return made, codes.CONSTANT_RESIZED, f"{why}; changed to {made}"


def _part(name: str, bound: int, first: int, last: int, size: int) -> tuple[int, int] | None:
    """Return the part of a size that a bound most likely is: half of it, or the rest of a crop of the centre."""
    if bound * 2 == size:
        return 1, 2
    if first > 0 and first + last == size:
        for divisor in PARTS:
            if first * divisor == size and first > SMALL:
                return (1, divisor) if name == "begin" else (divisor - 1, divisor)
    return None


def _fraction(over: int, under: int) -> str:
    return "half" if (over, under) == (1, 2) else f"{over}/{under}"


@follows("slice_by_size")
def slice_by_size(op: Resized) -> Iterator[Follow]:
    """Update `size` at changed axes of `x`: up to the end, or to the same distance from it."""
    begin, size, shape = op.row("begin"), op.row("size"), op.was("x")
    if begin is None or size is None or shape is None or not len(begin) == len(size) == len(shape):
        return
    made, reasons = list(size), list[tuple[str, str]]()
    for axis, change in op.changes("x").items():
        if size[axis] < 0:
            continue
        if change.now is None:
            reasons.append(
                (codes.CONSTANT_CANNOT_FOLLOW, f"{size[axis]} at axis {axis}, whose size was {change.before}")
            )
            continue
        end = begin[axis] + size[axis]
        now, code, _ = _bound("end", end, begin[axis], end, change)
        if now is not None and begin[axis] * 2 <= change.before:
            made[axis] = now - begin[axis]
            reasons.append(
                (
                    codes.CONSTANT_RESIZED,
                    f"{size[axis]} at axis {axis}, whose size was {change.before}; changed to {made[axis]}",
                )
            )
        elif code is not None or begin[axis] > SMALL:
            is_stuck = code == codes.CONSTANT_CANNOT_FOLLOW
            reasons.append(
                (
                    codes.CONSTANT_CANNOT_FOLLOW if is_stuck else codes.CONSTANT_MAY_FOLLOW,
                    f"{size[axis]} at axis {axis}, whose size was {change.before}",
                )
            )
    yield from _findings(op, "size", size, made, reasons)
