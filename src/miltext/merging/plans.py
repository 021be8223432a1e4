"""A merge as data: the decisions about each stretch of the merged text, of which the text is made afterwards."""

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
    """A stretch of a side's text."""

    side: int
    span: Span


class Replacement(NamedTuple):
    """The stretches that are taken in place of a stretch, as a list in brackets."""

    span: Span
    taken: tuple[Taken, ...]
    brackets: tuple[str, str] = ("", "")
    between: str = ""

    def edit(self, sides: Sides) -> Edit:
        """Return the edit that writes it."""
        opening, closing = self.brackets
        texts = (_side(sides, side).written(*span) for side, span in self.taken)
        return *self.span, f"{opening}{self.between.join(texts)}{closing}"


class MergeDecision(NamedTuple):
    """The decision about a stretch of the merged text: whose it is, and what of the other side replaces parts of it.

    It is a conflict where `side` is None. `spans` are its places in the base, ours and theirs; None where a version
    does not have it.
    """

    side: int | None
    spans: Sequence[Span | None]
    replaced: tuple[Replacement, ...] = ()

    def piece(self, sides: Sides, own_names: Mapping[Key, str]) -> Piece:
        """Return its text; in a conflict, values have the names that each version has, but for the `own_names`."""
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


def chosen(versions: Sequence[object], said: Sequence[object]) -> int | None:
    """Return the side with a change, or else with a new layout; None where both changed it, each otherwise.

    `said` contains the three contents, without layout.
    """
    before, mine, other = said
    if mine == other:
        return THEIRS if versions[OURS] == versions[0] else OURS
    if before == mine:
        return THEIRS
    return OURS if before == other else None
