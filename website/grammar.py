"""The page of the grammar: each rule and token of grammar/*.lark with its remark, its diagram and its users."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lark import Lark, Token, Tree

from website import ROOT, diagrams

_DEFINITION = re.compile(r"(?P<name>_?[a-z_]+|_?[A-Z][A-Z_0-9]*)(?:\.\d)?:")
_EXTENSION = re.compile(r"%extend (?P<name>_?[a-z_]+):")
_HEADING = "// ----"

FILES = {"mil.lark": "Programs", "mil_fast.lark": "Tokens for speed"}
"""The files of the grammar, and the titles of what they begin with."""


class Definition(NamedTuple):
    """A rule or a token: its remark, its lines as they are, its expression as Lark reads it, and what that names."""

    name: str
    remark: str
    source: str
    expression: Tree[Token]
    names: frozenset[str]

    @property
    def is_token(self) -> bool:
        """Whether it is one token of a text, by its spelling in capitals."""
        return self.name.isupper()


class Section(NamedTuple):
    """A part of the grammar: its title, and what is said or defined in it, in the order of the file."""

    title: str
    parts: tuple[str | Definition, ...]


def pages() -> dict[str, str]:
    """Return the page of the grammar."""
    return {"grammar.md": "".join(_page())}


def sections() -> list[Section]:
    """Return the grammar in its parts, file by file."""
    return [section for name in FILES for section in _sections_of(name)]


def _sections_of(name: str) -> list[Section]:
    """Return a file in its parts. Raise ValueError for a definition that Lark and this reader do not both see."""
    text = (ROOT / "grammar" / name).read_text(encoding="utf-8")
    unread = expressions(text)
    found, parts, title = list[Section](), list[str | Definition](), FILES[name]
    for block in re.split(r"\n{2,}", text.strip()):
        remark, source = _divided(block)
        if remark.startswith(_HEADING):
            found, parts = [*found, Section(title, tuple(parts))], []
            head, _, remark = remark.removeprefix(_HEADING).partition("\n")
            title, _, rest = head.strip().partition(": ")
            title, remark = title.capitalize(), f"{rest[:1].upper()}{rest[1:]}\n{remark}"
        parts += _parts(_without_marks(remark), source, unread)
    if unread:
        raise ValueError(f"grammar/{name}: `{min(unread)}` does not begin a paragraph of its own")
    return [*found, Section(title, tuple(parts))]


def _parts(remark: str, source: str, unread: dict[str, Tree[Token]]) -> list[str | Definition]:
    begun = _DEFINITION.match(source)
    if not begun:
        return [*([remark] if remark else []), *([f"```text\n{source}\n```"] if source else [])]
    expression = unread.pop(begun["name"])
    named = {str(name) for tree in expression.find_data("name") for name in tree.children}
    return [Definition(begun["name"], remark, source, expression, frozenset(named))]


def _divided(block: str) -> tuple[str, str]:
    """Return the comment at the top of a paragraph, and what it is about."""
    lines = block.splitlines()
    count = next((at for at, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return "\n".join(lines[:count]), "\n".join(lines[count:])


def _without_marks(remark: str) -> str:
    return re.sub(r"^// ?", "", remark, flags=re.MULTILINE).strip()


def expressions(text: str) -> dict[str, Tree[Token]]:
    """Return the expression of each name that a grammar defines, as Lark's own grammar of grammars reads it.

    That knows `%override`, but not `%extend`, of the same form; neither defines a name.
    """
    found = {}
    for definition in _lark_of_lark().parse(text.replace("%extend ", "%override ")).children:
        if isinstance(definition, Tree) and definition.data in ("rule", "token"):
            name, *_, expression = definition.children
            assert isinstance(expression, Tree)
            found[str(name)] = expression
    return found


@cache
def _lark_of_lark() -> Lark:
    return Lark((files("lark") / "grammars" / "lark.lark").read_text(encoding="utf-8"), parser="lalr")


# ---- the page


def _page() -> Iterator[str]:
    made = sections()
    definitions = {part.name: part for section in made for part in section.parts if isinstance(part, Definition)}
    extended = _extended(made)
    users = {
        name: [other.name for other in definitions.values() if name in other.names or name in extended[other.name]]
        for name in definitions
    }
    yield "# Grammar\n\nThis is `grammar/mil.lark`, then `grammar/mil_fast.lark`, which adds tokens for speed: from "
    yield "both the parser's tables are made. [`miltext.lark_parser`](lark.md) reads the first alone. In a diagram, "
    yield "read along the line from left to right: rounded words are in the text as they are, and words in a box are "
    yield "another rule or token. [The language](language.md) says what each construct means.\n"
    for section in made:
        yield f"\n## {section.title}\n"
        for part in section.parts:
            yield from [f"\n{part}\n"] if isinstance(part, str) else _definition(part, definitions, users[part.name])


def _extended(made: list[Section]) -> dict[str, set[str]]:
    """Return the names that extensions add to rules."""
    found = defaultdict[str, set[str]](set)
    for source in (part for section in made for part in section.parts if isinstance(part, str)):
        for extension in _EXTENSION.finditer(source):
            found[extension["name"]] |= {*re.findall(r"\w+", source[extension.end() :])}
    return found


def _definition(part: Definition, known: dict[str, Definition], users: list[str]) -> Iterator[str]:
    yield f"\n### `{part.name}` {{ #{part.name} }}\n\n"
    if part.remark:
        yield f"{part.remark}\n\n"
    if diagrams.is_readable(part.expression):
        picture = diagrams.drawn(part.expression, known)
        yield f'<div class="rails" role="figure" aria-label="Railroad diagram of {part.name}">{picture}</div>\n\n'
    yield f"```text\n{part.source}\n```\n\n"
    if users:
        yield f"Used in {', '.join(f'[`{name}`](#{name})' for name in users)}.\n"
    elif part.name == "program":
        yield "A text is one of these.\n"
