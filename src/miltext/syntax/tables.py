"""The grammar as plain tables: terminals, rules and LALR states.

`scripts/make_tables.py` has Lark make them of `grammar/mil_fast.lark`, which adds coarse tokens to the rules of
`grammar/mil.lark`. They ship as `tables.json`, so that parsing needs no Lark. `lark_parser` and `fast_lark_parser` are
Lark's own parsers of the two grammars.
"""

from __future__ import annotations

import json
import pathlib
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from miltext.diagnostics.arguments import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lark import Lark
    from lark.lexer import TerminalDef

TABLES = pathlib.Path(__file__).resolve().parent / "tables.json"

WORD_END = r"(?![A-Za-z0-9_@])"
"""The end of a word: no further character of a name."""


class Terminal(NamedTuple):
    """A terminal: its name, its regular expression, and its text where it has only one.

    A `fast` terminal is a coarse token, for phrases that the rules can read too.
    """

    name: str
    pattern: str
    literal: str | None
    fast: bool


Plan: TypeAlias = "list[int | None]"
"""The symbols of a rule whose values are children: None for an absent one, an index, or `~index` to take over a
list.
"""


class GrammarRule(NamedTuple):
    """A rule: the callback's name, if it has one; the symbol it makes; how many symbols it has; and the plan of its
    children, unless each symbol's value is one.
    """

    callback: str | None
    origin: str
    size: int
    plan: Plan | None


class Grammar(NamedTuple):
    """The tables. An entry of `states` maps a symbol to the next state, or to `-1 - rule` to reduce by it.

    `folds` are the tokens that form a phrase regardless of the next token: a state, the terminal, the rule of the
    phrase, and the state after it; None if a repetition grows by it. `starts` has the first state for each phrase that
    may be read by itself; in a state of `ends` it is done. `parts` has the expressions of the coarse terminals, and of
    their parts.
    """

    terminals: list[Terminal]
    rules: list[GrammarRule]
    states: list[dict[str, int]]
    folds: list[tuple[int, str, int, int | None]]
    starts: dict[str, int]
    ends: list[int]
    parts: dict[str, str]


def grammar_file(name: str = "mil.lark") -> pathlib.Path:
    """Return the path of a grammar: beside this module when installed, in `grammar/` in a source tree."""
    here = pathlib.Path(__file__).resolve().parent
    installed = here / name
    return installed if installed.exists() else here.parents[2] / "grammar" / name


@checked()
def lark_parser(start: str | Sequence[str] = "program", **options: Any) -> Lark:
    """Return a Lark parser of MIL text, made from the rules of `mil.lark`.

    Args:
        start: The rule of a whole text, or several, of which each call of `parse` names one.
        options: The options of `lark.Lark`: `propagate_positions`, `transformer`, `parser="earley"`,
            `keep_all_tokens=False` and so on.

    Returns:
        A parser whose trees contain all tokens, and None for an absent optional phrase: no part of a text is lost.

    Raises:
        lark.exceptions.ConfigurationError: Options that Lark refuses.

    Example:
        tree = miltext.lark_parser().parse(text)
    """
    return _parser_of("mil.lark", start, options)


def fast_lark_parser(start: str | Sequence[str] = "program", **options: Any) -> Lark:
    """Return Lark's parser of the grammar with coarse tokens: the reference that miltext's loop is tested against."""
    return _parser_of("mil_fast.lark", start, options)


def _parser_of(grammar: str, start: str | Sequence[str], options: dict[str, Any]) -> Lark:
    from lark import Lark

    edit = options.pop("edit_terminals", None)

    def edited(terminal: TerminalDef) -> None:
        _end_words(terminal)
        if edit is not None:
            edit(terminal)

    given = {"parser": "lalr", "keep_all_tokens": True, "maybe_placeholders": True, **options}
    return Lark.open(str(grammar_file(grammar)), start=start, edit_terminals=edited, **given)


def _end_words(terminal: TerminalDef) -> None:
    """Prevent a word such as `func` from matching the beginning of a longer name."""
    from lark.lexer import PatternRE, PatternStr

    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value[-1].isalpha():
        terminal.pattern = PatternRE(re.escape(terminal.pattern.value) + WORD_END)
        terminal.priority = 1


def words_of(pattern: str) -> list[str]:
    """Return the words of a terminal's expression; none if it contains anything else."""
    plain = pattern.removesuffix(WORD_END).replace("\\", "")
    if plain.startswith("(?:") and plain.endswith(")"):
        plain = plain[3:-1]
    words = plain.split("|")
    return words if all(word.removeprefix("$").isidentifier() for word in words) else []


@lru_cache(maxsize=1)
def load_grammar() -> Grammar:
    """Return the tables that ship with the package."""
    tables = json.loads(TABLES.read_bytes())
    return Grammar(
        [Terminal(*row) for row in tables["terminals"]],
        [GrammarRule(*row) for row in tables["rules"]],
        tables["states"],
        tables["folds"],
        tables["starts"],
        tables["ends"],
        tables["parts"],
    )
