"""Random edits of graphs: the program that is written is right, and computes the same."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from ir.test_graph_of_programs import check_uses
from support.graph_edits import EDITS, edited

import miltext
from miltext.checking.programs import findings_in
from miltext.evaluation.random_inputs import random_inputs
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.ir.graph import Graph
from miltext.schema.proto import Program
from miltext.schema.types import TensorType

SEEDS = range(60)


def made(seed: int) -> Program:
    return generate(seed, Options(ops=(6, 14), functions=1 + seed % 2, inputs=2))


@cache
def edits_of(seed: int) -> tuple[Program, Program, list[str]]:
    program = made(seed)
    graph = Graph(program)
    done = edited(graph, Random(seed), 25)
    check_uses(graph)
    return program, graph.program(), done


def outputs(program: Program, function: str) -> dict[str, object]:
    evaluator = miltext.Evaluator(program, function, check=False)
    tensors = {name: each for name, each in evaluator.inputs.items() if isinstance(each, TensorType)}
    shapes = {name: [2 if size is None else size for size in each.shape] for name, each in tensors.items()}
    return dict(evaluator.run(random_inputs(evaluator.inputs, shapes=shapes), state={}, seed=1))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_program_is_right(seed: int) -> None:
    _, after, done = edits_of(seed)
    assert [str(finding) for finding in findings_in(after)] == []
    assert miltext.parse(miltext.to_text(after)) == after
    assert done


@pytest.mark.parametrize("seed", SEEDS)
def test_the_program_computes_the_same(seed: int) -> None:
    before, after, _ = edits_of(seed)
    if "random_" in miltext.to_text(before):
        pytest.skip("its numbers depend on the order of random operations")
    for function in before.functions:
        expected, found = outputs(before, function), outputs(after, function)
        assert [*found] == [*expected]
        for name in expected:
            np.testing.assert_array_equal(found[name], expected[name])


def test_every_edit_is_made() -> None:
    assert {name for seed in SEEDS for name in edits_of(seed)[2]} == {edit.__name__ for edit in EDITS}
