"""Text as Markdown: words that mean nothing to it but themselves, outside of what is code already."""

from __future__ import annotations

import re
from collections.abc import Callable

_SPAN = re.compile(r"(`[^`]*`)")


def plain(text: str) -> str:
    """Return a line in which only code, in backticks, is marked up."""
    return _outside_spans(text, lambda piece: re.sub(r"([<*_\[\]])", r"\\\1", piece))


def cell(text: str) -> str:
    """Return Markdown for a cell of a table, which is one line without bars."""
    return _outside_spans(" ".join(text.split()), lambda piece: piece.replace("|", "\\|"))


def docstring(text: str) -> str:
    """Return a docstring, which is nearly Markdown: only HTML is not meant."""
    return _outside_spans(text, lambda piece: piece.replace("<", "\\<"))


def _outside_spans(text: str, change: Callable[[str], str]) -> str:
    return "".join(piece if piece.startswith("`") else change(piece) for piece in _SPAN.split(text))
