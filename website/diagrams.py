"""Railroad diagrams of a grammar's expressions, as Lark reads them: SVG whose colours are the page's."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Container, Sequence

import railroad
from lark import Token, Tree

LONGEST = 40
"""How many characters of a regular expression fit into a diagram; a longer one is read in the listing."""

WIDEST, ARROW = 560, 20
"""How wide a row of items may be, in pixels, and the track between two of them."""

_TWICE = re.compile(r"(<text[^>]*>[^<]*</text>)\1")
"""What railroad-diagrams 3.0 makes of a word that is a link: it is there twice."""


def is_readable(expression: Tree[Token]) -> bool:
    """Tell whether a diagram shows more than the listing: not one of a long regular expression."""
    literals = [str(token) for tree in expression.find_data("literal") for token in tree.children if token]
    return all(len(literal) <= LONGEST for literal in literals)


def drawn(expression: Tree[Token], known: Container[str]) -> str:
    """Return the SVG of an expression, in which each name that is known is a link to its place in the page."""
    svg = io.StringIO()
    railroad.Diagram(_item(expression, known), type="complex").writeSvg(svg.write)
    joined = re.sub(r"\s*\n\s*", "", svg.getvalue())
    return _TWICE.sub(r"\1", joined)


def _item(tree: Tree[Token], known: Container[str]) -> railroad.DiagramItem:
    """Return the picture of an expression."""
    inner = [child for child in tree.children if isinstance(child, Tree)]
    match str(tree.data):
        case "name":
            name = str(tree.children[0])
            return railroad.NonTerminal(name, href=f"#{name}" if name in known else None)
        case "literal":
            return railroad.Terminal(str(tree.children[0]).removeprefix('"').removesuffix('"'))
        case "expansions":
            return _choice([_item(each, known) for each in inner])
        case "expansion":
            return _sequence(inner, known)
        case "maybe":
            return railroad.Optional(_item(inner[0], known))
        case "expr":
            return _SIGNS[_sign(tree)](_item(inner[0], known))
        case _:  # an alias: the callback's name is not part of the syntax
            return _item(inner[0], known)


def _choice(items: list[railroad.DiagramItem]) -> railroad.DiagramItem:
    """Return the picture of alternatives. railroad-diagrams 3.0 forgets how high the last one is."""
    made = railroad.Choice(0, *items)
    made.down += items[-1].height
    return made


def _sign(tree: Tree[Token]) -> str:
    """Return what comes after an item: how often it may be there."""
    return "".join(child for child in tree.children if isinstance(child, Token))


_SIGNS: dict[str, Callable[[railroad.DiagramItem], railroad.DiagramItem]] = {
    "": lambda item: item,
    "?": railroad.Optional,
    "*": railroad.ZeroOrMore,
    "+": railroad.OneOrMore,
}


def _sequence(children: Sequence[Tree[Token]], known: Container[str]) -> railroad.DiagramItem:
    """Return the pictures of some items one after the other; `x ("," x)*` is one x or more, with commas between."""
    items: list[railroad.DiagramItem] = []
    for at, child in enumerate(children):
        separator = _separator(child, children[at - 1]) if at else None
        if separator is not None:
            items[-1] = railroad.OneOrMore(items[-1], _item(separator, known))
        else:
            items.append(_item(child, known))
    rows = _rows(items)
    return railroad.Stack(*rows) if len(rows) > 1 else rows[0]


def _rows(items: list[railroad.DiagramItem]) -> list[railroad.DiagramItem]:
    """Return items in as many rows as they need."""
    rows: list[list[railroad.DiagramItem]] = [[]]
    for item in items:
        if rows[-1] and sum(each.width for each in [*rows[-1], item]) + ARROW * len(rows[-1]) > WIDEST:
            rows.append([])
        rows[-1].append(item)
    return [railroad.Sequence(*row) if len(row) != 1 else row[0] for row in rows]


def _separator(repeated: Tree[Token], before: Tree[Token]) -> Tree[Token] | None:
    """Return what comes between the items of `before (separator before)*`, None if that is not what is repeated."""
    if repeated.data != "expr" or _sign(repeated) != "*":
        return None
    (inner,) = (child for child in repeated.children if isinstance(child, Tree))
    while inner.data == "alias":
        (inner,) = (child for child in inner.children if isinstance(child, Tree))
    first, *rest = inner.children
    return first if inner.data == "expansion" and rest == [before] and isinstance(first, Tree) else None
