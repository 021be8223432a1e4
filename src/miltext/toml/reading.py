"""Texts in TOML: their contents as plain values of Python, and their mistakes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, Span, error
from miltext.toml.places import key_span, start_span, value_span

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json

Keys = tuple[str | int, ...]
"""The way to a value: keys, and indices in arrays."""


class NotToml(Exception):
    """A text other than TOML: the reason, and the place of the first error, if known."""

    def __init__(self, reason: str, span: Span | None) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


class Mistake(Exception):
    """A mistake in the value, or in the key, at the end of a way."""

    def __init__(self, code: str, message: str, at: Keys, *, key: bool = False, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.is_key, self.suggestion = code, message, at, key, suggestion

    def diagnostic(self, text: str) -> Diagnostic:
        """Return the mistake as an error at its place in a text."""
        span = (key_span if self.is_key else value_span)(text, self.at) or start_span(text)
        return error(self.code, self.message, span, suggestion=self.suggestion)


def read_toml(text: str) -> Json:
    """Return the values in a text. Raise NotToml. tomlkit is imported only now."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(text).unwrap()
    except (TOMLKitError, ValueError, RecursionError) as failure:
        raise _not_toml(failure, text) from failure


def _not_toml(failure: Exception, text: str) -> NotToml:
    """Return tomlkit's error for a text, at the place that tomlkit names, if any."""
    reason = re.sub(r" at line \d+ col \d+$", "", str(failure)) or "it is nested too deeply"
    span, line = None, getattr(failure, "line", None)
    if "Unexpected character: '\\x00'" in reason or "Unexpected end of file" in reason:  # so tomlkit sees the end
        reason, span = "it ends too early", Span(len(text), len(text))
    elif twice := re.fullmatch(r'Key "(.*)" already exists\.', reason):
        span = _second(text, twice[1], line)
    elif line is not None:
        start = sum(len(before) + 1 for before in text.split("\n")[: line - 1]) + getattr(failure, "col", 0)
        span = Span(min(start, len(text)), min(start + 1, len(text)))
    return NotToml(reason, span)


def _second(text: str, key: str, line: int | None) -> Span | None:
    """Return the place of a key that occurs twice: the last one up to the `line` that tomlkit names, which may be the
    next one; without a line, the second one below a header.
    """
    known = re.compile(rf"^[ \t]*\[*[ \t]*([\"']?{re.escape(key)}[\"']?)[ \t]*[=\].]|^[ \t]*\[", re.MULTILINE)
    end = len(text) if line is None else sum(len(each) + 1 for each in text.split("\n")[:line])
    last = None
    for found in known.finditer(text, 0, min(end, len(text))):
        if line is None and last is not None and found[1] is not None:
            return Span(*found.span(1))
        last = found if found[1] is not None else last if line is not None else None
    return None if last is None or line is None else Span(*last.span(1))


def noun(value: object) -> str:
    """Return the noun for a value of TOML."""
    kinds = {bool: "truth value", str: "string", int: "number", float: "number", list: "list", dict: "table"}
    return f"a {kinds.get(type(value), 'date or time')}"
