"""Keys of edits: equal ones for the same edit in the scopes of repeated layers.

Two edits are the same if their texts are, where a name of the operation's own scope stands for the distance of its
operation, and any other name for itself. Long literals are compared by their digests. Edits outside of scopes, and
those inside of blocks, are not compared.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

from miltext.diffing.structure import ChangedOperation, MovedOperations, RemovedOperation
from miltext.ir.parts import literal_of
from miltext.schema.wire import wire_of
from miltext.scopes.families import family
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.diffing.structure import OperationDifference
    from miltext.ir.parts import Op

LONG = 64
"""The least bytes of a literal compared by its digest; the text contains shorter ones."""

_NAME = re.compile(r"[A-Za-z_][\w.@/]*")
_PLACE = re.compile(r'(?<=" at )\d+')


class Repeats:
    """The operations of two paired blocks with their scopes, for the keys of differences."""

    def __init__(self, ops: tuple[Sequence[Op], Sequence[Op]], scopes: tuple[Sequence[str], Sequence[str]]) -> None:
        self._ops = ops
        self._scopes = scopes
        self._numbers = [{op: place for place, op in enumerate(each)} for each in ops]
        self._places: dict[str, tuple[str, int]] = {}
        for side in (0, 1):
            for place, scope in enumerate(scopes[side]):
                self._places.update((name_text(value.name), (scope, place)) for value in ops[side][place].outputs)

    def key(self, operation: OperationDifference) -> str:
        """Return the key of a difference; an empty one where it is not compared."""
        if isinstance(operation, MovedOperations) or operation.follows:
            return ""
        if isinstance(operation, ChangedOperation) and operation.blocks:
            return ""
        side = 0 if isinstance(operation, RemovedOperation) else 1
        place = operation.new_index if isinstance(operation, ChangedOperation) else operation.index
        scope = self._scopes[side][place]
        if not scope:
            return ""
        texts = [*self._texts(operation), *self._digests(operation, side, place)]
        spelled = (_NAME.sub(lambda name: self._spelled(name[0], scope, place), text) for text in texts)
        return "|".join([type(operation).__name__, family(scope), operation.type, *spelled])

    def _texts(self, operation: OperationDifference) -> Iterator[str]:
        if isinstance(operation, ChangedOperation):
            for change in operation.changes:
                if change.follows is None:
                    measure = "" if change.measure is None else repr(change.measure)
                    yield _PLACE.sub("#", f"{change.kind} {change.name}: {change.old} -> {change.new} {measure}")
        elif not isinstance(operation, MovedOperations):
            yield _PLACE.sub("#", operation.text)

    def _digests(self, operation: OperationDifference, side: int, place: int) -> Iterator[str]:
        """Yield the digests of the long literals that an edit adds, removes or changes, and the users of its values."""
        op = self._ops[side][place]
        if not isinstance(operation, ChangedOperation):
            yield from _literals(op, op.inputs)
            numbers = self._numbers[side]
            uses = [(use.parameter, use.op) for value in op.outputs for use in value.uses]
            yield " ".join(sorted(f"{name} {numbers[user] - place}" for name, user in uses if user in numbers))
            return
        names = {change.name for change in operation.changes if change.follows is None and change.kind == "argument"}
        yield from _literals(op, {key: each for key, each in op.inputs.items() if name_text(key) in names})

    def _spelled(self, name: str, scope: str, place: int) -> str:
        around, other = self._places.get(name, ("", 0))
        return f"@{other - place}" if around == scope else name


def _literals(op: Op, inputs: Mapping[str, Sequence[object]]) -> Iterator[str]:
    for parameter in sorted(inputs):
        for operand in op.inputs[parameter]:
            held = literal_of(operand)
            if held is not None and held.HasField("immediateValue") and held.ByteSize() >= LONG:
                yield sha256(wire_of(held)).hexdigest()
