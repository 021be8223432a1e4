"""Endless loops: loops whose body never changes the values that their condition reads.

Dependences determine this, not numbers: the output of an operation counts as a new value. A value is constant if no
operation of the body computes it, or only from constant values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.flow import FLOWS, carried_into
from miltext.ir.functions import Block
from miltext.ir.graph import Graph
from miltext.ir.needs import reached, written
from miltext.ir.parts import Op, Value

if TYPE_CHECKING:
    from miltext.schema.proto import Program


class Standing(NamedTuple):
    """A constant variable of a loop, by number, that the condition reads.

    The loop is named by its first output. If the condition reads only constant values and states, there is also an
    entry with an empty variable.
    """

    function: str
    loop: str
    variable: str


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
    read: set[Hashable] = {first.get(value, value) for value in _behind(condition.outputs, condition)}
    places = {value: place for place, value in enumerate(body.inputs)}
    results = dict(enumerate([*_behind([output], body)] for output in body.outputs))
    uses: dict[Hashable, set[Hashable]] = {
        place: {places.get(value, value) for value in each} for place, each in results.items()
    }

    def reaching(start: Iterable[Hashable]) -> Iterator[Hashable]:
        """Yield all values that some depend on, from one turn of the loop to the next."""
        return reached(start, lambda each: uses.get(each, ()))

    moved: set[Hashable] = {value for each in body for value in written(each)}
    moved |= {place for place, each in results.items() if _is_computed(each, body) and place in reaching(uses[place])}
    moving = {each for each in read if not moved.isdisjoint(reaching([each]))}
    yield from (str(place) for place in places.values() if place in read - moving)
    if not moving:
        yield ""


def _behind(outputs: Iterable[Value], block: Block) -> Iterator[Value]:
    """Yield the outputs of a block and what they depend on; an operation with blocks only passes values on."""
    return reached(outputs, lambda value: _sources(value, block))


def _sources(value: Value, block: Block) -> Sequence[Value]:
    """Return the values that a value in a block is made of; none for a constant, and for a value from outside."""
    owner = value.owner
    if not isinstance(owner, Op | Block) or not block.holding(owner):
        return []
    if isinstance(owner, Block):
        given = carried_into(owner, value)
        return [given] if isinstance(given, Value) else []
    if not owner.blocks:
        return [] if owner.is_constant else owner.operands
    place, inner = owner.outputs.index(value), owner.blocks[-1:] if _is_loop(owner) else owner.blocks
    return [output for each in inner for output in each.outputs[place : place + 1]]


def _is_computed(values: Iterable[Value], block: Block) -> bool:
    """Return whether an operation in a block computes any of some values."""
    makers = (value.maker for value in values if not value.is_constant)
    return any(op is not None and not op.blocks and block.holding(op) for op in makers)
