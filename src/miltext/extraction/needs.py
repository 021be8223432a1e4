"""What each operation of a block needs: the operations that make its arguments, and those that write its states.

A block is read once, front to back, and asked as often as one likes. A state is one thing from one prediction to the
next: whatever uses it needs all that is written to it, before or after.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from miltext.schema.proto import Block, Function, Operation

READS = "read_state"
"""The operation that takes a state and leaves it as it is; any other may write to what it takes."""

OUTSIDE = -1
"""In the place of an operation: what the function takes makes a value, or nothing that is seen does."""


class Use(NamedTuple):
    """A name that an operation uses, also inside its blocks, and the place of the operation that makes it."""

    name: str
    maker: int


class Needed(NamedTuple):
    """The places of the operations that are needed, in order, and the names that they take from outside of them."""

    operations: list[int]
    names: set[str]


class Needs:
    """What the operations of a function's block need; `uses` has the names that each of them takes from around it.

    `makers` has the place of the operation that makes a value, of several the last, and OUTSIDE for an input.
    """

    def __init__(self, function: Function, block: Block) -> None:
        self.states = {each.name for each in function.inputs if each.type.WhichOneof("type") == "stateType"}
        self.makers: dict[str, int] = {each.name: OUTSIDE for each in (*function.inputs, *block.inputs)}
        self.uses: list[list[Use]] = []
        self._writers: dict[str, list[int]] = {}
        for place, operation in enumerate(block.operations):
            self._read(place, operation)

    def _read(self, place: int, operation: Operation) -> None:
        names = dict.fromkeys(free_names(operation))
        self.uses.append([Use(name, self.makers.get(name, OUTSIDE)) for name in names])
        if self.states and not self.states.isdisjoint(names):
            for name in self.states.intersection(written_names(operation)):
                self._writers.setdefault(name, []).append(place)
        for output in operation.outputs:
            self.makers[output.name] = place

    def of(self, outputs: Iterable[str], given: Collection[str] = (), *, later_writes: bool = True) -> Needed:
        """Return what makes the outputs, where the values `given` come from outside.

        Of what is written to a state that is used, `later_writes` has what comes after all uses, too: the next
        prediction reads it.
        """
        found, taken = set[int](), set[str]()
        done: dict[str, int] = {}
        todo = [self._source(name, self.makers.get(name, OUTSIDE), given, taken) for name in outputs]
        while todo:
            place = todo.pop()
            if place == OUTSIDE or place in found:
                continue
            found.add(place)
            for name, maker in self.uses[place]:
                todo.append(self._source(name, maker, given, taken))
                if maker == OUTSIDE and (writers := self._writers.get(name)):
                    needed = len(writers) if later_writes else bisect(writers, place)
                    todo += writers[done.get(name, 0) : needed]
                    done[name] = max(done.get(name, 0), needed)
        return Needed(sorted(found), taken)

    def is_outside(self, name: str) -> bool:
        """Tell whether no operation makes a value."""
        return self.makers.get(name, OUTSIDE) == OUTSIDE

    def _source(self, name: str, maker: int, given: Collection[str], taken: set[str]) -> int:
        """Return the place of what makes a value that is used, which is noted as `taken` if that is outside."""
        place = OUTSIDE if name in given else maker
        if place == OUTSIDE:
            taken.add(name)
        return place


def free_names(operation: Operation) -> Iterator[str]:
    """Yield the names that an operation and its blocks use and do not make, each perhaps several times."""
    for argument in operation.inputs.values():
        for binding in argument.arguments:
            if name := binding.name:
                yield name
    for block in operation.blocks:
        yield from _free_in(block)


def _free_in(block: Block) -> Iterator[str]:
    own = {each.name for each in block.inputs}
    for operation in block.operations:
        yield from (name for name in free_names(operation) if name not in own)
        own.update(output.name for output in operation.outputs)
    yield from (name for name in block.outputs if name not in own)


def written_names(operation: Operation) -> Iterator[str]:
    """Yield the names that an operation may write to, if those are states: all that it or its blocks take, but for
    what is only read.
    """
    if operation.type == READS:
        return
    for argument in operation.inputs.values():
        yield from (binding.name for binding in argument.arguments)
    for block in operation.blocks:
        own = {each.name for each in block.inputs}
        for inner in block.operations:
            yield from (name for name in written_names(inner) if name not in own)
            own.update(output.name for output in inner.outputs)
