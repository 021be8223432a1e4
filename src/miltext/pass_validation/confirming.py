"""Confirmation of a fault by coremltools itself: its value inference computes other numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.checking.findings import named
from miltext.diagnostics.wording import listed
from miltext.evaluation.comparing.measures import measure
from miltext.evaluation.comparing.thresholds import EVEN, FINE
from miltext.ir.graph import Graph
from miltext.pass_validation.faults import CHECK, INTERFACE, INVALID, LOAD, NUMBERS, RAISED, WRITE
from miltext.pass_validation.inferring import InferredFunction
from miltext.pass_validation.runs import difference_in_words, is_equal

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from miltext.evaluation.rules import Array
    from miltext.pass_validation.allowances import Allowance
    from miltext.pass_validation.faults import PassFault
    from miltext.pass_validation.snapshots import Snapshot


class Confirmation(NamedTuple):
    """Whether coremltools itself shows a fault, None if it cannot know, and the evidence, or why it cannot know."""

    is_confirmed: bool | None
    reason: str


_SEEN: dict[Hashable, Confirmation] = {
    RAISED: Confirmation(True, "coremltools itself raises the error"),
    WRITE: Confirmation(True, "coremltools itself raises the error when it writes the program"),
    LOAD: Confirmation(True, "coremltools' own loader raises the error"),
    CHECK: Confirmation(None, "only `check` of miltext finds it"),
    INTERFACE: Confirmation(True, "by the inputs and outputs that coremltools writes"),
}
"""The evidence for a fault apart from numbers, by its kind, and for an invalid program, by its finder."""


def confirmation(fault: PassFault, before: Snapshot, after: Snapshot | None, allowed: Allowance) -> Confirmation:
    """Return whether coremltools confirms a fault: numbers by its value inference, other faults by its behaviour."""
    if fault.kind != NUMBERS:
        return _SEEN[fault.key[0] if fault.kind == INVALID else fault.kind]
    if after is None or not fault.before:
        return Confirmation(None, "the values have nothing to be compared with")
    old, new = (InferredFunction(each, fault.function, fault.inputs) for each in (before, after))
    block = Graph(before.program).functions[fault.function].block
    outputs = [value.name for value in block.outputs] if block is not None else []
    found = [_of_value(name, outputs, old, new, allowed) for name in fault.before]
    return min(found, key=lambda each: (True, False, None).index(each.is_confirmed))


def _of_value(
    name: str, outputs: Sequence[str], old: InferredFunction, new: InferredFunction, allowed: Allowance
) -> Confirmation:
    """Return whether coremltools infers other values of an output or a state."""
    if name in outputs:
        was, now = (each.outputs[outputs.index(name)] for each in (old, new))
    else:
        was, now = (each.states.get(name) for each in (old, new))
    if was is None or now is None:
        side = "before" if was is None else "after"
        return Confirmation(None, f"coremltools infers no value of {named(name)} {side} the pass")
    if old.computed != new.computed:
        others = {*(old.computed - new.computed), *(new.computed - old.computed)}
        return Confirmation(None, f"coremltools infers no value of {listed(sorted(others))}")
    also = f", and the evaluator for {listed(sorted(old.computed), 'and')}" if old.computed else ""
    return _compared(name, was, now, allowed, f"by coremltools' value inference{also}, ")


def _compared(name: str, before: Array, after: Array, allowed: Allowance, source: str) -> Confirmation:
    """Return whether two inferred values are as different as the pass must not make them."""
    if allowed.numbers == "close" and before.dtype.kind == "f":
        least = EVEN if before.dtype == np.float16 else FINE
        is_apart = measure(before, after).level < least
    else:
        is_apart = not is_equal(before, after)
    if not is_apart:
        return Confirmation(False, f"{source}the values of {named(name)} are equal")
    return Confirmation(True, f"{source}{difference_in_words(name, before, after)}")
