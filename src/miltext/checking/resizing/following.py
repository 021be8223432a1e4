"""Propagation of sizes through a program: the old type of each value, and the constants with new values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.checking.resizing import constants, shapes, slices, windows  # noqa: F401  # they enter their rules
from miltext.checking.resizing.facts import RULES, Follow, Resized, SizeChange, Sizes, changes_of
from miltext.checking.resizing.lineage import Factor, lineage_of, recast, sizes_of
from miltext.schema.operations import RECAST
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from miltext.checking.inference.operands import Operand
    from miltext.checking.resizing.cuts import Cuts
    from miltext.checking.resizing.lineage import Lineage
    from miltext.schema.packing import Array
    from miltext.schema.types import Shape, Type

NONE = Sizes()


class Following:
    """The changed sizes of values, in the order of the program."""

    def __init__(self) -> None:
        self._before: dict[Operand, TensorType] = {}
        self._lineages: dict[Operand, Lineage] = {}
        self._sizes: dict[Operand, Sizes] = {}
        self._made: dict[tuple[Shape, Shape], Sizes] = {}

    def note(
        self,
        made: Operand,
        old: Type,
        op_type: str | None,
        given: Mapping[str, Sequence[Operand]],
        captured: Iterable[Operand] = (),
    ) -> None:
        """Record a value, its old type and its sources, as an output of an operation or as an input.

        The outer values that an operation's blocks use are `captured`.
        """
        found = NONE
        for operands in (*given.values(), captured):
            for operand in operands:
                if operand in self._sizes:
                    found = found.joined(self._sizes[operand])
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
        """Return the sizes of a value without its sources."""
        known = self._made.get((old, new))
        if known is None:
            known = self._made[old, new] = Sizes(_products(old, new), *_steady(old, new))
        return known

    def _lineage(
        self, made: Operand, old: Shape, op_type: str | None, given: Mapping[str, Sequence[Operand]]
    ) -> Lineage | None:
        """Return the sizes that the dimensions of a value are made of."""
        new = made.type.shape if isinstance(made.type, TensorType) else ()
        fresh = lineage_of(old, new)
        sources = [each for bound in given.values() for each in bound if each in self._lineages]
        if fresh is None or not sources:
            return fresh
        whole = self._whole(op_type, old, given)
        if whole is not None and sizes_of(whole) == new:
            return whole
        return tuple(self._axis(axis - len(new), factors, sources) for axis, factors in enumerate(fresh))

    def _whole(self, op_type: str | None, old: Shape, given: Mapping[str, Sequence[Operand]]) -> Lineage | None:
        """Return the factors of an output's dimensions for an operation that moves the dimensions of its inputs."""
        [x, *_] = given.get("x", (None,))
        own = self._lineages.get(x) if x is not None else None
        if own is None:
            return None
        if op_type == "transpose":
            perm = _row(given, "perm")
            is_one = len(perm) == len(own) and all(-len(own) <= axis < len(own) for axis in perm)
            return tuple(own[axis] for axis in perm) if is_one else None
        if op_type in RECAST:
            found = recast(own, [size or 0 for size in old])
            return found.lineage if found else None
        if op_type == "tile":
            counts = _row(given, "reps")
            pairs = zip(counts, own, strict=True) if len(counts) == len(own) else ()
            return tuple((Factor(count, count), *factors) if count > 1 else factors for count, factors in pairs) or None
        other = self._lineages.get(given["y"][0]) if op_type == "matmul" and given.get("y") else None
        if other is None or len(own) != len(other) or len(own) < 2:
            return None
        rows = own[-1 if _is_true(given, "transpose_x") else -2]
        return (*own[:-2], rows, other[-2 if _is_true(given, "transpose_y") else -1])

    def _axis(self, back: int, factors: tuple[Factor, ...], sources: Sequence[Operand]) -> tuple[Factor, ...]:
        """Return the factors of a dimension: an input's factors at the same place, if the sizes are equal."""
        for source in sources:
            lineage = self._lineages[source]
            if len(lineage) >= -back and _product(lineage[back]) == factors[0]:
                return lineage[back]
        return factors

    def stays(self, made: Operand) -> SizeChange | None:
        """Return the change of a size that a value depends on but still contains, unless its own sizes changed."""
        before = self._before.get(made)
        if before is None or not isinstance(made.type, TensorType):
            return None
        own = {*changes_of(before.shape, made.type.shape).values()}
        if {each.before for each in own}:
            return None
        held = (each for each in self._sizes.get(made, NONE).changed if each.before in made.type.shape)
        return min((each for each in held if each.before > 1 and not each.spread), key=str, default=None)

    def changed(self, given: Iterable[Operand]) -> frozenset[SizeChange]:
        """Return the changed sizes that the values depend on."""
        return frozenset(change for each in given for change in self._sizes.get(each, NONE).changed)

    def follow(
        self,
        op_type: str,
        operands: Mapping[str, Sequence[Operand]],
        old: Type,
        array: Callable[[str, int], Array | None],
        cuts: Cuts | None = None,
    ) -> list[Follow]:
        """Return the changes of an operation's constants; `old` is the former type of its first output."""
        rule = RULES.get(op_type)
        if rule is None or not isinstance(old, TensorType):
            return []
        found = NONE
        for bound in operands.values():
            for operand in bound:
                if operand in self._sizes:
                    found = found.joined(self._sizes[operand])
        if not found.changed:
            return []
        return [*rule(Resized(op_type, operands, self._before, self._lineages, old, found, array, cuts))]


def _product(factors: Sequence[Factor]) -> Factor:
    return Factor(prod(each.before for each in factors), prod(each.now for each in factors))


def _row(given: Mapping[str, Sequence[Operand]], name: str) -> tuple[int, ...]:
    """Return the whole numbers of a constant, none where it is not one."""
    value = given[name][0].value if given.get(name) else None
    return tuple(each for each in value if isinstance(each, int)) if isinstance(value, tuple) else ()


def _is_true(given: Mapping[str, Sequence[Operand]], name: str) -> bool:
    return bool(given.get(name)) and given[name][0].value is True


def _steady(old: Shape, new: Shape) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """Return unchanged sizes of single and of adjacent dimensions, and the single ones with their axes."""
    if len(old) != len(new):
        return frozenset(), frozenset()
    pairs = enumerate(zip(old, new, strict=True))
    places = frozenset((size, axis - len(old)) for axis, (size, now) in pairs if size is not None and size == now)
    kept = (old[start:end] for start, end in _runs(len(old)) if old[start:end] == new[start:end])
    return frozenset(size for size in (prod(each or 0 for each in run) for run in kept) if size > 1), places


def _runs(rank: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of adjacent dimensions."""
    return ((start, end) for start in range(rank) for end in range(start + 1, rank + 1))


def _products(old: Shape, new: Shape) -> frozenset[SizeChange]:
    """Return changed sizes, of single and of adjacent dimensions."""
    changes = changes_of(old, new)
    found: set[SizeChange] = set()
    for start, end in _runs(len(old) if changes else 0):
        run = [*zip(old[start:end], new[start:end], strict=True)]
        if any(before is None for before, _ in run) or not any(start <= axis < end for axis in changes):
            continue
        now = None if any(size is None for _, size in run) else prod(size or 0 for _, size in run)
        is_spread = len(run) > 1 and any(before == 1 != size for before, size in run)
        axis = start - len(old) if len(run) == 1 else 0
        found.add(SizeChange(prod(size or 0 for size, _ in run), now, is_spread, axis))
    return frozenset(each for each in found if each.before != each.now)
