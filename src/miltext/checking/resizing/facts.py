"""An operation with changed sizes, for the rules in this folder, and the results of these rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Operand, Value
    from miltext.checking.resizing.cuts import Cuts
    from miltext.checking.resizing.lineage import Lineage
    from miltext.schema.packing import Array
    from miltext.schema.types import Dimension, Shape


PLAIN = ("fp16", "fp32", "fp64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
"""The data types of arrays made anew: numpy has the elements of these types."""


class SizeChange(NamedTuple):
    """The old size of a dimension, and the new one, None for an open size of a range.

    A product of several dimensions is `spread` if the changed size was a 1, usually a batch: a constant with one number
    for each of the others keeps its size. For one dimension, `axis` is its place from the back, -1 or less.
    """

    before: int
    now: Dimension
    spread: bool = False
    axis: int = 0

    def __str__(self) -> str:
        return f"{self.before} -> {'?' if self.now is None else self.now}"


class Sizes(NamedTuple):
    """The sizes that a value depends on: changed sizes, with products of several dimensions, and steady sizes.

    `places` are the single sizes among the steady ones, with their axes from the back.
    """

    changed: frozenset[SizeChange] = frozenset()
    steady: frozenset[int] = frozenset()
    places: frozenset[tuple[int, int]] = frozenset()

    def joined(self, other: Sizes) -> Sizes:
        """Return the sizes of both."""
        if other is self:
            return self
        if self.changed >= other.changed and self.steady >= other.steady and self.places >= other.places:
            return self
        return Sizes(self.changed | other.changed, self.steady | other.steady, self.places | other.places)


class Follow(NamedTuple):
    """The new elements and shape of a constant, and the finding about it, if any.

    Without `elements`, the constant is kept. `code` is None if no finding is needed.
    """

    parameter: str
    code: str | None
    message: str = ""
    elements: Sequence[Any] | Array | None = None
    shape: tuple[int, ...] = ()
    place: int = 0


class Resized:
    """An operation with its old and new inputs.

    `old` is the type that its first output stated; `sizes` are the sizes that its inputs depend on, and `cuts` contain
    the begins and ends of all slices of its `x`.
    """

    def __init__(
        self,
        op_type: str,
        operands: Mapping[str, Sequence[Operand]],
        before: Mapping[Operand, TensorType],
        lineages: Mapping[Operand, Lineage],
        old: TensorType,
        sizes: Sizes,
        array: Callable[[str, int], Array | None],
        cuts: Cuts | None = None,
    ) -> None:
        self.op_type = op_type
        self.operands = operands
        self.old = old
        self.sizes = sizes
        self.array = array
        self.cuts = cuts or {}
        self._before = before
        self._lineages = lineages

    def operand(self, name: str, place: int = 0) -> Operand | None:
        """Return the operand of a parameter at a place, None if unbound."""
        bound = self.operands.get(name, ())
        return bound[place] if place < len(bound) else None

    def value(self, name: str, default: Value = None) -> Value:
        """Return the value of a parameter, if it is small and known."""
        operand = self.operand(name)
        return default if operand is None or operand.value is None else operand.value

    def row(self, name: str) -> tuple[int, ...] | None:
        """Return the whole numbers of a parameter; None where they are not all known."""
        value = self.value(name)
        row = value if isinstance(value, tuple) else (value,)
        return tuple(row) if row and all(type(each) is int for each in row) else None  # type: ignore[arg-type]

    def flags(self, name: str, rank: int) -> tuple[bool, ...]:
        """Return the truth values of a mask; all false where it is left out."""
        value = self.value(name)
        return tuple(map(bool, value)) if isinstance(value, tuple) and len(value) == rank else (False,) * rank

    def shape(self, name: str, place: int = 0) -> Shape | None:
        """Return the present shape of a parameter's operand."""
        operand = self.operand(name, place)
        return operand.type.shape if operand is not None and isinstance(operand.type, TensorType) else None

    def was(self, name: str, place: int = 0) -> Shape | None:
        """Return the old shape of a parameter's operand."""
        operand = self.operand(name, place)
        known = self._before.get(operand) if operand is not None else None
        return known.shape if known is not None else self.shape(name, place)

    def changes(self, name: str, place: int = 0) -> dict[int, SizeChange]:
        """Return the changed sizes of a parameter's operand, by axis."""
        return changes_of(self.was(name, place), self.shape(name, place))

    def change_of(self, size: int, axis: int = 0) -> SizeChange | None:
        """Return the change of a size that an operand depends on; None if no such size changed.

        If there are several changes, the one at `axis`, counted from the back, is returned; none if an unchanged size
        of the same value is there.
        """
        found = [each for each in self.sizes.changed if each.before == size > 1 and not each.spread]
        here = [each for each in found if axis and each.axis == axis]
        if not here and axis and (size, axis) in self.sizes.places:
            return None
        return min(here or found, key=str, default=None)

    def lineage(self, name: str) -> Lineage | None:
        """Return the factors of a value's dimensions."""
        operand = self.operand(name)
        return self._lineages.get(operand) if operand is not None else None


Rule: TypeAlias = "Callable[[Resized], Iterator[Follow]]"

RULES: dict[str, Rule] = {}
"""The rule of each operation with constants that may contain sizes."""


def follows(*op_types: str) -> Callable[[Rule], Rule]:
    """Enter a rule for operations."""

    def enter(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(op_types, rule))
        return rule

    return enter


def changes_of(old: Shape | None, new: Shape | None) -> dict[int, SizeChange]:
    """Return the sizes that changed from one shape to another of its rank, by axis."""
    if old is None or new is None or len(old) != len(new):
        return {}
    pairs = enumerate(zip(old, new, strict=True))
    return {
        axis: SizeChange(before, now, axis=axis - len(old))
        for axis, (before, now) in pairs
        if before is not None and before != now
    }
