"""The states of the Pygments lexer, in a form that other highlighters can be made from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pygments.lexer import include, words
from pygments.token import _TokenType

from miltext.highlight import MilLexer

START = "root"


class Rule(NamedTuple):
    """One rule: its pattern, its token (None if it only looks ahead), and the state that it enters, or `leaves`.

    A pattern is in Python's syntax, or is a list of words with what must follow them.
    """

    pattern: str | words
    token: _TokenType | None
    enters: str | None
    leaves: bool


Entry = Rule | str
"""A rule, or the name of a state whose rules take this place."""


def read_states() -> dict[str, list[Entry]]:
    """Read the lexer's states in their order."""
    return {name: [_entry(definition) for definition in rules] for name, rules in MilLexer.tokens.items()}


def _entry(definition: Any) -> Entry:
    if isinstance(definition, include):
        return str(definition)
    pattern, token, *target = definition
    leaves = target == ["#pop"]
    enters = target[0] if target and not leaves else None
    return Rule(pattern, token if isinstance(token, _TokenType) else None, enters, leaves)


def entered(states: dict[str, list[Entry]]) -> list[str]:
    """List the states that a text can be in: the others are only parts of these."""
    targets = {entry.enters for entries in states.values() for entry in entries if isinstance(entry, Rule)}
    return [name for name in states if name == START or name in targets]


def flat(states: dict[str, list[Entry]], name: str) -> Iterator[Rule]:
    """Yield the rules of a state and of the states that it includes, in the order of their trial."""
    for entry in states[name]:
        if isinstance(entry, Rule):
            yield entry
        else:
            yield from flat(states, entry)


def exits(states: dict[str, list[Entry]], name: str) -> list[Rule]:
    """List the rules that leave a state."""
    return [rule for rule in flat(states, name) if rule.leaves]
