"""Rewrites that people make by hand, as data beside the corpus: the packaged rules make them, and leave the traps."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from conftest import CORPUS

import miltext
from miltext.drafting.programs import program_of
from miltext.ir.graph import Graph
from miltext.rewriting.verifying import new_errors
from miltext.schema.proto import Program

FOLDER = CORPUS.parent / "rewrites"

RULES = {
    "cast-pair": "casts",
    "linear-to-conv": "linear-to-conv",
    "pad-to-conv": "pad-to-conv",
    "rmsnorm-as-layer-norm": "rmsnorm",
    "scale-into-conv": "scale-into-conv",
    "softmax": "softmax",
    "softplus": "softplus",
}
"""The packaged rules by the folders of the rewrites that a draft can say."""

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no rewrites beside the corpus, {FOLDER}")


def texts(kind: str) -> list[str]:
    return sorted(f"{name}/{path.stem}" for name in RULES for path in (FOLDER / name).glob(f"{kind}-*.mil"))


def program(name: str) -> Program:
    made = program_of(str(FOLDER / f"{name}.mil"))
    assert isinstance(made, Program)
    return made


def operations(of: Program) -> Counter[str]:
    """Count the operations by kind, constants aside."""
    return Counter(op.type for op in Graph(of).walk() if not op.is_constant)


def outputs(of: Program) -> list[list[str]]:
    return [
        [value.name for value in block.outputs] for f in Graph(of).functions.values() for block in f.blocks.values()
    ]


@pytest.mark.parametrize("name", texts("before"))
def test_a_pair_is_made_and_proven(name: str) -> None:
    before, after = program(name), program(name.replace("before", "after"))
    made = miltext.rewrite(before, RULES[Path(name).parent.name], verify=True)
    assert operations(made.program) == operations(after)
    assert outputs(made.program) == outputs(before)
    assert new_errors(before, made.program) == []
    assert made.verified
    again = miltext.rewrite(made.program, RULES[Path(name).parent.name])
    assert again.replaced == []


@pytest.mark.parametrize("name", texts("keep"))
def test_a_near_miss_stays(name: str) -> None:
    kept = program(name)
    made = miltext.rewrite(kept, RULES[Path(name).parent.name])
    assert made.replaced == []
    assert made.program == kept


def test_a_weight_that_two_layers_share_stays_one() -> None:
    made = miltext.rewrite(program("linear-to-conv/before-2"), "linear-to-conv")
    convolutions = [op for op in Graph(made.program).walk() if op.type == "conv"]
    assert len(convolutions) == 2
    assert len({op.operand("weight") for op in convolutions}) == 1
    weights = [op for op in Graph(made.program).walk() if op.type == "const" and len(op.outputs[0].type.shape) > 1]  # type: ignore[union-attr]
    assert len(weights) == 1


def test_all_packaged_rules_leave_the_weights_of_others() -> None:
    rules = [*RULES.values(), "identities", "layout"]
    for name in ("equal-weights/keep-1", "equal-weights/keep-2", "equal-weights/keep-3", "split-heads/keep-1"):
        assert miltext.rewrite(program(name), rules).replaced == []
