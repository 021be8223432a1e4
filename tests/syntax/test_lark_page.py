"""docs/lark.md: its examples run as they are, one after another, and Lark's tools read what miltext reads."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import lark
import pytest
from conftest import EXAMPLE, GOLDEN, ROOT
from lark.reconstruct import Reconstructor

import miltext

PAGE = (ROOT / "docs" / "lark.md").read_text(encoding="utf-8")
SECTION = re.compile(r"^## ([^\n]+)\n(?:(?!^## ).)*?^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
EXAMPLES = dict(SECTION.findall(PAGE))
"""The code under each heading."""

BEGINNING = re.search(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names after the page's first example."""
    folder = tmp_path_factory.mktemp("lark")
    shutil.copytree(EXAMPLE, folder / EXAMPLE.name)
    names: dict[str, Any] = {}
    assert BEGINNING is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(BEGINNING[1], names)
    return names


def after(begun: dict[str, Any], title: str) -> dict[str, Any]:
    names = dict(begun)
    exec(EXAMPLES[title], names)
    return names


def is_token(value: object) -> bool:
    return isinstance(value, lark.Token)


def test_every_section_is_tested() -> None:
    code = Path(__file__).read_text(encoding="utf-8")
    assert len(EXAMPLES) == len(re.findall(r"^```python$", PAGE, re.MULTILINE)) - 1 == 9
    assert [title for title in EXAMPLES if f'"{title}"' not in code] == []


def test_places(begun: dict[str, Any]) -> None:
    found = after(begun, "Find phrases and their places")["convolutions"]
    lines = begun["text"].splitlines()
    assert found
    assert all(f" {name} = conv(" in lines[line - 1] for line, name in found)
    assert len(found) == begun["text"].count("= conv(")


def test_visitor(begun: dict[str, Any]) -> None:
    types = after(begun, "Count with a Visitor")["operations"].types
    graph = miltext.Graph(miltext.parse(begun["text"]))
    assert types == {each: [op.type for op in graph.walk()].count(each) for each in types}
    assert types.total() == len([*graph.walk()])


def test_transformer(begun: dict[str, Any]) -> None:
    types = after(begun, "Collect values with a Transformer")["types"]
    main = miltext.Graph(miltext.parse(begun["text"])).functions["main"]
    pooled: Any = main.value("pooled_cast_fp16").type
    assert types["pooled_cast_fp16"] == f"fp16 {'x'.join(map(str, pooled.shape))}"
    assert {*types} >= {each.name for each in main.defined()}


def test_interpreter(begun: dict[str, Any]) -> None:
    lines = after(begun, "Walk from the outside in")["outline"].lines
    graph = miltext.Graph(miltext.parse(begun["text"]))
    assert lines == ["main:", *(f"  {op.type}" for op in graph.walk())]


def test_edit(begun: dict[str, Any]) -> None:
    edited = after(begun, "Edit the text")["silu"]
    assert edited == begun["text"].replace("= relu(", "= silu(") != begun["text"]


def test_reconstructor(begun: dict[str, Any]) -> None:
    written = after(begun, "Write a tree as text")["written"]
    assert written.rstrip() == begun["text"].rstrip()


def test_templates(begun: dict[str, Any]) -> None:
    names = after(begun, "Match and replace templates")
    (found,) = names["found"]
    assert {name: [*tree.scan_values(is_token)] for name, tree in found.items()} == {"x": ["x"], "y": ["fp16", "y"]}
    operation = next(names["swapped"].find_data("operation"))
    assert [*operation.scan_values(is_token)] == ["fp16", "y", "=", "tanh", "(", "x", "=", "x", ")", ";"]


def test_interactive_parser(begun: dict[str, Any]) -> None:
    names = after(begun, "Acceptable next tokens")
    assert names["expected"] == {"LPAR"}
    assert begun["parser"].get_terminal("LPAR").pattern.value == "("


def test_earley(begun: dict[str, Any]) -> None:
    names = after(begun, "Use Earley")
    text = 'fp16 y = relu(x = x)[name = string("y")];'
    assert names["operation"] == begun["parser"].parse(text, start="operation")


# ---- Lark reads what miltext reads

TEXTS = [path for path in sorted(GOLDEN.glob("print/*.mil")) if path.stat().st_size < 3000]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_reconstructed_text_is_the_same_program(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    parser = miltext.lark_parser(maybe_placeholders=False)
    assert miltext.parse(Reconstructor(parser).reconstruct(parser.parse(text))) == miltext.parse(text)


@pytest.mark.parametrize("path", [path for path in TEXTS if path.stat().st_size < 1200], ids=lambda path: path.stem)
def test_earley_and_lalr_make_one_tree(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert miltext.lark_parser(parser="earley").parse(text) == miltext.lark_parser().parse(text)


def test_a_tree_has_all_tokens() -> None:
    text = TEXTS[0].read_text(encoding="utf-8")
    tokens = [*miltext.lark_parser().parse(text).scan_values(is_token)]
    gaps = [text[left.end_pos : right.start_pos] for left, right in pairwise(tokens)]
    assert {re.sub(r"//[^\n]*|/\*.*?\*/|\s", "", gap, flags=re.DOTALL) for gap in gaps} == {""}


def test_terminals_can_be_edited() -> None:
    seen = []
    parser = miltext.lark_parser(edit_terminals=lambda terminal: seen.append(terminal.name))
    assert "NAME" in seen
    with pytest.raises(lark.UnexpectedInput) as refused:
        parser.parse("program(1.3) { functional }")
    assert (refused.value.line, refused.value.column) == (1, 16)
