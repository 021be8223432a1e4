"""Rule files as texts: MIL drafts whose program has the attribute `rules`. The room `rewriting` defines the rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from miltext.diagnostics import Note, codes, error
from miltext.parsing.recovery import recover
from miltext.parsing.spans import find
from miltext.schema.paths import Key

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.parsing.recovery import Recovered

RULES = "rules"
"""The attribute of a program that states the version of its rules."""

_STATED = re.compile(rf"\b{RULES}\b")


def is_rule_file(text: str) -> bool:
    """Return whether a text states that it is a rule file, whatever else is wrong with it."""
    return RULES in text and _STATED.search(text) is not None and has_rules(recover(text))


def has_rules(read: Recovered) -> bool:
    """Return whether a text that was read is a rule file."""
    return read.program is not None and RULES in read.program.attributes


def no_program(read: Recovered) -> Diagnostic:
    """Return the error about a rule file where a program is needed."""
    assert read.root is not None, "a Program was read from it"
    span = find(read.root, ("attributes", Key(RULES))).span
    note = Note("`miltext rewrite RULES MODEL` applies it to a model, and `miltext check` checks it")
    return error(codes.RULES_NOT_PROGRAM, "this is a rule file, not a program", read.written(span), note)
