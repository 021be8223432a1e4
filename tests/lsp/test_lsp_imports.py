"""The language server on texts that import models: hovering and definitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

import miltext
from miltext.lsp.documents import Document, View
from miltext.lsp.hover import hover
from miltext.lsp.naming import definition
from miltext.lsp.positions import Positions
from miltext.lsp.reading import read_past, read_whole

HALF = "program(1.3) { func main<ios18>(tensor<fp16, [1, 4]> x) { y = mul(x, 0.5); } -> (y); }"
BODY = """            a = $import("half.mlpackage")(x);
            b = $import("half.mil", "main")(x = a);
            c = $import("none.mil")(b);
"""
TEXT = f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [1, 4]> x) {{\n{BODY}        }} -> (b);\n}}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    miltext.build(HALF, tmp_path / "half.mlpackage")
    (tmp_path / "half.mil").write_text(HALF)
    return tmp_path


def view_of(text: str, folder: Path | None) -> View:
    uri = (folder / "whole.mil").as_uri() if folder else "untitled:whole"
    document = Document(uri, 1, Positions(text))
    return View(document, read_whole(text, document.path) or read_past(text, document.path))


def hovered(view: View, word: str) -> str:
    place = view.document.position(view.text.index(word) + 1)
    found = hover(view, lsp.HoverParams(lsp.TextDocumentIdentifier(""), place))
    assert found is not None
    assert isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value


def test_a_hover_shows_the_signature(folder: Path) -> None:
    view = view_of(TEXT, folder)
    for word in ('$import("half.mlpackage")', '"half.mil"'):
        assert "main(tensor<fp16, [1, 4]> x) -> (tensor<fp16, [1, 4]> y)" in hovered(view, word)
    assert "the file does not exist" in hovered(view, '$import("none.mil")')
    assert "tensor<fp16, [1, 4]>" in hovered(view, "a = ")


def test_a_hover_in_a_text_without_a_folder_says_so() -> None:
    assert "Save the text" in hovered(view_of(TEXT, None), "$import")


def test_a_definition_is_the_imported_text(folder: Path) -> None:
    view = view_of(TEXT, folder)

    def place(word: str) -> lsp.Location | None:
        position = view.document.position(view.text.index(word) + 3)
        return definition(view, lsp.DefinitionParams(lsp.TextDocumentIdentifier(""), position))

    found = place('"half.mil"')
    assert found is not None
    assert found.uri == (folder / "half.mil").as_uri()
    assert place('"half.mlpackage"') is None
    assert place('"none.mil"') is None
