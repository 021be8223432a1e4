"""Endless loops: loops whose body never changes the values that their condition reads.

Dependences determine this, not numbers: the output of an operation counts as a new value. A value is constant if no
operation of the body computes it, or only from constant values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.flow import FLOWS
from miltext.ir.graph import Graph
from miltext.ir.needs import written
from miltext.ir.parts import Value

if TYPE_CHECKING:
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.schema.proto import Program


class Standing(NamedTuple):
    """A constant variable of a loop, by number, that the condition reads.

    The loop is named by its first output. If the condition reads only constant values and states, there is also an
    entry with an empty variable.
    """

    function: str
    loop: str
    variable: str


class _Made(NamedTuple):
    """The outer values that a value in a block depends on, and whether an operation computes it from them."""

    values: frozenset[Value]
    is_computed: bool


def standing(program: Program) -> set[Standing]:
    """Return the constant variables in the loops of a program, also in nested loops."""
    return {
        Standing(function.name, op.outputs[0].name, each)
        for function in Graph(program).functions.values()
        for op in function.walk()
        if _is_loop(op) and op.outputs and len(op.blocks) > 1
        for each in _still(op)
    }


def _is_loop(op: Op) -> bool:
    return op.type in FLOWS and FLOWS[op.type].test is not None


def _still(loop: Op) -> Iterator[str]:
    """Yield the constant variables in the condition of a loop, by number; then "" if all that it reads is constant."""
    condition, body = loop.blocks[0], loop.blocks[-1]
    first = {value: place for place, value in enumerate(condition.inputs)}
    read: set[Hashable] = {first.get(value, value) for each in _outputs(condition, {}) for value in each.values}
    places = {value: place for place, value in enumerate(body.inputs)}
    results = dict(enumerate(_outputs(body, {})))
    uses: dict[Hashable, set[Hashable]] = {
        place: {places.get(value, value) for value in each.values} for place, each in results.items()
    }
    moved: set[Hashable] = {value for each in body for value in written(each)}
    moved |= {place for place, each in results.items() if each.is_computed and place in _reached(uses, uses[place])}
    moving = {each for each in read if not moved.isdisjoint(_reached(uses, {each}))}
    yield from (str(place) for place in places.values() if place in read - moving)
    if not moving:
        yield ""


def _reached(uses: Mapping[Hashable, set[Hashable]], start: set[Hashable]) -> set[Hashable]:
    """Return all values that some variables depend on, from one turn of the loop to the next."""
    found, todo = set[Hashable](), [*start]
    while todo:
        each = todo.pop()
        if each not in found:
            found.add(each)
            todo += uses.get(each, ())
    return found


def _outputs(block: Block, around: Mapping[Value, _Made]) -> list[_Made]:
    """Return the dependences of the outputs of a block; `around` are known values from outside."""
    made = dict(around)
    for op in block:
        for place, value in enumerate(op.outputs):
            made[value] = _Made(frozenset(), False) if op.is_constant else _of(op, place, made)
    return [_known(value, made) for value in block.outputs]


def _of(op: Op, place: int, made: Mapping[Value, _Made]) -> _Made:
    """Return the dependences of an output of an operation; an operation with blocks only passes on their values."""
    if not op.blocks:
        return _Made(frozenset().union(*(_known(value, made).values for value in op.operands)), True)
    variables = op.inputs.get(FLOWS[op.type].variables, ()) if op.type in FLOWS else ()
    found = []
    for block in op.blocks[-1:] if _is_loop(op) else op.blocks:
        pairs = zip(block.inputs, variables, strict=False)
        inner = {value: _known(given, made) for value, given in pairs if isinstance(given, Value)}
        found += _outputs(block, {**made, **inner})[place : place + 1]
    values = frozenset[Value]().union(*(each.values for each in found))
    return _Made(values, any(each.is_computed for each in found))


def _known(value: Value, made: Mapping[Value, _Made]) -> _Made:
    return made.get(value) or _Made(frozenset([value]), False)
