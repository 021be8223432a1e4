"""The result of a rewriting, as text for people and as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.diagnostics.dynamic import Record
    from miltext.rewriting.planning import PlannedSite
    from miltext.schema.proto import Program


@dataclass(repr=False)
class Rewriting:
    """The result of `miltext.rewrite`: all sites, replaced ones first, the new `program`, and the warnings.

    `operations` are the numbers of operations before and after, constants aside. `verified` is the number of different
    replacements that were proven; None if that was not requested.
    """

    program: Program
    sites: list[PlannedSite] = field(default_factory=list)
    operations: tuple[int, int] = (0, 0)
    verified: int | None = None
    warnings: list[Diagnostic] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Rewriting: {len(self.replaced)} replaced, {len(self.refused)} refused>"

    @property
    def replaced(self) -> list[PlannedSite]:
        """The replaced sites, in order."""
        return [each for each in self.sites if each.is_replaced]

    @property
    def refused(self) -> list[PlannedSite]:
        """The sites that match a pattern and stay, with their reasons."""
        return [each for each in self.sites if not each.is_replaced]

    def to_text(self) -> str:
        """Return the plan as text for people: a line for each site, and the sum."""
        return "".join(f"{line}\n" for line in (*map(_line, self.sites), *self._sums()))

    def to_json(self) -> Record:
        """Return the result as plain data."""
        before, after = self.operations
        return {
            "sites": [asdict(each) for each in self.sites],
            "operations": {"before": before, "after": after},
            "verified": self.verified,
        }

    def _sums(self) -> Iterator[str]:
        for rule, count in Counter(each.rule for each in self.replaced).items():
            yield f"{rule}: {tally(count, 'site')} replaced"
        before, after = self.operations
        proven = "" if self.verified is None else f"; {tally(self.verified, 'different replacement')} proven"
        yield f"{tally(len(self.replaced), 'replacement')}, {before} -> {after} operations{proven}"


def _line(site: PlannedSite) -> str:
    place = f"{site.function}/{site.value}"
    if not site.is_replaced:
        return f"{place}: {site.rule} refused: {site.reason}"
    return f"{place}: {site.rule} replaced: {_spelled(site.removed)} -> {_spelled(site.made)}"


def _spelled(types: Sequence[str]) -> str:
    counted = Counter(types).items()
    return " ".join(name if count == 1 else f"{count} {name}" for name, count in counted) or "nothing"
