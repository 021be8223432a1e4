"""One text, one answer: all readers take a spelling of a number where it is, or all refuse it.

A comment inside changes no answer either, although it has the grammar's rules read what a coarse token would.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any

import pytest
from conftest import thinned, wire
from hypothesis import given
from hypothesis import strategies as st
from lark import Transformer, UnexpectedInput
from lark.exceptions import VisitError
from support.gaps import commented, tokens

from miltext import MiltextError, ParseError, check, format_text, parse, parse_with_source
from miltext.formatting.formatter import verified_format
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.parser import attempt, parse_tree
from miltext.syntax.tables import fast_lark_parser, lark_parser

LARK = fast_lark_parser(transformer=Lowering())
FINE_LARK = lark_parser()

GOOD = """
    0 1 01 +1 -1 -0 1. .5 -.5 1.5 1e3 1E3 1e+3 1e-3 1.5e3 .5e3 0x1 0X1 0x1p0 0X1P0 -0x1.8p+3 +0x.8p-1 0x1.p1 0x1f. inf
    -inf +inf nan true false $0x7e00 $0X7e00 $0x7E00 $0x7fc00001 $0x7e000000000000 $0x1 1.3 1.0
""".split()
"""Spellings that the grammar has; what type each is for, and of what size, is another matter."""

BAD = """
    -nan +nan Inf INF +Inf infinity -infinity NaN NAN 1e 1e+ e1 .e1 . - + +- --1 ++1 +-1 1+ 1.2.3 1..2 .1. 1_000 1_ _1
    0x 0xp1 0x.p1 0xg 0x1p 0x1p+ 0x1p1.5 0x1p1p1 0b1 0o7 1f 1L 1u 1.0f 0x1.8.p1 1e3.5 1e3e3 $ $0x $0xg $0x7e00. $-0x1
    -$0x7e00 +$0x7e00 $7e00 $0b1 $$0x1 $0x7e00$ $inf True TRUE truee tru foo 1foo 1@ inf_ inf0 infinf naninf -true
    \u0661 \uff11 1\u0661 \xbd \xb2
""".split()

LISTS = ["%s", "[%s]", "[%s,1]", "[1,%s]", "[1, %s , 1]", "[[%s]]", "[[1],[%s]]", "[[%s,1],[1,1]]", "[[[%s]]]"]
BROKEN_LISTS = """
    [[%s] [%s]] [%s [%s,] [,%s] [%s,,%s] [[%s] [[%s]]] [[%s][%s]] [[%s],] [%s],[%s] [%s[1]] [[1]%s] []%s %s[] [%s;%s]
    [[[%s]] [[],%s [%s,[%s] [][%s] [%s]]
""".split()
BROKEN_LISTS += ["[%s %s]", "[[%s] [%s]]", "[%s][%s]", "[ , %s]"]
RAGGED = ["[%s, [%s]]", "[[%s], %s]", "[[%s], [[%s]]]", "[[], %s]", "[[], [%s]]"]

TYPES = {
    "%s": ["fp16", "fp64", "int8", "uint64", "bool", "string", "tensor<fp32, []>"],
    "[%s]": ["tensor<fp16, [1]>", "tensor<int32, [1]>", "tensor<bool, [1]>", "list<fp16, 1>"],
    "[1,%s]": ["tensor<fp32, [2]>", "tensor<fp64, [?]>", "list<int32, 2>"],
    "[[1],[%s]]": ["tensor<fp16, [2, 1]>", "tensor<int8, [2, 1]>", "list<tensor<fp16, [1]>, 2>"],
}
"""The types that go with a literal; others get the first of all."""

PLACES = {
    "value": "program(1.3) [a = %v] { }",
    "operation": "program(1.3) { func f(fp16 x) { fp16 y = op(x = x)[val = %v]; fp16 z = op(x = y); } -> (z); }",
    "argument": "program(1.3) { func f() { op(x = %v, y = %v)[a = %v]; } -> (); }",
    "outputs": "program(1.3) { func f() { fp16 a, fp16 b = op()[val = %v, z = %v]; } -> (); }",
    "tuple": "program(1.3) [a = tuple<fp16, fp16>((%s, %s))] { }",
    "dictionary": 'program(1.3) [a = dict<string, fp16>({{"k", %s}})] { }',
    "field": "program(1.3) [a = fp16($floats([%s])), b = int32($ints([1, %s]))] { }",
    "truth": "program(1.3) [c = bool($bools([%s]))] { }",
    "any kind": "program(1.3) [a = fp16($list[$value(fp16(%s))])] { }",
    "draft": "program(1.3) { func f() { op(x = [%s], y = [1, %s]); } -> (); }",
    "dimension": "program(1.3) { func f(tensor<fp16, [1, %s]> x) { } -> (); }",
    "inside a dimension": "program(1.3) { func f() { tensor<fp16, [%s,1]> y = op(); } -> (); }",
    "length": "program(1.3) { func f(list<fp16, %s> x) { } -> (); }",
    "rank": "program(1.3) { func f(tensor<fp16, [1], $rank(%s)> x) { } -> (); }",
    "offset": 'program(1.3) [a = fp16(BLOBFILE(path = string("p"), offset = uint64(%s)))] { }',
    "elided": 'program(1.3) [a = fp16($elided(%s, "d"))] { }',
    "version": "program(1.3) $version(%s) { }",
    "dialect": "program(%s) { }",
    "dialect of a program": "/* 1.0 */ program(%s) { func f(fp16 x) { fp16 y = relu(x = x); } -> (y); }",
    "code": "program(1.3) { func f($%s x) { } -> (); }",
}


def answer(read: Callable[[str], Any], text: str) -> bool:
    """Whether a reader takes a text. Whatever it raises besides the project's own errors fails the test."""
    try:
        return read(text) is not None
    except (MiltextError, UnexpectedInput, LoweringError, VisitError):
        return False


def lark(text: str) -> Any:
    return LARK.parse(text)


@lru_cache(maxsize=4)
def parsed(text: str) -> bytes | str:
    """The Program of a text in bytes, or the code for which it is refused: all readers of it are asked about one."""
    try:
        return wire(parse(text))
    except ParseError as refused:
        return refused.diagnostics[0].code


def program(text: str) -> bytes | None:
    found = parsed(text)
    return found if isinstance(found, bytes) else None


@lru_cache(maxsize=1)
def fine_tree(text: str) -> Any:
    """What stock Lark reads without coarse tokens, which is asked for twice."""
    return FINE_LARK.parse(text)


def grammar(text: str) -> Any:
    """What the rules of the grammar make of a text."""
    return fine_tree(text)


def lowered(text: str) -> Any:
    """The same, and the Program that is made of it."""
    return TreeLowering().transform(fine_tree(text))


class TreeLowering(Lowering, Transformer):  # type: ignore[type-arg]
    """Lowering of a tree of Lark's."""


def checked(text: str) -> Any:
    """Whether `check` finds no fault of the reading, by codes: a note on what a text leaves out is one."""
    codes = {finding.code for finding in check(text) if finding.severity != "warning"}
    return None if any(code[:5] in ("MIL00", "MIL01", "MIL02", "MIL10", "MIL11") for code in codes) else codes


PROGRAMS: list[Callable[[str], Any]] = [program, attempt, parse_with_source, checked, lark, lowered]
"""Those who read a Program. What they take the others take."""

TEXTS: list[Callable[[str], Any]] = [parse_tree, format_text, verified_format, grammar]
"""Those who read phrases, which may be of no Program."""


DIALECT, DRAFT = "MIL101", "MIL112"


def answers(text: str) -> tuple[bool, bool]:
    """The answers of all readers: of those who read a Program, and of those who read phrases."""
    code = parsed(text)
    programs = {answer(read, text) for read in PROGRAMS if code != DRAFT or read is not checked}
    texts = {read.__name__: answer(read, text) for read in TEXTS}
    assert len(programs) == 1, text
    if code == DRAFT:
        texts["checked"] = answer(checked, text)
    if code == DIALECT:  # which the grammar leaves to its readers
        texts = {name: texts[name] for name in ("format_text", "verified_format")}
    assert len(set(texts.values())) == 1, (text, texts)
    whole = (programs.pop(), set(texts.values()).pop())
    assert whole != (True, False), text
    return whole


def agree(text: str, seed: int = 0) -> tuple[bool, bool]:
    """All readers agree on a text, and on that text with comments inside; the Program stays what it is."""
    found, rng = answers(text), random.Random(seed)
    if not found[1]:
        assert not any(answers(crowd(text, rng.choice(["/**/", " // c\n"]))))
        return found
    gaps = range(1, len(tokens(text)))
    for chosen in ([*gaps], rng.sample(gaps, 2)):
        with_comments = commented(text, dict.fromkeys(chosen, rng.choice([" /* %d */ ", " // %d\n", "\r// %d\r"])))
        assert answers(with_comments) == found, with_comments
        assert not found[0] or parsed(with_comments) == parsed(text) == parsed(format_text(with_comments))
    return found


def crowd(text: str, comment: str) -> str:
    """A text that no reader takes, with comments at its brackets and commas."""
    return "".join(f"{comment}{char}{comment}" if char in "[](){},;=" else char for char in text)


def fill(place: str, literal: str, value_type: str) -> str:
    return place.replace("%v", f"{value_type}({literal})").replace("%s", literal)


@cache
def texts(place: str, number: str) -> list[str]:
    """The texts with a number in a place, alone and in lists."""
    if "%v" not in PLACES[place]:
        return [fill(PLACES[place], number, "")]
    if place != "value":
        literals = [(number, "fp16"), (number, "int32"), (f"[1,{number}]", "tensor<fp16, [2]>")]
    else:
        literals = [(shape.replace("%s", number), kind) for shape in LISTS for kind in TYPES.get(shape, ["fp16"])]
    return [fill(PLACES[place], *literal) for literal in literals]


def tried(numbers: list[str], place: str) -> Iterator[str]:
    """The texts to try in a place: the first has every number, in a third of its lists; others have a third of them."""
    at = [*PLACES].index(place)
    for turn, number in enumerate(numbers if at == 0 else thinned(numbers, at, 3)):
        yield from thinned(texts(place, number), turn, 3) if at == 0 else texts(place, number)


@pytest.mark.any_version
@pytest.mark.parametrize("place", PLACES)
def test_a_number_of_the_grammar(place: str) -> None:
    for text in tried(GOOD, place):
        agree(text)


@pytest.mark.any_version
@pytest.mark.parametrize("place", PLACES)
def test_literals_that_are_not_numbers(place: str) -> None:
    for text in tried(BAD, place):
        assert not any(agree(text)), text


def test_accepted_literals() -> None:
    """The laws above would hold, too, if nothing were taken."""
    for number in ("+inf", "$0X7e00", "-inf", "nan", "0x1p0", "01", "1."):
        assert agree(f"program(1.3) [a = fp16({number}), b = tensor<fp16, [2]>([{number}, 1])] {{ }}") == (True, True)
    assert wire(parse("program(1.3) [a = fp16(+inf)] { }")) == wire(parse("program(1.3) [a = fp16(inf)] { }"))
    assert wire(parse("program(1.3) [a = fp16($0X7E01)] { }")) == wire(parse("program(1.3) [a = fp16($0x7e01)] { }"))
    for number in ("0x1", "true", "1e999"):
        assert agree(f"program(1.3) [a = fp16({number}), b = tensor<fp16, [2]>([{number}, 1])] {{ }}") == (False, True)


@pytest.mark.parametrize("shape", [*BROKEN_LISTS, *RAGGED])
def test_a_list_that_is_none(shape: str) -> None:
    for place in ("value", "operation", "argument", "field", "draft"):
        for kind in ("tensor<fp16, [2, 1]>", "list<fp16, 1>"):
            if place == "draft" and shape == "[%s],[%s]":  # an argument, and another by its place
                continue
            text = PLACES[place].replace("[%s]", "%s").replace("[1, %s]", "%s")
            assert agree(fill(text, shape.replace("%s", "1"), kind)) == (False, shape in RAGGED)


@given(st.text("01.[],+-$xXpeinfa \t\n", max_size=12), st.sampled_from(["value", "draft", "operation"]))
def test_any_literal_is_read_equally(literal: str, place: str) -> None:
    agree(fill(PLACES[place], f"[{literal}]", "tensor<fp16, [1]>"))


@given(
    st.recursive(st.sampled_from([*GOOD, "foo", "1 2", ""]), lambda inner: st.lists(inner, max_size=3), max_leaves=9)
)
def test_any_nesting_is_read_equally(nested: Any) -> None:
    def spell(part: Any) -> str:
        return part if isinstance(part, str) else f"[{', '.join(map(spell, part))}]"

    if isinstance(nested, list):
        agree(fill(PLACES["value"], spell(nested), "tensor<fp16, [2, 1]>"))


# ---- numbers of any length

LONG = 5000
"""More digits than Python's `int` reads."""

LONG_PLACES = [
    "dimension",
    "inside a dimension",
    "length",
    "rank",
    "offset",
    "version",
    "code",
    "value",
    "field",
    "tuple",
]


@pytest.mark.parametrize("place", [*LONG_PLACES, "elided", "dialect", "draft"])
@pytest.mark.parametrize("zeros", ["0", "1", "9"])
@pytest.mark.parametrize("sign", ["", "-", "+"])
def test_a_number_has_any_length(place: str, zeros: str, sign: str) -> None:
    number = f"{sign}{zeros * LONG}1"
    for kind in ("int32", "fp64"):
        taken, _ = agree(fill(PLACES[place], number, kind))
        if taken:
            short = fill(PLACES[place], f"{sign}1" if zeros == "0" else number, kind)
            assert wire(parse(short)) == wire(parse(fill(PLACES[place], number, kind)))


@pytest.mark.parametrize("place", LONG_PLACES)
def test_leading_zeros_mean_nothing(place: str) -> None:
    number = "0" * LONG + "1"
    assert wire(parse(fill(PLACES[place], number, "fp16"))) == wire(parse(fill(PLACES[place], "1", "fp16")))
