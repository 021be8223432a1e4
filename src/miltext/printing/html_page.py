"""MIL text as one HTML page: highlighted, its values linked to where they are defined, its blocks to fold.

The page needs nothing else: style and script, `html_page.css` and `html_page.js`, are in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, Whitespace, _TokenType

from miltext.highlight import MilLexer

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


class Definition:
    """A value that the text defines: name and type, the operation that makes it, its line, and those of its uses."""

    def __init__(self, name: str, type: str, line: int) -> None:
        self.name = name
        self.type = type
        self.line = line
        self.maker = ""
        self.uses: list[int] = []


class Piece(NamedTuple):
    """A token of one line: a value's piece has its number, and says whether it defines it."""

    kind: _TokenType
    text: str
    value: int | None = None
    defines: bool = False


def page(text: str, title: str) -> str:
    """Return the HTML page of a printed program, whose layout matters: a block's braces end and begin lines."""
    reader = Reader()
    lines = "".join(_folded(reader.lines(text)))
    values = [[each.name, each.type, each.line, each.maker, each.uses] for each in reader.definitions]
    here = Path(__file__)
    return _PAGE.format(
        title=escape(title),
        style=here.with_suffix(".css").read_text(encoding="utf-8"),
        lines=lines,
        values=json.dumps(values, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        script=here.with_suffix(".js").read_text(encoding="utf-8"),
    )


class Reader:
    """Reads a text token by token and finds what each name means, scope by scope."""

    def __init__(self) -> None:
        self.definitions: list[Definition] = []
        self._scopes: list[dict[str, int]] = [{}]
        self._closed: dict[str, int] = {}  # the scope of the block before, which its outputs are names of
        self._coming: dict[str, int] = {}  # the inputs of the block to come
        self._made: list[int] = []
        self._depth = 0  # of parentheses and brackets
        self._angles = 0
        self._after_block = False
        self._type = ""

    def lines(self, text: str) -> Iterator[list[Piece]]:
        """Yield the text's lines."""
        line: list[Piece] = []
        number = 1
        for kind, token in MilLexer(stripnl=False, ensurenl=False).get_tokens(text):
            for part in token.splitlines(keepends=True) if "\n" in token else [token]:
                line.append(self._piece(kind, part.rstrip("\n"), number))
                if part.endswith("\n"):
                    yield line
                    line = []
                    number += 1
        if any(piece.text for piece in line):
            yield line

    def _piece(self, kind: _TokenType, token: str, line: int) -> Piece:
        """Make the piece of one token, which changes the state of the reader."""
        self._note_type(kind, token)
        if kind is Name.Variable:
            return Piece(kind, token, self._define(token, line), defines=True)
        if kind is Name:
            return Piece(kind, token, self._use(token, line))
        if kind in (Name.Builtin, Name.Function):
            for index in self._made:
                self.definitions[index].maker = token
            self._made = []
        elif kind is Operator and token == "->":
            self._after_block = True
        elif kind is Punctuation:
            self._punctuation(token)
        return Piece(kind, token)

    def _note_type(self, kind: _TokenType, token: str) -> None:
        """Gather the type that may stand before a definition."""
        if kind is Punctuation and token in "<>":
            self._angles += 1 if token == "<" else -1
            self._type += token
        elif self._angles or kind in (Keyword.Type, Keyword.Pseudo):
            self._type += token
        elif kind in (Punctuation, Operator):
            self._type = ""

    def _define(self, name: str, line: int) -> int:
        index = len(self.definitions)
        self.definitions.append(Definition(name, self._type, line))
        self._type = ""
        if self._depth:
            self._coming[name] = index
            self.definitions[index].maker = "input"
        else:
            self._scopes[-1][name] = index
            self._made.append(index)
        return index

    def _use(self, name: str, line: int) -> int | None:
        scopes = [self._closed] if self._after_block else reversed(self._scopes)
        found = next((scope[name] for scope in scopes if name in scope), None)
        if found is None and self._after_block:
            found = next((scope[name] for scope in reversed(self._scopes) if name in scope), None)
        if found is not None:
            self.definitions[found].uses.append(line)
        return found

    def _punctuation(self, token: str) -> None:
        if self._angles:
            return
        if token in ("(", "[", "$["):
            self._depth += 1
        elif token in (")", "]"):
            self._depth -= 1
            self._after_block = self._after_block and self._depth > 0
        elif token == "{" and not self._depth:
            self._scopes.append(self._coming)
            self._coming = {}
        elif token == "}" and not self._depth:
            self._closed = self._scopes.pop()


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
