"""Constants that a difference shows only at their uses.

Such a constant is edited in its place if all of its uses get another one. If a use keeps the old constant, the new one
is inserted beside it. A use that keeps the value of a constant with an entry of its own, because the new program has an
equal literal there, gets this literal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diffing.edits import ArgumentEdit, ConstantReplaced, ConstantUnused, OperationReplaced
from miltext.ir.parts import Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.applying.entries import EntryTable
    from miltext.applying.partners import Partners
    from miltext.diffing.edits import Edits
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op, Use
    from miltext.ir.planting import Planting


def spare_uses(constant: Op, partners: Partners) -> None:
    """Write a constant, which is edited or removed, at the uses that do not follow it in the new program."""
    literal = constant.literal("val") if constant.type == "const" else None
    if literal is None:
        return
    for value in constant.outputs:
        left = [use for use in value.uses if use.op is not None and not _follows(use, value, partners)]
        value.replace_uses(literal, left)


def _follows(use: Use, value: Value, partners: Partners) -> bool:
    """Return whether the new program uses the partner of a value in the same place."""
    new = partners.followers.get(use.op) if use.op is not None else None
    operands = new.inputs.get(use.parameter, ()) if new is not None else ()
    operand = operands[use.place] if use.place < len(operands) else None
    return isinstance(operand, Value) and partners.value(operand) is value


class ConstantEdits:
    """The edits of constants at their uses; `kept` are the old constants that stay because something uses them."""

    def __init__(self, edits: EntryTable, partners: Partners) -> None:
        self._table = edits
        self._unused = {partners.ops[each.old] for each in edits.of(ConstantUnused)}
        self._replaced: dict[Op, tuple[Op, list[Edits]]] = {}
        for each in edits.of(ConstantReplaced):
            self._replaced.setdefault(partners.ops[each.old], (each.new, []))[1].extend(each.edits)
        self._beside: set[Op] = set()
        self.kept: dict[Op, None] = {}

    def settle(self, graph: Graph) -> Iterator[ArgumentEdit | OperationReplaced]:
        """Remove constants without uses, or add their edits to the edits of all entries; users come first.

        Yield the edits that take operands away, which the caller has to do before the next step.
        """
        for op in reversed([*graph.walk()]):
            if op not in self._unused and op not in self._replaced:
                continue
            if op.is_used:
                self.kept[op] = None
                if op in self._replaced:
                    self._beside.add(self._replaced[op][0])
            elif op in self._replaced:
                found = [edit for edits in self._replaced[op][1] for edit in edits.walk()]
                self._table.add(found)
                yield from (each for each in found if isinstance(each, ArgumentEdit | OperationReplaced))
            else:
                op.remove()

    def plant(self, value: Value, planting: Planting) -> None:
        """Copy the constant that makes a value, if its old partner stays as it is, and it was not copied before."""
        maker = value.maker
        if maker in self._beside and maker not in planting.ops:
            planting.op(maker)
