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

    Raise ParseError for a wrong file and for two rules of one name, ModelError for an unreadable file, MiltextError
    (MIL873) for an unknown name.
    """
    several = [given] if isinstance(given, str | os.PathLike) else _listed(given)
    if not several:
        raise ValueError("no rules are given: name at least one rule file or rule")
    found: dict[str, AnyRule] = {}
    for rule in (rule for each in several for rule in _rules(each)):
        other = found.setdefault(rule.name, rule)
        if other is not rule and not _are_one(other, rule):
            raise _two_of_one_name(other, rule)
    for file in dict.fromkeys(rule.file for rule in found.values() if run and isinstance(rule, PythonRule)):
        file.run()
    return [*found.values()]


def file_of(rule: AnyRule) -> RuleFile | PythonRuleFile | None:
    """Return the file of a rule; None for a packaged pass."""
    return None if isinstance(rule, GraphPass) and not isinstance(rule, PythonRule) else rule.file


def _are_one(one: AnyRule, other: AnyRule) -> bool:
    """Return whether two rules of one name are from one text, which was given twice."""
    files = file_of(one), file_of(other)
    return files[0] is not None and files[1] is not None and files[0].text == files[1].text


def _two_of_one_name(first: AnyRule, second: AnyRule) -> MiltextError:
    """Return the error about two rules of one name, at the rule of a file."""
    rule, other = (first, second) if file_of(second) is None else (second, first)
    file = file_of(other)
    place = "a packaged pass" if file is None else f"a rule of {file.path or 'another text'}"
    return _mistake(rule, f"{place} is also named `{rule.name}`: rename this rule, or give one of the two alone")


def _mistake(rule: AnyRule, message: str) -> ParseError:
    """Return the error of a rule, at its place in its file."""
    if isinstance(rule, PythonRule):
        return rule.file.mistake(message, rule.line)
    assert not isinstance(rule, GraphPass), "packaged passes are right, and their names differ"
    found = error(codes.WRONG_RULE, message, rule.file.span(rule.pattern.path))
    return ParseError([found], text=rule.file.text, path=rule.file.path)


def files_of(given: Rules) -> list[Path]:
    """Return the paths of the rule files among given rules."""
    return [Path(each) for each in _listed([given] if isinstance(given, str) else given) if _is_path(each)]


def _is_path(given: str | os.PathLike[str]) -> bool:
    """Return whether rules are given as a path: a packaged name is not a folder."""
    if not isinstance(given, str):
        return True
    if is_text(given):
        return False
    is_file = given.endswith((".mil", SUFFIX)) or os.path.isfile(given)
    return is_file or (os.path.isdir(given) and given not in library())


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
    if _is_path(given):
        if os.path.isdir(name):
            note = Note(f"name the rule files in it: {os.path.join(name, '*.mil')}")
            raise MiltextError([error(codes.UNKNOWN_SITE, f"`{name}` is a folder, not a rule file", None, note)])
        text = decode(read_file(Path(name)), name)
        return PythonRuleFile(text, name).rules if name.endswith(SUFFIX) else RuleFile(text, name).rules
    if name in library():
        return library()[name].rules
    own = {rule.name: rule for rule in packaged()}
    if name in own:
        return [own[name]]
    meant = did_you_mean(nearest(name, [*library(), *own]))
    message = f"there is no rule `{name}`{meant}"
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
        if isinstance(rule, GraphPass) and file_of(rule) is None and not rule.examples:
            raise _refused(rule, "no examples")
    return listed


def _refused(rule: GraphPass, lacks: str) -> MiltextError:
    kind, given = ("rule in Python", rule.file.path) if isinstance(rule, PythonRule) else ("pass", rule.name)
    message = f"`{rule.name}` is a {kind}, which has {lacks}"
    note = Note(f"`miltext rewrite {given} MODEL --dry-run` shows its sites")
    return MiltextError([error(codes.UNKNOWN_SITE, message, None, note)])


def replacing(rules: Iterable[AnyRule]) -> list[AnyRule]:
    """Return rules that all have a replacement. Raise ParseError (MIL870) for a rule without one."""
    listed = [*rules]
    for rule in listed:
        if not isinstance(rule, GraphPass) and rule.replacement is None:
            message = f"the rule {named(rule.name)} has no replacement: add the function `replace_{rule.name}`"
            raise _mistake(rule, message)
    return listed
