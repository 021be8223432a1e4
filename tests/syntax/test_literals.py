"""Literals: lists nested like a shape, against JSON's idea of them, and strings."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from miltext.syntax.literals import (
    FORBIDDEN,
    MOST_EMPTY_LISTS,
    LiteralError,
    Shape,
    elements,
    flatten,
    locate,
    nest,
    quote,
    unquote,
)

# ---- lists


@pytest.mark.parametrize(
    ("text", "shape", "expected"),
    [
        ("[[0x1p+0, 0x0p+0], [1, 2]]", (2, 2), ["0x1p+0", "0x0p+0", "1", "2"]),
        ("[4]", (None,), ["4"]),
        ("[]", (None,), []),
        ("[]", (0,), []),
        ("[[], []]", (2, 0), []),
        ("[ [ ] ,\n[\t]\r\n]", (2, 0), []),
        ("[]", (0, 3), []),
        ("[]", (0, None), []),
        ("[[], [], []]", (None, 0), []),
        ("[[],[]]", (2, None), []),
        ("[[[1],[2]],[[3],[4]]]", (2, 2, 1), ["1", "2", "3", "4"]),
        ("[[[1,2]]]", (1, 1, 2), ["1", "2"]),
        ("[[1,2],[3,4],[5,6]]", (None, 2), ["1", "2", "3", "4", "5", "6"]),
        ("[[1,2],[3,4],[5,6]]", (3, None), ["1", "2", "3", "4", "5", "6"]),
        ("[1\n]", (1,), ["1"]),
        ("[  1 ,\r\n\t2   , -inf,$0x7fc0 ]", (4,), ["1", "2", "-inf", "$0x7fc0"]),
        ("5", (), ["5"]),
    ],
)
def test_lists(text: str, shape: Shape, expected: list[str]) -> None:
    assert elements(text, shape) == expected


@pytest.mark.parametrize(
    ("text", "shape", "message", "start", "end"),
    [
        ("[1 2]", (2,), "expected `,` or `]`, found `2`", 3, 4),
        ("[1 2]", (1,), "expected `,` or `]`, found `2`", 3, 4),
        ("[[1, 2\n 3], [4, 5]]", (2, 2), "expected `,` or `]`, found `3`", 8, 9),
        ("[1,,2]", (3,), "expected an element before `,`", 3, 4),
        ("[,1]", (2,), "expected an element before `,`", 1, 2),
        ("[[1],,[2]]", (2, 1), "expected a list before `,`", 5, 6),
        ("[1,]", (1,), "expected an element, found `]`", 3, 4),
        ("[1,]", (2,), "expected an element, found `]`", 3, 4),
        ("][", (1,), "expected a list, found `]`", 0, 1),
        ("abc", (1,), "expected `[`, found `abc`: the shape is [1]", 0, 3),
        ("", (1,), "expected a list, found the end of the literal", 0, 0),
        ("[1", (1,), "expected `]`, found the end of the literal", 2, 2),
        ("[[1]", (1, 1), "expected `]`, found the end of the literal", 4, 4),
        ("[1]]", (1,), "expected the literal to end here, found `]`", 3, 4),
        ("[1],[2]", (2,), "expected 2 elements, found 1", 2, 3),
        ("[1] [1]", (1,), "expected the literal to end here, found `[`", 4, 5),
        ("[1, 2]", (3,), "expected 3 elements, found 2", 5, 6),
        ("[1, 2, 3, 4]", (2,), "expected 2 elements, found 4", 7, 8),
        ("[]", (1,), "expected 1 element, found 0", 1, 2),
        ("[1]", (0,), "expected 0 elements, found 1", 1, 2),
        ("[1, 2, 3, 4]", (2, 2), "expected `[`, found `1`: the shape is [2, 2]", 1, 2),
        ("[[1, 2]]", (2,), "expected an element, found `[`: the shape is [2]", 1, 2),
        ("[1]", (), "expected an element, found `[`: the shape is []", 0, 1),
        ("[[1, 2], [3]]", (2, 2), "expected 2 elements in dimension 1 of [2, 2], found 1", 11, 12),
        ("[[1], [2, 3, 4]]", (2, 2), "expected 2 elements in dimension 1 of [2, 2], found 1", 3, 4),
        ("[[1, 2], [3, 4], [5, 6]]", (2, 2), "expected 2 lists in dimension 0 of [2, 2], found 3", 17, 18),
        ("[[1, 2], [3]]", (2, None), "expected 2 elements in dimension 1 of [2, ?], found 1", 11, 12),
        ("[[1], [2, 3]]", (2, None), "expected 1 element in dimension 1 of [2, ?], found 2", 10, 11),
        ("[[1, 2, 3]]", (None, 2), "expected 2 elements in dimension 1 of [?, 2], found 3", 8, 9),
        ("[1[, 2], [3, 4]]", (2, 2), "expected `[`, found `1`: the shape is [2, 2]", 1, 2),
        ("[[1, 2], 5[3, 4]]", (2, 2), "expected `[`, found `5`: the shape is [2, 2]", 9, 10),
        ("[[1, 2]5, [3, 4]]", (2, 2), "expected `,` or `]`, found `5`", 7, 8),
        ("[1]", (10**9,), "expected 1000000000 elements, found 1", 2, 3),
        ("[]", (10**9, 0), "expected 1000000000 lists in dimension 0 of [1000000000, 0], found 0", 1, 2),
        ("[[1]]", (1, 10**18), "expected 1000000000000000000 elements in dimension 1", 3, 4),
    ],
)
def test_lists_refused(text: str, shape: Shape, message: str, start: int, end: int) -> None:
    with pytest.raises(LiteralError) as raised:
        elements(text, shape)
    error = raised.value
    assert (error.code, error.start, error.end) == ("MIL022", start, end)
    assert error.message.startswith(message)
    assert str(error) == error.message


def test_shapes_without_end() -> None:
    """Dimensions by the thousand, and of any size, cost no more than the text is long."""
    rank = 50_000
    text = "[" * rank + "1" + "]" * rank
    assert elements(text, (1,) * rank) == ["1"]
    assert nest(["1"], (1,) * rank) == text
    for shape in ((2**63,) * rank, (2,) * rank, (1,) * (rank + 1), (1,) * (rank - 1), (None, *(10**18,) * rank)):
        with pytest.raises(LiteralError) as raised:
            elements(text, shape)
        assert len(raised.value.message) < 300


def shaped_like(value: object, shape: Sequence[int]) -> list[str] | None:
    """The flat numbers of nested lists with sizes as in `shape`, None if they are not."""
    if not shape:
        return None if isinstance(value, list) else [str(value)]
    if not isinstance(value, list) or len(value) != shape[0]:
        return None
    texts: list[str] = []
    for item in value:
        inner = shaped_like(item, shape[1:])
        if inner is None:
            return None
        texts += inner
    return texts


def json_elements(text: str, shape: Shape) -> list[str] | None:
    """What `elements` gives, None where it refuses, by way of JSON; unknown sizes are tried."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    sizes = range(20) if None in shape else [0]
    found = (shaped_like(value, [size if known is None else known for known in shape]) for size in sizes)
    return next((texts for texts in found if texts is not None), None)


SHAPES = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@st.composite
def nested(draw: st.DrawFn) -> tuple[Shape, str]:
    """A shape, perhaps with one size unknown, and a literal nested like it or nearly so."""
    shape = draw(SHAPES)
    texts = [str(draw(st.sampled_from([1, 23, 456]))) for _ in range(math.prod(shape))]
    tokens = re.findall(r"\d+|\D", nest(texts, shape).replace(" ", ""))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(tokens) - 1))
        tokens[place] = draw(
            st.sampled_from(["", "[", "]", ",", "7", "[]", "7,", ",7", "7 7", "],[", tokens[place] * 2])
        )
    spaces = st.sampled_from(["", "", " ", "\n", " \t\r\n  "])
    text = draw(
        st.just("".join(tokens))
        | st.just(", ".join("".join(tokens).split(",")))
        | st.just("".join(draw(spaces) + token for token in tokens))
    )
    known: list[int | None] = [*shape]
    if draw(st.booleans()):
        known[draw(st.integers(0, len(shape) - 1))] = None
    return tuple(known), text


@given(nested())
def test_lists_agree_with_json(case: tuple[Shape, str]) -> None:
    shape, text = case
    expected = json_elements(text, shape)
    if expected is not None:
        assert elements(text, shape) == expected
        assert flatten(text, shape) == (",".join(expected) if expected else None)
        return
    assert flatten(text, shape) is None
    with pytest.raises(LiteralError) as raised:
        elements(text, shape)
    assert raised.value.code == "MIL022"
    assert 0 <= raised.value.start <= raised.value.end <= len(text)


@given(SHAPES, st.sampled_from(["", "\n  "]))
def test_nest_is_the_reverse(shape: list[int], gap: str) -> None:
    texts = [f"0x1.{index:x}p+0" for index in range(math.prod(shape))]
    literal = nest(texts, shape)
    assert elements(literal.replace(",", gap + "," + gap), shape) == texts
    assert json.loads(re.sub(r"0x[^],]+", "0", literal)) == np.zeros(shape, int).tolist()
    for index, text in enumerate(texts):
        start, end = locate(literal, index)
        assert literal[start:end] == text


def test_nest() -> None:
    assert nest(["0x1p+0", "0x0p+0", "1", "2"], (2, 2)) == "[[0x1p+0, 0x0p+0], [1, 2]]"
    assert nest(["5"], ()) == "5"
    assert nest(["5"], (1, 1)) == "[[5]]"
    assert [nest([], shape) for shape in ((0,), (2, 0), (0, 3))] == ["[]", "[[], []]", "[]"]
    for texts, shape in (
        ([], (MOST_EMPTY_LISTS + 1, 0)),
        ([], (10**9, 0)),
        (["1"], (2,)),
        ([], (1,)),
        ([], ()),
        (["1"], (0,)),
    ):
        with pytest.raises(LiteralError):
            nest(texts, shape)


# ---- strings


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", '""'),
        ("a b", '"a b"'),
        ("d\u00e9j\u00e0 \U0001f600", '"d\u00e9j\u00e0 \U0001f600"'),
        ('say "x"', r'"say \"x\""'),
        ("a\\n", r'"a\\n"'),
        ("\n\t\r\0\x7f\x85", r'"\n\t\u{d}\u{0}\u{7f}\u{85}"'),
        ("\u202eab\u2066\u061c\u2028\ufeff", r'"\u{202e}ab\u{2066}\u{61c}\u{2028}\u{feff}"'),
        ("a\u00adb\u200bc\u0301", '"a\u00adb\u200bc\u0301"'),
    ],
)
def test_quoting(value: str, text: str) -> None:
    assert quote(value) == text
    assert unquote(text) == value


@given(st.text() | st.text(st.sampled_from('"\\untr{}0a\n\t\r\x00\u202e\u200e\ufeff\u00ad')))
def test_every_string_survives(value: str) -> None:
    text = quote(value)
    assert unquote(text) == value
    assert not re.search(rf"[\t\r\n{FORBIDDEN}]", text)
    assert len(re.findall(r'[\t\r\n"\\' + FORBIDDEN + "]", value)) == len(re.findall(r"\\.", text))


def test_characters_that_are_never_raw() -> None:
    bidi = {chr(code) for code in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))}
    expected = {chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cc"} - {*"\t\n\r"}
    expected |= bidi | {"\u2028", "\u2029", "\ufeff"}
    assert {char for char in map(chr, range(0x110000)) if re.match(f"[{FORBIDDEN}]", char)} == expected
    for char in expected:
        with pytest.raises(LiteralError, match=f"U\\+{ord(char):04X}") as raised:
            unquote(f'"ab{char}"')
        assert (raised.value.code, raised.value.start, raised.value.end) == ("MIL024", 3, 4)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        (r'"a\qb"', 2, 4),
        (r'"\r"', 1, 3),
        (r'"\U{41}"', 1, 3),
        (r'"\\\x41"', 3, 5),
        (r'"\u0041"', 1, 3),
        (r'"\u{}"', 1, 5),
        (r'"\u{g}"', 1, 6),
        (r'"\u{110000}"', 1, 11),
        (r'"\u{d800}"', 1, 9),
        (r'"\u{DFFF}"', 1, 9),
        (r'"\u{-1}"', 1, 7),
        (r'"\u{ 41}"', 1, 8),
        (r'"\u{41"', 1, 3),
        ('"\\u{' + "1" * 10_000 + '}"', 1, 10_005),
        ('"\\\n"', 1, 3),
        ('"\\"', 1, 2),
    ],
)
def test_wrong_escapes(text: str, start: int, end: int) -> None:
    with pytest.raises(LiteralError) as raised:
        unquote(text)
    error = raised.value
    assert (error.code, error.start, error.end) == ("MIL023", start, end)
    assert "\\" in error.message
    assert error.message.isprintable()
    assert len(error.message) < 150


def test_escapes_are_decoded() -> None:
    assert unquote(r'"\u{41}\u{1F600}\u{000000000041}\"\\n"') == 'A\U0001f600A"\\n'
    assert unquote('"a\tb\r\n"') == "a\tb\r\n"
    with pytest.raises(LiteralError, match=r"U\+D800 is a surrogate"):
        unquote('"\ud800"')
