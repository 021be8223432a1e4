"""The outline of the HTML page: the scopes of `print --outline`, with links to lines and to nodes of the graph."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from conftest import GOLDEN, ROOT, corpus_files
from printing.test_graph import LOOP, chain, function, layered
from printing.test_html_page import TEXT, Shown
from printing.test_outline import LAYER

import miltext
from miltext.diagnostics import ModelError
from miltext.generation.programs import generate
from miltext.printing.graph import nodes
from miltext.printing.html_page import page
from miltext.printing.reading import TextReader
from miltext.schema.proto import Program
from miltext.scopes.families import TIMES
from miltext.scopes.html_outline import outline_html
from miltext.scopes.outline import OutlineScope, outline_of_nodes, outline_of_program

LINK = re.compile(r'<a href="#L(\d+)" data-node="(\d+)">(.*?)</a>')


def numbered_layers(count: int) -> str:
    """A text of equal layers, each operation in its own line."""
    lines, last = "", "x"
    for name in (f"layers_{number}" for number in range(count)):
        lines += LAYER.format(name, last).replace("            ", "tensor<fp16, [2]> ")
        last = f"{name}_out"
    return function(lines, outputs=last)


def rows_of(text: str) -> str:
    return outline_html(node for parent, node in nodes(TextReader(text)) if parent < 0)


def words_of(html: str) -> list[str]:
    """The rows of an outline, without links to lines and to places, and with a star for the sign of a number."""
    rows = [re.sub(r" <a[^>]*>line \d+</a></summary>", "", row) for row in html.replace(TIMES, "*").splitlines()]
    places = re.compile(r"<p>(<a [^>]*>[^<]*</a> ?)+</p>")
    words = [unescape(re.sub("<[^>]+>", "", row)) for row in rows if not places.fullmatch(row)]
    return [row for row in words if row]


def pairs(html: str) -> Iterator[tuple[int, int]]:
    return ((int(line), int(number)) for line, number, _ in LINK.findall(html))


def test_repeats_are_shown_once_with_links_to_all() -> None:
    html = rows_of(numbered_layers(17))
    assert words_of(html) == [
        "main(x) -> (layers_16_out): 102 operations",
        "layers_0 … 16 *17: exp *2, tanh *2, add, relu",
        "attn: exp *2, relu",
        "mlp: tanh *2",
        "(others): add",
        "17 scopes",
    ]
    labels = [words for _, _, words in LINK.findall(html)]
    for inner in ("", "_attn", "_mlp"):
        assert [label for label in labels if label in {f"layers_{at}{inner}" for at in range(17)}] == [
            f"layers_{at}{inner}" for at in range(17)
        ]


def test_links_lead_to_nodes_and_their_lines() -> None:
    for text in (numbered_layers(3), layered(5), TEXT, LOOP, chain("a"), function(outputs="x")):
        found = [node for _, node in nodes(TextReader(text))]
        links = [*pairs(rows_of(text))]
        assert links
        assert all(found[number].line == line for line, number in links)
        assert len({*links}) == len(links)


def test_a_model_without_scopes_is_one_link() -> None:
    (row,) = rows_of(chain("op_1", "op_2", "op_3")).splitlines()
    assert words_of(row) == ["main(x) -> (op_3): 3 operations: relu *3"]
    assert [*pairs(row)] == [(3, 0)]
    assert rows_of("program(1.3)\n{\n}\n") == ""


def test_scopes_inside_repeats_repeat_too() -> None:
    lines, last = [], "x"
    for name in (f"net_{outer}_cell_{inner}_gate" for outer in range(3) for inner in range(4)):
        lines += [f"fp16 {name}_a = relu(x = {last});", f"fp16 {name}_b = exp(x = {name}_a);"]
        last = f"{name}_b"
    words = words_of(rows_of(function(*lines, outputs=last)))
    assert words[1:3] == ["net_0_cell … 2 *3: relu *4, exp *4", "0_gate … 3 *4: relu, exp"]


def test_operations_of_inner_blocks_count_and_functions_have_rows() -> None:
    words = words_of(rows_of(TEXT))
    assert words == [
        "main(x, s) -> (n, a, b): 5 operations: two, while_loop, less, relu, write",
        "other(x) -> (x): 0 operations",
    ]


def test_nothing_in_an_outline_is_markup() -> None:
    names = [f'$"a<b>&amp;\\"_{layer}_{part}_x"' for layer in range(3) for part in "pq"]
    html = rows_of(chain(*names))
    assert "<b>a" not in html.replace("<b>a&lt;b&gt;", "")
    assert "a&lt;b&gt;&amp;amp;" in html
    whole = page(chain(*names), "<b>", draw_outline=outline_html)
    assert Shown(whole).open == []
    assert not re.search(r"<[^>]* (style|on\w+)=", whole[: whole.index("<script")])


def flat(scope: OutlineScope) -> Iterator[tuple[object, ...]]:
    yield scope.label, scope.repeats, scope.around, scope.types
    for inner in scope.rows:
        yield from flat(inner)


def program_of(path: Path) -> Program:
    try:
        return miltext.load(path).program
    except ModelError as refused:
        pytest.skip(str(refused))


OTHER_SPELLING = "our_names.mil"  # the text quotes an operation's type `_`, which an outline of a Program does not


@pytest.mark.parametrize(
    "path",
    [
        *sorted(path for path in GOLDEN.glob("print/*.mil") if path.name != OTHER_SPELLING),
        *corpus_files("apple/*.mil", "pairs/*/model.mil", "mlprograms/*"),
    ],
    ids=str,
)
def test_a_page_has_the_outline_of_its_program(path: Path) -> None:
    assert_same_outline(program_of(path))


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_a_page_has_the_outline_of_a_generated_program(seed: int) -> None:
    for each in range(seed, seed + 20):
        assert_same_outline(generate(each))


def assert_same_outline(program: Program) -> None:
    top = [node for parent, node in nodes(TextReader(miltext.to_text(program))) if parent < 0]
    found, expected = outline_of_nodes(top), outline_of_program(program)
    assert [each.signature for each in found] == [each.signature for each in expected]
    assert [[*flat(each.scope)] for each in found] == [[*flat(each.scope)] for each in expected]


def inmost(scope: OutlineScope) -> Iterator[OutlineScope]:
    if not scope.inside:
        yield scope
    for row in scope.rows:
        yield from inmost(row)


def test_every_operation_is_in_one_inmost_row_with_a_place() -> None:
    for text in (numbered_layers(4), layered(6), TEXT):
        for each in outline_of_nodes(node for parent, node in nodes(TextReader(text)) if parent < 0):
            rows = [*inmost(each.scope)]
            assert sum((row.types for row in rows), Counter[str]()) == each.scope.types
            assert all(row.places for row in rows)


def test_an_outline_is_a_small_part_of_its_page() -> None:
    """A page of 3,000 operations grows by at most a tenth, even if every third operation begins a scope."""
    text = numbered_layers(500)
    plain, outlined = page(text, "m"), page(text, "m", draw_outline=outline_html)
    assert 0 < len(outlined) - len(plain) < len(plain) / 10


def test_the_command_writes_the_outline(tmp_path: Path) -> None:
    out = tmp_path / "m.html"
    command = [sys.executable, "-m", "miltext", "print", str(ROOT / "examples" / "Classifier.mlpackage"), "--html"]
    for options in ([], ["--compact"], ["--profile", "ane-m4-macos27", "--placement"]):
        subprocess.run([*command, *options, "-o", str(out)], check=True)
        html = out.read_text(encoding="utf-8")
        outline = html.partition('<nav id="outline" aria-label="Outline" tabindex="-1">\n')[2].partition("</nav>")[0]
        (row,) = words_of(outline)
        assert row.startswith(
            "main(image) -> (classLabel, classLabel_probs): 9 operations: cast *2, conv, relu, max_pool"
        )
