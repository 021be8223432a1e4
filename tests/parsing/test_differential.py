"""Two parsers, one language: Lark's own on `mil.lark`, and miltext's loop on the table that Lark builds from it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import CORPUS, GOLDEN, corpus_files
from hypothesis import given
from hypothesis import strategies as st
from lark import UnexpectedInput
from support import realistic
from support.strategies import any_programs

from miltext import ParseError, parse, to_text
from miltext.parsing.lowering import Lowering, LoweringError
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program
from miltext.syntax.lexer import FINE, STATEMENTS
from miltext.syntax.parser import Parser, SyntaxFailure
from miltext.syntax.tables import lark_parser
from miltext.syntax.tree import Node, Statement

LARK = lark_parser(transformer=Lowering())
FAST = Parser(Lowering())
SLOW = Parser(Lowering(), FINE)


def by_lark(text: str) -> bytes | None:
    """The wire bytes that Lark's parser makes of a text; None if it refuses it."""
    try:
        return LARK.parse(text, start="program")  # type: ignore[return-value]
    except (UnexpectedInput, LoweringError):
        return None


def by_loop(driver: Parser, text: str) -> bytes | None:
    try:
        return driver.run(text)[0]  # type: ignore[no-any-return]
    except (SyntaxFailure, LoweringError):
        return None


def check(text: str) -> bool:
    """All three ways agree; and `parse` too, with one diagnostic whose span is in the text if they refuse."""
    wire = by_lark(text)
    assert by_loop(FAST, text) == wire
    assert by_loop(SLOW, text) == wire
    if wire is not None:
        assert parse(text).SerializeToString() == Program.FromString(wire).SerializeToString()
        assert parse_tree(text).root.end <= len(text)
        return True
    with pytest.raises(ParseError) as refused:
        parse(text)
    (finding,) = refused.value.diagnostics
    assert finding.span is not None
    assert 0 <= finding.span.start <= finding.span.end <= len(text)
    assert finding.message in str(refused.value)
    return False


@pytest.mark.parametrize("path", corpus_files("*/*.mil", "*/*/*.mil"))
def test_corpus(path: Path) -> None:
    refused = path.parent.name == "rejected" or "ctx__" in path.name
    assert check(path.read_text(encoding="utf-8")) is not refused


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("print/*.mil")), ids=lambda path: path.name)
def test_golden(path: Path) -> None:
    assert check(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("errors/*.mil")), ids=lambda path: path.name)
def test_golden_of_an_error(path: Path) -> None:
    assert not check(path.read_bytes().decode())


@given(st.one_of(any_programs, realistic.programs()), st.sampled_from(["1.0", "1.3"]))
def test_generated(program: Any, dialect: str) -> None:
    assert check(to_text(program, dialect=dialect))


def test_plain_operations_are_read_as_one_token() -> None:
    text = "program(1.3) { func f(fp16 x) { fp16 y = relu(x = x); fp16 z = relu(x = fp16(1)); } -> (x); }"
    block = parse_tree(text, whole=True).root.children[5].children[3].children[0]
    assert [type(child) for child in block.children if child.name == "operation"] == [Statement, Node]


class Counting(Lowering):
    """A lowering that counts what it was given as one token."""

    plain = 0

    def plain_operation(self, children: Any) -> bytes:
        self.plain += 1
        return super().plain_operation(children)


def test_a_parse_takes_the_fast_path() -> None:
    text = "program(1.3) { func f(fp16 x) { fp16 y = relu(x = x); fp16 z = relu(x = fp16(1)); } -> (x); }"
    for coarse, expected in ((STATEMENTS, 1), (FINE, 0)):
        lowering = Counting()
        assert Parser(lowering, coarse).run(text)[0] == FAST.run(text)[0]
        assert lowering.plain == expected


# ---- a tree whose operations are read when they are asked for


def told(node: Node) -> tuple[Any, ...]:
    return node.name, node.span, node.token, [told(child) for child in node.children]


@pytest.mark.parametrize(
    "path", [*sorted(GOLDEN.glob("print/*.mil")), *corpus_files("apple/*.mil", "handwritten/*.mil")], ids=str
)
def test_a_tree_is_the_same_whether_operations_are_read_at_once_or_when_asked_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lazy, whole = parse_tree(text, whole=True), parse_tree(text)
    assert told(lazy.root) == told(whole.root)
    assert lazy.comments == whole.comments


# ---- operations that the fast path reads as one token, or hardly does not

PLAIN_ATTRIBUTES = """
    [name=string("a(b)c[d];e=f,g")] [name=string("BLOBFILE(path=string(\\"w\\"))")] [name=string("\\u{1f600}\\\\")]
    [name=tensor<string,[]>("é")] [name=string("")] [name=tensor<string,[1]>("x")] [name=tensor<string,[1]>(["x"])]
    [val=tensor<fp16,[2]>(BLOBFILE(path=string("a(b);c"),offset=uint64(64)))] [bool=int32(1)] [val=bool(true)]
    [val=fp16(BLOBFILE(path=string("a)b"),offset=uint64(18446744073709551615)))] [val=int32(1),val=int32(2)]
    [val=fp16(BLOBFILE(path=int32(1),offset=uint64(64)))] [val=fp16(BLOBFILE(path=string("a"),offset=uint64("6")))]
    [val=fp16(BLOBFILE(path=string("a"),offset=int32(64)))] [val=tensor<fp61,[]>(1)]
    [val=tensor<int32,[2,1]>([[1],[2]])] [val=tensor<int32,[?]>([])] [val=int8(300)] [val=fp16($0x7c01)]
    [val=fp32(inf)] [val=string(1)] [val=int32("1")]
    [] [name=string("x"),val=int32(1),z=string("y")]
""".split()


@pytest.mark.parametrize("attributes", ["", *PLAIN_ATTRIBUTES, f'[name=string("{"n" * 200}")]'])
@pytest.mark.parametrize(
    "inputs", ["", "x=x", "x=x,y=x", "x=x,x=x", "bool=x", "x=true", "x=x\n,\ty =x", f"x={'n' * 200}"]
)
def test_plain_operation(attributes: str, inputs: str) -> None:
    for result in "fp16 y", "tensor<fp16,[1,?]>  y", "fp16 true", f"string {'n' * 200}", "tensor<fp61,[]> y":
        check(f"program(1.3) {{ func f(fp16 x) {{ {result} = relu({inputs}){attributes}; }} -> (x); }}")


# ---- texts that were tampered with

TOKEN = re.compile(r'\$?"[^"\n]*"|//.*|\s+|\$?[-+.\w@]+|.', re.ASCII)
ODD_TOKENS = """
    $absent $empty $unset $tensor $none $variadic $list $tuple $dictionary $value( $ints([1]) $bytes("00") $doc("x")
    $block<ios18> $[ $rank(2) $version(2) $"x" $"bool" $99 $10 $ $x [ ] { } ( ) < > , ; = -> ? : nan -nan inf -inf
    0x1p+0 0x1 0x $0x7fc00001 $0x7c01 -0.0 1e400 1e-400 99999999999999999999 -1 +1 01 1. .5 . - [] [[]] [1,] [1],[2] ()
    {{}} {} {{1,2}} // /* */ path offset shape true false _ tensor tensor<fp16,[1]> tensor<fp16,[]> tensor<fp99,[1]>
    fp16 list<int32,2> dict<int32,int32> tuple<> int32(1) int32([1]) int32(x) string("a") string(1) bool(1)
    BLOBFILE(path=string("w"),offset=uint64(64)) BLOBFILE(offset=uint64(64),path=string("w")) fp16(BLOBFILE)
    '"' ' # @ \\ \0 \x0c \xa0 é
    program func ios18 CoreML8 <ios17> (x=x) (x=x,x=x) [a=int32(1)] [a=int32(1),a=int32(2)] [a=fp16(BLOBFILE)]
""".split()


@cache
def short_texts() -> list[str]:
    paths = [*GOLDEN.glob("print/*.mil"), *CORPUS.glob("*/*.mil")]
    texts = [path.read_text(encoding="utf-8") for path in sorted(paths)]
    return [text for text in texts if len(text) < 6000]


@st.composite
def tampered(draw: st.DrawFn, text: str) -> str:
    """A text with a few of its tokens dropped, doubled, swapped, replaced or broken."""
    tokens = TOKEN.findall(text)
    for _ in range(draw(st.integers(1, 3))):
        place = st.integers(0, len(tokens) - 1)
        index, other = draw(place), draw(place)
        edit = draw(st.sampled_from(["drop", "double", "swap", "move", "replace", "insert", "break"]))
        if edit == "drop" and len(tokens) > 1:
            del tokens[index]
        elif edit == "double":
            tokens.insert(index, tokens[index])
        elif edit == "swap":
            tokens[index], tokens[other] = tokens[other], tokens[index]
        elif edit == "move":
            tokens.insert(index, tokens[other])
        elif edit == "replace":
            tokens[index] = draw(st.sampled_from(ODD_TOKENS))
        elif edit == "insert":
            tokens.insert(index, draw(st.sampled_from(ODD_TOKENS)))
        else:
            cut = draw(st.integers(0, len(tokens[index])))
            inside = draw(st.sampled_from(list('"[]() $x1\\\n-/*.e@\0,')))
            tokens[index] = tokens[index][:cut] + inside + tokens[index][cut:]
    return "".join(tokens)


@given(st.data())
def test_tampered(data: st.DataObject) -> None:
    check(data.draw(tampered(data.draw(st.sampled_from(short_texts())))))


@given(st.data())
def test_tampered_oddities(data: st.DataObject) -> None:
    check(data.draw(tampered(to_text(data.draw(any_programs)))))


# ---- drafts, which only trees can hold

TREES = lark_parser()

ROWS = [
    "([1], [2])",
    "([[1], [2]], [[3]])",
    "(f([1]), (x, [2]), k = [[1]], l = g(x)[v = [1, 2]])",
    '("[", [-1], $unset)',
]


def leaves(node: Any) -> list[str]:
    """The tokens of a tree."""
    if not getattr(node, "children", None):
        return [str(getattr(node, "token", node))]
    return [token for child in node.children if child is not None for token in leaves(child)]


def branches(node: Any) -> Any:
    """A tree of Lark's or of ours: its rules, its tokens, the text of whole operations and of tensor types."""
    if isinstance(node, Statement) or getattr(node, "data", None) == "plain_operation":
        return "".join((node.text if isinstance(node, Statement) else str(node.children[0])).split())
    if getattr(node, "data", getattr(node, "name", "")) in ("plain_tensor", "tensor_type"):
        return "".join(leaves(node)).replace(" ", "")
    if isinstance(node, Node):
        return str(node.token) if node.token is not None else (node.name, [*map(branches, node.children)])
    if hasattr(node, "children"):
        return (str(node.data), [branches(child) for child in node.children if child is not None])
    return str(node)


@pytest.mark.parametrize("arguments", ROWS)
def test_a_short_draft(arguments: str) -> None:
    text = (
        f"program(1.3) {{ func f<ios18>(_ x, z) {{ _ y, w = op{arguments}[a = [1]]; c = const()[val = 1]; }} -> (y); }}"
    )
    assert branches(TREES.parse(text)) == branches(parse_tree(text, whole=True).root)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("short/*.mil")), ids=lambda path: path.name)
def test_golden_of_a_short_draft(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert branches(TREES.parse(text)) == branches(parse_tree(text, whole=True).root)
    assert not check(text)
