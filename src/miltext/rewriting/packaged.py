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
from miltext.rewriting.rule_files import RuleFile

if TYPE_CHECKING:
    from miltext.rewriting.passes import AnyRule
    from miltext.rewriting.rule_files import RewriteRule

Rules: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"
"""Rules: the text or the path of a rule file, the name of a packaged file or rule, or several of these."""


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

    return {each.name: each for each in (CONSTANT_FOLDING, COMMON_SUBEXPRESSIONS, DEAD_CODE)}


def packaged() -> list[AnyRule]:
    """Return all packaged rules, and then the passes."""
    return [*(rule for file in library().values() for rule in file.rules), *passes().values()]


def exact() -> list[AnyRule]:
    """Return the packaged rules and passes that keep all bits of all numbers."""
    return [rule for rule in packaged() if rule.exactness.is_exact and rule.domain is None]


def rules_of(given: Rules) -> list[AnyRule]:
    """Return the rules and passes in the given order.

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
    return [*found.values()]


def _are_one(one: AnyRule, other: AnyRule) -> bool:
    """Return whether two rules of one name are from one text, which was given twice."""
    return not isinstance(one, GraphPass) and not isinstance(other, GraphPass) and one.file.text == other.file.text


def _two_of_one_name(first: AnyRule, second: AnyRule) -> MiltextError:
    """Return the error about two rules of one name, at the rule of a file."""
    rule, other = (first, second) if isinstance(second, GraphPass) else (second, first)
    place = "a packaged pass" if isinstance(other, GraphPass) else f"a rule of {other.file.path or 'another text'}"
    message = f"{place} is also named `{rule.name}`: rename this rule, or give one of the two alone"
    assert not isinstance(rule, GraphPass), "the names of passes differ"
    found = error(codes.WRONG_RULE, message, rule.file.span(rule.pattern.path))
    return ParseError([found], text=rule.file.text, path=rule.file.path)


def files_of(given: Rules) -> list[Path]:
    """Return the paths of the rule files among given rules."""
    return [Path(each) for each in _listed([given] if isinstance(given, str) else given) if _is_path(each)]


def _is_path(given: str | os.PathLike[str]) -> bool:
    """Return whether rules are given as a path: a packaged name is not that of a folder."""
    if not isinstance(given, str):
        return True
    if is_text(given):
        return False
    return given.endswith(".mil") or os.path.isfile(given) or (os.path.isdir(given) and given not in library())


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
        return RuleFile(decode(read_file(Path(name)), name), name).rules
    if name in library():
        return library()[name].rules
    own = {rule.name: rule for rule in packaged()}
    if name in own:
        return [own[name]]
    meant = did_you_mean(nearest(name, [*library(), *own]))
    message = f"there is no rule `{name}`{meant}"
    raise MiltextError([error(codes.UNKNOWN_SITE, message, None, Note("`miltext rewrite --list` shows the rules"))])


def patterns(rules: Iterable[AnyRule]) -> list[RewriteRule]:
    """Return rules that all have a pattern. Raise MiltextError (MIL873) for a pass."""
    found = list["RewriteRule"]()
    for rule in rules:
        if isinstance(rule, GraphPass):
            message = f"`{rule.name}` is a pass, which has neither a pattern nor examples"
            note = Note(f"`miltext rewrite {rule.name} MODEL --dry-run` shows its sites")
            raise MiltextError([error(codes.UNKNOWN_SITE, message, None, note)])
        found.append(rule)
    return found


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
