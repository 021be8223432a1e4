"""The rules of `grammar/mil.lark` as a grammar of tree-sitter, which has no look-ahead in its tokens.

Its nodes have the names of those in Lark's trees. A rule whose alternatives have names of their own is hidden, and a
supertype of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from lark import Token, Tree
from lark.grammar import NonTerminal, Terminal
from lark.load_grammar import Grammar, load_grammar

from miltext.syntax.tables import grammar_file, words_of

Expression: TypeAlias = "str | Call"
"""JavaScript: a string, a regular expression or a rule as it is written, or a call of a function with such."""

FIELDS: dict[str, dict[str, str]] = {
    "program": {"NUMBER": "version", "attributes": "attributes"},
    "function": {
        "NAME": "name",
        "opset": "opset",
        "parameters": "parameters",
        "attributes": "attributes",
        "bodies": "bodies",
    },
    "named_value": {"type": "type", "NAME": "name"},
    "draft_value": {"NAME": "name"},
    "specialization": {"opset": "opset", "parameters": "parameters", "block": "body"},
    "_rest_of_block": {"outputs": "outputs", "marked_attributes": "attributes"},
    "operation": {
        "results": "results",
        "NAME": "type",
        "imported": "type",
        "operation_opset": "opset",
        "arguments": "arguments",
        "attributes": "attributes",
        "inner_block": "block",
    },
    "inner_block": {"parameters": "parameters", "block": "body"},
    "single_argument": {"NAME": "name", "binding": "value"},
    "argument": {"NAME": "name", "binding": "value"},
    "positional_argument": {"binding": "value"},
    "call": {
        "NAME": "type",
        "imported": "type",
        "operation_opset": "opset",
        "arguments": "arguments",
        "attributes": "attributes",
    },
    "attribute": {"NAME": "name", "value": "value"},
    "draft_attribute": {"NAME": "name", "_draft_literal": "value", "_weight": "value"},
    "tensor_type": {"dtype": "dtype", "dimensions": "dimensions"},
    "value": {"value_doc": "doc", "type": "type", "_raw": "literal"},
}
"""The field of each symbol in a node, for queries."""

WORD = "NAME"
"""The terminal whose plain spelling keywords share: tree-sitter reads it first, and then looks for a keyword."""

RENAMED = {"DTYPE": "dtype_name"}
"""The nodes of terminals that a rule with the same name would hide: all others are the terminals in small letters."""

SPACE, COMMENT = "WHITE_SPACE", "COMMENT"

WIDTH = 120

HEAD = """\
/// <reference types="tree-sitter-cli/dsl" />
// @ts-check
// MIL, the text of Core ML's programs.
// Made by editors/generate.py from grammar/mil.lark.

// The tokens of tree-sitter do not look ahead. So these also accept a few texts that miltext refuses, where a token and
// the next name are not separated: `$5x` is the type `$5` and the name `x`, and `$emptyx` the type `$empty` and `x`.
"""

LISTED = "listed"
LISTED_IS = f'const {LISTED} = (item) => seq(item, repeat(seq(",", item)));\n'


class Call(NamedTuple):
    """A call of a function of the DSL."""

    function: str
    arguments: list[Expression]


class Rule(NamedTuple):
    """A rule of Lark: its alternatives, each with the name of its node, or its own name."""

    name: str
    alternatives: list[tuple[str, Tree[Token]]]

    @property
    def is_union(self) -> bool:
        """Whether some alternative is a node of another name."""
        return any(name != self.name for name, _ in self.alternatives)


def treesitter_grammar() -> str:
    """Make the file `grammar.js`. Raise ValueError at names that collide, and at fields of symbols that are absent."""
    grammar = _lark_grammar()
    writer = _Writer([_rule(name, tree) for name, _, tree, _ in grammar.rule_defs])
    rules = [*writer.rules(), *_terminals({name: tree for name, (tree, _) in grammar.term_defs})]
    _assert_distinct(name for name, _ in rules)
    writer.assert_fields_used()
    lines = [HEAD, LISTED_IS, "module.exports = grammar({", '  name: "mil",', ""]
    lines += [f"  extras: ($) => [{_flat(dict(rules)[_node(SPACE)])}, $.{_node(COMMENT)}],", ""]
    lines += ["  word: ($) => $._word,", "", "  supertypes: ($) => ["]
    lines += [*(f"    $._{rule.name}," for rule in writer.given if rule.is_union), "  ],", "", "  rules: {"]
    named = [(f"    {name}: ($) => ", body) for name, body in rules if name != _node(SPACE)]
    lines += [f"{before}{_laid_out(body, before)},\n" for before, body in named]
    return "\n".join([*lines[:-1], lines[-1].rstrip(), "  },", "});"]) + "\n"


def literals() -> set[str]:
    """Return the words and marks in the rules: the anonymous nodes."""
    found = (literal for _, _, tree, _ in _lark_grammar().rule_defs for literal in tree.find_data("literal"))
    return {json.loads(str(literal.children[0])) for literal in found}


def _lark_grammar() -> Grammar:
    grammar: Grammar = load_grammar(grammar_file("mil.lark").read_text(encoding="utf-8"), "mil.lark", [], False)[0]
    return grammar


def _assert_distinct(names: Iterable[str]) -> None:
    listed = list(names)
    if twice := {name for name in listed if listed.count(name) > 1}:
        raise ValueError(f"two rules have the name {min(twice)}: name one of them in RENAMED")


# ---- rules


def _rule(name: str, tree: Tree[Token]) -> Rule:
    alternatives = []
    for alternative in tree.children:
        assert isinstance(alternative, Tree)
        if alternative.data == "alias":
            expansion, alias = alternative.children
            assert isinstance(expansion, Tree)
            assert isinstance(alias, NonTerminal)
            alternatives.append((alias.name, expansion))
        else:
            alternatives.append((name, alternative))
    return Rule(name, alternatives)


class _Writer:
    """Writes rules, and keeps account of the fields."""

    def __init__(self, given: list[Rule]) -> None:
        self.given = given
        self._unions = {rule.name for rule in given if rule.is_union}
        self._unused = {(node, symbol) for node, symbols in FIELDS.items() for symbol in symbols}
        self._node = ""

    def rules(self) -> Iterator[tuple[str, Expression]]:
        """Yield the name and the body of each rule."""
        for rule in self.given:
            nodes = list(dict.fromkeys(name for name, _ in rule.alternatives))
            if rule.is_union:
                yield f"_{rule.name}", _choice([f"$.{node}" for node in nodes])
            for node in nodes:
                self._node = node
                yield node, self._alternatives([tree for name, tree in rule.alternatives if name == node])

    def assert_fields_used(self) -> None:
        """Raise ValueError if a field is of a symbol that its node does not have."""
        if self._unused:
            raise ValueError("FIELDS names {1} in {0}, which does not contain it".format(*min(self._unused)))

    def _alternatives(self, trees: list[Tree[Token]]) -> Expression:
        own = f"$.{self._node}"
        found = [self._written(tree) for tree in trees]
        repeated = [item for item in found if found == [item, Call("seq", [own, item])]]
        return Call("repeat1", repeated) if repeated else _choice(found)

    def _written(self, part: object) -> Expression:
        assert isinstance(part, Tree)
        if part.data == "expansion":
            return _sequence([self._written(child) for child in part.children])
        if part.data == "expansions":
            return _choice([self._written(child) for child in part.children])
        if part.data == "maybe":
            return Call("optional", [self._written(part.children[0])])
        if part.data == "expr":
            item, operator = part.children
            return Call({"?": "optional", "*": "repeat", "+": "repeat1"}[str(operator)], [self._written(item)])
        (symbol,) = part.children
        return self._symbol(symbol) if isinstance(symbol, (Terminal, NonTerminal)) else _literal(symbol)

    def _symbol(self, symbol: Terminal | NonTerminal) -> Expression:
        name = symbol.name
        if isinstance(symbol, Terminal):
            reference = f"$.{_node(name)}"
        else:
            reference = f"$._{name}" if name in self._unions else f"$.{name}"
        field = FIELDS.get(self._node, {}).get(name)
        self._unused.discard((self._node, name))
        return Call("field", [json.dumps(field), reference]) if field else reference


def _sequence(items: list[Expression]) -> Expression:
    """Write a sequence, in which an item and its repetitions behind commas are a list."""
    found: list[Expression] = []
    for item in items:
        if found and item == Call("repeat", [Call("seq", ['","', found[-1]])]):
            found[-1] = Call(LISTED, [found[-1]])
        else:
            found.append(item)
    return found[0] if len(found) == 1 else Call("seq", found)


def _choice(items: list[Expression]) -> Expression:
    return items[0] if len(items) == 1 else Call("choice", items)


# ---- terminals


def _terminals(trees: dict[str, Tree[Token]]) -> Iterator[tuple[str, Expression]]:
    for terminal, tree in trees.items():
        spellings = [_spelling(alternative) for alternative in tree.children]
        if terminal == WORD:
            plain, quoted = spellings
            yield _node(terminal), _choice(["$._word", "$._quoted_word"])
            yield "_word", plain
            yield "_quoted_word", Call("token", [quoted])
        else:
            spelled = _choice(spellings)
            yield _node(terminal), spelled if isinstance(spelled, str) else Call("token", [spelled])


def _node(terminal: str) -> str:
    return RENAMED.get(terminal) or terminal.lower()


def _spelling(part: object) -> Expression:
    """Write an alternative of a terminal, in which Lark has replaced names of other terminals."""
    assert isinstance(part, Tree)
    if part.data == "expansion":
        return _sequence([_spelling(child) for child in part.children])
    if part.data == "expansions":
        return _choice([_spelling(child) for child in part.children])
    (child,) = part.children
    return _spelling(child) if isinstance(child, Tree) and child.data != "literal" else _literal(child)


def _literal(part: object) -> Expression:
    assert isinstance(part, Tree)
    (token,) = part.children
    assert isinstance(token, Token)
    return str(token) if token.type == "STRING" else _pattern(token[1:-1])


_AHEAD = re.compile(r"\(\?!\[[^\]]*\]\)$")
_UP_TO_MARK = re.compile(r"\[\^(?P<others>[^\]]*)\]\*\?\\\*\\/$")
_MARKS = re.compile(r"^(?P<head>(?:\\[/*])*)(?P<body>.*?)(?P<tail>(?:\\/)*)$")


def _pattern(pattern: str) -> Expression:
    """Write a regular expression without look-ahead and lazy repetition, and marks of comments as strings."""
    if words := words_of(pattern):
        return _choice([json.dumps(word) for word in words])
    pattern = _AHEAD.sub("", pattern)
    pattern = _UP_TO_MARK.sub(r"[^*\g<others>]*\\*+(?:[^/*\g<others>][^*\g<others>]*\\*+)*\\/", pattern)
    marks = _MARKS.match(pattern)
    assert marks
    if re.search(r"\(\?[^:]|[*+?]\?", marks["body"]) or r"\/" in marks["body"]:
        raise ValueError(f"tree-sitter does not have all of {pattern}")
    head, body, tail = _text(marks["head"]), f"/{marks['body']}/", _text(marks["tail"])
    return _sequence([*([head] if head else []), body, *([tail] if tail else [])])


def _text(marks: str) -> str:
    return json.dumps(marks.replace("\\", "")) if marks else ""


# ---- layout


def _flat(body: Expression) -> str:
    return body if isinstance(body, str) else f"{body.function}({', '.join(map(_flat, body.arguments))})"


def _laid_out(body: Expression, before: str) -> str:
    """Write a body on one line if it fits there, or else an argument on each line, indented below what is before it."""
    if isinstance(body, str) or len(f"{before}{_flat(body)},") <= WIDTH:
        return _flat(body)
    indent = " " * (len(before) - len(before.lstrip()))
    inner = indent + "  "
    lines = [f"{inner}{_laid_out(argument, inner)}," for argument in body.arguments]
    return "\n".join([f"{body.function}(", *lines, f"{indent})"])
