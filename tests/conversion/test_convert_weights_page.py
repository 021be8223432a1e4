"""docs/convert-weights.md: its commands write what it shows, and its Python runs as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import ROOT, Check
from support.followed_page import follow

PATH = ROOT / "docs" / "convert-weights.md"
PAGE = PATH.read_text(encoding="utf-8")


def test_the_page(tmp_path: Path, matches_golden: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    matches_golden(PATH, follow(PAGE, tmp_path))
    monkeypatch.chdir(tmp_path)
    [example] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    exec(example, {})
