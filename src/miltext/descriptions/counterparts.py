"""The correspondence of an edited program's functions, inputs, states and outputs with the original's.

They are matched by name, otherwise by place in the graph: the users of an input, the operation of an output. Order does
not count: Apple's compiler sorts inputs, and the functions of a Program have no order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.ir.parts import Value
from miltext.pairing.contents import Keys, ProgramContents
from miltext.pairing.keyed import EXACT, TYPED, KeyedGraph, names_of
from miltext.pairing.likeness import Sources, local
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.ir.functions import Function
    from miltext.ir.parts import Op
    from miltext.schema.function_io import Interface, Types
    from miltext.schema.proto import Program, ValueType

Names = dict[str, str]
"""The new name of each remaining object, by its old one."""

STEPS = 6
"""The greatest distance from a value, in steps, of the compared surroundings."""


class Version(NamedTuple):
    """A program before or after an edit: the interfaces of its functions, and the program, None if unknown."""

    interfaces: Mapping[str, Interface]
    program: Program | None


class Counterpart(NamedTuple):
    """The original function of a function: its name, its Interface, and the Names of each side.

    With `keeps_names`, a missing name was removed.
    """

    name: str
    interface: Interface
    sides: Mapping[str, Names]
    keeps_names: bool = False


def counterparts(before: Version, after: Version, *, keeps_names: bool = False) -> dict[str, Counterpart]:
    """Return the Counterpart of each function, by its new name.

    After an edit that `keeps_names`, only names are compared.
    """
    if keeps_names:
        there = {
            name: (before.interfaces[name], now) for name, now in after.interfaces.items() if name in before.interfaces
        }
        return {name: Counterpart(name, old, _same_names(old, now), True) for name, (old, now) in there.items()}
    pairing = _Pairing(before, after)
    return {
        new: Counterpart(old, before.interfaces[old], pairing.sides(old, new))
        for old, new in pairing.functions().items()
    }


def _same_names(old: Interface, new: Interface) -> dict[str, Names]:
    return {side: {name: name for name in types if name in new.sides[side]} for side, types in old.sides.items()}


class _Pairing:
    def __init__(self, before: Version, after: Version) -> None:
        self._old, self._new = before.interfaces, after.interfaces
        keys = Keys()
        self._graphs: tuple[KeyedGraph, KeyedGraph] | None = None
        if before.program is not None and after.program is not None:
            programs = before.program, after.program
            old, new = (KeyedGraph(program, keys, ProgramContents(keys, None)) for program in programs)
            self._graphs = old, new

    # ---- functions

    def functions(self) -> Names:
        """Return the functions of one name, then functions alike in all but names, then functions with the same
        interface, with the same operations, and with the same names in their interfaces.

        A single function before and after is the same one. Names are ignored if each function has an equal one on the
        other side, apart from names.
        """
        if len(self._old) == len(self._new) == 1:
            return dict(zip(self._old, self._new, strict=True))
        alike = [self._likeness(0, self._old), self._likeness(1, self._new)]
        found = {name: name for name in self._old if name in self._new}
        if Counter(alike[0].values()) == Counter(alike[1].values()):
            found = {name: name for name in found if alike[0].get(name) == alike[1].get(name)}
        stated = [{name: _stated(each) for name, each in side.items()} for side in (self._old, self._new)]
        both = [{name: (side[name], said[name]) for name in side} for side, said in zip(alike, stated, strict=True)]
        operations = [self._operations(0, self._old), self._operations(1, self._new)]
        named = [{name: _named(each) for name, each in side.items()} for side in (self._old, self._new)]
        for old, new in (both, alike, stated, operations, named):
            found |= _only_ones(old, new, found)
        return found

    def _likeness(self, place: int, names: Iterable[str]) -> dict[str, Hashable]:
        """Return the contents of each function except for names."""
        if self._graphs is None:
            return {}
        graph = self._graphs[place]
        return {name: Sources(graph, EXACT).function(graph.functions[name]) for name in names}

    def _operations(self, place: int, names: Iterable[str]) -> dict[str, Hashable]:
        """Return the number of each operation in each function, of any type; nothing for a function without
        operations.
        """
        if self._graphs is None:
            return {}
        functions = self._graphs[place].functions
        ops = {name: [op for block in functions[name].blocks.values() for op in block] for name in names}
        return {name: tuple(sorted(op.type for op in found)) for name, found in ops.items() if found}

    # ---- sides

    def sides(self, name: str, new_name: str) -> dict[str, Names]:
        """Return the Names of each side of a function."""
        old, new = self._old[name].sides, self._new[new_name].sides
        if self._graphs is None:
            return {side: _by_name(side, old[side], new[side], []) for side in old}
        functions = self._graphs[0].functions[name], self._graphs[1].functions[new_name]
        if self._is_renamed(*functions):
            return _by_position(*functions, old)
        if self._is_retyped(*functions):
            return {side: {name: name for name in old[side] if name in new[side]} for side in old}
        settled = {side: _unchanged(old[side], new[side]) for side in old}
        open_names = {name for side in old for name in {*old[side], *new[side]} - {*settled[side]}}
        lasting = _names(functions[0]) & _names(functions[1]) - open_names
        inner = _names(functions[1]) - {*_all(new)}, _names(functions[0]) - {*_all(old)}
        around = [
            (
                FeaturePlaces(self._graphs[0], functions[0], lasting, inner[0], level),
                FeaturePlaces(self._graphs[1], functions[1], lasting, inner[1], level),
            )
            for level in (EXACT, TYPED)
        ]
        return {side: _by_name(side, old[side], new[side], around) for side in old}

    def _is_renamed(self, old: Function, new: Function) -> bool:
        """Return whether only names changed, so that each place in the text is unchanged.

        If the same lines have the same names, in any order, nothing was renamed.
        """
        assert self._graphs is not None
        a, b = self._graphs
        if Sources(a, EXACT).function(old) != Sources(b, EXACT).function(new):
            return False
        return {*_lines(a, old, EXACT)} != {*_lines(b, new, EXACT)}

    def _is_retyped(self, old: Function, new: Function) -> bool:
        """Return whether only types and attributes changed: the same lines have the same names, in any order."""
        assert self._graphs is not None
        a, b = self._graphs
        return {*_lines(a, old, TYPED)} == {*_lines(b, new, TYPED)}


def _stated(interface: Interface) -> Hashable:
    """Return the inputs, states and outputs of a function with their types, in any order."""
    return frozenset(
        (side, name, _wire(kind)) for side, types in interface.sides.items() for name, kind in types.items()
    )


def _named(interface: Interface) -> Hashable:
    """Return the names of a function's inputs, states and outputs."""
    return frozenset((side, name) for side, types in interface.sides.items() for name in types)


def _names(function: Function) -> set[str]:
    """Return the names of a function's values, inner blocks aside."""
    values = [*function.inputs]
    for block in function.blocks.values():
        values += [*block.inputs, *block.made()]
    return {value.name for value in values}


def _all(sides: Mapping[str, Types]) -> Iterator[str]:
    return (name for types in sides.values() for name in types)


def _lines(graph: KeyedGraph, function: Function, level: int) -> Iterator[Hashable]:
    """Yield the lines of a function with their names: operations with their results and operands, and the outputs.

    At the level TYPED, types and attributes are ignored.
    """
    for block in function.blocks.values():
        for op in block:
            facts = graph.facts[op]
            taken = [value.name for value in (*facts.operands, *facts.captures)]
            yield local(graph, op, level), facts.slots, names_of(op), *taken
        yield frozenset(value.name for value in block.outputs)
    typed = level is EXACT
    yield frozenset((value.name, graph.types[value] if typed else None) for value in function.inputs)


def _by_position(before: Function, after: Function, old: Mapping[str, Types]) -> dict[str, Names]:
    """Return the Names by unchanged positions."""
    taken, given = (
        {value.name: other.name for value, other in zip(*both, strict=True)}
        for both in ((before.inputs, after.inputs), (before.outputs, after.outputs))
    )
    names = {"input": taken, "state": taken, "output": given}
    return {side: {name: names[side][name] for name in types} for side, types in old.items()}


# ---- by name, and by place in the graph


Both: TypeAlias = "tuple[FeaturePlaces, FeaturePlaces]"
"""The places of values in the old program, and in the new one."""


def _by_name(side: str, old: Types, new: Types, around: Sequence[Both]) -> Names:
    """Return the Names of one side, matched by name and type, by place, by name, by place without types and attributes,
    and finally as the only ones of a type.

    `around` is for the levels EXACT and TYPED; it is empty for unknown programs.
    """
    found = _unchanged(old, new)
    for both in around[:1]:
        found |= _at_places(side, old, new, both, found)
    taken = {*found.values()}
    found.update({name: name for name in old if name in new and name not in found and name not in taken})
    for both in around[1:]:
        at = _at_places(side, old, new, both, found)
        found |= {name: other for name, other in at.items() if _agree(side, both, name, other)}
    wires = [{name: _wire(kind) for name, kind in types.items() if kind is not None} for types in (old, new)]
    only = _only_ones(wires[0], wires[1], found)
    return found | {name: new for name, new in only.items() if all(_agree(side, both, name, new) for both in around)}


def _at_places(side: str, old: Types, new: Types, around: Both, found: Names) -> Names:
    """Return the Names of values at the same place, with surroundings as large as needed to distinguish them."""
    at: Names = {}
    for steps in range(STEPS, 0, -1):
        left = [name for name in old if name not in found and name not in at]
        free = [name for name in new if name not in found.values() and name not in at.values()]
        places = [each.places(side, names, steps) for each, names in zip(around, (left, free), strict=True)]
        at |= _only_ones(places[0], places[1], found | at)
    return at


def _agree(side: str, around: Both, old: str, new: str) -> bool:
    """Return whether two names may belong to the same value."""
    a, b = around[0].landmarks(side, old), around[1].landmarks(side, new)
    return a is not None and b is not None and not (a and b and a.isdisjoint(b))


def _wire(value_type: ValueType | None) -> bytes:
    return b"" if value_type is None else wire_of(value_type)


def _unchanged(old: Types, new: Types) -> Names:
    return {name: name for name in old if name in new and old[name] == new[name]}


def _only_ones(old: Mapping[str, Hashable], new: Mapping[str, Hashable], found: Names) -> Names:
    """Return the pairs of names outside `found` whose keys are unique on both sides."""
    taken = {*found.values()}
    left = {name: key for name, key in old.items() if name not in found}
    free = {name: key for name, key in new.items() if name not in taken}
    counts = Counter(left.values()), Counter(free.values())
    there = {key: name for name, key in free.items()}
    return {name: there[key] for name, key in left.items() if counts[0][key] == counts[1][key] == 1}


# ---- the surroundings of a value


class FeaturePlaces:
    """The places of a function's inputs, states and outputs in its graph.

    An operation of a value with a `lasting` name is identified by that name, another one by its contents and
    surroundings. `inner` are the names of the other program's inner values: a value of such a name is that value. At
    the `level` TYPED, types and attributes do not count.
    """

    def __init__(
        self, graph: KeyedGraph, function: Function, lasting: Collection[str], inner: Collection[str], level: int
    ) -> None:
        self._graph = graph
        self._level = level
        self._lasting = lasting
        self._inner = inner
        self._known: dict[Hashable, int] = {}
        self._users: dict[Value, list[tuple[int, Op]]] = {}
        for block in function.blocks.values():
            for op in block:
                for slot, value in _taken(graph, op):
                    self._users.setdefault(value, []).append((slot, op))
        inputs = {value.name: value for value in function.inputs}
        outputs = {value.name: value for value in function.outputs}
        self._values = {"input": inputs, "state": inputs, "output": outputs}

    def places(self, side: str, names: Iterable[str], steps: int) -> dict[str, int]:
        """Return an integer for the surroundings of each value within a number of steps, unless they are empty."""
        values = {name: self._values[side][name] for name in names if name not in self._inner}
        return {name: self._key(at, steps) for name, at in values.items() if at.maker is not None or at in self._users}

    def landmarks(self, side: str, name: str) -> set[Hashable] | None:
        """Return the uses of a value by operations of lasting names; None for a name of an inner value."""
        users = self._users.get(self._values[side][name], ())
        found: set[Hashable] = {(slot, names) for slot, op in users if (names := self._lasting_names(op))}
        return None if name in self._inner else found

    def _lasting_names(self, op: Op) -> tuple[str, ...]:
        return tuple([name for name in names_of(op) if name in self._lasting])

    def _key(self, what: Value | Op, steps: int) -> int:
        """Return an integer for a value or an operation, with its surroundings within a number of steps."""
        known = self._known.get((what, steps))
        if known is None:
            found = self._around(what, steps) if isinstance(what, Value) else self._look(what, steps)
            known = self._known[what, steps] = self._graph.keys[found]
        return known

    def _around(self, value: Value, steps: int) -> Hashable:
        if steps == 0:
            return "a value", self._graph.types[value] if self._level == EXACT else None
        maker = value.maker
        made = None if maker is None else (maker.outputs.index(value), self._key(maker, steps - 1))
        uses = sorted([(slot, self._key(user, steps - 1)) for slot, user in self._users.get(value, ())])
        return "around", made, tuple(uses)

    def _look(self, op: Op, steps: int) -> Hashable:
        names = self._lasting_names(op)
        if names:
            return "called", names
        taken = [(slot, self._key(value, steps)) for slot, value in _taken(self._graph, op)] if steps else []
        made = [self._key(value, steps) for value in op.outputs] if steps else []
        return "look", local(self._graph, op, self._level), tuple(taken), tuple(made)


def _taken(graph: KeyedGraph, op: Op) -> list[tuple[int, Value]]:
    """Return the operands of an operation, each with its slot; the operands of its inner blocks come last."""
    facts = graph.facts[op]
    inside = [(graph.keys["inside", place], value) for place, value in enumerate(facts.captures)]
    return [*zip(facts.slots, facts.operands, strict=True), *inside]
