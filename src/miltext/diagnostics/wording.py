"""Shared phrases of messages: lists of names, counts, kinds of evidence, and words of command lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

OTHER_COLOURS = "are images of other colour spaces"
"""The problem of two images that would be one value."""

ORDER_CHANNELS = "their channels are in another order: change it in the text of one model"
"""The way out of `OTHER_COLOURS`."""


def listed(words: Iterable[str], conjunction: str = "or", most: int | None = None) -> str:
    """Join quoted words for a sentence: `` `a`, `b` or `c` ``; with more words than `most`: `` `a`, `b` and 3 more
    ``.
    """
    quoted = [f"`{word}`" for word in words]
    if most is not None and len(quoted) > most:
        return f"{', '.join(quoted[:most])} and {len(quoted) - most} more"
    return f" {conjunction} ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def tally(number: int, noun: str) -> str:
    """Return a count with its noun: `0 tests`, `1 test`, `2 tests`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def table(rows: Iterable[Sequence[str]], headings: Sequence[str]) -> list[str]:
    """Return the lines of a table with its headings. The last cell of a short row reaches over later columns."""
    rows = [headings, *rows]
    widths = [
        max([len(row[column]) for row in rows if len(row) > column + (len(row) < len(headings))], default=0)
        for column in range(len(headings))
    ]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]


def evidence(source: str) -> str:
    """Return the evidence for an unproven fact: the source where it was seen, or that it was never seen."""
    return f"seen elsewhere ({source})" if source else "never seen"


def for_shell(word: str) -> str:
    """Quote a word for the shell that runs a command: POSIX's, or Windows'."""
    if os.name == "posix":
        import shlex

        return shlex.quote(word)
    import subprocess

    return subprocess.list2cmdline([word])
