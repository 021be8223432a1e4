"""The differences between functions, blocks and operations that correspond, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from miltext.diffing.bindings import arguments, stated
from miltext.diffing.constants import Constants
from miltext.diffing.structure import (
    AddedOperation,
    BlockDifference,
    Change,
    ChangedOperation,
    FunctionDifference,
    MovedOperations,
    OperationDifference,
    RemovedOperation,
    Rename,
    WeightDifference,
)
from miltext.diffing.telling import USES
from miltext.models.pairing.graph import EXACT, NAME
from miltext.schema.proto import Value
from miltext.syntax.literals import quote
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.diffing.bindings import Bindings, Bound
    from miltext.diffing.values import Values
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node, Region
    from miltext.models.pairing.pairing import PairedBlock, PairedFunction
    from miltext.models.pairing.sequences import Pair

Uses: TypeAlias = "dict[int, list[tuple[Node, str]]]"
"""The users of each value of a block: the operation, and the argument."""

Sides: TypeAlias = "tuple[Node | None, Node | None]"
"""The operations that something is told of, in the old and in the new program."""

Pending: TypeAlias = "dict[int, list[tuple[Sides, Change]]]"
"""The changes of constants, by the index of the operation that each is told at."""

_ORDER = ("operation", "argument", "attribute", "type", "outputs", "blocks")
"""The kinds of the changes of an operation, as they are told."""


class Comparison:
    """Compares two programs whose functions are paired.

    `different` gathers the operations of the new program that differ from their partners, by themselves or by their
    weights.
    """

    def __init__(self, old: Graph, new: Graph, values: Values) -> None:
        self._old = old
        self._new = new
        self._values = values
        self._constants = Constants(old, new, values)
        self._spelling = values.spelling
        self.different: set[Node] = set()
        self._owners: dict[int, Sides] = {}  # the operations that have changed weights, by the places of these

    def program(self, ignored: str | None) -> list[Change]:
        """Return the differences of the programs themselves, apart from an attribute of the name `ignored`."""
        a, b = self._old.program, self._new.program
        changes = [
            Change(field, "", spell(old), spell(new))
            for field, spell in (("version", str), ("docString", quote))
            if (old := getattr(a, field)) != (new := getattr(b, field))
        ]
        kept = [{key: each.attributes[key] for key in each.attributes if key != ignored} for each in (a, b)]
        return changes + self._attributes(kept[0], kept[1], "")

    def weights(self) -> WeightDifference:
        """Return the differences of the weights, but for parts of those that are told as a whole."""
        found = self._values.weights()
        told = {index for index, sides in self._owners.items() if self._constants.are_told(*sides)}
        return replace(found, changed=tuple(each for index, each in enumerate(found.changed) if index not in told))

    def function(self, pair: PairedFunction) -> FunctionDifference:
        """Return the differences of a function."""
        name, old_name, a, b = name_text(pair.name), name_text(pair.old_name), pair.old, pair.new
        one = b or a
        assert one is not None
        text = self._spelling.function(pair.name, one.function)
        if a is None or b is None:
            size = sum(len(region.nodes) for region in one.blocks.values())
            return FunctionDifference(name, old_name, "added" if b else "removed", text, operations=size)
        changes = self._opsets(a, b) + self._inputs(a.inputs, b.inputs, pair.inputs)
        changes += self._attributes(a.function.attributes, b.function.attributes, name)
        renamed = _renamed_inputs(a.inputs, b.inputs, pair.inputs, "input")
        blocks = self._blocks(pair.blocks, name, outer=True)
        return FunctionDifference(name, old_name, "changed", text, tuple(changes), tuple(renamed), blocks)

    def _opsets(self, a: FunctionGraph, b: FunctionGraph) -> list[Change]:
        """Compare the opsets of a function, and of its only block if that is not the function's own."""
        opsets = a.function.opset, b.function.opset
        names = [("", *opsets)]
        if len(a.blocks) == len(b.blocks) == 1:
            (own,), (other,) = a.blocks, b.blocks
            names += [("block", own, other)] if (own, other) != opsets else []
        spell = self._spelling.opset
        return [Change("opset", name, spell(old) or None, spell(new) or None) for name, old, new in names if old != new]

    def _blocks(self, pairs: Sequence[PairedBlock], function: str, outer: bool = False) -> tuple[BlockDifference, ...]:
        return tuple([block for pair in pairs if not (block := self._block(pair, function, outer)).same])

    def _block(self, pair: PairedBlock, function: str, outer: bool) -> BlockDifference:
        a, b = pair.old, pair.new
        place = self._spelling.opset(pair.place) if outer else pair.place
        if a is None or b is None:
            status = "added" if a is None else "removed"
            return BlockDifference(place, status, operations=tuple(self._told(pair, function)))
        changes = self._inputs(a, b, pair.inputs) + self._outputs(a, b)
        changes += self._attributes(a.block.attributes, b.block.attributes, function)
        renamed = _renamed_inputs(a, b, pair.inputs, "value")
        outputs = {*b.outputs} if outer else {*()}
        for i, j in pair.pairs.items():
            renamed += self._renamed(a.nodes[i], b.nodes[j], outputs)
        return BlockDifference(place, "changed", tuple(changes), tuple(renamed), tuple(self._told(pair, function)))

    def _inputs(self, a: Region, b: Region, pairs: Sequence[Pair]) -> list[Change]:
        """Compare inputs: the removed, the added, the retyped, and the order of those that both have."""
        type_of, there = self._spelling.type, dict(pairs)
        stayed = {*there.values()}
        old, new = a.block.inputs, b.block.inputs
        gone = [value for i, value in enumerate(old) if i not in there]
        added = [value for j, value in enumerate(new) if j not in stayed]
        changes = [Change("input", name_text(value.name), type_of(value), None) for value in gone]
        changes += [Change("input", name_text(value.name), None, type_of(value)) for value in added]
        changes += [
            Change("input", name_text(new[j].name), type_of(old[i]), type_of(new[j]))
            for i, j in pairs
            if self._old.types[a.inputs[i]] != self._new.types[b.inputs[j]]
        ]
        order = list(there.values())
        if order != sorted(order):
            before, now = [", ".join([name_text(new[j].name) for j in each]) for each in (order, sorted(order))]
            changes.append(Change("inputs", "", f"({before})", f"({now})"))
        return changes

    def _outputs(self, a: Region, b: Region) -> list[Change]:
        """Compare the values that two blocks return."""
        if self._tokens(self._old, a.outputs) == self._tokens(self._new, b.outputs):
            return []
        return [Change("outputs", "", *self._texts(a.outputs, b.outputs))]

    def _attributes(self, old: Mapping[str, Value], new: Mapping[str, Value], function: str) -> list[Change]:
        return [*self._named("attribute", dict(self._flat(old)), dict(self._flat(new)), (function, ""))]

    def _flat(self, attributes: Mapping[str, Value]) -> Iterator[tuple[str, list[Value]]]:
        """Yield attributes by name, and entries of a dictionary by name and key: `buildInfo["coremltools-version"]`."""
        for key, value in attributes.items():
            name, entries = name_text(key), value.immediateValue.dictionary.values
            keys = [self._spelling.value(entry.key) for entry in entries if entry.HasField("value")]
            if keys and len({*keys}) == len(entries) and all(text.startswith('string("') for text in keys):
                for text, entry in zip(keys, entries, strict=True):
                    yield f"{name}[{text[len('string(') : -1]}]", [entry.value]
                value = deepcopy(value)
                del value.immediateValue.dictionary.values[:]
            yield name, [value]

    # ---- the operations of a block

    def _told(self, pair: PairedBlock, function: str) -> list[OperationDifference]:
        """Return the differences of the operations, in the order of both blocks merged.

        A constant is not among these if all of its uses tell of it.
        """
        found: list[tuple[Sides, OperationDifference]] = []
        mates = {j: i for i, j in pair.pairs.items()}
        old, new = [region.nodes if region else [] for region in (pair.old, pair.new)]
        moves = {move.new_index: move for move in _moves(pair, mates, new)}
        users = cache(lambda: _users(new))
        pending: Pending = {}
        for a, b in pair.steps():
            if a and not b and a.index not in pair.pairs:
                found.append(((a, None), RemovedOperation(*self._alone(a))))
            if b and b.index not in mates:
                found.append(((None, b), AddedOperation(*self._alone(b))))
            elif b:
                if b.index in moves:
                    found.append(((None, None), moves[b.index]))
                blocks = pair.inner.get(b.index, [])
                a = old[mates[b.index]]
                found += [((a, b), each) for each in self._changed(a, b, blocks, function, users, mates, pending)]
        return [each for sides, each in found if not self._constants.are_told(*sides)]

    def _alone(self, node: Node) -> tuple[str, str, str, int]:
        return node.label, name_text(node.operation.type), self._spelling.operation(node.operation), node.index

    def _changed(
        self,
        a: Node,
        b: Node,
        inner: Sequence[PairedBlock],
        function: str,
        users: Callable[[], Uses],
        mates: Collection[int],
        pending: Pending,
    ) -> Iterator[ChangedOperation]:
        """Yield the differences of an operation, with those of the constants that are `pending`, to be told here."""
        changes = self._changes(a, b, (function, b.label))
        told = [change for sides, change in pending.pop(b.index, ()) if not self._constants.are_told(*sides)]
        is_constant = bool(changes or told) and not b.grounded
        uses = [use for value in b.values for use in users().get(value, ())] if is_constant else []
        first = _first_user(b, uses, mates) if _is_other_constant(a, b, changes) else None
        if first is not None and self._constants.is_used_as_often(b, len(uses)):
            change = next(each for each in changes if each.name == "val")
            (user, key), others = uses[first], _labels([*uses[:first], *uses[first + 1 :]])
            change = replace(change, kind="argument", name=key, also=others)
            pending.setdefault(user.index, []).append(((a, b), change))
            return
        changes = sorted([*changes, *told], key=_place_of)
        blocks = self._blocks(inner, function)
        if changes or blocks:
            kind = name_text(b.operation.type)
            yield ChangedOperation(b.label, kind, a.index, b.index, tuple(changes), blocks, _labels(uses[:USES]))

    # ---- two operations

    def _changes(self, a: Node, b: Node, where: tuple[str, str]) -> list[Change]:
        """Return the changes of an operation; `where` is the function, and the operation, for its weights."""
        weights = len(self._values.changed)
        changes: list[Change] = []
        if not self._constants.weight(a, b, where[0]) and not self._is_untouched(a, b):
            old, new = a.operation.type, b.operation.type
            changes += [Change("operation", "", name_text(old), name_text(new))] if old != new else []
            changes += self._named("argument", arguments(a), arguments(b), where)
            changes += self._named("attribute", stated(a), stated(b), where)
            changes += self._types(a, b)
        if changes or len(self._values.changed) > weights:
            self.different.add(b)
        self._owners |= dict.fromkeys(range(weights, len(self._values.changed)), (a, b))
        if len(a.blocks) != len(b.blocks):
            changes.append(Change("blocks", "", str(len(a.blocks)), str(len(b.blocks))))
        return changes

    def _is_untouched(self, a: Node, b: Node) -> bool:
        """Return whether nothing can differ: all is equal without weights, of which only samples were compared."""
        if a.weighty or b.weighty or a.kinds[EXACT] != b.kinds[EXACT]:
            return False
        return self._tokens(self._old, a.operands) == self._tokens(self._new, b.operands)

    def _tokens(self, graph: Graph, values: Sequence[int]) -> list[int | None]:
        return [graph.tokens[value] for value in values]

    def _named(self, kind: str, old: Bindings, new: Bindings, where: tuple[str, str]) -> Iterator[Change]:
        """Yield the changes of arguments by key, or of attributes by the text of their name."""
        for key in sorted({*old, *new}):
            name, before, now = name_text(key) if kind == "argument" else key, old.get(key), new.get(key)
            if before is None or now is None:
                yield Change(kind, name, self._text(self._old, before), self._text(self._new, now))
                continue
            if len(before) == len(now):
                pairs = [self._constants.literals(*pair) for pair in zip(before, now, strict=True)]
                before, now = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            if len(before) == len(now) == 1 and isinstance(before[0], Value) and isinstance(now[0], Value):
                yield from self._values.change(kind, name, before[0], now[0], where)
            elif len(before) != len(now) or not all(map(self._same, before, now)):
                yield Change(kind, name, *self._texts(before, now))

    def _same(self, before: Bound, now: Bound) -> bool:
        if isinstance(before, int) and isinstance(now, int):
            return self._old.tokens[before] == self._new.tokens[now]
        if isinstance(before, Value) and isinstance(now, Value):
            return self._values.same(before, now)
        return before is None and now is None

    def _texts(self, before: Sequence[Bound], now: Sequence[Bound]) -> tuple[str | None, str | None]:
        """Return the texts of two different bindings: equal ones if another operation took a removed one's name."""
        old, new = self._text(self._old, before), self._text(self._new, now)
        return (f"{old} (removed)", new) if old == new else (old, new)

    def _text(self, graph: Graph, bound: Sequence[Bound] | None) -> str | None:
        if bound is None:
            return None
        texts = [self._binding(graph, each) for each in bound]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _binding(self, graph: Graph, bound: Bound) -> str:
        if bound is None:
            return "$unset"
        return name_text(graph.known_as[bound]) if isinstance(bound, int) else self._spelling.value(bound)

    def _types(self, a: Node, b: Node) -> list[Change]:
        """Return the changes of the types of the outputs, or of their number."""
        old, new = a.operation.outputs, b.operation.outputs
        if len(old) != len(new):
            return [Change("outputs", "", self._spelling.parameters(old), self._spelling.parameters(new))]
        type_of, several = self._spelling.type, len(new) > 1
        return [
            Change("type", name_text(now.name) if several else "", type_of(before), type_of(now))
            for before, now, i, j in zip(old, new, a.values, b.values, strict=True)
            if self._old.types[i] != self._new.types[j]
        ]

    def _renamed(self, a: Node, b: Node, outputs: Set[int]) -> Iterator[Rename]:
        """Yield the names that differ between two operations; `outputs` are the values that the function returns."""
        for old, new in zip(a.values, b.values, strict=False):  # one may have more outputs
            before, now = name_text(self._old.names[old]), name_text(self._new.names[new])
            if before != now:
                yield Rename("output" if new in outputs else "value", now, before, now)
        names = [each.operation.attributes.get(NAME, None) for each in (a, b)]
        if names[0] != names[1]:
            yield Rename("name", b.label, *[self._spelling.literal(name) if name else None for name in names])


def _users(nodes: Sequence[Node]) -> Uses:
    """Return the Uses of the values of a block."""
    found: Uses = {}
    for node in nodes:
        for key, bound in arguments(node).items():
            for value in bound:
                if isinstance(value, int):
                    found.setdefault(value, []).append((node, name_text(key)))
    return found


def _labels(uses: Sequence[tuple[Node, str]]) -> tuple[tuple[str, str], ...]:
    return tuple([(user.label, argument) for user, argument in uses])


def _is_other_constant(a: Node, b: Node, changes: Sequence[Change]) -> bool:
    """Whether all that differs between two operations is what a `const` holds, with its type."""
    both = a.operation.type == b.operation.type == "const"
    return (
        both and "val" in [each.name for each in changes] and {each.kind for each in changes} <= {"attribute", "type"}
    )


def _first_user(node: Node, uses: Sequence[tuple[Node, str]], mates: Collection[int]) -> int | None:
    """Return which of the uses of a constant is the first of an operation that both programs have."""
    there = (place for place, (user, _) in enumerate(uses) if user.index in mates and user.index > node.index)
    return next(there, None)


def _place_of(change: Change) -> tuple[int, str]:
    """Return what the changes of an operation are sorted by."""
    return _ORDER.index(change.kind), change.name if change.kind == "argument" else ""


def _moves(pair: PairedBlock, mates: Mapping[int, int], nodes: Sequence[Node]) -> Iterator[MovedOperations]:
    """Yield the runs of operations that are paired, but not on the spine."""
    moved = sorted(mates.keys() - {j for _, j in pair.spine})
    run: list[int] = []
    for j, following in zip_longest(moved, moved[1:]):
        run.append(j)
        if following != j + 1 or mates[following] != mates[j] + 1:
            names = tuple([nodes[each].label for each in run])
            yield MovedOperations(names, mates[run[0]], run[0], nodes[run[0] - 1].label if run[0] else None)
            run = []


def _renamed_inputs(a: Region, b: Region, pairs: Sequence[Pair], kind: str) -> list[Rename]:
    named = [(a.block.inputs[i].name, b.block.inputs[j].name) for i, j in pairs]
    return [Rename(kind, name_text(new), name_text(old), name_text(new)) for old, new in named if old != new]
