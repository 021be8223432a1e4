"""The server's laws: it never dies, whatever a client sends; what it says is true; what it edits stays the same."""

from __future__ import annotations

import asyncio
import itertools
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from random import Random
from typing import Any

import pytest

pytest.importorskip("pytest_lsp", reason="needs pytest-lsp, which speaks to the server as an editor does")
pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

import pytest_lsp
from conftest import CORPUS, GOLDEN
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from support.json_rpc import BAD_FRAMES, answers_of, message, next_of
from support.lsp_documents import SERVER, OpenDocument, make_client, seen
from support.short_drafts import DRAFTS

import miltext
from miltext.building.editing import rename as rename_everywhere
from miltext.diagnostics import ParseError
from miltext.lsp import context, folding, symbols
from miltext.lsp.completion import complete
from miltext.lsp.documents import Document, View
from miltext.lsp.naming import rename
from miltext.lsp.positions import Positions
from miltext.lsp.reading import NOTHING, Reading, read_past, read_whole
from miltext.lsp.requests import REQUESTS, Request
from miltext.lsp.semantic_tokens import tokens
from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.scopes import Meaning, Scopes
from miltext.syntax.editing import edited
from miltext.syntax.phrases import Name
from miltext.syntax.tree import Node, tree_of

PATHS = [*sorted(GOLDEN.glob("check/*.mil")), GOLDEN / "highlight" / "everything.mil"]
PATHS += [path for path in sorted(CORPUS.glob("*/*.mil")) if path.stat().st_size < 6_000][:12]
PATHS += [GOLDEN / "highlight" / "short.mil"]
NAMES = [*(path.stem for path in PATHS), *DRAFTS]
TEXTS = [*(path.read_bytes().decode() for path in PATHS), *DRAFTS.values()]
BITS = [
    *"(){}[]<>;,=$\"_?\\\n\r 01ax",
    *"😀\u2028\0\ud800",
    *("/*", "//", "func ", "tensor<", "fp16", "= relu(x = x)", "-> (", "} -> (x);", "_ y = ", "\r\n"),
]  # fmt: skip
OPTIONS = lsp.FormattingOptions(tab_size=4, insert_spaces=True)

places = st.builds(lsp.Position, st.integers(0, 40) | st.just(2**31 - 1), st.integers(0, 90) | st.just(2**31 - 1))
ranges = st.builds(lsp.Range, places, places)
changes = st.builds(lsp.TextDocumentContentChangePartial, ranges, st.sampled_from(BITS) | st.just(""))


def parameters(request: Request, uri: str, where: lsp.Range) -> Any:
    """What a request is asked with."""
    document = lsp.TextDocumentIdentifier(uri)
    kind: Any = lsp.METHOD_TO_TYPES[request.method][2]
    context = lsp.ReferenceContext(True) if "references" in request.method else lsp.CodeActionContext([])
    known = {
        "text_document": document,
        "position": where.start,
        "positions": [where.start, where.end],
        "range": where,
        "context": context,
        "new_name": "fresh",
        "options": OPTIONS,
    }
    names = {each.name for each in kind.__attrs_attrs__} & {*known}
    names -= {"context"} if request.method.endswith(("completion", "signatureHelp")) else set()
    return kind(**{name: known[name] for name in names})


def read(text: str) -> Reading:
    return read_whole(text) or read_past(text)


def asked(view: View, where: lsp.Range) -> dict[str, Any]:
    """The answers to all requests about a place; None where one is refused."""
    return {request.method: answered(request, view, where) for request in REQUESTS}


def answered(request: Request, view: View, where: lsp.Range) -> Any:
    try:
        return request.answer(view, parameters(request, view.document.uri, where))
    except JsonRpcException as refused:
        if refused.code == lsp.LSPErrorCodes.RequestFailed:
            return None
        raise


def applied(document: Document, edits: Any) -> str:
    """The document's text with edits, as a client applies them."""
    positions = document.positions
    placed = [
        (positions.offset(each.range.start.line, each.range.start.character), each.range, each.new_text)
        for each in edits
    ]
    text = document.text
    for start, where, new in sorted(placed, key=lambda edit: edit[0], reverse=True):
        text = text[:start] + new + text[positions.offset(where.end.line, where.end.character) :]
    return text


# ---- without the protocol


@settings(max_examples=60)
@given(st.sampled_from(TEXTS), st.lists(changes, min_size=1, max_size=4), ranges)
def test_every_request_is_answered_about_any_text(text: str, edits: list[Any], where: lsp.Range) -> None:
    document = Document("untitled:x", 1, Positions(text), reading=read(text))
    for version, edit in enumerate(edits, 2):
        document = document.edited(version, [edit])
        if document.before:
            asked(View(document, document.before), where)
        document.reading = read(document.text)
        answers = asked(View(document, document.reading), where)
    try:
        formatted = miltext.format_text(document.text)
    except ParseError:
        formatted = document.text
    assert applied(document, answers[lsp.TEXT_DOCUMENT_FORMATTING]) == formatted


@given(st.lists(st.sampled_from(BITS), max_size=40).map("".join), st.lists(changes, max_size=5))
def test_edits_are_applied_as_the_client_means_them(text: str, edits: list[Any]) -> None:
    document = Document("untitled:x", 1, Positions(text))
    edited = document.edited(2, edits)
    expected = document
    for edit in edits:
        lines = Positions(expected.text)
        start = lines.offset(edit.range.start.line, edit.range.start.character)
        end = lines.offset(edit.range.end.line, edit.range.end.character)
        start, end = min(start, end), max(start, end)
        text = expected.text[:start] + edit.text + expected.text[end:]
        expected = Document("untitled:x", 2, Positions(text))
    assert (edited.text, edited.version) == (expected.text, 2)


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_a_part_of_the_layout_is_equal(text: str) -> None:
    random = Random(7)
    ragged = "\n".join(" " * random.randrange(9) + line.lstrip(" ") for line in text.split("\n"))
    try:
        whole = miltext.format_text(ragged)
    except ParseError:
        return
    document = Document("untitled:x", 1, Positions(ragged), reading=read(ragged))
    request = next(each for each in REQUESTS if each.method == lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    assert document.reading is not None
    for _ in range(5):
        first, last = sorted(random.randrange(ragged.count("\n") + 1) for _ in "ab")
        where = lsp.Range(lsp.Position(first, 0), lsp.Position(last, 99))
        edits = request.answer(View(document, document.reading), parameters(request, "untitled:x", where))
        assert miltext.format_text(applied(document, edits)) == whole
        assert all(each.range.start.line <= last and each.range.end.line >= first for each in edits)


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_the_coarse_tree_agrees_with_the_fine_tree(text: str) -> None:
    reading = read_whole(text)
    try:
        traced = parse_tree(text)
    except ParseError:
        return
    assert reading is not None
    fine = Reading(text, traced.root, traced.comments, is_whole=True)
    assert [(name, value and value.name) for name, value in reading.scopes.found] == [
        (name, value and value.name) for name, value in fine.scopes.found
    ]
    views = [View(Document("untitled:x", 1, Positions(text), reading=each), each) for each in (reading, fine)]
    document: Any = lsp.SemanticTokensParams(lsp.TextDocumentIdentifier("untitled:x"))
    for answer in (tokens, symbols.symbols, folding.folding):
        assert answer(views[0], document) == answer(views[1], document)
    types = [
        [view.reading.type_of(value, ask=True) for _, value in view.scopes.found if value and not value.is_function]
        for view in views
    ]
    assert types[0] == types[1]


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_renaming_and_renaming_back_changes_nothing(text: str) -> None:
    reading = read_whole(text)
    values = [value for _, value in reading.scopes.found if value] if reading else []
    for value in Random(7).sample(values, min(6, len(values))):
        document, old = Document("untitled:x", 1, Positions(text), reading=reading), value.name.text
        for new in ("entirely_new", old):
            assert document.reading is not None
            view = View(document, document.reading)
            place = document.position(value.name.start)
            try:
                edit = rename(view, lsp.RenameParams(lsp.TextDocumentIdentifier("untitled:x"), place, new))
            except JsonRpcException:
                assert old == "" or miltext.check(text) != []
                break
            assert edit is not None
            assert edit.changes is not None
            changed = applied(document, edit.changes["untitled:x"])
            document = Document("untitled:x", 1, Positions(changed), reading=read_whole(changed))
        else:
            assert document.text.replace(f'$"{old}"', old) == text.replace(f'$"{old}"', old)


WORDS = ("name_binding", "operation", "single_argument", "argument", "outputs", "opset", "dtype")
"""The phrases whose names, and data types, are known before they are written."""


def words(root: Node) -> Iterator[Node]:
    todo = [root]
    while todo:
        phrase = todo.pop()
        todo += phrase.children
        if phrase.name in WORDS:
            yield from (child for child in phrase.children if child.name in ("NAME", "DTYPE"))


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_the_words_at_a_place_complete_it(text: str) -> None:
    reading = read_whole(text)
    if reading is None or miltext.check(text):
        return
    found = list(words(reading.root))
    for word in Random(7).sample(found, min(25, len(found))):
        assert word.token is not None
        for typed, rest in itertools.product((0, len(word.token) // 2), (text[word.end :], "")):
            document = Document("untitled:x", 2, Positions(text[: word.start + typed] + rest), before=reading)
            place = lsp.Position(*document.positions.position(word.start + typed))
            parameters = lsp.CompletionParams(lsp.TextDocumentIdentifier("untitled:x"), place)
            offered = complete(View(document, reading), parameters)
            assert offered.is_incomplete or word.token in [item.label for item in offered.items], (word, typed, rest)


NOT_SEEN = ("MIL604", "MIL605", "MIL606")
"""The codes of a name that is used where no definition of it is seen."""


def is_seen(scopes: Scopes, use: Name, value: Meaning | None) -> bool:
    """Whether a name means something that is defined before it, in its block or one around; or defines that."""
    if value is None or value.is_function or use == value.name:
        return value is not None
    return value.seen_from <= use.start and scopes.seeing(value)[0] in scopes.around(use.start)


@settings(max_examples=150)
@given(st.sampled_from(TEXTS), st.data())
def test_names_have_the_meaning_of_the_checker(text: str, data: st.DataObject) -> None:
    """Of a text in which some names are in the places of others, and no comment ignores what is said of them."""
    text = re.sub("mil: ignore", "", text, flags=re.IGNORECASE)
    reading = read_whole(text)
    names = [name for name, value in reading.scopes.found if not (value and value.is_function)] if reading else []
    if not names:
        return
    chosen = data.draw(st.lists(st.sampled_from(names), max_size=6, unique=True))
    spelled = [text[name.start : name.end] for name in names]
    swapped = edited(text, [(name.start, name.end, data.draw(st.sampled_from(spelled))) for name in chosen]).text
    reading = read_whole(swapped)
    assert reading is not None
    if attempt(swapped) is None:
        return  # names in what cannot be lowered are not judged
    missing = {name.text for name, value in reading.scopes.found if not is_seen(reading.scopes, name, value)}
    placed = {name.start: name.text for name, _ in reading.scopes.found}
    told = {placed[each.span.start] for each in miltext.check(swapped) if each.code in NOT_SEEN and each.span}
    assert missing == told


def test_edits_far_apart_leave_completion_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes between two edits is not parsed again, and what the grammar takes is offered."""
    line = "            tensor<fp16, [1, 2]> v{} = relu(x = x);\n"
    head = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 2]> x) {\n"
    text = head + "".join(map(line.format, range(3000))) + "        } -> (v7);\n}\n"
    reading = read_whole(text)
    assert reading is not None
    changed = text.replace("> x) {", "> x) { // first").replace("v2999 = relu(x = x)", "last = relu(x = x)")
    document = Document("untitled:x", 2, Positions(changed), before=reading)
    parsed: list[int] = []

    def measured(text: str, *arguments: Any) -> Node:
        parsed.append(len(text))
        return tree_of(text, *arguments)

    monkeypatch.setattr(context, "tree_of", measured)
    place = document.position(changed.index("v1500 = relu(x = ") + len("v1500 = relu(x = "))
    parameters = lsp.CompletionParams(lsp.TextDocumentIdentifier("untitled:x"), place)
    offered = complete(View(document, reading), parameters)
    assert max(parsed) < 1000
    assert "tensor" in [item.label for item in offered.items]


@pytest.mark.parametrize("text", TEXTS, ids=NAMES)
def test_renaming_a_unique_name_matches_the_command(text: str) -> None:
    reading = None if miltext.check(text) else read_whole(text)
    values = {id(value): value for _, value in reading.scopes.found if value} if reading else {}
    names = Counter(value.name.text for value in values.values())
    for value in values.values():
        if reading is not None and not value.is_function and names[value.name.text] == 1:
            view = View(Document("untitled:x", 1, Positions(text), reading=reading), reading)
            place = view.document.position(value.name.start)
            edit = rename(view, lsp.RenameParams(lsp.TextDocumentIdentifier("untitled:x"), place, "entirely_new"))
            assert edit is not None
            assert edit.changes is not None
            changed = applied(view.document, edit.changes["untitled:x"])
            assert changed == rename_everywhere(text, value.name.text, "entirely_new")


def test_a_text_of_which_nothing_can_be_read_is_answered_too() -> None:
    for text in ("", "\0", "program", "}{" * 50, "((((" * 3000, "a(" * 5000 + ")" * 5000):
        document = Document("untitled:x", 1, Positions(text), reading=read(text))
        assert document.reading is not None
        asked(View(document, document.reading), lsp.Range(lsp.Position(0, 0), lsp.Position(9, 9)))
    assert read("}{").root is NOTHING


# ---- over the protocol


@pytest_lsp.fixture(scope="module", config=ClientServerConfig(server_command=SERVER, client_factory=make_client))
async def client(lsp_client: LanguageClient) -> AsyncIterator[None]:
    await lsp_client.initialize_session(lsp.InitializeParams(client_capabilities("visual-studio-code"), root_uri=None))
    yield
    await lsp_client.shutdown_session()


def drawn(random: Random) -> lsp.Range:
    numbers = [random.choice([random.randrange(40), random.randrange(90), 2**31 - 1]) for _ in range(4)]
    return lsp.Range(lsp.Position(*numbers[:2]), lsp.Position(*numbers[2:]))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("seed", range(6))
async def test_the_server_survives_any_edit_and_answers_truly(client: LanguageClient, seed: int) -> None:
    random = Random(seed)
    document = OpenDocument(client, random.choice(TEXTS))
    for _ in range(25):
        kind = random.randrange(10)
        if kind == 0:
            document.rewrite(random.choice(TEXTS)[: random.choice([None, random.randrange(600)])])
        elif kind < 8:
            document.change(drawn(random), random.choice(["", *BITS]))
        requests = [random.choice(REQUESTS) for _ in range(random.randrange(3))]
        pending = [
            client.protocol.send_request_async(  # type: ignore[no-untyped-call]
                each.method, parameters(each, document.uri, drawn(random))
            )
            for each in requests
        ]
        for answer in await asyncio.gather(*pending, return_exceptions=True):
            if isinstance(answer, BaseException):
                assert isinstance(answer, JsonRpcException), answer
                assert answer.code in (lsp.LSPErrorCodes.RequestFailed, lsp.LSPErrorCodes.ContentModified), answer
    assert seen(await document.diagnosed()) == document.expected()
    document.rewrite(TEXTS[0])
    assert seen(await document.diagnosed()) == document.expected()


def test_invalid_messages_are_answered_and_survived() -> None:
    document = {"uri": "untitled:x.mil", "languageId": "mil", "version": 1, "text": "program(1.3)\n{\n}\n"}
    place = {"textDocument": {"uri": "untitled:x.mil"}}
    sent = [
        message("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, 1),
        message("initialized", {}),
        message("textDocument/didOpen", {"textDocument": document}),
        message("textDocument/hover", {**place, "position": {"line": -1, "character": 0}}, 2),
        message("textDocument/hover", {**place, "position": {"line": 0, "character": 1e99}}, 3),
        message("textDocument/hover", {**place, "position": {"line": "0"}}, 4),
        message("textDocument/hover", None, 5),
        message("textDocument/nonsense", {}, 6),
        message("textDocument/didChange", {"textDocument": {"uri": "y", "version": 2}, "contentChanges": []}),
        message("textDocument/didChange", {"textDocument": 7}),
        message("textDocument/didClose", {"textDocument": {"uri": "untitled:never-opened.mil"}}),
        message("$/cancelRequest", {"id": 99}),
        *BAD_FRAMES,
        message("textDocument/hover", {**place, "position": {"line": 2**31, "character": 2**31 - 1}}, 9),
        message("textDocument/documentSymbol", {"textDocument": {"uri": "untitled:other.mil"}}, 10),
        message("textDocument/foldingRange", place, 11),
        message("shutdown", None, 12),
        message("exit", None),
    ]  # fmt: skip
    done = subprocess.run(SERVER, input=b"".join(sent), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answers = {each["id"]: each for each in answers_of(done.stdout) if "id" in each}
    assert {1, 2, 3, 4, 5, 6, 9, 10, 11, 12} <= {*answers}
    assert all("error" in answers[number] for number in (2, 3, 4, 5, 6))
    assert answers[10]["result"] is None
    assert answers[11].get("result") == [{"startLine": 0, "endLine": 1}]


def test_requests_before_shutdown_are_answered() -> None:
    """`shutdown` follows at once, and cancelled what was in work, where the protocol has each request answered."""
    lines = "".join(f"            fp16 y{at} = relu(x = x);\n" for at in range(4000))
    text = f"program(1.3)\n{{\n    func main<ios18>(fp16 x) {{\n{lines}        }} -> (y0);\n}}\n"
    item = {"uri": "untitled:x.mil", "languageId": "mil", "version": 1, "text": text}
    place = {"textDocument": {"uri": item["uri"]}}
    sent = [
        message("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, 1),
        message("initialized", {}),
        message("textDocument/didOpen", {"textDocument": item}),
        *(message("textDocument/documentSymbol", place, number) for number in range(2, 8)),
        message("shutdown", None, 12),
        message("exit", None),
    ]  # fmt: skip
    done = subprocess.run(SERVER, input=b"".join(sent), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answers = {each["id"]: each for each in answers_of(done.stdout) if "id" in each}
    assert [number for number in range(2, 8) if answers[number].get("result")] == [*range(2, 8)]
    assert answers[12]["result"] is None


def test_a_client_that_leaves_without_a_word_ends_the_server() -> None:
    sent = message("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, 1)
    done = subprocess.run(SERVER, input=sent, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == b""


FAULTY = """
import sys
import miltext.lsp.{module} as module

def fault(*arguments, **options):
    raise RuntimeError("a slip of ours")

module.{name} = fault
from miltext.lsp.server import serve
sys.exit(serve())
"""


@pytest.mark.parametrize(
    ("module", "name", "answered", "checked"),
    [
        ("hover", "described_value", False, True),
        ("server", "check_text", True, False),
        ("server", "read_past", False, False),
        ("documents", "Positions", True, True),
    ],
)
def test_a_fault_of_ours_is_logged_and_survived(module: str, name: str, answered: bool, checked: bool) -> None:
    """The request, the check or the notification that it meets fails; the next message is answered."""
    code = FAULTY.format(module=module, name=name)
    if name in ("check_text", "read_past"):  # warming up needs these
        code = code.replace("module.", "module.Server.warm_up = lambda server: None; module.", 1)
    identifier = {"uri": "untitled:x.mil"}
    place = {"textDocument": identifier, "position": {"line": 0, "character": 35}}
    text = "program(1.3){func main<ios18>(fp32 x){fp32 y = relu(x = x);}->(y);}"
    text = text.replace("y = ", "y == ") if name == "read_past" else text
    document = {**identifier, "languageId": "mil", "version": 1, "text": text}
    change = {"textDocument": {**identifier, "version": 2}, "contentChanges": [{"text": text}]}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdin=pipe, stdout=pipe, stderr=pipe) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for sent in [
            message("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, 1),
            message("initialized", {}),
            message("textDocument/didOpen", {"textDocument": document}),
            message("textDocument/didChange", change),
            message("textDocument/hover", place, 2),
            message("textDocument/foldingRange", {"textDocument": {"uri": "untitled:other.mil"}}, 3),
        ]:
            server.stdin.write(sent)
        server.stdin.flush()
        answers: dict[int, dict[str, Any]] = {}
        found = None
        while not {2, 3} <= {*answers} or found is None:
            received = next_of(server.stdout)
            if "id" in received:
                answers[received["id"]] = received
            found = received.get("params", {}).get("diagnostics", found)
        _, log = server.communicate(message("shutdown", None, 4) + message("exit", None), timeout=60)
    assert server.returncode == 0, log.decode()
    assert "RuntimeError: a slip of ours" in log.decode()
    assert ("result" in answers[2]) is answered
    assert answers[3]["result"] is None
    assert [each["code"] for each in found] == ([] if checked else ["MIL900"])
