"""The peak of a function's values is that of a simulation that looks at every step anew."""

from __future__ import annotations

import pytest

import miltext
from miltext.generation.options import Options
from miltext.generation.programs import generate
from miltext.ir.functions import Block
from miltext.ir.graph import Graph
from miltext.ir.parts import Op, Value
from miltext.schema.dtypes import BY_NAME
from miltext.schema.proto import Program
from miltext.schema.types import DictionaryType, ListType, StateType, TensorType, Type

VIEWS = {"identity", "reshape", "reshape_like", "expand_dims", "squeeze", "flatten2d", "read_state"}
SEEDS, PER_TEST = 500, 25


def size(kind: Type) -> int:
    """Return the bytes of a value by its type; 0 for open sizes, states, strings and dictionaries."""
    if isinstance(kind, TensorType):
        count = 1
        for each in kind.shape:
            count *= each or 0  # only a run determines it
        return count * BY_NAME[kind.dtype].bits // 8
    if isinstance(kind, ListType):
        return (kind.length or 0) * size(kind.element)
    assert isinstance(kind, StateType | DictionaryType), kind
    return 0


def is_constant(op: Op) -> bool:
    return op.type == "const" or op.type.startswith("constexpr")


def source(value: Value) -> Value:
    """Return the value whose memory a value is."""
    while (maker := value.maker) is not None and maker.type in VIEWS:
        given = maker.operand("input" if maker.type == "read_state" else "x")
        if not isinstance(given, Value):
            break
        value = given
    return value


def used(op: Op) -> set[Value]:
    """Return the memory that an operation and those inside it read."""
    inner = {value for block in op.blocks for each in block for value in used(each)}
    return inner | {source(value) for value in op.operands} | {source(v) for b in op.blocks for v in b.outputs}


def simulated(block: Block, inputs: list[Value]) -> int:
    """Return the most bytes that live at one step, by looking through the whole block at each step."""
    ops = [op for op in block if not is_constant(op)]
    kept = {source(value) for value in block.outputs}

    def costs(value: Value) -> int:
        is_free = value.maker is not None and (is_constant(value.maker) or source(value) is not value)
        is_literal_view = value.maker is not None and value.maker.type in VIEWS
        return 0 if is_free or is_literal_view else size(value.type)

    def later(value: Value, place: int) -> bool:
        return value in kept or any(value in used(op) for op in ops[place:])

    most = sum(map(costs, inputs))
    for place, op in enumerate(ops):
        before = [*inputs, *(value for each in ops[:place] for value in each.outputs)]
        living = sum(costs(value) for value in before if later(value, place))
        inside = [simulated(inner, []) for inner in op.blocks]
        most = max(most, living + max(sum(map(costs, op.outputs)), *inside, 0))
    return most


@pytest.mark.parametrize("first", range(0, SEEDS, PER_TEST))
def test_peaks_agree_with_a_simulation(first: int) -> None:
    for seed in range(first, first + PER_TEST):
        program: Program = generate(seed, Options(ops=(4, 24), functions=1 + seed % 2))
        graph = Graph(program)
        for found in miltext.cost(program).functions:
            function = graph.functions[found.function]
            assert function.block is not None
            expected = simulated(function.block, function.inputs)
            assert found.peak_bytes == expected, (seed, found)
            assert sum(each for _, each in found.peak_values) == found.peak_bytes, (seed, found)
