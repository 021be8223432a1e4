"""Checked values in TOML: texts, numbers and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.toml.reading import noun

MOST_SHOWN = 40
"""The number of characters of a value shown in a message."""


class Wrong(Exception):
    """A mistake in the value of a word. The message follows the word's name; `at` leads to the place in the value."""

    def __init__(self, code: str, message: str, *at: int, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.suggestion = code, message, at, suggestion


@contextmanager
def inside(index: int) -> Iterator[None]:
    """Place errors in a `with` block at an index of the value."""
    try:
        yield
    except Wrong as wrong:
        wrong.at = (index, *wrong.at)
        raise


def text(value: object) -> str:
    """Return a string. Raise Wrong."""
    if not isinstance(value, str):
        raise Wrong(codes.DESCRIPTION_VALUE_TYPE, f'takes a string, as in `"..."`, not {noun(value)}')
    return value


def flag(value: object) -> bool:
    """Return a truth value. Raise Wrong."""
    if not isinstance(value, bool):
        raise Wrong(codes.DESCRIPTION_VALUE_TYPE, f"takes `true` or `false`, not {noun(value)}")
    return value


def number(value: object, least: int, most: int) -> int:
    """Return a whole number between two others. Raise Wrong."""
    if isinstance(value, bool) or not isinstance(value, int):
        is_float = isinstance(value, float)
        raise Wrong(
            codes.DESCRIPTION_VALUE_TYPE, f"takes a whole number, not {_shown(value) if is_float else noun(value)}"
        )
    if not least <= value <= most:
        raise Wrong(codes.DESCRIPTION_NUMBER_RANGE, f"takes a number from {least} to {most}, not {_shown(value)}")
    return value


def numbers(value: object, least: int, most: int) -> list[int]:
    """Return a list of whole numbers between two others. Raise Wrong."""
    found = []
    for index, each in enumerate(items(value, "numbers, as in `[1, 3]`")):
        with inside(index):
            found.append(number(each, least, most))
    return found


def pair(value: object, what: str) -> tuple[object, object]:
    """Return a list of two as a tuple; `what` names the expected values in the message. Raise Wrong."""
    found = items(value, what)
    if len(found) != 2:
        raise Wrong(codes.DESCRIPTION_VALUE_TYPE, f"takes a list of {what}, not of {len(found)}")
    return found[0], found[1]


def items(value: object, what: str) -> list[object]:
    """Return a list; `what` names the expected items in the message. Raise Wrong."""
    if not isinstance(value, list):
        raise Wrong(codes.DESCRIPTION_VALUE_TYPE, f"takes a list of {what}, not {noun(value)}")
    return value


def word(value: object, words: Iterable[str]) -> str:
    """Return a string if it is a known word. Raise Wrong."""
    known = [*words]
    written = text(value)
    if written in known:
        return written
    near = nearest(written, known)
    listed = "" if near else f"; write one of {', '.join(known)}"
    suggestion = f'"{near}"' if near else None
    raise Wrong(
        codes.UNKNOWN_DESCRIPTION_WORD,
        f"cannot be {_shown(written)}{did_you_mean(near)}{listed}",
        suggestion=suggestion,
    )


def _shown(value: object) -> str:
    shown = f'"{value}"' if isinstance(value, str) else str(value)
    return shown if len(shown) <= MOST_SHOWN else f"{shown[:MOST_SHOWN]}..."
