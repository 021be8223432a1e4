"""Constants at their uses: a literal argument of one program equals a `const` of the other.

A change reported at the use of a constant is not reported again at the constant.
"""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import TYPE_CHECKING

from miltext.diffing.compression import Compressed
from miltext.diffing.spelling import SHOWN
from miltext.ir.parts import Value, literal_of
from miltext.pairing.keyed import label
from miltext.schema.walk import is_compressed
from miltext.schema.wire import wire_of
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.diffing.values import Values
    from miltext.ir.parts import Op, Operand
    from miltext.pairing.keyed import KeyedGraph
    from miltext.schema import proto


def uses_of(op: Op) -> list[tuple[Op, str]]:
    """Return the operations that use an output of an operation, also in inner blocks, each with the parameter."""
    uses = [use for value in op.outputs for use in value.uses]
    return [(use.op, name_text(use.parameter)) for use in uses if use.op is not None]


def labelled(uses: Iterable[tuple[Op, str]]) -> tuple[tuple[str, str], ...]:
    """Return uses with the displayed names of the operations, as ("conv", "weight")."""
    return tuple([(label(user), argument) for user, argument in uses])


class PairedConstants:
    """The constants of two programs, and the `compressed` ones among them."""

    def __init__(self, old: KeyedGraph, new: KeyedGraph, values: Values) -> None:
        self._graphs = old, new
        self._values = values
        self.compressed = Compressed(old), Compressed(new)
        self._reported = Counter[Value](), Counter[Value]()
        self._read: set[Op] = set()

    def literals(self, before: Operand, now: Operand) -> tuple[Operand, Operand]:
        """Return the Values of constants on both sides, and other operands unchanged.

        Paired constants are also unchanged, and unequal constants too long to be shown.
        """
        old, new = literal_of(before), literal_of(now)
        if old is None or new is None:
            return before, now
        if isinstance(before, Value) and isinstance(now, Value):
            partners = self._graphs[0].tokens.get(before) == self._graphs[1].tokens.get(now)
            are_short = _is_short(old) and _is_short(new)
            if partners or not (are_short or self._values.is_equal(old, new)):
                return before, now
        self._note(0, before)
        self._note(1, now)
        return old, new

    def weight(self, old: Op, new: Op, function: str) -> bool:
        """Record the distance of two weights in different forms, at least one compressed; return whether they are such
        weights.
        """
        are_compressed = any(is_compressed(op.type) for op in (old, new))
        if not (are_compressed and _is_weight(old) and _is_weight(new)):
            return False
        forms = self.compressed[0].form(old), self.compressed[1].form(new)
        if forms[0] == forms[1] and self._is_laid_out_alike(old, new):
            return False
        arrays = self.compressed[0].numbers(old), self.compressed[1].numbers(new)
        self._values.decompressed((function, label(new)), forms, arrays, new.message.outputs[0])
        for side, op in enumerate((old, new)):
            for part in self.compressed[side].parts(op):
                if part not in self._read:
                    self._read.add(part)
                    self._reported[side].update(part.operands)
        return True

    def _is_laid_out_alike(self, old: Op, new: Op) -> bool:
        """Return whether the parts of two weights can be reported separately, which includes weights of types without a
        distance.
        """
        types = [wire_of(op.message.outputs[0].type) for op in (old, new)]
        return types[0] != types[1] or self.compressed[0].layout(old) == self.compressed[1].layout(new)

    def are_reported(self, old: Op | None, new: Op | None) -> bool:
        """Return whether a constant has been reported at each of its uses, on each side that has it."""
        reported = [self._is_reported(side, op) for side, op in enumerate((old, new)) if op is not None]
        return bool(reported) and all(reported)

    def is_used_as_often(self, new: Op, count: int) -> bool:
        """Return whether a constant of the new program has exactly this number of uses, and is neither returned nor
        used in inner blocks.
        """
        return sum(len(value.uses) for value in new.outputs) == count

    def _is_reported(self, side: int, op: Op) -> bool:
        values, reported = [value for value in op.outputs if value.uses], self._reported[side]
        return op.is_constant and bool(values) and all(reported[value] >= len(value.uses) for value in values)

    def _note(self, side: int, bound: Operand) -> None:
        if isinstance(bound, Value):
            self._reported[side][bound] += 1


def _is_weight(op: Op) -> bool:
    return op.is_constant and len(op.outputs) == 1


def _is_short(value: proto.Value) -> bool:
    """Return whether a literal is shown whole."""
    sizes = [dimension.constant.size for dimension in value.type.tensorType.dimensions]
    return value.HasField("immediateValue") and prod(sizes) <= SHOWN
