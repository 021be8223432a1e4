"""Operations that depend on constants alone, computed by the evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from miltext.evaluation.evaluator import Evaluator
from miltext.ir.graph import Graph
from miltext.ir.parts import Op, Value
from miltext.schema.types import read_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.evaluation.rules import Array
    from miltext.schema import proto
    from miltext.schema.proto import Program

FUNCTION = "computed"
"""The name of the function that computes the operations."""


def computed(ops: Sequence[Op], opset: str, literal: Callable[[Value], proto.Value]) -> dict[Value, Array]:
    """Return the outputs of operations, in order, which use each other and constants; `literal` reads a constant.

    Raise MiltextError for an operation without a result.
    """
    program, made = constant_program(ops, opset, literal)
    results = Evaluator(program, FUNCTION, check=False).run({})
    return {value: np.asarray(results[name]) for value, name in made.items()}


def constant_program(
    ops: Sequence[Op], opset: str, literal: Callable[[Value], proto.Value]
) -> tuple[Program, dict[Value, str]]:
    """Return a Program that computes the operations, and the names of their outputs in it."""
    graph = Graph.alone(FUNCTION, opset)
    block = graph.functions[FUNCTION].block
    assert block is not None, "it was made so"
    made: dict[Value, Value] = {}
    for op in ops:
        for value in op.operands:
            if value not in made:
                constant = literal(value)
                const = Op.new("const", {}, {f"v{len(made)}": read_type(constant.type)}, {"val": constant})
                block.append(const)
                made[value] = const.outputs[0]
        copy = op.copy(made.__getitem__)
        for value, output in zip(op.outputs, copy.outputs, strict=True):
            output.name = f"v{len(made)}"
            made[value] = output
        block.append(copy)
    wanted = [value for op in ops for value in op.outputs]
    block.outputs = [made[value] for value in wanted]
    return graph.program(), {value: made[value].name for value in wanted}
