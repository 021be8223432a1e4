"""Numbers as simple functions of a size: the known functions, and their results for another size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.checking.resizing.facts import SizeChange, Sizes

FORMS: dict[str, Callable[[float], float]] = {
    "{n}": lambda n: n,
    "1/{n}": lambda n: 1 / n,
    "√{n}": math.sqrt,
    "1/√{n}": lambda n: 1 / math.sqrt(n),
    "{n} - 1": lambda n: n - 1,
    "1/({n} - 1)": lambda n: 1 / (n - 1),
    "{n}/({n} - 1)": lambda n: n / (n - 1),
    "({n} - 1)/{n}": lambda n: (n - 1) / n,
    "√({n}/({n} - 1))": lambda n: math.sqrt(n / (n - 1)),
    "2/{n}": lambda n: 2 / n,
    "2/({n} - 1)": lambda n: 2 / (n - 1),
    "{n}/2": lambda n: n / 2,
    "({n} - 1)/2": lambda n: (n - 1) / 2,
    "{n}²": lambda n: n * n,
    "1/{n}²": lambda n: 1 / (n * n),
    "log {n}": math.log,
    "{n} + 1": lambda n: n + 1,
    "1/({n} + 1)": lambda n: 1 / (n + 1),
    "1/log {n}": lambda n: 1 / math.log(n),
    "{n}·({n} - 1)/2": lambda n: n * (n - 1) / 2,
    "2/({n}·({n} - 1))": lambda n: 2 / (n * (n - 1)),
}
"""Functions of a size in programs, with their spelling and result; the first match is used."""

PRECISION = {"fp16": 1e-3, "fp32": 1e-6, "fp64": 1e-9}
"""The greatest relative error of a form's result: half a unit of the last place, or a little more."""

COUNTING = frozenset(each for each in FORMS if not any(sign in each for sign in ("√", "²", "log", "·")))
"""The functions in means and variances."""

USUAL = frozenset({0.5, 2.0, 3.0, 6.0, 10.0, 100.0})
"""Numbers that programs usually contain for other reasons: they are kept, and their possible meaning is reported."""

DECAYS = (0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1.01, 1.05, 1.1)
"""Bases of powers found in programs; powers of 2 are also other numbers."""

LEAST_POWER = 4
"""The least size for a match of a power; many numbers are powers of smaller sizes."""


class SizeFunction(NamedTuple):
    """A function of a size that matches a number: its spelling, its new result if needed, and its certainty."""

    words: str
    change: SizeChange
    now: float | None
    is_sure: bool


def form_of(number: float, dtype: str, sizes: Sizes) -> SizeFunction | None:
    """Return the first form that matches a number of a data type for an old size; None without a match.

    A form is uncertain if an unchanged size matches as well, or if programs contain the number for other reasons.
    """
    exactness = PRECISION.get(dtype, 0.0)
    magnitude = abs(number)
    if not math.isfinite(number) or magnitude in (0.0, 1.0):
        return None

    def gives(compute: Callable[[float], float], size: int) -> bool:
        expected = _computed(compute, size)
        return expected is not None and abs(magnitude - expected) <= exactness * abs(expected)

    ordered = sorted((change for change in sizes.changed if change.before > 1), key=_place)
    for words, compute in FORMS.items():
        for change in ordered:
            if not gives(compute, change.before):
                continue
            if change.spread and (words not in COUNTING or magnitude in USUAL):
                continue
            now = None if change.now is None else _computed(compute, change.now)
            is_sure = magnitude not in USUAL and not any(gives(compute, size) for size in sizes.steady)
            signed = None if now is None else math.copysign(now, number)
            return SizeFunction(words.format(n=change.before), change, signed, is_sure)
    for base in DECAYS:
        for change in ordered:
            if change.before >= LEAST_POWER and not change.spread and gives(base.__pow__, change.before):
                return SizeFunction(f"{base}^{change.before}", change, None, is_sure=False)
    return None


def _place(change: SizeChange) -> tuple[bool, int, int, int]:
    """Return the sort key of a change, whose new size may be open."""
    return change.spread, change.before, -1 if change.now is None else change.now, change.axis


def _computed(compute: Callable[[float], float], size: int) -> float | None:
    try:
        return compute(size)
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
