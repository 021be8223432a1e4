"""Loops that would never end: what their condition reads stays as it is, however often their body runs.

This is seen from what is made of what, not from numbers: what an operation makes of a value is another value. What no
operation of the body makes, or makes only of what stays the same, stands still.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.extraction.needs import free_names, written_names
from miltext.reduction.bypassing import LOOP, VARIABLES
from miltext.schema.walk import is_constant, operations_inside

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Operation, Program


class Standing(NamedTuple):
    """A variable of a loop that the condition reads, by its number, and that stands still.

    The loop is named by the first value that it makes. Where nothing moves that the condition reads, states among it,
    there is one with an empty variable, too.
    """

    function: str
    loop: str
    variable: str


class _Made(NamedTuple):
    """The names from around a block that a value is made of, and whether an operation makes it of them."""

    names: frozenset[str]
    is_computed: bool


def standing(program: Program) -> set[Standing]:
    """Return what stands still in the loops of a program, those inside others too."""
    found = set[Standing]()
    for name in program.functions:
        function = program.functions[name]
        states = {value.name for value in function.inputs if value.type.WhichOneof("type") == "stateType"}
        for block in function.block_specializations.values():
            loops = [loop for operation in block.operations if operation.blocks for loop in _loops(operation)]
            found |= {Standing(name, loop.outputs[0].name, each) for loop in loops for each in _still(loop, states)}
    return found


def _loops(operation: Operation) -> Iterator[Operation]:
    """Yield the operation, if it is a loop, and the loops inside it."""
    for each in (operation, *operations_inside(operation)):
        if each.type == LOOP and each.outputs and len(each.blocks) > 1:
            yield each


def _still(loop: Operation, states: Collection[str]) -> Iterator[str]:
    """Yield what the condition of a loop reads and that stands still."""
    condition, body = loop.blocks[0], loop.blocks[-1]
    first = {value.name: str(place) for place, value in enumerate(condition.inputs)}
    read = {first.get(name, name) for each in _outputs(condition, {}) for name in each.names}
    places = {value.name: str(place) for place, value in enumerate(body.inputs)}
    results = {str(place): each for place, each in enumerate(_outputs(body, {}))}
    uses = {place: {places.get(name, name) for name in each.names} for place, each in results.items()}
    moved = {name for each in body.operations for name in written_names(each) if name in states}
    moved |= {place for place in uses if results[place].is_computed and place in _reached(uses, uses[place])}
    moving = {each for each in read if not moved.isdisjoint(_reached(uses, {each}))}
    yield from (read - moving).intersection(places.values())
    if not moving:
        yield ""


def _reached(uses: Mapping[str, set[str]], names: set[str]) -> set[str]:
    """Return all that some variables are made of, from one turn of the loop to the next."""
    found, todo = set[str](), [*names]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += uses.get(name, ())
    return found


def _outputs(block: Block, around: Mapping[str, _Made]) -> list[_Made]:
    """Return what the outputs of a block are made of; `around` are values from outside that are known."""
    made = dict(around)
    for operation in block.operations:
        if not is_constant(operation):
            for place, value in enumerate(operation.outputs):
                made[value.name] = _of(operation, place, made)
        else:
            made.update((value.name, _Made(frozenset(), False)) for value in operation.outputs)
    return [_named(name, made) for name in block.outputs]


def _of(operation: Operation, place: int, made: Mapping[str, _Made]) -> _Made:
    """Return what an output of an operation is made of; one that has blocks only passes on what these make."""
    if not operation.blocks:
        names = frozenset[str]().union(*(_named(name, made).names for name in free_names(operation)))
        return _Made(names, True)
    first = [each.name for each in operation.inputs[VARIABLES].arguments] if operation.type == LOOP else []
    found = []
    for block in operation.blocks[-1:] if operation.type == LOOP else operation.blocks:
        inner = {value.name: _named(name, made) for value, name in zip(block.inputs, first, strict=False)}
        found += _outputs(block, {**made, **inner})[place : place + 1]
    names = frozenset[str]().union(*(each.names for each in found))
    return _Made(names, any(each.is_computed for each in found))


def _named(name: str, made: Mapping[str, _Made]) -> _Made:
    return made.get(name) or _Made(frozenset([name]), False)
