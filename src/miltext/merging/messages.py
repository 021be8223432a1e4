"""The merge of messages by their parts: the parts of a model around its program, and fields unknown to the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.descriptions.parts import MODEL, Part, PartList, Whole, part_of
from miltext.merging.conflicts import Conflict
from miltext.merging.ordering import merged_order, replaced_twice
from miltext.merging.plans import chosen
from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.stamps import STAMP

if TYPE_CHECKING:
    from miltext.schema.proto import Message

Three: TypeAlias = "tuple[Part | None, Part | None, Part | None]"
"""The part at one place in the base, in ours and in theirs."""


class Clash(NamedTuple):
    """A place that both sides changed, and its values in the base, in ours and in theirs; None for nothing."""

    place: str
    values: Sequence[str | None]

    @property
    def conflict(self) -> Conflict:
        """The clash as comments in a text."""
        return Conflict(*("" if each is None else f"// {self.place}: {each}" for each in self.values))


def merge_messages(base: Message, ours: Message, theirs: Message) -> list[Clash]:
    """Write theirs' changes into ours; return the places that both changed, where ours is kept.

    Fields unknown to the schema are merged, too, each as a whole.
    """
    merge = _MessageMerge()
    three = part_of(base), part_of(ours), part_of(theirs)
    made = merge.part(three, "")
    if made != three[1].wire:
        ours.ParseFromString(made)
    return merge.clashes


class _MessageMerge:
    """A merge of messages; `clashes` grows."""

    def __init__(self) -> None:
        self.clashes: list[Clash] = []

    def part(self, three: Three, place: str, is_new: bool = True) -> bytes:
        """Return the merged wire at a place.

        A message that both sides added is merged field by field if `is_new`.
        """
        base, ours, theirs = three
        said = [None if each is None else each.wire for each in three]
        if side := chosen(said):
            return said[side] or b""
        if any(isinstance(each, PartList) for each in three):
            return self._listed(three, place)
        if type(ours) is type(theirs) is Whole and (base is not None or is_new):
            assert isinstance(ours, Whole)
            return self._message(base if isinstance(base, Whole) else Whole(ours.made, b"", b""), ours, theirs, place)
        return self._clash(three, place)

    def _clash(self, three: Three, place: str) -> bytes:
        """Note a clash, and return the wire of ours."""
        self.clashes.append(Clash(place, [None if each is None else each.text for each in three]))
        return three[1].wire if three[1] is not None else b""

    def _message(self, base: Whole, ours: Whole, theirs: Part | None, place: str) -> bytes:
        assert isinstance(theirs, Whole)
        settled = set[str]()
        for name, members in _choices(ours):
            if chosen([members.intersection(each.parts) for each in (base, ours, theirs)]) is None:
                self._clash((base, ours, theirs), ours.way(place, name))
                settled |= members

        def merged(key: str, three: Three) -> bytes:
            own = three[1].wire if three[1] is not None else b""
            return own if key in settled else self.part(three, ours.way(place, key))

        return ours.with_content(_in_order((base, ours, theirs), merged))

    def _listed(self, three: Three, place: str) -> bytes:
        """Return the wire of a list: entries and messages with names are merged one by one, others as a whole."""
        base, ours, theirs = (each if isinstance(each, PartList) else PartList([]) for each in three)
        sides = (base, ours, theirs)
        is_map = any(each.is_map for each in sides)
        is_replaced = not is_map and replaced_twice(base.parts, ours.parts, theirs.parts)
        if is_replaced or not all(each.is_named for each in sides):
            return self._clash(three, place)

        def merged(key: str, three: Three) -> bytes:
            if is_map and key.startswith(STAMP) and three[1] is not None:
                return three[1].wire  # each export states anew when it was made
            return self.part(three, ours.way(place, key), is_new=False)

        return _in_order(sides, merged)


def _in_order(sides: tuple[Part, Part, Part], merged: Callable[[str, Three], bytes]) -> bytes:
    """Return the merged parts of three messages or lists in their merged order."""
    base, ours, theirs = (each.parts for each in sides)
    order = merged_order([*base], [*ours], [*theirs])
    return b"".join(merged(key, (base.get(key), ours.get(key), theirs.get(key))) for key in order)


def _choices(message: Whole) -> Iterator[tuple[str, set[str]]]:
    """Yield the names of a message's oneofs, and of their members; for a Model, also kinds that the schema lacks."""
    for group in message.made.DESCRIPTOR.oneofs:
        members = {field.name for field in group.fields}
        is_kind = message.made.DESCRIPTOR.full_name == MODEL
        yield group.name, members.union(MODEL_KINDS.values()) if is_kind else members
