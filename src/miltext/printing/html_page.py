"""MIL text as one HTML page: highlighted, its values linked to where they are defined, its blocks to fold.

The page needs nothing else: style and script, `html_page.css` and `html_page.js`, are in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from pygments.token import Comment, Error, Keyword, Name, Number, String, Whitespace, _TokenType

from miltext.diagnostics import line_and_column
from miltext.highlight import MilLexer
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.names import DRAFT
from miltext.syntax.plain_tokens import operation_head
from miltext.syntax.tree import Node, Statement, named, tree_of

CLASSES: dict[_TokenType, str] = {
    Comment: "c",
    Error: "e",
    Keyword: "k",
    Keyword.Type: "t",
    Name.Attribute: "a",
    Name.Builtin: "o",
    Name.Function: "f",
    Name.Namespace: "k",
    Number: "m",
    String: "s",
}
"""The class of a token's span by its type, or by the nearest type above; what has none stands as it is."""

COLOURS = Path(__file__).with_name("colours.css")
"""The colours of all that is shown in a browser, by names that every style uses; the site copies the file."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<label>Find <input type="search" id="find" autocomplete="off" spellcheck="false"></label>
<output id="found"></output>
<button id="fold">Fold all</button>
</header>
<main>
{lines}</main>
<div id="hint" role="tooltip" hidden></div>
<script>
const VALUES = {values};
{script}</script>
</body>
</html>
"""


class Definition(NamedTuple):
    """A value that the text defines: name and type, its line, the operation that makes it, and the lines of its uses.

    The page's script reads it as a list.
    """

    name: str
    type: str
    line: int
    maker: str
    uses: list[int]


class Piece(NamedTuple):
    """A token of one line: a value's piece has its number, and says whether it defines it."""

    kind: _TokenType
    text: str
    value: int | None = None
    defines: bool = False


def page(text: str, title: str) -> str:
    """Return the HTML page of a printed program, whose layout matters: a block's braces end and begin lines."""
    reader = Reader(text)
    lines = "".join(_folded(reader.lines()))
    here = Path(__file__)
    return _PAGE.format(
        title=escape(title),
        style="".join(file.read_text(encoding="utf-8") for file in (COLOURS, here.with_suffix(".css"))),
        lines=lines,
        values=json.dumps(reader.definitions, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        script=here.with_suffix(".js").read_text(encoding="utf-8"),
    )


class Reader:
    """A text line by line, and what each name in it means."""

    def __init__(self, text: str) -> None:
        self.definitions: list[Definition] = []
        self._text = text
        self._named: dict[int, tuple[int, bool]] = {}  # by its place, the value that a name means, and if it defines it
        self._read(tree_of(text, STATEMENTS), {})

    def lines(self) -> Iterator[list[Piece]]:
        """Yield the text's lines."""
        line: list[Piece] = []
        for at, kind, token in MilLexer().get_tokens_unprocessed(self._text):
            meaning = self._named.get(at, ())
            for part in token.splitlines(keepends=True) if "\n" in token else [token]:
                line.append(Piece(kind, part.rstrip("\n"), *meaning))
                if part.endswith("\n"):
                    yield line
                    line = []
        if line:
            yield line

    def _read(self, phrase: Node, scope: dict[str, int], maker: str = "input") -> None:
        """Read the names in a phrase; `scope` has the values that it sees."""
        for child in phrase.children:
            if isinstance(child, Statement):
                self._read_statement(child, scope)
            elif child.name in ("named_value", "draft_value"):
                *kinds, name = child.children
                kind = self._text[kinds[0].start : kinds[0].end] if kinds else DRAFT
                self._define(name.token or "", name.start, kind, maker, scope)
            elif child.name in ("name_binding", "outputs"):
                for name in named(child, "NAME"):
                    self._use(name.token or "", name.start, scope)
            elif child.name in ("function", "specialization", "block", "inner_block"):
                self._read(child, dict(scope))
            elif child.name == "operation":
                self._read(child, scope, next(named(child, "NAME")).token or "")
            elif child.name not in ("attributes", "marked_attributes", "value_binding"):
                self._read(child, scope, maker)

    def _read_statement(self, statement: Statement, scope: dict[str, int]) -> None:
        head = operation_head(statement.text)
        assert head is not None  # so it was read
        (at, _, name), *uses = statement.names()
        self._define(name, at, head[1], head[3], scope)
        for start, _, used in uses:
            self._use(used, start, scope)

    def _define(self, name: str, at: int, kind: str, maker: str, scope: dict[str, int]) -> None:
        index = scope[name] = len(self.definitions)
        self.definitions.append(Definition(name, kind, line_and_column(self._text, at)[0], maker, []))
        self._named[at] = index, True

    def _use(self, name: str, at: int, scope: dict[str, int]) -> None:
        found = scope.get(name)
        if found is not None:
            self._named[at] = found, False
            self.definitions[found].uses.append(line_and_column(self._text, at)[0])


# ---- to HTML


def _folded(lines: Iterator[list[Piece]]) -> Iterator[str]:
    """Yield the lines, those of each block in an element that folds under its first line."""
    for number, line in enumerate(lines, 1):
        tokens = [piece.text for piece in line if piece.text.strip()]
        if tokens and tokens[0] == "}":
            yield "</details>"
        shown = f'<div class="l" id="L{number}" data-n="{number}">{"".join(_spans(line))}</div>\n'
        yield f"<details open><summary>{shown}</summary>" if tokens and tokens[-1] == "{" else shown


def _spans(line: list[Piece]) -> Iterator[str]:
    """Yield a line's pieces; a stretch of one class, or the numbers of a literal, is one element."""
    stretch, current = "", ""
    for piece in line:
        name = "" if piece.value is not None else _class(piece.kind)
        between = current == "m" and (piece.kind is Whitespace or piece.text in (",", "[", "]"))
        if piece.value is None and (name == current or between):
            stretch += piece.text
            continue
        yield _span(stretch, current)
        stretch, current = ("", "") if piece.value is not None else (piece.text, name)
        if piece.value is not None:
            yield _value(piece)
    yield _span(stretch, current)


def _span(text: str, name: str) -> str:
    return f'<span class="{name}">{escape(text, quote=False)}</span>' if name and text else escape(text, quote=False)


def _value(piece: Piece) -> str:
    if piece.defines:
        return f'<span class="v" id="v{piece.value}">{escape(piece.text)}</span>'
    return f'<a href="#v{piece.value}">{escape(piece.text)}</a>'


def _class(kind: _TokenType) -> str:
    while kind not in CLASSES and kind.parent is not None:
        kind = kind.parent
    return CLASSES.get(kind, "")
