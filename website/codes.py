"""The page of the diagnostics with a table in front, in which a word finds a code; each code has a page of its own."""

from __future__ import annotations

import re

from pymdownx.slugs import slugify

from miltext.diagnostics.codes import TITLES
from website import ROOT
from website.markdown import findable

_GROUP = re.compile(r"^## (.+)\n\n### (MIL\d+)$", re.MULTILINE)
"""A heading of a group, and its first code."""


def pages() -> dict[str, str]:
    """Return docs/diagnostics.md with the table before its first section, and titles in the headings of codes."""
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    first, heading, rest = page.partition("\n## ")
    groups = {code: title for title, code in _GROUP.findall(rest)}
    rows = [(f"{_anchor(groups.get(code))}{_link(code)}", title) for code, title in TITLES.items()]
    table = findable(("code", "what it is about"), rows, "short")
    rest = re.sub(r"^### (MIL\d+)$", _titled, rest, flags=re.MULTILINE)
    return {"diagnostics.md": f"{first}\n## All codes\n\n{table}{heading}{rest}"}


def _anchor(group: str | None) -> str:
    """Return the place that a link to a group of codes leads to."""
    return f'<a id="{slugify(case="lower")(group, "-")}"></a>' if group else ""


def _link(code: str) -> str:
    return f"[{code}](#{code.lower()}){{ #{code.lower()} }}"


def _titled(heading: re.Match[str]) -> str:
    return f"### {heading[1]}: {TITLES[heading[1]]} {{ #{heading[1].lower()} }}"
