"""Make src/miltext/syntax/tables.json, the parser's tables, from grammar/mil_fast.lark, which imports grammar/mil.lark;
`--check` fails if they are stale. Two lists in the grammars are made first: the data types, from their table, and the
names that mil_fast.lark imports.

Lark builds the LALR(1) automaton, and numbers its states in an order that depends on Python's hashes. This script
numbers them anew, in the order in which a walk over sorted symbols meets them, so one grammar has one file, on every
run and every machine.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generated import settle

from miltext.schema.dtypes import DTYPES
from miltext.syntax.tables import TABLES, WORD_END, fast_lark_parser

if TYPE_CHECKING:
    from lark import Lark
    from lark.lexer import TerminalDef

GRAMMAR = Path(__file__).resolve().parents[1] / "grammar" / "mil.lark"
FAST = GRAMMAR.with_name("mil_fast.lark")

LINE = 120
"""Characters of a line of imports."""

STARTS = ["program", "_functions", "_rest_of_block", "operation", "type", "value"]
"""The phrases that may be read by themselves."""

FAST_PRIORITY = 2
"""The priority in the grammar that marks a terminal as a fast path for phrases that the rules can read too."""

State = dict[str, Any]
"""A state of Lark's: an action and its target, a state or a rule, by the name of a symbol."""


def tables() -> dict[str, Any]:
    """Collect all that the parser needs of the grammar, as `Grammar` in miltext/syntax/tables.py has it."""
    lark = fast_lark_parser(start=STARTS)
    automaton = lark.parser.parser._parse_table
    rules = sorted(lark.rules, key=lambda rule: (rule.origin.name, [symbol.name for symbol in rule.expansion]))
    order = numbered(automaton.states, [automaton.start_states[start] for start in STARTS])
    number = {rule: -1 - index for index, rule in enumerate(rules)} | {state: at for at, state in enumerate(order)}
    rows = [rule_row(rule) for rule in rules]
    states = [
        {symbol: number[target] for symbol, (_, target) in sorted(automaton.states[state].items())} for state in order
    ]
    return {
        "terminals": [terminal_row(terminal) for terminal in sorted(lark.terminals, key=trial)],
        "rules": rows,
        "states": states,
        "folds": list(folds(rows, states, {terminal.name for terminal in lark.terminals})),
        "starts": {start: number[automaton.start_states[start]] for start in STARTS},
        "ends": sorted(number[state] for state in automaton.end_states.values()),
        "parts": parts(lark),
    }


def parts(lark: Lark) -> dict[str, str]:
    """Collect the expressions of the coarse terminals, and of the terminals that they are made of."""
    terminals, _, _ = lark.grammar.compile(STARTS, "*")
    named = {terminal.name: terminal.pattern.to_regexp() for terminal in terminals}
    coarse = [terminal.name for terminal in terminals if terminal.priority >= FAST_PRIORITY]
    return {name: named[name] for name in sorted(named) if name[0] == "_" or name in [*coarse, "STRING"]}


def numbered(states: dict[int, State], starts: list[int]) -> list[int]:
    """Order the states: first those that parses begin in, then the others as they are reached, by sorted symbols."""
    order = list(starts)
    known = set(order)
    for state in order:
        for _, (_, target) in sorted(states[state].items(), key=lambda action: action[0]):
            if isinstance(target, int) and target not in known:
                known.add(target)
                order.append(target)
    return order


def trial(terminal: TerminalDef) -> tuple[int, int, int, str]:
    """Return a key that sorts terminals in Lark's own order of trial."""
    pattern = terminal.pattern
    return -terminal.priority, -pattern.max_width, -len(pattern.value), terminal.name


def terminal_row(terminal: TerminalDef) -> list[Any]:
    """Return the fields of a `Terminal`."""
    pattern = terminal.pattern.to_regexp()
    literal = terminal.pattern.value if terminal.pattern.type == "str" else None
    if literal is None and pattern.endswith(WORD_END):
        word = re.sub(r"\\(.)", r"\1", pattern[: -len(WORD_END)])
        literal = word if re.fullmatch(r"\$?[A-Za-z_]+", word) else None
    return [terminal.name, pattern, literal, terminal.priority >= FAST_PRIORITY]


def rule_row(rule: Any) -> list[Any]:
    """Return the fields of a `GrammarRule`, and read `empty_indices` as Lark's tree builder does."""
    name = rule.alias or rule.options.template_source or rule.origin.name
    absent = [0] * (len(rule.expansion) + 1)
    if rule.options.empty_indices:
        marks = "".join(str(int(mark)) for mark in rule.options.empty_indices)
        absent = [len(run) for run in marks.split("0")]
    plan: list[int | None] = []
    for index, (before, symbol) in enumerate(zip(absent, rule.expansion, strict=False)):
        plan += [None] * before
        plan.append(~index if not symbol.is_term and symbol.name.startswith("_") else index)
    plan += [None] * absent[-1]
    callback = None if rule.origin.name.startswith("_") else name
    return [callback, rule.origin.name, len(rule.expansion), None if plan == list(range(len(plan))) else plan]


def folds(rows: list[list[Any]], states: list[dict[str, int]], terminals: set[str]) -> Iterator[list[Any]]:
    """Yield the tokens that form a phrase regardless of the next token, as `Grammar.folds` has them: the parser reads
    such a token and finishes the phrase in one step.
    """
    for number, state in enumerate(states):
        for symbol, target in state.items():
            follows = set(states[target].values()) if target >= 0 and symbol in terminals else ()
            if len(follows) == 1 and (rule := -1 - next(iter(follows))) >= 0:
                callback, origin, size, plan = rows[rule]
                if size == 1 and callback and plan is None:
                    after = state[origin]
                    yield [number, symbol, rule, None if grows(rows, states[after]) else after]


def grows(rows: list[list[Any]], state: dict[str, int]) -> bool:
    """Return whether a phrase that ends in this state only makes a repetition grow, regardless of the next token."""
    after = set(state.values())
    if len(after) != 1 or (rule := -1 - after.pop()) < 0:
        return False
    callback, _, _, plan = rows[rule]
    return callback is None and plan == [~0, 1]


def render(made: dict[str, Any]) -> str:
    """Spell the tables as JSON, a terminal, a rule or a state on a line."""
    parts = [f"{json.dumps(name)}: {spelled(part)}" for name, part in made.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def spelled(part: Any) -> str:
    """Spell a list of rows with a row on a line, and anything else on one line."""
    if part and isinstance(part, list) and not isinstance(part[0], int):
        return "[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in part) + "\n]"
    return json.dumps(part)


def with_data_types(grammar: str) -> str:
    """Return the grammar with the names of all data types in its terminal DTYPE."""
    names = "|".join(dtype.name for dtype in DTYPES)
    return re.sub(r"(?<=^DTYPE\.1: /\(\?:)[^)]*", names, grammar, count=1, flags=re.MULTILINE)


def with_imports(fast: str, grammar: str) -> str:
    """Return the fast grammar with imports of all names of `mil.lark`: rules and tokens, then names after an arrow."""
    defined = re.findall(r"^(\w+)(?:\.\d)?:", grammar, re.MULTILINE)
    renamed = [name for name in dict.fromkeys(re.findall(r"-> (\w+)", grammar)) if name not in defined]
    first, last = "%import .mil (", ")"
    words = ", ".join([*defined, *renamed])
    lines = textwrap.wrap(words, LINE - len(first + last), break_long_words=False)
    imports = "".join(f"{first}{line.removesuffix(',')}{last}\n" for line in lines)
    return re.sub(r"^%import .*\n(?:%import .*\n)*", imports, fast, count=1, flags=re.MULTILINE)


def files() -> Iterator[tuple[Path, str]]:
    """Yield the grammars and the tables, which are made from the grammars before."""
    grammar = with_data_types(GRAMMAR.read_bytes().decode())
    yield GRAMMAR, grammar
    yield FAST, with_imports(FAST.read_bytes().decode(), grammar)
    yield TABLES, render(tables())


def main() -> None:
    """Write the grammars' lists and the tables, or compare them with the files."""
    settle(__doc__, files())


if __name__ == "__main__":
    main()
