"""The sizes that an entry of a description allows after a change of its program's shape.

Images are read as their tensors: [1, channels, height, width].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.printing.flexible_shapes import Flexible
from miltext.schema.types import show

if TYPE_CHECKING:
    from miltext.descriptions.sizes import Sizes
    from miltext.schema.types import Dimension, Shape

Limits = list[int]
"""The least and the greatest size of a dimension; -1 means unlimited."""


class KeptSizes(NamedTuple):
    """The allowed sizes, the `lost` ones in words, and the axes of unbounded `?`."""

    sizes: Flexible
    lost: tuple[str, ...] = ()
    unbounded: tuple[int, ...] = ()


def kept_sizes(was: Flexible, old: Shape | None, new: Shape) -> KeptSizes:
    """Return the remaining sizes of an entry whose shape was `old` and is `new`.

    Dimensions are independent: a former `?` keeps its range, a new constant is the only size, and a described range of
    a constant is kept if the new constant is inside. Enumerated shapes are kept if the new shape allows them. With
    another rank, none is kept.
    """
    ranks = {len(new), len(was.default), *map(len, was.shapes), len(was.ranges or new)}
    if old is None or {*ranks, len(old)} != {len(new)}:
        axes = tuple(axis for axis, size in enumerate(new) if size is None)
        return KeptSizes(Flexible([size or 1 for size in new], [], []), sizes_in_words(was), axes)
    return _enumerated(was, old, new) if was.shapes else _ranged(was, old, new)


def requested_sizes(was: Sequence[int], new: Shape, asked: Sizes) -> Flexible:
    """Return the requested sizes for a new shape; the default is the former default `was`, or the nearest
    allowed size.
    """
    ranges = [
        [size, size] if size is not None else [each.least, each.greatest or -1]
        for size, each in zip(new, asked, strict=True)
    ]
    was = was if len(was) == len(new) else [least for least, _ in ranges]
    default = [_nearest(size, limits) for size, limits in zip(was, ranges, strict=True)]
    return Flexible(default, [], [] if all(map(_is_fixed, ranges)) else ranges)


def sizes_in_words(sizes: Flexible) -> tuple[str, ...]:
    """Return the enumerated shapes or ranges in words; nothing for a default size alone."""
    if sizes.shapes:
        return (f"the enumerated shapes {', '.join(show(tuple(shape)) for shape in sizes.shapes)}",)
    return () if all(map(_is_fixed, sizes.ranges)) else (f"the ranges {spelled_ranges(sizes.ranges)}",)


def allowed_in_words(sizes: Flexible) -> str:
    """Return the allowed sizes in words, of which the default may be the only one."""
    return ", ".join(sizes_in_words(sizes)) or show((*sizes.default,))


def spelled_ranges(ranges: list[Limits]) -> str:
    """Spell ranges as in `[1, 3, 64..512, 64..]`."""
    return f"[{', '.join(map(_spelled, ranges))}]"


def _spelled(limits: Limits) -> str:
    least, greatest = limits
    return str(least) if _is_fixed(limits) else f"{least}..{'' if greatest < 0 else greatest}"


def _is_fixed(limits: Limits) -> bool:
    return limits[0] == limits[1]


def _nearest(size: int, limits: Limits) -> int:
    least, greatest = limits
    return max(least, size if greatest < 0 else min(size, greatest))


def _ranged(was: Flexible, old: Shape, new: Shape) -> KeptSizes:
    given = was.ranges or [[size, size] for size in was.default]
    found = [_limits(*sizes, bool(was.ranges)) for sizes in zip(old, new, given, strict=True)]
    ranges = [[1, -1] if limits is None else limits for limits in found]
    default = [
        _nearest(size, limits) if now is None else now
        for now, size, limits in zip(new, was.default, ranges, strict=True)
    ]
    less = [
        axis
        for axis, (before, now) in enumerate(zip(given, ranges, strict=True))
        if _is_fixed(now) and not _is_fixed(before)
    ]
    is_fixed = all(map(_is_fixed, ranges)) and (bool(less) or not was.ranges)
    unbounded = tuple(axis for axis, limits in enumerate(found) if limits is None)
    each = tuple(f"the range {_spelled(given[axis])} of axis {axis}" for axis in less)
    lost = sizes_in_words(was) if less and is_fixed else each
    return KeptSizes(Flexible(default, [], [] if is_fixed else ranges), lost, unbounded)


def _limits(before: Dimension, now: Dimension, limits: Limits, is_stated: bool) -> Limits | None:
    """Return the sizes of one dimension; None for an unbounded `?`."""
    if now is None:
        return limits if is_stated and (before is None or not _is_fixed(limits)) else None
    is_inside = before is not None and not _is_fixed(limits) and _nearest(now, limits) == now
    return limits if now == before or is_inside else [now, now]


def _enumerated(was: Flexible, old: Shape, new: Shape) -> KeptSizes:
    shapes, default, unbounded = was.shapes, list(was.default), []
    for axis, (before, now) in enumerate(zip(old, new, strict=True)):
        sizes = {shape[axis] for shape in was.shapes}
        if now is None:
            unbounded += [axis] * (before is not None and sizes == {before})
            continue
        default[axis] = now
        if now != before and sizes == {before}:
            shapes = [[*shape[:axis], now, *shape[axis + 1 :]] for shape in shapes]
        elif now != before and (before is None or now not in sizes):
            shapes = [shape for shape in shapes if shape[axis] == now]
    fits = [shape for shape in shapes if all(now in (None, size) for now, size in zip(new, shape, strict=True))]
    if default not in fits and None in new:
        default = next(iter(fits), default)
    shapes = [] if unbounded or default not in fits or shapes == [default] else shapes
    dropped = f"{len(was.shapes) - len(shapes)} of {sizes_in_words(was)[0]}" if shapes else sizes_in_words(was)[0]
    lost = (dropped,) if len(shapes) < len(was.shapes) else ()
    if None in new and not shapes:
        unbounded = [axis for axis, size in enumerate(new) if size is None]
    return KeptSizes(Flexible(default, shapes, []), lost, tuple(unbounded))
