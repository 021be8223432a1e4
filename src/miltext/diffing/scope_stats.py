"""The numbers of differences by function and scope."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miltext.diffing.partners import partners_of
from miltext.diffing.structure import AddedOperation, ChangedOperation, MovedOperations
from miltext.diffing.telling import counted_operation, operation_name, shown_renames
from miltext.diffing.weight_sizes import placed_alike
from miltext.ir.functions import Function
from miltext.pairing.keyed import label
from miltext.scopes.scopes import function_scopes
from miltext.scopes.weight_extents import holders_of
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from miltext.diffing.lining_up import Texts
    from miltext.diffing.structure import (
        BlockDifference,
        Change,
        FunctionDifference,
        OperationDifference,
        Rename,
        WeightChange,
    )
    from miltext.ir.parts import Op
    from miltext.pairing.pairing import PairedFunction
    from miltext.scopes.weight_extents import WeightExtent


@dataclass(frozen=True, slots=True)
class ScopeStat:
    """The numbers of differences in a scope of a function, whose scope is empty for parts without a scope.

    `added`, `removed`, `changed` and `moved` are numbers of operations, `renamed` of values, `interface` of changes of
    the function itself: its name, inputs, outputs, opset and attributes, and `weights` of weights with other elements.
    All are without `consequences`, which are counted apart. `old_parameters` and `new_parameters` are the numbers of
    elements of all weights in the scope, and `old_bytes` and `new_bytes` their sizes. A weight stored once is counted
    once, in its first scope.
    """

    function: str = ""
    scope: str = ""
    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0
    renamed: int = 0
    interface: int = 0
    weights: int = 0
    consequences: int = 0
    old_parameters: int = 0
    new_parameters: int = 0
    old_bytes: int = 0
    new_bytes: int = 0

    @property
    def differs(self) -> bool:
        """Whether there is a difference, also of weights that went to or came from other scopes."""
        counted = any(getattr(self, name) for name in COUNTED)
        return counted or (self.old_parameters, self.old_bytes) != (self.new_parameters, self.new_bytes)


COUNTED = ("added", "removed", "changed", "moved", "renamed", "interface", "weights", "consequences")
"""The fields of a ScopeStat that count differences."""

NUMBERS = (*COUNTED, "old_parameters", "new_parameters", "old_bytes", "new_bytes")
"""The numeric fields of a ScopeStat."""


@dataclass(frozen=True, slots=True)
class DiffStat:
    """The numbers of differences of two programs: by scope, only the `scopes` with differences, and in `total`.

    The parameters and bytes in `total` count all weights of the programs.
    """

    scopes: tuple[ScopeStat, ...] = ()
    total: ScopeStat = field(default_factory=ScopeStat)


def added_up(rows: Iterable[ScopeStat]) -> Counter[str]:
    """Return the sums of the numbers in rows."""
    found = Counter[str]()
    for row in rows:
        found.update({name: getattr(row, name) for name in NUMBERS})
    return found


def scope_stats(functions: Iterable[FunctionDifference], weights: Iterable[WeightChange], texts: Texts) -> DiffStat:
    """Return the numbers of the differences of two programs."""
    tallies = {name_text(pair.name): _Tally(pair) for pair in texts.pairs}
    extents = placed_alike(holders_of(texts.old), holders_of(texts.new), partners_of(texts.pairs).ops)
    for each in tallies.values():
        each.extents(*extents)
    for function in functions:
        tallies[function.name].function(function)
    for weight in weights:
        tallies[weight.function].weight(weight)
    rows = tuple(row for each in tallies.values() for row in each.rows())
    total = ScopeStat("", "", **added_up(rows))
    return DiffStat(tuple(row for row in rows if row.differs), total)


class _Tally:
    """The numbers of a function, by scope, in the order of the scopes in the new program."""

    def __init__(self, pair: PairedFunction) -> None:
        self._name = name_text(pair.name)
        self._scopes = _scopes(pair.old), _scopes(pair.new)
        self._named = [{label(op): scope for op, scope in reversed(each.items())} for each in self._scopes]
        scopes = ["", *self._scopes[1].values(), *self._scopes[0].values()]
        self._found: dict[str, Counter[str]] = {scope: Counter() for scope in scopes}

    def rows(self) -> Iterable[ScopeStat]:
        """Yield the numbers of each scope."""
        return (ScopeStat(self._name, scope, **found) for scope, found in self._found.items())

    def extents(self, old: Mapping[Op, WeightExtent], new: Mapping[Op, WeightExtent]) -> None:
        """Count the weights of both sides."""
        for name, scopes, extents in zip(("old", "new"), self._scopes, (old, new), strict=True):
            for op, scope in scopes.items():
                if op in extents:
                    found = extents[op]
                    self._found[scope].update({f"{name}_parameters": found.parameters, f"{name}_bytes": found.bytes})

    def weight(self, weight: WeightChange) -> None:
        """Count a weight with other elements."""
        scope = self._named[1].get(weight.operation, "")
        self._found[scope]["weights" if weight.follows is None else "consequences"] += 1

    def function(self, function: FunctionDifference) -> None:
        """Count the differences of a function; all operations of an added or removed one."""
        self._found[""]["interface"] += (function.status, function.name) != ("changed", function.old_name)
        if function.status != "changed":
            for scopes, kind in zip(self._scopes, ("removed", "added"), strict=True):
                self._all(scopes, kind)
            return
        self._changes(function.changes, function.renamed, "")
        for block in function.blocks:
            self._block(block, None)

    def _all(self, scopes: Mapping[Op, str], kind: str) -> None:
        for op, scope in scopes.items():
            self._found[scope][kind] += isinstance(op.block and op.block.owner, Function)

    def _block(self, block: BlockDifference, scope: str | None) -> None:
        """Count the differences of a block in an operation of this scope, or of a function's own block."""
        self._changes(block.changes, block.renamed, scope or "")
        found: tuple[OperationDifference, ...] = (*block.added, *block.removed, *block.changed, *block.moved)
        for operation in found:
            self._operation(operation, scope)

    def _changes(self, changes: Iterable[Change], renamed: Iterable[Rename], scope: str) -> None:
        for kind, found in (("interface", changes), ("renamed", shown_renames([*renamed]))):
            for each in found:
                self._found[scope][kind if each.follows is None else "consequences"] += 1

    def _operation(self, operation: OperationDifference, scope: str | None) -> None:
        if scope is None:
            named = self._named[isinstance(operation, (AddedOperation, ChangedOperation, MovedOperations))]
            scope = named[operation_name(operation)]
        self._found[scope].update(counted_operation(operation))
        for block in operation.blocks if isinstance(operation, ChangedOperation) else ():
            self._block(block, scope)


def _scopes(function: Function | None) -> dict[Op, str]:
    return {} if function is None else function_scopes(function)
