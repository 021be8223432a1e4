"""The packaged rules and passes, and the reading of rules by name, path or text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from miltext.checking.findings import named
from miltext.containers.sources import is_text
from miltext.diagnostics import MiltextError, Note, ParseError, codes, error
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.files.contents import decode, read_file
from miltext.rewriting.passes import GraphPass
from miltext.rewriting.python_rules import SUFFIX, PythonRule, PythonRuleFile
from miltext.rewriting.rule_files import RuleFile

if TYPE_CHECKING:
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.rule_files import RewriteRule

Rules: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""Rules: the text or the path of a rule file, the name of a packaged file or rule, or several of these."""

ON_REQUEST = frozenset({"equal-weights"})
"""The exact passes that `miltext.optimize` leaves out: small constants that become one save nothing."""


@cache
def library() -> dict[str, RuleFile]:
    """Return the packaged rule files by name."""
    folder = Path(__file__).parent / "library"
    paths = sorted(folder.glob("*.mil"))
    return {path.stem: RuleFile(path.read_text(encoding="utf-8"), path.name) for path in paths}


@cache
def passes() -> dict[str, GraphPass]:
    """Return the passes by name, in the order in which they apply."""
    from miltext.rewriting.common_subexpressions import COMMON_SUBEXPRESSIONS
    from miltext.rewriting.constant_folding import CONSTANT_FOLDING
    from miltext.rewriting.dead_code import DEAD_CODE
    from miltext.rewriting.equal_weights import EQUAL_WEIGHTS
    from miltext.rewriting.split_heads import SPLIT_HEADS

    listed = (CONSTANT_FOLDING, COMMON_SUBEXPRESSIONS, DEAD_CODE, EQUAL_WEIGHTS, SPLIT_HEADS)
    return {each.name: each for each in listed}


def packaged() -> list[AnyRule]:
    """Return all packaged rules, and then the passes."""
    return [*(rule for file in library().values() for rule in file.rules), *passes().values()]


def exact() -> list[AnyRule]:
    """Return the rules and passes of `miltext.optimize`: the packaged ones that keep all bits of all numbers."""
    exact = (rule for rule in packaged() if rule.exactness.is_exact and rule.domain is None)
    return [rule for rule in exact if rule.name not in ON_REQUEST]


def rules_of(given: Rules, *, run: bool = False) -> list[AnyRule]:
    """Return the rules and passes in the given order. The code of rules in Python is run only if `run`.

    Raise ParseError for a wrong file, ModelError for an unreadable one, MiltextError (MIL873) for an unknown name.
    """
    several = [given] if isinstance(given, str | os.PathLike) else _listed(given)
    if not several:
        raise ValueError("no rules are given: name at least one rule file or rule")
    found = list(dict.fromkeys(rule for each in several for rule in _rules(each)))
    for file in dict.fromkeys(rule.file for rule in found if run and isinstance(rule, PythonRule)):
        file.run()
    return found


def _listed(given: object) -> list[str | os.PathLike[str]]:
    """Return several rules. Raise TypeError for any other object."""
    found = list[str | os.PathLike[str]]()
    for each in given if isinstance(given, Iterable) else [given]:
        if not isinstance(each, str | os.PathLike):
            raise TypeError(f"rules are paths, names or texts of rules, not {type(each).__name__}")
        found.append(each)
    return found


def _rules(given: str | os.PathLike[str]) -> Sequence[AnyRule]:
    if isinstance(given, str) and is_text(given):
        return RuleFile(given).rules
    name = os.fspath(given)
    if name.endswith(SUFFIX):
        return PythonRuleFile(decode(read_file(Path(name)), name), name).rules
    if name.endswith(".mil") or os.path.exists(name) or not isinstance(given, str):
        return RuleFile(decode(read_file(Path(name)), name), name).rules
    if name in library():
        return library()[name].rules
    own = {rule.name: rule for rule in packaged()}
    if name in own:
        return [own[name]]
    meant = did_you_mean(nearest(name, [*library(), *own]))
    message = f"there is no rule {named(name)}{meant}"
    raise MiltextError([error(codes.UNKNOWN_SITE, message, None, Note("`miltext rewrite --list` shows the rules"))])


def patterns(rules: Iterable[AnyRule]) -> list[RewriteRule]:
    """Return rules that all have a pattern. Raise MiltextError (MIL873) for a pass and for a rule in Python."""
    found = list["RewriteRule"]()
    for rule in rules:
        if isinstance(rule, GraphPass):
            raise _refused(rule, "no pattern")
        found.append(rule)
    return found


def with_examples(rules: Iterable[AnyRule]) -> list[AnyRule]:
    """Return rules that can be tested. Raise MiltextError (MIL873) for a pass without examples."""
    listed = [*rules]
    for rule in listed:
        if isinstance(rule, GraphPass) and not isinstance(rule, PythonRule) and not rule.examples:
            raise _refused(rule, "no examples")
    return listed


def _refused(rule: GraphPass, lacks: str) -> MiltextError:
    kind, given = ("rule in Python", rule.file.path) if isinstance(rule, PythonRule) else ("pass", rule.name)
    message = f"`{rule.name}` is a {kind}, which has {lacks}"
    note = Note(f"`miltext rewrite {given} MODEL --dry-run` shows its sites")
    return MiltextError([error(codes.UNKNOWN_SITE, message, None, note)])


def replacing(rules: Iterable[AnyRule]) -> list[AnyRule]:
    """Return rules that all have a replacement. Raise ParseError (MIL870) for one that has none."""
    listed = [*rules]
    for rule in listed:
        if not isinstance(rule, GraphPass) and rule.replacement is None:
            message = f"the rule {named(rule.name)} has no replacement: add the function `replace_{rule.name}`"
            raise ParseError(
                [error(codes.WRONG_RULE, message, rule.file.span(rule.pattern.path))],
                text=rule.file.text,
                path=rule.file.path,
            )
    return listed
