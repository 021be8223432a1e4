"""What is different between functions and blocks that correspond, and in which order it is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from miltext.diffing.operations import Operations, arguments
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
    WeightChange,
)
from miltext.syntax.literals import quote
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.diffing.values import Found, Values
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node, Region
    from miltext.models.pairing.pairing import PairedBlock, PairedFunction
    from miltext.models.pairing.sequences import Pair

_USES = 3
"""How many of the arguments that a constant stands for are named."""


class Comparison:
    """Tells two programs apart whose functions are paired.

    As it goes, it gathers the `weights` that are different, and the operations of the new program that say something
    else than their partners, or whose weights do: `different`.
    """

    def __init__(self, old: Graph, new: Graph, values: Values) -> None:
        self._old = old
        self._new = new
        self._values = values
        self._spelling = values.spelling
        self._operations = Operations(old, new, values)
        self.weights: list[WeightChange] = []
        self.different: set[Node] = set()

    def program(self, ignored: str | None) -> list[Change]:
        """Return what is different in the programs themselves: an attribute of the name `ignored` is not looked at."""
        a, b = self._old.program, self._new.program
        changes = [
            Change(field, "", spell(old), spell(new))
            for field, spell in (("version", str), ("docString", quote))
            if (old := getattr(a, field)) != (new := getattr(b, field))
        ]
        return changes + self._attributes(a.attributes, b.attributes, "", ignored)

    def function(self, pair: PairedFunction) -> FunctionDifference:
        """Return what is different in a function."""
        name, old_name, a, b = name_text(pair.name), name_text(pair.old_name), pair.old, pair.new
        one = b or a
        assert one is not None
        text = self._spelling.function(pair.name, one.function)
        if a is None or b is None:
            size = sum(len(region.nodes) for region in one.blocks.values())
            return FunctionDifference(name, old_name, "added" if b else "removed", text, operations=size)
        changes = self._opsets(a, b) + self._inputs(a.inputs, b.inputs, pair.inputs)
        changes += self._attributes(a.function.attributes, b.function.attributes, name)
        renamed = self._renamed_inputs(a.inputs, b.inputs, pair.inputs, "input")
        blocks = [block for block in [self._block(each, name, outer=True) for each in pair.blocks] if not block.same]
        return FunctionDifference(name, old_name, "changed", text, tuple(changes), tuple(renamed), tuple(blocks))

    def _opsets(self, a: FunctionGraph, b: FunctionGraph) -> list[Change]:
        """Another opset of the function, or of its only block if that is not the function's own."""
        opsets = a.function.opset, b.function.opset
        names = [("", *opsets)]
        if len(a.blocks) == len(b.blocks) == 1:
            (own,), (other,) = a.blocks, b.blocks
            names += [("block", own, other)] if (own, other) != opsets else []
        spell = self._spelling.opset
        return [Change("opset", name, spell(old) or None, spell(new) or None) for name, old, new in names if old != new]

    def _block(self, pair: PairedBlock, function: str, outer: bool = False) -> BlockDifference:
        a, b = pair.old, pair.new
        place = self._spelling.opset(pair.place) if outer else pair.place
        if a is None or b is None:
            status = "added" if a is None else "removed"
            return BlockDifference(place, status, operations=tuple(self._told(pair, function)))
        changes = self._inputs(a, b, pair.inputs) + self._operations.outputs(a, b)
        changes += self._attributes(a.block.attributes, b.block.attributes, function)
        renamed = self._renamed_inputs(a, b, pair.inputs, "value")
        outputs = {*b.outputs} if outer else {*()}
        for i, j in pair.pairs.items():
            renamed += self._operations.renamed(a.nodes[i], b.nodes[j], outputs)
        return BlockDifference(place, "changed", tuple(changes), tuple(renamed), tuple(self._told(pair, function)))

    def _inputs(self, a: Region, b: Region, pairs: Sequence[Pair]) -> list[Change]:
        """Compare inputs: those that came, went, have another type, or another order among those that stayed."""
        type_of, there = self._spelling.type, dict(pairs)
        stayed = {*there.values()}
        old, new = [[name_text(value.name) for value in region.named] for region in (a, b)]
        changes = [Change("input", name, type_of(a.named[i]), None) for i, name in enumerate(old) if i not in there]
        changes += [Change("input", name, None, type_of(b.named[j])) for j, name in enumerate(new) if j not in stayed]
        changes += [
            Change("input", new[j], type_of(a.named[i]), type_of(b.named[j]))
            for i, j in pairs
            if self._old.types[a.inputs[i]] != self._new.types[b.inputs[j]]
        ]
        order = list(there.values())
        if order != sorted(order):
            before, now = [", ".join([new[j] for j in each]) for each in (order, sorted(order))]
            changes.append(Change("inputs", "", f"({before})", f"({now})"))
        return changes

    def _renamed_inputs(self, a: Region, b: Region, pairs: Sequence[Pair], kind: str) -> list[Rename]:
        named = [(a.named[i].name, b.named[j].name) for i, j in pairs]
        return [Rename(kind, name_text(new), name_text(old), name_text(new)) for old, new in named if old != new]

    def _attributes(
        self, old: Mapping[str, Any], new: Mapping[str, Any], function: str, ignored: str | None = None
    ) -> list[Change]:
        before, now = [dict(self._flat({name: each[name] for name in each if name != ignored})) for each in (old, new)]
        return self._keep(self._values.changes("attribute", before, now, (function, "")))

    def _keep(self, found: Sequence[Found]) -> list[Change]:
        """Return the changes; those of weights are put aside."""
        self.weights += [each for each in found if isinstance(each, WeightChange)]
        return [each for each in found if isinstance(each, Change)]

    def _flat(self, attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Attributes by name; what a dictionary holds by name and key, as in `buildInfo["coremltools-version"]`."""
        for name, value in attributes.items():
            pairs = value.immediateValue.dictionary.values
            keys = [self._spelling.value(pair.key) for pair in pairs if pair.HasField("value")]
            if not keys or len({*keys}) < len(pairs) or not all(key.startswith('string("') for key in keys):
                yield name_text(name), value
                continue
            for key, pair in zip(keys, pairs, strict=True):
                yield f"{name_text(name)}[{key[len('string(') : -1]}]", pair.value
            shell = type(value)()
            shell.CopyFrom(value)
            del shell.immediateValue.dictionary.values[:]
            yield name_text(name), shell

    # ---- the operations of a block

    def _told(self, pair: PairedBlock, function: str) -> Iterator[OperationDifference]:
        """Yield what is different in the operations, in the order of both blocks merged."""
        mates = {j: i for i, j in pair.pairs.items()}
        moves = {move.new_index: move for move in self._moves(pair, mates)}
        users = _Users(pair.new)
        for i, j in pair.steps():
            if pair.old and j is None and i is not None and i not in pair.pairs:
                yield RemovedOperation(*self._alone(pair.old.nodes[i]))
            if pair.new and j is not None and j not in mates:
                yield AddedOperation(*self._alone(pair.new.nodes[j]))
            if pair.old and pair.new and j is not None and j in mates:
                if j in moves:
                    yield moves[j]
                yield from self._changed(
                    pair.old.nodes[mates[j]], pair.new.nodes[j], pair.inner.get(j, []), function, users
                )

    def _alone(self, node: Node) -> tuple[str, str, str, int]:
        return node.label, name_text(node.operation.type), self._spelling.operation(node.operation), node.index

    def _moves(self, pair: PairedBlock, mates: Mapping[int, int]) -> Iterator[MovedOperations]:
        """Yield the runs of operations that are not on the spine."""
        stayed = {j for _, j in pair.spine}
        moved = [j for j in sorted(mates) if j not in stayed]
        run: list[int] = []
        for j, following in zip_longest(moved, moved[1:]):
            run.append(j)
            if following != j + 1 or mates[following] != mates[j] + 1:
                assert pair.new is not None
                nodes = pair.new.nodes
                names = tuple([nodes[each].label for each in run])
                yield MovedOperations(names, mates[run[0]], run[0], nodes[run[0] - 1].label if run[0] else None)
                run = []

    def _changed(
        self, a: Node, b: Node, inner: Sequence[PairedBlock], function: str, users: _Users
    ) -> Iterator[ChangedOperation]:
        found = self._operations.changes(a, b, (function, b.label))
        if found:
            self.different.add(b)
        changes = self._keep(found)
        if len(a.blocks) != len(b.blocks):
            changes.append(Change("blocks", "", str(len(a.blocks)), str(len(b.blocks))))
        blocks = [block for block in [self._block(each, function) for each in inner] if not block.same]
        if changes or blocks:
            used_as = () if b.grounded else users.of(b)
            kind = name_text(b.operation.type)
            yield ChangedOperation(b.label, kind, a.index, b.index, tuple(changes), tuple(blocks), used_as)


class _Users:
    """Who takes the values of a block's operations, looked up when that is first asked."""

    def __init__(self, region: Region | None) -> None:
        self._region = region

    @cached_property
    def _users(self) -> dict[int, list[tuple[str, str]]]:
        found: dict[int, list[tuple[str, str]]] = {}
        for node in self._region.nodes if self._region else ():
            for key, bound in arguments(node).items():
                for value in bound:
                    if isinstance(value, int):
                        found.setdefault(value, []).append((node.label, name_text(key)))
        return found

    def of(self, node: Node) -> tuple[tuple[str, str], ...]:
        """Return the first few arguments that an operation's values stand for."""
        return tuple([use for value in node.values for use in self._users.get(value, ())][:_USES])
