"""All that the server reads of one text, whole or broken."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from miltext.diagnostics import ParseError
from miltext.parsing.parser import parse_tree
from miltext.parsing.scopes import Meaning, Scopes
from miltext.placement.findings import ProfileCheck
from miltext.syntax.names import DRAFT, FILES
from miltext.syntax.tree import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from miltext.checking.further import Further
    from miltext.checking.verifier import CheckedText
    from miltext.diagnostics import Span
    from miltext.placement.predicting import Answer

NOTHING = Node("program", 0, 0, [])
"""The tree of an unreadable text."""


class Reading:
    """A text with its tree of phrases, its comments and the meaning of its names.

    `is_whole` is true if the text follows the grammar. If it does not, the tree is the result of `tree_past`, and
    comments are not kept; if nothing could be read, the tree is empty. Arrays that the text names are beside its
    `path`. Once the text is checked for a `profile`, its answers are in `placed`, by function and value.
    """

    def __init__(self, text: str, root: Node, comments: list[Span], *, is_whole: bool, path: str | None = None) -> None:
        self.text = text
        self.path = path
        self.root = root
        self.comments = comments
        self.is_whole = is_whole
        self.scopes = Scopes(root)
        self.profile = ""
        self.placed: Mapping[tuple[str, str], Answer] = {}

    @cached_property
    def inferred(self) -> Mapping[Span, str]:
        """The texts for the omitted parts of a draft, by their places; making them takes as long as a check.

        At the place of a nested operation is its type. For arrays, only the headers of their files are read.
        """
        if not self.scopes.is_draft:
            return {}
        from miltext.drafting.draft import Draft

        return Draft(self.text, self.path).types.placed()

    def learn(self, checked: CheckedText, further: Iterable[Further] = ()) -> None:
        """Keep the types that a check of the text has inferred, and the answers of a profile, for answers that do not
        wait.
        """
        self.__dict__["inferred"] = checked.types.placed() if checked.types else {}
        for each in further:
            if isinstance(each, ProfileCheck):
                self.profile = each.profile
                self.placed = {(answer.function, answer.name): answer for answer in each.answers}

    @property
    def names_arrays(self) -> bool:
        """Whether inferred types may depend on files beside the text."""
        return any(word in self.text for word in FILES)

    def type_of(self, value: Meaning, *, ask: bool = False) -> str | None:
        """Return the type of a value: the type in the text, or the inferred type if it is known or with `ask`."""
        start, end = place = value.type
        if self.text[start:end] not in (DRAFT, ""):
            return self.text[start:end]
        known: Mapping[Span, str] = self.inferred if ask else self.__dict__.get("inferred", {})
        found = known.get(place)
        return found and found.rstrip()


def read_whole(text: str, path: str | None = None) -> Reading | None:
    """Read a text that follows the grammar; return None for any other text."""
    try:
        kept = parse_tree(text, whole=True)
        return Reading(text, kept.root, kept.comments, is_whole=True, path=path)
    except (ParseError, RecursionError):
        return None


def read_past(text: str, path: str | None = None) -> Reading:
    """Read a text past its mistakes, which takes several times as long."""
    from miltext.parsing.recovery import tree_past

    return Reading(text, tree_past(text) or NOTHING, [], is_whole=False, path=path)


def past(text: str, checked: CheckedText, path: str | None = None) -> Reading:
    """Return the result of `read_past` for a text that a check may already have read past its mistakes."""
    if checked.read is None or checked.read.written_root is None:
        return read_past(text, path)
    return Reading(text, checked.read.written_root, [], is_whole=False, path=path)
