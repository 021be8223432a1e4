"""The words that differ in `old -> new` are emphasized: in colours on a terminal, as elements of a page."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import miltext
from miltext.diffing.emphasis import emphasized
from miltext.diffing.entries import Replaced

TEXT = """program(1.3)
{{ func main<ios18>(tensor<fp16, [1, 8]> x) {{
    tensor<fp16, [1, 8]> y = softmax(x = x, axis = int32({axis}))[name = string("y"), note = string("{note}")];
}} -> (y); }}"""


def marked(old: str, new: str) -> str:
    """A change with the words of each side that differ in brackets."""
    pieces = emphasized(f"x: {old} -> {new} (1 of 2)", Replaced(3, old, new))
    return "".join(f"[{mark}{piece}]" if mark else piece for mark, piece in pieces)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("(0, 3, 0)", "(0, 17, 0)", "(0, [-3], 0) -> (0, [+17], 0)"),
        ("-1", "1", "[--1] -> [+1]"),
        ("1.5e-05", "1.5e+05", "[-1.5e-05] -> [+1.5e+05]"),
        ("fp16 x", "fp32 x", "[-fp16] x -> [+fp32] x"),
        ("a b c", "d e f", "[-a b c] -> [+d e f]"),
        ("same", "same", "same -> same"),
        ("", "new", " -> [+new]"),
        ('"a -> b"', '"a -> c"', '"a -> [-b]" -> "a -> [+c]"'),
        ("(a)", "()", "([-a]) -> ()"),
    ],
)
def test_only_the_words_that_differ_are_emphasized(old: str, new: str, expected: str) -> None:
    assert marked(old, new) == f"x: {expected} (1 of 2)"


@given(st.text("ab1. -,()\n"), st.text("ab1. -,()\n"))
def test_the_text_stays(old: str, new: str) -> None:
    text = f"x: {old} -> {new}, also y"
    assert "".join(piece for _, piece in emphasized(text, Replaced(3, old, new))) == text
    assert [*emphasized(text, None)] == [("", text)]


def test_a_long_list_of_labels_does_not_take_long() -> None:
    sides = (" ".join(f"{side}{index}" for index in range(9000)) for side in "ab")
    old, new = sides
    assert [mark for mark, _ in emphasized(f"{old} -> {new}", Replaced(0, old, new)) if mark] == ["-", "+"]


def difference(axis: str = "1", note: str = "c") -> miltext.Difference:
    texts = [TEXT.format(axis=one, note=other) for one, other in (("-1", "b"), (axis, note))]
    return miltext.diff(*map(miltext.parse, texts))


def test_on_a_terminal_old_words_are_red_and_new_ones_green() -> None:
    lines = difference().to_text(color=True).splitlines()
    assert "        axis: \x1b[0;1;31m-1\x1b[0m -> \x1b[0;1;32m1\x1b[0m" in lines
    assert '        note: "\x1b[0;1;31mb\x1b[0m" -> "\x1b[0;1;32mc\x1b[0m"' in lines


def test_a_line_with_a_colour_has_it_again_after_the_words() -> None:
    old, new = (miltext.parse(TEXT.format(axis=1, note="b").replace("[1, 8]", shape)) for shape in ("[1, 8]", "[1, 9]"))
    colored = miltext.diff(old, new).to_text(color=True)
    (line,) = [line for line in colored.splitlines() if "~ input x" in line]
    assert line == (
        "\x1b[33m    ~ input x: tensor<fp16, [1, \x1b[0;1;31m8\x1b[0m\x1b[33m]> -> "
        "tensor<fp16, [1, \x1b[0;1;32m9\x1b[0m\x1b[33m]>\x1b[0m"
    )


def test_each_line_ends_its_own_colours_for_a_pager() -> None:
    for line in difference().to_text(color=True, full=True).splitlines():
        codes = re.findall(r"\x1b\[([0-9;]*)m", line)
        assert codes[-1:] in ([], ["0"])


def test_without_colours_nothing_is_added() -> None:
    found = difference()
    assert "\x1b" not in found.to_text()
    for full in (False, True):
        assert re.sub(r"\x1b\[[0-9;]*m", "", found.to_text(color=True, full=full)) == found.to_text(full=full)


def test_nothing_in_the_words_reaches_the_terminal() -> None:
    colored = difference(note="\\u{1b}[2J").to_text(color=True)
    assert "\x1b[2J" not in colored


def test_the_page_marks_them_too() -> None:
    page = difference().to_html()
    assert "<span>axis: <del>-1</del> -&gt; <ins>1</ins></span>" in page
    assert '<span>note: "<del>b</del>" -&gt; "<ins>c</ins>"</span>' in page
