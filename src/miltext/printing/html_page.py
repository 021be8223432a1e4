"""MIL text as one HTML page: highlighted, its values linked to where they are defined, its blocks to fold.

The page needs nothing else: style and script, `html_page.css` and `html_page.js`, are in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

from pygments.token import Comment, Error, Keyword, Name, Number, String, Whitespace, _TokenType

from miltext.printing.reading import Piece, Reader

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
