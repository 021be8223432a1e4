"""docs/graph.md: its edits run as they are, one after another, and do what they say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLE, ROOT

import miltext

PAGE = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(EXAMPLES[0], names)
    return names


def types(names: dict[str, Any]) -> list[str]:
    return [op.type for op in names["graph"].walk()]


def test_an_activation_is_swapped(names: dict[str, Any]) -> None:
    exec(EXAMPLES[1], names)
    assert "silu" in types(names)
    assert "relu" not in types(names)


def test_a_cast_is_inserted(names: dict[str, Any]) -> None:
    before = types(names)
    exec(EXAMPLES[2], names)
    at = before.index("max_pool") + 1
    assert types(names) == [*before[:at], "cast", *before[at:]]


def test_an_output_is_split(names: dict[str, Any]) -> None:
    exec(EXAMPLES[2] + EXAMPLES[3], names)
    assert [value.name for value in names["main"].block.outputs] == ["classLabel", "classLabel_probs", "pooled_fp32"]


def test_constants_are_shared(names: dict[str, Any]) -> None:
    before = types(names).count("const")
    exec(EXAMPLES[4], names)
    assert types(names).count("const") < before
    after = names["graph"].program()
    compared = miltext.compare(after, names["model"].program, weights=names["model"].model_path, seed=1)
    assert compared.ok


def test_dead_code_is_deleted(names: dict[str, Any]) -> None:
    classify = names["main"].value("classLabel").maker
    names["main"].block.outputs = [names["main"].value("scores_cast_fp16")]
    exec(EXAMPLES[5], names)
    assert classify.block is None
    assert "softmax" not in types(names)


def test_all_edits_make_a_model(names: dict[str, Any]) -> None:
    for example in EXAMPLES[1:]:
        exec(example, names)
    assert names["findings"] == []
    assert miltext.load("New.mlpackage").program == names["graph"].program()
    assert len(EXAMPLES) == 7


STATE = """program(1.3)
{
    func main<ios18>(state<tensor<fp16, [2]>> s, tensor<fp16, [2]> x) {
            tensor<fp16, [2]> unused = tanh(x = x);
            write_state(data = x, input = s);
            tensor<fp16, [2]> y = relu(x = x);
        } -> (y);
}
"""


def test_a_value_written_to_a_state_is_not_dead() -> None:
    graph = miltext.Graph(miltext.parse(STATE))
    assert miltext.remove_dead(graph)
    assert [op.type for op in graph.walk()] == ["write_state", "relu"]
    assert not miltext.remove_dead(graph)
