"""The symbols of a document: its scopes and repeats, with every operation once, and each range inside another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from random import Random

import pytest

pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")

from conftest import CORPUS, GOLDEN
from lsprotocol import types as lsp
from support.highlighters import EDITORS
from support.short_drafts import BROKEN, DRAFTS

from miltext.lsp import symbols
from miltext.lsp.documents import Document, View
from miltext.lsp.positions import Positions
from miltext.lsp.reading import Reading, read_past, read_whole
from miltext.scopes.families import TIMES

HEAD = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [1, 8]> x) {\n"
ASKED = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier("untitled:x"))

TEXTS = {path.stem: path for path in [*GOLDEN.glob("check/*.mil"), *GOLDEN.glob("highlight/*.mil")]}
TEXTS |= {f"{path.parent.name}/{path.stem}": path for path in CORPUS.glob("*/*.mil")}


def view_of(text: str, shown: str | None = None) -> View:
    """A document that shows a text, by the reading of another one, which may be an earlier version."""
    reading = read_whole(text) or read_past(text)
    return View(Document("untitled:x", 1, Positions(text if shown is None else shown), reading=reading), reading)


def found(view: View) -> list[lsp.DocumentSymbol]:
    return symbols.symbols(view, ASKED)


def children(symbol: lsp.DocumentSymbol) -> list[lsp.DocumentSymbol]:
    return [*symbol.children] if symbol.children else []


def flat(inside: list[lsp.DocumentSymbol]) -> list[lsp.DocumentSymbol]:
    """Symbols without scopes."""
    return [
        each
        for symbol in inside
        for each in (flat(children(symbol)) if symbol.kind == lsp.SymbolKind.Namespace else [symbol])
    ]


def without_scopes(symbol: lsp.DocumentSymbol) -> tuple[object, ...]:
    inside = tuple(without_scopes(each) for each in flat(children(symbol)))
    return symbol.name, symbol.kind, symbol.range, symbol.selection_range, symbol.detail, inside


def assert_whole(view: View) -> None:
    """Each symbol without scopes is there once, in its order, and each range is inside the one around."""
    made = found(view)
    plain = symbols.symbols_in(view.reading.root, view.range)
    assert [without_scopes(each) for each in made] == [without_scopes(each) for each in plain]
    todo = [*made]
    while todo:
        symbol = todo.pop()
        assert symbol.name
        assert inside(symbol.selection_range, symbol.range)
        within = children(symbol)
        assert all(inside(each.range, symbol.range) for each in within)
        if symbol.kind == lsp.SymbolKind.Namespace:
            assert all(place(one.range.end) <= place(other.range.start) for one, other in pairwise(within))
            assert symbol.detail
        todo += within


def place(position: lsp.Position) -> tuple[int, int]:
    return position.line, position.character


def inside(inner: lsp.Range, outer: lsp.Range) -> bool:
    return place(outer.start) <= place(inner.start) <= place(inner.end) <= place(outer.end)


def scopes(made: list[lsp.DocumentSymbol]) -> Iterator[str]:
    """The scopes with their details, indented, and the operations in one word for each."""
    for symbol in made:
        if symbol.kind == lsp.SymbolKind.Namespace:
            yield f"{symbol.name}: {symbol.detail}".replace(TIMES, "x")
            yield from (f"  {each}" for each in scopes(children(symbol)))
        else:
            yield symbol.name


def drafted(*lines: str, head: str = HEAD) -> list[str]:
    view = view_of(head + "".join(f"        {line};\n" for line in lines) + "    } -> (x);\n}\n")
    assert view.reading.is_whole
    (function,) = found(view)
    return [*scopes(children(function))]


@pytest.mark.parametrize("name", TEXTS)
def test_every_operation_is_in_its_place_once(name: str) -> None:
    text = TEXTS[name].read_bytes().decode()
    if len(text) < 400_000:
        assert_whole(view_of(text))


@pytest.mark.parametrize("text", [*DRAFTS.values(), *BROKEN.values()])
def test_every_operation_of_a_draft_or_a_broken_text_is_there(text: str) -> None:
    assert_whole(view_of(text))
    assert_whole(view_of(text.replace("\n", "\r\n")))


def layer(number: int) -> list[str]:
    begin = f"enc_layers_{number}"
    return [f"_ {begin}_attn_{word} = {op}(x = x)" for word, op in (("a", "relu"), ("b", "relu"), ("c", "tanh"))] + [
        f"_ {begin}_ff_{word} = {op}(x = x)" for word, op in (("a", "exp"), ("b", "sqrt"))
    ]


def test_repeated_scopes_are_one_symbol_with_their_number() -> None:
    made = drafted("_ first = relu(x = x)", *layer(0), *layer(1), *layer(2), "_ last = relu(x = x)")
    assert made[0] == "first"
    assert made[1].startswith("enc_layers_0 … 2: x3: ")
    assert sorted(made[1].split(": x3: ")[1].split(", ")) == ["exp", "relu x2", "sqrt", "tanh"]
    assert made[2].startswith("  enc_layers_0: ")
    assert made[3] == "    attn: relu x2, tanh"
    assert made[4:7] == [f"      enc_layers_0_attn_{word}" for word in "abc"]
    assert made[7] == "    ff: exp, sqrt"
    assert made[8:10] == [f"      enc_layers_0_ff_{word}" for word in "ab"]
    assert [each.strip().partition(":")[0] for each in made if each.startswith("  enc")] == [
        f"enc_layers_{number}" for number in range(3)
    ]
    assert made[-1] == "last"


def test_constants_belong_to_the_scope_of_their_first_user_if_they_are_beside_it() -> None:
    constant = "tensor<fp16, []> {0} = const()[val = tensor<fp16, []>(0x1p+0)]"
    made = drafted(
        constant.format("far"),
        constant.format("w_1"),
        constant.format("w_0"),
        "_ enc_0_a = mul(x = x, y = w_0)",
        "_ enc_0_b = mul(x = enc_0_a, y = w_1)",
        constant.format("w_2"),
        "_ enc_0_c = mul(x = enc_0_b, y = w_2)",
        "_ last = mul(x = enc_0_c, y = far)",
    )
    assert made[0] == "far"
    assert made[1].startswith("enc_0: ")
    assert made[2:-1] == [f"  {name}" for name in ("w_1", "w_0", "enc_0_a", "enc_0_b", "w_2", "enc_0_c")]
    assert made[-1] == "last"


@pytest.mark.parametrize("lines", [[], ["_ y = relu(x = x)"], [f"_ op_{n} = relu(x = x)" for n in range(100)]])
def test_names_without_scopes_leave_the_operations_as_they_are(lines: list[str]) -> None:
    assert drafted(*lines) == [line.split()[1] for line in lines]


def test_scopes_are_those_of_each_function_and_block() -> None:
    text = (
        "program(1.3)\n{\n"
        "func one<ios18>(tensor<fp16, [1, 8]> x) {\n_ a_0_x = relu(x = x);\n_ a_0_y = relu(x = a_0_x);\n} -> (a_0_y);\n"
        "func two<ios18>(tensor<fp16, [1, 8]> x, tensor<bool, []> p) {\n"
        "_ y = cond(pred = p)\n() { _ b_0_x = relu(x = x);\n_ b_0_y = relu(x = b_0_x);\n} -> (b_0_y)"
        "\n() { _ c = relu(x = x); } -> (c);\n} -> (y);\n}\n"
    )
    view = view_of(text)
    assert view.reading.is_whole
    one, two = found(view)
    assert [*scopes(children(one))] == ["a_0: relu x2", "  a_0_x", "  a_0_y"]
    (condition,) = children(two)
    assert [*scopes(children(condition))] == ["b_0: relu x2", "  b_0_x", "  b_0_y", "c"]


def test_a_version_that_is_not_read_yet_has_the_scopes_of_the_one_before() -> None:
    text = HEAD + "".join(f"        {line};\n" for line in layer(0)) + "    } -> (x);\n}\n"
    assert_whole(view_of(text, "// a new line\n" + text))


@pytest.mark.parametrize("name", [name for name in TEXTS if "/" not in name])
def test_symbols_of_cut_and_shuffled_texts_are_whole(name: str) -> None:
    random, text = Random(7), TEXTS[name].read_bytes().decode()
    lines = text.split("\n")
    random.shuffle(lines)
    cut = random.randrange(len(text) + 1)
    for each in (text.replace("\n", "\r\n"), text[:cut], text[cut:], "\n".join(lines)):
        assert_whole(view_of(each))


def test_blocks_too_deep_for_a_graph_have_operations_without_scopes() -> None:
    depth = 200
    heads = "".join(f"fp16 n{at} = cond(pred = p, _true_fn = x) () {{\n" for at in range(depth))
    tails = "".join("} -> (x)\n() { } -> (x);\n" for _ in range(depth))
    assert_whole(view_of(f"program(1.3)\n{{\nfunc main<ios18>(bool p, fp16 x) {{\n{heads}{tails}}} -> (x);\n}}\n"))


def test_the_outline_of_vs_code_leaves_out_constants() -> None:
    constant = "tensor<fp16, []> one = const()[val = tensor<fp16, []>(0x1p+0)];\n"
    (function,) = found(view_of(f"{HEAD}{constant}_ y = add(x = x, y = one);\n}} -> (y);\n}}\n"))
    package = json.loads((EDITORS / "vscode" / "package.json").read_text(encoding="utf-8"))
    hidden = package["contributes"]["configurationDefaults"]["[mil]"]
    shown = [each.name for each in children(function) if hidden.get(f"outline.show{each.kind.name}s", True)]
    assert shown == ["y"]


def test_an_unreadable_text_has_no_symbols() -> None:
    assert found(view_of("")) == []
    assert found(view_of("not a program")) == []


def test_reading_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    view = view_of(HEAD + "".join(f"        {line};\n" for line in layer(0)) + "    } -> (x);\n}\n")
    monkeypatch.setattr("miltext.printing.reading.tree_of", lambda *_: pytest.fail("the text was read again"))
    assert isinstance(view.reading, Reading)
    found(view)
