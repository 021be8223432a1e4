"""The phrases of a statement, or of a head, that can be merged each by itself: words, and lists of keyed phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from miltext.diagnostics import Span
from miltext.parsing.lowering import opset_bytes
from miltext.parsing.spans import name_of
from miltext.syntax.lexer import FINE
from miltext.syntax.literals import without_spaces
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.tree import Node, Statement, named, tree_of

words_of = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+').findall
"""The words of a text without its layout: strings, and all else without white space."""

FUNCTION = "program(1.3){"
"""The prefix that makes a function a part of a program for the parser."""

Normal = tuple[str, ...]
"""A phrase without its layout: its tokens."""


class PhraseTokens(NamedTuple):
    """A phrase: its place in the text of its form, and its tokens."""

    span: Span
    normal: Normal


class PhraseList(NamedTuple):
    """A list of phrases, each under its key; an absent list has its place, and no width."""

    span: Span
    brackets: tuple[str, str]
    items: dict[str, PhraseTokens]
    between: str = ", "
    is_optional: bool = False

    def written(self, texts: Sequence[str]) -> str:
        """Return the list with these texts as its items."""
        if self.is_optional and not texts:
            return ""
        opening, closing = self.brackets
        return f"{opening}{self.between.join(texts)}{closing}"


class AmbiguousKeys(Exception):
    """A phrase cannot be taken apart: two of its parts have one key."""


class ItemForm:
    """The text of an item without the contents of its braces: its `segments`, one more than pairs of braces.

    `lead` and `trail` are the comments and spaces around it, the `core` is the text between them, and the `bounds` are
    the ends of segments in the core. `kind` is the rule of its phrase.
    """

    def __init__(self, kind: str, segments: Sequence[str], lead: int, trail: int) -> None:
        self.kind = kind
        whole = "".join(segments)
        stop = len(whole) - trail
        self.lead, self.core, self.trail = whole[:lead], whole[lead:stop], whole[stop:]
        self.bounds = [min(end - lead, len(self.core)) for end in accumulate(map(len, segments))]

    def segments(self, core: str | None = None, bounds: Sequence[int] | None = None) -> list[str]:
        """Return the core cut at its bounds, or another core at its own bounds."""
        core, bounds = (self.core, self.bounds) if core is None or bounds is None else (core, bounds)
        return [core[start:end] for start, end in zip([0, *bounds], bounds, strict=False)]

    def segment_at(self, offset: int) -> int:
        """Return the index of the segment that a phrase at an offset is in."""
        return next(index for index, end in enumerate(self.bounds) if offset < end or end == len(self.core))

    @cached_property
    def _read(self) -> tuple[Node, list[Span]]:
        """The tree, and the places of the comments in the core."""
        spans: list[Span] = []
        if self.kind != "function":
            return tree_of(self.core, FINE, self.kind, spans), spans
        whole = tree_of(f"{FUNCTION}{self.core}}}", FINE, comments=spans)
        return next(named(whole, "function")), [self._span(*span) for span in spans]

    @property
    def root(self) -> Node:
        """The tree of the core. Raise SyntaxFailure."""
        return self._read[0]

    @property
    def comments(self) -> list[str]:
        """The comments inside the core."""
        return self.comments_in(Span(0, len(self.core)))

    def comments_in(self, span: Span) -> list[str]:
        """Return the comments in a stretch of the core."""
        found = (each for each in self._read[1] if span.start <= each.start < span.end)
        return [self.core[each.start : each.end] for each in found]

    @cached_property
    def normal(self) -> object:
        """The tokens of the core, without layout, and without the order of keyed items."""
        try:
            items = {key: {at: part.normal for at, part in each.items.items()} for key, each in self.lists.items()}
            ordered = [
                [*self.lists[key].items] for key in self.lists if not key.startswith(("arguments", "attributes"))
            ]
            return {key: part.normal for key, part in self.words.items()}, items, ordered, self.comments
        except (SyntaxFailure, AmbiguousKeys):
            return self.core

    # ---- words and lists

    @cached_property
    def words(self) -> dict[str, PhraseTokens]:
        """The words by their part: the type of an operation, the version of a program."""
        return dict(self._words())

    @cached_property
    def lists(self) -> dict[str, PhraseList]:
        """The lists by the kind of their items. Raise AmbiguousKeys."""
        return dict(self._lists())

    def _words(self) -> Iterator[tuple[str, PhraseTokens]]:
        root = self.root
        if self.kind == "program":
            yield "version", self._part(root.children[2])
        name = next(named(root, "NAME"), None)
        if name is not None:
            opset = next(named(root, "opset", "operation_opset"), name)
            span = self._span(name.start, opset.end)
            yield "name", PhraseTokens(span, normal(name) + (normal(opset) if opset is not name else ()))
        for index, body in enumerate(self._bodies(root)):
            for opset in named(body, "opset"):
                yield f"opset {index}", self._part(opset)

    def _lists(self) -> Iterator[tuple[str, PhraseList]]:
        root, kinds = self.root, [child.name for child in self.root.children]
        if self.kind == "program":
            fields = [*named(root, "program_version", "program_doc", "draft_marker")]
            start, end = (fields[0].start, fields[-1].end) if fields else (root.children[3].end,) * 2
            keyed = {field.name: self._part(field) for field in fields}
            lead = " " if not fields else ""
            yield "fields", PhraseList(self._span(start, end), (lead, ""), keyed, " ", True)
            yield "attributes", self._attributes(root, "attributes", fields[-1].end if fields else root.children[3].end)
            return
        if "results" in kinds:
            yield "results", self._values(root.children[kinds.index("results")], ("", ""))
        for head in named(root, "arguments", "parameters"):
            yield head.name, self._arguments(head) if head.name == "arguments" else self._values(head, ("(", ")"))
            yield "attributes", self._attributes(root, "attributes", head.end)
        for index, body in enumerate(self._bodies(root)):
            yield from self._body(body, f" {index}")

    def _bodies(self, root: Node) -> list[Node]:
        inner = [*named(root, "inner_block")]
        return inner or [body for bodies in named(root, "bodies") for body in named(bodies, "block", "specialization")]

    def _body(self, body: Node, place: str) -> Iterator[tuple[str, PhraseList]]:
        for parameters in named(body, "parameters"):
            yield f"parameters{place}", self._values(parameters, ("(", ")"))
        block = body if body.name == "block" else next(named(body, "block"))
        for outputs in named(block, "outputs"):
            keyed = _keyed((name_of(name.token or ""), self._part(name)) for name in named(outputs, "NAME"))
            yield f"outputs{place}", PhraseList(self._span(*outputs.span), ("(", ")"), keyed)
            yield f"attributes{place}", self._attributes(block, "marked_attributes", outputs.end)

    def _values(self, phrase: Node, brackets: tuple[str, str]) -> PhraseList:
        values = named(phrase, "named_value", "draft_value")
        keyed = _keyed((name_of(value.children[-1].token or ""), self._part(value)) for value in values)
        return PhraseList(self._span(*phrase.span), brackets, keyed)

    def _arguments(self, phrase: Node) -> PhraseList:
        given = named(phrase, "argument", "single_argument", "positional_argument")
        keyed = _keyed((_parameter(each, place), self._part(each)) for place, each in enumerate(given))
        return PhraseList(self._span(*phrase.span), ("(", ")"), keyed)

    def _attributes(self, root: Node, rule: str, absent: int) -> PhraseList:
        phrase = next(named(root, rule), None)
        opening = "[" if rule == "attributes" else " $["
        if phrase is None:
            return PhraseList(self._span(absent, absent), (opening, "]"), {}, is_optional=True)
        stated = named(phrase, "attribute", "draft_attribute")
        keyed = _keyed((name_of(each.children[0].token or ""), self._part(each)) for each in stated)
        return PhraseList(self._span(*phrase.span), (opening.strip(), "]"), keyed, is_optional=True)

    def _part(self, phrase: Node) -> PhraseTokens:
        return PhraseTokens(self._span(phrase.start, phrase.end), normal(phrase))

    def _span(self, start: int, end: int) -> Span:
        before = len(FUNCTION) if self.kind == "function" else 0
        return Span(start - before, end - before)


def _parameter(argument: Node, place: int) -> str:
    return str(place) if argument.name == "positional_argument" else name_of(argument.children[0].token or "")


def _keyed(parts: Iterator[tuple[str, PhraseTokens]]) -> dict[str, PhraseTokens]:
    """Return phrases by their keys. Raise AmbiguousKeys."""
    found = list(parts)
    keyed = dict(found)
    if len(keyed) < len(found):
        raise AmbiguousKeys
    return keyed


def normal(phrase: Node) -> Normal:
    """Return the tokens of a phrase, without parentheses around one binding; rank 0 in its short spelling."""
    if phrase.name == "argument" and len(phrase.children) == 5:
        return tuple(_tokens(child for child in phrase.children if child.token not in ("(", ")")))
    return tuple(_tokens([phrase]))


def _tokens(phrases: Iterable[Node]) -> Iterator[str]:
    """Yield the tokens of phrases, an opset as a Program has it: `$"ios18"` is not `ios18`."""
    todo = [*phrases][::-1]
    while todo:
        phrase = todo.pop()
        if phrase.token is not None or isinstance(phrase, Statement):
            yield _said(phrase)
        elif phrase.name in ("opset", "operation_opset"):
            yield f"<{opset_bytes(phrase.children[1].token or '').decode()}>"
        else:
            todo += reversed(phrase.children)


def _said(token: Node) -> str:
    text = token.token or ""
    if token.name == "TENSOR":
        text = without_spaces(text)
        return text[7:-4] if text.endswith(",[]>") else text
    if token.name == "NAME":
        return f"${name_of(text)}"  # only names, no other words: `$"inf"` is not `inf`
    return without_spaces(text) if token.name == "LIST" else text
