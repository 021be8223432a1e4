"""The graphs in the page of a difference: the state of each node, and scopes that are left out of large ones."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from conftest import CORPUS

import miltext

TYPE = "tensor<fp16, [1, 8]>"


def network(count: int, changed: int = -1, function: str = "main", kind: str = "exp") -> str:
    """The text of a chain of `relu` in scopes of ten, in which one operation is of another kind."""
    names = ["x", *[f"layers_{index // 10}_part_{index}" for index in range(count)]]
    lines = [
        f"{TYPE} {made} = {kind if index == changed else 'relu'}(x = {taken});"
        for index, (taken, made) in enumerate(pairwise(names))
    ]
    return f"func {function}<ios18>({TYPE} x) {{ {' '.join(lines)} }} -> ({names[-1]});"


def graphs(old: str, new: str) -> list[Any]:
    """The graphs of two programs of these functions, with the types in place of their numbers."""
    return read(miltext.diff(*[miltext.parse(f"program(1.3)\n{{ {text} }}") for text in (old, new)]))[0]


def read(difference: miltext.Difference) -> list[list[Any]]:
    """The two graphs of each model of a page."""
    found = []
    for part in difference.to_html().split('<script type="application/json" class="graph" id="')[1:]:
        data = json.loads(part.partition(">")[2].partition("</script>")[0])
        for graph in data["sides"]:
            graph["values"] = [[name, data["types"][number]] for name, number in graph["values"]]
        found.append(data["sides"])
    return found


def states(graph: Any) -> dict[str, str]:
    """The state of each node that has one, by the name of its value."""
    return {graph["values"][(row[4] or row[5])[0]][0]: row[6] for row in graph["nodes"] if len(row) > 6 and row[6]}


def check(graph: Any) -> None:
    """What the script needs: parents are before their nodes, values are there, and each has one maker."""
    makers = [value for row in graph["nodes"] for value in row[4]]
    assert len(makers) == len({*makers})
    for number, (parent, _, _, line, makes, takes, *_) in enumerate(graph["nodes"]):
        assert -1 <= parent < number
        assert line > 0
        assert all(0 <= value < len(graph["values"]) for value in (*makes, *takes))


def test_each_node_has_the_state_of_its_entry() -> None:
    text = """func main<ios18>({0} x, {0} gone) {{
        {0} a = relu(x = x); {0} b = softmax(x = a, axis = int32(-1));
        {0} c = tanh(x = b); {0} d = add(x = c, y = gone);
    }} -> (d);"""
    old = text.format(TYPE)
    new = (
        old.replace("int32(-1)", "int32(1)")
        .replace("tanh(x = b)", "tanh(x = more)")
        .replace(f"{TYPE} c", f"{TYPE} more = exp(x = b); {TYPE} c")
        .replace("gone", "fresh")
        .replace("-> (d)", "-> (out)")
        .replace("d = add", "out = add")
    )
    before, after = graphs(old, new)
    assert states(before) == {"gone": "name", "b": "change", "c": "follow", "d": "name"}
    assert states(after) == {"fresh": "name", "b": "change", "more": "plus", "c": "follow", "out": "name"}


def test_inputs_and_outputs_by_their_names_and_types() -> None:
    old = f"func main<ios18>({TYPE} x, {TYPE} y) {{ {TYPE} a = add(x = x, y = y); {TYPE} b = exp(x = a); }} -> (a, b);"
    new = old.replace(f"{TYPE} y", "tensor<fp16, [8]> y").replace("-> (a, b)", "-> (a)")
    new = new.replace(f"({TYPE} x", f"({TYPE} x, {TYPE} z")
    before, after = graphs(old, new)
    ports = [
        {(row[1], row[2]): row[6] for row in graph["nodes"] if row[1] in ("input", "output") and len(row) > 6}
        for graph in (before, after)
    ]
    assert ports[0] == {("input", "y"): "change", ("output", "b"): "minus"}
    assert ports[1] == {("input", "z"): "plus", ("input", "y"): "change"}


@pytest.mark.parametrize("which", [0, 1])
def test_a_function_of_one_program_is_added_or_removed(which: int) -> None:
    texts = [network(3), network(3) + network(4, function="more")]
    found = graphs(*(texts if which else texts[::-1]))
    sides = [{row[6] for row in graph["nodes"] if len(row) > 6} for graph in found]
    assert sides == ([set(), {"plus"}] if which else [{"minus"}, set()])


def test_moved_operations_are_moved_in_both() -> None:
    text = "func main<ios18>({0} x) {{ {0} a = relu(x = x); {0} b = exp(x = x); {0} c = add(x = a, y = b); }} -> (c);"
    old = text.format(TYPE)
    moved = f"{TYPE} a = relu(x = x); "
    new = old.replace(moved, "").replace("b = exp(x = x); ", f"b = exp(x = x); {moved}")
    before, after = (states(graph) for graph in graphs(old, new))
    assert before == after
    assert [*before.values()] == ["move"]


def test_a_large_graph_leaves_out_equal_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miltext.diffing.html_graphs.LEAST", 1_000_000)
    whole = graphs(network(400), network(400, changed=205))
    monkeypatch.undo()
    small = graphs(network(400), network(400, changed=205))
    for before, after in zip(whole, small, strict=True):
        check(before)
        check(after)
        assert len(after["nodes"]) < len(before["nodes"]) / 3
        assert len(after["values"]) < len(before["values"]) / 3
        assert states(after) == states(before) == {"layers_20_part_205": "change"}
        closed = [row for row in after["nodes"] if row[1] == "scope" and len(row) > 7]
        operations = sum(row[1] == "op" for row in after["nodes"])
        assert operations + sum(row[7] for row in closed) == 400
        assert all(row[2] for row in closed)
        led = {value for row in after["nodes"] for value in row[5]}
        made = {value for row in after["nodes"] for value in row[4]}
        assert led <= made


def test_a_large_graph_without_equal_scopes_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("miltext.diffing.html_graphs.LEAST", 10)
    monkeypatch.setattr("miltext.diffing.html_graphs.SHARE", 1000)
    texts = network(60), network(60).replace("relu", "exp")
    for graph in graphs(*texts):
        check(graph)
        assert sum(row[1] == "op" for row in graph["nodes"]) == 60
    for graph in graphs(network(0).replace("-> (x)", "-> (x)"), network(0, function="other")):
        check(graph)


@pytest.mark.any_version
@pytest.mark.skipif(not CORPUS.exists(), reason="needs the corpus")
def test_the_graphs_cost_little_beside_the_texts() -> None:
    """The page had 4,180,219 bytes before it had folds, a filter and graphs; a quarter more was the most allowed."""
    difference = miltext.diff(
        CORPUS / "pairs/FluidAudio__160ms_streaming_encoder/model.mlmodel",
        CORPUS / "changes/streaming_encoder/1280ms.mlmodel",
    )
    page = difference.to_html()
    assert len(page.encode()) < 1.25 * 4_180_219
    ((old, new),) = read(difference)
    for graph in (old, new):
        check(graph)
        found = states(graph)
        assert found["audio_signal"] == found["pad_mask_off"] == "change"
        assert sum(state == "follow" for state in found.values()) > 1000
