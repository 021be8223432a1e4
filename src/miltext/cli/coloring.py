"""Texts in colour, for a terminal. Only escapes are added, and each text is written as it is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from textwrap import indent
from typing import NamedTuple

BOLD, DIM, RED, GREEN, YELLOW, BLUE, PURPLE, CYAN = "1", "2", "31", "32", "33", "34", "35", "36"

MIL = {
    "Comment": DIM,
    "Error": RED,
    "Keyword": PURPLE,
    "Keyword.Type": CYAN,
    "Name.Attribute": BLUE,
    "Name.Builtin": f"{BOLD};{BLUE}",
    "Name.Function": f"{BOLD};{BLUE}",
    "Name.Namespace": PURPLE,
    "Number": YELLOW,
    "String": GREEN,
}
"""The colour of a token by its type, or by the nearest parent type; a token without a colour stays unchanged."""


class ColorRule(NamedTuple):
    """A pattern, and the colour of its matches."""

    pattern: str
    color: str


RULES = {
    "diff": (
        ColorRule(r"^(?:---|\+\+\+) .*", BOLD),
        ColorRule(r"^@@.*?@@", CYAN),
        ColorRule(r"^\+.*", GREEN),
        ColorRule(r"^-.*", RED),
    ),
    "markdown": (
        ColorRule(r"^MIL[0-9]+(?=  )|\*\*[^*\n]+\*\*", BOLD),
        ColorRule(r"\berror\[MIL[0-9]+\]", f"{BOLD};{RED}"),
        ColorRule(r"\bwarning\[MIL[0-9]+\]", f"{BOLD};{YELLOW}"),
        ColorRule(r"\bnote\[MIL[0-9]+\]", f"{BOLD};{CYAN}"),
        ColorRule(r"^```.*", DIM),
        ColorRule(r"`[^`\n]+`", CYAN),
    ),
    "toml": (
        ColorRule(r'"""(?:[^\\]|\\[^\0])*?"""|\'\'\'[^\0]*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', GREEN),
        ColorRule(r"#.*", DIM),
        ColorRule(r"^\[.*\]", PURPLE),
        ColorRule(r"^[ \t]*[\w.-]+(?=[ \t]*=)", BLUE),
        ColorRule(r"\b(?:true|false)\b", PURPLE),
        ColorRule(r"(?<![\w.])[-+]?[0-9][\w.:+-]*", YELLOW),
    ),
}
"""The colours of the kinds of texts without a lexer here; the first rule that matches at a place counts."""


def colored_pieces(pieces: Iterable[str], kind: str) -> Iterable[str]:
    """Return a text of a kind in colour, in pieces of whole lines; a text of another kind as it is."""
    color = coloring(kind)
    return map(color, whole_lines(pieces)) if color else pieces


def coloring(kind: str) -> Callable[[str], str] | None:
    """Return a function that colours the lines of a text of a kind, given one after the other; None for other kinds."""
    if kind == "mil":
        return mil_coloring()
    if kind not in RULES:
        return None
    whole = "|".join(f"({rule.pattern})" for rule in RULES[kind])
    return partial(re.compile(whole, re.MULTILINE).sub, partial(_painted, RULES[kind]))


def _painted(rules: tuple[ColorRule, ...], found: re.Match[str]) -> str:
    return paint(found[0], rules[(found.lastindex or 1) - 1].color)


def paint(text: str, color: str | None) -> str:
    """Return a text in a colour, restarted on each line: pagers show lines by themselves."""
    if color is None or not text.strip():
        return text
    return "\n".join(f"\x1b[{color}m{line}\x1b[0m" if line else line for line in text.split("\n"))


def whole_lines(pieces: Iterable[str]) -> Iterator[str]:
    """Yield the same text in pieces of whole lines, each as soon as it is complete."""
    begun: list[str] = []
    for piece in pieces:
        begun.append(piece)
        if piece.endswith("\n"):
            yield "".join(begun)
            begun = []
    if begun:
        yield "".join(begun)


def mil_coloring() -> Callable[[str], str]:
    """Return a function that colours the lines of a MIL text as the lexer of Pygments understands them.

    No rule of the lexer looks beyond a line, so a piece hands only its states to the next.
    """
    from pygments.lexer import ExtendedRegexLexer, LexerContext
    from pygments.token import Token, _TokenType, string_to_tokentype

    from miltext.highlight import MilLexer

    class Resumed(ExtendedRegexLexer, MilLexer):
        """The lexer, which continues from its last states."""

    lexer, states = Resumed(), ["root"]
    colors: dict[_TokenType, str | None] = {string_to_tokentype(name): color for name, color in MIL.items()}
    colors[Token] = None

    def color_of(kind: _TokenType) -> str | None:
        if kind not in colors:
            colors[kind] = color_of(kind.parent or Token)
        return colors[kind]

    def color(lines: str) -> str:
        context = LexerContext(lines, 0, states)
        tokens = lexer.get_tokens_unprocessed(context=context)
        stretches = groupby(tokens, lambda token: color_of(token[1]))
        shown = [paint("".join([text for _, _, text in each]), found) for found, each in stretches]
        states[:] = context.stack
        return "".join(shown)

    return color


_FENCED = re.compile(r"^```.*\n((?:.*\n)*?)```\n?", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_MARKUP = re.compile(r"\*\*(?P<strong>[^*]+)\*\*|`(?P<code>[^`]+)`")


def rendered(markdown: str, *, is_colored: bool) -> str:
    """Return Markdown without its marks, for a terminal: code blocks are indented, and words may be in colours."""
    color = (coloring("markdown") if is_colored else None) or str
    parts = _FENCED.split(markdown)
    parts[::2] = [_MARKUP.sub(partial(_without_marks, is_colored), _LINK.sub(r"\1", prose)) for prose in parts[::2]]
    parts[1::2] = [indent(color(code), "    ") for code in parts[1::2]]
    return "".join(parts)


def _without_marks(is_colored: bool, found: re.Match[str]) -> str:
    words = found["strong"] or found["code"]
    return paint(words, BOLD if found["strong"] else CYAN) if is_colored else words
