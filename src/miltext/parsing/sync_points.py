"""The likely beginnings and ends of phrases in a text with errors, by its words and its layout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from miltext.schema.dtypes import BY_NAME
from miltext.syntax.lexer import FINE, lexer
from miltext.syntax.names import DRAFT, RESERVED

_NAME = r'(?:[A-Za-z_][A-Za-z0-9_@]*|\$"[^"\\\n]*(?:\\.[^"\\\n]*){0,999}")'
_MADE = r"(?:tensor|list|tuple|dict|state)\s*<(?:[^>;(){}=]|>(?=\s*[,>])){0,4096}>"
_TYPE = rf"(?:{_MADE}|(?:{'|'.join(BY_NAME)}|{DRAFT})(?![A-Za-z0-9_@]))"
_FUNCTION = rf"func\s+{_NAME}\s*[<(]"
_SHORT = rf"{_NAME}(?:\s*,\s*(?:{_TYPE}\s*)?{_NAME})*\s*=\s*{_NAME}\s*[(<]"
_OPERATION = rf"(?:{_TYPE}\s*{_NAME}\s*[=,]|{_SHORT}(?=[^\n]*;))"
_STATEMENT = rf"(?:{_TYPE}\s*{_NAME}\s*[=,]|{_SHORT})"
_SIGNS = {
    "function": re.compile(_FUNCTION),
    "operation": re.compile(_OPERATION),
    "statement": re.compile(_STATEMENT),
    "definition": re.compile(rf"{_TYPE}\s*{_NAME}\s*="),
    "block": re.compile(r"\s*\{"),
    "block end": re.compile(r"\}\s*->"),
    "statement end": re.compile(rf";[ \t]*(?:\r?\n|//|/\*|}}|$)|;[ \t\r\n]*(?:{_FUNCTION}|{_STATEMENT})"),
}
"""The patterns of likely beginnings and ends: a function is `func main<`; an operation `fp16 y =`, `fp16 y,` or, on a
line with a `;`, `y = relu(`; a statement the same on any line, where no argument is possible; a definition only `fp16 y
=`; a block ` {`; the end of a block `} ->`; the end of a statement the last `;` of a line, or a `;` before a function
or a statement.
"""

_OURS = r'\$(?:"|-?[0-9]+\s|(?:absent|empty)\s+[A-Za-z_$])'
_BLOCK = re.compile(rf"\{{\s*(?:(?!(?:true|false|inf|nan|BLOBFILE)\b)[A-Za-z_/]|\}}\s*->|{_OURS})")
"""The `{` of a block, not of a pair in a dictionary."""

_OUTPUTS = re.compile(r"\s*(?:->\s*)?\([^(){};]*\)?")

_INSIDE = "[^<>;(){}=:]"
_INPUT = re.compile(rf"(?:\w+\s+|\w+\s*<(?:{_INSIDE}|<(?:{_INSIDE}|<{_INSIDE}*>)*>)*>\s*)(?P<name>{_NAME})\s*(?=[,)])")
"""An input of a function: a name after a type, which may be wrong."""


class SyncPoints:
    """A text with functions that find likely phrases at its places, by words and layout."""

    def __init__(self, text: str) -> None:
        self.text = text

    def begins(self, at: int, *signs: str) -> bool:
        """Return whether a phrase of any of these kinds seems to begin at a place."""
        return any(_SIGNS[sign].match(self.text, at) for sign in signs)

    def begins_line(self, at: int) -> bool:
        """Return whether only white space comes before a place on its line."""
        while at > 0 and self.text[at - 1] in " \t\r":
            at -= 1
        return at == 0 or self.text[at - 1] == "\n"

    def ends(self, at: int) -> bool:
        """Return whether the `;` or `}` at a place is likely an end, rather than a slip."""
        if self.text[at] == "}":
            return self.begins_line(at) or self.begins(at, "block end")
        return self.begins(at, "statement end")

    def outputs_end(self, at: int) -> int:
        """Return the end of the likely outputs at a place, `-> (y)` or parts of it; the place itself without
        outputs.
        """
        written = _OUTPUTS.match(self.text, at)
        return written.end() if written else at

    def input_name(self, at: int) -> int | None:
        """Return the place of an input's name, if an input seems to be at a place: a type, then a name."""
        found = _INPUT.match(self.text, at)
        return found.start("name") if found else None

    def tokens(self, start: int, dictionaries: int = 0) -> Iterator[tuple[str, int, bool]]:
        """Yield the tokens from a place on, each with its beginning, and whether it opens a block.

        Comments and the braces of dictionaries are omitted; `dictionaries` is the number of open dictionaries.
        """
        for terminal, token, at in lexer(FINE).tokens(self.text, start):
            opens_block = _BLOCK.match(self.text, at) is not None
            if terminal in ("COMMENT", "$END"):
                continue
            if token == ";":
                dictionaries = 0
            elif (token == "{" and not opens_block) or (token == "}" and dictionaries):
                dictionaries += 1 if token == "{" else -1
                continue
            yield token, at, opens_block


def names_in(text: str) -> list[str]:
    """Return the names in a piece of text, each once, as spelled there, without reserved words."""
    names = re.findall(_NAME, text)
    return list(dict.fromkeys(name for name in names if name not in RESERVED))


def opset_in(text: str) -> str:
    """Return the opset in a piece of text, `<ios18>`; an empty text without one."""
    found = re.search(r"<\s*[A-Za-z_][A-Za-z0-9_]*\s*>", text)
    return found[0] if found else ""
