"""Suggestions for a wrong word: the most similar allowed word."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from miltext.diagnostics import SAFE, UNSAFE

LIKENESS = 0.7
"""The least ratio of difflib between a misspelled word and a suggestion."""


def nearest(word: str, choices: Iterable[str], likeness: float = LIKENESS) -> str | None:
    """Return the choice most similar to `word`; None if no choice is similar enough."""
    from difflib import get_close_matches

    by_case = {choice.lower(): choice for choice in choices}
    found = get_close_matches(word.lower(), by_case, 1, likeness)
    return by_case[found[0]] if found else None


def one_slip_from(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that differs from `word` by one letter or by two exchanged letters; of several, the nearest."""
    wanted = word.lower()
    slips = [choice for choice in choices if _is_one_slip(wanted, choice.lower())]
    return slips[0] if len(slips) == 1 else nearest(word, slips)


def _is_one_slip(one: str, other: str) -> bool:
    """Return whether two words differ in at most one letter, or in two exchanged letters."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = _alike(one, other)
    end = _alike(one[start:][::-1], other[start:][::-1])
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    return max(len(left), len(right)) < 2 or (len(left) == 2 and left == right[::-1])


def _alike(one: str, other: str) -> int:
    """Return the number of equal letters at the beginnings of two words."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def certainty(written: str, meant: str | None) -> str:
    """Return the applicability of a suggested word: safe if only the case of letters differs, otherwise unsafe."""
    return SAFE if meant is not None and written.lower() == meant.lower() else UNSAFE


def bool_meant(word: str, type: str = "bool") -> str | None:
    """Return the truth value with its `type`, such as `bool(true)`, for a spelling of another language: `True`,
    `FALSE`.
    """
    return f"{type}({word.lower()})" if word.lower() in ("true", "false") else None


def did_you_mean(near: str | None) -> str:
    """Return the end of a message that names the likely intended word."""
    return f"; did you mean `{near}`?" if near else ""
