"""The growth of a model: the scopes, weights and weight files with other sizes than in the model before.

Both models are measured as `size` measures one, with each stored tensor once, so that the growth of the scopes and that
of the weights add up to the growth of the whole. Only a short literal counts where its partner is a weight.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.partners import partners_of
from miltext.diffing.pipelines import paired_findings
from miltext.diffing.weight_sizes import placed_alike, resized
from miltext.pairing.contents import Keys
from miltext.pairing.pairing import pair_functions
from miltext.scopes.weight_extents import NOTHING, total_bytes
from miltext.sizing.sizes import MeasuredModel
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.ir.parts import Op
    from miltext.models.model import Model
    from miltext.scopes.weight_extents import WeightExtent
    from miltext.sizing.sizes import FileBytes, MeasuredProgram


class ScopeGrowth(NamedTuple):
    """The bytes of a scope's weights before and after; `model` is the path of a model in a pipeline."""

    model: str
    function: str
    scope: str
    old_bytes: int
    new_bytes: int


class WeightGrowth(NamedTuple):
    """A weight with another number of bytes: the bytes and forms before and after, None for no weight, and its uses in
    the new model, each an operation and a parameter.

    A stored tensor of several weights counts at the first one, and as 0 bytes at the others.
    """

    model: str
    function: str
    name: str
    old_bytes: int
    new_bytes: int
    old_form: str | None
    new_form: str | None
    used_as: tuple[tuple[str, str], ...]


class FileGrowth(NamedTuple):
    """A weight file with another size or other unused bytes; both are 0 for a file that only the other model has."""

    path: str
    old_bytes: int
    new_bytes: int
    old_unused: int
    new_unused: int


@dataclass(frozen=True)
class Growth:
    """The growth of the weights from the model `old` to `new`, which is true if some sizes differ.

    `functions` is the number of functions of the program with the most.
    """

    old: str
    new: str
    old_bytes: int
    new_bytes: int
    functions: int
    scopes: tuple[ScopeGrowth, ...]
    weights: tuple[WeightGrowth, ...]
    files: tuple[FileGrowth, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.scopes or self.weights or self.files)


def growth_between(old: Model, new: Model) -> Growth:
    """Return the growth from an old model to a new one, by the pairs of operations that `diff` finds."""
    with gc_paused:
        keys = Keys()
        sides = MeasuredModel(old, keys), MeasuredModel(new, keys)
        was, now = (side.size() for side in sides)
        pairs = [_PairedSizes(*each) for each in paired_findings(sides[0].programs, sides[1].programs)]
        partners = {op: partner for pair in pairs for op, partner in pair.partners.items()}
        extents = placed_alike(sides[0].held, sides[1].held, partners)
        homes = {op: pair for pair in pairs for op in pair.ops()}
        changed = resized(*extents, partners)
        weights = [homes[b or a].weight(a, b, *sizes) for a, b, *sizes in changed]  # type: ignore[index]
        weights.sort(key=lambda each: (-abs(each.new_bytes - each.old_bytes), each.model, each.function, each.name))
        return Growth(
            *(old.name, new.name, total_bytes(extents[0]), total_bytes(extents[1])),
            max(len(each.graph.functions) for side in sides for each in side.programs),
            tuple(each for pair in pairs for each in pair.scopes(*extents)),
            tuple(weights),
            tuple(_files(was.files, now.files)),
            tuple(dict.fromkeys((*was.notes, *now.notes))),
        )


class _PairedSizes:
    """Two programs that correspond, or one without a partner; `partners` are the old operations by the new ones."""

    def __init__(self, old: MeasuredProgram | None, new: MeasuredProgram | None) -> None:
        self._old = old
        self._new = new
        pairs = pair_functions(old.graph, new.graph) if old is not None and new is not None else []
        self.partners = partners_of(pairs).ops
        self._names = {name_text(each.old_name): name_text(each.name) for each in pairs}
        self._renamed = self._renamed_scopes()

    def ops(self) -> Iterator[Op]:
        """Yield the operations of both programs."""
        for side in (self._old, self._new):
            yield from side.places if side is not None else ()

    def _place(self, *, is_new: bool) -> str:
        """Return the path of the model in the new pipeline; for old parts, the old path unless both have one."""
        places = [each.stage.place for each in (self._old, self._new) if each is not None]
        return places[-1] if is_new or all(places) else places[0]

    def _in_new_function(self, place: tuple[str, str]) -> tuple[str, str]:
        function, scope = place
        return self._names.get(function, function), scope

    def _renamed_scopes(self) -> dict[tuple[str, str], tuple[str, str]]:
        """Return the new names of scopes that only the old program has, and whose operations are all in one other."""
        if self._old is None or self._new is None:
            return {}
        olds = {op: self._in_new_function(place) for op, place in self._old.places.items()}
        news = self._new.places
        to_new: dict[tuple[str, str], set[tuple[str, str]]] = {}
        to_old: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for new, old in self.partners.items():
            if not new.is_constant:
                to_new.setdefault(olds[old], set()).add(news[new])
                to_old.setdefault(news[new], set()).add(olds[old])
        known = [{*olds.values()}, {*news.values()}]
        found = ((old, min(others)) for old, others in to_new.items() if len(others) == 1 and old not in known[1])
        return {old: new for old, new in found if new not in known[0] and len(to_old[new]) == 1}

    def scopes(self, old: Mapping[Op, WeightExtent], new: Mapping[Op, WeightExtent]) -> Iterator[ScopeGrowth]:
        """Yield the scopes with another number of bytes."""
        was: Counter[tuple[str, str]] = Counter()
        for row in self._old.scopes(old) if self._old is not None else ():
            place = self._in_new_function((row.function, row.scope))
            was[self._renamed.get(place, place)] += row.bytes
        rows = self._new.scopes(new) if self._new is not None else ()
        now = {(row.function, row.scope): row.bytes for row in rows}
        for place in dict.fromkeys([*now, *was]):
            if was[place] != now.get(place, 0):
                yield ScopeGrowth(self._place(is_new=place in now), *place, was[place], now.get(place, 0))

    def weight(self, was: Op | None, now: Op | None, before: int, after: int) -> WeightGrowth:
        """Return the growth of a weight, of partners or of one side alone."""
        old, new = (
            program.weight(op, NOTHING) if program is not None and op is not None else None
            for program, op in ((self._old, was), (self._new, now))
        )
        row = new or old
        assert row is not None
        function = new.function if new else self._names.get(row.function, row.function)
        return WeightGrowth(
            *(self._place(is_new=new is not None), function, row.name, before, after),
            *((old.form or None) if old else None, (new.form or None) if new else None),
            tuple((name, parameter) for name, _, parameter in row.uses if parameter),
        )


def _files(old: Sequence[FileBytes], new: Sequence[FileBytes]) -> Iterator[FileGrowth]:
    """Yield the files with other sizes, by path, without those that cannot be read, whose sizes are not known."""
    was, now = ({each.path: (each.bytes, each.unused) for each in side} for side in (old, new))
    for path in sorted({*was, *now}):
        (old_bytes, old_unused), (new_bytes, new_unused) = was.get(path, (0, 0)), now.get(path, (0, 0))
        if old_bytes is None or new_bytes is None:
            continue
        if (old_bytes, old_unused) != (new_bytes, new_unused):
            yield FileGrowth(path, old_bytes, new_bytes, old_unused, new_unused)
