"""No path that hands formatted text out loses, doubles or changes a comment, wherever comments stand."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from conftest import GOLDEN, corpus_files, wire
from hypothesis import given, settings
from hypothesis import strategies as st
from support import realistic
from support.gaps import FORMS, tokens
from support.laws.comments import BOTH, between_operations, check_gaps, check_some_gaps, comments, inserted, said
from support.strategies import any_programs

from miltext import MiltextError, ParseError, format_text, infer_draft, load, parse, to_text
from miltext.diagnostics import Span
from miltext.formatting.formatter import Comments, verified_format
from miltext.highlight import MilLexer
from miltext.schema.proto import Program
from miltext.syntax.tree import Node

STRIDE = 7
"""In one pass every so many gaps have a comment, so that each gap has one in some pass."""


# ---- in every gap


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("print/*.mil")), ids=lambda path: path.name)
def test_goldens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for first in range(STRIDE):
        form = [" // %d\n", "/* %d */", "\n// %d\n", BOTH][first % 4]
        check_gaps(text, dict.fromkeys(between_operations(text), form))
        check_gaps(text, dict.fromkeys(range(first, len(tokens(text)) + 1, STRIDE), form))


LONG = 1 << 16
"""Characters of a text in which not many gaps are tried: each takes as long as the text."""


@pytest.mark.parametrize("path", corpus_files("apple/*.mil", "pairs/*/*.mil", "bundles/*/*.mil"))
def test_texts_of_apple(path: Path) -> None:
    text = path.read_bytes().decode()
    if len(text) < LONG:
        check_some_gaps(text, 1)
    check_gaps(text, {between_operations(text)[-2]: BOTH})


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil"))
def test_texts_of_people(path: Path) -> None:
    check_some_gaps(path.read_bytes().decode(), 2, canonical=False)


@settings(max_examples=settings().max_examples // 3)
@given(st.one_of(any_programs, realistic.programs()), st.sampled_from(["1.0", "1.3"]), st.integers(0, 2**32))
def test_generated(program: Program, dialect: str, seed: int) -> None:
    check_some_gaps(to_text(program, dialect=dialect), seed)


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
        check_gaps(text, dict.fromkeys(between_operations(text), form))
    for gap in between_operations(text):
        check_gaps(text, {gap: " // %d\n"})
        check_gaps(text, {gap: " /* %d */\n"})


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
        check_gaps(LISTS, {gap: before, gap + 1: after})


# ---- whoever hands formatted text out


HAND_OUT = Comments._hand_out


def lose(self: Comments, before: Node | None, spans: list[Span], behind: Node | None) -> None:
    """Pass the comments by."""


def cut(self: Comments, before: Node | None, spans: list[Span], behind: Node | None) -> None:
    HAND_OUT(self, before, [Span(start, end - 1) for start, end in spans], behind)
    self.found = ["// kept"] * len(self.found)


def double(self: Comments, before: Node | None, spans: list[Span], behind: Node | None) -> None:
    HAND_OUT(self, before, [*spans, *spans], behind)
    self.found = self.found[: len(self.found) - len(spans)]


DRAFT = block(("plain", "plain")).replace("];", "]; // kept").replace("fp16 n", "_ n").replace("-> ()", "-> (n0)")


@pytest.mark.parametrize("fault", [cut, double, lose])
def test_a_fault_of_the_formatter_is_reported(fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    assert comments(infer_draft(DRAFT)) == ["// kept", "// kept"]
    text = infer_draft(DRAFT).replace("    ", "")
    monkeypatch.setattr(Comments, "_hand_out", fault)
    makers: list[Callable[..., str]] = [verified_format, infer_draft, *[format_text] * (fault is not lose)]
    for handed_out in makers:
        with pytest.raises(MiltextError, match=r"x.mil: error\[MIL900\]: a comment would be lost") as told:
            handed_out(DRAFT if handed_out is infer_draft else text, path="x.mil")
        assert not isinstance(told.value, ParseError)


@pytest.mark.parametrize("fault", [cut, double, lose])
def test_server_edits_nothing_where_formatter_has_a_fault(
    fault: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygls")
    from miltext.lsp.diagnosing import _inferred
    from miltext.lsp.formatting import _formatted

    text = infer_draft(DRAFT).replace("    ", "")
    assert comments(_inferred(DRAFT) or "") == comments(_formatted(text)) == ["// kept", "// kept"]
    monkeypatch.setattr(Comments, "_hand_out", fault)
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
