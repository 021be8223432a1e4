"""The result of a rewriting, as text for people and as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.plain import plain
from miltext.diagnostics.wording import tally
from miltext.schema.walk import is_constant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record
    from miltext.rewriting.planning import PlannedSite
    from miltext.rewriting.whole_proofs import FunctionProof
    from miltext.schema.proto import Program


SHOWN = 3
"""The most sites in one line that are refused for the same reason."""


class RuleSum(NamedTuple):
    """The reductions by a rule: its replaced sites, its operations without constants, and bytes of constants.

    A number is negative if more were added than removed.
    """

    rule: str
    sites: int
    operations: int
    bytes: int


@dataclass(repr=False)
class Rewriting:
    """The result of `miltext.rewrite`: all sites, replaced ones first, the new `program`, and the warnings.

    `operations` are the numbers of operations before and after, constants aside, and `weights` the bytes of constants.
    `went` is the number of these bytes that each rule removed. `verified` is the number of different replacements that
    were proven, and `functions` are the rewritten functions, computed before and after; both are None if that was not
    requested.
    """

    program: Program
    sites: list[PlannedSite] = field(default_factory=list)
    operations: tuple[int, int] = (0, 0)
    verified: int | None = None
    functions: list[FunctionProof] | None = None
    weights: tuple[int, int] = (0, 0)
    went: dict[str, int] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Rewriting: {len(self.replaced)} replaced, {len(self.refused)} refused>"

    @property
    def replaced(self) -> list[PlannedSite]:
        """The replaced sites, in order."""
        return [each for each in self.sites if each.is_replaced]

    @property
    def refused(self) -> list[PlannedSite]:
        """The sites that match a pattern but are not replaced, with their reasons."""
        return [each for each in self.sites if not each.is_replaced]

    def to_text(self) -> str:
        """Return the plan as text for people: a line for each replaced site, one for all sites that a rule refuses for
        the same reason, and the sum.
        """
        lines = (*map(_line, self.replaced), *_refusals(self.refused), *self._sums(), *self._wholes())
        return "".join(f"{line}\n" for line in lines)

    def summary(self) -> str:
        """Return the changes as text for people: a line for each rule with its removals, and the sum."""
        lines = [_rule_line(each) for each in self.by_rule()] or ["nothing to change"]
        before, after = self.operations
        old, new = self.weights
        sums = f"{before} -> {after} operations, {old} -> {new} bytes of constants{self._proven()}"
        return "".join(f"{line}\n" for line in (*lines, sums, *self._wholes()))

    def by_rule(self) -> list[RuleSum]:
        """Return the reductions by each rule that replaced a site, in the order of the first sites."""
        sites, operations = Counter[str](), Counter[str]()
        for each in self.replaced:
            sites[each.rule] += 1
            operations[each.rule] += _operations(each)
        return [RuleSum(rule, count, operations[rule], self.went.get(rule, 0)) for rule, count in sites.items()]

    def to_json(self) -> Record:
        """Return the result as plain data."""
        (before, after), (old, new) = self.operations, self.weights
        return {
            "sites": [asdict(each) for each in self.sites],
            "changes_by_rule": [each._asdict() for each in self.by_rule()],
            "operations": {"before": before, "after": after},
            "weights": {"before": old, "after": new},
            "verified": self.verified,
            "functions": None if self.functions is None else plain(self.functions),
        }

    def _sums(self) -> Iterator[str]:
        for rule, count in Counter(each.rule for each in self.replaced).items():
            yield f"{rule}: {tally(count, 'site')} replaced"
        before, after = self.operations
        yield f"{tally(len(self.replaced), 'replacement')}, {before} -> {after} operations{self._proven()}"

    def _wholes(self) -> Iterator[str]:
        for each in self.functions or ():
            yield from each.lines()

    def _proven(self) -> str:
        return "" if self.verified is None else f"; {tally(self.verified, 'different replacement')} proven"


def _line(site: PlannedSite) -> str:
    if not site.removed and not site.made:
        return f"{_place(site)}: {site.rule} replaced: edited in place"
    return f"{_place(site)}: {site.rule} replaced: {_spelled(site.removed)} -> {_spelled(site.made)}"


def _refusals(sites: Iterable[PlannedSite]) -> Iterator[str]:
    """Yield a line for each rule and reason, in the order of the first sites."""
    folded: dict[tuple[str, str], list[PlannedSite]] = {}
    for each in sites:
        folded.setdefault((each.rule, each.reason), []).append(each)
    for (rule, reason), alike in folded.items():
        more = f" and {len(alike) - SHOWN} more" if len(alike) > SHOWN else ""
        yield f"{', '.join(map(_place, alike[:SHOWN]))}{more}: {rule} refused: {reason}"


def _place(site: PlannedSite) -> str:
    return f"{site.function}/{site.value}"


def _operations(site: PlannedSite) -> int:
    """Return the number of operations that the replacement of a site removed, constants aside."""
    return sum(not is_constant(each) for each in site.removed) - sum(not is_constant(each) for each in site.made)


def _rule_line(found: RuleSum) -> str:
    operations = _less(found.operations, tally(abs(found.operations), "operation"))
    constants = _less(found.bytes, f"{tally(abs(found.bytes), 'byte')} of constants")
    return f"{found.rule}: {tally(found.sites, 'site')}, {operations}, {constants}"


def _less(number: int, counted: str) -> str:
    """Return a counted noun with `less`, or with `more` for a negative number."""
    return f"{counted} {'less' if number >= 0 else 'more'}"


def _spelled(types: Sequence[str]) -> str:
    counted = Counter(types).items()
    return " ".join(name if count == 1 else f"{count} {name}" for name, count in counted) or "nothing"
