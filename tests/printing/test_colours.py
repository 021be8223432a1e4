"""The colours of pages: text can be read on every ground, in light and in dark, and each name that is used is given."""

from __future__ import annotations

import re

import pytest

from miltext.printing import html_page
from miltext.printing.html_page import COLOURS

STYLE = COLOURS.read_text(encoding="utf-8")
GIVEN = {name: both for name, *both in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", STYLE)}
GROUNDS = {"paper", "field", *re.findall(r"--([\w-]+): .*/\* (?:a \w+: )?ground: ", STYLE)}
LEAST = 4.5  # WCAG 2.2, 1.4.3: contrast of text, level AA


def luminance(colour: str) -> float:
    """As WCAG 2.2 defines it, of `#rrggbb`."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


def test_every_colour_is_read_here() -> None:
    assert len(GIVEN) == STYLE.count("light-dark(") > 20
    assert {"paper", "field", "hit", "same", "plus-line", "minus-word"} < GROUNDS < {*GIVEN}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read_on_every_ground(scheme: int) -> None:
    texts = {*GIVEN} - GROUNDS - {"line"}
    assert len(texts) > 12
    pairs = [(text, ground) for text in texts for ground in GROUNDS]
    assert [pair for pair in pairs if contrast(*(GIVEN[name][scheme] for name in pair)) < LEAST] == []


def test_every_colour_that_the_page_uses_is_given() -> None:
    page = html_page.page("program(1.3)\n{\n}\n", "empty")
    assert {*re.findall(r"var\(--([\w-]+)\)", page)} <= {*GIVEN}
    assert "--paper: light-dark(" in page
