"""Checks of rule files: their rules, and their examples as programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.checking.findings import in_order
from miltext.checking.ignores import without_ignored
from miltext.checking.verifier import check_text, errors_in
from miltext.diagnostics import ParseError
from miltext.rewriting.rule_files import RuleFile
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic


@with_room
def rule_findings(text: str, path: str | None = None) -> list[Diagnostic]:
    """Return the findings in a rule file that no comment ignores: mistakes in rules, and errors of their examples."""
    try:
        file = RuleFile(text, path)
    except ParseError as failure:
        return without_ignored(text, failure.diagnostics)
    names = dict.fromkeys(name for rule in file.rules for name in (*rule.examples, *rule.keeps))
    found = [each for name in names for each in errors_in(check_text(file.alone(name), path).diagnostics)]
    return without_ignored(text, in_order(found))
