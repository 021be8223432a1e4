"""Patterns of arrays for a size: ramps, index lists, masks, equal values; and the arrays for another size."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from miltext.schema.packing import Array

EXACTNESS = {"f2": 2e-3, "f4": 1e-5, "f8": 1e-9}
"""The greatest distance of elements from a pattern, relative to the greatest element."""


class Remade(NamedTuple):
    """An array for another size, and its description in words."""

    array: Array
    words: str


def remade(array: Array, axis: int, now: int) -> Remade | None:
    """Return an array with another size at an axis; None without a known pattern.

    Patterns are one value, `arange`, `linspace`, and a rolled list of indices. A shorter version of an array without a
    pattern is its beginning: positions are counted from the front.
    """
    if array.shape[axis] == now:
        return Remade(array, "unchanged")
    lines = np.moveaxis(array, axis, -1)
    made = _remade(lines, now)
    return None if made is None else Remade(np.ascontiguousarray(np.moveaxis(made.array, -1, axis)), made.words)


def _remade(lines: Array, now: int) -> Remade | None:
    before = lines.shape[-1]
    if before == 1 or bool(np.all(lines == lines[..., :1])):
        return Remade(np.repeat(lines[..., :1], now, axis=-1), "one value")
    if lines.dtype.kind in "iuf" and (made := _ramp(lines, now)) is not None:
        return made
    if lines.dtype.kind in "iu" and (made := _rolled(lines, now)) is not None:
        return made
    if now < before:
        return Remade(lines[..., :now], f"the first {now}")
    return None


def _ramp(lines: Array, now: int) -> Remade | None:
    """Return evenly rising lines, with their step if it is whole, else with their ends."""
    before = lines.shape[-1]
    exact = lines.astype(np.float64)
    steps = (exact[..., -1:] - exact[..., :1]) / (before - 1)
    places = np.arange(before)
    room = EXACTNESS.get(lines.dtype.str[1:], 0.0) * max(1.0, float(np.max(np.abs(exact))))
    if not bool(np.all(np.abs(exact - (exact[..., :1] + steps * places)) <= room)):
        return None
    first, last = exact[..., :1], exact[..., -1:]
    if bool(np.all(np.abs(steps - np.round(steps)) <= room)):
        return _whole_steps(lines, np.round(steps), now)
    if bool(np.all(np.abs(steps / 2 - np.abs(first)) <= room)):  # (i + 1/2) / n
        made, words = (np.arange(now) + 0.5) * (steps * before / now), "centres of even parts"
    elif _is_centred(first, last, steps):
        made = first - steps / 2 + (np.arange(now) + 0.5) * (steps * before / now)
        words = "centres of even parts"
    elif bool(np.all(np.abs(first) <= room)) and _is_round(float(np.max(np.abs(last + steps)))):
        made, words = np.arange(now) * (steps * before / now), "even parts"  # i / n
    elif now == 1:
        made, words = first + np.zeros(now), "even steps between the same ends"
    else:
        made, words = first + np.arange(now) * ((last - first) / (now - 1)), "even steps between the same ends"
    return Remade(made.astype(lines.dtype), words)


def _is_centred(first: Array, last: Array, steps: Array) -> bool:
    """Return whether lines are the centres of equal parts of a range with round ends."""
    low, high = np.max(np.abs(first - steps / 2)), np.max(np.abs(last + steps / 2))
    ends_round = _is_round(float(np.max(np.abs(first)))) and _is_round(float(np.max(np.abs(last))))
    return not ends_round and _is_round(float(low)) and _is_round(float(high))


def _is_round(number: float) -> bool:
    return abs(number * 10 - round(number * 10)) < 1e-3


def _whole_steps(lines: Array, steps: Array, now: int) -> Remade:
    """Return `arange` of another length; a row that falls to 0 still ends at 0."""
    before, first = lines.shape[-1], lines[..., :1].astype(np.float64)
    falls_to_zero = bool(np.all((steps < 0) & (first + steps * (before - 1) == 0)))
    start = first + (now - before) * -steps * falls_to_zero
    words = f"{'a list' if lines.dtype.kind in 'iu' else 'numbers'} counted from its start"
    return Remade((start + steps * np.arange(now)).astype(lines.dtype), words)


def _rolled(lines: Array, now: int) -> Remade | None:
    """Return indices of a rolled `arange(n)`, with the turn at the same distance from the front or the back."""
    before = lines.shape[-1]
    shift = lines[..., :1]
    if not bool(np.all((shift + np.arange(before)) % before == lines)) or len(np.unique(shift)) != 1:
        return None
    by = int(shift.flat[0])
    start = now // 2 if by * 2 == before else by if by * 2 < before else now - (before - by)
    if not 0 <= start < now:
        return None
    row = (start + np.arange(now)) % now
    return Remade(np.broadcast_to(row, (*lines.shape[:-1], now)).astype(lines.dtype), f"indices rolled by {start}")


def diagonal(array: Array, axes: tuple[int, int], now: tuple[int, int]) -> Remade | None:
    """Return an array whose elements depend on their distance from the diagonal of two axes, as in a causal mask."""
    lines = np.moveaxis(array, axes, (-2, -1))
    rows, columns = lines.shape[-2:]
    if rows != columns or rows < 4 or now[0] != now[1]:
        return None
    bands = np.concatenate([lines[..., :0:-1, 0], lines[..., 0, :]], axis=-1)  # from the lower corner to the upper one
    far = np.arange(columns)[None, :] - np.arange(rows)[:, None] + rows - 1
    if not bool(np.all(bands[..., far] == lines)):
        return None
    wanted = 2 * now[0] - 1
    longer = _stretched(bands, wanted)
    if longer is None:
        return None
    far = np.arange(now[1])[None, :] - np.arange(now[0])[:, None] + now[0] - 1
    made = np.moveaxis(longer[..., far], (-2, -1), axes)
    return Remade(np.ascontiguousarray(made), "a mask along the diagonal")


def _stretched(bands: Array, wanted: int) -> Array | None:
    """Return values by distance from the diagonal for another number of distances; both ends must continue evenly."""
    more = (wanted - bands.shape[-1]) // 2
    if more <= 0:
        return bands[..., -more : bands.shape[-1] + more]
    above, below = _going_on(bands[..., ::-1], more), _going_on(bands, more)
    return None if above is None or below is None else np.concatenate([above[..., ::-1], bands, below], axis=-1)


def _going_on(bands: Array, more: int) -> Array | None:
    """Return the continuation of values whose last three are one value, or on one line."""
    first, second, last = bands[..., -3:-2], bands[..., -2:-1], bands[..., -1:]
    if bool(np.all((first == second) & (second == last))):
        return np.repeat(last, more, axis=-1)
    if bands.dtype.kind == "b" or not bool(np.all(np.isfinite(bands[..., -3:]))):
        return None
    low, middle, high = (each.astype(np.float64) for each in (first, second, last))
    room = EXACTNESS.get(bands.dtype.str[1:], 0.0) * float(np.max(np.abs(high)))
    if not bool(np.all(np.abs(high - 2 * middle + low) <= room)):
        return None
    return (high + (high - middle) * np.arange(1, more + 1)).astype(bands.dtype)
