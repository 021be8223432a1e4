"""Symbols of a workspace, as a client asks for them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

pytest.importorskip("pytest_lsp", reason="needs pytest-lsp, which speaks to the server as an editor does")
pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from support.lsp_documents import SERVER, OpenDocument, make_client

pytestmark = pytest.mark.asyncio(loop_scope="module")


def program(function: str, *values: str) -> str:
    made = "".join(f"            tensor<fp16, [2]> {value} = relu(x = x);\n" for value in values)
    last = values[-1] if values else "x"
    return f"program(1.3)\n{{\n    func {function}<ios18>(tensor<fp16, [2]> x) {{\n{made}        }} -> ({last});\n}}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("a workspace#1")


@pytest_lsp.fixture(scope="module", config=ClientServerConfig(server_command=SERVER, client_factory=make_client))
async def client(lsp_client: LanguageClient, folder: Path) -> AsyncIterator[None]:
    folders = [lsp.WorkspaceFolder(folder.as_uri(), "all")]
    capabilities = client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(lsp.InitializeParams(capabilities, workspace_folders=folders))
    yield
    await lsp_client.shutdown_session()


async def asked(client: LanguageClient, query: str) -> list[lsp.SymbolInformation]:
    found = await client.workspace_symbol_async(lsp.WorkspaceSymbolParams(query))
    assert all(isinstance(each, lsp.SymbolInformation) for each in found or ())
    return [*(found or ())]


async def names(client: LanguageClient, query: str) -> list[str]:
    return [each.name for each in await asked(client, query)]


async def test_symbols_of_files(client: LanguageClient, folder: Path) -> None:
    assert await names(client, "") == []
    (folder / "deep").mkdir()
    (folder / "a.mil").write_text(program("encoder", "attention_out", "out"))
    (folder / "deep" / "b.mil").write_bytes(program("decoder", "out_2").replace("\n", "\r\n").encode())
    assert await names(client, "") == ["decoder", "encoder"]
    assert await names(client, "OUT") == ["out", "out_2", "attention_out"]
    assert await names(client, "atnout") == ["attention_out"]
    assert await names(client, "absent") == []
    (found,) = await asked(client, "out_2")
    assert (found.kind, found.container_name) == (lsp.SymbolKind.Variable, "decoder")
    assert found.location == lsp.Location(
        (folder / "deep" / "b.mil").as_uri(), lsp.Range(lsp.Position(3, 30), lsp.Position(3, 35))
    )


async def test_a_query_is_not_a_pattern(client: LanguageClient, folder: Path) -> None:
    (folder / "q.mil").write_text(program("q", '$"a.b*[c"'))
    assert await names(client, "a.b*[") == ["a.b*[c"]
    assert await names(client, ".*") == ["a.b*[c"]
    (folder / "q.mil").unlink()


async def test_files_that_change(client: LanguageClient, folder: Path) -> None:
    path = folder / "changing.mil"
    path.write_text(program("before", "first"))
    assert await names(client, "first") == ["first"]
    path.write_text(program("after", "second_one"))
    os.utime(path, ns=(0, 0))
    assert await names(client, "first") == []
    assert await names(client, "second") == ["second_one"]
    path.write_text(program("after", "broken").replace(";", "", 1) + "garbage")
    assert await names(client, "broken") == ["broken"]
    path.write_bytes(b"\xff\xfe")
    assert await names(client, "broken") == []
    path.unlink()
    assert await names(client, "broken") == []


async def test_an_open_document_is_taken_as_it_is_edited(client: LanguageClient, folder: Path) -> None:
    path = folder / "open.mil"
    path.write_text(program("on_disk", "saved"))
    document = OpenDocument(client, program("edited", "typed"), path.as_uri())
    assert await names(client, "saved") == []
    assert [each.location.uri for each in await asked(client, "typed")] == [path.as_uri()]
    client.text_document_did_close(lsp.DidCloseTextDocumentParams(document.id))
    assert await names(client, "saved") == ["saved"]
    path.unlink()


async def test_files_that_are_passed_over(client: LanguageClient, folder: Path) -> None:
    for name in (".hidden/h.mil", "node_modules/n.mil", "M.mlmodelc/model.mil", "not.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(program("passed_over", "passed"))
    (folder / "gone.mil").symlink_to("nowhere")
    assert await names(client, "passed") == []


async def test_an_answer_ends(client: LanguageClient, folder: Path) -> None:
    (folder / "many.mil").write_text(program("many", *(f"many_{number}" for number in range(1200))))
    found = await names(client, "many")
    assert len(found) == 1000
    assert found[:2] == ["many", "many_0"]
