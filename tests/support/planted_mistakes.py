"""Single mistakes planted in valid drafts, as people make them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import miltext
from miltext.diagnostics import Diagnostic, codes
from miltext.parsing.parser import parse_tree
from miltext.syntax import phrases
from miltext.syntax.editing import Edit, edited
from miltext.syntax.tree import Node, walk


class Mistake(NamedTuple):
    """A stretch of a draft with something else in its place."""

    kind: str
    start: int
    end: int
    written: str

    def plant(self, text: str) -> str:
        return text[: self.start] + self.written + text[self.end :]


def swapped(word: str) -> str:
    """Return a word with two of its characters swapped, or one more where all are alike."""
    for at in range(1, len(word) - 1):
        if word[at] != word[at + 1]:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return f"{word}q"


def mistakes(text: str) -> Iterator[Mistake]:
    """Yield mistakes that one may make in a draft, one at each place where it may be made."""
    root = parse_tree(text).root
    for phrase in walk(root):
        yield from _in_phrase(phrase, text)
    for phrase in walk(root):
        if phrase.token in (")", "]", ",", ";", "}") and phrase.token:
            yield Mistake(f"no {phrase.token}", phrase.start, phrase.end, "")
            if phrase.token == ";":
                yield Mistake("stray }", phrase.end, phrase.end, " }")
                yield Mistake("stray )", phrase.start, phrase.start, ")")


def _in_phrase(phrase: Node, text: str) -> Iterator[Mistake]:
    if phrase.name == "name_binding":
        yield Mistake("undefined name", *phrase.span, "nowhere_1")
    if phrase.name in ("operation", "call"):
        name = phrases.name_token(phrase) or phrase
        yield Mistake("operation", *name.span, swapped(name.token or ""))
    if phrase.name in ("argument", "single_argument"):
        yield Mistake("parameter", *phrase.children[0].span, swapped(phrase.children[0].token or ""))
    if phrase.name in ("attribute", "draft_attribute"):
        yield Mistake("attribute", *phrase.children[0].span, swapped(phrase.children[0].token or ""))
    if phrase.name == "DTYPE":
        yield Mistake("data type", *phrase.span, swapped(phrase.token or ""))
    if phrase.name in ("LIST", "raw_list"):
        yield from _in_list(phrase, text)
    if phrase.name in ("draft_binding", "draft_attribute"):
        held = phrase.children[-1]
        if held.name == "NUMBER":
            yield Mistake("wrong kind", *held.span, '"a"')
            yield Mistake("broken number", *held.span, f"{held.token}.5.5")
        if held.name == "STRING":
            yield Mistake("wrong kind", *held.span, "0.5")
    if phrase.name == "draft_value":
        yield Mistake("renamed output", *phrase.children[-1].span, "elsewhere_1")


def _in_list(phrase: Node, text: str) -> Iterator[Mistake]:
    written = text[phrase.start : phrase.end]
    yield Mistake("list without ]", phrase.end - 1, phrase.end, "")
    yield Mistake("list in braces", *phrase.span, written.replace("[", "{").replace("]", "}"))
    yield Mistake("word in list", phrase.end - 1, phrase.end - 1, ", foo" if len(written) > 2 else "foo")
    if ", " in written:
        yield Mistake("list without ,", *phrase.span, written.replace(", ", " ", 1))
    yield Mistake("ragged list", phrase.end - 1, phrase.end - 1, ", [1, 2]")


def reports(text: str) -> list[Diagnostic]:
    """Return what is reported of a draft, each message once."""
    told = {(found.code, found.message): found for found in miltext.check(text) if found.code != codes.DRAFT}
    return [*told.values()]


def hoisted(text: str) -> str:
    """Return a draft with each literal that is an argument as a constant without a type, before its statement."""
    edits, numbers = list[Edit](), count()
    for statement in (each for each in walk(parse_tree(text).root) if each.name == "operation"):
        lists = (*phrases.arguments(statement), *phrases.attributes(statement))
        parts = [part for each in lists for part in walk(each)]
        for literal in (part for part in parts if part.name == "draft_binding"):
            name = f"held_{next(numbers)}"
            edits.append((statement.start, statement.start, f"{name} = const()[val = {text[slice(*literal.span)]}]; "))
            edits.append((*literal.span, name))
    return edited(text, edits).text
