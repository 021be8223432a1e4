"""The one rule for the owner of a comment: the token before it, or the token behind it.

A comment on a line of its own belongs to the token behind it. All others belong to the token before them on their line;
but after a comma or an opening bracket, and with code behind them, to that code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from miltext.diagnostics import Span

_LINE_BREAK = re.compile(r"[\r\n]")
_OPENING = ",([{<"


def owned_before(text: str, start: int, comments: Sequence[Span], end: int) -> int:
    """Return the number of comments that belong to the token before them, out of all comments between two tokens.

    The token before ends at `start`, and the token behind begins at `end`. Both may be ends of the text.
    """
    on_line = [are_on_line(text, *pair) for pair in pairwise([Span(start, start), *comments, Span(end, end)])]
    if not start or (text[start - 1] in _OPENING and all(on_line)):
        return 0
    return sum(takewhile(bool, on_line[:-1]))


def are_on_line(text: str, before: Span, behind: Span) -> bool:
    """Return whether no line ends between two tokens or comments."""
    return not _LINE_BREAK.search(text, before.end, behind.start)
