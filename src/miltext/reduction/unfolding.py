"""Blocks of operations, spread out in the block around them: both branches of a `cond`, and a loop's body once.

What a `cond` makes is then what its first branch gives; what a loop makes, what its body gives the first time.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from miltext.reduction.bypassing import LOOP, VARIABLES
from miltext.reduction.renaming import found, rename_in
from miltext.schema.proto import Program
from miltext.schema.walk import values_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.schema.proto import Function, Operation


class Fold(NamedTuple):
    """An operation that has blocks: its function, and the place in the function's block for an opset."""

    function: str
    opset: str
    place: int


def folds(program: Program) -> list[Fold]:
    """Return the operations of the functions' own blocks that have blocks, and can be spread out."""
    return [
        Fold(name, opset, place)
        for name in sorted(program.functions)
        for opset in sorted(program.functions[name].block_specializations)
        for place, operation in enumerate(program.functions[name].block_specializations[opset].operations)
        if operation.blocks and _results(operation) is not None
    ]


def unfold(program: Program, chosen: Collection[Fold]) -> Program:
    """Return a Program in which the blocks of some operations are spread out."""
    made = Program()
    made.CopyFrom(program)
    for name, opset in {(each.function, each.opset) for each in chosen}:
        places = {each.place for each in chosen if (each.function, each.opset) == (name, opset)}
        _Unfolding(made.functions[name], opset).spread(places)
    return made


def _results(operation: Operation) -> list[str] | None:
    """Return the inner values that the outputs are, the first time; None for what cannot be spread out."""
    arguments = operation.inputs[VARIABLES].arguments if operation.type == LOOP else []
    block = operation.blocks[-1 if operation.type == LOOP else 0]
    fits = all(len(each.inputs) == len(arguments) for each in operation.blocks)
    named = all(binding.WhichOneof("binding") == "name" for binding in arguments)
    return [*block.outputs] if fits and named and len(block.outputs) == len(operation.outputs) else None


class _Unfolding:
    """A block of a function in which operations are spread out; values get new names where theirs are taken."""

    def __init__(self, function: Function, opset: str) -> None:
        self._block = function.block_specializations[opset]
        self._taken = {value.name for value in function.inputs} | {value.name for value in values_in(self._block)}
        self._renamed: dict[str, str] = {}

    def spread(self, places: Collection[int]) -> None:
        """Spread out the operations at some places."""
        operations: list[Operation] = []
        for place, operation in enumerate([*self._block.operations]):
            rename_in(operation, self._renamed)
            operations += self._inside(operation) if place in places else [operation]
        outputs = [found(name, self._renamed) for name in self._block.outputs]
        made = [operation.SerializeToString() for operation in operations]
        del self._block.operations[:], self._block.outputs[:]
        for wire in made:
            self._block.operations.add().ParseFromString(wire)
        self._block.outputs.extend(dict.fromkeys(outputs))

    def _inside(self, operation: Operation) -> Iterator[Operation]:
        """Yield the operations of an operation's blocks, and note what its own outputs are then."""
        results = _results(operation) or []
        first = [binding.name for binding in operation.inputs[VARIABLES].arguments] if operation.type == LOOP else []
        chosen = len(operation.blocks) - 1 if operation.type == LOOP else 0
        seen = set[str]()
        for nth, block in enumerate(operation.blocks):
            names = {value.name: given for value, given in zip(block.inputs, first, strict=True)}
            own = [value.name for value in values_in(block)]
            names |= {name: self._fresh(name) for name in own if name in seen and name not in names}
            seen.update(own)
            for inner in block.operations:
                rename_in(inner, names)
                for value in inner.outputs:
                    value.name = names.get(value.name, value.name)
                yield inner
            if nth == chosen:
                pairs = zip(operation.outputs, results, strict=True)
                self._renamed |= {value.name: found(name, names) for value, name in pairs}

    def _fresh(self, name: str) -> str:
        """Return a new name that is like another."""
        fresh = next(each for nth in range(1, len(self._taken) + 2) if (each := f"{name}_{nth}") not in self._taken)
        self._taken.add(fresh)
        return fresh
