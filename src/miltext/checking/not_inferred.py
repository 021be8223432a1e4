"""Reasons why the types of a known operation cannot be inferred from its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics.wording import listed
from miltext.schema.operations import signature
from miltext.schema.types import TensorType, is_whole

if TYPE_CHECKING:
    from miltext.checking.inference import Inference
    from miltext.checking.inference.operands import Operand


def why_not_inferred(inference: Inference, opset: str) -> str:
    """Return the reason why no type can be inferred for a known operation."""
    op_type, operands = inference.operation.type, inference.arguments.operands
    known = signature(op_type, opset)
    needed = {name for name, parameter in known.parameters.items() if parameter.constant} if known else set()
    vague = [
        name
        for name, bound in sorted(operands.items())
        if any(not _is_known(operand, constant=name in needed) for operand in bound)
    ]
    if not all(is_whole(part) for block in inference.arguments.blocks for part in (*block.inputs, *block.outputs)):
        return "too little is known about the inputs and outputs of its blocks; write it out"
    if vague:
        return f"too little is known of {listed(vague, 'and')}; write it out"
    return f"it does not follow from the arguments of `{op_type}`; check them, or write the type out"


def _is_known(operand: Operand, *, constant: bool) -> bool:
    """Return whether all of an operand's type is known, and the value of a tensor that must be `constant`."""
    is_open = constant and isinstance(operand.type, TensorType) and operand.value is None
    return is_whole(operand.type) and not is_open
