"""A fault in one of a thousand operations, in programs of ten kinds: what is left, and how many tests that takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from support.large_programs import KINDS, OPERATIONS, Large, Lines, function, grown, program

from miltext import check
from miltext.reduction.bypassing import bypass, bypasses
from miltext.reduction.graph import UnitGraph, count_operations
from miltext.reduction.merging import merge, twins
from miltext.reduction.reducing import Reduction, reduce
from miltext.reduction.selecting import Output, select
from miltext.reduction.trials import Candidate
from miltext.schema.proto import Program
from miltext.schema.walk import operations

pytestmark = pytest.mark.any_version

MOST = 60
"""The runs of a test that a fault in one of a thousand operations may take."""


def makes(made: Program, name: str) -> bool:
    return any(value.name == name for _, operation in operations(made) for value in operation.outputs)


@cache
def large(kind: str) -> Large:
    return KINDS[kind]()


@cache
def reduced(kind: str, jobs: int = 1) -> Reduction:
    return reduce(large(kind).program, fault(large(kind).fault), jobs=jobs)


def fault(name: str) -> Callable[[Candidate], bool]:
    return lambda candidate: makes(candidate.program, name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_comes_down_to_its_operation_in_few_tests(kind: str) -> None:
    assert count_operations(large(kind).program) == OPERATIONS
    found = reduced(kind)
    assert count_operations(found.program) == large(kind).left
    assert makes(found.program, large(kind).fault)
    assert found.tests <= MOST
    assert found.is_complete
    assert found.is_steady
    assert check(found.program) == []


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_single_can_go(kind: str) -> None:
    """No operation, input or output can, by any of the ways in which one can go."""
    whole, name = reduced(kind).program, large(kind).fault
    graph = UnitGraph(whole)
    outputs = [Output(nth, each.name) for nth, scope in enumerate(graph.scopes) for each in scope.block.outputs]
    smaller = [select(graph, [each for each in graph.parts if each != part]) for part in graph.parts]
    smaller += [select(graph, graph.parts, {*outputs} - {each}) for each in outputs]
    smaller += [bypass(whole, [each]) for each in bypasses(whole)]
    smaller += [merge(whole, [each]) for each in twins(whole)]
    extent = count_operations(whole), sum(len(scope.block.outputs) for scope in graph.scopes)
    for each in smaller:
        assert each is None or not makes(each, name) or not check_is_as_good(each) or extent <= of(each)


def check_is_as_good(made: Program) -> bool:
    return not [found for found in check(made) if found.severity == "error"]


def of(made: Program) -> tuple[int, int]:
    return count_operations(made), sum(len(scope.block.outputs) for scope in UnitGraph(made).scopes)


def test_guesses_at_once_are_counted() -> None:
    found = reduced("chain", jobs=8)
    assert count_operations(found.program) == 1
    assert reduced("chain").tests < found.tests <= MOST


def test_a_fault_on_a_path_keeps_both_operations() -> None:
    """What is on the way goes all at once, not one by one."""
    lines = Lines()
    first = lines.add("exp", x=grown(lines, "x", 90, "relu"))
    last = lines.add("square", x=grown(lines, first, 120, "relu", "tanh"))
    made = program(function(lines, grown(lines, last, 90, "relu")))

    def connected(candidate: Candidate) -> bool:
        makers = {value.name: each for _, each in operations(candidate.program) for value in each.outputs}
        each = next((each for each in makers.values() if each.type == "square"), None)
        while each is not None and each.type != "exp":
            each = makers.get(each.inputs["x"].arguments[0].name)
        return each is not None

    found = reduce(made, connected)
    assert count_operations(found.program) == 2
    assert found.tests <= MOST
