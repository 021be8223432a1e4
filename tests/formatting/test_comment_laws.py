"""No path that hands formatted text out loses, doubles or changes a comment, wherever comments stand."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files, rules_read, wire
from hypothesis import given, settings
from hypothesis import strategies as st
from support import realistic
from support.gaps import FORMS, tokens
from support.strategies import any_programs

from miltext import MiltextError, ParseError, format_text, infer_draft, load, parse, to_text
from miltext.diagnostics import Span
from miltext.formatting.document import Document
from miltext.formatting.formatter import Comments, verified_format
from miltext.formatting.layout import Layout, Unfit
from miltext.highlight import MilLexer
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program
from miltext.syntax.tree import Statement, walk

BOTH = " /* %d */ // %d too\n"
STRIDE = 7
"""In one pass every so many gaps have a comment, so that each gap has one in some pass."""


def inserted(text: str, forms: dict[int, str]) -> str:
    """The text with a comment more in each of these gaps, at the token before: gap 0 is before the first token."""
    ends = [0, *(token.end for token in tokens(text))]
    pieces, last = [], 0
    for gap in sorted(forms):
        pieces += [text[last : ends[gap]], forms[gap].replace("%d", str(gap))]
        last = ends[gap]
    return "".join([*pieces, text[last:]])


def comments(text: str) -> list[str]:
    """The comments of a text in their order, line ends as LF."""
    found = [text[span.start : span.end] for span in parse_tree(text).comments]
    return [re.sub("\r+\n", "\n", comment).rstrip() for comment in found]


def plain_operations(text: str) -> list[Statement]:
    return [node for node in walk(parse_tree(text, whole=True).root) if isinstance(node, Statement)]


def left_plain(text: str, gaps: set[int]) -> int:
    """How many plain operations have none of these gaps inside."""
    places = [token.start for gap, token in enumerate(tokens(text)) if gap in gaps]
    return sum(not any(node.start < place < node.end for place in places) for node in plain_operations(text))


@contextmanager
def paths() -> Iterator[list[bool]]:
    """How the formatter lays out each plain operation meanwhile: True is as one token, False by its phrases."""
    lay_out, taken = Layout.plain_operation, list[bool]()

    def spy(layout: Layout, token: str) -> Document:
        try:
            text = lay_out(layout, token)
        except Unfit:
            taken.append(False)
            raise
        taken.append(True)
        return text

    Layout.plain_operation = spy  # type: ignore[method-assign, assignment]
    try:
        yield taken
    finally:
        Layout.plain_operation = lay_out  # type: ignore[method-assign]


def said(text: str) -> bytes | None:
    try:
        return wire(parse(text))
    except ParseError:
        return None


def check(text: str, forms: dict[int, str], *, canonical: bool = True) -> str:
    """What must hold of a text with comments more in some gaps. Of a canonical text, they keep their order, too."""
    crowded = inserted(text, forms)
    before = comments(crowded)
    assert len(before) == len(comments(text)) + sum(form.count("%d") for form in forms.values())
    assert rules_read(crowded, fast=True)["plain_operation"] == left_plain(text, set(forms))
    with paths() as taken:
        formatted = format_text(crowded)
    assert taken == [True] * left_plain(text, set(forms))
    after = comments(formatted)
    assert after == before if canonical else sorted(after) == sorted(before)
    assert said(formatted) == said(text)
    assert format_text(formatted) == formatted
    assert format_text(crowded.replace("\n", "\r\n")).replace("\r\n", "\n") == formatted
    return formatted


def between_operations(text: str) -> list[int]:
    """The gaps before and after the operations of a text; before one that is plain or not, and before a block's end."""
    starts = {node.start for node in walk(parse_tree(text, whole=True).root) if node.name == "operation"}
    return [gap for gap, token in enumerate(tokens(text)) if token.start in starts or token.text == "}"]


def check_some(text: str, seed: int, *, canonical: bool = True) -> None:
    rng = random.Random(seed)
    check(text, {gap: rng.choice([*FORMS, BOTH]) for gap in between_operations(text)}, canonical=canonical)
    few = rng.sample(range(len(tokens(text)) + 1), min(9, len(tokens(text))))
    check(text, {gap: rng.choice([*FORMS, BOTH]) for gap in few}, canonical=canonical)


# ---- in every gap


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("print/*.mil")), ids=lambda path: path.name)
def test_goldens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for first in range(STRIDE):
        form = [" // %d\n", "/* %d */", "\n// %d\n", BOTH][first % 4]
        check(text, dict.fromkeys(between_operations(text), form))
        check(text, dict.fromkeys(range(first, len(tokens(text)) + 1, STRIDE), form))


LONG = 1 << 17
"""Characters of a text in which not many gaps are tried: each takes as long as the text."""


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "pairs/*/*.mil", "bundles/*/*.mil"))
def test_texts_of_apple(path: Path) -> None:
    text = path.read_bytes().decode()
    if len(text) < LONG:
        check_some(text, 1)
    check(text, {between_operations(text)[-2]: BOTH})


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil"))
def test_texts_of_people(path: Path) -> None:
    check_some(path.read_bytes().decode(), 2, canonical=False)


@settings(max_examples=settings().max_examples // 3)
@given(st.one_of(any_programs, realistic.programs()), st.sampled_from(["1.0", "1.3"]), st.integers(0, 2**32))
def test_generated(program: Program, dialect: str, seed: int) -> None:
    check_some(to_text(program, dialect=dialect), seed)


# ---- beside plain operations and others, in any order

OPERATIONS = {
    "plain": 'fp16 {} = relu(x = x)[name = string("{}")];',
    "fine": "{}(x = x, y = int32(1));",
    "block": "cond(x = x)\n{0}() {{\n{0}    fp16 {1} = relu(x = x);\n{0}}} -> ();",
}


def block(kinds: tuple[str, ...]) -> str:
    lines = [OPERATIONS[kind].replace("{0}", " " * 16).replace("{1}", f"n{at}") for at, kind in enumerate(kinds)]
    lines = [line.replace("{}", f"n{at}").replace("{{", "{").replace("}}", "}") for at, line in enumerate(lines)]
    body = "".join(f"            {line}\n" for line in lines)
    return f"program(1.3)\n{{\n    func main<ios18>(fp16 x) {{\n{body}        }} -> ();\n}}\n"


@pytest.mark.parametrize("kinds", list(product(OPERATIONS, repeat=3)), ids="-".join)
def test_each_operation_as_first_in_the_middle_and_last(kinds: tuple[str, ...]) -> None:
    text = block(kinds)
    assert format_text(text) == text
    for form in [*FORMS, BOTH]:
        check(text, dict.fromkeys(between_operations(text), form))
    for gap in between_operations(text):
        check(text, {gap: " // %d\n"})
        check(text, {gap: " /* %d */\n"})


@pytest.mark.parametrize("count", range(1, 5))
def test_a_comment_ends_the_line_of_its_operation(count: int) -> None:
    text = block(("plain",) * count)
    crowded = text.replace("];\n", "]; // one\n").replace("-> ();\n", "-> (); /* one */ // two\n")
    assert crowded.count("// one") == count
    assert format_text(crowded) == verified_format(crowded) == crowded


# ---- in drafts

SHORT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 4]> x) {
            half = const()[name = "half", val = 0.5];
            a, b = split(relu(x), axis = 1, num_splits = 2);
            y, n = while_loop((mul(x, half), 0))
                (_ c, d) {
                    e = less(d, 3);
                } -> (e)
                (f, _ g) {
                    h = tanh(relu(f));
                    i = add(g, 1);
                } -> (h, i);
            z = concat((a, tanh(b)[name = "t"]), 1);
        } -> (y, z);
}
"""


@pytest.mark.parametrize("form", [*FORMS, BOTH])
def test_short_drafts(form: str) -> None:
    """In every gap, a comment stays what it is where the draft is laid out, and where it is written out."""
    assert format_text(SHORT) == SHORT
    whole = wire(parse(infer_draft(SHORT)))
    for first in range(STRIDE):
        crowded = inserted(SHORT, dict.fromkeys(range(first, len(tokens(SHORT)) + 1, STRIDE), form))
        formatted, written = format_text(crowded), infer_draft(crowded)
        assert comments(formatted) == comments(crowded)
        assert sorted(comments(written)) == sorted(comments(crowded))
        assert format_text(formatted) == formatted
        assert wire(parse(written)) == wire(parse(infer_draft(formatted))) == whole


# ---- at commas

LISTS = """program(1.3)
[a = $absent($unset), b = int32(1)]
{
    func main<ios18>(tensor<fp16, [1, 2]> x, fp16 y) [a = int32(1), b = tuple<int32, int32>((1, 2))] {
            fp16 a, fp16 b = f(u = (x, y), w = x)[k = dict<int32, int32>({{1, 2}, {3, 4}}), z = int32(1)];
            fp16 c = g(x = fp16(BLOBFILE(path = string("a"), offset = uint64(1))))
                (fp16 a, fp16 b) {
                } -> (a, b);
        } -> (a, b);
}
"""
COMMAS = [gap for gap, token in enumerate(tokens(LISTS)) if token.text == ","]


@pytest.mark.parametrize("before", ["", "\n// %d\n", "\n/* %d */ ", " // %d\n", " /* %d */", BOTH])
@pytest.mark.parametrize("after", ["", " // %d\n", " /* %d */\n", "\n// %d\n", BOTH])
def test_comments_before_and_after_a_comma_keep_their_order(before: str, after: str) -> None:
    assert format_text(LISTS) == LISTS
    for gap in COMMAS:
        check(LISTS, {gap: before, gap + 1: after})


# ---- whoever hands formatted text out


def lose(self: Comments, span: Span) -> None:
    """Pass a comment by."""


def cut(self: Comments, span: Span) -> None:
    self.found.append(self._text[span.start : span.end])
    self._follow([self._text[span.start : span.end - 1]])


def double(self: Comments, span: Span) -> None:
    self.found.append(self._text[span.start : span.end])
    self._follow([self._text[span.start : span.end]] * 2)


DRAFT = block(("plain", "plain")).replace("];", "]; // kept").replace("fp16 n", "_ n")


@pytest.mark.parametrize("fault", [cut, double, lose])
def test_a_fault_of_the_formatter_is_told(fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert comments(infer_draft(DRAFT)) == ["// kept", "// kept"]
    text = infer_draft(DRAFT).replace("    ", "")
    monkeypatch.setattr(Comments, "comment", fault)
    makers: list[Callable[..., str]] = [verified_format, infer_draft, *[format_text] * (fault is not lose)]
    for handed_out in makers:
        with pytest.raises(MiltextError, match=r"x.mil: error\[MIL900\]: a comment would be lost") as told:
            handed_out(DRAFT if handed_out is infer_draft else text, path="x.mil")
        assert not isinstance(told.value, ParseError)


@pytest.mark.parametrize("fault", [cut, double, lose])
def test_the_server_edits_nothing_where_the_formatter_has_a_fault(
    fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygls")
    from miltext.lsp.diagnosing import _inferred
    from miltext.lsp.formatting import _formatted

    text = infer_draft(DRAFT).replace("    ", "")
    assert comments(_inferred(DRAFT) or "") == comments(_formatted(text)) == ["// kept", "// kept"]
    monkeypatch.setattr(Comments, "comment", fault)
    assert _inferred(DRAFT) is None
    assert _formatted(text) == text


# ---- a carriage return ends a line, by itself too


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\r\r\n", "\n\r"])
def test_every_line_end_ends_a_comment(end: str) -> None:
    text = block(("plain", "plain", "fine"))
    crowded = text.replace(";\n", "; // one\n").replace("\n", end)
    assert comments(crowded) == ["// one"] * 4
    assert said(crowded) == said(text) is not None
    assert format_text(crowded) == format_text(text.replace(";\n", "; // one\n"))


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_comment_is_highlighted_up_to_the_end_of_its_line(end: str) -> None:
    text = f"// program{end}program(1.3) {{ // func{end}func f() $none; }}"
    found = [(str(kind), piece) for _, kind, piece in MilLexer().get_tokens_unprocessed(text)]
    assert "".join(piece for kind, piece in found if kind == "Token.Comment.Single") == "// program// func"
    assert [piece for kind, piece in found if kind == "Token.Keyword.Declaration"] == ["program", "func"]
    assert not any("Error" in kind for kind, _ in found)
    assert MilLexer.analyse_text(text) > 0.9


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_a_file_is_read_as_its_text(end: str, tmp_path: Path) -> None:
    path = tmp_path / "a.mil"
    path.write_bytes(block(("plain", "plain")).replace("x) {\n", f"x) {{ // of x{end}").encode())
    with path.open(encoding="utf-8") as file:  # which takes every line end for LF
        assert wire(load(path).program) == said(file.read()) == said(block(("plain", "plain")))
