"""A grammar of tree-sitter at work without tree-sitter: its JSON as rules for Lark, and its way to read tokens.

tree-sitter's tool makes a parser of a grammar, but is a program of its own. So Lark makes the tables here, and tokens
are read as tree-sitter does it: of those that can come next, the longest; and where a keyword can come next, first the
longest word, then the keyword that has the same spelling.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedInput
from support.highlighters import EDITORS, SCRIPTS, run

FOLDER = EDITORS / "tree-sitter"


class SyntaxNode(NamedTuple):
    """A node of tree-sitter's tree: a phrase or named token, or the text of an anonymous one."""

    name: str
    is_named: bool
    start: int
    end: int
    field: str | None
    children: tuple[SyntaxNode, ...]

    def walk(self) -> Iterator[SyntaxNode]:
        yield self
        for child in self.children:
            yield from child.walk()

    def shown(self) -> str:
        """The named nodes and fields, as tree-sitter prints them."""
        children = (
            f"{f'{child.field}: ' if child.field else ''}{child.shown()}" for child in self.children if child[1]
        )
        return f"({' '.join([self.name, *children])})"


class Refused(Exception):
    """A text that the grammar does not accept: its argument is the place."""


class Spelling(NamedTuple):
    """An alternative of a token: its regular expression, and its text where it has only one."""

    pattern: re.Pattern[str]
    text: str | None


def grammar_json() -> dict[str, Any]:
    """What grammar.js says, run in node."""
    found: dict[str, Any] = json.loads(run("node", SCRIPTS / "treesitter.mjs", FOLDER / "grammar.js"))
    return found


def parts_of(body: Any) -> Iterator[dict[str, Any]]:
    """All parts of a rule, itself among them."""
    yield body
    for part in [*body.get("members", ()), *filter(None, [body.get("content")])]:
        yield from parts_of(part)


class LarkGrammar:
    """A grammar of tree-sitter as `rules` for Lark, and its tokens, of which Lark only knows the names.

    `symbols` are the names of tokens in tree-sitter's tree, and whether they are named there. A field is a rule that
    stands for its content: `fields` are the names of such rules and of the fields.
    """

    def __init__(self, grammar: dict[str, Any]) -> None:
        self.tokens: dict[str, list[Spelling]] = {}
        self.symbols: dict[str, tuple[str, bool]] = {}
        self._bodies: dict[str, Any] = grammar["rules"]
        strings = (part["value"] for body in self._bodies.values() for part in parts_of(body) if "value" in part)
        self._uses = Counter(strings)
        self._wrapped: dict[tuple[str, str], str] = {}
        lines = [f"{name}: {self._rule(body)}" for name, body in self._bodies.items() if not self._is_token(body)]
        lines += [f"{name}: {content}" for (_, content), name in self._wrapped.items()]
        self.fields = {name: field for (field, _), name in self._wrapped.items()}
        self.extras = [self._rule(extra) for extra in grammar["extras"]]
        self.word = self._named(grammar["word"])
        self.rules = "\n".join([*lines, f"%declare {' '.join(self.tokens)}"])

    def _is_token(self, body: Any) -> bool:
        """Whether a rule is a token: tree-sitter makes one of a string that no other rule has."""
        return body["type"] in ("PATTERN", "TOKEN") or (body["type"] == "STRING" and self._uses[body["value"]] == 1)

    def _rule(self, body: Any) -> str:
        kind = body["type"]
        if kind == "SEQ":
            return " ".join(map(self._rule, body["members"]))
        if kind == "CHOICE":
            given = [self._rule(member) for member in body["members"] if member["type"] != "BLANK"]
            return f"({' | '.join(given)}){'?' * (len(given) < len(body['members']))}"
        if kind in ("REPEAT", "REPEAT1"):
            return f"({self._rule(body['content'])}){'*' if kind == 'REPEAT' else '+'}"
        if kind == "FIELD":
            wrapped = body["name"], self._rule(body["content"])
            return self._wrapped.setdefault(wrapped, f"field_{len(self._wrapped)}")
        return self._named(body["name"]) if kind == "SYMBOL" else self._token((body["value"], False), body)

    def _named(self, name: str) -> str:
        body = self._bodies[name]
        return self._token((name, True), body) if self._is_token(body) else name

    def _token(self, symbol: tuple[str, bool], body: Any) -> str:
        for token, known in self.symbols.items():
            if known == symbol:
                return token
        token = f"T{len(self.tokens)}"
        self.symbols[token] = symbol
        self.tokens[token] = list(_spellings(body))
        return token


def _spellings(body: Any) -> Iterator[Spelling]:
    if body["type"] == "TOKEN":
        yield from _spellings(body["content"])
    elif body["type"] == "CHOICE":
        for member in body["members"]:
            yield from _spellings(member)
    else:
        yield Spelling(re.compile(_pattern(body)), body["value"] if body["type"] == "STRING" else None)


def _pattern(body: Any) -> str:
    if body["type"] == "SEQ":
        return "".join(map(_pattern, body["members"]))
    value: str = body["value"]
    return re.escape(value) if body["type"] == "STRING" else value


def _is_fed(state: Any, token: Token) -> bool:
    """Give a token to Lark's parser, whose states can list one that does not come next after all."""
    try:
        state.feed_token(token)
    except UnexpectedInput:
        return False
    return True


class TreeSitter:
    """A parser of a grammar, which is given as JSON."""

    def __init__(self, grammar: dict[str, Any]) -> None:
        self._grammar = LarkGrammar(grammar)
        (word,) = self._grammar.tokens[self._grammar.word]
        self._word = word.pattern
        self._keywords = {
            spelling.text: token
            for token, spellings in self._grammar.tokens.items()
            for spelling in spellings
            if spelling.text and self._word.fullmatch(spelling.text)
        }
        self._words = {self._grammar.word, *self._keywords.values()}
        start, *_ = grammar["rules"]
        kept: dict[str, Any] = {"keep_all_tokens": True, "maybe_placeholders": False, "propagate_positions": True}
        self._lark = Lark(self._grammar.rules, parser="lalr", start=start, **kept)
        self._of_states: dict[int, tuple[set[str], list[tuple[str, re.Pattern[str]]]]] = {}

    def parse(self, text: str) -> SyntaxNode:
        """The tree of a text, with its comments behind the rest. Raise Refused where no token can come."""
        state: Any = self._lark.parse_interactive()
        place, aside = 0, list[Token]()
        while True:
            found = self._longest(text, place, state.choices())
            if found is None:
                break
            token, end = found
            read = Token(token, text[place:end], start_pos=place, end_pos=end)
            if token in self._grammar.extras:
                aside.append(read)
            elif not _is_fed(state, read):
                break
            place = end
        if place < len(text) or "$END" not in state.choices():
            raise Refused(place)
        (root,) = self._nodes(state.feed_eof(), None)
        comments = (node for token in aside for node in self._nodes(token, None) if node.is_named)
        return root._replace(children=(*root.children, *comments))

    def _can_come(self, choices: Mapping[str, object]) -> tuple[set[str], list[tuple[str, re.Pattern[str]]]]:
        """The tokens that can come in a state of Lark's tables, and the spellings of those that are no words."""
        known = self._of_states.get(id(choices))  # a state's choices are as long there as the tables
        if known is None:
            valid = (self._grammar.tokens.keys() & choices.keys()) | {*self._grammar.extras}
            spelled = [(token, each.pattern) for token in valid - self._words for each in self._grammar.tokens[token]]
            known = self._of_states[id(choices)] = valid, spelled
        return known

    def _longest(self, text: str, place: int, choices: Mapping[str, object]) -> tuple[str, int] | None:
        """The longest of the tokens that can come, and its end. Raise ValueError if two are equally long."""
        valid, spellings = self._can_come(choices)
        found: dict[str, int] = {}
        for token, pattern in spellings:
            if match := pattern.match(text, place):
                found[token] = max(found.get(token, 0), match.end())
        word = self._word.match(text, place)
        if word and (spelled := self._word_token(word[0], valid)):
            found[spelled] = word.end()
        if not found:
            return None
        end = max(found.values())
        token, *others = (token for token in found if found[token] == end)
        if others:
            raise ValueError(f"{text[place:end]!r} is both {token} and {others}")
        return token, end

    def _word_token(self, word: str, valid: set[str]) -> str | None:
        tokens = (self._keywords.get(word), self._grammar.word)
        return next((token for token in tokens if token in valid), None)

    def _nodes(self, part: Tree[Token] | Token, field: str | None) -> Iterator[SyntaxNode]:
        """The visible nodes of what Lark read: itself, or those in it if it is a field."""
        if isinstance(part, Token):
            name, is_named = self._grammar.symbols[part.type]
            assert part.start_pos is not None
            assert part.end_pos is not None
            if not name.startswith("_"):
                yield SyntaxNode(name, is_named, part.start_pos, part.end_pos, field, ())
        elif inner := self._grammar.fields.get(part.data):
            for child in part.children:
                yield from self._nodes(child, inner)
        else:
            children = tuple(node for child in part.children for node in self._nodes(child, None))
            yield SyntaxNode(part.data, True, part.meta.start_pos, part.meta.end_pos, field, children)
