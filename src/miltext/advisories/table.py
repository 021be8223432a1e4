"""The table of advisories: known faults of Core ML and coremltools, each with its pattern, source and way out."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes
from miltext.diagnostics.codes import TABLE
from miltext.rewriting.rule_files import EXAMPLE, KEEP, RuleFile

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.rewriting.rule_files import RewriteRule

CONSEQUENCES = {
    "wrong": codes.WRONG_NUMBERS,
    "not finite": codes.NOT_FINITE,
    "stops": codes.STOPS_CORE_ML,
    "conversion": codes.CHANGED_BY_CONVERSION,
}
"""The codes of the consequences of a fault, the worst first."""

SEEN = {
    "any": "it follows from the arithmetic or the code, on any device",
    "several": "it was seen on several devices, or by several people",
    "one": "it was seen on one device, or on devices that the report does not name",
}
"""The evidence for a fault, in words."""

USUAL, ALL = CHOICES = ("usual", "all")
"""The choices of advisories: all, or all but the ones seen on one device."""


PATH = Path(__file__).parent / "known.mil"

_PROGRAMS = re.compile(rf"^    func (?:{EXAMPLE}|{KEEP})(?s:.)*?^        }} -> .*\n", re.MULTILINE)
"""The programs of the table, which a check does not need; reading them takes most of the time."""


class Advisory(NamedTuple):
    """A known fault. `operation` is the operation that findings are about; `fix` is a packaged rule, or empty."""

    name: str
    rule: RewriteRule
    code: str
    operation: str
    happens: str
    instead: str
    seen: str
    systems: str
    versions: str
    sources: tuple[str, ...]
    fix: str

    @property
    def severity(self) -> str:
        """The severity of findings: the code's severity."""
        return TABLE[self.code].severity

    @property
    def message(self) -> str:
        """The message of findings."""
        return f"`{self.operation}` {self.happens}; {self.instead}"

    @property
    def evidence(self) -> str:
        """The name, systems, versions and sources, in one line."""
        return f"advisory `{self.name}`: {self.systems}; {self.versions}; {', '.join(self.sources)}"

    @property
    def way_out(self) -> str:
        """The words about the rule that avoids the fault; empty without one."""
        return f"`miltext rewrite {self.fix}` replaces it, where its conditions hold" if self.fix else ""

    def to_json(self) -> Record:
        """Return the facts as plain data."""
        facts = {key: value for key, value in self._asdict().items() if key not in ("rule", "sources")}
        return {**facts, "severity": self.severity, "sources": [*self.sources], "fix": self.fix or None}


@cache
def advisories(choice: str = ALL) -> tuple[Advisory, ...]:
    """Return the advisories of a choice, the worst consequence first. Raise ValueError for another word."""
    if choice not in CHOICES:
        raise ValueError(f"advisories are {' or '.join(map(repr, CHOICES))}, not {choice!r}")
    if choice == USUAL:
        return tuple(each for each in advisories() if each.seen != "one")
    rules = RuleFile(_PROGRAMS.sub("", PATH.read_text(encoding="utf-8")), PATH.name).rules
    return tuple(sorted(map(_advisory, rules), key=lambda each: each.code))


@cache
def table_file() -> RuleFile:
    """Return the whole rule file, with the programs of the reports and the near misses."""
    return RuleFile(PATH.read_text(encoding="utf-8"), PATH.name)


def _advisory(rule: RewriteRule) -> Advisory:
    facts = rule.advice
    assert facts["seen"] in SEEN
    return Advisory(
        rule.name,
        rule,
        CONSEQUENCES[facts["consequence"]],
        rule.pattern.root.type,
        facts["happens"],
        facts["instead"],
        facts["seen"],
        facts["systems"],
        facts["versions"],
        tuple(facts["source"].split()),
        facts.get("fix", ""),
    )
