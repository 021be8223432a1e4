"""The values that other values depend on, and the operations that a block needs, such as writers of states."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op, Value

Node = TypeVar("Node", bound=Hashable)

READS = "read_state"
"""The operation that only reads a state; any other operation may write to its states."""


class Needed(NamedTuple):
    """The needed operations, in order, and the outer values that they use, each once."""

    ops: list[Op]
    outside: list[Value]


class Needs:
    """The operations that each operation of a block needs. The block is read once for any number of queries.

    A state persists between predictions: an operation that uses it needs all operations that write it. `states` are the
    places of the uses of each state.
    """

    def __init__(self, block: Block) -> None:
        self.ops = list(block)
        self.uses = [op.used() for op in self.ops]
        self._places = {value: place for place, op in enumerate(self.ops) for value in op.outputs}
        self.states: dict[Value, list[int]] = {}
        self._writers: dict[Value, list[int]] = {}
        for place, op in enumerate(self.ops):
            states = [each for each in self.uses[place] if each.is_state]
            for value in states:
                self.states.setdefault(value, []).append(place)
            for value in written(op) if states else ():
                self._writers.setdefault(value, []).append(place)

    def of(
        self,
        outputs: Iterable[Value],
        given: Collection[Value] = (),
        *,
        later_writes: bool = True,
        whole_states: bool = False,
    ) -> Needed:
        """Return the operations that the outputs need, if the values `given` come from outside.

        `later_writes` includes the writes to a used state after all uses, which the next prediction reads;
        `whole_states` includes all uses of a used state.
        """
        pulling = self.states if whole_states else self._writers
        found: set[int] = set()
        outside: dict[Value, None] = {}
        done: dict[Value, int] = {}
        todo: list[tuple[Value, int]] = [(value, len(self.ops)) for value in outputs]
        pulled: list[int] = []
        while todo or pulled:
            if todo:
                value, user = todo.pop()
                maker = None if value in given else self._places.get(value)
                if maker is None:
                    outside[value] = None
                    if user < len(self.ops) and (writers := pulling.get(value)):
                        needed = len(writers) if later_writes else bisect(writers, user)
                        pulled += writers[done.get(value, 0) : needed]
                        done[value] = max(done.get(value, 0), needed)
                    continue
                pulled.append(maker)
            place = pulled.pop()
            if place not in found:
                found.add(place)
                todo += [(value, place) for value in self.uses[place]]
        return Needed([self.ops[place] for place in sorted(found)], list(outside))


def reached(start: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> Iterator[Node]:
    """Yield some nodes of any graph, and those after them, and so on, each once and the nearest first."""
    found = dict.fromkeys(start)
    todo = [*found]
    for node in todo:  # it grows
        yield node
        new = dict.fromkeys(each for each in after(node) if each not in found)
        found.update(new)
        todo += new


def behind(values: Iterable[Value], passes: Callable[[Value], bool] = lambda _: True) -> Iterator[Value]:
    """Yield values, and those that their makers use, and so on, each once and the nearest first.

    Omit the values that are used only by the maker of a value that does not pass.
    """
    return reached(values, lambda value: value.maker.used() if value.maker is not None and passes(value) else ())


def written(op: Op) -> Iterator[Value]:
    """Yield the states that an operation, or one inside its blocks, may write to, by an operation other than a read."""
    for each in (op, *op.walk()):
        if each.type != READS:
            yield from (value for value in each.operands if value.is_state)


def postponed(ops: Iterable[Op], waiting: Collection[Op]) -> list[Op]:
    """Return operations in order, with the `waiting` ones among them just before their first use, or at the end."""
    left: dict[Op, int] = {}
    order: list[Op] = []
    for place, op in enumerate(ops):
        if op in waiting:
            left[op] = place
            continue
        used = behind(op.used(), lambda value: value.maker in left) if left else ()
        needed = {value.maker for value in used if value.maker in left}
        order += [*sorted(needed, key=left.pop), op]
    return [*order, *left]


def sort(block: Block) -> bool:
    """Sort the operations of a block so that each comes after the operations of its operands.

    A valid order is kept, and so is the order of all uses of a state. Return whether anything moved. Cycles are kept.
    """
    ops = list(block)
    places = {op: place for place, op in enumerate(ops)}
    needs: list[list[int]] = []
    last: dict[Value, int] = {}
    for place, op in enumerate(ops):
        used = op.used()
        makers = [places[value.maker] for value in used if value.maker in places]
        for state in (value for value in used if value.is_state):
            makers += [last[state]] if state in last else []
            last[state] = place
        needs.append(makers)
    order = _depth_first(needs)
    if order == [*range(len(ops))]:
        return False
    block.append(*(ops[place] for place in order))
    return True


def _depth_first(needs: list[list[int]]) -> list[int]:
    """Return places in a stable order in which each comes after the places that it needs."""
    order: list[int] = []
    seen = [False] * len(needs)
    for start in range(len(needs)):
        todo = [(start, False)]
        while todo:
            place, is_done = todo.pop()
            if is_done:
                order.append(place)
            elif not seen[place]:
                seen[place] = True
                todo.append((place, True))
                todo += [(each, False) for each in sorted(needs[place], reverse=True) if not seen[each]]
    return order
