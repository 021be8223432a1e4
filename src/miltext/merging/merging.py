"""The merge of three versions of a text: `merge_texts`, the front door."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from miltext.diagnostics import ParseError, Span
from miltext.diagnostics.arguments import checked
from miltext.formatting.document import keep_line_ends
from miltext.merging.conflicts import Conflict, Markers, Piece, without_conflicts
from miltext.merging.forms import ItemForm, words_of
from miltext.merging.identities import Names, link
from miltext.merging.ordering import after_needs, merged_order
from miltext.merging.phrases import merge_forms
from miltext.merging.plans import OURS, THEIRS, MergeDecision, Sides, chosen
from miltext.merging.sides import Hole, Item, Key, Side
from miltext.parsing.parser import require_text
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.recursion import with_room


class Merged(NamedTuple):
    """A merged text, and the number of its conflicts, each between markers."""

    text: str
    conflicts: int


class Triple(NamedTuple):
    """One item in the three versions, None in a version without it."""

    base: Item | None
    ours: Item | None
    theirs: Item | None


@checked("markers")
@with_room
def merge_texts(base: str, ours: str, theirs: str, markers: Markers | None = None) -> Merged:
    """Return the text with the changes of ours and of theirs since a base, statement by statement.

    The text is ours' with theirs' changes: comments, layout and line ends are kept.

    Args:
        base: The text that both began with. An empty base means that there is none: items that both added under one
            name must be equal.
        ours: One changed text.
        theirs: The other changed text.
        markers: The names of the sides in the markers of a conflict.

    Returns:
        The merged text and the number of its conflicts.

    Raises:
        ParseError: A version is not MIL text; its name is the path.
        TypeError: A value is not text.

    Example:
        merged = miltext.merge_texts(text, text.replace("hidden", "h"), text.replace("tanh", "relu"))
    """
    for text in (base, ours, theirs):
        require_text(text)
    markers = markers or Markers()
    with gc_paused:
        before = _base(base, markers.base)
        sides = [Side(_plain(text), name) for text, name in ((ours, markers.ours), (theirs, markers.theirs))]
        pieces = Merge(before, *sides).pieces()
    text = markers.text(pieces)
    ends = ours if _has_returns(ours) != _has_returns(base) else theirs
    return Merged(keep_line_ends(ends, text), sum(isinstance(piece, Conflict) for piece in pieces))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _has_returns(text: str) -> bool:
    return keep_line_ends(text, "\n") != "\n"


def _base(text: str, name: str) -> Side | None:
    """Return the base; None if it is empty, or unreadable because of its conflicts. Raise ParseError."""
    text = _plain(text)
    agreed = without_conflicts(text)
    if not agreed.strip():
        return None
    try:
        return Side(agreed, name)
    except ParseError:
        if agreed == text:
            raise
        return None


class Merge:
    """The merge of three sides; the base may be None."""

    def __init__(self, base: Side | None, ours: Side, theirs: Side) -> None:
        link(base, ours, theirs)
        names = Names(base, ours, theirs)
        self._sides: Sides = (base, ours, theirs)
        self._own_names = {key: name for key, name in names.named.items() if key not in names.disputed}
        self._program = Triple(base.program if base else None, ours.program, theirs.program)
        self._disputed = names.disputed
        self._twice = set[Key]()
        self._in_conflict = set[Key]()

    def decisions(self) -> list[MergeDecision]:
        """Return the decisions about each range of the merged text, in order."""
        self._find_disputed()
        self._find_missed()
        self._find_races()
        self._find_twice()
        return list(self._item(self._program))

    def pieces(self) -> list[Piece]:
        """Return the merged text, in pieces."""
        return [decision.piece(self._sides, self._own_names) for decision in self.decisions()]

    # ---- items in conflict because of other items

    def _find_disputed(self) -> None:
        """Find the items whose names are disputed."""
        if not self._disputed:
            return
        for side, root in self._present(self._program):
            for item in root.inside():
                values = [*item.results, *(value for hole in item.holes for value in hole.inputs)]
                if any(side.key(value) in self._disputed for value in values):
                    self._in_conflict.add(item.key)

    def _find_missed(self) -> None:
        """Find items that one side deleted and the other changed or newly uses, and the items that they need."""
        deleted = list(self._deleted(self._program))
        dropped = {_key(each): each for each in deleted if self._is_dropped(each)}
        self._in_conflict |= {_key(each) for each in deleted} - dropped.keys()
        if not dropped:
            return
        used = self._uses(self._program)
        missed = [key for key, each in dropped.items() if not used.isdisjoint(self._made(each))]
        while missed:
            self._in_conflict.update(missed)
            used = set[Key]().union(*(self._uses(dropped.pop(key)) for key in missed))
            missed = [key for key, each in dropped.items() if not used.isdisjoint(self._made(each))]

    def _find_races(self) -> None:
        """Find items that both sides added after the same operation and that use a state, if any writes it: their order
        is undetermined.
        """
        _, ours, theirs = self._sides
        states = ours.states() & theirs.states()
        if not states:
            return
        known = {item.key for item in ours.program.inside()} & {item.key for item in theirs.program.inside()}
        for _, mine, other in self._inside(self._program):
            added, also = _added(ours, mine, states, known), _added(theirs, other, states, known)
            for place in added.keys() & also.keys():
                both = [*added[place], *also[place]]
                if any(not item.results for item in both):
                    self._in_conflict |= {item.key for item in both}

    def _find_twice(self) -> None:
        """Find the values that both sides added with different definitions, and the statements that use them."""
        items = [each for hole in self._inside(self._program) for each in _triples(*hole)]
        items = [each for each in items if each.ours is not None and each.theirs is not None]
        for each in items:
            if each.base is None and self._is_changed_by_both(each):
                self._twice |= self._made(each)
        if self._twice:
            self._in_conflict |= {_key(each) for each in items if self._uses_what_is_twice(each)}

    def _is_changed_by_both(self, triple: Triple) -> bool:
        """Return whether both sides changed an item in different ways, apart from layout."""
        return chosen([words_of(self._text(*each)) for each in zip(self._sides, triple, strict=True)]) is None

    def _uses_what_is_twice(self, triple: Triple) -> bool:
        """Return whether a merged statement would use a value with two definitions."""
        if any(item.holes for _, item in self._present(triple)):
            return False
        used = set[Key]().union(*(side.uses(item) for side, item in self._present(triple)))
        return not self._twice.isdisjoint(used) and self._is_changed_by_both(triple)

    def _inside(self, triple: Triple) -> Iterator[tuple[Hole | None, Hole, Hole]]:
        """Yield the holes of an item and of its inner items that both sides have."""
        for hole in self._holes(triple):
            yield hole
            for each in _triples(*hole):
                yield from self._inside(each)

    def _deleted(self, triple: Triple) -> Iterator[Triple]:
        """Yield the items that a side deleted inside an item that both sides have."""
        for hole in self._holes(triple):
            for each in _triples(*hole):
                if each.ours is not None and each.theirs is not None:
                    yield from self._deleted(each)
                elif each.base is not None:
                    yield each

    def _is_dropped(self, triple: Triple) -> bool:
        """Return whether a side deleted an item that the other side did not change."""
        if triple.base is None or (triple.ours is not None and triple.theirs is not None):
            return False
        if triple.ours is None and triple.theirs is None:
            return True
        texts = [self._unsettled(side, item) for side, item in self._present(triple)]
        return texts[0] == texts[1]

    def _unsettled(self, side: Side, item: Item) -> list[str]:
        """Return the words of an item, with the names that this side gives to its values."""
        own = {side.key(value): value.name.text for value in side.values_in(item.start, item.end)}
        return words_of(side.written(item.start, item.end, {**self._own_names, **own}))

    def _made(self, triple: Triple) -> set[Key]:
        return {side.key(value) for side, item in self._present(triple) for value in item.results}

    def _uses(self, triple: Triple) -> set[Key]:
        """Return the values that a merged item names."""
        holes = list(self._holes(triple))
        if triple.ours is None or triple.theirs is None:
            return set[Key]().union(*(side.uses(item) for side, item in self._present(triple)))
        named: dict[Side | None, set[Key]] = {side: set[Key]() for side in self._sides}
        for side, item in self._present(triple):
            stretches = item.segments() if holes else [(item.start, item.end)]
            named[side] = {key for start, end in stretches for key in side.named_in(start, end)}
        before, mine, other = (named[side] for side in self._sides)
        found = (mine & other) | (mine - before) | (other - before)
        for hole in holes:
            for each in _triples(*hole):
                if not self._is_dropped(each):
                    found |= self._uses(each)
        return found

    # ---- merging

    def _present(self, triple: Triple) -> Iterator[tuple[Side, Item]]:
        for side, item in zip(self._sides, triple, strict=True):
            if side is not None and item is not None:
                yield side, item

    def _holes(self, triple: Triple) -> Iterator[tuple[Hole | None, Hole, Hole]]:
        """Yield the corresponding holes of an item that both sides have."""
        if triple.ours is None or triple.theirs is None or not self._is_alike(triple):
            return
        before = triple.base.holes if triple.base else [None] * len(triple.ours.holes)
        yield from zip(before, triple.ours.holes, triple.theirs.holes, strict=True)

    def _is_alike(self, triple: Triple) -> bool:
        """Return whether all versions of an item have the same holes."""
        return len({tuple(hole.key for hole in item.holes) for item in triple if item is not None}) == 1

    def _text(self, side: Side | None, item: Item | None) -> str:
        """Return the text of an item."""
        return "" if side is None or item is None else side.written(item.start, item.end)

    def _take(self, side: int | None, triple: Triple) -> MergeDecision:
        """Return the decision to take the item of one side, or of none."""
        return MergeDecision(side, [None if item is None else Span(item.start, item.end) for item in triple])

    def _item(self, triple: Triple) -> Iterator[MergeDecision]:
        """Yield the decisions about an item that both sides have."""
        item = triple.ours
        assert item is not None
        texts = [self._text(*each) for each in zip(self._sides, triple, strict=True)]
        if self._in_conflict and self._has_conflict(triple):
            if item.key in self._in_conflict and len(item.holes) != 1:
                yield self._take(None, triple)
                return
        elif side := chosen(texts):
            yield self._take(side, triple)
            return
        if self._is_alike(triple):
            yield from self._by_segment(triple)
            return
        yield self._take(chosen([words_of(text) for text in texts], texts), triple)

    def _has_conflict(self, triple: Triple) -> bool:
        """Return whether an item, or one inside it, is in conflict because of other items."""
        inside = (each for _, item in self._present(triple) for each in item.inside())
        return any(each.key in self._in_conflict for each in inside)

    def _by_segment(self, triple: Triple) -> Iterator[MergeDecision]:
        base, ours, theirs = (
            ItemForm(side, item) if side and item else None for side, item in zip(self._sides, triple, strict=True)
        )
        assert ours is not None
        assert theirs is not None
        segments = merge_forms(base, ours, theirs)
        if _key(triple) in self._in_conflict:
            segments[0] = segments[0]._replace(side=None)
        for segment, hole in zip_longest(segments, self._holes(triple)):
            yield segment
            if hole:
                yield from self._hole(*hole)

    def _hole(self, base: Hole | None, ours: Hole, theirs: Hole) -> Iterator[MergeDecision]:
        for each in self._in_order(base, ours, theirs):
            if each.ours is not None and each.theirs is not None:
                yield from self._item(each)
            elif _key(each) in self._in_conflict:
                yield self._take(None, each)
            elif each.base is None:
                yield self._take(OURS if each.ours else THEIRS, each)

    def _in_order(self, base: Hole | None, ours: Hole, theirs: Hole) -> list[Triple]:
        """Return the items of a hole in an order that places each after the items that it uses."""
        triples = {_key(each): each for each in _triples(base, ours, theirs)}
        orders = [[item.key for item in hole.items] if hole else [] for hole in (base, ours, theirs)]
        order = merged_order(*orders)
        if order in orders[1:]:
            return [triples[key] for key in order]
        makers = {made: key for key, each in triples.items() for made in self._made(each)}
        needs = {key: {makers[use] for use in self._uses(triples[key]) if use in makers} for key in order}
        return [triples[key] for key in after_needs(order, needs.__getitem__)]


def _added(side: Side, hole: Hole, states: set[Key], known: set[Key]) -> dict[tuple[Key, Key], list[Item]]:
    """Return the items that only one side added, by state and by the previous operation that uses the state."""
    found, last = defaultdict[tuple[Key, Key], list[Item]](list), dict[Key, Key]()
    for item in hole.items:
        for state in states & side.uses(item):
            if item.key in known:
                last[state] = item.key
            else:
                found[state, last.get(state)].append(item)
    return found


def _key(triple: Triple) -> Key:
    return next(item.key for item in triple if item is not None)


def _triples(base: Hole | None, ours: Hole, theirs: Hole) -> Iterator[Triple]:
    """Yield the items of a hole in all versions: first the items of ours, then the others."""
    found = [{item.key: item for item in hole.items} if hole else {} for hole in (base, ours, theirs)]
    for key in {**found[1], **found[2], **found[0]}:
        yield Triple(*[items.get(key) for items in found])
