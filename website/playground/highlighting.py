"""The lexer's states as JSON, for the editor: the page highlights with the rules of `miltext.highlight`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from miltext.printing.html_page import CLASSES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "editors"))

from generator.patterns import as_pattern
from generator.states import START, Rule, entered, flat, read_states
from pygments.token import Name, _TokenType

_CLASSES = {**CLASSES, Name.Variable: "v"}
"""As the HTML page has them, which marks values where they are defined by itself."""


def rules() -> dict[str, Any]:
    """Return the states by name, each a list of `[pattern, class, state entered, whether it leaves]`, and the first."""
    states = read_states()
    return {"start": START, "states": {name: [_rule(rule) for rule in flat(states, name)] for name in entered(states)}}


def _rule(rule: Rule) -> list[Any]:
    return [as_pattern(rule.pattern), shown_class(rule.token), rule.enters, rule.leaves]


def shown_class(token: _TokenType | None) -> str | None:
    """Return the class of a token's type, or of the nearest type above."""
    while token is not None and token not in _CLASSES:
        token = token.parent
    return _CLASSES[token] if token is not None else None
