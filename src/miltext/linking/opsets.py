"""One opset for several functions: the newest, if all of their operations exist in it as they are, or raised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics import Note, codes, warning
from miltext.diagnostics.wording import listed
from miltext.files.refusals import refusal
from miltext.ir.graph import Graph
from miltext.ir.raising import obstacles
from miltext.linking.raising import PACKED, Raising
from miltext.schema.opsets import specification_of
from miltext.schema.walk import blocks_of, own_opset
from miltext.syntax.names import opset_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.linking.parts import LinkedPart


def opset_of_part(part: LinkedPart) -> str:
    """Return the opset of the block of a model's function."""
    opset = own_opset(part.message.opset, blocks_of(part.message))
    assert opset is not None  # or the model would have been refused
    return opset


def common_opset(parts: Sequence[LinkedPart]) -> str:
    """Return the newest opset of the models, and give compressed constants its form.

    Raise ModelError (MIL485) if another operation is not in it as it is.
    """
    opsets = [opset_of_part(part) for part in parts]
    newest = max(opsets, key=specification_of)
    for part, opset in zip(parts, opsets, strict=True):
        if specification_of(opset) != specification_of(newest):
            _require_raisable(part, opset, newest)
    return newest


def _require_raisable(part: LinkedPart, old: str, new: str) -> None:
    graph, raising = Graph(part.built.spec.mlProgram), Raising(part.built)
    for op, reason in [*obstacles(graph.functions[part.function].blocks[old], old, new)]:
        if op.type in PACKED:
            problem = raising.take(op)
            reason = problem and f"{reason}, and this one {problem}"
        if reason:
            made = ", ".join(value.name for value in op.outputs) or op.type
            message = f"`{part.name}` is of {opset_text(old)} and would become {opset_text(new)}: {reason}"
            way = "convert that model for the newer opset, or link the models as functions, which keep their opsets"
            raise refusal(codes.IMPOSSIBLE_LINK, message, part.source.name, Note(f"it makes `{made}`"), Note(way))
    raising.finish(graph)


def left_out(part: LinkedPart) -> Iterator[Diagnostic]:
    """Yield a warning about the blocks of a model for other opsets, which the whole does not have."""
    own = opset_of_part(part)
    others = [opset_text(opset) for opset in blocks_of(part.message) if opset != own]
    if others:
        message = f"the block of `{part.function}` of `{part.name}` for {listed(others, 'and')} is left out"
        yield warning(codes.LEFT_OUT_OF_PART, message)
