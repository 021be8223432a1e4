"""Diagnostics about an input, the errors that contain them, and their display.

Positions are offsets into the text (code points, end exclusive); lines and columns are computed only when a message is
shown.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

WINDOW = 96
"""Number of columns of a source line that a message shows around the place."""


SAFE, UNSAFE = "safe", "unsafe"
"""The certainty of a suggestion. A safe suggestion keeps the meaning, or is the only fix of a definite error; an unsafe
suggestion is a guess, or changes the meaning of a program.
"""


class Span(NamedTuple):
    """A range of a text, from `start` to `end` in code points, `end` exclusive."""

    start: int
    end: int


class Note(NamedTuple):
    """A further sentence under a diagnostic, with its place if there is one."""

    message: str
    span: Span | None = None


class Diagnostic(NamedTuple):
    """One finding: `severity` is `error`, `warning` or `note`; `code` is stable; `span` may be absent.

    `suggestion` is the text to put in place of the span; the message names it too. `applicability` is its certainty:
    `safe` or `unsafe`. An error `stops` a draft if, because of it, a type cannot be inferred.
    """

    severity: str
    code: str
    message: str
    span: Span | None = None
    notes: tuple[Note, ...] = ()
    suggestion: str | None = None
    applicability: str = UNSAFE
    stops: bool = False


class MiltextError(ValueError):
    """An input that miltext refuses. `diagnostics` are the errors, `text` is the text for their spans."""

    def __init__(self, diagnostics: Sequence[Diagnostic], *, text: str | None = None, path: str | None = None) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = list(diagnostics)
        self.text = text
        self.path = path

    def __str__(self) -> str:
        return "\n".join(render(diagnostic, self.text, self.path) for diagnostic in self.diagnostics)


class ParseError(MiltextError):
    """The text is not MIL text, or describes a Program that cannot exist."""


class PrintError(MiltextError):
    """The Program cannot be expressed in the text of this style."""


class ModelError(MiltextError):
    """A file or folder other than the expected model. `about` is the faulty part of a program, for callers that have
    the program's text.
    """

    about: object = None


class SettingsError(MiltextError):
    """A project's pyproject.toml contains invalid settings."""


@contextmanager
def refusing(refused: Callable[[Exception], Exception]) -> Iterator[None]:
    """Read foreign data in a `with` block: `refused` turns any exception in the block into an error about the data.

    Each reader of a kind of files uses it. The block contains only the reading, so that a bug of miltext is not
    reported as a fault of a file. A MiltextError passes unchanged, as it is more precise.
    """
    try:
        yield
    except MiltextError:
        raise
    except Exception as failure:
        raise refused(failure) from failure


def error(
    code: str,
    message: str,
    span: Span | None = None,
    *notes: Note,
    suggestion: str | None = None,
    applicability: str = UNSAFE,
) -> Diagnostic:
    """Return a Diagnostic of severity `error`."""
    return Diagnostic("error", code, message, span, notes, suggestion, applicability)


def warning(code: str, message: str, span: Span | None = None, *notes: Note) -> Diagnostic:
    """Return a Diagnostic of severity `warning`."""
    return Diagnostic("warning", code, message, span, notes)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column of an offset, both from 1; columns count code points."""
    starts = _line_starts(text)
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


@lru_cache(maxsize=1)
def _line_starts(text: str) -> list[int]:
    """Return the offsets of a text's lines, cached because one text has many diagnostics."""
    return [0, *[match.end() for match in re.finditer("\n", text)]]


def render(diagnostic: Diagnostic, text: str | None = None, path: str | None = None) -> str:
    """Return a diagnostic as text for people: place, severity, code, message, and the source line with a caret."""
    path = None if path is None else visible(path)
    head = f"{diagnostic.severity}[{diagnostic.code}]: {visible(diagnostic.message)}"
    shown = _place(head, diagnostic.span, text, path)
    for note in diagnostic.notes:
        shown += "\n" + _place(f"note: {visible(note.message)}", note.span, text, path)
    return shown


def _place(head: str, span: Span | None, text: str | None, path: str | None) -> str:
    if span is None or text is None:
        return f"{path}: {head}" if path else head
    line, column = line_and_column(text, span.start)
    return f"{path or '<text>'}:{line}:{column}: {head}\n{_excerpt(text, span, line)}"


def _excerpt(text: str, span: Span, line: int) -> str:
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.start)
    end = len(text) if end < 0 else max(end - (text[end - 1 : end] == "\r"), span.start)
    left = max(start, span.start - WINDOW // 2)
    right = min(end, left + WINDOW)
    before = ("..." if left > start else "") + visible(text[left : span.start])
    marked = visible(text[span.start : min(span.end, right)])
    after = visible(text[min(span.end, right) : right]) + ("..." if right < end else "")
    number = str(line)
    carets = "^" + "~" * (text_width(marked) - 1)
    return f" {number} | {before}{marked}{after}\n {' ' * len(number)} | {' ' * text_width(before)}{carets}"


def visible(text: str) -> str:
    """Return a text made safe for a terminal: a tab becomes one space, control and bidirectional characters become
    U+FFFD.
    """
    return "".join(
        " " if char == "\t" else "\ufffd" if unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs") else char
        for char in text
    )


def text_width(text: str) -> int:
    """Return the width of a text on a terminal: wide characters take two columns, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
