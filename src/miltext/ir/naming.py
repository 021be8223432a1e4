"""Unique names before a graph is written: if an edit made two names clash, one value gets a fresh name."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from miltext.ir.parts import GraphError, Op
from miltext.ir.reading import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Value


def settle_names(function: Function, *, may_clash: bool = False) -> None:
    """Give fresh names to values, so that each use of a function finds its own value by name.

    The inputs and outputs of the function keep their names if another value can be renamed. Original clashes, or all of
    them if names `may_clash`, stay as long as each use still finds its value.

    Raise GraphError for a used value of another function or of a detached
    operation.
    """
    defined = [*function.defined()]
    _require_definitions(function, {*defined})
    names = [value.name for value in defined]
    if len(names) == len({*names}) and not function.undefined:
        return
    function.take(names)  # the values of an operation may be exchanged
    kept = {*function.inputs, *(value for block in function.blocks.values() for value in block.outputs)}
    for block in function.blocks.values():
        _Settling(function, kept, may_clash).block(block)


def _require_definitions(function: Function, defined: set[Value]) -> None:
    """Raise GraphError for a used value without a definition, except for an undefined name of the text."""
    used = (part.operands if isinstance(part, Op) else part.outputs for _, part in function.parts())
    for value in chain.from_iterable(used):
        if value not in defined and value.owner is not None:
            raise GraphError(
                f"the function `{function.name}` uses `{value.name}`, which it does not define: insert the operation "
                f"of `{value.name}` in `{function.name}`, or replace its uses"
            )


class _Settling:
    """A walk over a block with the values in `scope`, by name."""

    def __init__(self, function: Function, kept: set[Value], may_clash: bool) -> None:
        self._may_clash = may_clash
        self._function = function
        self._kept = kept
        self._scope = Scope()
        for value in function.inputs:
            self._define(value)

    def block(self, block: Block) -> None:
        outer = len(self._scope.hidden)
        for value in block.inputs:
            self._define(value)
        for op in block:
            self._use(op.operands)
            for inner in op.blocks:
                self.block(inner)
            for value in op.outputs:
                self._define(value)
        self._use(block.outputs)
        self._scope.leave(outer)

    def _seen(self, name: str) -> Value | None:
        """Return the visible value of a name."""
        value = self._scope.get(name)
        return value if value is not None and value.name == name else None

    def _use(self, values: Iterable[Value]) -> None:
        """Rename values with the name of a used value that come between it and its use."""
        for value in values:
            other = self._seen(value.name)
            if other is not None and other is not value:
                self._part(other, value)

    def _define(self, value: Value) -> None:
        """Add a value to the scope; if it has the name of another value, rename either."""
        other = self._seen(value.name)
        is_new = other is not None and other is not value and value not in self._function.clashing
        if other is not None and is_new and not self._may_clash:
            self._part(value, other)
        self._scope.hidden.append((value.name, self._scope.get(value.name)))
        self._scope[value.name] = value

    def _part(self, value: Value, other: Value) -> None:
        """Rename either of two values with the same name: the first, unless only the first must keep its name."""
        has_to_stay = value in self._kept and other not in self._kept
        moved, staying = (other, value) if has_to_stay else (value, other)
        moved.name = self._function.fresh(moved.name)
        self._scope[moved.name] = moved
        self._scope[staying.name] = staying
