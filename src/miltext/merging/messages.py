"""The merge of messages by their fields: what stands around a program in a model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from miltext.merging.conflicts import Conflict
from miltext.merging.ordering import merged_order, replaced_twice
from miltext.schema.stamps import STAMP

if TYPE_CHECKING:
    from miltext.schema.proto import Message


class Clash(NamedTuple):
    """A place that both sides changed, and what is there in the base, in ours and in theirs; None for nothing."""

    place: str
    values: Sequence[Any]

    @property
    def conflict(self) -> Conflict:
        """The clash as comments of a text."""
        return Conflict(*("" if each is None else f"// {self.place}: {_shown(each)}" for each in self.values))


def _shown(value: Any) -> str:
    """Return a value on one line."""
    if hasattr(value, "DESCRIPTOR"):
        return " ".join(line.strip() for line in str(value).splitlines())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_shown, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, (str, int, float)) else str(value)


def merge_messages(base: Message, ours: Message, theirs: Message, place: str = "") -> list[Clash]:
    """Write into ours what theirs changed; return the places that both changed, where ours is left as it is."""
    conflicts = list[Clash]()
    if base.SerializeToString(deterministic=True) == theirs.SerializeToString(deterministic=True):
        return conflicts
    for group in ours.DESCRIPTOR.oneofs:
        before, mine, other = (each.WhichOneof(group.name) for each in (base, ours, theirs))
        if mine != other and before not in (mine, other):
            return [_clash(f"{place}.{group.name}".lstrip("."), (base, ours, theirs))]
    for field in ours.DESCRIPTOR.fields:
        conflicts += _merge_field(field, (base, ours, theirs), f"{place}.{field.name}".lstrip("."))
    return conflicts


def _merge_field(field: Any, messages: tuple[Message, Message, Message], place: str) -> list[Clash]:
    ours = messages[1]
    values = [getattr(message, field.name) for message in messages]
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return _merge_map(values[0], values[1], values[2], place)
    if hasattr(values[0], "append") or hasattr(values[0], "extend"):
        return _merge_list(values, place)
    said = [_said(message, field) for message in messages]
    if said[1] == said[2] or said[0] == said[2]:
        return []
    if field.message_type is not None and None not in said[1:]:
        return merge_messages(values[0], values[1], values[2], place)
    if said[0] != said[1]:
        present = zip(said, values, strict=True)
        return [_clash(place, [None if each is None else value for each, value in present])]
    if said[2] is None:
        ours.ClearField(field.name)
    elif field.message_type is not None:
        values[1].CopyFrom(values[2])
        values[1].SetInParent()
    else:
        setattr(ours, field.name, values[2])
    return []


def _clash(place: str, values: Sequence[Any]) -> Clash:
    """Return a clash with what is there now: ours changes as the merge goes on."""
    return Clash(place, deepcopy([[*each] if hasattr(each, "append") else each for each in values]))


def _said(message: Message, field: Any) -> object:
    """Return what a message has in a field that is not repeated; None if that is not set."""
    value = getattr(message, field.name)
    if field.has_presence and not message.HasField(field.name):
        return None
    return value.SerializeToString(deterministic=True) if field.message_type is not None else value


def _merge_map(base: Mapping[str, Any], ours: Any, theirs: Mapping[str, Any], place: str) -> list[Clash]:
    """Merge maps of strings, key by key."""
    conflicts = list[Clash]()
    for key in sorted({*base, *theirs}):
        before, mine, other = (each.get(key) for each in (base, ours, theirs))
        if other in (mine, before) or (key.startswith(STAMP) and mine is not None):
            continue  # each export states anew when it was made
        if mine != before:
            conflicts.append(Clash(f"{place}[{key}]", (before, mine, other)))
        elif other is None:
            del ours[key]
        else:
            ours[key] = other
    return conflicts


def _merge_list(values: list[Any], place: str) -> list[Clash]:
    """Merge lists: of messages with names one by one, of others as a whole."""
    said = [[_wire(each) for each in listed] for listed in values]
    if said[1] == said[2] or said[0] == said[2]:
        return []
    if said[0] == said[1]:
        _set(values[1], [*values[2]])
        return []
    named = [_named(listed) for listed in values]
    found = [each for each in named if each is not None]
    if len(found) < len(named) or replaced_twice(found[0], found[1], found[2]):
        return [_clash(place, values)]
    return _merge_named(found, values[1], place)


def _merge_named(named: list[Any], ours: Any, place: str) -> list[Clash]:
    base, mine, theirs = named
    conflicts, kept = list[Clash](), list[Any]()
    for name in merged_order([*base], [*mine], [*theirs]):
        before, own, other = (each.get(name) for each in named)
        said = [None if each is None else _wire(each) for each in (before, own, other)]
        found = own
        if None not in said:
            conflicts += merge_messages(before, own, other, f"{place}[{name}]")
        elif said[0] == said[1]:
            found = other
        elif said[1] != said[2] and said[0] != said[2]:
            conflicts.append(_clash(f"{place}[{name}]", (before, own, other)))
        if found is not None:
            kept.append(found)
    _set(ours, kept)
    return conflicts


def _named(listed: Iterable[Any]) -> dict[str, Any] | None:
    """Return messages by their names; None where they have none, or one twice."""
    found = [*listed]
    if not all(hasattr(each, "DESCRIPTOR") and "name" in each.DESCRIPTOR.fields_by_name for each in found):
        return None
    named = {each.name: each for each in found}
    return named if len(named) == len(found) else None


def _wire(each: Any) -> object:
    return each.SerializeToString(deterministic=True) if hasattr(each, "DESCRIPTOR") else each


def _set(listed: Any, items: list[Any]) -> None:
    copies = [deepcopy(each) for each in items]
    del listed[:]
    listed.extend(copies)
