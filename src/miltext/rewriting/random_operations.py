"""Operations that draw random numbers, and whether these are the same in each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.evaluation import operations  # noqa: F401  # importing it enters the rules
from miltext.evaluation.rules import RULES
from miltext.ir.parts import literal_of

if TYPE_CHECKING:
    from miltext.ir.parts import Op
    from miltext.rewriting.operands import ConstantContents

UNSEEDED = -1
"""The default of `seed`: the numbers differ at each run."""


def is_random(op_type: str) -> bool:
    """Return whether operations of a type draw random numbers."""
    return op_type in RULES and "random" in RULES[op_type].forms


def is_unseeded(op: Op, contents: ConstantContents) -> bool:
    """Return whether an operation draws random numbers without a seed of its own."""
    if not is_random(op.type):
        return False
    stated = op.operand("seed") if "seed" in op.inputs else op.attributes.get("seed")
    seed = contents.array(literal_of(stated))
    return seed is None or bool((seed == UNSEEDED).all())
