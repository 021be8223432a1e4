"""Advisories as text for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from miltext.advisories.table import SEEN

if TYPE_CHECKING:
    from miltext.advisories.table import Advisory


def listed(chosen: Iterable[Advisory]) -> str:
    """Return advisories as text for people."""
    return "\n".join(_listed(each) for each in chosen)


def _listed(each: Advisory) -> str:
    facts = {
        "instead": each.instead,
        "fix": f"miltext rewrite {each.fix}" if each.fix else "",
        "systems": each.systems,
        "versions": each.versions,
        "seen": SEEN[each.seen],
        "source": " ".join(each.sources),
    }
    lines = [f"  {key}: {value}\n" for key, value in facts.items() if value]
    return f"{each.name} ({each.severity} {each.code})\n  `{each.operation}` {each.happens}\n{''.join(lines)}"
