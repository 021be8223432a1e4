"""Blocks that change: what is put before an operation or behind the last one, and what is taken out."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, count
from typing import TYPE_CHECKING

from miltext.schema.proto import Argument, Operation
from miltext.schema.types import Type, write_type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.schema.proto import Block


class Names:
    """The names of a function's values."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def free(self, name: str) -> str:
        """Return the name, or that with a number behind it if it is taken; from now on it is taken.

        What an identifier may not have becomes `_`: the name that it is made of may be any.
        """
        name = re.sub(r"^(?![A-Za-z_])|[^\w@]", "_", name, flags=re.ASCII)
        numbered = (f"{name}_{number}" for number in count())
        found = next(each for each in chain([name], numbered) if each not in self._taken)
        self._taken.add(found)
        return found


class BlockPlan:
    """A block, and what is to become of it; `position` is the place of the operation that is being looked at."""

    def __init__(self, message: Block) -> None:
        self.message = message
        self.position = -1
        self._before: dict[int, list[Operation]] = defaultdict(list)
        self._behind: list[Operation] = []
        self._removed: set[int] = set()

    def insert(self, place: int, operations: Iterable[Operation]) -> None:
        """Put operations before that of a place, behind those that were put there already."""
        self._before[max(place, 0)] += operations

    def append(self, operations: Iterable[Operation]) -> None:
        """Put operations behind all others."""
        self._behind += operations

    def remove(self, place: int) -> None:
        """Take out the operation of a place."""
        self._removed.add(place)

    def restore(self, place: int) -> None:
        """Leave the operation of a place in, after all."""
        self._removed.discard(place)

    def apply(self) -> None:
        """Make the block what it is to be; that of an inner block comes before."""
        if not (self._before or self._behind or self._removed):
            return
        operations: list[Operation] = []
        for place, operation in enumerate(self.message.operations):
            operations += self._before.get(place, ())
            if place not in self._removed:
                operations.append(operation)
        operations += [*self._before.get(len(self.message.operations), ()), *self._behind]
        del self.message.operations[:]
        self.message.operations.extend(operations)


# ---- operations, as coremltools writes them


def word(name: str, said: str) -> Operation:
    """Return a `const` of a word."""
    made = Operation(type="const")
    made.attributes["val"].CopyFrom(immediate(STRING, said))
    return _named(made, name, STRING)


def cast(names: Names, name: str, type: Type, dtype: str) -> list[Operation]:
    """Return a `cast` to a data type, and before it the `const` of that; what is cast is still to be named."""
    stated = names.free(f"{name}_dtype_0")
    made = Operation(type="cast")
    made.inputs["x"].arguments.add()
    made.inputs["dtype"].arguments.add(name=stated)
    return [word(stated, dtype), _named(made, name, type)]


def identity(name: str, type: Type) -> Operation:
    """Return an `identity`; what it gives back is still to be named."""
    made = Operation(type="identity")
    made.inputs["x"].arguments.add()
    return _named(made, name, type)


def subject(operation: Operation) -> Argument.Binding:
    """Return what names the `x` of an operation."""
    return operation.inputs["x"].arguments[0]


def _named(operation: Operation, name: str, type: Type) -> Operation:
    operation.outputs.add(name=name, type=write_type(type))
    operation.attributes["name"].CopyFrom(immediate(STRING, name))
    return operation
