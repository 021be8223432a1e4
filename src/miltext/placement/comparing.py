"""The difference between two placements: the moved operations, their boundaries, and the costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diagnostics import codes
from miltext.diagnostics.wording import listed
from miltext.files.refusals import refusal
from miltext.pairing.named import paired_names
from miltext.placement.placements import DUMP, PLAN, functions_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miltext.dumps.placed import PlacedOperation
    from miltext.placement.placements import Placement, Segment

Key: TypeAlias = "tuple[str, str, bool]"
"""A function, the name of an operation there, and whether it is a conversion."""


class Moved(NamedTuple):
    """An operation on another backend, and its neighbours in the new order: the boundary of its segment there."""

    old: PlacedOperation
    new: PlacedOperation
    after: str | None
    before: str | None


class Restated(NamedTuple):
    """An operation on the same backend with other `fields`, such as reasons or times."""

    old: PlacedOperation
    new: PlacedOperation
    fields: Sequence[str]


@dataclass(frozen=True)
class PlacementDifference:
    """The difference between two placements; operations are paired by function and name.

    `renamed` are the new names of functions by their old ones.
    """

    old: Placement
    new: Placement
    moved: Sequence[Moved]
    restated: Sequence[Restated]
    added: Sequence[PlacedOperation]
    removed: Sequence[PlacedOperation]
    renamed: Mapping[str, str]

    def __bool__(self) -> bool:
        found = self.moved or self.restated or self.added or self.removed or self.renamed
        return bool(found) or self.costs_differ

    @property
    def costs_differ(self) -> bool:
        """Whether the costs of segments differ, which dumps state, in a function of both sides."""
        old = {self.renamed.get(name, name): costs for name, costs in self.old.costs.items()}
        return any(old[name] != self.new.costs[name] for name in old.keys() & self.new.costs.keys())

    @property
    def paid(self) -> float | None:
        """The difference of the estimated milliseconds of all; None if a side has none."""
        before, after = self.old.total(), self.new.total()
        return None if before is None or after is None else after - before


def compare_placements(old: Placement, new: Placement) -> PlacementDifference:
    """Return the difference; for a dump and a plan, only the devices.

    Raise ModelError (MIL893) if operations have no names, or one twice.
    """
    old, new = _aligned(old, new), _aligned(new, old)
    names = _function_names(old, new)
    before, after = keyed(old, names), keyed(new)
    if old.kind != new.kind:
        before, after = ({key: each for key, each in side.items() if not key[2]} for side in (before, after))
    both = [(before[key], each) for key, each in after.items() if key in before]
    around = _boundaries(new)
    where = attrgetter("backend" if old.kind == new.kind else "device")  # a plan names devices alone
    moved = [Moved(a, b, *around[_key(b)]) for a, b in both if where(a) != where(b)]
    stayed = [(a, b) for a, b in both if where(a) == where(b)] if old.kind == new.kind else []
    stated = [Restated(a, b, fields) for a, b in stayed if (fields := _changed(a, b))]
    return PlacementDifference(
        old,
        new,
        moved,
        stated,
        [each for key, each in after.items() if key not in before],
        [each for key, each in before.items() if key not in after],
        {name: other for name, other in names.items() if name != other} if old.kind == new.kind else {},
    )


def _function_names(old: Placement, new: Placement) -> dict[str, str]:
    """Return the new name of each function that both have: by name, by equal operations, else the last on each side.

    The last ones are partners if they share half of the operations of the smaller one.
    """
    before, after = _operations_by_function(old), _operations_by_function(new)
    names = paired_names(before, after, before.__getitem__, after.__getitem__)
    left, free = before.keys() - names.keys(), after.keys() - names.values()
    if len(left) == len(free) == 1:
        (name,), (other,) = left, free
        if 2 * len(before[name] & after[other]) >= min(len(before[name]), len(after[other])):
            names[name] = other
    return names


def _operations_by_function(placement: Placement) -> dict[str, frozenset[tuple[str, str]]]:
    """Return the names and types of the operations of each function, which a renamed one keeps."""
    found: dict[str, set[tuple[str, str]]] = {}
    for each in placement.placed:
        found.setdefault(each.function, set()).update([] if each.is_conversion else [(each.name, each.type)])
    return {name: frozenset(each) for name, each in found.items()}


def _aligned(placement: Placement, other: Placement) -> Placement:
    """Return a plan with the function of a dump: the plan's only one, or the case that has the name of the dump's file.

    A plan names cases or components where a dump names functions, so different names do not prevent pairs.
    """
    theirs = [*functions_of(other)]
    if (placement.kind, other.kind) != (PLAN, DUMP) or len(theirs) != 1:
        return placement
    own = [*functions_of(placement)]
    case = own[0] if len(own) == 1 else PurePath(other.name).stem
    if theirs[0] in own or case not in own:
        return placement
    placed = [each._replace(function=theirs[0]) for each in placement.placed if each.function == case]
    return replace(placement, placed=placed)


def keyed(placement: Placement, names: Mapping[str, str] | None = None) -> dict[Key, PlacedOperation]:
    """Return the operations by their keys, with other names of functions.

    Raise ModelError (MIL893) if operations have no names, or one twice.
    """
    counts = Counter(map(_key, placement.placed))
    if unnamed := sum(not name for _, name, _ in counts.elements()):
        raise refusal(codes.NOT_PAIRED, f"{unnamed} operations have no names, so they have no partners", placement.name)
    if twice := [name for (_, name, _), count in counts.items() if count > 1]:
        message = f"operations have the same name: {listed(twice, 'and', 3)}"
        raise refusal(codes.NOT_PAIRED, message, placement.name)
    names = names or {}
    keys = ((_key(each), each) for each in placement.placed)
    return {(names.get(function, function), name, kind): each for (function, name, kind), each in keys}


def _key(operation: PlacedOperation) -> Key:
    return operation.function, operation.name, operation.is_conversion


def _changed(old: PlacedOperation, new: PlacedOperation) -> list[str]:
    """Return the names of the fields that differ, apart from the place in the text and the name of the function."""
    return [
        field
        for field in old._fields
        if field not in ("path", "function") and getattr(old, field) != getattr(new, field)
    ]


def _boundaries(placement: Placement) -> dict[Key, tuple[str | None, str | None]]:
    """Return the names of the operations around the segment of each operation."""
    found: dict[Key, tuple[str | None, str | None]] = {_key(each): (None, None) for each in placement.placed}
    segments = placement.segments()
    for index, segment in enumerate(segments):
        before = _neighbour(segments, index - 1, segment)
        after = _neighbour(segments, index + 1, segment)
        ends = before.last if before else None, after.first if after else None
        found |= {_key(each): ends for each in segment.run}
    return found


def _neighbour(segments: Sequence[Segment], index: int, beside: Segment) -> Segment | None:
    """Return the segment at an index, if it is in the same function."""
    found = segments[index] if 0 <= index < len(segments) else None
    return found if found is not None and found.function == beside.function else None
