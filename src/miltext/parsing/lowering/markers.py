"""The marker of a draft, `$draft(names, consts)`: the words allowed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.parsing.lowering.errors import LoweringError
from miltext.syntax.names import DRAFT_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.parsing.lowering.values import Children

_WORDS = ", ".join(f"`{word}`" for word in DRAFT_WORDS[:-1]) + f" and `{DRAFT_WORDS[-1]}`"


def marker_error(children: Children) -> LoweringError | None:
    """Return the error in the words of a marker, at the first wrong word."""
    words: Sequence[str] = children[2:-1:2]
    if not words:
        return LoweringError(codes.UNKNOWN_DRAFT_WORD, f"`$draft()` is empty; write some of {_WORDS}, or remove it", 0)
    for place, word in enumerate(words):
        if word not in DRAFT_WORDS:
            meant = nearest(word, DRAFT_WORDS)
            message = f"`infer` writes {_WORDS}, and `{word}` is none of them{did_you_mean(meant)}"
            return LoweringError(codes.UNKNOWN_DRAFT_WORD, message, word, suggestion=meant)
        if word in words[:place]:
            return LoweringError(codes.UNKNOWN_DRAFT_WORD, f"`{word}` occurs twice in this list; remove one", word)
    return None
