"""docs/golden-files.md: who follows it sees what it says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from conftest import ROOT, Check
from support.followed_page import follow

PAGE = ROOT / "docs" / "golden-files.md"


@pytest.mark.any_version
@pytest.mark.skipif(os.name == "nt", reason="the page's commands are those of a Unix shell")
def test_the_page_can_be_followed(tmp_path: Path, matches_golden: Check) -> None:
    matches_golden(PAGE, follow(PAGE.read_text(encoding="utf-8"), tmp_path))
    pytest.importorskip("coremltools", reason="some of the page's commands need coremltools")
