"""Text as Markdown: words that mean nothing to it but themselves, outside of what is code already."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from functools import partial

_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def plain(text: str) -> str:
    """Return a line of a help in which only code is marked up: what is in backticks, and options."""
    return outside_spans(text, lambda piece: _OPTION.sub(r"`\g<0>`", re.sub(r"([<*_\[\]])", r"\\\1", piece)))


def cell(text: str) -> str:
    """Return Markdown for a cell of a table, which is one line without bars."""
    return outside_spans(" ".join(text.split()), lambda piece: piece.replace("|", "\\|"))


def docstring(text: str) -> str:
    """Return a docstring as Markdown, its sections with titles and lists. HTML in it is text."""
    before, *sections = re.split(r"^(Args|Returns|Raises|Example):\n", text, flags=re.MULTILINE)
    parts = [outside_spans(before, lambda piece: piece.replace("<", "\\<"))]
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        lines = textwrap.dedent(body).strip("\n")
        parts.append(f"{_SECTIONS[name](lines)}\n\n")
    return "".join(parts)


def _items(title: str, lines: str) -> str:
    """Return a section of names and their meanings as a list."""
    items = [line.split(": ", 1) for line in re.sub(r"\n +", " ", lines).splitlines()]
    listed = "\n".join(f"- `{name}`: {docstring(meaning)}" for name, meaning in items)
    return f"**{title}**\n\n{listed}"


_SECTIONS: dict[str, Callable[[str], str]] = {
    "Args": partial(_items, "Arguments"),
    "Returns": lambda lines: f"**Returns** {docstring(lines)}",
    "Raises": partial(_items, "Errors"),
    "Example": lambda lines: f"```python\n{lines}\n```",
}


def findable(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], *classes: str) -> str:
    """Return a table with a field above it, in which words find rows; with the class `short`, it is scrolled."""
    lines = [head, ("---",) * len(head), *rows]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f'<div class="{" ".join(("find", *classes))}" markdown>\n\n{table}\n</div>\n'


def outside_spans(text: str, change: Callable[[str], str]) -> str:
    """Return text changed apart from its code."""
    done, end = [], 0
    for span in _SPAN.finditer(text):
        done += [change(text[end : span.start()]), span[0]]
        end = span.end()
    return "".join([*done, change(text[end:])])
