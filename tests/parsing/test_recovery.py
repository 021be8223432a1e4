"""Parsing on past mistakes: what is told, what is kept, and that nothing is told that is none."""

from __future__ import annotations

import re
import tracemalloc
from pathlib import Path
from random import Random

import pytest
from conftest import GOLDEN, corpus_files
from hypothesis import given
from hypothesis import strategies as st

import miltext
from miltext.checking.verifier import examine
from miltext.diagnostics import Diagnostic, line_and_column, render
from miltext.parsing import recovery
from miltext.parsing.recovery import recover, tree_past
from miltext.parsing.syntax_errors import syntax_error
from miltext.schema.walk import operations
from miltext.syntax.names import RESERVED, opset_of, opset_text
from miltext.syntax.parser import SyntaxFailure
from miltext.syntax.tree import Folded, Node, walk

TEXT = """program(1.3)
[buildInfo = dict<string, string>({{"a", "b"}, {"c", "d"}})]
{
    func main<ios18>(tensor<fp16, [2, 3]> x, bool p) {
            tensor<fp16, [2, 3]> a = relu(x = x)[name = string("a")];
            tensor<fp16, [2, 3]> b = cond(pred = p)
                () {
                    tensor<fp16, [2, 3]> c = tanh(x = a);
                    tensor<fp16, [2, 3]> d = sin(x = c);
                } -> (d)
                () {
                    tensor<fp16, [2, 3]> e = cos(x = a);
                } -> (e);
            tensor<fp16, [2, 3]> y = mul(x = a, y = b);
        } -> (y);
    func other<ios17>(tensor<fp16, [4]> x) [note = dict<string, string>({{"k", "v"}})] {
            tensor<fp16, [4]> y = relu(x = x);
        } -> (y);
}
"""


def told(text: str) -> list[str]:
    """`LINE CODE` of each finding."""
    return [f"{line_and_column(text, found.span.start)[0]} {found.code}" for found in miltext.check(text) if found.span]


def changed(*changes: tuple[str, str]) -> str:
    text = TEXT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("word", sorted(RESERVED))
@pytest.mark.parametrize(
    "text",
    [
        """func main<ios18>(tensor<fp16, [2]> WORD) {
        tensor<fp16, [2]> y = relu(x = WORD)[name = string("y")];
        tensor<fp16, [2]> z = add(x = y, y = WORD);} -> (z);""",
        """func main<ios18>(tensor<fp16, [2]> x) { tensor<fp16, [2]> WORD = relu(x = x);
        tensor<fp16, [4]> z = concat(axis = int32(0), interleave = bool(false), values = (x, WORD)); } -> (WORD, z);""",
        """func main<ios18>(bool p, tensor<fp16, [2]> x) { tensor<fp16, [2]> y = cond(pred = p)
        () { tensor<fp16, [2]> WORD = relu(x = x); } -> (WORD) () { } -> (x); } -> (y);""",
    ],
    ids=["input", "output", "nested"],
)
def test_a_reserved_word_is_reported_once_where_it_is_defined(text: str, word: str) -> None:
    found = miltext.check(f"program(1.3){{ {text.replace('WORD', word)} }}")
    errors = [(diagnostic.code, diagnostic.span) for diagnostic in found if diagnostic.severity == "error"]
    start = f"program(1.3){{ {text}".index("WORD")
    assert errors == [("MIL102", (start, start + len(word)))]


def test_the_text_itself_is_fine() -> None:
    assert told(TEXT) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # in an operation: the rest of it is skipped
        ([("sin(x = c)", "sin(x = )")], ["9 MIL010"]),
        ([("sin(x = c);", "sin(x = c;")], ["9 MIL010"]),
        ([("sin(x = c);", "sin(x = c)")], ["9 MIL010"]),
        ([("relu(x = x)[name", "relu(x = x)] [name")], ["5 MIL010"]),
        ([('string("a")]', 'string("a)]')], ["5 MIL004"]),
        ([("sin(x = c);", "sin(x = c);;")], ["9 MIL025"]),
        ([("tensor<fp16, [2, 3]> d = ", "tensor<fp16 [2, 3]> d = ")], ["9 MIL010"]),
        ([("tensor<fp16, [2, 3]> d = ", "tensor fp16, [2, 3]> d = ")], ["9 MIL010"]),
        ([("= sin(x", "= $sin(x")], ["9 MIL003"]),
        ([("sin(x = c)", "sin(x = dict<string, string>({{1, 2))")], ["9 MIL010"]),
        # in its blocks' heads and ends
        ([("(pred = p)\n                () {", "(pred = p)\n                ( {")], ["7 MIL010"]),
        ([("-> (d)", "(d)")], ["10 MIL010"]),
        ([("-> (d)", "->")], ["11 MIL010"]),
        ([("} -> (d)\n", "}\n")], ["11 MIL010"]),
        ([("} -> (d)\n                () {", "} () {")], ["10 MIL010"]),
        ([("} -> (d)\n", "}\n"), ("} -> (e);", "};")], ["11 MIL010", "13 MIL010"]),
        ([("-> (e);", "-> (e)")], ["13 MIL010"]),
        ([("} -> (e);", "-> (e);")], ["13 MIL010"]),
        ([("(pred = p)\n                () {", "(pred = p)\n                ()")], ["8 MIL010"]),
        ([("-> (d)\n                () {", "-> (d)\n                ()")], ["12 MIL010"]),
        # in functions' heads and ends
        ([("func other<ios17>(", "func other<ios17} -> (y);(")], ["16 MIL010"]),
        ([("[2, 3]> x, bool p) {", "[2, 3]} -> (y); x, bool p) {")], ["4 MIL010"]),
        ([("bool p) {", "bool p) } {")], ["4 MIL010"]),
        ([("func main<ios18>(", "func main<ios18(")], ["4 MIL104"]),
        ([("func other<ios17>(tensor", "func other<ios17>(tensr")], ["16 MIL104"]),
        ([("func other", "fnc other")], ["16 MIL010"]),
        ([("bool p) {", "bool p {")], ["4 MIL010"]),
        ([("bool p) {", "bool p)")], ["5 MIL010"]),
        ([("[note = ", "[= ")], ["16 MIL010"]),
        ([("} -> (y);\n    func", "-> (y);\n    func")], ["15 MIL010"]),
        ([("        } -> (y);\n    func", "    func")], ["15 MIL104"]),
        ([("} -> (y);\n    func", "};\n    func")], ["15 MIL010"]),
        ([("} -> (y);\n    func", "} -> (y)\n    func")], ["15 MIL010"]),
        ([("} -> (y);\n    func", "}} -> (y);\n    func")], ["15 MIL010"]),
        ([("} -> (y);\n    func", "} -> { } -> (y);\n    func")], ["15 MIL010"]),
        # round the program
        ([("program(1.3)", "program 1.3")], ["1 MIL010"]),
        ([("program(1.3)\n", "")], ["1 MIL010"]),
        ([("[buildInfo = ", "[buildInfo ")], ["2 MIL010"]),
        ([('({{"a", "b"}', '({{"a" "b"}')], ["2 MIL010"]),
        ([("})]\n{", "})]\n")], ["4 MIL010"]),
        # refused by the lowering: the rest of the operation is still read
        ([("sin(x = c)", "sin(x = fp16(1e9), y = int8(300), z = z)")], ["9 MIL020", "9 MIL020"]),
        ([("sin(x = c)", "sin<ios17>(x = c)")], ["9 MIL109"]),
        ([("fp16, [2, 3]> d =", "fp16, [2, 3]> bool =")], ["9 MIL102", "10 MIL604"]),
        ([("bool p", "bool tensor")], ["4 MIL102", "6 MIL604"]),
        ([("program(1.3)", "program(1.9)")], ["1 MIL101"]),
        # many at once, and what is meant is found beside them
        (
            [
                ("sin(x = c)", "sin(x = )"),
                ("cos(x = a)", "cos(x = q)"),
                ("mul(x = a, y = b)", "mul(x = a, z = b)"),
                ("other", "1"),
            ],
            ["9 MIL010", "12 MIL604", "14 MIL504", "16 MIL010"],
        ),
    ],
)
def test_a_mistake_is_reported_once_and_the_rest_is_read(changes: list[tuple[str, str]], expected: list[str]) -> None:
    text = changed(*changes)
    assert told(text) == expected
    wrong = text.replace("relu(x = x);\n        } -> (y);\n}", "relu(x = nobody);\n        } -> (y);\n}")
    assert f"{wrong[: wrong.index('nobody')].count(chr(10)) + 1} MIL604" in told(wrong)


def test_skipped_parts_are_not_reported_again() -> None:
    """The next operation begins where it ends, and its own mistakes are told."""
    passed_over = "tensor<fp16, [1//, 8]> a = relu(x = x);"
    assert told(changed(('tensor<fp16, [2, 3]> a = relu(x = x)[name = string("a")];', passed_over))) == ["6 MIL010"]
    later = "tensor<fp16, [2, 3]> z = relu(x = );\ntensor<fp16, [2, 3]> b = cond(pred = nobody)"
    assert told(changed(("tensor<fp16, [2, 3]> b = cond(pred = p)", later))) == ["6 MIL010", "7 MIL604"]


def test_an_operation_that_strayed_before_program_is_passed_over() -> None:
    text = changed(("{\n    func main", "            bool z = const()[val = bool(true)];\n{\n    func main"))
    assert told(text) == ["3 MIL010"]


def test_nothing_is_reported_to_come_after_a_missing_part() -> None:
    text = "program(1.3)\n            tensor<fp16, [1, 8]> a = relu(x = x);\n        } -> (a);\n}}\n"
    assert all("``" not in found.message for found in miltext.check(text))


def test_the_first_of_two_functions_of_one_name_is_checked() -> None:
    assert told(changed(("func other", "func main"), ("cos(x = a)", "cos(x = q)"))) == ["12 MIL604", "16 MIL103"]
    text = changed(
        ("func other<ios17>(tensor", "func main<ios18>(bool q, tensor"), ("e = cos(x = a)", "x = cos(x = a)")
    )
    [hiding, *_] = miltext.check(text)
    assert hiding.code == "MIL603"
    assert [line_and_column(text, note.span.start) for note in hiding.notes if note.span] == [(4, 43)]


BLOCK = "        $block<OPSET> {\n            fp16 z = tanh(x = p);\n        } -> (z)"
DUPLICATES = {
    "a block": (["ios18"], ["ios18"], "block named `ios18`"),
    "two blocks": (["ios18", "ios18"], ["ios18"], "block named `ios18`"),
    "a later block": (["ios17", "ios17", "ios16"], ["ios16", "ios17", "ios18"], "block named `ios17`"),
    "the opset's other name": (["ios19", "ios26"], ["ios18", "ios19"], "block named `ios26`"),
}


@pytest.mark.parametrize(("opsets", "kept", "word"), DUPLICATES.values(), ids=DUPLICATES)
def test_the_first_of_two_blocks_of_one_opset_is_read(opsets: list[str], kept: list[str], word: str) -> None:
    blocks = "".join(f"\n{BLOCK.replace('OPSET', each)}" for each in opsets)
    text = changed(("(y);\n    func", f"(y){blocks};\n    func"), ("cos(x = a)", "cos(x = nowhere)"))
    read = recover(text)
    assert read.program is not None
    function = read.program.functions["main"]
    assert {opset_text(each) for each in function.block_specializations} == set(kept)
    assert len(function.block_specializations[function.opset].operations) == 3
    [found] = read.diagnostics
    assert found.code == "MIL103"
    assert word in found.message
    [first] = found.notes
    assert found.span is not None
    assert first.span is not None
    assert first.span < found.span
    assert opset_of(text[slice(*first.span)]) == opset_of(text[slice(*found.span)])
    assert "nowhere" in " ".join(each.message for each in miltext.check(text))


def test_blocks_beside_none_are_read() -> None:
    text = changed(("bool p) {", "bool p) $none $block<ios18> {"))
    assert [each.code for each in recover(text).diagnostics] == ["MIL103"]
    program = recover(text).program
    assert program is not None
    assert len(program.functions["main"].block_specializations) == 1


def test_names_in_skipped_parts_stay_defined() -> None:
    text = changed(("a = relu(x = x)", "a = relu(x = "))
    read = recover(text)
    assert read.program is not None
    [dropped, *_] = read.program.functions["main"].block_specializations["CoreML8"].operations
    assert (dropped.type, [output.name for output in dropped.outputs]) == ("", ["a"])
    assert any(path[-1] == 0 for path in read.flawed)


BEGUN = [
    'tensor<fp16, [1, 2]> z = relu(x = x)[name = string("z"), val = tensor<int32, [2]>([1, 2])];',
    'int32 z = const()[val = int32(-1), names = list<string, 2>([string("a"), string("b")])];',
    "fp16 z = cond(p = bool(true), q = (x, y)) (fp16 i) { fp16 w = relu(x = i); } -> (w);",
    'dict<string, int32> z = const()[val = dict<string, int32>({{"a", 1}, {"b", 2}})];',
]
NEXT = "fp16 lost = relu(x = x);"
"""What comes after a break on the same line: it may be lost with it."""


@pytest.mark.parametrize("between", [" ", "            ", "\n", f" {NEXT}\n", f"\n{NEXT} // {{\n"])
@pytest.mark.parametrize("whole", BEGUN)
def test_an_operation_that_breaks_off_anywhere_loses_no_other(whole: str, between: str) -> None:
    around = "program(1.3) {{\nfunc main<ios18>(fp16 x) {{\nfp16 a = relu(x = x);\n{}\n"
    around += "".join(f"fp16 b{nth} = relu(x = x);\n" for nth in range(3)) + "}} -> (b2);\n}}\n"
    for end in range(len(whole)):
        text = around.format(whole[:end].replace("{", "{{").replace("}", "}}").format() + between + NEXT)
        read = recover(text)
        assert read.program is not None, text
        kept = {output.name for _, made in operations(read.program) for output in made.outputs}
        if whole[:end].count('"') % 2 == 0:
            assert {"a", "b1", "b2"} <= kept, text


def test_nothing_is_left_of_a_text_without_a_program() -> None:
    for text in ("", "func", "]]]]", "\0", "program(1.3", '"'):
        assert recover(text).program is None
        assert len(miltext.check(text, path="m.mil")) == 1


def test_the_written_part_of_an_unfinished_program_is_checked() -> None:
    end = TEXT.index("        } -> (y);\n    func")
    assert told(TEXT[:end].replace("tanh(x = a)", "tanh(x = q)")) == ["8 MIL604", "14 MIL005"]


def test_hundreds_of_mistakes_take_no_more_than_their_share() -> None:
    body = "".join(f"            tensor<fp16, [4]> v{at} = relu(x = );\n" for at in range(500))
    text = f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [4]> x) {{\n{body}        }} -> (x);\n}}\n"
    assert told(text) == [f"{at + 4} MIL010" for at in range(500)]


# ---- any text


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_0-9@.$-]+|\S')
JUNK = ["func main(", "program", "->", "/*", "0x", "$x", "tensor<", *';}{()@_="[],\0']
TEXTS = [TEXT, *[path.read_bytes().decode() for path in sorted((GOLDEN / "check").glob("*.mil"))]]


def damaged(text: str, random: Random) -> str:
    """A text with a token left out, doubled, or put in."""
    match = random.choice(list(TOKEN.finditer(text)) or [re.match("", text)])
    assert match is not None
    new = random.choice(["", match[0] * 2, f"{match[0]} {random.choice(JUNK)} ", f"{random.choice(JUNK)} {match[0]}"])
    return text[: match.start()] + new + text[match.end() :]


PARSE_REFUSES = ("MIL107", "MIL111", "MIL112", "MIL113")
"""Values that are left out or in files, and drafts: a check reads them, and may find something else around them."""


def stands_for(found: Diagnostic, said: Diagnostic, text: str) -> bool:
    """Whether a finding is the parser's complaint, or that a value is called `tensor`, say, just before it.

    After such a name any text fits badly, and one mistake is told once.
    """
    between = text[found.span.end : said.span.start] if found.span and said.span else None
    return found == said or (found.code == "MIL102" and between is not None and not between.strip())


def assert_told(text: str) -> None:
    """What is told of a text is in it, and the parser's complaint is among it."""
    found = examine(text).diagnostics
    for diagnostic in found:
        spans = [diagnostic.span, *[note.span for note in diagnostic.notes]]
        assert all(span is None or 0 <= span.start <= span.end <= len(text) for span in spans)
        assert render(diagnostic, text)
    try:
        miltext.parse(text)
    except miltext.ParseError as refused:
        [said] = refused.diagnostics
        assert found
        assert said.code in PARSE_REFUSES or any(stands_for(each, said, text) for each in found)
    else:
        assert not any(diagnostic.code[:4] in ("MIL0", "MIL1") for diagnostic in found)


@given(st.randoms(use_true_random=False), st.sampled_from(TEXTS), st.integers(1, 6))
def test_any_damage_is_reported_with_the_parsers_error(random: Random, text: str, times: int) -> None:
    for _ in range(times):
        text = damaged(text, random)
    assert_told(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("d = sin(x = c)", "tensor<  d = sin(x = c)"),
        ("d = sin(x = c)", "tensor /* a */\n ) = sin(x = c)"),
        ("d = sin(x = c)", "d = const( _ )[val = fp16(1)]"),
        ("d = sin(x = c);", 'd = const()[val = tensor<fp16, [2, 3]>($npy("w.npy"))]];'),
        ("bool p) {\n", 'bool p)\ntensor<fp16, [2]> w = const()[val = $blob("w.bin", 64)];\n'),
    ],
    ids=["misnamed", "misnamed further on", "a draft's phrase", "in a lost operation", "no brace of a draft"],
)
def test_findings_that_damage_once_hid_are_reported(old: str, new: str) -> None:
    assert_told(changed((old, new)))


def test_the_found_place_is_one_token_of_the_output() -> None:
    """And not all of the operation, nor its long spelling."""
    for written in ("w = relu(x = x)", 'w = const()[val = $blob("w.bin", 64)]'):
        [said] = [
            each
            for each in miltext.check(changed(("bool p) {\n", f"bool p)\nint32 {written};\n")))
            if each.code == "MIL010"
        ]
        assert said.message == "expected `[` or `{` after `)`, found `int32`"


@pytest.mark.parametrize("path", corpus_files("apple/*.mil"))
def test_a_damaged_token_is_hardly_ever_reported_more_than_twice(path: Path) -> None:
    text = path.read_bytes().decode()
    if len(text) > 40_000:
        pytest.skip("long texts take long")
    random = Random(path.name)
    counts = []
    for _ in range(12):
        wrong = damaged(text, random)
        counts.append(len(miltext.check(wrong)) if wrong != text else 0)
    assert sum(count > 2 for count in counts) <= 2, counts


def test_a_mistake_is_judged_by_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of thousands of operations before it, only the last are looked at: time grows with the text, not its square."""
    seen: list[int] = []

    def counted(text: str, failure: SyntaxFailure, nodes: list[Node]) -> Diagnostic:
        seen.append(len(nodes))
        return syntax_error(text, failure, nodes)

    monkeypatch.setattr(recovery, "syntax_error", counted)
    lines = "".join(f"fp16 y{n} == relu(x = x);\nfp16 z{n} = relu(x = x);\n" for n in range(500))
    read = recovery.recover(f"program(1.3) {{ func f<ios18>(fp16 x) {{\n{lines}}} -> (x); }}")
    assert len(read.diagnostics) == len(seen) == 500
    assert max(seen) == seen[-1] == seen[100]


@pytest.mark.parametrize(
    "text",
    [
        "func main<ios18>(fp16 x) {\n} -> (x);\n",
        "    func main<ios18>(fp16 x) {\n        fp16 y = relu(x = x);\n    } -> (y);\n",
        "program(1.3)\n{\n    func main<ios18>() {\n        } - -> ()\n        $block<ios17> {\n        } -> ();\n}\n",
    ],
)
def test_inserted_parts_are_not_reported(text: str) -> None:
    """A bracket that recovery puts in is not missed at the end, and a block after a broken end is read."""
    assert [found.code for found in miltext.check(text)] == ["MIL010"]


# ---- what is kept of an operation that does not parse

LOST = [
    "TYPE y = relu(x);",
    "TYPE y = relu(x = );",
    "TYPE y = relu(x = x)[name = string(1 2)];",
    "TYPE y relu(x = x);",
    "TYPE y, TYPE z = split(x = x;",
    "fp16 w, TYPE y = split(x = );",
    "TYPE y = cond(pred = ) () { } -> (x) () { } -> (x);",
    "tensor<fp16,\n[2, 3]> y = relu<(x = x);",
    "TYPE y = x + x;",
    "TYPE y = relu(x = [1, 2 3]) [val = int32(1 2)];",
]
"""Operations that do not parse, whose output `y` is read."""

NAMED = [
    "tensor<fp16, (2, 3)> y = relu(x = x);",
    "tensor<2x3xfp16> y = relu(x = x);",
    "tensr<fp16, [2, 3]> y = relu(x = x);",
    "let y = relu(x = x);",
    "y: TYPE = relu(x = x);",
    "_ y = relu(x);",
    "_ w, _ y = split(x);",
    "(y, z) = split(x = x);",
]
"""Operations of whose output `y` only the name is known."""


def after_lost(written: str, used: str) -> list[str]:
    """The codes of a text whose first operation is lost, and whose second uses `y`."""
    lost = written.replace("TYPE", "tensor<fp16, [2, 3]>")
    text = f"program(1.3) {{ func main<ios18>(tensor<fp16, [2, 3]> x) {{\n{lost}\n{used}\n}} -> (z); }}"
    return [found.code for found in miltext.check(text) if found.code != "MIL712" and found.span]


@pytest.mark.parametrize("written", LOST)
def test_the_type_of_a_lost_operation_is_compared_with_its_uses(written: str) -> None:
    lost, *others = after_lost(written, "tensor<fp16, [2, 3]> z = relu(x = y);".replace(" z", " v"))
    assert set(others) <= {"MIL604", lost, "MIL010"}
    assert after_lost(written, "tensor<fp16, [9]> v = relu(x = y);").count("MIL701") == 1
    assert after_lost(written, "tensor<bool, [2, 3]> v = logical_not(x = y);").count("MIL505") == 1


@pytest.mark.parametrize("written", [*LOST, *NAMED])
def test_the_name_of_a_lost_operation_is_defined(written: str) -> None:
    """A text that uses `y` has no more findings than its first line, except that `z` is missing where it should be."""
    found = after_lost(written, "tensor<fp16, [2, 3]> v = relu(x = y);\ntensor<fp16, [2, 3]> z2 = relu(x = v);")
    assert found.count("MIL604") == ("z" not in re.findall(r"\bz\b", written))
    assert "MIL701" not in found
    assert "MIL711" not in found


# ---- what reading takes


def short_draft(count: int) -> str:
    lines = "".join(f'    h{at} = mul(silu(add(x, h{at - 1})), 0.5)[name = "h{at}"];\n' for at in range(1, count))
    inputs = "tensor<fp16, [8]> x, tensor<fp16, [8]> h0"
    return f"program(1.3)\n{{\n  func main<ios18>({inputs}) {{\n{lines}  }} -> (h0);\n}}\n"


def most_memory(text: str, *, keep: bool) -> float:
    """The most bytes that reading a text takes at once, for each character of it."""
    recover(short_draft(2))
    tracemalloc.start()
    read = recover(text, keep=keep)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.diagnostics == []
    assert (read.written_root is not None) == keep
    return most / len(text)


@pytest.mark.any_version
def test_trees_of_a_draft_are_not_in_memory_at_once() -> None:
    text = short_draft(300)
    assert most_memory(text, keep=False) < 430
    assert most_memory(text, keep=False) < 0.85 * most_memory(text, keep=True)


INNER = """program(1.3) $draft(names) {
  func main<ios18>(tensor<fp16, [8]> x, bool c) {
    _ y = cond(pred = c)
    () {
      a = relu(x = x);
    } -> (a)
    () {
      _ b = mul(x, 2.0)[name = "b"];
    } -> (b);
    fp16 z = const()[val = fp16(1)]; // kept
  } -> (y, z);
}
"""


@pytest.mark.parametrize("text", [short_draft(20), INNER, INNER.replace("2.0", "x")], ids=["calls", "blocks", "names"])
def test_operations_of_a_draft_are_read_again_as_they_were(text: str) -> None:
    read = recover(text)
    assert read.diagnostics == []
    assert read.root is not None
    assert any(isinstance(each, Folded) for each in walk(read.root))
    whole = tree_past(read.text)
    assert whole is not None
    found, expected = ([(each[:3], *each[4:]) for each in walk(root)] for root in (read.root, whole))
    assert found == expected


@pytest.mark.parametrize("wrong", ["nope", "z"])
@pytest.mark.parametrize("block", ["a", "b"])
def test_a_finding_in_a_block_of_a_draft_has_its_place(block: str, wrong: str) -> None:
    """A plain operation in a block was read again without its place in the text."""
    plain = f"tensor<fp16, [8]> {block} = relu(x = {wrong});"
    text = INNER.replace("a = relu(x = x);" if block == "a" else '_ b = mul(x, 2.0)[name = "b"];', plain)
    text = text.replace("    _ y", "    q = relu(relu(x));\n    _ y")
    [span] = [each.span for each in miltext.check(text) if each.severity == "error"]
    assert span is not None
    assert span.start == text.index(plain) + plain.index(wrong)
    assert text[slice(*span)] == wrong


def test_plain_operations_in_a_block_are_read_again_as_they_were() -> None:
    plain = INNER.replace("a = relu(x = x);", "tensor<fp16, [8]> a = relu(x = x); fp16 k = relu(x = a);")
    read = recover(plain.replace("    _ y", "    q = relu(relu(x));\n    _ y"))
    whole = tree_past(read.text)
    assert read.root is not None
    assert whole is not None
    assert [each.span for each in walk(read.root)] == [each.span for each in walk(whole)]
