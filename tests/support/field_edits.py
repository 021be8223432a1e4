"""Edits of messages, made from the descriptors: of every field of every message, and of one that no schema has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple, TypeVar

from google.protobuf.message import Message

from miltext.schema.paths import is_repeated
from miltext.schema.wire import number_tag, sized, tag, wire_of

AnyMessage = TypeVar("AnyMessage", bound=Message)

UNKNOWN = {
    "bytes": sized(tag(7777), b"new"),
    "number": number_tag(7778) + b"\x05",
    "group": bytes([0xFB, 0x01, 0x08, 0x01, 0xFC, 0x01]),
    "another wire type": bytes([0x0D, 1, 2, 3, 4]),
}
"""Fields that the schema does not have, by how they are held; the last one has a number that it does have."""

ZZ = "zz"
"""What is added is called."""


class Edit(NamedTuple):
    """An edit at a path: the kind of the message there, the field, what was done to it; and the message with it."""

    path: str
    kind: str
    field: str
    edit: str
    made: Any

    @property
    def place(self) -> tuple[str, str, str]:
        """What is edited, wherever it stands."""
        return self.kind, self.field, self.edit


def edits(root: AnyMessage, *, once: bool = False) -> Iterator[Edit]:
    """Yield messages that have other bytes than `root`, each by one edit; with `once`, of one message of each kind."""
    seen = set[str]()
    for path in paths(root):
        called = ".".join(map(str, path))
        kind = at(root, path).DESCRIPTOR.full_name
        if once and kind in seen:
            continue
        seen.add(kind)
        descriptor = at(root, path).DESCRIPTOR
        for field in descriptor.fields:
            for name, change in _changes(at(root, path), field):
                made = _changed(root, path, change)
                if wire_of(made) != wire_of(root):
                    yield Edit(called, descriptor.name, field.name, name, made)
        for name, data in UNKNOWN.items():
            made = deepcopy(root)
            at(made, path).MergeFromString(data)
            if wire_of(made) != wire_of(root):
                yield Edit(called, descriptor.name, "unknown", name, made)


def paths(message: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of a message, and those of all that are in it."""
    yield path
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        if is_map(field):
            keys: Any = sorted(value) if field.message_type.fields_by_name["value"].message_type else ()
        else:
            keys = range(len(value)) if is_repeated(field) else None
        if keys is None:
            yield from paths(value, (*path, field.name))
        else:
            for key in keys:
                yield from paths(value[key], (*path, field.name, key))


def at(message: Any, path: tuple[Any, ...]) -> Any:
    """The message at a path."""
    for step in path:
        message = getattr(message, step) if isinstance(message, Message) else message[step]
    return message


def is_map(field: Any) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _changed(root: AnyMessage, path: tuple[Any, ...], change: Callable[[Any], object]) -> AnyMessage:
    made = deepcopy(root)
    change(at(made, path))
    return made


Change = tuple[str, Callable[[Any], object]]


def _changes(message: Any, field: Any) -> Iterator[Change]:
    """Yield what can be done to a field: it is set, changed, cleared; what it lists added, dropped, twice, reversed."""
    name, value = field.name, getattr(message, field.name)
    if is_map(field):
        is_message = field.message_type.fields_by_name["value"].message_type is not None
        yield (
            "add",
            lambda it: getattr(it, name)[ZZ].SetInParent() if is_message else getattr(it, name).update({ZZ: ZZ}),
        )
        if value:
            yield "drop", lambda it: getattr(it, name).pop(min(value))
        if value and not is_message:
            yield "change", lambda it: getattr(it, name).update({min(value): ZZ})
    elif is_repeated(field):
        yield from _list_changes(name, value, field)
    elif field.message_type is not None:
        yield "clear", lambda it: it.ClearField(name)
        yield "set", lambda it: getattr(it, name).SetInParent()
    else:
        yield "clear", lambda it: it.ClearField(name)
        yield "change", lambda it: setattr(it, name, _another(field, value))


def _list_changes(name: str, value: Any, field: Any) -> Iterator[Change]:
    if field.message_type is not None:
        yield "add", lambda it: getattr(it, name).add()
        if "name" in field.message_type.fields_by_name:
            yield "add named", lambda it: getattr(it, name).add(name=ZZ)
    else:
        one: Any = ZZ if isinstance(field.default_value, list) and field.type == field.TYPE_STRING else 1
        yield "add", lambda it: getattr(it, name).append(one)
    if len(value):
        yield "drop", lambda it: getattr(it, name).pop(0)
        yield "twice", lambda it: getattr(it, name).append(deepcopy(value[0]))
    if len(value) > 1:
        yield "reverse", lambda it: _reverse(getattr(it, name))


def _reverse(listed: Any) -> None:
    items = [deepcopy(each) for each in reversed(listed)]
    del listed[:]
    listed.extend(items)


def _another(field: Any, value: Any) -> Any:
    if field.enum_type is not None:
        return next(each.number for each in field.enum_type.values if each.number != value)
    if isinstance(value, bool):
        return not value
    return value + (1 if isinstance(value, int | float) else ZZ if isinstance(value, str) else b"z")


# ---- messages to edit


def filled(made: AnyMessage, choice: int, skipped: tuple[str, ...] = (), above: tuple[str, ...] = ()) -> AnyMessage:
    """Set all fields of a message, with two of what it lists; of each oneof, the member of a number.

    That is `choice % 8` of an oneof with as many members or more, and `choice // 8` of a smaller one.
    """
    members = {each.name: [field.name for field in each.fields] for each in made.DESCRIPTOR.oneofs}
    chosen = {names[(choice % 8 if len(names) >= 8 else choice // 8) % len(names)] for names in members.values()}
    others = {name for names in members.values() for name in names} - chosen
    for field in made.DESCRIPTOR.fields:
        inner = field.message_type
        if field.name not in (*others, *skipped) and not (inner is not None and inner.full_name in above):
            _fill(made, field, choice, skipped, (*above, made.DESCRIPTOR.full_name))
    return made


def _fill(made: Any, field: Any, choice: int, skipped: tuple[str, ...], above: tuple[str, ...]) -> None:
    name, value = field.name, getattr(made, field.name)
    if is_map(field):
        value.update({"a": "1", "b": "2"})
    elif is_repeated(field) and field.message_type is not None:
        for index in range(2):
            each = filled(value.add(), choice, skipped, above)
            if "name" in field.message_type.fields_by_name:
                each.name = "xy"[index]
    elif is_repeated(field):
        value.extend(["p", "q"] if field.type == field.TYPE_STRING else [3, 4])
    elif field.message_type is not None:
        value.SetInParent()
        filled(value, choice, skipped, above)
    else:
        setattr(made, name, _another(field, value))
