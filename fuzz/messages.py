"""Messages changed at random, field by field as their descriptors have it, and made smaller."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError
from support.damage import damaged
from support.strategies import DATA_TYPES, IDENTIFIERS, NO_DATA_TYPES, ODD_NAMES, OPSET_FIELDS, OPSET_NAMES, floats

from miltext.schema.paths import is_repeated

_TYPES = FieldDescriptor
_INTEGERS = [-1, 0, 1, 2, 3, 64, 2**31 - 1, -(2**31)]
_FLOATS = [struct.unpack("<f", struct.pack("<I", bits))[0] for bits in (0, 1 << 31, 1, 0x7F800000, 0x7FC00001, 1 << 29)]
ODD: dict[int, list[Any]] = {
    _TYPES.TYPE_STRING: [*IDENTIFIERS, *ODD_NAMES],
    _TYPES.TYPE_BYTES: [b"", b"\0", b"\xff" * 4, bytes(range(9))],
    _TYPES.TYPE_BOOL: [False, True],
    _TYPES.TYPE_INT32: _INTEGERS,
    _TYPES.TYPE_INT64: [*_INTEGERS, 2**63 - 1, -(2**63)],
    _TYPES.TYPE_UINT32: [0, 1, 2**32 - 1],
    _TYPES.TYPE_UINT64: [0, 1, 64, 2**63, 2**64 - 1],
    _TYPES.TYPE_ENUM: [*DATA_TYPES, *NO_DATA_TYPES],
    _TYPES.TYPE_FLOAT: _FLOATS,
    _TYPES.TYPE_DOUBLE: [*_FLOATS, 1e308],
}
"""What a field may be set to, by its type: the ends of what it can hold, and names of every odd sort."""


def read(kind: Callable[[], Any], data: bytes) -> Any | None:
    """Return the message of bytes; None of those that protobuf refuses."""
    made = kind()
    try:
        made.ParseFromString(data)
    except (DecodeError, RuntimeError, ValueError):  # each of protobuf's backends has errors of its own
        return None
    return made


def changed(kind: Callable[[], Any], random: Random, data: bytes, pool: Sequence[bytes]) -> bytes:
    """Return the bytes of a message with a few of its fields changed; messages of `pool` may be put into it."""
    made = read(kind, data)
    if made is None or random.random() < 0.03:
        return damaged(random, data)
    donors = [inner for each in (read(kind, random.choice(pool)), made) if each is not None for inner in _inside(each)]
    for _ in range(random.choice([1, 1, 2, 3, 5])):
        _change(random, made, donors)
    return wire(made)


def wire(message: Any) -> bytes:
    """Return a message as bytes, its maps in order."""
    return message.SerializeToString(deterministic=True)  # type: ignore[no-any-return]


def _inside(message: Any) -> list[Any]:
    """Return the messages in a message, itself among them."""
    found = [message]
    for each in found:
        for field, content in each.ListFields():
            found += [inner for inner in _elements(field, content) if hasattr(inner, "ListFields")]
    return found


def _change(random: Random, made: Any, donors: list[Any]) -> None:
    """Change one field of one of the messages in a message."""
    target = random.choice(_inside(made))
    present = [field for field, _ in target.ListFields()]
    field = random.choice(present if present and random.random() < 0.8 else list(target.DESCRIPTOR.fields) or [None])
    if field is None:
        return
    if random.random() < 0.1:
        target.ClearField(field.name)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        _change_map(random, getattr(target, field.name), field, donors)
    elif is_repeated(field):
        _change_repeated(random, getattr(target, field.name), field, donors)
    elif field.message_type is not None:
        getattr(target, field.name).CopyFrom(_message(random, field.message_type, donors))
    else:
        setattr(target, field.name, _scalar(random, field))


def _scalar(random: Random, field: Any) -> Any:
    is_opset = f"{field.containing_type.name}.{field.name}" in OPSET_FIELDS
    if field.enum_type is not None and field.enum_type.name != "DataType":
        return random.choice(field.enum_type.values).number
    return random.choice(OPSET_NAMES if is_opset else ODD[field.type])


def _message(random: Random, descriptor: Any, donors: list[Any]) -> Any:
    """Return a message of a kind: one of the donors, or an empty one."""
    fitting = [each for each in donors if each.DESCRIPTOR.full_name == descriptor.full_name]
    made = _class_of(descriptor)()
    if descriptor.name == "RepeatedFloats" and random.random() < 0.5:
        made = floats([random.getrandbits(32) for _ in range(random.randint(0, 4))])
    elif fitting and random.random() < 0.9:
        made.CopyFrom(random.choice(fitting))
    return made


def _class_of(descriptor: Any) -> Any:
    from miltext.schema import proto

    outer = descriptor.containing_type
    return getattr(_class_of(outer) if outer else proto, descriptor.name)


def _change_map(random: Random, entries: Any, field: Any, donors: list[Any]) -> None:
    """Remove an entry, or put one in, or in place of another."""
    kind, key_field = field.message_type.fields_by_name["value"], field.message_type.fields_by_name["key"]
    keys = sorted(entries)
    if keys and random.random() < 0.3:
        del entries[random.choice(keys)]
        return
    fitting = OPSET_NAMES if field.name == "block_specializations" else ODD[key_field.type]
    key = random.choice(keys) if keys and random.random() < 0.5 else random.choice(fitting)
    if kind.message_type is None:
        entries[key] = _scalar(random, kind)
    else:
        entries[key].CopyFrom(_message(random, kind.message_type, donors))


def _change_repeated(random: Random, elements: Any, field: Any, donors: list[Any]) -> None:
    """Remove an element, double it, change places of two, or append one."""
    way = random.choice(["remove", "double", "swap", "append"])
    index = random.randrange(len(elements)) if len(elements) else None
    if index is None or way == "append":
        is_message = field.message_type is not None
        elements.extend([_message(random, field.message_type, donors) if is_message else _scalar(random, field)])
    elif way == "remove":
        del elements[index]
    else:
        kept = list(elements)
        other = random.randrange(len(kept))
        changed = [*kept, kept[index]]
        if way == "swap":
            changed = list(kept)
            changed[index], changed[other] = kept[other], kept[index]
        copies = [_copied(each) for each in changed]
        del elements[:]
        elements.extend(copies)


def _copied(element: Any) -> Any:
    """Return an element that is not part of its message any more."""
    if not hasattr(element, "CopyFrom"):
        return element
    made = type(element)()
    made.CopyFrom(element)
    return made


# ---- made smaller

Site = tuple[int, ...]


def sites(message: Any, place: Site = ()) -> Iterator[Site]:
    """Yield the place of each part that may be left out: its fields' numbers in order, and the elements of each."""
    for field, content in message.ListFields():
        elements = _elements(field, content)
        for index, element in enumerate(elements):
            here = (*place, field.number, index)
            yield here
            if hasattr(element, "ListFields"):
                yield from sites(element, here)


def _elements(field: Any, content: Any) -> list[Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return [content[key] for key in sorted(content)]
    return list(content) if is_repeated(field) else [content]


def keep(message: Any, kept: set[Site], place: Site = ()) -> None:
    """Leave out all parts of a message whose places are not kept."""
    for field, content in message.ListFields():
        gone = []
        for index, element in enumerate(_elements(field, content)):
            here = (*place, field.number, index)
            if here not in kept:
                gone.append(index)
            elif hasattr(element, "ListFields"):
                keep(element, kept, here)
        if not gone:
            continue
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            for key in [key for index, key in enumerate(sorted(content)) if index in set(gone)]:
                del content[key]
        elif is_repeated(field):
            for index in reversed(gone):
                del content[index]
        else:
            message.ClearField(field.name)
