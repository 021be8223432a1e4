"""The tables of calls: each argument, attribute and weight of a node is there once, in the words of the text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from conftest import GOLDEN
from printing.test_graph import ELIDED, LOOP, function
from printing.test_html_page import TEXT
from support.short_drafts import DRAFTS

import miltext
from miltext.printing.graph import drawn, nodes
from miltext.printing.graph_calls import LONG, UNREAD, WeightFacts, call_tables, unread
from miltext.printing.html_page import page
from miltext.printing.reading import TextReader

Call = tuple[list[Any], list[Any]]


def tables(text: str, read: Any = unread) -> dict[str, Any]:
    """The data of a page, as its scripts get it."""
    html = page(text, "m", read)
    found = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    made: dict[str, Any] = json.loads(found[1])
    return made


def calls(text: str) -> dict[str, Call]:
    """By the name of its first value, the arguments and the attributes of each operation; weights as their numbers."""
    made = tables(text)
    values, found = [each[0] for each in made["values"]], {}
    for (_, kind, label, _, makes, takes), entry in zip(made["nodes"], made["calls"], strict=True):
        assert entry is None or kind in ("op", "const")
        number, *own = entry if isinstance(entry, list) else [entry]
        if number is None:
            continue
        left = iter(takes)
        read = [
            [[name, *[_item(item, own, missing) for item in items]] for name, *items in each]
            for each, missing in zip(
                made["forms"][number],
                (lambda left=left: values[next(left)], lambda makes=makes: f"={values[makes[0]]}"),
                strict=True,
            )
        ]
        assert (own, [*left]) == ([], [])
        found[values[makes[0]] if makes else label] = (read[0], read[1])
    return found


def _item(item: Any, own: list[Any], missing: Any) -> Any:
    return missing() if item is None else own.pop(0) if item == 0 else item


def test_arguments_and_attributes_are_in_their_order() -> None:
    assert calls(TEXT) == {
        "a": ([["x", "i"]], [["name", '"next"']]),
        "n": ([["loop_vars", "b"]], [["name", "=n"]]),
        "go": ([["x", "b"], ["y", "x"]], [["name", "=go"]]),
        "write": ([["x", "missing"]], []),
    }
    first = tables(TEXT)["forms"][0]
    assert first == [[["x", None], ["y", None, None], ["z", "tensor<int32, [2]>([1, 2])"]], []]
    assert calls(LOOP)["half"] == ([], [["name", "=half"], ["val", "0x1p-1"]])


def test_equal_forms_are_one() -> None:
    lines = [f'fp16 y{at} = relu(x = {f"y{at - 1}" if at else "x"})[name = string("y{at}")];' for at in range(50)]
    made = tables(function(*lines, inputs="fp16 x", outputs="y49"))
    assert (made["forms"], made["weights"]) == ([[[["x", None]], [["name", None]]]], [])
    assert [each for each in made["calls"] if each is not None] == [0] * 50


ODD = {
    "an empty list": ("custom()", ([], [])),
    "no value": ("custom(x = $unset)", ([["x", "$unset"]], [])),
    "a list": ("custom(x = ())", ([["x"]], [])),
    "values": ("custom(x = (x, int32(1), x))", ([["x", "x", "int32(1)", "x"]], [])),
    "markup": ('custom(x = x)[a = string("<b>&\\"")]', ([["x", "x"]], [["a", '"<b>&\\""']])),
    "strings": (
        'custom(x = tensor<string, [2]>(["a", "b"]))',
        ([["x", 'tensor<string, [2]>(["a", "b"])']], []),
    ),
    "a tuple": ("custom(x = tuple<int32, bool>((1, true)))", ([["x", "tuple<int32, bool>((1, true))"]], [])),
    "a note": ('custom(x = $doc("d") int32(1))', ([["x", "int32(1)"]], [])),
}


@pytest.mark.parametrize(("spelled", "expected"), ODD.values(), ids=list(ODD))
def test_odd_calls(spelled: str, expected: Call) -> None:
    found = calls(function(f"fp16 y = {spelled};", inputs="fp16 x", outputs="y"))
    assert found.get("y", ([], [])) == expected


@pytest.mark.parametrize("name", ["y", '$"<b>"', '$"層 \\" 1"'])
def test_names_are_distinguished(name: str) -> None:
    own = name.removeprefix("$").strip('"')
    for given, expected in ((own, f"={name}"), ("other", '"other"')):
        line = f'fp16 {name} = custom(x = x)[name = string("{given}")];'
        assert calls(function(line, inputs="fp16 x", outputs=name))[name][1] == [["name", expected]]


def test_a_long_literal_is_a_weight_and_long_words_are_cut() -> None:
    numbers = ", ".join(["1"] * 60)
    words = ", ".join(['"a"'] * 60)
    lines = [
        f'tensor<int32, [60]> w = const()[name = string("w"), val = tensor<int32, [60]>([{numbers}])];',
        f'tensor<string, [60]> s = const()[name = string("s"), val = tensor<string, [60]>([{words}])];',
        f'string t = const()[name = string("t"), val = string("{"b" * 200}")];',
        f"tensor<int32, [60]> y = custom(x = w, y = tensor<int32, [60]>([{numbers}]), z = s, t = t);",
    ]
    text = function(*lines, inputs="", outputs="y")
    found = calls(text)
    assert found["w"] == ([], [["name", "=w"], ["val", 0]])
    assert found["y"][0] == [["x", "w"], ["y", 0], ["z", "s"], ["t", "t"]]  # equal spellings are one weight
    assert found["s"][1][1] == ["val", f"[{words}]"[:LONG] + "…"]
    assert len(found["t"][1][1][1]) == LONG + 1
    assert tables(text)["weights"] == [["", "", 0, 0, 0, 0, 1, None]]
    assert tables(text)["words"] == ["", UNREAD]


def test_a_weight_has_the_facts_of_its_spelling() -> None:
    seen: list[list[str]] = []

    def read(spellings: list[str]) -> list[WeightFacts]:
        seen.append([*spellings])
        return [WeightFacts("fp16", "[9]", 9, 18, "@model_path/w.bin", 64, "", ("nan", "inf", "nan", 0.5, 4))]

    made = tables(ELIDED, read)
    assert seen == [['tensor<fp16, [9]>($elided(9, "sha256:d5000bba"))']]
    assert made["weights"] == [["fp16", "[9]", 9, 18, 1, 64, 0, ["nan", "inf", "nan", 0.5, 4]]]
    assert made["words"] == ["", "@model_path/w.bin"]


@pytest.mark.parametrize("text", DRAFTS.values(), ids=list(DRAFTS))
def test_a_draft_has_the_calls_inside_its_calls(text: str) -> None:
    made = tables(text)
    for (_, kind, _, _, _, takes), entry in zip(made["nodes"], made["calls"], strict=True):
        number = entry[0] if isinstance(entry, list) else entry
        arguments = made["forms"][number][0] if number is not None else []
        taken = [item for _, *items in arguments for item in items if item is None]
        assert len(taken) == (len(takes) if kind in ("op", "const") else 0)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("print/*.mil")), ids=lambda path: path.name)
def test_every_value_that_a_node_takes_is_an_argument(path: Any) -> None:
    text = miltext.format_text(path.read_bytes().decode())
    reader = TextReader(text)
    numbered = nodes(reader)
    made = call_tables(reader, [node.part for _, node in numbered], unread)
    for row, entry in zip(drawn(reader, numbered)["nodes"], made["calls"], strict=True):
        number, *own = entry if isinstance(entry, list) else [entry]
        lists = made["forms"][number] if number is not None else ((), ())
        items = [item for each in lists for _, *held in each for item in held]
        assert items.count(0) == len(own)
        if row[1] in ("op", "const"):
            assert [item for _, *held in lists[0] for item in held].count(None) == len(row[5])
