"""The grammar as plain tables: terminals, rules and LALR states.

`scripts/make_tables.py` has Lark make them of `grammar/mil.lark`; they ship as `tables.json`, so that parsing needs no
Lark. `lark_parser` is Lark's own parser of the same grammar.
"""

from __future__ import annotations

import json
import pathlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark import Lark
    from lark.lexer import TerminalDef

TABLES = pathlib.Path(__file__).resolve().parent / "tables.json"

WORD_END = r"(?![A-Za-z0-9_@])"
"""What follows a word: nothing that would make it another name."""


class Terminal(NamedTuple):
    """A terminal: its name, its regular expression, and its text where it has only one.

    A `fast` one is a coarse token, for phrases that the rules can read too.
    """

    name: str
    pattern: str
    literal: str | None
    fast: bool


class Rule(NamedTuple):
    """A rule: the callback's name, the symbol it makes, and which of its symbols are passed on.

    `plan` has an entry for each symbol, how many absent optional ones come before it and whether its own children
    take its place; `absent` counts those that come last.
    """

    callback: str
    origin: str
    plan: list[tuple[int, bool]]
    absent: int


class Grammar(NamedTuple):
    """The tables. An entry of `states` maps a symbol to the next state, or to `-1 - rule` to reduce by it.

    `starts` has the state in which the parse of each phrase begins that may be read by itself; in one of `ends` it is
    done. `parts` has the expressions of the coarse terminals, and of those that they are made of.
    """

    terminals: list[Terminal]
    rules: list[Rule]
    states: list[dict[str, int]]
    starts: dict[str, int]
    ends: list[int]
    parts: dict[str, str]


def grammar_text() -> str:
    """Return the text of `mil.lark`: beside this module when installed, in `grammar/` in a source tree."""
    here = pathlib.Path(__file__).resolve().parent
    installed = here / "mil.lark"
    return (installed if installed.exists() else here.parents[2] / "grammar" / "mil.lark").read_text(encoding="utf-8")


def lark_parser(start: str | Sequence[str] = "program", **options: Any) -> Lark:
    """Return Lark's own parser for the grammar: the reference that miltext's loop is tested against.

    With several start symbols, its `parse` takes the one that is meant.
    """
    from lark import Lark

    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start=start,
        keep_all_tokens=True,
        maybe_placeholders=True,
        edit_terminals=_end_words,
        **options,
    )


def _end_words(terminal: TerminalDef) -> None:
    """Keep a word such as `func` from matching the beginning of a longer name."""
    from lark.lexer import PatternRE, PatternStr

    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value[-1].isalpha():
        terminal.pattern = PatternRE(re.escape(terminal.pattern.value) + WORD_END)
        terminal.priority = 1


def words_of(pattern: str) -> list[str]:
    """Return the words that the expression of a terminal is made of; none if it is of anything else."""
    plain = pattern.removesuffix(WORD_END).replace("\\", "")
    alternatives = re.fullmatch(r"(?:\(\?:)?(\$?\w+(?:\|\$?\w+)*)\)?", plain)
    return alternatives[1].split("|") if alternatives else []


@lru_cache(maxsize=1)
def load_grammar() -> Grammar:
    """Return the tables that ship with the package."""
    tables = json.loads(TABLES.read_bytes())
    return Grammar(
        [Terminal(*row) for row in tables["terminals"]],
        [Rule(*row) for row in tables["rules"]],
        tables["states"],
        tables["starts"],
        tables["ends"],
        tables["parts"],
    )
