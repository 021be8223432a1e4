"""Fenced blocks: what language each is highlighted as, by the first words after its fence and by what it holds."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^( *)(```+)([^`\n]*)\n(.*?)^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_REPORT = re.compile(r"(?:error|warning)\[MIL\d{3}\]: |^ *[-+~=>] \S|^(?:---|\+\+\+) \S|^func \w+$", re.MULTILINE)
_MIL = re.compile(r"\s*(?:program\(\d|(?:tensor|state|list|tuple|dict)<.*;$)", re.MULTILINE)
_FILE = re.compile(r"[\w-]+\.\w+")
_SAME = {"draft": "mil", "": "text", "text": "text"}
"""What words of ours after a fence are to a highlighter: `draft` says to tests that the text may leave types out."""


def for_site(markdown: str) -> str:
    """Return Markdown whose fences name a language that Pygments knows, and the file, if they name one, as a title."""
    return _FENCE.sub(_named, markdown)


def _named(block: re.Match[str]) -> str:
    indent, fence, words, text = block.groups()
    given, _, rest = words.strip().partition(" ")
    language = _SAME.get(given, given)
    if language == "text":
        language = "mil" if _MIL.match(text) else "mil-report" if _REPORT.search(text) else "text"
    title = f' title="{rest}"' if _FILE.fullmatch(rest) else ""
    return f"{indent}{fence}{language}{title}\n{text}{indent}{fence}"
