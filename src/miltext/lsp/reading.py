"""All that the server reads of one text, whole or broken."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from miltext.diagnostics import ParseError
from miltext.parsing.parser import parse_tree
from miltext.parsing.scopes import Scopes, Value
from miltext.syntax.names import ARRAYS, DRAFT
from miltext.syntax.tree import Node

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from miltext.checking.draft_types import DraftTypes
    from miltext.checking.verifier import CheckedText
    from miltext.diagnostics import Span
    from miltext.parsing.recovery import Recovered

NOTHING = Node("program", 0, 0, [])
"""The tree of a text of which nothing could be read."""


class Reading:
    """A text with its tree of phrases, its comments and the meaning of its names.

    `is_whole` tells whether the text keeps to the grammar. If it does not, the tree is what `tree_past` could read
    of the text, and comments are not kept; if it could read nothing, the tree is empty. `folder` is where the arrays
    are that the text names, None where that is not known.
    """

    def __init__(
        self, text: str, root: Node, comments: list[Span], *, is_whole: bool, folder: Path | None = None
    ) -> None:
        self.text = text
        self.folder = folder
        self.root = root
        self.comments = comments
        self.is_whole = is_whole
        self.scopes = Scopes(root)

    @cached_property
    def inferred(self) -> Mapping[Span, str]:
        """The texts that would take the place of what a draft leaves out; making them takes as long as a check.

        At the place of an operation inside another stands the type that it gives. Of arrays, headers are read.
        """
        if not self.scopes.is_draft:
            return {}
        from miltext.checking.arrays import Arrays
        from miltext.checking.drafts import draft_types
        from miltext.parsing.recovery import recover

        read = recover(self.text)
        return _placed(read, draft_types(read, Arrays(self.folder)))

    def learn(self, checked: CheckedText) -> None:
        """Keep what a check of the text has inferred, for answers that do not wait."""
        known = _placed(checked.read, checked.types) if checked.read and checked.types else {}
        self.__dict__["inferred"] = known

    @property
    def names_arrays(self) -> bool:
        """Whether what is inferred may hang on files beside the text."""
        return any(word in self.text for word in ARRAYS)

    def type_of(self, value: Value, *, ask: bool = False) -> str | None:
        """Return the type of a value as the text has it, or as it is inferred, if that was done or `ask` says so."""
        start, end = place = value.type
        if self.text[start:end] not in (DRAFT, ""):
            return self.text[start:end]
        known: Mapping[Span, str] = self.inferred if ask else self.__dict__.get("inferred", {})
        found = known.get(place)
        return found and found.rstrip()


def read_whole(text: str, folder: Path | None = None) -> Reading | None:
    """Read a text in a folder that keeps to the grammar; None for one that does not."""
    try:
        kept = parse_tree(text, whole=True)
        return Reading(text, kept.root, kept.comments, is_whole=True, folder=folder)
    except (ParseError, RecursionError):
        return None


def read_past(text: str, folder: Path | None = None) -> Reading:
    """Read a text in a folder past what is wrong with it, which takes several times as long."""
    from miltext.parsing.recovery import tree_past

    return Reading(text, tree_past(text) or NOTHING, [], is_whole=False, folder=folder)


def past(text: str, read: Recovered | None, folder: Path | None = None) -> Reading:
    """Return what `read_past` does of a text that was `read` past its mistakes already, if it was."""
    if read is None or read.written_root is None:
        return read_past(text, folder)
    return Reading(text, read.written_root, [], is_whole=False, folder=folder)


def _placed(read: Recovered, types: DraftTypes) -> dict[Span, str]:
    """Return the texts for what a draft leaves out, at their places in what was written."""
    found: dict[Span, str] = {}
    for span, text in types.edits.items():
        found.setdefault(read.written(span), text)  # an array that becomes a constant of its own comes before that
    return found
