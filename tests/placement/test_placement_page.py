"""docs/placement.md, followed as a reader does; it shows what the commands write."""

from __future__ import annotations

from pathlib import Path

from conftest import ROOT
from support.followed_page import follow

from miltext.placement.rules import REFUSED, SUPPORTED, table

PAGE = ROOT / "docs" / "placement.md"


def test_the_page_shows_the_output_of_its_commands(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert follow(text, tmp_path) == text


def test_the_page_counts_the_rules() -> None:
    rows = table()
    supported, refused = (sum(row.answer == answer for row in rows) for answer in (SUPPORTED, REFUSED))
    assert f"{supported} rules of supported operations, {refused} refusals" in PAGE.read_text(encoding="utf-8")
