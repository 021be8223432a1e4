"""Operations as text of 80 columns: a list of several, or all facts about one."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from miltext.reference.facts import accepted, apples_spelling, draft_spelling, facts_of, outline
from miltext.reference.searching import related
from miltext.schema.operations import signature, versions
from miltext.schema.opsets import OPSETS

if TYPE_CHECKING:
    from miltext.reference.entries import Entry
    from miltext.schema.operations import Parameter, Signature

WIDTH = 80
NAMES = 26
"""The greatest width of names in a list, in columns; a longer name is on its own line."""

Mark: TypeAlias = Callable[[str], str]
"""A function that highlights a word."""


def listing(entries: Iterable[Entry], mark: Mark = str) -> Iterator[str]:
    """Yield the lines of a list of operations, by family."""
    for family, members in groupby(entries, lambda entry: entry.family):
        yield mark(family)
        listed = list(members)
        indent = min(NAMES, max(len(entry.name) for entry in listed) + 4)
        for entry in listed:
            since = versions(entry.name)[0].opset
            later = f" (since {since})" if since != OPSETS[0].text else ""
            head, body = (
                f"  {entry.name}",
                textwrap.wrap(entry.description + later, WIDTH - indent, break_on_hyphens=False),
            )
            if len(head) + 2 <= indent:
                yield mark(head) + " " * (indent - len(head)) + body.pop(0)
            else:
                yield mark(head)
            yield from (" " * indent + line for line in body)


def page(entry: Entry, opset: str | None = None, mark: Mark = str, code: Mark = str) -> Iterator[str]:
    """Yield the lines of all facts about the version of an operation in an opset.

    `mark` highlights words, and `code` the lines of the example, in order.
    """
    known = signature(entry.name, opset)
    if known is None:
        raise KeyError(entry.name)
    yield mark(entry.name)
    yield from _text(entry.description)
    yield from _text(f"family: {entry.family}; {outline(known)}")
    yield from ("", mark("in a draft"), *broken(draft_spelling(known), "  "))
    yield from ("", mark("as Apple's compiler writes it"), *broken(apples_spelling(known), "  "))
    if known.parameters:
        yield from ("", mark("parameters"))
    for name in known.positions:
        yield from _parameter(known, known.parameters[name], entry.note(name), mark)
    if any(pattern.run for parameter in known.parameters.values() for pattern in parameter.shape):
        yield from _text("In shapes, a letter is a size, *d several, and #d their number.")
    yield from ("", mark("result"), *_text(entry.result))
    example = entry.example(opset)
    yield from ("", mark(f"example, of {example.opset}"))
    for line in example.text.splitlines():
        yield from map(code, broken(line, "  "))
    if also := related(entry):
        yield from ("", mark("see also"), *_text(", ".join(also)))


def _parameter(known: Signature, parameter: Parameter, note: str | None, mark: Mark) -> Iterator[str]:
    facts = _text(f"{accepted(parameter)}; {', '.join(facts_of(known, parameter.name))}", "      ")
    yield f"  {mark(parameter.name)}"
    yield from _text(note, "      ") if note else ()
    yield from facts


def _text(text: str, indent: str = "  ") -> list[str]:
    width = WIDTH - len(indent)
    return [indent + line for line in textwrap.wrap(text.replace("`", ""), width, break_on_hyphens=False)]


def broken(line: str, indent: str) -> Iterator[str]:
    """Yield a line of MIL text, indented, in parts that fit the width.

    Each part except the last ends at the comma with the lowest depth of brackets.
    """
    text = line.lstrip()
    margin = indent + " " * (len(line) - len(text))
    further = margin + "    "
    breaks, start = _breaks(text), 0
    while len(margin) + len(text) - start > WIDTH:
        places = [place for place in breaks if start < place <= start + WIDTH - len(margin)]
        if not places:
            break
        place = min(places, key=lambda place: (breaks[place], -place))
        yield margin + text[start:place]
        start = place + (text[place] == " ")
        margin = further
    yield margin + text[start:]


def _breaks(text: str) -> dict[int, int]:
    """Return the places where a text may be broken, each with its depth of brackets: after commas in brackets (those
    between `<` and `>` count as deepest), or else after `(` or between outputs.
    """
    found, depth = dict[int, int](), 0
    for place, letter in enumerate(text[:-1], 1):
        depth += {"<": 100, ">": -100}.get(letter, (letter in "([") - (letter in ")]"))
        if letter == ",":
            found[place] = depth or 60
        elif letter == "(" and text[place] != ")":
            found[place] = depth + 50
    return found
