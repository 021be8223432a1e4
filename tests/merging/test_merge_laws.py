"""Random edits of real texts, merged: a sample of what scripts/try_merges.py does."""

from __future__ import annotations

from random import Random

import pytest
from conftest import CORPUS
from support.laws.merging import KINDS, Edit, held, random_edit, statements

NAMES = ("handwritten/Espresso__fused_qkv.mil", "apple/FluidAudio__joint_decision.mlmodelc.mil")


@pytest.fixture(scope="module", params=NAMES)
def text(request: pytest.FixtureRequest) -> str:
    path = CORPUS / str(request.param)
    if not path.exists():
        pytest.skip("needs the corpus")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(20))
def test_edits_of_different_statements_are_both_there(text: str, seed: int) -> None:
    held(Random(seed), text)


def test_each_kind_of_edit_changes_a_text(text: str) -> None:
    edits = [random_edit(Random(seed), text, "tag") for seed in range(200)]
    found = {edit.kind for edit in edits if edit.apply(text) != text}
    assert found | {"move"} == {*KINDS}  # some texts have nothing to move
    assert len(statements(text)) > 3


def test_edits_are_separate_unless_one_needs_a_part_of_the_other() -> None:
    delete = Edit("", str, frozenset("ab"), deletes=frozenset("a"))
    assert not delete.is_apart_from(Edit("", str, frozenset("b")))
    assert not delete.is_apart_from(Edit("", str, frozenset("c"), needs=frozenset("a")))
    assert delete.is_apart_from(Edit("", str, frozenset("c"), needs=frozenset("b")))
