"""The outputs that the differences of two programs can reach, and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.structure import OutputReach
from miltext.ir.needs import written
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from miltext.diffing.partners import Partners
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op, Value
    from miltext.pairing.pairing import PairedFunction


class ReachCauses(NamedTuple):
    """The differences that may change numbers.

    `operations` of the new program compute something else than their partners, or their weights were not read; `inputs`
    have another type. `described` are the features of the new description that callers give or read otherwise, by
    `input` or `output` and name.
    """

    operations: Collection[Op]
    inputs: Collection[Value]
    described: Collection[tuple[str, str]]


def output_reach(pairs: Sequence[PairedFunction], partners: Partners, causes: ReachCauses) -> OutputReach:
    """Return the names of outputs of functions in both programs, by whether callers may read other numbers there.

    A constant of one program alone shows in its users. A reached value reaches every operation that takes it, and each
    state that this operation may write; a state is reached in all functions that share it.
    """
    both = [(pair.old, pair.new) for pair in pairs if pair.old and pair.new]
    states = {name for pair in both for name in _reordered_states(*pair, partners)}
    reached: dict[Function, set[Value]] = {}
    is_growing = True
    while is_growing:
        known = len(states)
        for _, new in both:
            reached[new] = _reached(new, partners, causes, states)
            states |= {value.name for value in new.inputs if value.is_state and value in reached[new]}
        is_growing = len(states) > known
    names: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for old, new in both:
        prefix = f"{name_text(new.name)}." if len(both) > 1 else ""
        for value, is_same in _outputs(old, new, partners, reached[new]):
            is_reached = not is_same or ("output", value.name) in causes.described
            names[is_reached][f"{prefix}{name_text(value.name)}"] = None
    return OutputReach(tuple(names[True]), tuple(name for name in names[False] if name not in names[True]))


def _outputs(old: Function, new: Function, partners: Partners, reached: set[Value]) -> Iterator[tuple[Value, bool]]:
    """Yield each output that the old function has, under any name, and whether its numbers are the old ones."""
    kept = {value.name: value for block in old.blocks.values() for value in block.outputs}
    for block in new.blocks.values():
        for value in block.outputs:
            partner, named = partners.values.get(value), kept.get(value.name)
            if named is not None or partner in kept.values():
                yield value, named in (partner, None) and value not in reached


def _reordered_states(old: Function, new: Function, partners: Partners) -> Iterator[str]:
    """Yield the states that other operations use in the new function, or the same ones in another order."""
    before = {value.name: [*_users(old, value)] for value in old.inputs if value.is_state}
    for value in new.inputs:
        if value.is_state:
            partner = partners.values.get(value)
            now = [partners.ops.get(op) for op in _users(new, value)]
            if partner is None or before.get(partner.name) != now:
                yield value.name


def _users(function: Function, state: Value) -> Iterator[Op]:
    return (op for op in function.walk() if state in op.operands)


def _reached(function: Function, partners: Partners, causes: ReachCauses, states: Collection[str]) -> set[Value]:
    """Return the values of a function that may have other numbers."""
    found = {
        value
        for value in function.inputs
        if value in causes.inputs
        or value not in partners.values
        or value.name in states
        or ("input", value.name) in causes.described
    }
    for block in function.blocks.values():
        for op in block:
            own = (op, *op.walk()) if op.blocks else (op,)
            differs = any(
                each in causes.operations
                or not (each in partners.ops or each.is_constant)
                or _is_other_around(each, partners)
                for each in own
            )
            if differs or not found.isdisjoint(op.used() if op.blocks else op.operands):
                found.update(op.outputs)
                found.update(written(op))
    return found


def _is_other_around(op: Op, partners: Partners) -> bool:
    """Return whether an inner block of an operation takes or returns other values than its partner's block."""
    partner = partners.ops.get(op)
    if partner is None or len(partner.blocks) != len(op.blocks):
        return bool(op.blocks)
    return any(
        len(old) != len(new) or any(partners.values.get(b) is not a for a, b in zip(old, new, strict=True))
        for before, now in zip(partner.blocks, op.blocks, strict=True)
        for old, new in ((before.inputs, now.inputs), (before.outputs, now.outputs))
    )
