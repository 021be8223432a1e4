"""Confirmation of a fault by coremltools itself: its value inference, with constants in place of the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.checking.findings import named
from miltext.evaluation.comparing.measures import measure
from miltext.evaluation.comparing.thresholds import EVEN, FINE
from miltext.extraction.cutting import leave_inputs
from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.ir.passes import remove_dead
from miltext.pass_validation.faults import CHECK, INVALID, NUMBERS
from miltext.pass_validation.runs import difference_in_words, is_equal
from miltext.pass_validation.snapshots import bare_model
from miltext.pymil.loading import to_pymil
from miltext.pymil.passes import quiet
from miltext.pymil.states import last_written
from miltext.rewriting.literals import literal_message
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from miltext.evaluation.carried import Carried, Named
    from miltext.ir.parts import Value
    from miltext.pass_validation.allowances import Allowance
    from miltext.pass_validation.faults import PassFault
    from miltext.pass_validation.snapshots import Snapshot
    from miltext.schema.proto import Program


SEEN = ("fp16", "fp32", "int32")
"""The data types of `abs`."""


class Confirmation(NamedTuple):
    """Whether coremltools itself shows a fault, None if it cannot know, and what it shows, or why it cannot know."""

    is_confirmed: bool | None
    reason: str


def confirmation(fault: PassFault, before: Snapshot, after: Snapshot | None, allowed: Allowance) -> Confirmation:
    """Return whether coremltools confirms a fault: other numbers by its value inference, all else by what it did."""
    if fault.kind == INVALID and fault.key[0] == CHECK:
        return Confirmation(None, "only `check` of miltext finds it")
    if fault.kind != NUMBERS:
        return Confirmation(True, "coremltools itself shows it")
    if after is None or not fault.before:
        return Confirmation(None, "the values have nothing to be compared with")
    found = [_of_value(name, fault, before, after, allowed) for name in fault.before]
    return min(found, key=lambda each: (True, False, None).index(each.is_confirmed))


def _of_value(name: str, fault: PassFault, before: Snapshot, after: Snapshot, allowed: Allowance) -> Confirmation:
    """Return whether coremltools infers other values of an output or a state."""
    outputs = [value.name for value in _outputs(before.program, fault.function)]
    place = outputs.index(name) if name in outputs else None
    was, now = (_inferred(each, fault, name, place) for each in (before, after))
    if was is None or now is None:
        side = "before" if was is None else "after"
        return Confirmation(None, f"coremltools infers no value of {named(name)} {side} the pass")
    return _compared(name, was, now, allowed)


def _inferred(program: Snapshot, fault: PassFault, state: str, place: int | None) -> Carried:
    """Return the value of an output by coremltools' value inference, or without a place that of a state; else None.

    The inference of some operations raises for constants: then one input alone is a constant.
    """
    for names in (fault.inputs.keys(), *({name} for name in fault.inputs)):
        try:
            with quiet():
                constant = with_constants(program.program, fault.function, fault.inputs, names)
                function = to_pymil(bare_model(constant, program.folder)).functions[fault.function]
            found = last_written(function, state) if place is None else function.outputs[place].val
        except Exception:  # noqa: BLE001  # coremltools raises anything
            continue
        if found is not None:
            return found
    return None


def with_constants(program: Program, function: str, inputs: Named, names: Collection[str]) -> Program:
    """Return a Program with constants in place of some inputs of a function.

    The inputs are paired by place with those of the function, which may have other names after a pass.
    """
    graph = Graph(program)
    made = graph.functions[function]
    block = made.block
    assert block is not None, "it was run"
    typed = [(value, value.type) for value in made.inputs]
    tensors = [(value, kind) for value, kind in typed if isinstance(kind, TensorType)]
    for (value, kind), (name, given) in zip(tensors, inputs.items(), strict=True):
        if name in names:
            array = np.asarray(given)
            stated = kind._replace(shape=array.shape)
            const = Op.new("const", {}, {value.name: stated}, {"val": literal_message(array)})
            block.insert_before(next(iter(block), None), const)
            value.replace_uses(const.outputs[0])
            made.remove_input(value)
    return graph.program()


def _outputs(program: Program, function: str) -> Sequence[Value]:
    block = Graph(program).functions[function].block
    return block.outputs if block is not None else ()


def _compared(name: str, was: Carried, now: Carried, allowed: Allowance) -> Confirmation:
    """Return whether two inferred values are as different as the pass must not make them."""
    before, after = np.asarray(was), np.asarray(now)
    if allowed.numbers == "close" and before.dtype.kind == "f":
        least = EVEN if before.dtype == np.float16 else FINE
        is_apart = measure(before, after).level < least
    else:
        is_apart = not is_equal(before, after)
    if not is_apart:
        return Confirmation(False, f"coremltools infers equal values of {named(name)}")
    return Confirmation(True, f"by coremltools' value inference, {difference_in_words(name, before, after)}")


def with_other_outputs(program: Program, function: str) -> Iterator[Program]:
    """Yield the parts of a Program that compute one value of a function, with its absolute numbers as the only output.

    coremltools' value inference has a rule for `abs`, so that it may show other numbers of a value of which the outputs
    are computed by operations without a rule.
    """
    for value in reversed([*_seen(Graph(program), function)]):
        graph = Graph(program)
        made = graph.functions[function]
        block = made.block
        assert block is not None, "it was run"
        through = Op.new("abs", {"x": made.value(value.name)}, {made.fresh(f"{value.name}_abs"): value.type})
        block.append(through)
        block.outputs = [through.outputs[0]]
        remove_dead(graph)
        leave_inputs(made, {each.name for each in made.inputs if each.uses})
        graph.functions = {function: made}
        yield graph.program()


def _seen(graph: Graph, function: str) -> Iterator[Value]:
    """Yield the values of a function that `abs` takes, in the order of the text."""
    for op in graph.functions[function].block or ():
        for value in op.outputs if not op.is_constant else ():
            if isinstance(value.type, TensorType) and value.type.dtype in SEEN:
                yield value
