"""All that the server reads of one text, whole or broken."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING

from miltext.lsp.scopes import Scopes, Value
from miltext.lsp.trees import coarse_tree
from miltext.syntax.parser import NestingFailure, SyntaxFailure
from miltext.syntax.tree import Node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from miltext.diagnostics import Span

NOTHING = Node("program", 0, 0, [])
"""The tree of a text of which nothing could be read."""


class Reading:
    """A text with its tree of phrases, its comments and the meaning of its names.

    `is_whole` tells whether the text keeps to the grammar. Of one that does not, the tree is what `recover` could read
    of it, and comments are not kept; where even that is nothing, the tree is empty.
    """

    def __init__(self, text: str, root: Node, comments: list[Span], *, is_whole: bool) -> None:
        self.text = text
        self.root = root
        self.comments = comments
        self.is_whole = is_whole
        self.scopes = Scopes(root)

    @cached_property
    def inferred(self) -> Mapping[Span, str]:
        """What would take the place of that which a draft leaves out; takes as long as checking does."""
        if not self.scopes.is_draft:
            return {}
        from miltext.checking.drafts import draft_types
        from miltext.parsing.recovery import recover

        try:
            return draft_types(self.text, recover(self.text)).edits
        except Exception:  # whatever it is, the server lives on without types
            logging.getLogger("miltext").exception("inferring types failed")
            return {}

    def type_of(self, value: Value, *, ask: bool = False) -> str | None:
        """Return the type of a value as the text has it, or as it is inferred, if that was done or somebody asks for
        it.
        """
        written = value.phrase.children[0]
        if written.name != "DRAFT":
            return self.text[written.start : written.end]
        known: Mapping[Span, str] = self.inferred if ask else self.__dict__.get("inferred", {})
        return known.get(written.span)


def read_whole(text: str) -> Reading | None:
    """Read a text that keeps to the grammar; None for one that does not."""
    try:
        kept = coarse_tree(text)
        return Reading(text, kept.root, kept.comments, is_whole=True)
    except (SyntaxFailure, NestingFailure, RecursionError):
        return None


def read_past(text: str) -> Reading:
    """Read a text past what is wrong with it, which takes ten times as long."""
    from miltext.parsing.recovery import recover

    try:
        return Reading(text, recover(text).root or NOTHING, [], is_whole=False)
    except Exception:  # whatever it is, the server lives on without a tree
        logging.getLogger("miltext").exception("reading past errors failed")
        return Reading(text, NOTHING, [], is_whole=False)
