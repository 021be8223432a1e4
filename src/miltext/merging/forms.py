"""The phrases of a statement, or of a head, that can be merged each by itself: words, and lists of keyed phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Span
from miltext.merging.plans import Replacement, Taken
from miltext.parsing.lowering import opset_bytes
from miltext.syntax.literals import without_spaces
from miltext.syntax.names import name_of
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.tree import Node, Statement, named

if TYPE_CHECKING:
    from miltext.merging.sides import Item, Side

words_of = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+').findall
"""The words of a text without its layout: strings, and all else without white space."""

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

    def of(self, items: Iterable[Taken]) -> Replacement:
        """Return what makes a list of other items in its place."""
        taken = tuple(items)
        brackets = ("", "") if self.is_optional and not taken else self.brackets
        return Replacement(self.span, taken, brackets, self.between)


class AmbiguousKeys(Exception):
    """A phrase cannot be taken apart: two of its parts have one key."""


class ItemForm:
    """An item of a side as words and lists, without the contents of its braces: with final names, and places there.

    Its `segments`, one more than pairs of braces, have the comments `around` it, too.
    """

    def __init__(self, side: Side, item: Item) -> None:
        self.side = side
        self.kind = item.node.name
        self.segments = [Span(*each) for each in item.segments()]
        self.around = Span(item.start, item.node.start), Span(item.node.end, item.end)
        self._item = item

    def text(self, span: Span) -> str:
        """Return a stretch of the side's text, with the final names."""
        return self.side.written(*span)

    @cached_property
    def own_segments(self) -> list[Span]:
        """The segments without the comments around the item."""
        start, end = self._item.node.span
        return [Span(max(each.start, start), min(each.end, end)) for each in self.segments]

    @cached_property
    def core(self) -> str:
        """The text of the item, without the comments around it."""
        return "".join(map(self.text, self.own_segments))

    def segment_at(self, offset: int) -> int:
        """Return the index of the segment that a phrase at an offset is in."""
        return sum(each.end <= offset for each in self.own_segments[:-1])

    @cached_property
    def root(self) -> Node:
        """The tree of the item. Raise SyntaxFailure."""
        node = self._item.node
        return node.read() if isinstance(node, Statement) else node

    @cached_property
    def comments(self) -> list[str]:
        """The comments inside the item."""
        return [comment for each in self.own_segments for comment in self.comments_in(each)]

    def comments_in(self, span: Span) -> list[str]:
        """Return the comments in a stretch outside of all braces."""
        return [self.side.text[slice(*each)] for each in self.side.comments_in(span)]

    @cached_property
    def normal(self) -> object:
        """The tokens of the item, without layout, and without the order of keyed items."""
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
            tokens = self._tokens([name] if opset is name else [name, opset])
            yield "name", PhraseTokens(Span(name.start, opset.end), tuple(tokens))
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
            yield "fields", PhraseList(Span(start, end), (lead, ""), keyed, " ", True)
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
            keyed = _keyed((self._name(name), self._part(name)) for name in named(outputs, "NAME"))
            yield f"outputs{place}", PhraseList(outputs.span, ("(", ")"), keyed)
            yield f"attributes{place}", self._attributes(block, "marked_attributes", outputs.end)

    def _values(self, phrase: Node, brackets: tuple[str, str]) -> PhraseList:
        values = named(phrase, "named_value", "draft_value")
        keyed = _keyed((self._name(value.children[-1]), self._part(value)) for value in values)
        return PhraseList(phrase.span, brackets, keyed)

    def _arguments(self, phrase: Node) -> PhraseList:
        given = named(phrase, "argument", "single_argument", "positional_argument")
        keyed = _keyed((self._parameter(each, place), self._part(each)) for place, each in enumerate(given))
        return PhraseList(phrase.span, ("(", ")"), keyed)

    def _attributes(self, root: Node, rule: str, absent: int) -> PhraseList:
        phrase = next(named(root, rule), None)
        opening = "[" if rule == "attributes" else " $["
        if phrase is None:
            return PhraseList(Span(absent, absent), (opening, "]"), {}, is_optional=True)
        stated = named(phrase, "attribute", "draft_attribute")
        keyed = _keyed((self._name(each.children[0]), self._part(each)) for each in stated)
        return PhraseList(phrase.span, (opening.strip(), "]"), keyed, is_optional=True)

    # ---- tokens

    def _part(self, phrase: Node) -> PhraseTokens:
        return PhraseTokens(phrase.span, self._normal(phrase))

    @cached_property
    def _names(self) -> dict[int, str]:
        """The final names by the places of the names that they replace."""
        return {name.start: new for each in self.segments for name, new in self.side.renamed(*each)}

    def _name(self, token: Node) -> str:
        """Return the final name that a token stands for."""
        return self._names.get(token.start) or name_of(token.token or "")

    def _parameter(self, argument: Node, place: int) -> str:
        return str(place) if argument.name == "positional_argument" else self._name(argument.children[0])

    def _normal(self, phrase: Node) -> Normal:
        """Return the tokens of a phrase, without parentheses around one binding; rank 0 in its short spelling."""
        if phrase.name == "argument" and len(phrase.children) == 5:
            return tuple(self._tokens(child for child in phrase.children if child.token not in ("(", ")")))
        return tuple(self._tokens([phrase]))

    def _tokens(self, phrases: Iterable[Node]) -> Iterator[str]:
        """Yield the tokens of phrases, an opset as a Program has it: `$"ios18"` is not `ios18`."""
        todo = [*phrases][::-1]
        while todo:
            phrase = todo.pop()
            if phrase.name == "NAME":
                yield f"${self._name(phrase)}"  # only names, no other words: `$"inf"` is not `inf`
            elif phrase.token is not None:
                yield _said(phrase)
            elif phrase.name in ("opset", "operation_opset"):
                yield f"<{opset_bytes(phrase.children[1].token or '').decode()}>"
            else:
                todo += reversed(phrase.children)


def _keyed(parts: Iterator[tuple[str, PhraseTokens]]) -> dict[str, PhraseTokens]:
    """Return phrases by their keys. Raise AmbiguousKeys."""
    found = list(parts)
    keyed = dict(found)
    if len(keyed) < len(found):
        raise AmbiguousKeys
    return keyed


def _said(token: Node) -> str:
    text = token.token or ""
    if token.name == "TENSOR":
        text = without_spaces(text)
        return text[7:-4] if text.endswith(",[]>") else text
    return without_spaces(text) if token.name == "LIST" else text
