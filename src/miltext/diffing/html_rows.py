"""The rows of two panes as HTML, with coloured tokens, marked differences inside a line, and links of used values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from pygments.token import Name, _TokenType

from miltext.diagnostics.wording import tally
from miltext.diffing.emphasis import differing
from miltext.diffing.entries import SIGNS
from miltext.diffing.lining_up import EQUAL
from miltext.diffing.panes import RENAMED
from miltext.diffing.unified import CONTEXT
from miltext.highlight import MilLexer
from miltext.printing.html_page import class_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.diffing.panes import Line, PaneRow, Panes

FOLDED = 4
"""The fewest unchanged lines to fold."""

NAMES = 1000
"""The number of renamed values above which their lines are folded: a note about the new names is enough."""

KINDS = {"+": "plus", "-": "minus", "~": "change", ">": "move", "=": "name", " ": "equal"}
"""The class of a row by its mark."""

_TITLES = {**SIGNS, "=": "no change but names, places of weights, or tools"}
"""Titles of the signs of rows."""

_STATES = {"p": ("root",), "[": ("root",), "{": ("root",), "}": ("root",)}
"""The lexer's state at the beginning of a line of the program itself, by its first character."""

_FUNCTION, _STATEMENT = ("root", "functions"), ("root", "functions", "function", "block")
"""The lexer's states at the head of a function, and at any line in it."""


@dataclass
class DrawnPanes:
    """Two rendered panes: their id is `name`, the prefix of their rows' ids.

    `entered` are the rows with their own entries, `linked` the entries that rows link to, and `states` the classes of
    these entries.
    """

    panes: Panes
    name: str
    entered: set[int | None] = field(default_factory=set)
    linked: dict[int, str] = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)

    def id(self, place: int) -> str:
        """Return the id of a row."""
        return f"{self.name}-{place}"

    def tell(self, entry: str, places: Iterable[int], state: str) -> None:
        """Link rows to an entry with this class, unless they have a link."""
        for place in places:
            self.linked.setdefault(place, entry)
            self.states.setdefault(place, state)

    def constants(self, place: int) -> list[int]:
        """Return the differing rows of an operation's constants, except for rows with their own entries."""
        return [each for each in self.panes.constants(place) if each not in self.entered]

    def rows(self) -> Iterator[str]:
        """Yield the rows, folded unless they or rows nearby have a finding."""
        rows = self.panes.rows
        notable = [place for place, row in enumerate(rows) if row.mark not in (EQUAL, RENAMED)]
        notable += [place for place in self.linked if rows[place].mark == EQUAL]
        names = [place for place in self.linked if rows[place].mark == RENAMED]
        notable += names if len(names) <= NAMES else []
        shown = {near for place in notable for near in range(place - CONTEXT, place + CONTEXT + 1)}
        for is_shown, group in groupby(range(len(rows)), shown.__contains__):
            places = [*group]
            if is_shown or len(places) < FOLDED:
                yield from map(self._shown, places)
            else:
                yield f"<details><summary>{_fold_title([rows[place] for place in places])}</summary>\n"
                yield from map(self._folded, places)
                yield "</details>\n"

    def _folded(self, place: int) -> str:
        """Return a folded row, in plain text: equal lines as one."""
        row = self.panes.rows[place]
        old, new = row.sides
        if row.mark == EQUAL and old and new:
            number = f"{new.number}" if old.number == new.number else f"{old.number} {new.number}"
            text = escape(new.text, quote=False)
            return f'<div class="both" id="{self.id(place)}" data-n="{number}">{text}</div>\n'
        cells = [_cell(line, escape(line.text, quote=False)) if line else _NO_LINE for line in row.sides]
        return self._row(place, "<i></i>", cells)

    def _shown(self, place: int) -> str:
        """Return a full row, with a link to the entry of its finding."""
        row = self.panes.rows[place]
        read = [_tokens(line.text) if line else () for line in row.sides]
        marked = differing(*read) if row.mark != EQUAL and all(row.sides) else ({*()}, {*()})
        cells = []
        for side, (line, tokens) in enumerate(zip(row.sides, read, strict=True)):
            links = {name: self.id(found) for name, found in self.panes.links(row, side).items()}
            drawn = "".join(_drawn(tokens, marked[side], links))
            cells.append(_cell(line, drawn) if line else self._elsewhere(place, side))
        return self._row(place, self._sign(row.mark.strip(), self.linked.get(place)), cells)

    def _sign(self, mark: str, entry: str | None) -> str:
        title = f' title="{_TITLES[mark]}"' if mark else ""
        return f'<a href="#{entry}"{title}>{escape(mark or "↑")}</a>' if entry else f"<i{title}>{escape(mark)}</i>"

    def _elsewhere(self, place: int, side: int) -> str:
        """Return the empty side of a row, with the place of a moved operation on that side."""
        for other, row, number in self.panes.places(place):
            if other == side:
                word = "now" if side else "was"
                return f'<div class="none"><a href="#{self.id(row)}">{word} in line {number}</a></div>'
        return _NO_LINE

    def _row(self, place: int, sign: str, cells: Sequence[str]) -> str:
        kind = KINDS[self.panes.rows[place].mark]
        return f'<div class="row {kind}" id="{self.id(place)}">{sign}{"".join(cells)}</div>\n'


_NO_LINE = '<div class="none"></div>'


def _cell(line: Line, drawn: str) -> str:
    return f'<div data-n="{line.number}">{drawn}</div>'


def _fold_title(rows: Sequence[PaneRow]) -> str:
    """Return the number of folded lines, and the number of those with irrelevant differences."""
    others = sum(row.mark == RENAMED for row in rows)
    return f"{tally(len(rows), 'equal line')}{f', {others} with other names or places' if others else ''}"


# ---- a line


@lru_cache(maxsize=2)
def _lexer() -> MilLexer:
    return MilLexer()


@lru_cache(maxsize=64)
def _tokens(text: str) -> tuple[tuple[str, str], ...]:
    """Return the tokens of a line, each with its class; `v` is the class of a name that stands for a value, and `i` of
    an indent.
    """
    inside = _FUNCTION if text.startswith("    func ") else _STATEMENT
    found = _lexer().get_tokens_unprocessed(f"{text}\n", stack=_STATES.get(text[:1], inside))
    tokens = [(_class(kind), part.rstrip("\n")) for _, kind, part in found if part != "\n"]
    return (("i", tokens[0][1]), *tokens[1:]) if tokens and tokens[0][1].isspace() else tuple(tokens)


def _class(kind: _TokenType) -> str:
    return "v" if kind in (Name, Name.Variable) else class_of(kind)


def _drawn(tokens: Sequence[tuple[str, str]], marked: set[int], links: Mapping[str, str]) -> Iterator[str]:
    """Yield a line's tokens, differing ones in an element; a stretch of one class is one element."""
    for is_marked, group in groupby(range(len(tokens)), marked.__contains__):
        yield "<mark>" if is_marked else ""
        for (name, target), stretch in groupby(group, lambda place: _looks(tokens[place], links)):
            text = escape("".join(tokens[place][1] for place in stretch), quote=False)
            yield f'<a href="#{target}">{text}</a>' if target else _span(name, text)
        yield "</mark>" if is_marked else ""


def _span(name: str, text: str) -> str:
    return f'<span class="{name}">{text}</span>' if name else text


def _looks(token: tuple[str, str], links: Mapping[str, str]) -> tuple[str, str]:
    """Return the class of a token or, for the name of a used value, its linked row."""
    name, text = token
    return ("", links.get(text, "")) if name == "v" else (name, "")
