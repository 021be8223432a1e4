"""The page of the diagnostics, with a table of all codes in front that a word finds one in."""

from __future__ import annotations

from miltext.diagnostics.codes import TITLES
from website import ROOT

_BEFORE = "## What is built is checked"


def pages() -> dict[str, str]:
    """Return docs/diagnostics.md with the table before its first section."""
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    if page.count(f"\n{_BEFORE}\n") != 1:
        raise ValueError(
            f"docs/diagnostics.md has no section `{_BEFORE}`: name another one that the table stands before"
        )
    rows = "".join(f"| [{code}](#{code.lower()}) | {title} |\n" for code, title in TITLES.items())
    table = f'## All codes\n\n<div class="find" markdown>\n\n| code | what it is about |\n|---|---|\n{rows}\n</div>\n\n'
    return {"diagnostics.md": page.replace(_BEFORE, table + _BEFORE)}
