"""Following sizes through a program: what each value was, and which constants are other ones now."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from miltext.checking.inference.operands import elements
from miltext.checking.resizing import constants, shapes, slices, windows  # noqa: F401  # they enter their rules
from miltext.checking.resizing.facts import RULES, Change, Follow, Resized, Sizes, changes_of
from miltext.checking.resizing.lineage import lineage_of, recast
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from miltext.checking.inference.operands import Operand
    from miltext.checking.resizing.cuts import Cuts
    from miltext.checking.resizing.lineage import Lineage
    from miltext.schema.types import Shape, Type

RECAST = ("reshape", "expand_dims", "squeeze", "flatten2d")
"""Operations that keep the order of elements, and give them other dimensions."""


NONE = Sizes()


class Following:
    """What became of the sizes of values, in the order in which a program makes them."""

    def __init__(self) -> None:
        self._before: dict[Operand, TensorType] = {}
        self._lineages: dict[Operand, Lineage] = {}
        self._sizes: dict[Operand, Sizes] = {}
        self._made: dict[tuple[Shape, Shape], Sizes] = {}

    def note(self, made: Operand, old: Type, op_type: str | None, given: Mapping[str, Sequence[Operand]]) -> None:
        """Note a value, the type that it had, and what it is made of: by an operation, or as an input."""
        found = NONE
        for operands in given.values():
            for operand in operands:
                found = found.joined(self._sizes.get(operand, NONE))
        if isinstance(old, TensorType) and isinstance(made.type, TensorType):
            self._before[made] = old
            if not made.constant or found.changed:
                found = found.joined(self._own(old.shape, made.type.shape))
            lineage = self._lineage(made, old.shape, op_type, given)
            if lineage is not None:
                self._lineages[made] = lineage
        if found is not NONE:
            self._sizes[made] = found

    def _own(self, old: Shape, new: Shape) -> Sizes:
        """Return the sizes of a value by itself."""
        known = self._made.get((old, new))
        if known is None:
            known = self._made[old, new] = Sizes(_products(old, new), _steady(old, new))
        return known

    def _lineage(
        self, made: Operand, old: Shape, op_type: str | None, given: Mapping[str, Sequence[Operand]]
    ) -> Lineage | None:
        """Return of which sizes the dimensions of a value are made."""
        new = made.type.shape if isinstance(made.type, TensorType) else ()
        for source in given.get("x", ()):
            lineage, before = self._lineages.get(source), self._before.get(source)
            if lineage is None or before is None:
                continue
            if op_type == "transpose":
                perm = given["perm"][0].value if given.get("perm") else None
                if isinstance(perm, tuple) and len(perm) == len(lineage):
                    return tuple(lineage[int(axis)] for axis in perm)  # type: ignore[arg-type]
            elif op_type in RECAST and None not in old:
                found = recast(lineage, old)  # type: ignore[arg-type]
                if found is not None and found.shape == new:
                    return found.lineage
            elif before.shape == old and tuple(prod(each.now for each in factors) for factors in lineage) == new:
                return lineage
        return lineage_of(old, new)

    def follow(
        self,
        op_type: str,
        operands: Mapping[str, Sequence[Operand]],
        old: Type,
        array: Callable[[str, int], npt.NDArray[Any] | None],
        cuts: Cuts | None = None,
    ) -> list[Follow]:
        """Return what becomes of the constants that an operation is given, whose first output was of the `old` type."""
        rule = RULES.get(op_type)
        if rule is None or not isinstance(old, TensorType):
            return []
        found = NONE
        for bound in operands.values():
            for operand in bound:
                found = found.joined(self._sizes.get(operand, NONE))
        if not found.changed:
            return []
        return [*rule(Resized(op_type, operands, self._before, self._lineages, old, found, array, cuts))]


def _steady(old: Shape, new: Shape) -> frozenset[int]:
    if len(old) != len(new):
        return frozenset()
    kept = (old[start:end] for start, end in _runs(len(old)) if old[start:end] == new[start:end])
    return frozenset(size for size in (prod(each or 0 for each in run) for run in kept) if size > 1)


def _runs(rank: int) -> Iterator[tuple[int, int]]:
    """Yield where dimensions that stand side by side begin and end."""
    return ((start, end) for start in range(rank) for end in range(start + 1, rank + 1))


def _products(old: Shape, new: Shape) -> frozenset[Change]:
    """Return changed sizes, of one dimension and of several that stand side by side."""
    changes = changes_of(old, new)
    found: set[Change] = set()
    for start, end in _runs(len(old) if changes else 0):
        run = [*zip(old[start:end], new[start:end], strict=True)]
        if any(before is None for before, _ in run) or not any(start <= axis < end for axis in changes):
            continue
        now = None if any(size is None for _, size in run) else prod(size or 0 for _, size in run)
        is_spread = len(run) > 1 and any(before == 1 != size for before, size in run)
        found.add(Change(prod(size or 0 for size, _ in run), now, is_spread))
    return frozenset(each for each in found if each.before != each.now)


def small_array(operand: Operand) -> npt.NDArray[Any] | None:
    """Return the elements of a constant that the Program itself holds, and are few; None for any other."""
    if operand.value is None or not isinstance(operand.type, TensorType):
        return None
    import numpy as np

    row = elements(operand)
    return np.array(row).reshape([size or 0 for size in operand.type.shape])
