"""A merge as data: the decisions about each range of the merged text, which is written from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.merging.conflicts import Conflict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.diagnostics import Span
    from miltext.merging.conflicts import Piece
    from miltext.merging.sides import Key, Side
    from miltext.syntax.editing import Edit

OURS, THEIRS = 1, 2

Sides: TypeAlias = "tuple[Side | None, Side, Side]"
"""The base, ours and theirs."""


class Taken(NamedTuple):
    """A range of a side's text."""

    side: int
    span: Span


class Replacement(NamedTuple):
    """The ranges that replace a range, as a list in brackets."""

    span: Span
    taken: tuple[Taken, ...]
    brackets: tuple[str, str] = ("", "")
    between: str = ""

    def edit(self, sides: Sides) -> Edit:
        """Return the edit for this replacement."""
        opening, closing = self.brackets
        texts = (_side(sides, side).written(*span) for side, span in self.taken)
        return *self.span, f"{opening}{self.between.join(texts)}{closing}"


class MergeDecision(NamedTuple):
    """The decision about a range of the merged text: the `side` that it is taken from, None for a conflict, and the
    parts replaced from the other side.

    `spans` are its places in the base, ours and theirs; None for a version that lacks it.
    """

    side: int | None
    spans: Sequence[Span | None]
    replaced: tuple[Replacement, ...] = ()

    def piece(self, sides: Sides, own_names: Mapping[Key, str]) -> Piece:
        """Return the text. In a conflict, values keep the names of each version, except for the `own_names`."""
        if self.side is None:
            found = zip(sides, self.spans, strict=True)
            return Conflict(*[side.written(*span, own_names) if side and span else "" for side, span in found])
        span = self.spans[self.side]
        assert span is not None
        return _side(sides, self.side).written(*span, edits=[each.edit(sides) for each in self.replaced])


def _side(sides: Sides, number: int) -> Side:
    side = sides[number]
    assert side is not None
    return side


def chosen(said: Sequence[object], versions: Sequence[object] = ()) -> int | None:
    """Return the side with a change of contents, ours if both are equal; None if both changed the contents differently.

    `said` contains the three contents, and `versions` their layouts: of equal contents, that of theirs is taken if only
    theirs changed it.
    """
    before, mine, other = said
    if mine == other:
        return THEIRS if versions and versions[OURS] == versions[0] else OURS
    if before == mine:
        return THEIRS
    return OURS if before == other else None
