"""Bad input ends in one clear error: code, place and wording, for careless texts and for hostile ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import GOLDEN, Check, corpus_files, wire
from hypothesis import given
from hypothesis import strategies as st
from support.laws.reading import check_said_again, refusal

from miltext import ParseError, parse, to_text
from miltext.diagnostics import line_and_column
from miltext.parsing.parser import parse_value

CASES = sorted((GOLDEN / "errors").glob("*.mil"))


def told(text: str) -> str:
    """Line, column, code and message of a text's error."""
    error = refusal(text)
    (finding,) = error.diagnostics
    assert finding.span is not None
    line, column = line_and_column(text, finding.span.start)
    return f"{line}:{column} {finding.code} {finding.message}"


def operation(text: str) -> str:
    """A program of one operation."""
    return f"program(1.3) {{ func main<ios18>(fp16 x) {{\n{text}\n}} -> (x); }}"


def attribute(text: str) -> str:
    """A program of one attribute."""
    return f"program(1.3)\n[a = {text}]\n{{ }}"


# ---- careless: tests/golden/errors, each text beside what is said of it


def test_goldens_exist() -> None:
    assert len(CASES) > 70


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_error(case: Path, matches_golden: Check) -> None:
    error = refusal(case.read_bytes().decode(), path=case.name)
    matches_golden(case.with_suffix(".txt"), f"{error}\n")


@pytest.mark.parametrize("path", corpus_files("rejected/*.mil", "runtime_dumps/*ctx__*.mil"))
def test_corpus(path: Path) -> None:
    said = told(path.read_text(encoding="utf-8"))
    if path.parent.name == "rejected":
        assert said.startswith("23:55 MIL113 an argument has no name: write its parameter, `x = ...`")
    else:
        assert said.split()[1] in ("MIL109", "MIL110")


# ---- characters

CONTROL = "a raw control character {} is not allowed; in a string it is written `{}`"
HIDING = "a raw {} is not allowed: it would hide or reorder text; in a string it is written `{}`"
NUL = CONTROL.format("U+0000", r"\u{0}")
BOM = "the text begins with a byte-order mark; save it as UTF-8 without one"
OVERRIDE = HIDING.format("U+202E (RIGHT-TO-LEFT OVERRIDE)", r"\u{202e}")
ISOLATE = HIDING.format("U+2066 (LEFT-TO-RIGHT ISOLATE)", r"\u{2066}")
SEPARATOR = HIDING.format("U+2028 (LINE SEPARATOR)", r"\u{2028}")
MARK = HIDING.format("U+FEFF (ZERO WIDTH NO-BREAK SPACE)", r"\u{feff}")
EMPTY = "the text is empty; a program begins with `program(1.3)`"
SURROGATE = "U+D800 is a surrogate, which no string may contain"
ACCENT = "unexpected character U+0301 (COMBINING ACUTE ACCENT)"
UNCLOSED = 'this string is not closed: `"` is missing before the end of the line'

CHARACTERS = {
    "nothing": ("", f"1:1 MIL001 {EMPTY}"),
    "white space": (" \n\t\r\n", f"1:1 MIL001 {EMPTY}"),
    "only a comment": ("// nothing", "1:11 MIL005 the text ends too early: expected `program`"),
    "binary": ("\x08\x01\x12\x07", f"1:1 MIL024 {CONTROL.format('U+0008', chr(92) + 'u{8}')}"),
    "byte-order mark": ("\ufeffprogram(1.3) {}", f"1:1 MIL002 {BOM}"),
    "byte-order mark inside": ("program(1.3) \ufeff{}", f"1:14 MIL024 {MARK}"),
    "NUL": ("program(1.3) {\0}", f"1:15 MIL024 {NUL}"),
    "NUL in a string": (attribute('string("a\0")'), f"2:15 MIL024 {NUL}"),
    "NUL in a name": (attribute('$"a\0"'), f"2:9 MIL024 {NUL}"),
    "NUL in a line comment": ("// a\0\nprogram(1.3) {}", f"1:5 MIL024 {NUL}"),
    "NUL in a block comment": ("/* a\0 */ program(1.3) {}", f"1:5 MIL024 {NUL}"),
    "override in a string": (attribute('string("a\u202eb")'), f"2:15 MIL024 {OVERRIDE}"),
    "override in a list": (attribute('list<string, 1>(["a\u202eb"])'), f"2:25 MIL024 {OVERRIDE}"),
    "override in a comment": ("program(1.3) { // a\u202eb\n}", f"1:20 MIL024 {OVERRIDE}"),
    "isolate in a comment": ("program(1.3) { /* \u2066 */ }", f"1:19 MIL024 {ISOLATE}"),
    "override between tokens": ("program(1.3)\u202e {}", f"1:13 MIL024 {OVERRIDE}"),
    "line separator": ("program(1.3)\u2028{}", f"1:13 MIL024 {SEPARATOR}"),
    "line separator in a string": (attribute('string("\u2028")'), f"2:14 MIL024 {SEPARATOR}"),
    "no-break space": ("program(1.3)\xa0{}", "1:13 MIL003 unexpected character U+00A0 (NO-BREAK SPACE)"),
    "form feed": ("program(1.3)\f{}", f"1:13 MIL024 {CONTROL.format('U+000C', chr(92) + 'u{c}')}"),
    "tab in a string": (attribute('string("a\tb")'), r"2:15 MIL024 a raw tab in a string is not allowed; write `\t`"),
    "line end in a string": (attribute('string("a\nb")'), f"2:13 MIL004 {UNCLOSED}"),
    "carriage return in a string": (attribute('string("a\rb")'), f"2:13 MIL004 {UNCLOSED}"),
    "surrogate in a string": (attribute('string("\ud800")'), f"2:14 MIL024 {SURROGATE}"),
    "surrogate between tokens": ("program(1.3)\udfff{}", "1:13 MIL003 unexpected character U+DFFF"),
    "a name beyond ASCII": (operation("y\u0301();"), f"2:2 MIL003 {ACCENT}"),
    "quote alone": ('program(1.3) ["', f"1:15 MIL004 {UNCLOSED}"),
    "quote and backslash": ('program(1.3) ["\\', f"1:15 MIL004 {UNCLOSED}"),
    "escaped quote": (r'program(1.3) ["\"', f"1:15 MIL004 {UNCLOSED}"),
    "name never closed": ('program(1.3) [$"a', f"1:15 MIL004 {UNCLOSED}"),
    "comment never closed": ("program(1.3) /* *", "1:14 MIL004 this comment is not closed: `*/` is missing"),
    "comment in a comment": ("/* /* */ */ program(1.3) {}", "1:10 MIL003 unexpected character `*`"),
    "slash": ("/", "1:1 MIL010 expected `program`, found `/`"),
    "after a carriage return": ("program(1.3)\r\n{\r\n;}", "3:1 MIL010 expected `func` or `}` after `{`, found `;`"),
}


@pytest.mark.parametrize("case", CHARACTERS)
def test_characters(case: str) -> None:
    text, expected = CHARACTERS[case]
    assert told(text) == expected


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n\n", "\n\r"])
def test_every_line_end_is_white_space(end: str) -> None:
    text = (GOLDEN / "print" / "operations.mil").read_text(encoding="utf-8")
    assert wire(parse(text.replace("\n", end))) == wire(parse(text))


def test_characters_of_one_look_are_different_names() -> None:
    composed, decomposed = "\u00e9", "e\u0301"
    program = parse(f'program(1.3) [$"{composed}" = int32(1), $"{decomposed}" = int32(2)] {{}}')
    assert sorted(program.attributes) == sorted([composed, decomposed])


# ---- numbers

LONG = "9" * 5000
RANGE = "this number is outside {} to {}"
U64, I64 = RANGE.format(0, 2**64 - 1), RANGE.format(-(2**63), 2**63 - 1)
CUT = "9" * 18 + "..." + "9" * 18

NUMBERS = {
    "element": (attribute(f"int16({LONG})"), f"2:12 MIL020 `{CUT}` is out of range for int16: -32768 to 32767"),
    "listed": (
        attribute(f"tensor<int8, [2]>([1, -{LONG}])"),
        f"2:28 MIL020 `-{CUT[1:]}` is out of range for int8: -128 to 127",
    ),
    "fp32": (attribute(f"fp32({LONG})"), f"2:11 MIL020 `{CUT}` is out of range for fp32"),
    "fp64": (attribute(f"fp64(1e{LONG})"), f"2:11 MIL020 `1e{CUT[2:]}` is out of range for fp64"),
    "hexadecimal": (attribute(f"fp16(0x1p+{LONG})"), f"2:11 MIL020 `0x1p+{CUT[5:]}` is out of range for fp16"),
    "dimension": (attribute(f"tensor<int32, [{LONG}]>([1])"), f"2:21 MIL020 {U64}"),
    "length": (attribute(f"list<int32, {LONG}>([1])"), f"2:18 MIL020 {U64}"),
    "offset": (attribute(f'fp16(BLOBFILE(path = string("w"), offset = uint64({LONG})))'), f"2:56 MIL020 {U64}"),
    "data type": (attribute(f"${LONG}($unset)"), f"2:6 MIL020 {RANGE.format(-(2**31), 2**31 - 1)}"),
    "rank": (attribute(f"tensor<fp16, [], $rank({LONG})>($unset)"), f"2:29 MIL020 {I64}"),
    "version": (f"program(1.3) $version({LONG}) {{}}", f"1:23 MIL020 {I64}"),
    "field": (
        attribute(f"fp16($longInts([{LONG}]))"),
        f"2:22 MIL020 `{CUT}` is out of range for int64: {-(2**63)} to {2**63 - 1}",
    ),
    "escape": (attribute(rf'string("\u{{{LONG}}}")'), rf"2:14 MIL023 `\u{{{CUT}}}` is not the number of a character"),
    "dialect": (f"program({LONG}) {{}}", f"1:9 MIL101 unknown version {CUT} of MIL text; write 1.0 or 1.3"),
    "no splat": (
        attribute("tensor<fp32, [1000000000]>(0)"),
        "2:33 MIL022 expected a list nested like its type's shape, found `0`",
    ),
    "overflowing shape": (
        attribute("tensor<fp32, [4294967296, 4294967296]>([[1]])"),
        "2:48 MIL022 expected 4294967296 elements in dimension 1 of [4294967296, 4294967296], found 1",
    ),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case: str) -> None:
    text, expected = NUMBERS[case]
    assert told(text) == expected


UNMATCHED = "the brackets and commas of this list do not match"

LISTS = {
    "element": ("list<int32, 2>([1, oops])", "2:25 MIL021 `oops` is not a number, a truth value or a string"),
    "deep": (
        "list<tensor<int32, [1]>, 2>([[1], [True]])",
        "2:41 MIL021 `True` is not a number, a truth value or a string; did you mean `true`?",
    ),
    "missing": ("list<int32, 2>([1, ])", "2:23 MIL025 nothing follows this comma; remove it"),
    "bracket": ("list<int32, 2>([[1], 2]])", f"2:21 MIL022 {UNMATCHED}"),
    "comma": ("list<int32, 2>([1 2])", f"2:21 MIL022 {UNMATCHED}"),
    "of another type": (
        "list<int32, 2>([1, 1.5])",
        "2:21 MIL021 `1.5` is not a valid int32 number: integers are plain decimals, such as `-1`",
    ),
    "blob among strings": (
        'tensor<string, [2]>(["a", BLOBFILE(path = string("w"), offset = uint64(64))])',
        "2:32 MIL105 a tensor's literal contains only numbers, truth values or strings",
    ),
}


@pytest.mark.parametrize("case", LISTS)
def test_a_list_is_wrong_where_its_part_is(case: str) -> None:
    text, expected = LISTS[case]
    assert told(attribute(text)) == expected


FITTING = [f"fp64(0.{LONG})", f"fp64(1e-{LONG})", f"fp16(0x0.{LONG}p+0)", f"int32({'0' * 5000}7)"]


@pytest.mark.parametrize("text", FITTING, ids=lambda text: text[:8])
def test_long_numbers_that_fit(text: str) -> None:
    assert parse(attribute(text)).attributes["a"].HasField("type")


# ---- nesting

OPENINGS = """
    ( [ { < $[ tuple< list< dict< state< tensor< $list[ $tuple( $dictionary{{ $value( $ints( BLOBFILE( a=( {{
    tuple<int32>(( int32( x()(){ [a=int32([ () /*
""".split()
HEADS = """
    program(1.3) program(1.3)[a= program(1.3)[a=int32( program(1.3)[a=tuple<int32>( program(1.3){func/**/f(
    program(1.3){func/**/f(){ program(1.3){func/**/f(){c(a= program(1.3){func/**/f(){c()[a=list<int32,1>(
""".split()


@pytest.mark.parametrize("opening", OPENINGS)
def test_nesting_of_100_000(opening: str) -> None:
    for head in ["", *HEADS]:
        said = told(head + opening * 100_000)
        assert said.split()[1] in ("MIL003", "MIL004", "MIL005", "MIL006", "MIL010", "MIL022", "MIL025", "MIL104")


NESTED = {
    "blocks": ("program(1.3) { func f() { ", "x() () { ", "", "} -> (); ", "} -> (); }"),
    "types": ("program(1.3) { func f(", "tuple<", "int32", ">", " x) {} -> (); }"),
    "values": ("program(1.3) [a = tuple<>(", "$tuple($value(tuple<>(", "$unset", ")))", ")] {}"),
    "tensor attributes": ("program(1.3) [a = ", "tensor<fp16, [], $[a = ", "int32(1)", "]>($unset)", "] {}"),
    "lists": ("program(1.3) [a = int32(", "$list[", "1", "]", ")] {}"),
    "tensor lists": ("program(1.3) [a = tensor<fp16, [1]>(", "[", "1", "]", ")] {}"),
}


@pytest.mark.parametrize("times", [150, 400, 1000, 100_000])
@pytest.mark.parametrize("kind", NESTED)
def test_nesting_that_is_closed_again(kind: str, times: int) -> None:
    head, opening, inner, closing, tail = NESTED[kind]
    said = told(head + opening * times + inner + closing * times + tail)
    assert said.split()[1] in ("MIL006", "MIL022", "MIL105")


# ---- anything

FRAGMENTS = """
    program(1.3) program(1.0) { } [ ] ( ) func f g <ios18> () -> ; , = fp16 tensor<fp16,[1]> x y relu(x=x) a=int32(1)
    string("a") "a" 1 -1 0x1p+0 $unset $none $block<ios17> $doc("d") // /* */ list<int32,1>([1]) tuple<int32>((1))
""".split()


@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(" ".join)))
def test_any_text_ends_well(text: str) -> None:
    try:
        parse(text)
    except ParseError:
        told(text)
    else:
        check_said_again(text)


# ---- size


def test_a_shape_without_elements_makes_no_brackets() -> None:
    program = parse(attribute("tensor<fp32, [1000000000, 0]>($floats([]))"))
    text = to_text(program)
    assert "$floats([])" in text
    assert wire(parse(text)) == wire(program)
    said = told(attribute("tensor<fp32, [1000000000, 0]>([])"))
    assert said == "2:37 MIL022 expected 1000000000 lists in dimension 0 of [1000000000, 0], found 0"


@pytest.mark.any_version
def test_many_duplicates_are_found() -> None:
    names = [f"a{index} = int32(1)" for index in range(20_000)]
    assert told(f"program(1.3) [{', '.join(names)}, a7 = int32(1)] {{}}").endswith("an attribute named `a7` here")


@pytest.mark.any_version
def test_an_error_in_the_middle_of_a_line_of_30_mb() -> None:
    """One test for both: the texts are large, and are not to be built by several workers at a time."""
    count = 3_750_000
    head, tail = f"program(1.3) [a = tensor<fp32, [{count}]>([", "])] {}"
    half = "0x1p+0, " * (count // 2)
    text = f"{head}{half}{half[:-2]}{tail}"
    assert len(text) > 30_000_000
    assert len(parse(text).attributes["a"].immediateValue.tensor.floats.values) == count
    text = f"{head}{half}0y1p+0, {half[8:-2]}{tail}"
    error = refusal(text)
    assert str(error).splitlines() == [
        f"<text>:1:{len(head) + len(half) + 1}: error[MIL021]: `0y1p+0` is not a valid fp32 number",
        " 1 | ..." + "0x1p+0, " * 6 + "0y1p+0, " + "0x1p+0, " * 5 + "...",
        "   | " + " " * 51 + "^~~~~~",
    ]


@pytest.mark.any_version
def test_an_error_in_the_middle_of_many_operations() -> None:
    line = 'tensor<fp16, [1]> y = add(x = x, y = fp16(0x1p+0))[name = string("y")]; '
    head, tail = "program(1.3) { func f(fp16 x) { ", "} -> (x); }"
    assert len(parse(head + line * 10_000 + tail).functions["f"].block_specializations[""].operations) == 10_000
    said = told(head + line * 5_000 + "y z" + line * 5_000 + tail)
    assert said == f"1:{len(head + line * 5_000) + 1} MIL104 unknown type `y`"


def nested_list(depth: int) -> str:
    """A list in a list, and so on, around a number: each is three messages inside one another."""
    return f"{'list<' * depth}int32, 1{'>, 1' * (depth - 1)}>({'[' * depth}1{']' * depth})"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int32(", "MIL005"),
        ("int32(1) int32(1)", "MIL010"),
        ("int32(1.5)", "MIL021"),
        ("", "MIL001"),
        (nested_list(33), "MIL006"),
        (nested_list(60), "MIL006"),
        (f"int32({'(' * 3000}", "MIL006"),
    ],
)
def test_a_value_by_itself_is_read_or_refused(text: str, code: str) -> None:
    assert parse_value("tensor<int32, [2]>([1, 2])").immediateValue.tensor.ints.values == [1, 2]
    with pytest.raises(ParseError) as refused:
        parse_value(text)
    assert [found.code for found in refused.value.diagnostics] == [code]


@pytest.mark.parametrize("text", [nested_list(32), f"tensor<int32, {[1] * 60}>({'[' * 60}1{']' * 60})"])
def test_a_value_by_itself_may_nest_as_deeply_as_protobuf_reads(text: str) -> None:
    assert parse_value(text).WhichOneof("value") == "immediateValue"
