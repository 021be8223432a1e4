"""MIL text as an HTML page, with an outline, highlighting, links from values to their definitions, folding blocks, and
a graph.

The page contains its styles and scripts, and its Content-Security-Policy allows no others. Its data is JSON that the
scripts read on demand. Without scripts, it is the outline and the text, with links and folding.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pygments.token import Comment, Error, Keyword, Name, Number, String, Whitespace, _TokenType

from miltext.printing.graph import SCRIPTS, STYLE, drawn, nodes
from miltext.printing.graph_calls import ReadWeights, call_tables, unread
from miltext.printing.graph_scopes import GraphNode
from miltext.printing.reading import LineToken, TextReader

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json

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
"""The class of a token's span by its type, or by the nearest type above; a token without a class is plain text."""

COLOURS = Path(__file__).with_name("colours.css")
"""The colours of all pages in a browser, by names that every style uses; the site copies the file."""

TOKENS = COLOURS.with_name("tokens.css")
"""The style of the CLASSES, shared by all pages with MIL text."""

DrawOutline: TypeAlias = Callable[[Iterable[GraphNode]], str]
"""A function that returns the rows of an outline, of the outermost nodes of a graph. Links in them lead to lines, and
have the number of a node as `data-node`."""

_DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}<script>{script}</script>
</body>
</html>
"""

_BODY = """\
<header>
<h1>{title}</h1>
<div id="tools" hidden>
<label>Find <input type="search" id="find" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></label>
<output id="found"></output>
{jump}<button id="fold">Fold all</button>
<button id="show" aria-expanded="false" aria-controls="graph" aria-keyshortcuts="g">Graph</button>
</div>
</header>
{outline}<main>
{lines}</main>
<section id="graph" aria-label="Graph of the operations" hidden>
<div id="drawing"></div>
<aside id="inspector" aria-label="Inspector" hidden></aside>
</section>
<div id="hint" role="tooltip" hidden></div>
<script type="application/json" id="data">{data}</script>
"""

_JUMP = '<button id="jump" aria-keyshortcuts="o">Outline</button>\n'
_OUTLINE = '<nav id="outline" aria-label="Outline" tabindex="-1">\n{rows}</nav>\n'

_HERE = Path(__file__)
_STYLES = (COLOURS, TOKENS, _HERE.with_suffix(".css"), STYLE, _HERE.with_name("html_inspector.css"))
_SCRIPTS = (*SCRIPTS, _HERE.with_name("html_inspector.js"), _HERE.with_suffix(".js"))


def without_outline(_: Iterable[GraphNode]) -> str:
    """Return no rows: the outline of a page without one."""
    return ""


def page(text: str, title: str, read_weights: ReadWeights = unread, draw_outline: DrawOutline = without_outline) -> str:
    """Return the HTML page of a printed program, in whose layout a block's braces end and begin lines.

    `read_weights` returns the facts about its weights by their spellings, and `draw_outline` its outline.
    """
    return page_of(TextReader(text), title, read_weights, draw_outline)


def page_of(
    reader: TextReader, title: str, read_weights: ReadWeights = unread, draw_outline: DrawOutline = without_outline
) -> str:
    """Return the HTML page of a text that was read before."""
    numbered = nodes(reader)
    rows = draw_outline(node for parent, node in numbered if parent < 0)
    outline = _OUTLINE.format(rows=rows) if rows else ""
    lines = "".join(_folded(reader.lines()))
    style, script = ("\n".join(file.read_text(encoding="utf-8") for file in files) for files in (_STYLES, _SCRIPTS))
    title = escape(title)
    data = _data(reader, numbered, read_weights)
    jump = _JUMP if rows else ""
    body = _BODY.format(title=title, jump=jump, outline=outline, lines=lines, data=data)
    return document(title, style, script, body)


def _data(reader: TextReader, numbered: list[tuple[int, GraphNode]], read_weights: ReadWeights) -> str:
    """Return the data of the scripts: the graph, and the calls of its nodes."""
    parts = (node.part for _, node in numbered)
    return embedded(drawn(reader, numbered) | call_tables(reader, parts, read_weights))


def embedded(data: Json) -> str:
    """Return data as JSON for a script element of a page."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def document(title: str, style: str, script: str, body: str) -> str:
    """Return a page with a title and a body, both in HTML, and a policy that allows only its own style and script."""
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; form-action 'none'"
    return _DOCUMENT.format(policy=policy, title=title, style=style, body=body, script=script)


def _hash(source: str) -> str:
    """Return the hash that allows a style or a script in a page: https://www.w3.org/TR/CSP3/#grammardef-hash-source."""
    return f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'"


# ---- to HTML


def _folded(lines: Iterator[list[LineToken]]) -> Iterator[str]:
    """Yield the lines, with each block in an element that can be folded under its first line."""
    for number, line in enumerate(lines, 1):
        tokens = [piece.text for piece in line if piece.text.strip()]
        if tokens and tokens[0] == "}":
            yield "</details>"
        link = f'<a href="#L{number}" data-n="{number}"></a>'
        shown = f'<div class="l" id="L{number}">{link}{"".join(_spans(line))}</div>\n'
        yield f"<details open><summary>{shown}</summary>" if tokens and tokens[-1] == "{" else shown


def _spans(line: list[LineToken]) -> Iterator[str]:
    """Yield the pieces of a line; adjacent pieces of a class, or numbers with the pieces between them, are one
    element.
    """
    stretch, current, between = "", "", ""
    for piece in line:
        name = "" if piece.value is not None else class_of(piece.kind)
        if piece.value is None and name == current:
            stretch, between = stretch + between + piece.text, ""
        elif piece.value is None and current == "m" and (piece.kind is Whitespace or piece.text == ","):
            between += piece.text
        else:
            yield _span(stretch, current) + escape(between, quote=False)
            stretch, current, between = ("", "", "") if piece.value is not None else (piece.text, name, "")
        if piece.value is not None:
            yield _value(piece)
    yield _span(stretch, current) + escape(between, quote=False)


def _span(text: str, name: str) -> str:
    return f'<span class="{name}">{escape(text, quote=False)}</span>' if name and text else escape(text, quote=False)


def _value(piece: LineToken) -> str:
    if piece.defines:
        return f'<span class="v" id="v{piece.value}">{escape(piece.text)}</span>'
    return f'<a href="#v{piece.value}">{escape(piece.text)}</a>'


def class_of(kind: _TokenType) -> str:
    """Return the class of a token's span, empty for none."""
    while kind not in CLASSES and kind.parent is not None:
        kind = kind.parent
    return CLASSES.get(kind, "")
