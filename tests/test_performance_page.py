"""docs/performance.md: its picture says what its tables say, and the tables are in folds that are closed."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree as ET

from conftest import ROOT

sys.path.insert(0, str(ROOT))

from benchmarks import chart

PAGE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_matches_the_tables() -> None:
    assert chart.PICTURE.read_text(encoding="utf-8") == chart.picture(PAGE)
    assert "](images/performance.svg)" in PAGE


def test_every_bar_has_its_figure_on_its_side_of_one() -> None:
    groups = chart.bars(PAGE)
    assert {title: len(group) for title, group in groups.items()} == {"Parse": 5, "Print": 5}
    picture = ET.fromstring(chart.picture(PAGE))
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    rects = [rect for rect in picture.iter(f"{SVG}rect") if rect.get("class") in ("slower", "faster")]
    bars = [bar for group in groups.values() for bar in group]
    for bar, rect in zip(bars, rects, strict=True):
        assert texts.count(bar.ratio) >= 1
        assert rect.get("class") == ("slower" if bar.number >= 1 else "faster")
    assert {"slower", "faster"} == {rect.get("class") for rect in rects}
    widths = [float(rect.get("width", "0")) for rect in rects]
    longest = max(bars, key=lambda bar: max(bar.number, 1 / bar.number))
    assert bars[widths.index(max(widths))] == longest


def test_a_changed_figure_changes_the_picture() -> None:
    stated = chart.bars(PAGE)["Parse"][0].ratio
    assert "25.91x" in chart.picture(PAGE.replace(stated, "25.91x"))
    without = re.sub(r"^(\| xDSL's parser +\|).*$", r"\1 not installed | | | |", PAGE, flags=re.MULTILINE)
    assert [bar.label for bar in chart.bars(without)["Parse"]].count("xDSL, of MLIR") == 0
    assert chart.bars("") == {"Parse": [], "Print": []}


def test_the_tables_are_folded() -> None:
    outside = re.sub(r"<details.*?</details>", "", PAGE, flags=re.DOTALL)
    assert re.findall(r"^\|", outside, re.MULTILINE) == []
    assert PAGE.count('<details markdown="1">\n<summary>') == PAGE.count("\n\n</details>\n") == 4
