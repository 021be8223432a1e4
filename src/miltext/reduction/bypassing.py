"""Operations whose place one of their own inputs takes, which is of the same type: a way through stays a way.

Of a loop, what its variables are at first takes the place of what they are in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.reduction.graph import is_constant
from miltext.reduction.nested import operations_in, values_in
from miltext.reduction.renaming import found, rename_uses
from miltext.reduction.sweeping import sweep
from miltext.schema.proto import Program
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, Operation

LOOP = "while_loop"
VARIABLES = "loop_vars"


class Bypass(NamedTuple):
    """A way around an operation of a function: the values that it makes, and those that take their place."""

    function: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def bypasses(program: Program) -> list[Bypass]:
    """Return the ways around operations that have one, those in blocks too; not where a name is made twice."""
    found = []
    for name in sorted(program.functions):
        function = program.functions[name]
        made = [value.name for operation in _operations(function) for value in operation.outputs]
        twice = {each for each, count in Counter(made).items() if count > 1}
        types = _types(function)
        for operation in _operations(function):
            old = tuple(value.name for value in operation.outputs)
            new = _mates(operation, types)
            if new and twice.isdisjoint(old):
                found.append(Bypass(name, old, new))
    return found


def bypass(program: Program, chosen: Collection[Bypass]) -> Program | None:
    """Return a Program without some operations, whose inputs take their place; None if nothing is left of it."""
    made = Program()
    made.CopyFrom(program)
    for name in {each.function for each in chosen}:
        pairs = [pair for each in chosen if each.function == name for pair in zip(each.old, each.new, strict=True)]
        names = dict(pairs)
        function = made.functions[name]
        inputs = {value.name for value in function.inputs}
        for block in function.block_specializations.values():
            block.outputs[:] = [each for each in block.outputs if each not in names or found(each, names) not in inputs]
            _leave_out(block, names)
            rename_uses(block, names)
    return made if sweep(made) else None


def _operations(function: Function) -> Iterator[Operation]:
    for opset in sorted(function.block_specializations):
        yield from operations_in(function.block_specializations[opset])


def _types(function: Function) -> dict[str, bytes]:
    """Return the types of a function's values, by name."""
    inner = [value for block in function.block_specializations.values() for value in values_in(block)]
    return {value.name: wire_of(value.type) for value in (*function.inputs, *inner)}


def _mates(operation: Operation, types: dict[str, bytes]) -> tuple[str, ...]:
    """Return the value that may take the place of each output; none if one has none."""
    if is_constant(operation) or not operation.outputs:
        return ()
    if operation.type == LOOP:
        first = [binding.name for binding in operation.inputs[VARIABLES].arguments]
        outputs = [wire_of(value.type) for value in operation.outputs]
        return tuple(first) if [types.get(name) for name in first] == outputs else ()
    names = [binding.name for key in sorted(operation.inputs) for binding in operation.inputs[key].arguments]
    mates = [
        next((name for name in names if types.get(name) == wire_of(value.type)), "") for value in operation.outputs
    ]
    return tuple(mates) if all(mates) else ()


def _leave_out(block: Block, names: Collection[str]) -> None:
    """Take the operations out of a block, and those inside it, that make values of these names."""
    for place in reversed(range(len(block.operations))):
        operation = block.operations[place]
        if any(value.name in names for value in operation.outputs):
            del block.operations[place]
        for inner in operation.blocks:
            _leave_out(inner, names)
