"""The separately merged phrases of a statement or a head: words, and lists of keyed phrases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import Span
from miltext.merging.plans import Replacement, Taken
from miltext.parsing.lowering import opset_bytes
from miltext.syntax import phrases
from miltext.syntax.literals import without_spaces
from miltext.syntax.names import name_of
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.tree import Node, Statement

if TYPE_CHECKING:
    from miltext.merging.sides import Item, Side

words_of = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+').findall
"""The words of a text without its layout: strings, and other runs without white space."""

Normal = tuple[str, ...]
"""A phrase without its layout: its tokens."""


class PhraseTokens(NamedTuple):
    """A phrase: its place in the text of its form, and its tokens."""

    span: Span
    normal: Normal


class PhraseList(NamedTuple):
    """Phrases by key; an absent list has a place of width 0."""

    span: Span
    brackets: tuple[str, str]
    items: dict[str, PhraseTokens]
    between: str = ", "
    is_optional: bool = False

    def of(self, items: Iterable[Taken]) -> Replacement:
        """Return the text that replaces this list by other items."""
        taken = tuple(items)
        brackets = ("", "") if self.is_optional and not taken else self.brackets
        return Replacement(self.span, taken, brackets, self.between)


def contents(listed: PhraseList, key: str) -> object:
    """Return the contents of a list; the order of arguments and attributes does not count."""
    said = {name: part.normal for name, part in listed.items.items()}
    return said if is_unordered(key) else [*said.items()]


def is_unordered(key: str) -> bool:
    """Return whether the order of a list does not count."""
    return key.startswith(("arguments", "attributes"))


class AmbiguousKeys(Exception):
    """A phrase cannot be split: two of its parts have the same key."""


class ItemForm:
    """An item of a side as words and lists, with final names, without the contents of its braces.

    Places are offsets in this text. The `segments`, one more than pairs of braces, include the comments `around` the
    item.
    """

    def __init__(self, side: Side, item: Item) -> None:
        self.side = side
        self.kind = item.node.name
        self.segments = [Span(*each) for each in item.segments()]
        self.around = Span(item.start, item.node.start), Span(item.node.end, item.end)
        self._item = item

    def text(self, span: Span) -> str:
        """Return a range of the side's text, with final names."""
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
        """Return the index of the segment with an offset."""
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
        """Return the comments in a range outside of all braces."""
        return [self.side.text[slice(*each)] for each in self.side.comments_in(span)]

    @cached_property
    def normal(self) -> object:
        """The tokens of the item, without layout, and without the order of keyed items."""
        try:
            items = {key: contents(listed, key) for key, listed in self.lists.items()}
            return {key: part.normal for key, part in self.words.items()}, items, self.comments
        except (SyntaxFailure, AmbiguousKeys):
            return self.core

    # ---- words and lists

    @cached_property
    def words(self) -> dict[str, PhraseTokens]:
        """The words by role: the type of an operation, the version of a program."""
        return dict(self._words())

    @cached_property
    def lists(self) -> dict[str, PhraseList]:
        """The lists by the kind of their items. Raise AmbiguousKeys."""
        return dict(self._lists())

    def _words(self) -> Iterator[tuple[str, PhraseTokens]]:
        root = self.root
        if self.kind == "program":
            yield "version", self._part(phrases.version(root))
        name = phrases.name_token(root)
        if name is not None:
            opset = phrases.opset(root) or name
            tokens = self._tokens([name] if opset is name else [name, opset])
            yield "name", PhraseTokens(Span(name.start, opset.end), tuple(tokens))
        for index, body in enumerate(phrases.bodies(root)):
            if (own := phrases.opset(body)) is not None:
                yield f"opset {index}", self._part(own)

    def _lists(self) -> Iterator[tuple[str, PhraseList]]:
        root = self.root
        if self.kind == "program":
            fields = [*phrases.program_fields(root)]
            start, end = (fields[0].start, fields[-1].end) if fields else (root.children[3].end,) * 2
            keyed = {field.name: self._part(field) for field in fields}
            lead = " " if not fields else ""
            yield "fields", PhraseList(Span(start, end), (lead, ""), keyed, " ", True)
            yield "attributes", self._attributes(root, end)
            return
        if results := phrases.result_list(root):
            yield "results", self._listed(results, phrases.outputs(root), ("", ""))
        if self.kind == "operation":
            head = phrases.argument_list(root)
            yield "arguments", self._listed(head, phrases.arguments(root))
        else:
            head = phrases.parameters(root)
            yield "parameters", self._listed(head, phrases.inputs(root))
        yield "attributes", self._attributes(root, head.end)
        for index, body in enumerate((*phrases.inner_blocks(root), *phrases.bodies(root))):
            yield from self._body(body, f" {index}")

    def _body(self, body: Node, place: str) -> Iterator[tuple[str, PhraseList]]:
        if parameters := phrases.body_parameters(body):
            yield f"parameters{place}", self._listed(parameters, phrases.inputs(body))
        block = phrases.block(body)
        outputs = phrases.output_list(block)
        yield f"outputs{place}", self._listed(outputs, phrases.returned(block))
        yield f"attributes{place}", self._attributes(block, outputs.end)

    def _listed(self, phrase: Node, items: Iterable[Node], brackets: tuple[str, str] = ("(", ")")) -> PhraseList:
        keyed = _keyed((self._key(each, place), self._part(each)) for place, each in enumerate(items))
        return PhraseList(phrase.span, brackets, keyed)

    def _attributes(self, root: Node, absent: int) -> PhraseList:
        phrase, opening = phrases.attribute_list(root), " $[" if root.name == "block" else "["
        if phrase is None:
            return PhraseList(Span(absent, absent), (opening, "]"), {}, is_optional=True)
        return self._listed(phrase, phrases.attributes(root), (opening.strip(), "]"))._replace(is_optional=True)

    # ---- tokens

    def _part(self, phrase: Node) -> PhraseTokens:
        """Return a phrase with its tokens, without parentheses around one binding; rank 0 in its short spelling."""
        is_one = phrase.name == "argument" and len(phrase.children) == 5
        parts = [child for child in phrase.children if child.token not in ("(", ")")] if is_one else [phrase]
        return PhraseTokens(phrase.span, tuple(self._tokens(parts)))

    @cached_property
    def _names(self) -> dict[int, str]:
        """The final names by the places of the replaced names."""
        return {name.start: new for each in self.segments for name, new in self.side.renamed(*each)}

    def _name(self, token: Node) -> str:
        """Return the final name for a token."""
        return self._names.get(token.start) or name_of(token.token or "")

    def _key(self, phrase: Node, place: int) -> str:
        """Return the key of a phrase in a list: its name after the merge's renames, or its place if it has no name."""
        token = phrase if phrase.token is not None else phrases.name_token(phrase)
        return self._name(token) if token else str(place)

    def _tokens(self, parts: Iterable[Node]) -> Iterator[str]:
        """Yield the tokens of phrases, with opsets in the form of a Program: `$"ios18"` is not `ios18`."""
        todo = [*parts][::-1]
        while todo:
            phrase = todo.pop()
            if phrase.name == "NAME":
                yield f"${self._name(phrase)}"  # only names, no other words: `$"inf"` is not `inf`
            elif phrase.token is not None:
                yield _token_text(phrase)
            elif phrase.name in phrases.OPSETS:
                name = phrases.name_token(phrase)
                yield f"<{opset_bytes((name.token if name else None) or '').decode()}>"
            else:
                todo += reversed(phrase.children)


def _keyed(parts: Iterator[tuple[str, PhraseTokens]]) -> dict[str, PhraseTokens]:
    """Return phrases by their keys. Raise AmbiguousKeys."""
    found = list(parts)
    keyed = dict(found)
    if len(keyed) < len(found):
        raise AmbiguousKeys
    return keyed


def _token_text(token: Node) -> str:
    text = token.token or ""
    if token.name == "TENSOR":
        text = without_spaces(text)
        return text[7:-4] if text.endswith(",[]>") else text
    return without_spaces(text) if token.name == "LIST" else text
