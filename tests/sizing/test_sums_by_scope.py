"""Sums by scope are sums by the names of weights: no scope takes in the weights or the operations of another."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import corpus_files

import miltext
from miltext.sizing.sizes import WeightBytes

TEXTS = corpus_files("apple/*.mil", "pairs/*/*.mil", "pipelines/*/*/*.mil")


def words(name: str) -> list[str]:
    return re.findall(r"[^_./@]+", name)


def own_scope(name: str, scopes: list[str]) -> str | None:
    """The longest scope whose words begin a name."""
    begins = [scope for scope in scopes if scope and words(name)[: len(words(scope))] == words(scope)]
    return max(begins, key=len, default=None)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_weights_and_their_operations_count_where_their_names_say(path: Path) -> None:
    size, cost = miltext.size(path), miltext.cost(path)
    for function in {each.function for each in size.scopes}:
        scopes = [each.scope for each in size.scopes if each.function == function]
        home = {each.name: each.scope for each in cost.ops if each.function == function}
        expected = Counter[str]()
        for weight in size.weights:
            if weight.function == function:
                own, around, name = own_scope(weight.name, scopes), words(weight.scope), words(weight.name)
                assert around == name[: len(around)] or around[0] != name[0], weight
                assert own in (None, *user_scopes(weight, home)), weight
                expected[weight.scope if own is None else own] += weight.bytes
        counted = {each.scope: each.bytes for each in size.scopes if each.function == function}
        assert +Counter(counted) == +expected


def user_scopes(weight: WeightBytes, home: dict[str, str]) -> list[str]:
    return [home[user] for user, _, _ in weight.uses if user in home]


@pytest.mark.parametrize("path", corpus_files("apple/GenAI-Genesis__yolo11n.mil"), ids=lambda path: path.name)
def test_a_layer_of_one_convolution_is_a_row_of_its_own(path: Path) -> None:
    """Every second layer of yolo11n is one convolution, which was counted with its neighbour."""
    scopes = {each.scope: each for each in miltext.size(path).scopes}
    assert {f"model_{number}" for number in (0, 1, 2, 3, 5, 7, 17, 20)} <= {*scopes}
    assert (scopes["model_7"].operation_count, scopes["model_7"].weights) == (2, 2)
    costs = {each.scope: each for each in miltext.cost(path).scopes}
    assert costs["model_7"].operation_count == 2
    assert costs["model_7"].work.weight_bytes == scopes["model_7"].bytes
