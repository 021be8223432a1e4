"""The check of a rule file: its rules, and each example and near miss as a draft by itself. No rule is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic

WORD = "rules"
"""The attribute of a rule file, without which no text is one: only for a text with it are rules imported."""


def rule_findings(text: str | None, path: str | None = None) -> list[Diagnostic] | None:
    """Return the errors of a rule file, in the order of the text; None for any other text."""
    if text is None or WORD not in text:
        return None
    from miltext.checking.findings import in_order
    from miltext.checking.verifier import check_text, errors_in
    from miltext.diagnostics import ParseError
    from miltext.rewriting.rule_files import RuleFile, is_rule_file

    if not is_rule_file(text):
        return None
    try:
        file = RuleFile(text, path)
    except ParseError as failure:
        return failure.diagnostics
    names = dict.fromkeys(name for rule in file.rules for name in (*rule.examples, *rule.keeps))
    found = (each for name in names for each in check_text(file.alone(name), path).diagnostics)
    return in_order(errors_in(found))
