"""The differences between corresponding functions, blocks and operations, in the displayed order."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from miltext.diffing.consequences import Consequences
from miltext.diffing.constants import PairedConstants, labelled, uses_of
from miltext.diffing.edits import (
    AttributeEdit,
    BlockAdded,
    BlockRemoved,
    Edits,
    FunctionAdded,
    FunctionEdit,
    FunctionRemoved,
    NameEdit,
    OperationAdded,
    OperationRemoved,
    OperationsMoved,
    OpsetEdit,
    OutputsEdit,
    ProgramFieldEdit,
)
from miltext.diffing.exact import ExactData, attribute_edits, flattened, joined, with_edits
from miltext.diffing.scoping import with_scopes
from miltext.diffing.structure import (
    EQUAL,
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
from miltext.diffing.telling import REMOVED, USES
from miltext.ir.functions import Block
from miltext.ir.parts import Op, Value
from miltext.pairing.keyed import EXACT, NAME, label, stated
from miltext.schema import proto
from miltext.syntax.literals import quote
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence, Set

    from miltext.diffing.compression import Compressed
    from miltext.diffing.structure import WeightChange
    from miltext.diffing.values import Values
    from miltext.ir.functions import Function
    from miltext.ir.parts import Operand
    from miltext.pairing.keyed import KeyedGraph
    from miltext.pairing.pairing import PairedBlock, PairedFunction
    from miltext.pairing.sequences import Pair

Bindings: TypeAlias = "Mapping[str, Sequence[Operand]]"
"""Arguments, or attributes as arguments, by name."""

Sides: TypeAlias = "tuple[Op | None, Op | None]"
"""The operations of a finding, in the old and in the new program."""

Pending: TypeAlias = "dict[int, list[tuple[Sides, Change]]]"
"""The changes of constants, by the index of the reporting operation."""

_ORDER = ("operation", "argument", "attribute", "type", "outputs", "blocks")
"""The kinds of the changes of an operation, in the order of the report."""


class ProgramComparison:
    """Compares two programs whose functions are paired.

    `different` collects the operations of the new program that differ from their partners, or whose weights differ, and
    `equal` all operations with the same numbers; `unread` are operations with unreadable weights; `consequences` are
    the rules for differences that follow from others.
    """

    def __init__(self, old: KeyedGraph, new: KeyedGraph, pairs: Sequence[PairedFunction], values: Values) -> None:
        self.consequences = Consequences(old, new, pairs)
        self.old = old
        self.new = new
        self._values = values
        self._constants = PairedConstants(old, new, values)
        self._spelling = values.spelling
        self._exact = ExactData(old, new)
        self.different: set[Op] = set()
        self.equal: set[Op] = set()
        self.unread: set[Op] = set()
        self._owners: dict[int, Sides] = {}  # the operations that have changed weights, by the places of these

    def program(self, ignored: str | None) -> list[Change]:
        """Return the differences of the programs themselves, except for the attribute `ignored`."""
        a, b = self.old.message, self.new.message
        changes = [
            Change(field, "", spell(old), spell(new), edits=Edits(ProgramFieldEdit(field, new)))
            for field, spell in (("version", str), ("docString", quote))
            if (old := getattr(a, field)) != (new := getattr(b, field))
        ]
        kept = [{key: each.attributes[key] for key in each.attributes if key != ignored} for each in (a, b)]
        return changes + self._attributes(kept[0], kept[1], None, "")

    @property
    def forms(self) -> tuple[Compressed, Compressed]:
        """The forms of the constants of both programs."""
        return self._constants.compressed

    def weights(self) -> WeightDifference:
        """Return the differences of the weights, without the parts of weights reported as a whole."""
        found = self._values.weights()
        reported = {index for index, sides in self._owners.items() if self._constants.are_reported(*sides)}
        for index in sorted(reported):
            self._exact.hide_edits(self._owners[index], [found.changed[index].edits])
        return replace(found, changed=tuple(each for index, each in enumerate(found.changed) if index not in reported))

    def function(self, pair: PairedFunction) -> FunctionDifference:
        """Return the differences of a function."""
        name, old_name, a, b = name_text(pair.name), name_text(pair.old_name), pair.old, pair.new
        one = b or a
        assert one is not None
        text = self._spelling.function(pair.name, one.message)
        if a is None or b is None:
            size = sum(len([*block]) for block in one.blocks.values())
            edits = Edits(FunctionAdded(pair.name, b) if b else FunctionRemoved(one))
            return FunctionDifference(name, old_name, "added" if b else "removed", text, operations=size, edits=edits)
        self._exact.loose.clear()
        changes = self._opsets(a, b, pair.blocks) + self._inputs(a, b, pair.inputs)
        changes += self._attributes(a.attributes, b.attributes, a, name)
        renamed = _renamed_inputs(a, b, pair.inputs)
        blocks = self._blocks(pair.blocks, name, outer=True)
        edits = Edits(FunctionEdit(a, pair.name, bool(b.clashing), tuple(self._exact.loose)))
        return FunctionDifference(name, old_name, "changed", text, tuple(changes), tuple(renamed), blocks, edits=edits)

    def _opsets(self, a: Function, b: Function, blocks: Sequence[PairedBlock]) -> list[Change]:
        """Compare the opsets of a function, and of its blocks that have other ones."""
        opsets = a.message.opset, b.message.opset
        keys = {block: key for function in (a, b) for key, block in function.blocks.items()}
        paired = [(keys[each.old], keys[each.new]) for each in blocks if each.old and each.new]
        names = [("", *opsets), *(("block", *pair) for pair in paired if pair != opsets)]
        spell = self._spelling.opset
        follows = opsets if opsets in paired else None  # the block has the opset of its function
        return [
            Change(
                *("opset", name, spell(old) or None, spell(new) or None),
                edits=Edits(OpsetEdit(a, None, (old, new)) if name else OpsetEdit(a, new, follows)),
            )
            for name, old, new in names
            if old != new
        ]

    def _blocks(self, pairs: Sequence[PairedBlock], function: str, outer: bool = False) -> tuple[BlockDifference, ...]:
        return tuple([block for pair in pairs if not (block := self._block(pair, function, outer)).same])

    def _block(self, pair: PairedBlock, function: str, outer: bool) -> BlockDifference:
        a, b = pair.old, pair.new
        place = self._spelling.opset(pair.place) if outer else pair.place
        if a is None or b is None:
            status = "added" if a is None else "removed"
            edits = Edits(BlockAdded(b, pair.place if outer else int(pair.place)) if b else BlockRemoved(a))  # type: ignore[arg-type]
            return BlockDifference(place, status, operations=tuple(self._operations(pair, function)), edits=edits)
        changes = self._inputs(a, b, pair.inputs) + self._outputs(a, b, outer)
        changes += self._attributes(a.message.attributes, b.message.attributes, a, function)
        renamed = _renamed_inputs(a, b, pair.inputs)
        outputs = {*a.outputs, *b.outputs} if outer else {*()}
        for _, op, other in pair.partners():
            renamed += self._renamed(op, other, outputs)
        operations = self._operations(pair, function)
        operations = with_scopes(operations, a, b) if outer else operations
        return BlockDifference(place, "changed", tuple(changes), tuple(renamed), tuple(operations))

    def _inputs(self, a: Block | Function, b: Block | Function, pairs: Sequence[Pair]) -> list[Change]:
        """Compare inputs: the removed, the added, the retyped, and the order of the common ones."""
        type_of, there = self._type, dict(pairs)
        stayed = {*there.values()}
        old, new = a.inputs, b.inputs
        gone = [value for i, value in enumerate(old) if i not in there]
        added = [value for j, value in enumerate(new) if j not in stayed]
        changes = [Change(_kind(value), name_text(value.name), type_of(value), None) for value in gone]
        changes += [Change(_kind(value), name_text(value.name), None, type_of(value)) for value in added]
        changes += [
            Change(
                *(_kind(new[j]), name_text(new[j].name), type_of(old[i]), type_of(new[j])),
                follows=self.consequences.of_input(old[i], new[j]),
            )
            for i, j in pairs
            if self.old.types[old[i]] != self.new.types[new[j]]
        ]
        order = list(there.values())
        if order != sorted(order):
            before, now = [", ".join([name_text(new[j].name) for j in each]) for each in (order, sorted(order))]
            changes.append(Change("inputs", "", f"({before})", f"({now})"))
        return self._exact.inputs(changes, a, b, pairs) if changes else []

    def _outputs(self, a: Block, b: Block, outer: bool) -> list[Change]:
        """Compare the values that two blocks return."""
        if self.old.tokens_of(a.outputs) == self.new.tokens_of(b.outputs):
            return []
        follows = self.consequences.of_outputs(a.outputs, b.outputs, are_named=outer)
        edits = Edits(OutputsEdit(a, b.outputs))
        return [Change("outputs", "", *self._texts(a.outputs, b.outputs), follows=follows, edits=edits)]

    def _attributes(
        self,
        old: Mapping[str, proto.Value],
        new: Mapping[str, proto.Value],
        holder: Block | Function | None,
        function: str,
    ) -> list[Change]:
        """Compare the attributes of two programs, functions or blocks; the `holder` has the old ones."""
        flat = flattened(old, self._spelling), flattened(new, self._spelling)
        before, now = ({name: [found.value] for name, found in each.items()} for each in flat)
        weights = self._values.changed
        known = len(weights)
        changes = [*self._named("attribute", before, now, (function, ""))]
        for place in range(known, len(weights)):
            edits = attribute_edits(weights[place].parameter, holder, *flat)
            weights[place] = replace(weights[place], edits=edits)
        return [replace(each, edits=attribute_edits(each.name, holder, *flat)) for each in changes]

    # ---- the operations of a block

    def _operations(self, pair: PairedBlock, function: str) -> list[OperationDifference]:
        """Return the differences of the operations, in the merged order of both blocks, without constants that all of
        their uses report.
        """
        found: list[tuple[Sides, OperationDifference]] = []
        mates = {j: i for i, j in pair.pairs.items()}
        old, new = pair.sides()
        moves = {move.new_index: move for move in self._moves(pair, mates, new)}
        pending: Pending = {}
        for a, b in pair.steps():
            if a and not b and (i := self.old.facts[a].index) not in pair.pairs:
                found.append(((a, None), self._removed(a, i)))
            j = self.new.facts[b].index if b else -1
            if b and j not in mates:
                found.append(((None, b), self._added(b, j)))
            elif b:
                if j in moves:
                    found.append(((None, None), moves[j]))
                a = old[mates[j]]
                found += [
                    ((a, b), each) for each in self._changed(a, b, pair.inner.get(j, []), function, mates, pending)
                ]
        hidden = [(sides, each) for sides, each in found if self._constants.are_reported(*sides)]
        for sides, each in hidden:
            self._exact.hide(sides, each)
        left = {id(each) for _, each in hidden}
        return [each for _, each in found if id(each) not in left]

    def _removed(self, op: Op, index: int) -> RemovedOperation:
        edits, follows = Edits(OperationRemoved(op)), self.consequences.of_unpaired(op)
        return RemovedOperation(*self._alone(op), index, follows=follows, edits=edits)

    def _added(self, op: Op, index: int) -> AddedOperation:
        edits, follows = Edits(OperationAdded(op)), self.consequences.of_unpaired(op)
        return AddedOperation(*self._alone(op), index, follows=follows, edits=edits)

    def _alone(self, op: Op) -> tuple[str, str, str]:
        return label(op), name_text(op.type), self._spelling.operation(op.message)

    def _changed(
        self,
        a: Op,
        b: Op,
        inner: Sequence[PairedBlock],
        function: str,
        mates: Collection[int],
        pending: Pending,
    ) -> Iterator[ChangedOperation]:
        """Yield the differences of an operation, with the `pending` differences of constants, to be reported here."""
        facts = self.new.facts
        changes = self._changes(a, b, (function, label(b)))
        reported = self._shown(pending.pop(facts[b].index, ()))
        uses = _uses(b) if (changes or reported) and not facts[b].grounded else []
        first = self._first_user(b, uses, mates) if _is_other_constant(a, b, changes) else None
        if first is not None and self._constants.is_used_as_often(b, len(uses)):
            change = next(each for each in changes if each.name == "val")
            (user, key), others = uses[first], labelled([*uses[:first], *uses[first + 1 :]])
            follows = change.follows or self.consequences.of_constant(b)
            change = replace(change, kind="argument", name=key, also=others, follows=follows, edits=joined(changes))
            pending.setdefault(facts[user].index, []).append(((a, b), change))
            return
        changes = sorted([*changes, *reported], key=_place_of)
        blocks = self._blocks(inner, function)
        if changes or blocks:
            places = self.old.facts[a].index, facts[b].index
            yield ChangedOperation(label(b), name_text(b.type), *places, tuple(changes), blocks, labelled(uses[:USES]))

    def _shown(self, pending: Sequence[tuple[Sides, Change]]) -> list[Change]:
        """Return the changes of constants, unless all uses of the constant report them."""
        if not pending:
            return []
        hidden = [self._constants.are_reported(*sides) for sides, _ in pending]
        for (sides, change), is_hidden in zip(pending, hidden, strict=True):
            if is_hidden:
                self._exact.hide_edits(sides, [change.edits])
        return [change for (_, change), is_hidden in zip(pending, hidden, strict=True) if not is_hidden]

    def _moves(self, pair: PairedBlock, mates: Mapping[int, int], ops: Sequence[Op]) -> Iterator[MovedOperations]:
        """Yield the runs of operations with partners off the spine."""
        stayed = {j for _, j in pair.spine}
        moved = sorted(mates.keys() - stayed)
        places = {op for place, op in enumerate(ops) if place not in stayed} if moved else set()
        run: list[int] = []
        for j, following in zip_longest(moved, moved[1:]):
            run.append(j)
            if following != j + 1 or mates[following] != mates[j] + 1:
                several = [ops[each] for each in run]
                after = label(ops[run[0] - 1]) if run[0] else None
                names = tuple(map(label, several))
                follows, edits = self.consequences.of_move(several, places), Edits(OperationsMoved(tuple(several)))
                yield MovedOperations(names, mates[run[0]], run[0], after, follows=follows, edits=edits)
                run = []

    def _first_user(self, op: Op, uses: Sequence[tuple[Op, str]], mates: Collection[int]) -> int | None:
        """Return the index of a constant's first use by an operation that both programs have."""
        index = [self.new.facts[each].index for each in (op, *[user for user, _ in uses])]
        return next((place for place, user in enumerate(index[1:]) if user in mates and user > index[0]), None)

    # ---- two operations

    def _changes(self, a: Op, b: Op, where: tuple[str, str]) -> list[Change]:
        """Return the changes of an operation; `where` is the function, and the operation, for its weights."""
        weights, unread = len(self._values.changed), self._values.unread
        changes: list[Change] = []
        if self._constants.weight(a, b, where[0]):
            self._judge_weight_type(a, b)
        elif not self._is_untouched(a, b):
            old, new = a.type, b.type
            changes += [Change("operation", "", name_text(old), name_text(new))] if old != new else []
            changes += self._arguments(a, b, where)
            changes += self._own_attributes(a, b, where)
            changes += self._types(a, b)
        self._note(b, [*changes, *self._values.changed[weights:]], is_unread=self._values.unread > unread)
        self._owners |= dict.fromkeys(range(weights, len(self._values.changed)), (a, b))
        if len(a.blocks) != len(b.blocks):
            changes.append(Change("blocks", "", str(len(a.blocks)), str(len(b.blocks))))
        found = self._values
        for place in range(weights, len(found.changed)):
            found.changed[place] = self._exact.weight(found.changed[place], found.kinds[place], a, b)
        return self._exact.operation(changes, a, b) if changes else changes

    def _note(self, op: Op, changes: Sequence[Change | WeightChange], *, is_unread: bool) -> None:
        """Note whether an operation of the new program differs, in its numbers or otherwise."""
        if changes:
            self.different.add(op)
        if all(each.follows is not None and each.follows.cause == EQUAL for each in changes):
            self.equal.add(op)
        if is_unread:
            self.unread.add(op)

    def _judge_weight_type(self, a: Op, b: Op) -> None:
        """Make the last weight, which has another form, a cause if its type changed by itself."""
        weight = self._values.changed[-1]
        is_retyped = self.old.types[a.outputs[0]] != self.new.types[b.outputs[0]]
        if weight.follows is not None and is_retyped and self.consequences.of_type(a, b, 0) is None:
            self._values.changed[-1] = replace(weight, follows=None)

    def _arguments(self, a: Op, b: Op, where: tuple[str, str]) -> Iterator[Change]:
        """Yield the changes of arguments, with the reasons of consequences."""
        names = {name_text(key): key for key in b.inputs}
        for change in self._named("argument", a.inputs, b.inputs, where):
            key = names.get(change.name, "")
            follows = key in a.inputs and (
                self.consequences.of_argument(b, key) or self.consequences.of_operands(a, b, key)
            )
            yield change if change.follows else replace(change, follows=follows or None)

    def _own_attributes(self, a: Op, b: Op, where: tuple[str, str]) -> Iterator[Change]:
        """Yield the changes of attributes; the value of a `const` may follow."""
        for change in self._named("attribute", stated(a), stated(b), where):
            is_value = b.type == "const" and change.name == "val"
            rules = self.consequences
            follows = rules.of_constant(b) if is_value else rules.of_attribute(a, b, change.name)
            yield change if change.follows else replace(change, follows=follows)

    def _is_untouched(self, a: Op, b: Op) -> bool:
        """Return whether the operations are equal and use no weights: of these, only samples were compared."""
        old, new = self.old.facts[a], self.new.facts[b]
        if old.weighty or new.weighty or old.kinds[EXACT] != new.kinds[EXACT]:
            return False
        return self.old.tokens_of(old.operands) == self.new.tokens_of(new.operands)

    def _named(self, kind: str, old: Bindings, new: Bindings, where: tuple[str, str]) -> Iterator[Change]:
        """Yield the changes of arguments by key, or of attributes by the text of their name."""
        for key in sorted({*old, *new}):
            name, before, now = name_text(key) if kind == "argument" else key, old.get(key), new.get(key)
            if before is None or now is None:
                yield Change(kind, name, self._text(self.old, before), self._text(self.new, now))
                continue
            if len(before) == len(now):
                pairs = [self._constants.literals(*pair) for pair in zip(before, now, strict=True)]
                before, now = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            if len(before) == len(now) == 1 and isinstance(before[0], proto.Value) and isinstance(now[0], proto.Value):
                yield from self._values.change(kind, name, before[0], now[0], where)
            elif len(before) != len(now) or not all(map(self._same, before, now)):
                yield Change(kind, name, *self._texts(before, now))

    def _same(self, before: Operand, now: Operand) -> bool:
        if isinstance(before, Value) and isinstance(now, Value):
            return self.old.tokens.get(before) == self.new.tokens.get(now)
        if isinstance(before, proto.Value) and isinstance(now, proto.Value):
            return self._values.same(before, now)
        return before is None and now is None

    def _texts(self, before: Sequence[Operand], now: Sequence[Operand]) -> tuple[str | None, str | None]:
        """Return the texts of two different bindings. Where two different values have one name in one place, the
        operation of the old one was removed, and its text is marked.
        """
        old = [self._binding(self.old, each) for each in before]
        new = [self._binding(self.new, each) for each in now]
        for place, (was, is_) in enumerate(zip(before, now, strict=False)):
            if old[place] == new[place] and not self._same(was, is_):
                old[place] += REMOVED
        return _listed(old), _listed(new)

    def _text(self, graph: KeyedGraph, bound: Sequence[Operand] | None) -> str | None:
        return None if bound is None else _listed([self._binding(graph, each) for each in bound])

    def _binding(self, graph: KeyedGraph, bound: Operand) -> str:
        if bound is None:
            return "$unset"
        return name_text(graph.name_of(bound)) if isinstance(bound, Value) else self._spelling.value(bound)

    def _types(self, a: Op, b: Op) -> list[Change]:
        """Return the changes of the types of the outputs, or of their number."""
        if len(a.outputs) != len(b.outputs):
            spell = self._spelling.parameters
            return [Change("outputs", "", spell(a.message.outputs), spell(b.message.outputs))]
        type_of, several = self._type, len(b.outputs) > 1
        follows = self.consequences
        return [
            Change(
                *("type", name_text(new.name) if several else "", type_of(old), type_of(new)),
                follows=follows.of_constant(b) if b.type == "const" else follows.of_type(a, b, place),
            )
            for place, (old, new) in enumerate(zip(a.outputs, b.outputs, strict=True))
            if self.old.types[old] != self.new.types[new]
        ]

    def _type(self, value: Value) -> str:
        assert value.message is not None, "a defined value is declared"
        return self._spelling.type(value.message)

    def _renamed(self, a: Op, b: Op, outputs: Set[Value]) -> Iterator[Rename]:
        """Yield the names that differ between two operations; `outputs` are the values that both functions return."""
        for old, new in zip(a.outputs, b.outputs, strict=False):  # one may have more outputs
            if old.name != new.name:
                before, now = name_text(old.name), name_text(new.name)
                is_output = old in outputs and new in outputs
                follows = None if is_output else self.consequences.of_rename(old, new)
                edits = Edits(NameEdit(old, new.name))
                yield Rename("output" if is_output else "value", now, before, now, follows=follows, edits=edits)
        names = [each.attributes.get(NAME, None) for each in (a, b)]
        if names[0] != names[1]:
            was, here = [self._spelling.literal(name) if name else None for name in names]
            yield Rename("name", label(b), was, here, edits=Edits(AttributeEdit(a, NAME, None, names[1])))


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _uses(op: Op) -> list[tuple[Op, str]]:
    """Return the operations that use an output of an operation in its block, each with the parameter."""
    return [(user, argument) for user, argument in uses_of(op) if user.block is op.block]


def _is_other_constant(a: Op, b: Op, changes: Sequence[Change]) -> bool:
    """Return whether two operations differ only in the value of a `const`, with its type."""
    both = a.type == b.type == "const"
    return (
        both and "val" in [each.name for each in changes] and {each.kind for each in changes} <= {"attribute", "type"}
    )


def _place_of(change: Change) -> tuple[int, str]:
    """Return the sort key of an operation's change."""
    return _ORDER.index(change.kind), change.name if change.kind == "argument" else ""


def _kind(value: Value) -> str:
    """Return the kind of an input."""
    return "state" if value.is_state else "input"


def _renamed_inputs(a: Block | Function, b: Block | Function, pairs: Sequence[Pair]) -> list[Rename]:
    """Return the renames between paired inputs of two functions or two blocks. Inputs of blocks are values."""
    named = [(a.inputs[i], b.inputs[j].name) for i, j in pairs if a.inputs[i].name != b.inputs[j].name]
    renamed = [
        Rename("value" if isinstance(a, Block) else _kind(old), name_text(new), name_text(old.name), name_text(new))
        for old, new in named
    ]
    return with_edits(renamed, [NameEdit(old, new) for old, new in named])
