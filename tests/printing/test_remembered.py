"""Printing remembers names, types and values from one program to the next: each is printed as if it were the first."""

from __future__ import annotations

from itertools import zip_longest

import pytest

import miltext
from miltext.generation.programs import generate
from miltext.printing import printing
from miltext.printing.printing import pieces, to_text
from miltext.printing.tensors import Style

STYLES = [Style(), Style("1.0"), Style(floats="decimal"), Style(elide=3), Style("1.0", "decimal", 2)]


def first(program: miltext.Program, style: Style) -> str:
    """Print as nothing were printed before."""
    printing._remembering.cache_clear()
    return "".join(pieces(program, style))


@pytest.mark.parametrize("style", STYLES)
def test_a_program_is_printed_as_if_it_were_the_first(style: Style) -> None:
    programs = [generate(seed) for seed in range(12)]
    expected = [first(program, style) for program in programs]
    printing._remembering.cache_clear()
    assert [["".join(pieces(program, style)) for program in programs] for _ in range(2)] == [expected] * 2


def test_styles_share_nothing() -> None:
    programs = [generate(seed) for seed in range(6)]
    expected = {style: [first(program, style) for program in programs] for style in STYLES}
    for place, program in enumerate(programs):
        for style in STYLES:
            assert "".join(pieces(program, style)) == expected[style][place]


def test_two_programs_are_printed_at_once() -> None:
    one, other = generate(1), generate(2)
    expected = [to_text(one), to_text(other)]
    together = [*zip_longest(pieces(one), pieces(other), fillvalue="")]
    assert ["".join(part) for part in zip(*together, strict=True)] == expected


def test_a_text_refused_by_strict_is_refused_again() -> None:
    text = 'program(1.3) { func main<ios18>(fp32 x) { fp32 $"y z" = relu(x = x); } -> ($"y z"); }'
    program = miltext.parse(text)
    for _ in range(2):
        with pytest.raises(miltext.MiltextError, match="cannot express"):
            to_text(program, strict=True)
        assert '$"y z"' in to_text(program)


def test_no_more_is_remembered_than_small_texts_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printing, "REMEMBERED", 300)
    expected = []
    for seed in range(30):
        expected.append(to_text(generate(seed)))
        assert printing._remembering(Style())[1].size <= 300
    assert expected == [first(generate(seed), Style()) for seed in range(30)]
