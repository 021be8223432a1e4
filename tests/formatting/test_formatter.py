"""The formatter's laws: Apple's layout, the same Program, every comment once and in its place, nothing left to do."""

from __future__ import annotations

import random
import re
from bisect import bisect
from collections.abc import Callable, Iterator
from functools import lru_cache

import pytest
from conftest import corpus_files, dear, rules_read, thinned, wire
from hypothesis import given
from hypothesis import strategies as st
from support.coremltools_programs import PROGRAMS, Sample
from support.gaps import FORMS, commented, tokens, tokens_of
from support.laws.comments import check_laid_out_or_refused
from support.strategies import any_programs

import miltext.formatting.formatter
from miltext import MiltextError, ParseError, check, format_text, parse, to_text
from miltext.formatting.formatter import verified_format
from miltext.formatting.layout import FinePhrase, Layout
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program
from miltext.syntax.names import RESERVED
from miltext.syntax.tables import load_grammar
from miltext.syntax.tree import Node

# Canonical texts that together have every construct, and nothing that a format would change.
FUNCTIONS = """program(1.3) $version(2) $doc("a // no comment")
[buildInfo = dict<string, string>({{"coremlc-version", "3500"}, {"k", "v"}}), empty = dict<string, string>({})]
{
    func decode<ios17>(tensor<fp16, [1, ?]> x, state<tensor<fp16, [4]>> s) [note = string("b"), val = fp16(nan)] {
            tensor<fp16, [4]> v = read_state(input = s)[name = string("v")];
            write_state(data = v, input = s);
            const()[name = string("c"), val = tensor<fp16, [2, 2]>([[0x1p+0, -inf], [$0x7e00, 1e-3]])];
        } -> (v, x) $[n = int32(1)]
        $block<ios18>(tensor<fp16, [1]> a) {
            fp16 $"y.1", $99 $"list" = op(b = bool(true), g = $unset, values = (a, int32(1), $unset), $"x.1" = x);
        } -> ($"y.1")
        $block<other> {
        } -> ();
    func encode() $none;
    func zero<$"ios18">() {
        } -> ();
}
"""
BLOCKS = """program(1.0)
{
    func main<ios18>(tensor<int32, [1]> i) {
            tensor<int32, [1]> n, tensor<bool, []> m = while_loop(loop_vars = (i, a))[name = tensor<string, []>("n")]
                (tensor<int32, [1]> j) {
                    tensor<bool, [1]> less = cond(x = j)
                        () {
                        } -> (j);
                } -> (less)
                (tensor<int32, [1]> k, tensor<$7, []> l) {
                    tensor<int32, [1]> next = add(x = k, y = one);
                } -> (next) $[n = tensor<int32, []>(1)];
        } -> (n);
}
"""
VALUES = [
    'a = tensor<fp16, [4]>(BLOBFILE(path = string("@model_path/w.bin"), offset = uint64(64)))',
    'b = tuple<string, tensor<int32, [2]>, list<string, 2>>(("Paths", [1, 2], ["a", "b\\"c"]))',
    'c = dict<string, list<tensor<int32, [1]>, ?>>({{"x", [[1], [2]]}, {$absent, $absent}})',
    'd = $doc("a doc") int32(1)',
    "e = tensor<int32, [2]>($longInts([1, 2]))",
    "f = list<fp16, 2>([$value(int32(1)), $value(bool(true))])",
    "g = int32($list[$value(int32(1)), $value($absent($unset))])",
    "h = int32($tuple())",
    "i = int32($dictionary{})",
    "j = int32($tensor)",
    "k = int32($empty)",
    "l = list<$empty, $absent>([])",
    'm = tensor<fp16, [$variadic, $empty], $rank(3), $[l = string("n")]>($empty)',
    'n = tensor<string, [2, 1]>([["a"], ["b"]])',
    "o = tuple<>(())",
    "p = tensor<int32, [2, 2]>([[1, 2], [3, 4]])",
    "q = fp32(inf)",
    's = tensor<fp16, [$variadic]>(BLOBFILE(path = string("p"), offset = uint64(0)))',
]
PLAIN = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 4]> x) {
            tensor<fp16, [1, 4]> a = relu(x = x)[name = string("a")];
            fp16 b = reduce(x = a);
            tensor<int32, [2]> c = const()[name = string("c"), val = tensor<int32, [2]>([1, 2])];
            const()[val = fp16(0x1p+0)];
            string d = const()[val = string("d // no comment")];
            tensor<fp16, [1, 4]> e = tanh(x = a)[name = string("e")];
            write(data = e, input = x)[name = string("w")];
        } -> (e);
}
"""
NO_PROGRAM = """program(1.3) $draft(names, consts) $doc("in a draft")
{
    func main<ios18>(tensor_buffer<fp16, shape=[16, 1], strides=[1, 1], interleave_factors=[1, 1]> x) {
            tensor<fp16, [16]> y = cast<ios17>(input = x)[val = tensor<fp16, [9]>($elided(9, "sha256:0a"))];
            const()[val = tensor<fp16, [9]>($npy("w.npy"))];
            _ a, int32 b = draft(axis = -1, keep = true, mode = "same", sizes = [[1], ["c"]], values = (x, 0.5), x = y);
            tensor<fp16, [2]> w = const()[val = $blob("w.bin", 64)];
            v = const()[val = fp16 $npz("w.npz", "v")];
            w1 = weighed((x, $npy("a.npy")), fp16 $safetensors("m.st", "b"), k = tensor<fp16, [1]>(fp16 $npy("c")));
            d = $import("e.mlpackage", "main")($import("e.mlpackage")(x = x));
            b, c = short((x, 1), relu<ios17>(x)[name = "r"], [1], [2], [[1], [2]], k = tanh(x));
        } -> (y);
}
"""
SAMPLES = {
    "functions": FUNCTIONS,
    "blocks": BLOCKS,
    "plain": PLAIN,
    "values": f"program(1.3)\n[{', '.join(VALUES)}]\n{{\n}}\n",
    "no_program": NO_PROGRAM,
}

samples = pytest.mark.parametrize("sample", SAMPLES.values(), ids=list(SAMPLES))
texts_of_apple = pytest.mark.parametrize(
    "path",
    corpus_files("apple/*.mil", "pairs/*/*.mil", "bundles/*/*.mil", "pipelines/*/*/*.mil", "runtime_dumps/*.mil"),
)
texts_of_people = pytest.mark.parametrize("path", corpus_files("handwritten/*.mil"))


@lru_cache(maxsize=64)
def lowers(text: str) -> bytes | None:
    """The Program of a text in bytes; None where it holds what no Program can."""
    try:
        return wire(parse(text))
    except ParseError:
        return None


def test_the_samples_have_every_construct() -> None:
    used = set().union(*(rules_read(text, fast=fast) for text in SAMPLES.values() for fast in (True, False)))
    assert {rule.callback for rule in load_grammar().rules if rule.callback} == used
    assert [lowers(text) is None for text in SAMPLES.values()] == [False, False, False, False, True]


def test_the_layout_has_a_callback_for_every_rule() -> None:
    assert {rule.callback for rule in load_grammar().rules if rule.callback} - {"plain_tensor"} <= set(dir(Layout))


# ---- layout


@samples
def test_a_canonical_text_is_left_alone(sample: str) -> None:
    assert format_text(sample) == sample
    assert format_text(sample[:-1]) == sample[:-1]


@texts_of_apple
def test_a_text_of_apples_is_left_alone(path: object) -> None:
    text = path.read_bytes().decode()  # type: ignore[attr-defined]
    assert format_text(text) == text


@texts_of_people
def test_a_text_of_peoples_keeps_its_program_and_comments(path: object) -> None:
    text = path.read_bytes().decode()  # type: ignore[attr-defined]
    formatted = format_text(text)
    assert lowers(formatted) == lowers(text) is not None
    assert comments(formatted) == comments(text)
    assert format_text(formatted) == formatted


@pytest.mark.parametrize(
    "text", ["program(1.3) { func", "program(1.3) { func f() { fp16 y = relu(x = x y); } -> (); }"]
)
def test_an_invalid_text_is_refused_as_by_parse(text: str) -> None:
    with pytest.raises(ParseError) as refused:
        format_text(text, path="a.mil")
    with pytest.raises(ParseError) as expected:
        parse(text, path="a.mil")
    assert refused.value.diagnostics == expected.value.diagnostics
    assert "a.mil:1:" in str(refused.value)


@pytest.mark.parametrize("path", corpus_files("rejected/*.mil"))
def test_the_text_that_apple_rejects_is_a_draft(path: object) -> None:
    """It is laid out, `check` tells its wrong types, and what asks for a Program refuses it with a place."""
    text = path.read_bytes().decode()  # type: ignore[attr-defined]
    formatted = format_text(text, path="a.mil")
    assert format_text(formatted) == formatted
    found = check(text)
    assert {found.code for found in found if found.severity == "error"} == {"MIL701"}
    assert all(each.span for each in found)
    with pytest.raises(ParseError, match=r"a.mil:23:55: error\[MIL113\]"):
        parse(text, path="a.mil")


@dear
@given(any_programs, st.sampled_from(["1.0", "1.3"]), st.integers(0, 2**32))
def test_a_printed_text_is_canonical(program: Program, dialect: str, seed: int) -> None:
    text = to_text(program, dialect=dialect)
    assert format_text(text) == text
    assert format_text(respaced(text, random.Random(seed))) == text
    assert format_text(format_text(text, width=60)) == text
    assert format_text(text, width=max(map(len, text.split("\n")))) == text


@pytest.mark.parametrize("made", PROGRAMS[::25], ids=str)
def test_a_program_of_coremltools_prints_canonically(made: Sample) -> None:
    pytest.importorskip("coremltools")
    text = to_text(Program.FromString(made.program()))
    assert format_text(text) == text


UNORDERED = [
    ("argument", "single_argument", "attribute"),
    ("function",),
    ("specialization",),
    ("draft_marker", "program_doc", "program_version"),
]


def reversed_order(node: Node) -> Iterator[str]:
    """The tokens of a tree with functions, arguments and attributes in the opposite order."""
    if node.token is not None:
        yield node.token
    children = list(node.children)
    for kinds in UNORDERED:
        places = [at for at, child in enumerate(children) if child.name in kinds]
        for at, child in zip(places, [children[at] for at in reversed(places)], strict=True):
            children[at] = child
    for child in children:
        yield from reversed_order(child)


def respaced(text: str, rng: random.Random) -> str:
    """The text with other white space, as little as none, between its tokens."""
    spaced = ""
    for token in tokens(text):
        apart = spaced[-1:] + token.text[0]
        spaces = ["\n", "\r\n", "\t \n\n "] + [""] * (re.fullmatch(r'[\w@$".+-]{2}', apart, re.ASCII) is None)
        spaced += rng.choice(spaces) + token.text
    return spaced + rng.choice(["\n", " \t\r\n", "\n\n \t"])


@samples
def test_white_space_and_order_are_canonical(sample: str) -> None:
    for seed in range(20):
        assert format_text(respaced(sample, random.Random(seed))) == sample
    assert format_text(" ".join(reversed_order(parse_tree(sample).root)) + "\n") == sample


def test_both_paths_through_the_grammar_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def refuse(_: Layout, token: str) -> str:
        taken.append(token)
        raise FinePhrase

    monkeypatch.setattr(Layout, "plain_operation", refuse)
    for sample in SAMPLES.values():
        assert format_text(respaced(sample, random.Random(1))) == sample
    assert taken


def operation(text: str, dialect: str = "1.3") -> str:
    return f"program({dialect})\n{{\n    func main<ios18>() {{\n            {text}\n        }} -> ();\n}}\n"


SETTLED = [
    ("op(x=(a),y=( b ) , z = ( ))[];", "op(x = a, y = b, z = ());", "1.3"),
    ('op($"x" = $"a b", $"list" = $"y", $"é" = $"a\\u{62}");', 'op($"list" = y, x = $"a b", $"é" = ab);', "1.3"),
    ("op()[b=int32(+01), a=fp16(.5), c=fp32(1E3)];", "op()[a = fp16(.5), b = int32(+01), c = fp32(1E3)];", "1.3"),
    ("tensor<fp16,[]> y = op(x = tensor<int32 , [ ]>(1));", "fp16 y = op(x = int32(1));", "1.3"),
    (
        "fp16 y, $99 z = op(x = int32(1));",
        "tensor<fp16, []> y, tensor<$99, []> z = op(x = tensor<int32, []>(1));",
        "1.0",
    ),
    ("tensor<$99, []> y = op();", "$99 y = op();", "1.3"),
    (
        'op(x = fp16(BLOBFILE(offset=tensor<uint64,[]>(64),path=string("p"))));',
        'op(x = fp16(BLOBFILE(path = string("p"), offset = uint64(64))));',
        "1.3",
    ),
    ("tensor<fp16,[1],$[],$rank(2)> y = op();", "tensor<fp16, [1], $rank(2)> y = op();", "1.3"),
    (
        "tensor<fp16,[],$[a=int32(1)],$rank(2)> y = op();",
        "tensor<fp16, [], $rank(2), $[a = int32(1)]> y = op();",
        "1.3",
    ),
    ('op(b = $"\\q", a = true, "bad" = c);'.replace('"bad"', "c"), 'op(a = true, b = $"\\q", c = c);', "1.3"),
    ("cast < ios17 > ( x = a , a = $unset ) ;", "cast<ios17>(a = $unset, x = a);", "1.3"),
]


@pytest.mark.parametrize(("written", "settled", "dialect"), SETTLED)
def test_spellings_are_settled(written: str, settled: str, dialect: str) -> None:
    assert format_text(operation(written, dialect)) == operation(settled, dialect)
    assert lowers(operation(written, dialect)) == lowers(operation(settled, dialect))


def test_the_last_line_keeps_its_end() -> None:
    assert format_text("program(1.3){}") == "program(1.3)\n{\n}"
    assert format_text("program(1.3){}\r\n  ") == "program(1.3)\n{\n}\n"
    assert format_text("program(1.3){} // end") == "program(1.3)\n{\n} // end"
    assert format_text("/* 2.0 */program(1.3){}\n// end\n") == "/* 2.0 */ program(1.3)\n{\n}\n// end\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "MIL001"),
        ("program(1.3) { func }", "MIL010"),
        ("program(1.3) [a = fp16(foo)] { }", "MIL010"),
        ("program(1.3) [a = tensor<foo, []>(1)] { }", "MIL104"),
        ("program(1.3) [a = fp16(1.2.3)] { }", "MIL003"),
        ("program(1.3) { func f() { x(a = fp16); } -> (); }", "MIL025"),
        ("program(1.3) [a = int32(" + "(" * 9000, "MIL006"),
        ("// 1.3\nprogram(1.2) { }", "MIL101"),
        ("program(2.0) { func }", "MIL010"),
        ('program(1.3) [a = string("\u202e")] { }', "MIL024"),
    ],
)
def test_an_error_matches_the_syntax(text: str, code: str) -> None:
    with pytest.raises(ParseError) as refused:
        format_text(text, path="x.mil")
    assert refused.value.diagnostics[0].code == code
    assert str(refused.value).startswith("x.mil:")


# ---- comments


def comments(text: str) -> list[str]:
    return [text[span.start : span.end] for span in parse_tree(text).comments]


COMMENTED = [
    (
        "op(b = b // 1\n, /* 2 */ // 3\n a = a);",
        f"op(a = a, b = b // 1\n{' ' * 16}/* 2 */\n{' ' * 16}// 3\n{' ' * 12});",
    ),
    (
        "op(y = b, // of y\n // of x\n x = a // too\n);",
        f"op(\n{' ' * 16}// of x\n{' ' * 16}x = a, // too\n{' ' * 16}y = b // of y\n{' ' * 12});",
    ),
    ("op(y = b, /* of x */ x = a);", "op(/* of x */ x = a, y = b);"),
    ("op(y = b /* of y */, x = a);", "op(x = a, y = b /* of y */);"),
    ("op(y = b, /* of y */\nx = a);", "op(x = a, y = b /* of y */);"),
    ("op(x = a) // of op\n;", "op(x = a); // of op"),
    ("op(x = a) // one\n; // two", "op(x = a) // one\n                ; // two"),
    ("op(x = (/* a */ a))[ /* none */ ];", "op(x = (/* a */ a))[/* none */];"),
    (
        "// of op\n/* too */ tensor<fp16 /* rank 0 */, []> y = op();",
        "// of op\n            /* too */ tensor<fp16 /* rank 0 */, []> y = op();",
    ),
    ("/* one\n   two */\nop();", "/* one\n   two */\n            op();"),
    ("op( // first\nx = a);", "op( // first\n                x = a);"),
    ("op(x = a\n/* of x */, y = b);", "op(x = a /* of x */, y = b);"),
    ("op(); // of op  \t\r\n// of the block", "op(); // of op\n            // of the block"),
    ("op()[b = int32(1), /* a */ a = int32 /* x */ (2)];", "op()[/* a */ a = int32 /* x */ (2), b = int32(1)];"),
]


@pytest.mark.parametrize(("written", "laid_out"), COMMENTED)
def test_comments_are_laid_out(written: str, laid_out: str) -> None:
    text = operation(laid_out)
    assert format_text(operation(written)) == text
    assert format_text(text) == text
    assert lowers(text) == lowers(operation(written)) is not None


def test_comments_of_functions_move_along() -> None:
    b, a = (
        "    // of b\n    func b() {\n        } -> (); // b\n",
        "    // of a\n    func a() {\n            // empty\n        } -> ();\n",
    )
    head, tail = "// the file\nprogram(1.3) // 1.3\n{ // functions\n", "    // no more\n} // end\n// of file\n"
    assert format_text(head + b + a + tail) == head + a + b + tail


def place(form: str) -> str:
    """Whether a comment of this form belongs to what follows, what precedes, or either."""
    if form[0] == "\n":
        return "own" if form[-1] == "\n" else "either"
    return "end" if form[-1] == "\n" else "either"


@lru_cache(maxsize=16)
def words(text: str) -> tuple[list[str], list[tuple[int, str]]]:
    """The tokens of a text, and its comments, each with the number of tokens before it."""
    traced = parse_tree(text)
    found = tokens_of(traced.root)
    starts = [token.start for token in found]
    placed = [(bisect(starts, span.start), text[span.start : span.end]) for span in traced.comments]
    return [token.text for token in found], placed


def number(comment: str) -> int:
    return int(re.findall(r"\d+", comment)[0])


def check_gaps(sample: str, forms: dict[int, str]) -> str:
    """What must hold of a canonical sample with comments in these gaps."""
    text = commented(sample, forms)
    formatted = format_text(text)
    assert lowers(formatted) == lowers(sample)
    assert format_text(formatted) == formatted
    before, _ = words(sample)
    after, placed = words(formatted)
    assert before == after
    assert sorted(number(comment) for _, comment in placed) == sorted(forms)
    for at, comment in placed:
        gap = number(comment)
        assert comment == (forms[gap] % gap).replace("\r", "").strip()
        assert at == gap or beside(before, gap, at, place(forms[gap]))
    return formatted


def beside(found: list[str], gap: int, at: int, where: str) -> bool:
    """Whether a comment that moved did so only over the comma or semicolon at its gap."""
    backwards = at == gap - 1 and found[gap - 1] == "," and where == "end"
    forwards = at == gap + 1 and found[gap] in (",", ";")
    return backwards or forwards


@samples
@pytest.mark.parametrize("form", FORMS)
def test_a_comment_in_any_gap_stays_there(sample: str, form: str) -> None:
    """Alone, each form is in every fourth gap; they take turns, so that no gap is left. Below, it is in all at once."""
    for gap in thinned(range(len(tokens(sample)) + 1), FORMS.index(form), 4):
        formatted = check_gaps(sample, {gap: form})
        line = next(line for line in formatted.split("\n") if re.search(rf"/[/*] {gap}\b", line)).strip()
        if place(form) == "own" or not gap:
            assert line.startswith("/")
        elif place(form) == "end":
            assert not line.startswith("/")


@samples
@pytest.mark.parametrize("form", FORMS)
def test_comments_in_all_gaps_at_once_stay_there(sample: str, form: str) -> None:
    check_gaps(sample, dict.fromkeys(range(len(tokens(sample)) + 1), form))


some_forms = st.lists(st.sampled_from(FORMS), min_size=1, max_size=3)


@given(st.data())
def test_comments_in_some_gaps_stay_there(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(list(SAMPLES.values())))
    forms = data.draw(st.dictionaries(st.integers(0, len(tokens(sample))), st.sampled_from(FORMS)))
    formatted = check_gaps(sample, forms)
    narrow = format_text(formatted, width=data.draw(st.integers(1, 120)))
    assert lowers(narrow) == lowers(sample)
    assert format_text(narrow) == formatted


@given(st.data())
def test_comments_move_with_sorted_items(data: st.DataObject) -> None:
    sample = data.draw(st.sampled_from(list(SAMPLES.values())))
    text = " ".join(reversed_order(parse_tree(sample).root))
    forms = data.draw(st.dictionaries(st.integers(0, len(tokens(text))), st.sampled_from(FORMS)))
    formatted = format_text(commented(text, forms))
    assert lowers(formatted) == lowers(sample)
    assert format_text(formatted) == formatted
    before, _ = words(text)
    after, placed = words(formatted)
    assert sorted(number(comment) for _, comment in placed) == sorted(forms)
    for at, comment in placed:
        gap = number(comment)
        if place(forms[gap]) != "either" and not begins_a_line(before, gap - 1, forms):
            assert neighbour(after, at, forms[gap]) == neighbour(before, gap, forms[gap])


def begins_a_line(found: list[str], at: int, forms: dict[int, str]) -> bool:
    """Whether a token is a comma after a comment that ends the line: what follows it may belong to either side."""
    return at in forms and found[at] == "," and place(forms[at]) != "either"


def neighbour(found: list[str], at: int, form: str) -> str:
    """The token that a comment in this gap belongs to, commas and semicolons aside."""
    side, passed = (found[at:], ",") if place(form) == "own" else (found[:at][::-1], ",;")
    return next((token for token in side if token not in passed), "")


@given(st.data())
def test_any_number_of_comments_settles_at_once(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from([*SAMPLES.values(), *(operation(text, dialect) for _, text, dialect in SETTLED)]))
    forms = data.draw(st.dictionaries(st.integers(0, len(tokens(text))), some_forms, max_size=9))
    crowded = commented(text, {gap: "".join(form) for gap, form in forms.items()})
    formatted = verified_format(crowded)
    assert len(comments(formatted)) == sum(map(len, forms.values()))
    narrow = format_text(crowded, width=40)
    assert format_text(narrow, width=40) == narrow
    assert format_text(narrow) == formatted


# ---- a width

WIDE = """tensor<fp16, [1, 8]> y = conv(pad = int32(1), weight = tensor<fp16, [4]>([1, 2, 3, 4]), x = x)[n = fp16(1)];
            cond(a = b)
                (tensor<int32, [1]> first, tensor<int32, [1]> second) {
                    relu(x = x, y = y);
                } -> (first);"""

NARROW = """tensor<fp16, [1, 8]> y = conv(
                pad = int32(1),
                weight = tensor<fp16, [4]>([1, 2, 3, 4]),
                x = x
            )[n = fp16(1)];
            cond(a = b)
                (
                    tensor<int32, [1]> first,
                    tensor<int32, [1]> second
                ) {
                    relu(x = x, y = y);
                } -> (first);"""


def test_a_width_breaks_long_lists() -> None:
    assert format_text(operation(WIDE), width=68) == operation(NARROW)
    assert format_text(operation(NARROW), width=68) == operation(NARROW)
    assert format_text(operation(NARROW)) == operation(WIDE)
    assert format_text(operation(WIDE), width=150) == operation(WIDE)


def test_width_and_comments_break_lists_at_every_item() -> None:
    text = operation("op(a = a, // 1\n b = b /* 2 */\n)[c = int32(1) // 3\n /* 4 */];")
    lines = ["op(", "    a = a, // 1", "    b = b /* 2 */", ")[", "    c = int32(1) // 3", "/* 4 */];"]
    narrow = operation(f"\n{' ' * 12}".join(lines))
    assert format_text(text, width=100) == format_text(narrow, width=100) == narrow
    assert format_text(narrow) == format_text(text)


NESTED = "tensor<fp16, [1], $[a = int32(1), b = int32(2)]>"
FITTING = [
    operation(f"{NESTED} y = op(x = {NESTED}([1]), z = z)[n = {NESTED}([1])]; // end"),
    operation("fp16 y = op();").replace("main<ios18>()", f"main<ios18>({NESTED} x, fp16 z, {NESTED} y)"),
    *SAMPLES.values(),
]


@pytest.mark.parametrize("text", FITTING)
def test_a_width_breaks_no_line_that_fits(text: str) -> None:
    longest = max(map(len, text.split("\n")))
    assert format_text(text, width=longest) == format_text(text, width=1000) == format_text(text) == text
    for width in range(longest - 1, 40, -9):
        narrow = format_text(text, width=width)
        assert {line for line in text.split("\n") if len(line) <= width} <= set(narrow.split("\n"))
        assert format_text(narrow) == text


@texts_of_people
def test_a_width_changes_no_program(path: object) -> None:
    text = path.read_bytes().decode()  # type: ignore[attr-defined]
    for width in (1, 60, 100):
        narrow = verified_format(text, width=width)
        assert format_text(narrow) == format_text(text)
        assert max(map(len, narrow.split("\n"))) <= max(width, longest_item(narrow))


def longest_item(text: str) -> int:
    """The longest line that no list's break would shorten."""
    return max(len(line) for line in text.split("\n") if not re.search(r"[(\[]\w+ = .*, ", line))


# ---- proof


def test_a_verified_format_is_the_format() -> None:
    for sample in SAMPLES.values():
        text = respaced(sample, random.Random(2))
        assert verified_format(text, path="x.mil") == sample == verified_format(sample)
        assert verified_format(text, width=40) == format_text(sample, width=40)


OUTSIDE = [("read_state(", "read_state<ios17>("), ("add(", "add<ios17>("), ("fp32(inf)", 'fp32($elided(1, "d"))')]


@pytest.mark.parametrize(("old", "new"), OUTSIDE)
def test_a_text_that_is_not_a_program_is_verified_by_its_phrases(old: str, new: str) -> None:
    sample = next(text for text in SAMPLES.values() if old in text).replace(old, new)
    assert lowers(sample) is None
    assert verified_format(" ".join(reversed_order(parse_tree(sample).root)) + "\n") == sample


FAULTS = [
    ("second pass", lambda text: text + "\n"),
    ("read back", lambda text: format_text(text).replace("func", "fun")),
    ("comment", lambda text: format_text(text).replace(" // a comment", "")),
    ("comment", lambda text: format_text(text).replace("// a comment", "// a commend")),
    ("Program", lambda text: format_text(text).replace("x = a", "x = b")),
    ("Program", lambda text: format_text(text).replace("(x = a, y = b)", "(x = b, y = a)")),
    ("Program", lambda text: format_text(text).replace("relu", "tanh")),
]


@pytest.mark.parametrize(("lost", "fault"), FAULTS)
@pytest.mark.parametrize("opset", ["", "<ios17>"])
def test_a_fault_is_found(lost: str, fault: Callable[[str], str], opset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = operation(f"relu{opset}(y = b, x = a); // a comment")
    monkeypatch.setattr(miltext.formatting.formatter, "format_text", lambda text, width=None, path=None: fault(text))
    with pytest.raises(MiltextError, match=rf"x.mil: error\[MIL900\].*{lost}") as raised:
        verified_format(text, path="x.mil")
    assert not isinstance(raised.value, ParseError)


def test_text_readable_only_by_the_fast_path_is_not_written() -> None:
    with pytest.raises(ParseError):
        verified_format(operation("op(x = tensor<fp16, [1]>( [[1], foo] ));"))


# ---- reserved words

OPERATION = 'int32 {output} = {kind}({key} = {value})[{attribute} = string("y")];'
SLOTS = {"output": "y", "kind": "add", "key": "x", "value": "n", "attribute": "name"}


@pytest.mark.parametrize("slot", SLOTS)
def test_a_reserved_word_is_laid_out_where_fine_rules_read_it(slot: str) -> None:
    """A coarse token takes it for a name, so that the whole operation has to be read by the fine rules."""
    for word in sorted(RESERVED):
        operation = OPERATION.format(**{**SLOTS, slot: word})
        text = f"program(1.3) {{ func main<ios18>(int32 n) {{ {operation} }} -> (n); }}"
        check_laid_out_or_refused(text)


TWO_MISTAKES = [
    "int32 y = add(x = n, y = n)); int32 z = my_own(x = y));",
    "int32 y = const()[val = int32(True)]; {",
    "tensor<fp61, [1]> y = relu(x = n); } -> (n); }}",
    "int32 y = relu(x = n); } -> (n); int32 z = relu(x = n);",
    "int32 y = const()[val = tensor<int32, [2]>([1 int32 z = relu(x = n);",
]


@pytest.mark.parametrize("operations", TWO_MISTAKES)
def test_the_first_mistake_is_reported_as_by_the_fine_rules(operations: str) -> None:
    check_laid_out_or_refused(f"program(1.3) {{ func main<ios18>(int32 n) {{ {operations} }} -> (n); }}")


@pytest.mark.parametrize(
    ("written", "laid_out"),
    [
        ("[1,2,   3]", "[1, 2, 3]"),
        ('[ "x",  "y" ]', '["x", "y"]'),
        ("[ ]", "[]"),
        ("[[1,2],[3 ,4]]", "[[1, 2], [3, 4]]"),
    ],
)
@pytest.mark.parametrize("comment", ["", "/* here */ "])
def test_lists_of_attributes_in_drafts(written: str, laid_out: str, comment: str) -> None:
    text = DRAFT_OF_LIST.replace("LIST", comment + written)
    assert format_text(text) == DRAFT_OF_LIST.replace("LIST", comment + laid_out)


def test_a_name_in_a_list_of_an_attribute_is_refused() -> None:
    with pytest.raises(ParseError, match="MIL021"):
        format_text(DRAFT_OF_LIST.replace("LIST", "[b]"))


DRAFT_OF_LIST = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> y = custom_layer(x = x)[a = LIST];
        } -> (y);
}
"""


NAMES = ('$""', "a", '$"b c"', "name", '$" "', "_", "Z")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("literal", ["fp16(1)", "1", '"s"', "tensor<fp16, [1]>([1])"])
@pytest.mark.parametrize("written", ["y = relu(x)[{}];", "y = relu(x = x)[{}];", "y = relu({});", "y = relu({}, {});"])
def test_all_names_are_sorted(written: str, literal: str, seed: int) -> None:
    """The empty name was taken for that of an argument by its place, so nothing was sorted."""
    names = random.Random(seed).sample(NAMES, len(NAMES))
    given = ", ".join(f"{name} = {literal}" for name in names)
    text = "program(1.3) {{ func main<ios18>(fp16 x) {{ {} }} -> (y); }}".format(
        written.replace("{}", "1, 2", 1).format(given) if written.count("{}") > 1 else written.format(given)
    )
    laid_out = format_text(text)
    found = re.findall(r'(\$"[^"]*"|\w+) = (?=fp16\(|1|"s"|tensor)', laid_out.partition("y = ")[2])
    assert [parse_name(each) for each in found if each != "x"] == sorted(parse_name(each) for each in NAMES)
    assert format_text(laid_out) == laid_out


def parse_name(spelled: str) -> str:
    return spelled[2:-1] if spelled.startswith("$") else spelled
