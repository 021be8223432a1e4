"""Operations whose place another value of the same type takes: one of their own inputs, so that a way through stays a
way, or else one that was there before.

Of a loop, what its variables are at first takes the place of what they are in the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.reduction.renaming import found, rename_uses
from miltext.reduction.sweeping import sweep
from miltext.schema.proto import Program
from miltext.schema.walk import is_constant, operations_inside, values_in
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


def bypasses(program: Program, rank: int = 0) -> list[Bypass]:
    """Return the ways around operations that have one, those in blocks too; not where a name is made twice.

    Where several inputs of an operation may take its place, the `rank` says which of them; with fewer it is left out.
    """
    found: list[Bypass] = []
    for name in sorted(program.functions):
        function = program.functions[name]
        for opset in sorted(function.block_specializations):
            found += _around(name, function, function.block_specializations[opset], rank)
    return found


def _around(name: str, function: Function, block: Block, rank: int) -> Iterator[Bypass]:
    """Yield the ways around the operations of a function's block."""
    values = [*function.inputs, *values_in(block)]
    counts = Counter(value.name for value in values)
    types = {value.name: wire_of(value.type) for value in values}
    first = {wire_of(value.type): value.name for value in reversed(function.inputs)}
    for outer in block.operations:
        for operation in (outer, *operations_inside(outer)):
            old = tuple(value.name for value in operation.outputs)
            new = _mates(operation, types, first, rank)
            if new and all(counts[each] == 1 for each in old):
                yield Bypass(name, old, new)
        for value in outer.outputs if not is_constant(outer) else ():
            first.setdefault(types[value.name], value.name)


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


def _mates(operation: Operation, types: Mapping[str, bytes], first: Mapping[bytes, str], rank: int) -> tuple[str, ...]:
    """Return the value that may take the place of each output: of its own inputs the one of a rank among those of the
    type, or else the `first` of the type; or none.
    """
    if is_constant(operation) or not operation.outputs:
        return ()
    outputs = [wire_of(value.type) for value in operation.outputs]
    if operation.type == LOOP:
        names = [binding.name for binding in operation.inputs[VARIABLES].arguments]
        return tuple(names) if not rank and [types.get(name) for name in names] == outputs else ()
    names = [binding.name for key in sorted(operation.inputs) for binding in operation.inputs[key].arguments]
    own = [[name for name in dict.fromkeys(names) if types.get(name) == kind] for kind in outputs]
    before = [[first[kind]] if kind in first else [] for kind in outputs]
    mates = [mine or others for mine, others in zip(own, before, strict=True)]
    is_ranked = all(mates) and rank < max(map(len, mates))
    return tuple(each[min(rank, len(each) - 1)] for each in mates) if is_ranked else ()


def _leave_out(block: Block, names: Collection[str]) -> None:
    """Take the operations out of a block, and those inside it, that make values of these names."""
    for place in reversed(range(len(block.operations))):
        operation = block.operations[place]
        if any(value.name in names for value in operation.outputs):
            del block.operations[place]
        for inner in operation.blocks:
            _leave_out(inner, names)
