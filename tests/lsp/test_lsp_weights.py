"""The language server on drafts that name arrays: hovers, hints, completion, diagnostics and the quick fix."""

from __future__ import annotations

from pathlib import Path
from urllib.request import pathname2url

import numpy as np
import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from miltext.lsp.completion import complete
from miltext.lsp.diagnosing import code_actions
from miltext.lsp.documents import Document, View
from miltext.lsp.hints import inlay_hints
from miltext.lsp.hover import hover
from miltext.lsp.positions import Positions
from miltext.lsp.reading import read_past, read_whole
from miltext.lsp.server import Server

BODY = """            w = const()[val = fp16 $npy("w.npy")];
            a = relu(conv(x, $npy("w.npy"), bias = $npy("none.npy")));
            tensor<fp16, [6, 4, 1, 1]> v = const()[val = $blob("weights/weight.bin", 64)];
            y = conv(x, w);
"""
TEXT = f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [1, 4, 8, 8]> x) {{\n{BODY}        }} -> (y);\n}}\n"
WEIGHT = "tensor<fp32, [6, 4, 1, 1]>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "w.npy", np.zeros((6, 4, 1, 1), np.float32))
    return tmp_path


def view_of(text: str, folder: Path | None) -> View:
    uri = f"file://{pathname2url(str(folder / 'draft.mil'))}" if folder else "untitled:draft"
    document = Document(uri, 1, Positions(text))
    assert document.folder == folder
    reading = read_whole(text, document.path) or read_past(text, document.path)
    return View(document, reading)


def hovered(view: View, word: str, offset: int = 1) -> str:
    place = view.document.position(view.text.index(word) + offset)
    found = hover(view, lsp.HoverParams(lsp.TextDocumentIdentifier(""), place))
    assert found is not None
    assert isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value


def test_a_hover_reports_type_and_file(folder: Path) -> None:
    view = view_of(TEXT, folder)
    shown = hovered(view, '$npy("w.npy"), bias')
    assert WEIGHT in shown
    assert "`w.npy`: fp32, [6, 4, 1, 1]; 24 elements, 96 bytes" in shown
    assert "weight" in shown
    assert WEIGHT.replace("fp32", "fp16") in hovered(view, '$npy("w.npy")]')
    assert "the file does not exist" in hovered(view, '$npy("none.npy")')
    assert WEIGHT.replace("fp32", "fp16") in hovered(view, "w = const", 0)
    assert 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64))' in hovered(view, "$blob")


def test_a_hover_in_a_text_without_a_folder_reports_it() -> None:
    assert "Save the text" in hovered(view_of(TEXT, None), "$npy")


def test_a_broken_string_has_no_hover(folder: Path) -> None:
    view = view_of(TEXT.replace("none.npy", "\\\\q"), folder)
    assert hovered(view, "$npy") is not None


def test_a_hover_over_a_value_of_a_broken_head(folder: Path) -> None:
    view = view_of(TEXT.replace("(tensor", "(t6, conv(tensor", 1), folder)
    shown = [
        hover(view, lsp.HoverParams(lsp.TextDocumentIdentifier(""), view.document.position(offset)))
        for offset in range(len(view.text))
    ]
    assert any(found and "input of the block" in str(found.contents) for found in shown)


def hints(view: View) -> dict[str, tuple[str, str | None]]:
    """The types that are hinted, and what accepting each writes, by the text behind them."""
    whole = lsp.Range(lsp.Position(0, 0), view.document.position(len(view.text)))
    found = inlay_hints(view, lsp.InlayHintParams(lsp.TextDocumentIdentifier(""), whole))
    types = [hint for hint in found if hint.kind is lsp.InlayHintKind.Type]
    lines = view.text.splitlines()
    return {
        lines[hint.position.line][hint.position.character :][:20]: (
            str(hint.label),
            hint.text_edits[0].new_text if hint.text_edits else None,
        )
        for hint in types
    }


def test_hints_show_the_types_of_arrays(folder: Path) -> None:
    found = hints(view_of(TEXT, folder))
    assert found['$npy("w.npy"), bias '] == (WEIGHT, f'{WEIGHT}($npy("w.npy"))')
    assert found['fp16 $npy("w.npy")];'][0] == WEIGHT.replace("fp32", "fp16")
    assert not any("none" in key for key in found)


def test_completion_offers_the_words_and_reads_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of(TEXT, folder)

    def read(*_: object) -> None:
        raise AssertionError("a file was opened")

    monkeypatch.setattr("miltext.arrays.opening.ArrayFolder.open", read)
    place = view.document.position(TEXT.index('$npy("w.npy"), bias') + 2)
    found = complete(view, lsp.CompletionParams(lsp.TextDocumentIdentifier(""), place))
    assert {"$npy", "$npz"} <= {item.label for item in found.items}


def test_the_server_checks_a_file_beside_its_arrays(folder: Path) -> None:
    server = Server()
    try:
        view = view_of(TEXT, folder)
        server.documents[view.document.uri] = view.document
        found = [each for each in server._checked(view.document) if each.severity == "error"]
        assert [each.code for each in found] == ["MIL413"]
        np.save(folder / "none.npy", np.zeros(6, np.float64))
        [conversion] = [each for each in server._checked(view.document) if each.severity == "error"]
        assert conversion.suggestion == 'fp32 $npy("none.npy")'  # like the weight beside it
        view.document.checked = [conversion]
        assert conversion.span
        context = lsp.CodeActionContext([])
        place = view.range(*conversion.span)
        [action] = code_actions(view, lsp.CodeActionParams(lsp.TextDocumentIdentifier(""), place, context))
        assert action.edit
    finally:
        server.shutdown()


def test_a_text_that_may_depend_on_files_is_read_again(folder: Path) -> None:
    server = Server()
    try:
        before = view_of(TEXT, folder).reading
        assert f'{WEIGHT}($npy("w.npy"))' in before.inferred.values()
        document = Document(view_of(TEXT, folder).document.uri, 2, Positions(TEXT), before)
        server.documents[document.uri] = document
        server._read(document)
        assert document.reading is not before
        plain = TEXT.replace(BODY, "            y = relu(x);\n")
        unchanged = read_whole(plain, str(folder / "draft.mil"))
        document = Document(document.uri, 3, Positions(plain), unchanged)
        server.documents[document.uri] = document
        server._read(document)
        assert document.reading is unchanged
    finally:
        server.shutdown()
