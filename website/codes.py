"""The page of the diagnostics, with a table of all codes in front that a word finds one in."""

from __future__ import annotations

from miltext.diagnostics.codes import TITLES
from website import ROOT
from website.markdown import findable


def pages() -> dict[str, str]:
    """Return docs/diagnostics.md with the table before its first section."""
    page = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    first, heading, rest = page.partition("\n## ")
    rows = [(f"[{code}](#{code.lower()})", title) for code, title in TITLES.items()]
    table = findable(("code", "what it is about"), rows, "short")
    return {"diagnostics.md": f"{first}\n## All codes\n\n{table}{heading}{rest}"}
