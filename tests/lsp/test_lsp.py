"""The language server as a client meets it, over standard input and output."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pytest_lsp", reason="needs pytest-lsp, which speaks to the server as an editor does")
pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

import pytest_lsp
from conftest import GOLDEN, ROOT, corpus_files
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from support.lsp_documents import MARK, SERVER, OpenDocument, make_client, seen
from support.short_drafts import BROKEN, DRAFTS

import miltext
from miltext.diagnostics.codes import page
from miltext.drafting.draft import infer_draft

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1, 2]> x) {
            tensor<fp16, [2]> half = const()[name = string("half"), val = tensor<fp16, [2]>([0.5, 2])];
            tensor<fp16, [1, 2]> y = mul(x = x, y = half)[name = string("y")];
            tensor<fp16, [1, 2]> z = relu(x = y)[name = string("other")];
        } -> (z);
}
"""

NESTED = """\
program(1.3)
{
    func main<ios18>(bool p, tensor<fp16, [2]> x) {
            tensor<fp16, [2]> a = relu(x = x)[name = string("a")];
            tensor<fp16, [2]> b = cond(pred = p)[name = string("b")]
                () {
                    tensor<fp16, [2]> t = tanh(x = a)[name = string("t")];
                    tensor<fp16, [2]> c = cond(pred = p)[name = string("c")]
                        () {
                            tensor<fp16, [2]> u = add(x = t, y = a)[name = string("u")];
                        } -> (u)
                        () {
                        } -> (a);
                } -> (c)
                () {
                    tensor<fp16, [2]> t = sigmoid(x = a)[name = string("t")];
                } -> (t);
        } -> (b);
    func other<ios18>(tensor<fp16, [2]> a) {
        } -> (a);
}
"""

DRAFT = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [2, 3]> x) {
            _ y = reduce_sum(axes = [1], keep_dims = false, x = x);
            _ z = mul(x = y, y = 0.5);
        } -> (z);
}
"""


@pytest_lsp.fixture(scope="module", config=ClientServerConfig(server_command=SERVER, client_factory=make_client))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await lsp_client.initialize_session(lsp.InitializeParams(client_capabilities("visual-studio-code"), root_uri=None))
    yield
    await lsp_client.shutdown_session()


async def hovered(document: OpenDocument, **parameters: Any) -> str:
    found = await document.client.text_document_hover_async(lsp.HoverParams(**parameters))
    assert found is None or isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value if found else ""  # type: ignore[union-attr]


async def completed(client: LanguageClient, marked: str) -> list[lsp.CompletionItem]:
    document = OpenDocument(client, marked)
    found = await client.text_document_completion_async(lsp.CompletionParams(**document.marked()))
    assert isinstance(found, lsp.CompletionList)
    return list(found.items)


async def labels(client: LanguageClient, statement: str) -> list[str]:
    """What completes a statement, which comes behind those of PROGRAM."""
    items = await completed(client, PROGRAM.replace("        } ->", f"            {statement}\n        }} ->"))
    return [item.label for item in items]


# ---- diagnostics


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("check/*.mil")), ids=lambda path: path.stem)
async def test_diagnostics_equal_the_findings_of_check(client: LanguageClient, path: Path) -> None:
    document = OpenDocument(client, path.read_bytes().decode())
    assert seen(await document.diagnosed()) == document.expected() != []


async def test_a_diagnostic_leads_to_its_page_and_to_related_places(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM.replace(" z = relu", " y = relu"))
    found = next(each for each in await document.diagnosed() if each.code == "MIL602")
    assert found.code_description is not None
    assert found.code_description.href == f"{page().as_uri()}#mil602"
    assert found.source == "miltext"
    related = found.related_information or ()
    assert [(each.location.uri, document.told(each.location.range)) for each in related] == [(document.uri, "y")]


async def test_diagnostics_follow_the_edits(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    assert await document.diagnosed() == []
    document.change(document.span("half)"), "whole)")
    assert [each.code for each in await document.diagnosed()] == ["MIL604"]
    document.change(document.span("whole)"), "half)")
    assert await document.diagnosed() == []
    document.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document.id))
    assert await document.client.text_document_hover_async(lsp.HoverParams(**document.at("half"))) is None


def long_text(lines: int) -> str:
    """PROGRAM with as many more operations, and a name at its end that nobody defines."""
    line = '            tensor<fp16, [1, 2]> v{} = mul(x = {}, y = half)[name = string("v{}")];\n'
    names = ["y", *(f"v{number}" for number in range(lines))]
    body = "".join(line.format(number, name, number) for number, name in enumerate(names[:-1]))
    last = "            tensor<fp16, [1, 2]> z"
    return PROGRAM.replace(last, f"{body}{last}").replace("relu(x = y)", "relu(x = nobody)")


@pytest.mark.parametrize(
    ("lines", "slip"),
    [
        (0, ""),
        (3000, ""),
        (600, "    func (\n"),
        (600, "    func f<ios18>() { _ y = fill(shape = [2]); } -> (y);\n"),
    ],
    ids=["short", "long", "broken", "draft"],
)
async def test_diagnostics_come_while_somebody_types(client: LanguageClient, lines: int, slip: str) -> None:
    """A key each 0.15 seconds: no check of the longer texts ends before the next one."""
    document = OpenDocument(client, long_text(lines).replace("    func main", f"{slip}    func main"))
    await document.diagnosed()
    sent: list[list[str]] = []
    last = client.diagnostics[document.uri]
    started = time.monotonic()
    while len(sent) < 3 and time.monotonic() - started < 40:
        document.change(document.span("{"), "{ //")
        await asyncio.sleep(0.15)
        if (found := client.diagnostics[document.uri]) is not last:
            sent.append([document.told(each.range) for each in found if each.code == "MIL604"])
            last = found
    assert sent == [["nobody"]] * 3  # where it is by now
    assert time.monotonic() - started > 0.6  # 0.2 seconds for each
    assert seen(await document.diagnosed()) == document.expected() != []


async def test_a_long_check_holds_nothing_up(client: LanguageClient) -> None:
    document = OpenDocument(client, long_text(1500).replace("relu(", "relu(("))
    assert "made by `mul`" in await hovered(document, **document.at("v7, y"))
    assert document.uri not in document.published
    assert seen(await document.diagnosed()) == document.expected() != []


async def test_published_diagnostics_are_never_stale(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    for text in ("", "program(", PROGRAM, PROGRAM.replace("relu", "relux"), PROGRAM.replace("mul", "muls")):
        document.rewrite(text)
    assert seen(await document.diagnosed()) == document.expected()


# ---- hovering


async def test_hovering_describes_a_value(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    said = await hovered(document, **document.at("y)[name"))
    assert "tensor<fp16, [1, 2]> y" in said
    assert "made by `mul` in line 5; used once" in said
    assert "input of `main`; used once" in await hovered(document, **document.at("x, y = half"))
    assert "tensor<fp16, [2]>([0.5, 2])" in await hovered(document, **document.at("half)"))


async def test_hovering_lists_the_parameters_of_an_operation(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM.replace("relu(x = y)", "layer_norm(x = y)"))
    said = await hovered(document, **document.at("layer_norm"))
    assert "layer_norm<ios17>(x, axes?, gamma?, beta?, epsilon?)" in said
    assert "since ios15; this version since ios17" in said
    assert "\nNormalization over axes: gamma * (x - mean)" in said
    assert ". The axes whose elements are normalized together; by default all\n" in said
    assert "y = layer_norm(x, axes = [-1], " in said
    assert "- `x`: fp16 | fp32; required" in said
    assert (await hovered(document, **document.at("x = y"))).startswith("`x`: fp16 | fp32; required")
    assert "CoreML8" in await hovered(document, **document.at("ios18"))
    assert "a float of 16 bits" in await hovered(document, **document.at("fp16"))
    assert await hovered(document, **document.at("string")) != ""
    assert await hovered(document, **document.at("program")) == ""


async def test_hovering_describes_an_operation_of_a_later_opset(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM.replace("ios18", "ios15").replace("relu(x = y)", "read_state(input = y)"))
    assert "since ios18; this function, of ios15, cannot use it" in await hovered(document, **document.at("read_state"))


async def test_hovering_sums_a_weight_up(client: LanguageClient, tmp_path: Path) -> None:
    import numpy as np

    from miltext.schema.dtypes import BY_NAME
    from miltext.weight_files.blob_storage import BlobWriter

    (tmp_path / "weights").mkdir()
    with BlobWriter(tmp_path / "weights" / "weight.bin") as writer:
        offset = writer.add(BY_NAME["fp16"], np.arange(2, dtype=np.float16))
    blob = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(%d))'
    text = PROGRAM.replace("[0.5, 2]", blob % offset)
    uri = (tmp_path / "model.mil").as_uri()
    document = OpenDocument(client, text, uri)
    expected = "2 elements of fp16, 4 bytes; min 0, max 1, mean 0.5"
    assert expected in await hovered(document, **document.at("half)"))
    assert expected in await hovered(document, **document.at("BLOBFILE"))
    document.rewrite(text.replace(f"uint64({offset})", "uint64(1)"))
    assert "cannot be read: a record cannot begin at offset 1" in await hovered(document, **document.at("half)"))
    document.rewrite(text.replace("@model_path/", "@model_path/../"))
    assert "leads outside" in await hovered(document, **document.at("half)"))
    unsaved = OpenDocument(client, text)
    assert "Save the text beside its weight files" in await hovered(unsaved, **unsaved.at("half)"))


async def test_hovering_shows_the_omitted_parts_of_a_draft(client: LanguageClient) -> None:
    document = OpenDocument(client, DRAFT)
    assert "tensor<fp16, [2]> z" in await hovered(document, **document.at("z)"))


# ---- names


async def places_of(document: OpenDocument, **parameters: Any) -> list[str]:
    """Where a name stands, as lines and characters: `3:10`; its definition first."""
    context = lsp.ReferenceContext(include_declaration=True)
    found = await document.client.text_document_references_async(lsp.ReferenceParams(context, **parameters))
    definition = await document.client.text_document_definition_async(lsp.DefinitionParams(**parameters))
    if definition is None:
        return []
    assert isinstance(definition, lsp.Location)
    listed = [definition, *(each for each in found or () if each.range != definition.range)]
    return [str(location.range.start) for location in listed]


async def test_definitions_and_references_keep_to_their_block(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    outer = await places_of(document, **document.at("a)[name"))
    assert len(outer) == 5
    assert outer[0] == str(document.span("a = relu").start)
    assert await places_of(document, **document.at("a);")) == outer
    first, second = document.span("t = tanh").start, document.span("t = sigmoid").start
    assert await places_of(document, **document.at("t, y = a")) == [str(first), str(document.span("t, y = a").start)]
    assert await places_of(document, **document.at("t);")) == [str(second), str(document.span("t);").start)]
    assert await places_of(document, **document.at("cond")) == []


async def test_references_may_leave_the_definition_out(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    context = lsp.ReferenceContext(include_declaration=False)
    found = await client.text_document_references_async(lsp.ReferenceParams(context, **document.at("t = tanh")))
    assert [document.told(each.range) for each in found or ()] == ["t"]


async def test_a_name_used_too_early_leads_to_its_definition(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM.replace("mul(x = x, y = half)", "mul(x = z, y = half)"))
    places = await places_of(document, **document.at("z, y"))
    assert places[0] == str(document.span("z = relu").start)


async def test_a_name_is_highlighted_where_it_is_written_and_read(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    found = await client.text_document_document_highlight_async(lsp.DocumentHighlightParams(**document.at("half =")))
    write, read = lsp.DocumentHighlightKind.Write, lsp.DocumentHighlightKind.Read
    assert [(document.told(each.range), each.kind) for each in found or ()] == [("half", write), ("half", read)]


# ---- renaming


async def renamed(document: OpenDocument, new: str, **parameters: Any) -> str:
    edit = await document.client.text_document_rename_async(lsp.RenameParams(new_name=new, **parameters))
    assert edit is not None
    assert edit.document_changes is not None
    (change,) = edit.document_changes
    assert isinstance(change, lsp.TextDocumentEdit)
    assert (change.text_document.uri, change.text_document.version) == (document.uri, document.version)
    return document.edited(change.edits)


async def refused(document: OpenDocument, new: str, **parameters: Any) -> str:
    with pytest.raises(JsonRpcException) as failure:
        await renamed(document, new, **parameters)
    assert failure.value.code == lsp.LSPErrorCodes.RequestFailed
    return failure.value.message


async def test_renaming_follows_a_value_into_nested_blocks(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    main, end, other = NESTED.partition("    func other")
    expected = main.replace(" a = relu", " first = relu").replace("= a)", "= first)").replace("(a)", "(first)")
    expected = expected.replace('("a")', '("first")')
    assert await renamed(document, "first", **document.at("a = relu")) == expected + end + other
    assert await renamed(document, "first", **document.at("a)[name", 1)) == expected + end + other
    inner = NESTED.replace('t = tanh(x = a)[name = string("t")]', 'v = tanh(x = a)[name = string("v")]')
    assert await renamed(document, "v", **document.at("t = tanh")) == inner.replace("x = t", "x = v")
    functions = NESTED.replace("func other", "func another")
    assert await renamed(document, "another", **document.at("other")) == functions


async def test_renaming_leaves_an_operations_other_name_alone(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    expected = PROGRAM.replace(" z = relu", " result = relu").replace("(z)", "(result)")
    assert await renamed(document, "result", **document.at("z = relu")) == expected


async def test_an_operations_name_changes_among_other_attributes(client: LanguageClient) -> None:
    text = PROGRAM.replace('[name = string("y")]', '[cost = dict<string, fp64>({{"ane", 0.5}}), name = string("y")]')
    document = OpenDocument(client, text)
    changed = await renamed(document, "new", **document.at("y = mul"))
    assert changed == text.replace("y = mul", "new = mul").replace('"y"', '"new"').replace("x = y", "x = new")


async def test_a_name_that_is_taken_is_refused(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    for new, place in [("b", "a = relu"), ("u", "a = relu"), ("x", "t = tanh"), ("t", "a = relu"), ("main", "other")]:
        assert (await refused(document, new, **document.at(place))).startswith(f"`{new}` is already defined"), (
            new,
            place,
        )
    assert "[2]> p) {" in await renamed(document, "p", **document.at("a) {"))  # of the other function


@pytest.mark.parametrize("new", ["", "1st", "a b", "fp16", "true", 'x"', "a/b", "x;"])
async def test_an_invalid_name_is_refused(client: LanguageClient, new: str) -> None:
    document = OpenDocument(client, NESTED)
    assert "is not a valid name" in await refused(document, new, **document.at("a = relu"))


async def test_renaming_nothing_is_refused(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    assert "not the name" in await refused(document, "new", **document.at("tanh"))
    assert await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**document.at("tanh"))) is None
    found = await client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**document.at("a)[name")))
    assert isinstance(found, lsp.PrepareRenamePlaceholder)
    assert (found.placeholder, document.told(found.range)) == ("a", "a")


async def test_renaming_in_a_broken_text_is_refused(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED.replace("tanh(", "tanh(("))
    assert "errors that may hide names" in await refused(document, "new", **document.at("a = relu"))


async def test_inputs_are_renamed_with_the_note_of_their_sizes(client: LanguageClient) -> None:
    shapes = 'FlexibleShapeInformation = tuple<tuple<string, dict<string, list<int32, ?>>>>((("x", {{"x", [1]}})))'
    text = PROGRAM.replace("x) {", f"x) [{shapes}] {{")
    document = OpenDocument(client, text)
    changed = await renamed(document, "image", **document.at("x, y = half"))
    assert "image) [FlexibleShapeInformation" in changed
    assert '(("image", {{"image", [1]}})' in changed


# ---- the shape of a document


async def test_symbols_nest_as_blocks_do(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    found = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document.id))

    def names(symbols: Any) -> list[Any]:
        return [[each.name, *names(each.children)] if each.children else each.name for each in symbols or ()]

    assert names(found) == [["main", "a", ["b", "t", ["c", "u"], "t"]], "other"]


async def test_functions_and_blocks_fold(client: LanguageClient) -> None:
    document = OpenDocument(client, f"// one\n// two\n{NESTED}")
    found = await client.text_document_folding_range_async(lsp.FoldingRangeParams(document.id))
    lines = {(each.start_line, each.end_line) for each in found or ()}
    assert {(0, 1), (2, 21), (4, 18), (6, 17), (7, 14), (9, 13), (10, 11)} <= lines


async def test_selections_grow(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED)
    place = document.span("t, y = a").start
    (found,) = await client.text_document_selection_range_async(lsp.SelectionRangeParams(document.id, [place])) or ()
    parts = []
    selection: lsp.SelectionRange | None = found
    while selection:
        parts.append(document.told(selection.range))
        selection = selection.parent
    assert parts[:4] == ["t", "x = t", "(x = t, y = a)", NESTED.splitlines()[9].strip()]
    assert parts[-1] == NESTED.rstrip()


async def test_every_word_has_its_meaning(client: LanguageClient) -> None:
    document = OpenDocument(client, f"// note\n{PROGRAM}")
    found = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document.id))
    words = told(document, found)
    assert words[:2] == [("// note", "comment", set()), ("program", "keyword", set())]
    assert ("main", "function", {"declaration"}) in words
    assert ("ios18", "namespace", set()) in words
    assert ("relu", "function", {"defaultLibrary"}) in words
    assert ("half", "variable", {"declaration", "readonly"}) in words
    assert ("half", "variable", {"readonly"}) in words
    assert [kind for word, kind, _ in words if word == "x"] == ["parameter", "property", "parameter", "property"]
    assert {kind for word, kind, _ in words if word in ("fp16", "tensor", "string")} == {"type"}
    lines = lsp.Range(lsp.Position(5, 0), lsp.Position(5, 40))
    part = await client.text_document_semantic_tokens_range_async(lsp.SemanticTokensRangeParams(document.id, lines))
    assert ("y", "variable", {"declaration"}) in told(document, part)
    assert 1 < len(told(document, part)) < len(words) / 2


def told(document: OpenDocument, tokens: lsp.SemanticTokens | None) -> list[tuple[str, str, set[str]]]:
    from miltext.lsp.semantic_tokens import MODIFIERS, TYPES

    assert tokens is not None
    words = []
    line = character = 0
    data = list(tokens.data)
    for place in range(0, len(data), 5):
        down, along, length, kind, modifiers = data[place : place + 5]
        line, character = line + down, along if down else character + along
        word = lsp.Range(lsp.Position(line, character), lsp.Position(line, character + length))
        named = {name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1}
        words.append((document.told(word), TYPES[kind], named))
    return words


# ---- completion and signatures


async def test_values_in_scope_complete_a_binding(client: LanguageClient) -> None:
    document = OpenDocument(client, NESTED.replace("x = t, y", f"x = {MARK}, y"))
    found = await client.text_document_completion_async(lsp.CompletionParams(**document.marked()))
    assert isinstance(found, lsp.CompletionList)
    values = [(item.label, item.detail) for item in found.items if item.detail]
    assert values[:3] == [("t", "tensor<fp16, [2]>"), ("a", "tensor<fp16, [2]>"), ("x", "tensor<fp16, [2]>")]
    assert {"u", "b", "c"}.isdisjoint(label for label, _ in values)
    assert "p" in [label for label, _ in values]


async def test_operations_of_the_opset_complete_a_statement(client: LanguageClient) -> None:
    text = PROGRAM.replace("= relu(x = y)", f"= rea{MARK}")
    for opset, expected in ("ios18", ["read_state"]), ("ios17", []):
        items = await completed(client, text.replace("ios18", opset))
        assert [item.label for item in items if item.label.startswith("read")] == expected
    items = await completed(client, PROGRAM.replace("relu(x = y)", f"layer_n{MARK}(x = y)"))
    (item,) = [item for item in items if item.label == "layer_norm"]
    assert isinstance(item.text_edit, lsp.TextEdit)
    assert item.text_edit.new_text == "layer_norm"  # the bracket is there
    resolved = await client.completion_item_resolve_async(item)
    assert isinstance(resolved.documentation, lsp.MarkupContent)
    assert "- `x`: fp16 | fp32; required" in resolved.documentation.value
    assert resolved.documentation.value.endswith(
        "```mil\n" + miltext.operations("layer_norm")[0]["example"]["text"] + "```"
    )


async def test_missing_parameters_complete_a_call(client: LanguageClient) -> None:
    missing = await labels(client, f"tensor<fp16, [1]> w = conv(x = y, pad = p, {MARK}")
    assert missing[0] == "weight"
    assert sorted(missing[1:]) == ["bias", "dilations", "groups", "pad_type", "strides"]
    assert await labels(client, f'tensor<fp16, [1]> w = conv(x = y, st{MARK})[name = string("w")];') == ["strides"]


async def test_words_of_the_grammar_are_completed(client: LanguageClient) -> None:
    assert (await labels(client, f"te{MARK}"))[:2] == ["tensor", "tensor_buffer"]
    assert {"fp16", "int8"} <= {*await labels(client, f"tensor<{MARK}")}
    assert await labels(client, f"tensor<fp16, [1]> {MARK}") == []
    assert {"tensor", "int32", "true"} <= {*await labels(client, f"tensor<fp16, [1]> w = relu(x = {MARK}")}
    assert "name" in await labels(client, f"tensor<fp16, [1]> w = relu(x = y)[{MARK}")
    assert await labels(client, f"// {MARK}") == []
    assert await labels(client, f'tensor<fp16, [1]> w = relu(x = string("{MARK}') == []
    assert [item.label for item in await completed(client, f"pro{MARK}")] == ["program"]
    assert [item.label for item in await completed(client, f"program(1.3)\n{{\n    f{MARK}")] == ["func"]
    opsets = [item.label for item in await completed(client, PROGRAM.replace("ios18", MARK))]
    assert opsets == ["ios15", "ios16", "ios17", "ios18", "ios19"]
    outputs = [item.label for item in await completed(client, PROGRAM.replace("(z)", f"({MARK})"))]
    assert outputs == ["z", "y", "half", "x"]
    assert "$absent" in await labels(client, f"$a{MARK}")


async def test_completion_works_in_a_text_that_was_just_broken(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    await document.diagnosed()
    place = document.span("        } ->").start
    document.change(lsp.Range(place, place), "            tensor<fp16, [1, 2]> w = add(x = ")
    position = document.position(document.text.index("add(x = ") + 8)
    found = await client.text_document_completion_async(lsp.CompletionParams(document.id, position))
    assert isinstance(found, lsp.CompletionList)
    assert [item.label for item in found.items][:4] == ["z", "y", "half", "x"]


async def test_a_space_completes_only_where_something_is_wanted(client: LanguageClient) -> None:
    for written, wanted in [("w = ", True), ("w = conv(x = y, ", True), ("", False), ("tensor ", False)]:
        document = OpenDocument(client, PROGRAM.replace("z = relu(x = y)", f"{written}{MARK}"))
        typed = lsp.CompletionContext(lsp.CompletionTriggerKind.TriggerCharacter, " ")
        parameters = lsp.CompletionParams(**document.marked(), context=typed)
        found = await client.text_document_completion_async(parameters)
        assert isinstance(found, lsp.CompletionList)
        assert bool(found.items) == wanted, written


async def test_a_broken_text_is_served(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM)
    await document.diagnosed()
    place = document.span("            tensor<fp16, [1, 2]> z").start
    document.change(lsp.Range(place, place), "            tensor<fp16 ((\n\n")
    for _ in ("from the last tree", "from what could be read"):
        places = await places_of(document, **document.at("y)[name"))
        assert places == [str(document.span("y = mul").start), str(document.span("y)[name").start)]
        assert "made by `relu` in line 8" in await hovered(document, **document.at("z)"))
        symbols = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document.id))
        (function,) = symbols or ()
        assert isinstance(function, lsp.DocumentSymbol)
        made = [each for each in function.children or () if each.name in ("half", "y", "z")]
        assert [document.told(each.selection_range) for each in made] == ["half", "y", "z"]
        assert not await client.text_document_formatting_async(lsp.DocumentFormattingParams(document.id, OPTIONS))
        assert seen(await document.diagnosed()) == document.expected() != []


async def test_a_signature_shows_the_parameter_that_is_next(client: LanguageClient) -> None:
    for written, active in [("", "x"), ("x = y, ", "weight"), ("x = y, weight = ", "weight"), ("bias = ", "bias")]:
        text = PROGRAM.replace("relu(x = y)", f"conv({written}{MARK})")
        document = OpenDocument(client, text)
        found = await client.text_document_signature_help_async(lsp.SignatureHelpParams(**document.marked()))
        assert found is not None
        assert found.active_parameter is not None
        (signature,) = found.signatures
        label = (signature.parameters or ())[found.active_parameter].label
        assert isinstance(label, str)
        assert label in signature.label
        assert label.split(":")[0].rstrip("?") == active, written
    document = OpenDocument(client, PROGRAM.replace("relu(x = y)", f"relu(x = y){MARK}"))
    assert await client.text_document_signature_help_async(lsp.SignatureHelpParams(**document.marked())) is None


# ---- formatting, hints, actions


OPTIONS = lsp.FormattingOptions(tab_size=4, insert_spaces=True)


async def test_formatting_equals_that_of_fmt(client: LanguageClient) -> None:
    messy = NESTED.replace("            tensor", "tensor").replace("(x = t, y = a)", "( y=a,x = t )  /* both */")
    document = OpenDocument(client, messy)
    edits = await client.text_document_formatting_async(lsp.DocumentFormattingParams(document.id, OPTIONS))
    assert document.edited(edits) == miltext.format_text(messy)
    document = OpenDocument(client, NESTED)
    assert not await client.text_document_formatting_async(lsp.DocumentFormattingParams(document.id, OPTIONS))


async def test_layout_and_types_keep_a_documents_line_ends(client: LanguageClient) -> None:
    for text in (NESTED, PROGRAM.replace("            tensor", "  tensor")):
        document = OpenDocument(client, text.replace("\n", "\r\n"))
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        formatted = miltext.format_text(text).replace("\n", "\r\n")
        edits = await client.text_document_formatting_async(lsp.DocumentFormattingParams(document.id, OPTIONS))
        assert bool(edits) is (text != NESTED)
        assert document.edited(edits or []) == formatted
        parameters = lsp.DocumentRangeFormattingParams(document.id, whole, OPTIONS)
        assert document.edited(await client.text_document_range_formatting_async(parameters) or []) == formatted
    document = OpenDocument(client, DRAFT.replace("\n", "\r\n"))
    found = await actions(document, lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0)))
    (action,) = [each for each in found if each.title == "Write all types out"]
    assert applied(document, action) == infer_draft(DRAFT).replace("\n", "\r\n")


async def test_a_range_is_formatted_alone(client: LanguageClient) -> None:
    messy = PROGRAM.replace("            tensor", "  tensor")
    document = OpenDocument(client, messy)
    line = lsp.Range(lsp.Position(4, 3), lsp.Position(4, 5))
    parameters = lsp.DocumentRangeFormattingParams(document.id, line, OPTIONS)
    edits = await client.text_document_range_formatting_async(parameters)
    lines = messy.splitlines(keepends=True)
    lines[4] = PROGRAM.splitlines(keepends=True)[4]
    assert document.edited(edits) == "".join(lines)


async def test_a_range_is_left_alone_where_a_part_would_leave_it(client: LanguageClient) -> None:
    functions = NESTED.replace("func other", "func a_first_one")  # which the layout puts first
    document = OpenDocument(client, functions)
    parameters = lsp.DocumentRangeFormattingParams(document.id, document.span("    func main"), OPTIONS)
    assert not await client.text_document_range_formatting_async(parameters)


@pytest.mark.parametrize(
    "broken", ["", "}", PROGRAM.replace("relu(", "relu(("), PROGRAM.replace('"y"', '"y'), PROGRAM[:-3]]
)
async def test_formatting_a_broken_text_changes_nothing(client: LanguageClient, broken: str) -> None:
    document = OpenDocument(client, broken)
    assert not await client.text_document_formatting_async(lsp.DocumentFormattingParams(document.id, OPTIONS))
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    parameters = lsp.DocumentRangeFormattingParams(document.id, whole, OPTIONS)
    assert not await client.text_document_range_formatting_async(parameters)


async def test_hints_show_and_write_the_omitted_parts_of_a_draft(client: LanguageClient) -> None:
    document = OpenDocument(client, DRAFT)
    whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
    found = await client.text_document_inlay_hint_async(lsp.InlayHintParams(document.id, whole))
    shown = ["tensor<fp16, [2]>", "tensor<int32, [1]>", "bool", "tensor<fp16, [2]>", "fp16"]
    assert [hint.label for hint in found or ()] == shown
    edits = [edit for hint in found or () for edit in hint.text_edits or ()]
    assert miltext.format_text(document.edited(edits)) == miltext.infer_draft(DRAFT)
    line = lsp.Range(lsp.Position(4, 0), lsp.Position(4, 99))
    some = await client.text_document_inlay_hint_async(lsp.InlayHintParams(document.id, line))
    assert len(some or ()) == 2
    document.rewrite(PROGRAM)
    assert not await client.text_document_inlay_hint_async(lsp.InlayHintParams(document.id, whole))


async def actions(document: OpenDocument, range: lsp.Range, **context: Any) -> list[lsp.CodeAction]:
    found = [each for each in await document.diagnosed() if each.range.start.line == range.start.line]
    parameters = lsp.CodeActionParams(document.id, range, lsp.CodeActionContext(found, **context))
    given = await document.client.text_document_code_action_async(parameters)
    return [each for each in given or () if isinstance(each, lsp.CodeAction)]


def applied(document: OpenDocument, action: lsp.CodeAction) -> str:
    assert action.edit is not None
    assert action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, lsp.TextDocumentEdit)
    return document.edited(change.edits)


async def test_actions_apply_the_suggestion_of_a_diagnostic(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM.replace("y = half", "y = haIf"))
    (action,) = await actions(document, document.span("haIf"))
    assert (action.title, action.kind) == ("Change to `half`", lsp.CodeActionKind.QuickFix)
    assert applied(document, action) == PROGRAM
    assert await actions(document, document.span("relu")) == []
    assert await actions(document, document.span("haIf"), only=[lsp.CodeActionKind.Refactor]) == []


@pytest.mark.parametrize(
    ("right", "wrong", "title", "is_preferred"),
    [
        (";\n", "\n", "Change to `;`", True),
        ("y = half", "y = haIf", "Change to `half`", False),
        ("\n    func", " // mil: ignore\n    func", "Remove it", True),
    ],
)
async def test_only_a_certain_edit_is_preferred(
    right: str, wrong: str, title: str, is_preferred: bool, client: LanguageClient
) -> None:
    document = OpenDocument(client, PROGRAM.replace(right, wrong, 1))
    found = await document.diagnosed()
    (action,) = await actions(document, found[0].range)
    assert (action.title, action.is_preferred) == (title, is_preferred)
    assert applied(document, action) == PROGRAM
    assert miltext.check(PROGRAM) == []


TINY_DRAFT = """\
program(1.3)
{
    func main<ios17>(tensor<fp16, [2]> x) {
            y = softplus(x);
        } -> (y);
}
"""


OWN_RULE = """\
program(1.3)[rules = "1"]
{
    func find_own(x)[where = "rank(x) == 1"] {
            y = softplus(x);
        } -> (y);
}
"""


async def test_a_rule_file_is_checked_as_one(client: LanguageClient) -> None:
    rules = """\
program(1.3)[rules = "1"]
{
    func find_gate(x)[where = "rank(x) == 2"] {
            y = mul(x, sigmoid(x));
        } -> (y);
    func replace_gate(x) {
            y = silu(x);
        } -> (y);
    func example_gate<ios17>(tensor<fp32, [2, 4]> x) {
            y = mul(sigmoid(x), x);
        } -> (y);
}
"""
    document = OpenDocument(client, rules)
    assert await document.diagnosed() == []
    document.rewrite(rules.replace("silu", "silux").replace('"rank(x)', '"rank(q)'))
    found = await document.diagnosed()
    assert [document.told(each.range) for each in found] == ['where = "rank(q) == 2"']
    assert seen(found) == document.expected()
    document.rewrite(rules.replace("silu", "silux").replace("sigmoid(x), x)", "sigmoid(x), x, x)"))
    found = await document.diagnosed()
    assert [(each.code, document.told(each.range)) for each in found] == [("MIL870", "y = silux(x);")]
    described = await hovered(document, **document.at("sigmoid"))
    assert "sigmoid" in described


async def test_the_settings_of_a_project_count(client: LanguageClient, tmp_path: Path) -> None:
    wrong = PROGRAM.replace("y = half", "y = haIf")
    settings = tmp_path / "pyproject.toml"
    times = count(1)

    async def codes(name: str, text: str) -> list[object]:
        settings.write_text(f"[tool.miltext]\n{text}\n")
        os.utime(settings, ns=(1, next(times)))
        document = OpenDocument(client, wrong, (tmp_path / name).as_uri())
        return [found.code for found in await document.diagnosed()]

    assert await codes("a.mil", "") == ["MIL604"]
    assert await codes("b.mil", 'ignore = ["MIL6"]') == []
    assert await codes("c.mil", 'exclude = ["c.mil"]') == []
    assert await codes("d.mil", 'per-file-ignores = {"e.mil" = ["MIL604"]}') == ["MIL604"]
    assert await codes("e.mil", 'per-file-ignores = {"e.mil" = ["MIL604"]}') == []
    wrong = TINY_DRAFT
    assert await codes("g.mil", "") == ["MIL712"]
    assert await codes("h.mil", 'advisories = "usual"') == ["MIL881", "MIL712"]
    (tmp_path / "own.mil").write_text(OWN_RULE, encoding="utf-8")
    assert await codes("i.mil", 'rules = ["own.mil"]') == ["MIL874", "MIL712"]
    assert await codes("j.mil", 'rules = ["own.mil"]\nadvisories = "usual"') == ["MIL881", "MIL874", "MIL712"]
    wrong = PROGRAM
    assert await codes("m.mil", 'profile = "ane-m4-macos27"') == ["MIL894"]
    assert await codes("n.mil", 'profile = "ane-m4"') == ["MIL891"]
    assert await codes("o.mil", 'profile = "off"') == []
    wrong = 'program(1.3)[rules = "1"]\n{\n    func find_a(x) {\n y = relu(x);\n } -> (y);\n}\n'
    assert await codes("k.mil", 'rules = ["own.mil"]') == []
    wrong = wrong.replace("relu", "rellu")
    assert await codes("l.mil", "") == ["MIL870"]
    wrong = PROGRAM.replace("y = half", "y = haIf")
    document = OpenDocument(client, wrong, (tmp_path / "f.mil").as_uri())
    settings.write_text("[tool.miltext]\n\nignroe = []\n")
    document.rewrite(wrong + "\n")
    refused, _ = await document.diagnosed()
    assert refused.code == "MIL461"
    assert refused.message.startswith(f"{settings}:3: `[tool.miltext]` has no setting `ignroe`")
    assert refused.range.start == lsp.Position(0, 0)


async def test_a_draft_is_information_or_an_error_by_the_settings(client: LanguageClient, tmp_path: Path) -> None:
    document = OpenDocument(client, DRAFT, (tmp_path / "a.mil").as_uri())
    [notice] = await document.diagnosed()
    assert (notice.code, notice.severity) == ("MIL712", lsp.DiagnosticSeverity.Information)
    (tmp_path / "pyproject.toml").write_text("[tool.miltext]\ndrafts = false\n")
    document = OpenDocument(client, DRAFT, (tmp_path / "b.mil").as_uri())
    [refused] = await document.diagnosed()
    assert (refused.code, refused.severity) == ("MIL712", lsp.DiagnosticSeverity.Error)
    assert "`drafts = false`" in refused.message
    (action,) = await actions(document, refused.range)
    assert applied(document, action) == infer_draft(DRAFT)


async def test_a_comment_ignores_findings_on_its_line(client: LanguageClient) -> None:
    document = OpenDocument(client, PROGRAM.replace("y = half", "y = haIf"))
    assert [found.code for found in await document.diagnosed()] == ["MIL604"]
    document.rewrite(re.sub("(.*haIf.*)", r"\1 // mil: ignore[MIL604]", document.text))
    assert await document.diagnosed() == []


@pytest.mark.parametrize("name", [*DRAFTS, *BROKEN])
async def test_diagnostics_of_the_short_spelling_equal_those_of_check(client: LanguageClient, name: str) -> None:
    document = OpenDocument(client, {**DRAFTS, **BROKEN}[name])
    assert seen(await document.diagnosed()) == document.expected() != []


@pytest.mark.parametrize("name", DRAFTS)
async def test_an_action_writes_the_short_spelling_out(client: LanguageClient, name: str) -> None:
    document = OpenDocument(client, DRAFTS[name])
    notice = next(each for each in await document.diagnosed() if each.code == "MIL712")
    (action,) = await actions(document, notice.range)
    assert applied(document, action) == infer_draft(DRAFTS[name])


async def test_an_action_writes_the_parts_that_the_head_requests(client: LanguageClient) -> None:
    marked = DRAFT.replace("program(1.3)", "program(1.3) $draft(names, consts, defaults)")
    document = OpenDocument(client, marked)
    (action,) = await actions(document, document.span("_ y"))
    assert applied(document, action) == miltext.infer_draft(DRAFT, names=True, consts=True, defaults=True)


async def test_an_action_makes_a_draft_whole(client: LanguageClient) -> None:
    document = OpenDocument(client, DRAFT)
    (action,) = await actions(document, document.span("_ y"))
    assert applied(document, action) == miltext.infer_draft(DRAFT)


# ---- real texts


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil", "rejected/*.mil", "runtime_dumps/*.mil"))
async def test_everything_is_answered_about_a_text_of_the_corpus(client: LanguageClient, path: Path) -> None:
    document = OpenDocument(client, path.read_bytes().decode())
    assert seen(await document.diagnosed()) == document.expected()
    middle = document.position(len(document.text) // 2)
    place: dict[str, Any] = {"text_document": document.id, "position": middle}
    await client.text_document_hover_async(lsp.HoverParams(**place))
    await client.text_document_completion_async(lsp.CompletionParams(**place))
    await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document.id))
    await client.text_document_folding_range_async(lsp.FoldingRangeParams(document.id))
    found = await client.text_document_document_symbol_async(lsp.DocumentSymbolParams(document.id))
    assert found or path.parent.name == "rejected"
    edits = await client.text_document_formatting_async(lsp.DocumentFormattingParams(document.id, OPTIONS))
    if path.parent.name != "rejected":
        assert document.edited(edits or ()) == miltext.format_text(document.text)


# ---- sessions of their own


async def test_the_page_lists_the_served_requests() -> None:
    from miltext.lsp.requests import REQUESTS

    page = (ROOT / "docs" / "language-server.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = {method for row in rows for method in re.findall(r"`(.+?)`", row)}
    others = {lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lsp.COMPLETION_ITEM_RESOLVE, lsp.WORKSPACE_SYMBOL}
    assert listed - others == {request.method for request in REQUESTS}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_positions_are_in_the_clients_encoding(encoding: str) -> None:
    config = ClientServerConfig(server_command=SERVER, client_factory=make_client)
    client: Any = await config.start()
    general = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind(encoding)])
    capabilities = lsp.ClientCapabilities(general=general)
    result = await client.initialize_session(lsp.InitializeParams(capabilities, root_uri=None))
    assert result.capabilities.position_encoding == encoding
    remark = "/* 😀é漢 */ "
    marked = PROGRAM.replace("tensor<fp16, [1, 2]> y", f"{remark}tensor<fp16, [1, 2]> y")
    document = OpenDocument(client, marked, None, encoding)
    await document.diagnosed()
    place = document.at("half)")
    width = {"utf-8": len(remark.encode()), "utf-16": len(remark) + 1, "utf-32": len(remark)}[encoding]
    assert place["position"].character == PROGRAM.splitlines()[4].index("half)") + width
    found = await client.text_document_definition_async(lsp.DefinitionParams(**place))
    assert document.told(found.range) == "half"
    document.change(document.span("half)"), "whole)")
    assert seen(await document.diagnosed()) == document.expected() != []
    await client.shutdown_session()
    await client.stop()


async def test_a_client_that_can_do_little_is_sent_little() -> None:
    config = ClientServerConfig(server_command=SERVER, client_factory=make_client)
    client: Any = await config.start()
    hover = lsp.HoverClientCapabilities(content_format=[lsp.MarkupKind.PlainText])
    capabilities = lsp.ClientCapabilities(text_document=lsp.TextDocumentClientCapabilities(hover=hover))
    await client.initialize_session(lsp.InitializeParams(capabilities, root_uri=None))
    document = OpenDocument(client, PROGRAM)
    said = await hovered(document, **document.at("half)"))
    assert said.startswith("tensor<fp16, [2]> half\n")
    items = await completed(client, PROGRAM.replace("relu(x = y)", MARK))
    assert {item.insert_text_format for item in items} == {lsp.InsertTextFormat.PlainText}
    edit = await client.text_document_rename_async(lsp.RenameParams(new_name="new", **document.at("half)")))
    assert edit.document_changes is None
    assert document.edited(edit.changes[document.uri]).count("new") == 3
    await client.shutdown_session()
    await client.stop()
    assert client._server.returncode == 0
