"""Notes about the matches of rules, for the check of a program whose project requests them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, named
from miltext.diagnostics import MiltextError, codes
from miltext.ir.graph import Graph
from miltext.rewriting.finding import matches
from miltext.rewriting.operands import ConstantContents
from miltext.rewriting.packaged import patterns, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from miltext.checking.further import Further
    from miltext.rewriting.rule_files import RewriteRule
    from miltext.schema.proto import Program


def noticing(names: Iterable[str], root: str) -> Further:
    """Return the check for the matches of rules: packaged ones, and those of files below a folder.

    A mistake in the rules is a finding about each program.
    """
    try:
        rules = patterns(rules_of([os.path.join(root, each) if each.endswith(".mil") else each for each in names]))
    except MiltextError as failure:
        place = f"{failure.path}: " if failure.path else ""
        wrong = [Finding((), each.code, f"{place}{each.message}") for each in failure.diagnostics]
        return lambda _program, _folder: wrong
    return lambda program, folder: _notes(rules, program, folder)


def _notes(rules: Iterable[RewriteRule], program: Program, folder: Path | None) -> list[Finding]:
    """Return a note about each match, at its last operation."""
    graph = Graph(program)
    found = [(rule, op) for rule, _, op, _ in matches(rules, graph, ConstantContents(folder))]
    paths = {op: path for path, op in graph.operations().items()} if found else {}
    return [Finding((*paths[op], "type"), codes.RULE_MATCHES, _said(rule), severity="note") for rule, op in found]


def _said(rule: RewriteRule) -> str:
    purpose = f": {rule.purpose}" if rule.purpose else ""
    return f"the rule {named(rule.name)} matches here{purpose}"
