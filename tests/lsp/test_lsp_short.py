"""The server on drafts in the short spelling: what it says of nested operations and of arguments by their place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from support.short_drafts import BROKEN, DRAFTS, FEED_FORWARD, WITH_BLOCKS

import miltext
from miltext.building.editing import rename as rename_everywhere
from miltext.lsp import folding, symbols
from miltext.lsp.completion import complete, signature_help
from miltext.lsp.documents import Document, View
from miltext.lsp.hints import inlay_hints
from miltext.lsp.hover import hover
from miltext.lsp.naming import definition, references, rename
from miltext.lsp.positions import Positions
from miltext.lsp.reading import Reading, read_past, read_whole
from miltext.lsp.requests import REQUESTS
from miltext.lsp.semantic_tokens import TYPES, tokens
from miltext.lsp.server import Server
from miltext.parsing import recovery
from miltext.parsing.parser import parse_tree
from miltext.syntax.editing import edited
from miltext.syntax.tree import Node, walk

DOCUMENT = lsp.TextDocumentIdentifier("untitled:x")
MARK = "§"
EVERYWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(2**31 - 1, 0))


def view_of(text: str, before: Reading | None = None) -> View:
    reading = before or read_whole(text) or read_past(text)
    return View(Document("untitled:x", 1, Positions(text), reading=reading), reading)


def place(view: View, part: str, along: int = 0) -> Any:
    """The document and a place in it, `along` so many characters from the beginning of a part."""
    return DOCUMENT, view.document.position(view.document.text.index(part) + along)


def told(view: View, range: lsp.Range) -> tuple[int, str]:
    """Where a range begins, and what is in it."""
    start, end = view.document.span(range)
    return start, view.document.text[start:end]


# ---- hovering


def hovered(view: View, part: str, along: int = 0) -> str:
    found = hover(view, lsp.HoverParams(*place(view, part, along)))
    if found is None:
        return ""
    assert isinstance(found.contents, lsp.MarkupContent)
    return found.contents.value


@pytest.mark.parametrize(
    ("part", "along", "said"),
    [
        ("mean = reduce", 0, "tensor<fp16, [1, 1, 1, 4]> mean"),
        ("mean = reduce", 0, "made by `reduce_mean` in line 6; used once"),
        ("mean, epsilon", 0, "tensor<fp16, [1, 1, 1, 4]> mean"),
        ("mean, epsilon", 0, "`x`: fp16 | fp32; required"),
        ("square(x)", 0, "square<ios15>(x)"),
        ("square = square", 0, "tensor<fp16, [1, 8, 1, 4]> square"),
        ("rsqrt(", 2, "```mil\ntensor<fp16, [1, 1, 1, 4]>\n```"),
        ("rsqrt(", 2, "rsqrt<ios17>(x, epsilon?)"),
        ("rsqrt(", 2, "\n\n`y`: fp16 | fp32 | int32; required"),
        ("silu(", 0, "\n\n`x`: fp16 | fp32 | int32; required"),
        ("relu(gate", 0, "\n\n`values`: "),
        ("mul(first", 0, "```mil\ntensor<fp16, [1, 6, 1, 4]>\n```"),
        ("[1], keep", 1, "```mil\ntensor<int32, [1]>\n```\n\n`axes`: int32"),
        ("0.5);", 1, "```mil\nfp16\n```\n\n`y`: "),
        ("1e-3", 0, "```mil\nfp16\n```"),
        ("epsilon = ", 0, "`epsilon`: fp16 | fp32"),
        ("keep_dims", 0, "`keep_dims`: bool; optional"),
        ("up)), conv", 0, "`weight`: fp16"),
        ("gate, relu", 0, "`values`: "),
        ("gate)), axis", 0, "`x`: fp16 | fp32; required"),
        ("first, second)", 0, "made by `split` in line 9"),
    ],
)
def test_hovering_reports_parts_that_the_short_spelling_omits(part: str, along: int, said: str) -> None:
    assert said in hovered(view_of(FEED_FORWARD), part, along)


def test_hovering_reports_no_parameter_of_a_statement() -> None:
    said = hovered(view_of(FEED_FORWARD), "reduce_mean(")
    assert said.startswith("```\nreduce_mean<ios15>(")


def test_hovering_reports_nothing_about_a_missing_parameter() -> None:
    view = view_of(FEED_FORWARD.replace("silu(conv", "silu(x, up, conv").replace("relu(gate)", "odd(gate)"))
    assert "required" not in hovered(view, "up, conv")
    assert hovered(view, "odd(").endswith("Unknown operation `odd`.")
    assert "required" not in hovered(view, "gate)), axis")
    assert "required" not in hovered(view, "first, second")  # an output


# ---- hints


def hints(view: View, range: lsp.Range = EVERYWHERE) -> list[tuple[str, str]]:
    """The label of each hint, and what comes behind it."""
    found = inlay_hints(view, lsp.InlayHintParams(DOCUMENT, range))
    offsets = [view.document.offset(hint.position) for hint in found]
    assert offsets == sorted(offsets)
    return [(str(hint.label), view.text[at : at + 6]) for hint, at in zip(found, offsets, strict=True)]


def test_hints_show_types_and_parameters() -> None:
    view = view_of(FEED_FORWARD)
    line = view.range(FEED_FORWARD.index("mean ="), FEED_FORWARD.index("gate ="))
    whole = "tensor<fp16, [1, 8, 1, 4]>"
    assert hints(view, line)[:8] == [
        ("tensor<fp16, [1, 1, 1, 4]>", "mean ="),
        ("x =", "square"),
        ("axes =", "[1], k"),
        ("tensor<int32, [1]>", "[1], k"),
        ("bool", "true)["),
        ("string", '"mean"'),
        (whole, "normed"),
        ("x =", "mul(x,"),
    ]
    assert ("values =", "(gate,") in hints(view)
    assert ("x =", "x)") not in [(label, behind[:2]) for label, behind in hints(view)]  # it says so itself


@pytest.mark.parametrize("name", DRAFTS)
def test_each_value_without_a_type_has_a_hint_with_it(name: str) -> None:
    text = DRAFTS[name]
    whole = miltext.infer_draft(text)
    made = [node for node in walk(parse_tree(whole).root) if node.name in ("results", "inner_block")]
    heads = [*[found if found.name == "results" else found.children[0] for found in made]]
    values = [value for head in heads for value in head.children if value.name == "named_value"]
    types = [whole[slice(*value.children[0].span)] for value in values]
    view = view_of(text)
    found = inlay_hints(view, lsp.InlayHintParams(DOCUMENT, EVERYWHERE))
    calls = {node.start for node in walk(view.reading.root) if node.name == "call"}
    open_values = {node.start for node in walk(view.reading.root) if node.name == "draft_value"}
    shown = [
        str(hint.label)
        for hint in found
        if hint.kind == lsp.InlayHintKind.Type
        and (view.document.offset(hint.position) in calls | open_values or hint.padding_left)
    ]
    assert sorted(shown) == sorted(types)
    assert len(calls) + len(open_values) == len(types)


@pytest.mark.parametrize("name", DRAFTS)
def test_accepted_hints_change_nothing_that_is_inferred(name: str) -> None:
    view = view_of(DRAFTS[name])
    found = inlay_hints(view, lsp.InlayHintParams(DOCUMENT, EVERYWHERE))
    edits = [(*view.span(edit.range), edit.new_text) for hint in found for edit in hint.text_edits or ()]
    assert edits
    assert miltext.infer_draft(edited(view.text, edits).text) == miltext.infer_draft(view.text)


# ---- names


@pytest.mark.parametrize("name", DRAFTS)
def test_renaming_reaches_nested_operations(name: str) -> None:
    text, view = DRAFTS[name], view_of(DRAFTS[name])
    values = {id(value): value for _, value in view.scopes.found if value and not value.is_function}
    assert [name.text for name, value in view.scopes.found if value is None] == []
    for value in values.values():
        position = view.document.position(value.name.start)
        edit = rename(view, lsp.RenameParams(DOCUMENT, position, "entirely_new"))
        assert edit is not None
        assert edit.changes is not None
        changed = edited(text, [(*view.span(each.range), each.new_text) for each in edit.changes["untitled:x"]]).text
        if sum(other.name.text == value.name.text for other in values.values()) == 1:
            assert changed == rename_everywhere(text, value.name.text, "entirely_new")
        assert [each.code for each in miltext.check(changed)] == [each.code for each in miltext.check(text)]


@pytest.mark.parametrize("spelled", ['string("mean")', '"mean"'])
def test_the_name_of_an_operation_moves(spelled: str) -> None:
    text = FEED_FORWARD.replace('"mean"', spelled)
    renamed = text.replace("mean =", "average =").replace("(mean", "(average").replace('"mean"', '"average"')
    assert rename_everywhere(text, "mean", "average") == renamed
    view = view_of(text)
    edit = rename(view, lsp.RenameParams(DOCUMENT, place(view, "mean, ")[1], "average"))
    assert edit is not None
    assert edit.changes is not None
    assert (
        edited(text, [(*view.span(each.range), each.new_text) for each in edit.changes["untitled:x"]]).text == renamed
    )


def test_a_name_leads_to_its_definition_from_a_nested_operation() -> None:
    view = view_of(WITH_BLOCKS)
    found = definition(view, lsp.DefinitionParams(*place(view, "x)));")))
    assert found is not None
    assert told(view, found.range) == (WITH_BLOCKS.index("x, tensor"), "x")
    uses = references(view, lsp.ReferenceParams(lsp.ReferenceContext(False), *place(view, "z = cond")))
    starts = [WITH_BLOCKS.index("z, sigmoid"), WITH_BLOCKS.index("z));")]
    assert [told(view, each.range) for each in uses or ()] == [(start, "z") for start in starts]


# ---- what there is


def labels(statement: str) -> list[str]:
    """What completes a statement, which comes behind those of FEED_FORWARD."""
    marked = FEED_FORWARD.replace("        } ->", f"            {statement}\n        }} ->")
    at = marked.index(MARK)
    view = view_of(marked.replace(MARK, ""), read_whole(FEED_FORWARD))
    found = complete(view, lsp.CompletionParams(DOCUMENT, view.document.position(at)))
    return [item.label for item in found.items]


def test_arguments_are_completed_by_their_place() -> None:
    values = ["out", "first", "second", "gate", "normed", "mean", "square", "x", "up", "down"]
    assert labels(f"y = conv({MARK}")[:3] == ["x", "weight", "bias"]
    assert {*labels(f"y = conv({MARK}")} >= {*values}
    assert {*labels(f"y = conv(x, {MARK}")[:10]} == {*values}
    assert labels(f"y = conv(x, {MARK}")[10:12] == ["weight", "bias"]
    assert labels(f"y = conv(x, up, {MARK}")[10:12] == ["bias", "strides"]
    assert {*labels(f"y = concat((x, {MARK}")[:10]} == {*values}
    assert labels(f"y = concat((x, gate), {MARK}")[10:12] == ["axis", "interleave"]
    assert labels(f"y = mul(relu(x), g{MARK}")[:1] == ["gate"]
    assert labels(f"y = mul(x = relu(g{MARK}")[:1] == ["gate"]
    assert "gate" not in labels(f"y = conv(x, weight = up, {MARK}")  # a value cannot be there


def test_operations_complete_an_argument() -> None:
    assert {"sigmoid", "silu"} <= {*labels(f"y = mul(x, si{MARK}")}
    assert {"sigmoid", "silu"} <= {*labels(f"y = mul(x = si{MARK}")}
    assert "softmax" in labels(f"y = mul(relu<ios17>(soft{MARK}")
    assert not {"split", "while_loop"} & {*labels(f"y = mul(spl{MARK}"), *labels(f"y = mul(whi{MARK}")}
    assert "silu" not in labels(f"y = mul(x, x = x, sil{MARK}")


@pytest.mark.parametrize("name", DRAFTS)
def test_the_words_at_a_place_complete_it(name: str) -> None:
    text = DRAFTS[name]
    reading = read_whole(text)
    assert reading is not None
    for word in words(reading.root):
        for typed, rest in [(0, text[word.end :]), (len(word.token or "") // 2, text[word.end :]), (1, "")]:
            document = Document("untitled:x", 2, Positions(text[: word.start + typed] + rest), before=reading)
            position = document.position(word.start + typed)
            offered = complete(View(document, reading), lsp.CompletionParams(DOCUMENT, position))
            assert offered.is_incomplete or word.token in [item.label for item in offered.items], (word, typed, rest)


def words(root: Node) -> Iterator[Node]:
    for phrase in walk(root):
        if phrase.name in ("name_binding", "call", "single_argument", "outputs"):
            yield from (child for child in phrase.children if child.name == "NAME")


@pytest.mark.parametrize(
    ("written", "operation", "parameter"),
    [
        ("conv(", "conv", "x"),
        ("conv(x, ", "conv", "weight"),
        ("conv(relu(", "relu", "x"),
        ("conv(relu(x), ", "conv", "weight"),
        ("conv(relu<ios17>(", "relu", "x"),
        ("conv(x, up, bias = ", "conv", "bias"),
        ("conv(x, up, bias = silu(", "silu", "x"),
        ("concat((x, ", "concat", "values"),
        ("concat((x, gate), ", "concat", "axis"),
    ],
)
def test_the_signature_matches_the_innermost_operation(written: str, operation: str, parameter: str) -> None:
    marked = FEED_FORWARD.replace("        } ->", f"            y = {written}{MARK}\n        }} ->")
    view = view_of(marked.replace(MARK, ""), read_whole(FEED_FORWARD))
    position = view.document.position(marked.index(MARK))
    found = signature_help(view, lsp.SignatureHelpParams(DOCUMENT, position))
    assert found is not None
    assert found.active_parameter is not None
    (shown,) = found.signatures
    assert shown.label.startswith(f"{operation}<")
    label = (shown.parameters or ())[found.active_parameter].label
    assert str(label).split(":")[0].rstrip("?") == parameter


# ---- the shape, and the words


def test_symbols_are_the_values() -> None:
    (function,) = symbols.symbols(view_of(FEED_FORWARD), lsp.DocumentSymbolParams(DOCUMENT))
    names = [each.name for each in function.children or ()]
    assert names == ["square", "mean", "normed", "gate", "first", "out"]


def test_selections_grow_through_nested_operations() -> None:
    view = view_of(FEED_FORWARD)
    (found,) = folding.selections(view, lsp.SelectionRangeParams(DOCUMENT, [place(view, "first, second)")[1]]))
    parts: list[str] = []
    selection: lsp.SelectionRange | None = found
    while selection is not None:
        parts.append(told(view, selection.range)[1])
        selection = selection.parent
    assert parts[:3] == ["first", "(first, second)", "mul(first, second)"]


def test_each_word_has_its_meaning() -> None:
    view = view_of(FEED_FORWARD)
    data = list(tokens(view, lsp.SemanticTokensParams(DOCUMENT)).data)
    found, line, character = [], 0, 0
    for at in range(0, len(data), 5):
        down, along, length, kind, _ = data[at : at + 5]
        line, character = line + down, along if down else character + along
        start = view.document.offset(lsp.Position(line, character))
        found.append((view.text[start : start + length], TYPES[kind]))
    assert [kind for word, kind in found if word == "square"] == ["variable", "function", "variable"]
    assert {kind for word, kind in found if word in ("mul", "conv", "rsqrt", "relu")} == {"function"}
    assert {kind for word, kind in found if word in ("gate", "normed", "first", "second")} == {"variable"}
    assert {kind for word, kind in found if word in ("epsilon", "name", "weight")} == {"property"}


# ---- any text


def answers(view: View, position: lsp.Position) -> None:
    """Ask everything about a place; a request may be refused, in words."""
    for request in REQUESTS:
        kind: Any = lsp.METHOD_TO_TYPES[request.method][2]
        names = {field.name for field in kind.__attrs_attrs__}
        if "position" not in names and "positions" not in names:
            continue
        known = {"text_document": DOCUMENT, "position": position, "positions": [position], "new_name": "fresh"}
        if request.method.endswith("references"):
            known["context"] = lsp.ReferenceContext(True)
        try:
            request.answer(view, kind(**{name: known[name] for name in names & {*known}}))
        except JsonRpcException as refused:
            assert refused.code == lsp.LSPErrorCodes.RequestFailed  # noqa: PT017


@pytest.mark.parametrize("name", DRAFTS)
def test_every_place_is_answered(name: str) -> None:
    view = view_of(DRAFTS[name])
    for offset in range(len(view.text) + 1):
        answers(view, view.document.position(offset))


@pytest.mark.parametrize("wrong", BROKEN)
def test_every_place_of_a_broken_text_is_answered(wrong: str) -> None:
    text = BROKEN[wrong]
    view = view_of(text)
    for offset in range(0, len(text) + 1, 3):
        answers(view, view.document.position(offset))
    for name, value in view.scopes.found:  # the tree has the places of what was written
        assert text[name.start : name.end] == name.text
        assert value is None or text[value.name.start : value.name.end] == name.text
    inlay_hints(view, lsp.InlayHintParams(DOCUMENT, EVERYWHERE))
    tokens(view, lsp.SemanticTokensParams(DOCUMENT))
    symbols.symbols(view, lsp.DocumentSymbolParams(DOCUMENT))
    folding.folding(view, lsp.FoldingRangeParams(DOCUMENT))


@pytest.mark.parametrize("name", DRAFTS)
def test_every_beginning_of_a_text_is_completed(name: str) -> None:
    text = DRAFTS[name]
    reading = read_whole(text)
    for end in range(len(text)):
        view = view_of(text[:end], reading)
        position = view.document.position(end)
        complete(view, lsp.CompletionParams(DOCUMENT, position))
        signature_help(view, lsp.SignatureHelpParams(DOCUMENT, position))


# ---- how often it is read


@pytest.mark.parametrize("name", [*DRAFTS, *BROKEN])
def test_a_check_reads_a_text_once_and_keeps_the_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, read = (DRAFTS | BROKEN)[name], list[str]()

    class Counted(recovery._RecoveringParse):
        def __init__(self, text: str) -> None:
            read.append(text)
            super().__init__(text)

    monkeypatch.setattr(recovery, "_RecoveringParse", Counted)
    expected = read_past(text)
    inferred = expected.inferred
    read.clear()
    recovery.recover(text)
    needed = [*read]
    server = Server()
    document = Document("untitled:x", 2, Positions(text), before=read_whole(FEED_FORWARD))
    server.documents[document.uri] = document
    server._read(document)
    read.clear()
    assert server._checked(document) == miltext.check(text)
    assert read == [*needed, *needed]  # the second time by `check`
    assert document.reading is not None
    assert document.reading.__dict__["inferred"] == inferred
    if not document.reading.is_whole:
        assert document.reading.root == expected.root


# ---- the marker in the head


@pytest.mark.parametrize(
    ("head", "offered"),
    [
        ("$draft(§)", ["names", "consts", "defaults"]),
        ("$draft(c§", ["consts"]),
        ("$draft(names, §)", ["consts", "defaults"]),
        ("$draft(names, d§)", ["defaults"]),
        ("$draft(names§)", ["names"]),
        ("$d§", ["$draft", "$doc"]),
        ("$draft(names) [§]", ["name"]),
    ],
)
def test_completion_offers_the_words_of_the_marker(head: str, offered: list[str]) -> None:
    text = FEED_FORWARD.replace("program(1.3)", f"program(1.3) {head}", 1)
    at = text.index(MARK)
    view = view_of(text.replace(MARK, ""))
    found = complete(view, lsp.CompletionParams(DOCUMENT, view.document.position(at)))
    assert sorted(item.label for item in found.items) == sorted(offered)


def test_the_marker_and_its_words_are_of_one_kind() -> None:
    view = view_of(FEED_FORWARD.replace("program(1.3)", "program(1.3) $draft(names, consts)", 1))
    data = tokens(view, lsp.SemanticTokensParams(DOCUMENT)).data
    first = [TYPES[kind] for kind in data[3 : 5 * 6 : 5]]
    assert first[:5] == ["keyword", "number", "macro", "macro", "macro"]
