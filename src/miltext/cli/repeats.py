"""Repeated findings as one, for people: the first of them, and the lines of the others."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from miltext.diagnostics import Diagnostic, Note, line_and_column

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

MOST_ALIKE = 3
"""The most findings of one kind that are shown one by one."""

MOST_LINES = 6
"""The most lines that the note about the others names."""

_NUMBERS = re.compile(r"\d+")


def without_repeats(found: Sequence[Diagnostic], text: str | None) -> list[Diagnostic]:
    """Return the findings in a text in their order, with one in place of many that differ in numbers alone.

    Errors and findings with a suggestion stay, because each is fixed at its place.
    """
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for number, each in enumerate(found):
        stays = each.severity == "error" or each.suggestion is not None
        groups[number if stays else _kind(each)].append(number)
    shown: dict[int, Diagnostic] = {}
    for group in groups.values():
        alike = [found[number] for number in group]
        shown |= {group[0]: _first(alike, text)} if len(group) > MOST_ALIKE else zip(group, alike, strict=True)
    return [shown[number] for number in sorted(shown)]


def _kind(found: Diagnostic) -> Hashable:
    """Return the equal part of repeated findings: names in repeated layers differ in their numbers."""
    words = (found.message, *(note.message for note in found.notes))
    return found.severity, found.code, *(_NUMBERS.sub("#", each) for each in words)


def _first(group: Sequence[Diagnostic], text: str | None) -> Diagnostic:
    """Return the first finding of a group, with a note about the others."""
    first, *others = group
    spans = [each.span for each in others if each.span is not None]
    lines = [*dict.fromkeys(line_and_column(text, span.start)[0] for span in spans)] if text is not None else []
    named = ", ".join(map(str, lines[:MOST_LINES]))
    more = f" and {len(lines) - MOST_LINES} further" if len(lines) > MOST_LINES else ""
    where = f", in line{'s' * (len(lines) > 1)} {named}{more}" if lines else ""
    note = Note(f"{len(others)} more like this{where}; `--format json` lists each")
    return first._replace(notes=(*first.notes, note))
