"""The rows of two panes as HTML: tokens in colours, what differs inside a line marked, used values linked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from pygments.token import Name, _TokenType

from miltext.diffing.lining_up import EQUAL
from miltext.diffing.report import SIGNS
from miltext.highlight import MilLexer
from miltext.models.pairing.sequences import common
from miltext.printing.html_page import CLASSES

if TYPE_CHECKING:
    from miltext.diffing.panes import Line, Panes, Row

KINDS = {"+": "plus", "-": "minus", "~": "change", ">": "move", "=": "name", " ": "equal"}
"""The class of a row by its mark."""

_TITLES = {**SIGNS, "=": "no change but names, or places of weights"}
"""What the signs of rows mean."""

_STATES = {"p": ("root",), "[": ("root",), "{": ("root",), "}": ("root",)}
"""The lexer's state at the beginning of a line of the program itself, by its first character."""

_FUNCTION, _STATEMENT = ("root", "functions"), ("root", "functions", "function", "block")
"""The lexer's states at the head of a function, and at any line in it."""


def row_id(path: str, place: int) -> str:
    """Return the id of a row in the panes of a model, whose path it begins with in a pipeline."""
    return f"r{path.replace('/', '.')}{'-' if path else ''}{place}"


def folded_row(row: Row, name: str) -> str:
    """Return a row that is folded, in plain text: lines that are equal as one."""
    old, new = row.sides
    if row.mark == EQUAL and old and new:
        number = f"{new.number}" if old.number == new.number else f"{old.number} {new.number}"
        return f'<div class="both" id="{name}" data-n="{number}">{escape(new.text, quote=False)}</div>\n'
    return _row(
        row, name, "", [_cell(line, escape(line.text, quote=False)) if line else _NO_LINE for line in row.sides]
    )


def shown_row(panes: Panes, path: str, place: int, entry: int | None) -> str:
    """Return a row that is shown, and that leads back to the entry that tells of it."""
    row = panes.rows[place]
    read = [_tokens(line.text) if line else () for line in row.sides]
    marked = _differing(*read) if row.mark != EQUAL and all(row.sides) else ({*()}, {*()})
    cells = []
    for side, (line, tokens) in enumerate(zip(row.sides, read, strict=True)):
        links = {name: row_id(path, found) for name, found in panes.links(row, side).items()}
        elsewhere = "" if line else _elsewhere(panes, path, place, side)
        cells.append(_cell(line, "".join(_drawn(tokens, marked[side], links))) if line else elsewhere)
    shown = "" if row.mark == EQUAL else row.mark
    title = f' title="{_TITLES[row.mark]}"' if shown else ""
    sign = f'<a href="#t{entry}"{title}>{escape(shown or "↑")}</a>' if entry else f"<i{title}>{escape(shown)}</i>"
    return _row(row, row_id(path, place), sign, cells)


def _row(row: Row, name: str, sign: str, cells: Sequence[str]) -> str:
    return f'<div class="row {KINDS[row.mark]}" id="{name}">{sign or "<i></i>"}{"".join(cells)}</div>\n'


_NO_LINE = '<div class="none"></div>'


def _cell(line: Line, drawn: str) -> str:
    return f'<div data-n="{line.number}">{drawn}</div>'


def _elsewhere(panes: Panes, path: str, place: int, side: int) -> str:
    """Return the empty side of a row, with the place where a moved operation stands there."""
    for other, row, number in panes.places(place):
        if other == side:
            word = "now" if side else "was"
            return f'<div class="none"><a href="#{row_id(path, row)}">{word} in line {number}</a></div>'
    return _NO_LINE


# ---- a line


@lru_cache(maxsize=2)
def _lexer() -> MilLexer:
    return MilLexer()


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[tuple[str, str], ...]:
    """Return the tokens of a line, each with its class; `v` is that of a name that stands for a value, and `i` that of
    an indent.
    """
    inside = _FUNCTION if text.startswith("    func ") else _STATEMENT
    found = _lexer().get_tokens_unprocessed(f"{text}\n", stack=_STATES.get(text[:1], inside))
    tokens = [(_class(kind), part.rstrip("\n")) for _, kind, part in found if part != "\n"]
    return (("i", tokens[0][1]), *tokens[1:]) if tokens and tokens[0][1].isspace() else tuple(tokens)


def _class(kind: _TokenType) -> str:
    if kind in (Name, Name.Variable):
        return "v"
    return next((CLASSES[each] for each in reversed(kind.split()) if each in CLASSES), "")


def _differing(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> tuple[set[int], set[int]]:
    """Return the tokens of each line that the other does not have there."""
    pairs = common(old, new)
    return {*range(len(old))} - {i for i, _ in pairs}, {*range(len(new))} - {j for _, j in pairs}


def _drawn(tokens: Sequence[tuple[str, str]], marked: set[int], links: Mapping[str, str]) -> Iterator[str]:
    """Yield a line's tokens, those that differ in an element; a stretch of one class is one element."""
    for is_marked, group in groupby(range(len(tokens)), marked.__contains__):
        yield "<mark>" if is_marked else ""
        for (name, target), stretch in groupby(group, lambda place: _looks(tokens[place], links)):
            text = escape("".join(tokens[place][1] for place in stretch), quote=False)
            yield f'<a href="#{target}">{text}</a>' if target else _span(name, text)
        yield "</mark>" if is_marked else ""


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{text}</span>' if name else text


def _looks(token: tuple[str, str], links: Mapping[str, str]) -> tuple[str, str]:
    """Return the class of a token or, for a value that is taken, the row that it leads to."""
    name, text = token
    return ("", links.get(text, "")) if name == "v" else (name, "")
