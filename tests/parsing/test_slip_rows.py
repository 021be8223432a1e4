"""No row of the table of slips takes time that grows without bounds with what is around a mistake."""

from __future__ import annotations

import random
import re

import pytest
from support.pattern_growth import grown_too_fast, runs

from miltext.parsing.slip_patterns import Slip, pattern
from miltext.parsing.slips import SLIPS
from miltext.parsing.token_lines import WINDOW, after, before

TRIES = 10
"""Runs for each row: of other parts of other texts."""

SQUARE = 6.0
"""A line has a bounded length, so the time may grow with its square, which is 4 for twice as much."""


def searches(slip: Slip) -> list[tuple[re.Pattern[str], bool]]:
    return [(pattern(rf"(?:{slip.before})\Z"), False), (pattern(slip.found), True)]


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.found[:40])
def test_every_row_is_matched_quickly(slip: Slip) -> None:
    """A run of each part of what fits a row, at each place, at lengths from one unit to more than a line has."""
    drawn = random.Random(f"{slip.before} {slip.found}")
    for written, from_start in searches(slip):
        run = written.match if from_start else written.search
        for _ in range(TRIES):
            for text_of in runs(written, drawn):
                size = grown_too_fast(run, text_of, SQUARE)
                assert size is None, (written.pattern, text_of(20))


@pytest.mark.parametrize("slow", [r"(?:, \d+\.?\d*)+\)", r"(?:a+)+b", r"(?:a|a)*b"])
def test_a_pattern_that_can_be_read_in_several_ways_is_found(slow: str) -> None:
    drawn, run = random.Random(1), pattern(slow).search
    assert any(grown_too_fast(run, text_of, SQUARE) for _ in range(50) for text_of in runs(pattern(slow), drawn))


# ---- the lines


@pytest.mark.parametrize(
    ("gap", "shown"),
    [
        (" ", " "),
        ("\n", "\n"),
        ("\r\n\t ", "\n"),
        ("\n" * 40, "\n"),
        (" " * 40, " "),
        (" /* c; */ ", " "),
        ("/**/", " "),
        ("// c\n", "\n"),
        ("\n\n// a; b\n\n", "\n"),
    ],
)
def test_a_gap_is_one_character_of_a_line(gap: str, shown: str) -> None:
    text = f"y{gap}={gap}relu{gap}({gap}[1,{gap}2])"
    expected = f"y{shown}={shown}relu{shown}({shown}[1,{shown}2])"
    assert after(text, 0).line == expected
    assert before(text, len(text)).line == expected


@pytest.mark.parametrize("at", range(0, 120, 7))
def test_every_character_of_a_line_knows_its_place(at: int) -> None:
    text = 'a = relu(x /* c; */ : y,\r\n\r\n b) ; // e\n zz \'it  s\' [1,\n 2] > ( 1 , 2 ) "a  b" $"c" ' * 2
    for line, first, last in ((before(text, at), 0, at), (after(text, at), at, len(text))):
        places = [line.place(index) for index in range(len(line.line) + 1)]
        assert places == sorted(places)
        assert first <= places[0]
        assert places[-1] <= last
        for shown, place in zip(line.line, places, strict=False):
            assert shown.isspace() or shown == "\0" or text[place] == shown
    assert before(text, at).place(len(before(text, at).line)) == at


def test_a_token_that_continues_behind_the_window_is_left_out() -> None:
    assert after("y " * 10 + "1" * WINDOW, 0).line == "y " * 10 + "\0"
    assert after("1" * (WINDOW + 1), 0).line == "\0"
    assert before("x" + "1" * WINDOW, WINDOW + 1).line == "\0" + "1" * WINDOW


def test_a_phrase_is_read_to_its_end_and_no_further() -> None:
    numbers = ", 1" * 10_000
    assert after(f"{numbers}); y = x;", 0, phrase=True).line == f"{numbers})\0"
    assert after(numbers, 0, phrase=True).line == numbers
