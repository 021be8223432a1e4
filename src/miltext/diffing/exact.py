"""The exact data of the entries that `comparing` finds in two programs.

Constants shown at their uses have no entry: their data belongs to the entries of these uses.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from miltext.diffing.edits import (
    NO_EDITS,
    ArgumentEdit,
    AttributeEdit,
    ConstantReplaced,
    ConstantUnused,
    Edits,
    InputAdded,
    InputRemoved,
    InputsEdit,
    OperationEdit,
    OperationReplaced,
    ResultsEdit,
    TypeEdit,
)
from miltext.diffing.structure import EDITS, AddedOperation, ChangedOperation, RemovedOperation
from miltext.ir.needs import behind
from miltext.ir.parts import Op, Value
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.diffing.edits import Edit
    from miltext.diffing.spelling import Spelling
    from miltext.diffing.structure import Change, OperationDifference, Rename, WeightChange
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Operand
    from miltext.pairing.keyed import KeyedGraph
    from miltext.pairing.sequences import Pair
    from miltext.schema import proto

    Sides = tuple[Op | None, Op | None]

Found = TypeVar("Found", "Change", "Rename")


class FlatAttribute(NamedTuple):
    """An attribute without the entries of its dictionary, or one `entry` of it, by its key."""

    key: str
    entry: proto.Value | None
    value: proto.Value


Flat = dict[str, FlatAttribute]
"""Attributes and their entries by the names that a difference shows."""


def flattened(attributes: Mapping[str, proto.Value], spelling: Spelling) -> Flat:
    """Return attributes by name, and entries of a dictionary by name and key: `buildInfo["coremltools-version"]`."""
    found: Flat = {}
    for key, value in attributes.items():
        name, entries = name_text(key), value.immediateValue.dictionary.values
        keys = [spelling.value(entry.key) for entry in entries if entry.HasField("value")]
        if keys and len({*keys}) == len(entries) and all(text.startswith('string("') for text in keys):
            for text, entry in zip(keys, entries, strict=True):
                found[f"{name}[{text[len('string(') : -1]}]"] = FlatAttribute(key, entry.key, entry.value)
            value = deepcopy(value)
            del value.immediateValue.dictionary.values[:]
        found[name] = FlatAttribute(key, None, value)
    return found


def with_edits(entries: Iterable[Found], edits: Iterable[Edit]) -> list[Found]:
    """Return entries, each with its one edit."""
    return [_holding(entry, Edits(edit)) for entry, edit in zip(entries, edits, strict=True)]


def _holding(entry: Found, edits: Edits) -> Found:
    """Give a newly made entry its data; `dataclasses.replace` takes ten times as long."""
    object.__setattr__(entry, EDITS, edits)
    return entry


def joined(changes: Iterable[Change]) -> Edits:
    """Return the data of several changes, listed as one."""
    made = Edits()
    made.constants += [each.edits for each in changes]
    return made


class ExactData:
    """Adds the exact data to the entries of two programs.

    `loose` collects the constants of the old program without an entry of their own.
    """

    def __init__(self, old: KeyedGraph, new: KeyedGraph) -> None:
        self._old = old
        self._new = new
        self._users: dict[Op, list[Edits]] = {}
        self.loose: dict[Op, None] = {}

    # ---- operations

    def operation(self, changes: Sequence[Change], a: Op, b: Op) -> list[Change]:
        """Return the changes of an operation with their data."""
        types = (TypeEdit(old, new.message) for old, new in self._retyped(a, b) if new.message is not None)
        return [_holding(each, self._edits(each, a, b, types)) for each in changes]

    def _edits(self, change: Change, a: Op, b: Op, types: Iterator[TypeEdit]) -> Edits:
        if change.kind == "type":
            return Edits(next(types))
        if change.kind == "operation":
            return Edits(OperationEdit(a, b.type))
        if change.kind == "outputs":
            return Edits(ResultsEdit(a, tuple(b.outputs)))
        return self._bound(change.kind, change.name, a, b) if change.kind in ("argument", "attribute") else NO_EDITS

    def _bound(self, kind: str, name: str, a: Op, b: Op) -> Edits:
        """Return the data of another argument or attribute."""
        if kind == "attribute":
            key = _key(name, b.attributes, a.attributes)
            return Edits(AttributeEdit(a, key, None, b.attributes.get(key)))
        key = _key(name, b.inputs, a.inputs)
        edits = Edits(ArgumentEdit(a, key, b.inputs.get(key)))
        self._note(edits, [*a.inputs.get(key, ()), *b.inputs.get(key, ())])
        return edits

    def _retyped(self, a: Op, b: Op) -> Iterator[tuple[Value, Value]]:
        pairs = zip(a.outputs, b.outputs, strict=False)  # with another number, no types are listed
        return ((old, new) for old, new in pairs if self._old.types[old] != self._new.types[new])

    def weight(self, change: WeightChange, kind: str, a: Op, b: Op) -> WeightChange:
        """Return the change of a weight of an operation with its data; its `kind` is empty for another form."""
        if kind:
            return replace(change, edits=self._bound(kind, change.parameter, a, b))
        edits = Edits(OperationReplaced(a, b))
        for op in (a, b):
            self._note_sources(edits, op)
        return replace(change, edits=edits)

    def _note_sources(self, edits: Edits, op: Op) -> None:
        """Note that an entry shows all constants of a compressed one."""
        self._note(edits, [*behind(op.operands)])

    def _note(self, edits: Edits, operands: Sequence[Operand]) -> None:
        """Note that an entry shows the constants among operands."""
        for operand in operands:
            if isinstance(operand, Value) and operand.maker is not None and operand.maker.is_constant:
                self._users.setdefault(operand.maker, []).append(edits)

    # ---- constants without an entry

    def hide(self, sides: Sides, found: OperationDifference) -> None:
        """Give the data of an unlisted entry to the entries that show the constant at its uses."""
        if isinstance(found, AddedOperation | RemovedOperation):
            self.hide_edits(sides, [found.edits])
        elif isinstance(found, ChangedOperation):
            self.hide_edits(sides, [each.edits for each in found.changes])

    def hide_edits(self, sides: Sides, edits: Sequence[Edits]) -> None:
        """Give the data of unlisted changes of a constant to the entries that show it."""
        old, new = sides
        if old is not None:
            self.loose[old] = None
            hidden = Edits(ConstantReplaced(old, new, tuple(edits)) if new is not None else ConstantUnused(old))
        else:
            (hidden,) = edits
        for op in sides:
            for each in self._users.get(op, ()) if op is not None else ():
                each.constants.append(hidden)

    # ---- inputs and attributes

    def inputs(
        self, changes: Sequence[Change], a: Block | Function, b: Block | Function, pairs: Sequence[Pair]
    ) -> list[Change]:
        """Return the changes of inputs, in the order of `comparing`, with their data."""
        there = dict(pairs)
        stayed = {*there.values()}
        edits: list[Edit] = [InputRemoved(value) for i, value in enumerate(a.inputs) if i not in there]
        edits += [InputAdded(a, value) for j, value in enumerate(b.inputs) if j not in stayed]
        for old, new in ((a.inputs[i], b.inputs[j]) for i, j in pairs):
            if self._old.types[old] != self._new.types[new]:
                assert new.message is not None, "an input is declared"
                edits.append(TypeEdit(old, new.message))
        if len(edits) < len(changes):
            edits.append(InputsEdit(a, tuple([a.inputs[i] for i, j in sorted(pairs, key=lambda pair: pair[1])])))
        return with_edits(changes, edits)


def attribute_edits(name: str, holder: Block | Function | None, old: Flat, new: Flat) -> Edits:
    """Return the data of another attribute, or entry of it, by its shown name."""
    stated = new.get(name)
    found = stated or old[name]
    return Edits(AttributeEdit(holder, found.key, found.entry, stated.value if stated else None))


def _key(name: str, *sides: Mapping[str, object]) -> str:
    """Return the key shown under a name."""
    return next(key for side in sides for key in side if name_text(key) == name)
