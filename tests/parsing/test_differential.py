"""Two parsers, one language: Lark's own on the grammar, and miltext's loop on the table that Lark builds from it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import CORPUS, GOLDEN, corpus_files, dear
from hypothesis import given
from hypothesis import strategies as st
from support import realistic
from support.laws.reading import FAST, check_reading
from support.strategies import any_programs
from support.tampering import tampered

from miltext import to_text
from miltext.parsing.lowering import Lowering
from miltext.parsing.parser import parse_tree
from miltext.schema.proto import Program
from miltext.syntax.lexer import FINE, STATEMENTS
from miltext.syntax.parser import Parser
from miltext.syntax.tables import fast_lark_parser
from miltext.syntax.tree import Node, Statement


@pytest.mark.parametrize("path", corpus_files("*/*.mil", "*/*/*.mil"))
def test_corpus(path: Path) -> None:
    refused = path.parent.name == "rejected" or "ctx__" in path.name
    assert check_reading(path.read_text(encoding="utf-8")) is not refused


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("print/*.mil")), ids=lambda path: path.name)
def test_golden(path: Path) -> None:
    assert check_reading(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("errors/*.mil")), ids=lambda path: path.name)
def test_golden_of_an_error(path: Path) -> None:
    assert not check_reading(path.read_bytes().decode())


@dear
@given(st.one_of(any_programs, realistic.programs()), st.sampled_from(["1.0", "1.3"]))
def test_generated(program: Any, dialect: str) -> None:
    assert check_reading(to_text(program, dialect=dialect))


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
def test_lazy_and_eager_trees_are_equal(path: Path) -> None:
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
        check_reading(f"program(1.3) {{ func f(fp16 x) {{ {result} = relu({inputs}){attributes}; }} -> (x); }}")


# ---- texts that were tampered with


@cache
def short_texts() -> list[str]:
    paths = [*GOLDEN.glob("print/*.mil"), *CORPUS.glob("*/*.mil")]
    texts = [path.read_text(encoding="utf-8") for path in sorted(paths)]
    return [text for text in texts if len(text) < 6000]


@given(st.data(), st.randoms(use_true_random=False))
def test_tampered(data: st.DataObject, random: Random) -> None:
    check_reading(tampered(random, data.draw(st.sampled_from(short_texts()))))


@dear
@given(any_programs, st.randoms(use_true_random=False))
def test_tampered_oddities(program: Program, random: Random) -> None:
    check_reading(tampered(random, to_text(program)))


# ---- drafts, which only trees can hold

TREES = fast_lark_parser()

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
    assert not check_reading(text)
