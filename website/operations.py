"""A page for each family of operations: docs/operations.md in parts, and in its place a table that finds one."""

from __future__ import annotations

import re
from posixpath import basename

from miltext.reference.entries import entries, families
from miltext.reference.markdown import operations_page
from website.links import family_page
from website.markdown import cell, findable

_FAMILY = re.compile(r"^## ", re.MULTILINE)
_HEADING, _ANCHORED = re.compile(r"^### (\w+)$", re.MULTILINE), r"## \1 { #\1 }"
"""The heading of an operation, there and here; its name is its anchor, underscores and all."""


def pages() -> dict[str, str]:
    """Return the pages of the families, and the page that lists all operations; links to its old anchors lead on."""
    head, *sections = _FAMILY.split(operations_page())
    first, notes = head.partition("| family |")[0].removeprefix("# Operations\n").split("\n- The first", 1)
    index = f"# Operations\n{first}\n{_table()}\n## How to read it\n\n- The first{notes}"
    made = {"operations/index.md": _moved(index)}
    for family, section in zip(families(), sections, strict=True):
        title, _, text = section.partition("\n")
        made[family_page(family)] = _moved(f"# {title}\n{_HEADING.sub(_ANCHORED, text)}")
    return made


def _moved(text: str) -> str:
    """Return a part of the page as it is one folder further down."""
    return text.replace("](language.md", "](../language.md")


def _table() -> str:
    rows = [
        (
            f"[`{entry.name}`]({basename(family_page(entry.family))}#{entry.name}){{ #{entry.name} }}",
            entry.family,
            cell(entry.description),
        )
        for entry in sorted(entries().values())
    ]
    return findable(("operation", "family", "what it computes"), rows)
