"""Constants where they are used: an argument that is a literal in one program, and a `const` in the other, is the same.

What has been told at the use of a constant is not told again of the constant.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from miltext.diffing.bindings import counted_uses
from miltext.diffing.compression import Compressed
from miltext.diffing.spelling import SHOWN
from miltext.schema.walk import is_compressed, is_constant
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.diffing.bindings import Bound
    from miltext.diffing.values import Values
    from miltext.models.pairing.graph import Graph, Node
    from miltext.schema.proto import Value


class Constants:
    """The constants of two programs, by the numbers of their values."""

    def __init__(self, old: Graph, new: Graph, values: Values) -> None:
        self._graphs = old, new
        self._values = values
        self._compressed = Compressed(old), Compressed(new)
        self._told = Counter[int](), Counter[int]()
        self._read: set[Node] = set()

    def literals(self, before: Bound, now: Bound) -> tuple[Bound, Bound]:
        """Return the Values of what is a constant on both sides, and anything else as it is.

        Two operations that are partners stay what they are, and so do two that are equal, or too long to be shown.
        """
        old, new = self._held(0, before), self._held(1, now)
        if old is None or new is None:
            return before, now
        if isinstance(before, int) and isinstance(now, int):
            partners = self._graphs[0].tokens[before] == self._graphs[1].tokens[now]
            if partners or not (_is_short(old) and _is_short(new)) or self._values.same(old, new):
                return before, now
        self._tell(0, before)
        self._tell(1, now)
        return old, new

    def weight(self, old: Node, new: Node, function: str) -> bool:
        """Note how far a weight is from one that is compressed otherwise, or is not; return whether they are that."""
        are_compressed = any(is_compressed(node.operation.type) for node in (old, new))
        if not (are_compressed and _is_weight(old) and _is_weight(new)):
            return False
        forms = self._compressed[0].form(old), self._compressed[1].form(new)
        if forms[0] == forms[1] and self._is_laid_out_alike(old, new):
            return False
        arrays = self._compressed[0].numbers(old), self._compressed[1].numbers(new)
        self._values.decompressed((function, new.label), forms, arrays, new.operation.outputs[0])
        for side, node in enumerate((old, new)):
            for part in self._compressed[side].parts(node):
                if part not in self._read:
                    self._read.add(part)
                    self._told[side].update(part.operands)
        return True

    def _is_laid_out_alike(self, old: Node, new: Node) -> bool:
        """Whether the parts of two weights can be told one by one; so are weights of other types, which have no
        distance.
        """
        types = [wire_of(node.operation.outputs[0].type) for node in (old, new)]
        return types[0] != types[1] or self._compressed[0].layout(old) == self._compressed[1].layout(new)

    def are_told(self, old: Node | None, new: Node | None) -> bool:
        """Whether a constant, on the sides where it is, has been told wherever it is used."""
        told = [self._is_told(side, node) for side, node in enumerate((old, new)) if node is not None]
        return bool(told) and all(told)

    def is_used_as_often(self, new: Node, count: int) -> bool:
        """Whether a constant of the new program is taken so often, and neither returned nor taken in inner blocks."""
        return sum(self._uses[1][value] for value in new.values) == count

    def _is_told(self, side: int, node: Node) -> bool:
        uses = self._uses[side]
        values = [value for value in node.values if uses[value]]
        told = self._told[side]
        return is_constant(node.operation) and bool(values) and all(told[value] >= uses[value] for value in values)

    @cached_property
    def _uses(self) -> tuple[Counter[int], Counter[int]]:
        return counted_uses(self._graphs[0]), counted_uses(self._graphs[1])

    def _held(self, side: int, bound: Bound) -> Value | None:
        """Return the Value of a literal, or of the `const` that makes a value."""
        if not isinstance(bound, int):
            return bound
        maker = self._graphs[side].makers[bound]
        if maker is None or maker.operation.type != "const" or "val" not in maker.operation.attributes:
            return None
        return maker.operation.attributes["val"]

    def _tell(self, side: int, bound: Bound) -> None:
        if isinstance(bound, int):
            self._told[side][bound] += 1


def _is_weight(node: Node) -> bool:
    return is_constant(node.operation) and len(node.names) == 1


def _is_short(value: Value) -> bool:
    """Whether a literal is shown whole."""
    sizes = [dimension.constant.size for dimension in value.type.tensorType.dimensions]
    return value.HasField("immediateValue") and prod(sizes) <= SHOWN
