"""The outputs that the differences of two programs can reach, and those that they cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing.structure import OutputReach
from miltext.ir.needs import written
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from miltext.diffing.partners import Partners
    from miltext.ir.functions import Function
    from miltext.ir.parts import Block, Op, Value
    from miltext.pairing.pairing import PairedFunction


def output_reach(
    pairs: Sequence[PairedFunction], partners: Partners, different: Collection[Op], retyped: Collection[Value]
) -> OutputReach:
    """Return the names of outputs of functions in both programs, by whether they may have other numbers.

    `different` are the operations of the new program that compute something else than their partners, and `retyped`
    the inputs with another type. A constant of one program alone shows in its users. A reached value reaches every
    operation that takes it, and each state that this operation may write.
    """
    both = [(pair.old, pair.new) for pair in pairs if pair.old and pair.new]
    found = OutputReach((), ())
    for old, new in both:
        prefix = f"{name_text(new.name)}." if len(both) > 1 else ""
        for block in new.blocks.values():
            reached = _reached(new, block, partners, different, retyped)
            kept = {value for each in old.blocks.values() for value in each.outputs}
            names = {True: list[str](), False: list[str]()}
            for value in block.outputs:
                is_same = value not in reached and partners.values.get(value) in kept
                names[not is_same].append(f"{prefix}{name_text(value.name)}")
            found = OutputReach((*found.reached, *names[True]), (*found.unreached, *names[False]))
    return OutputReach(tuple(dict.fromkeys(found.reached)), tuple(dict.fromkeys(found.unreached)))


def _reached(
    function: Function, block: Block, partners: Partners, different: Collection[Op], retyped: Collection[Value]
) -> set[Value]:
    """Return the values of a function's block that may have other numbers."""
    found = {value for value in function.inputs if value in retyped or value not in partners.values}
    changes = True
    while changes:  # a state that is written late is read early by the next prediction
        states = {value for value in found if value.is_state}
        for op in block:
            own = (op, *op.walk()) if op.blocks else (op,)
            differs = any(each in different or not (each in partners.ops or each.is_constant) for each in own)
            if differs or not found.isdisjoint(op.used() if op.blocks else op.operands):
                found.update(op.outputs)
                found.update(written(op))
        changes = states != {value for value in found if value.is_state}
    return found
