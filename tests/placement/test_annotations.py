"""The backend and the reason beside each operation: in texts, on pages, and where an editor hovers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.commands import miltext as command
from support.dumps import PLACED, needs_measurements, published_dumps

import miltext
from miltext.checking.further import together
from miltext.cli import command as command_line
from miltext.dumps.texts import read_dump
from miltext.placement.annotating import annotated_dump, placed_at, placed_words
from miltext.syntax.parser import Parser

MODEL = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 8, 8]> x) {
            fp16 c = const()[val = fp16(1.5)];
            tensor<fp16, [1, 64, 8, 8]> a = relu(x = x);
            tensor<fp16, [1, 64, 8, 8]> b = acos(x = a);
        } -> (b);
}
"""
DRAFTED = """program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 64, 8, 8]> x) {
            b = acos(relu(x));
        } -> (b);
}
"""


def test_a_dump_is_printed_with_its_placement(tmp_path: Path) -> None:
    path = tmp_path / "analytics.mil"
    path.write_text(PLACED, encoding="utf-8")
    said = command("print", path, "--placement").stdout.decode()
    assert '  // bnns, 0.5 ms; not on ane: Unsupported MIL operation "acos".\n' in said
    assert "  // ane, 0.25 ms\n" in said
    assert [line.partition("  //")[0] for line in said.split("\n")] == PLACED.split("\n")
    assert miltext.check(said) == []
    page = command("print", path, "--html").stdout.decode()
    assert page.count("0.25 ms") == 1
    assert "not on ane: Unsupported MIL operation" in page


@needs_measurements
def test_comments_are_all_that_is_added_to_a_published_dump() -> None:
    for name, text in published_dumps().items():
        marked = annotated_dump(text).spelled()
        assert read_dump(marked).placed == read_dump(text).placed, name
        assert marked.count("  // ") == len(read_dump(text).placed), name


def test_each_operation_of_a_dump_is_found_by_its_place() -> None:
    found = placed_at(PLACED)
    assert [PLACED[start:].partition(" = ")[0].split()[-1] for start in sorted(found)] == [
        "x_4D454D5F4F5054",
        "a",
        "b",
        "y_4D454D5F4F5054",
        "y",
    ]
    assert placed_words(found[PLACED.index("tensor<fp16, [1, 4]> a")]) == "bnns, 0.5 ms"


def test_an_editor_shows_the_backend_where_it_hovers() -> None:
    pytest.importorskip("lsprotocol")
    from lsprotocol import types as lsp

    from miltext.lsp.documents import Document, View
    from miltext.lsp.hover import hover
    from miltext.lsp.positions import Positions
    from miltext.lsp.reading import read_whole

    def hovered(text: str, word: str) -> str:
        reading = read_whole(text)
        assert reading is not None
        document = Document("file:///analytics.mil", 1, Positions(text))
        view = View(document, reading)
        place = document.range(text.index(word), text.index(word)).start
        found = hover(view, lsp.HoverParams(lsp.TextDocumentIdentifier(document.uri), place))
        assert found is not None
        return str(found.contents)

    reason = 'Backend: bnns, 0.5 ms; not on ane: Unsupported MIL operation "acos".'
    for word in ("acos(", "b = acos"):
        assert reason in hovered(PLACED, word)
    assert "Backend" not in hovered(PLACED, "fp16")
    plain = "program(1.3)\n{\n    func main<ios18>(fp16 x) {\n            fp16 y = relu(x = x);\n        } -> (y);\n}\n"
    assert "Backend" not in hovered(plain, "relu")


def test_a_page_of_a_dump_reads_it_twice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    read: list[str] = []
    run = Parser.run

    def counted(parser: Parser, text: str, *others: Any, **named: Any) -> Any:
        read.append(text)
        return run(parser, text, *others, **named)

    path = tmp_path / "analytics.mil"
    path.write_text(PLACED.replace("x_4D", "in_4D"), encoding="utf-8")
    monkeypatch.setattr(Parser, "run", counted)
    page = CliRunner().invoke(command_line, ["print", str(path), "--html"])
    assert page.exit_code == 0
    assert "// ane, 0.25 ms" in page.stdout
    assert len([text for text in read if text.startswith("program")]) == 2


def test_a_dump_in_another_layout_gets_the_same_page(tmp_path: Path) -> None:
    path = tmp_path / "analytics.mil"
    for options in (["--html"], ["--placement"]):
        path.write_text(PLACED, encoding="utf-8")
        usual = command("print", path, *options).stdout
        path.write_text(" ".join(PLACED.split()) + "\n", encoding="utf-8")
        assert command("print", path, *options).stdout == usual


def test_an_editor_shows_the_answer_of_the_projects_profile(tmp_path: Path) -> None:
    pytest.importorskip("lsprotocol")
    from lsprotocol import types as lsp

    from miltext.checking.verifier import check_text
    from miltext.lsp import diagnosing
    from miltext.lsp.documents import Document, View
    from miltext.lsp.hover import hover
    from miltext.lsp.positions import Positions
    from miltext.lsp.reading import read_whole

    (tmp_path / "pyproject.toml").write_text('[tool.miltext]\nprofile = "ane-m4-macos27"\n', encoding="utf-8")
    path = tmp_path / "m.mil"

    def hovered(text: str, word: str) -> str:
        reading = read_whole(text)
        assert reading is not None
        also = diagnosing.further(str(path))
        reading.learn(check_text(text, str(path), also=together(also)), also)
        document = Document(path.as_uri(), 1, Positions(text))
        place = document.range(text.index(word), text.index(word)).start
        found = hover(View(document, reading), lsp.HoverParams(lsp.TextDocumentIdentifier(document.uri), place))
        assert found is not None
        return str(found.contents)

    refused = 'By `ane-m4-macos27`: ane: not supported: Unsupported MIL operation "acos".'
    assert refused in hovered(MODEL, "acos(")
    assert refused in hovered(MODEL, "b = acos")
    assert "By `ane-m4-macos27`: ane: supported" in hovered(MODEL, "relu(")
    assert "ane-m4" not in hovered(MODEL, "fp16")
    assert "ane-m4" not in hovered(MODEL, "const(")
    assert refused in hovered(DRAFTED, "acos(")
    assert "ane-m4" not in hovered(DRAFTED, "relu(")  # it is inside another operation, without a name
    broken = MODEL.replace("relu(x = x)", "relu(x = q)")
    assert refused in hovered(broken, "acos(")
    assert refused in hovered(MODEL.replace("b = acos", '$"b c" = acos').replace("(b)", '($"b c")'), "acos(")
    path.with_name("pyproject.toml").write_text("[tool.miltext]\n", encoding="utf-8")
    assert "ane-m4" not in hovered(MODEL, "acos(")
    path.with_name("pyproject.toml").write_text("[tool.miltext]\nprofile = 1\n", encoding="utf-8")
    assert "ane-m4" not in hovered(MODEL, "acos(")
