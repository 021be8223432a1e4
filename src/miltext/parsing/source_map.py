"""Parsing with the place of each message in the text."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from miltext.parsing.parser import parse, parse_tree
from miltext.parsing.spans import phrases_by_path
from miltext.schema.walk import messages

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.schema.paths import Path
    from miltext.schema.proto import Message, Program


class SourceMap:
    """The places of a parsed Program's messages in its text.

    `spans` contains them by path: field names, each followed by the key or the index in a repeated field, as in
    `("functions", "main", "block_specializations", "CoreML8", "operations", 3)`. A message without a phrase of its own,
    a Dimension for example, has no entry. `comments` are the spans of the text's comments.
    """

    def __init__(self, program: Program, spans: dict[Path, Span], comments: list[Span]) -> None:
        self._program = program
        self.spans = spans
        self.comments = comments

    def __repr__(self) -> str:
        return f"<SourceMap: {len(self.spans)} places, {len(self.comments)} comments>"

    def span(self, message: Message) -> Span | None:
        """Return the place of a message of the Program: the same object, not an equal one."""
        known = self._by_identity.get(id(message))
        return known[1] if known else None

    @cached_property
    def _by_identity(self) -> dict[int, tuple[Message, Span]]:
        """Each message with its span; a reference to the message keeps protobuf from making a new object for it."""
        return {
            id(message): (message, self.spans[path]) for path, message in messages(self._program) if path in self.spans
        }


def parse_with_source(text: str, *, path: str | None = None) -> tuple[Program, SourceMap]:
    """Return the Program of a text, and the places of its messages.

    Args:
        text: MIL text with all types.
        path: The name that errors show.

    Returns:
        The Program, and a `SourceMap` from its messages to spans of the text.

    Raises:
        ParseError: The text is not MIL text.

    Example:
        program, places = miltext.parse_with_source(open("model.mil").read())
    """
    program = parse(text, path=path)
    traced = parse_tree(text, path)
    spans = {place: phrase.span for place, phrase in phrases_by_path(traced.root)}
    return program, SourceMap(program, spans, traced.comments)
