"""The grammar as plain tables: terminals, rules and LALR states, made by Lark from `grammar/mil.lark`.

Building them takes Lark about as long as it takes to import it, so they are kept as JSON in the user's cache folder,
under a name that depends on the grammar and on Lark's version. A cache that cannot be read or written is no error.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import tempfile
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef

CACHE_VERSION = 1
"""Raised when the shape of the tables changes."""

WORD_END = r"(?![A-Za-z0-9_@])"
"""What follows a word: nothing that would make it another name."""

FAST_PRIORITY = 2
"""The priority in the grammar that marks a terminal as a fast path for phrases that the rules can read too."""


class Terminal(NamedTuple):
    """A terminal: its name, its regular expression, and its text where it has only one."""

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
    """The tables. An entry of `states` maps a symbol to the next state, or to `-1 - rule` to reduce by it."""

    terminals: list[Terminal]
    ignored: list[str]
    rules: list[Rule]
    states: list[dict[str, int]]
    start: int
    end: int


def grammar_text() -> str:
    """The text of `mil.lark`: beside this module when installed, in `grammar/` in a source tree."""
    here = Path(__file__).resolve().parent
    installed = here / "mil.lark"
    return (installed if installed.exists() else here.parents[1] / "grammar" / "mil.lark").read_text(encoding="utf-8")


def lark_parser(**options: Any) -> Lark:
    """Lark's own parser for the grammar: the reference that miltext's loop is tested against."""
    from lark import Lark

    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start="program",
        keep_all_tokens=True,
        maybe_placeholders=True,
        edit_terminals=_end_words,
        **options,
    )


@lru_cache(maxsize=1)
def load_grammar() -> Grammar:
    """The tables, from the cache when it has them."""
    path = _cache_path()
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return _from_json(json.loads(path.read_text(encoding="utf-8")))
    grammar = _build()
    with contextlib.suppress(OSError):
        _write_cache(path, json.dumps(grammar))
    return grammar


def _end_words(terminal: TerminalDef) -> None:
    """Keep a word such as `func` from matching the beginning of a longer name."""
    from lark.lexer import PatternRE, PatternStr

    if isinstance(terminal.pattern, PatternStr) and terminal.pattern.value[-1].isalpha():
        terminal.pattern = PatternRE(re.escape(terminal.pattern.value) + WORD_END)
        terminal.priority = 1


def _build() -> Grammar:
    lark = lark_parser()
    table = lark.parser.parser._parse_table
    rules = list(lark.rules)
    number = {rule: index for index, rule in enumerate(rules)}
    states = [_state(table.states[index], number) for index in range(len(table.states))]
    order = sorted(
        lark.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
    )  # Lark's own order of trial
    return Grammar(
        [_terminal(terminal) for terminal in order],
        list(lark.ignore_tokens),
        [_rule(rule) for rule in rules],
        states,
        table.start_states["program"],
        table.end_states["program"],
    )


def _terminal(terminal: TerminalDef) -> Terminal:
    pattern = terminal.pattern.to_regexp()
    literal = terminal.pattern.value if terminal.pattern.type == "str" else None
    if literal is None and pattern.endswith(WORD_END):
        word = re.sub(r"\\(.)", r"\1", pattern[: -len(WORD_END)])
        literal = word if re.fullmatch(r"\$?[A-Za-z_]+", word) else None
    return Terminal(terminal.name, pattern, literal, terminal.priority >= FAST_PRIORITY)


def _state(actions: dict[str, Any], number: dict[Any, int]) -> dict[str, int]:
    return {symbol: -1 - number[target] if target in number else target for symbol, (_, target) in actions.items()}


def _rule(rule: Any) -> Rule:
    """The rule's plan, by the same reading of `empty_indices` as Lark's tree builder's."""
    name = rule.alias or rule.options.template_source or rule.origin.name
    absent = [0] * (len(rule.expansion) + 1)
    if rule.options.empty_indices:
        marks = "".join(str(int(mark)) for mark in rule.options.empty_indices)
        absent = [len(run) for run in marks.split("0")]
    plan = [
        (before, not symbol.is_term and symbol.name.startswith("_"))
        for before, symbol in zip(absent, rule.expansion, strict=False)
    ]
    return Rule(name, rule.origin.name, plan, absent[-1])


def _cache_path() -> Path:
    key = f"{CACHE_VERSION}\n{metadata.version('lark')}\n{grammar_text()}"
    name = f"grammar-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA") or Path.home() / ".cache"
    return Path(root) / "miltext" / name


def _write_cache(path: Path, text: str) -> None:
    """Write beside the target and move into place, so that concurrent first runs never read half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(temporary, path)


def _from_json(tables: list[Any]) -> Grammar:
    terminals, ignored, rules, states, start, end = tables
    return Grammar(
        [Terminal(*terminal) for terminal in terminals],
        ignored,
        [Rule(callback, origin, [tuple(entry) for entry in plan], absent) for callback, origin, plan, absent in rules],
        states,
        start,
        end,
    )
