"""A message as parts: each field, each entry of its maps and lists, and the bytes of fields that the schema lacks.

All comparisons of messages around programs use this module. Two messages are equal if their deterministic bytes are;
other differences are reported at their places. `miltext.merging.messages` merges by the same parts, and `leftovers`
subtracts the fields spelled in words from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple, cast

from miltext.descriptions.forms import shortest
from miltext.files.contents import unknown_fields
from miltext.schema.paths import is_repeated
from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.wire import LENGTH_DELIMITED, read_varint, sized, spans, tag, wire_of
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from google.protobuf.descriptor import FieldDescriptor

    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.proto import Message
    from miltext.schema.proto import Model as Spec

MODEL = "CoreML.Specification.Model"
"""The message with kinds that the schema lacks, which `MODEL_KINDS` names."""

SHOWN = 32
"""The most unknown bytes shown; more are shown as a digest."""

_DOUBLE, _FLOAT, _STRING, _MESSAGE, _BYTES = 1, 2, 9, 11, 12
"""Types of fields, by FieldDescriptorProto.Type of protobuf's descriptor.proto: all other types of the schema are
varints.
"""

_WIRE_TYPES = {_DOUBLE: 1, _FLOAT: 5, **dict.fromkeys((_STRING, _MESSAGE, _BYTES), LENGTH_DELIMITED)}

UNKNOWN = "field "
"""The prefix of the names of fields that the schema lacks."""

_KEY = "key"
"""The field of an entry's key."""

EMPTY = "set"
"""The text for a present but empty message."""


class PartStep(NamedTuple):
    """A step on the way into two messages: a key, and the parts with this key; None on a side without it."""

    key: str
    old: Part | None
    new: Part | None


class MessageDifference(NamedTuple):
    """A place where two messages differ, such as `input[x].type.multiArrayType.dataType`; None for a missing value.

    The `steps` lead to the parts that differ, from the outermost ones. `is_order`: only the order of their parts
    differs.
    """

    path: str
    old: str | None
    new: str | None
    steps: tuple[PartStep, ...] = ()
    is_order: bool = False


class Part:
    """A piece of a message, `wire` with its tags.

    This class is for undivided pieces: a number, a text, or a list of these in a field; or the contents of a field that
    the schema lacks, with None as its `field`. `holder` is the class of the enclosing message.
    """

    is_open = False
    """Whether it is a message or a list with parts."""

    def __init__(self, holder: type[Message], field: FieldDescriptor | None, wire: bytes) -> None:
        self.holder, self.field, self.wire = holder, field, wire

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts of a message by the names of fields, of a map by keys, of a list by names or places."""
        return {}

    def way(self, path: str, key: str) -> str:
        """Return the path of a part."""
        return path

    @property
    def text(self) -> str:
        """The text, on one line."""
        if self.field is None:
            return digest(self.wire)
        value = getattr(self.holder.FromString(self.wire), self.field.name)
        if is_repeated(self.field):
            return f"[{', '.join([_text(self.field, each) for each in value])}]"
        return _text(self.field, value)


class Whole(Part):
    """A message: the whole, or an inner one."""

    is_open = True

    def __init__(self, made: type[Message], content: bytes, wire: bytes) -> None:
        self.made, self.content, self.wire = made, content, wire

    @property
    def fixed(self) -> bytes:
        """The contents outside of all parts: the key of an entry."""
        return b""

    def with_content(self, content: bytes) -> bytes:
        """Return the wire of a replacement of this message, with a tag unless this is the outermost message."""
        if self.wire is self.content:
            return content
        return sized(tag(read_varint(self.wire, 0)[0] >> 3), content)

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts of the message, by the names of fields."""
        return self.fields

    @cached_property
    def fields(self) -> Mapping[str, Part]:
        """All fields of the message by their names, also the key of an entry."""
        pieces: dict[tuple[int, bool], list[tuple[bytes, bytes]]] = {}
        fields = cast("Mapping[int, FieldDescriptor]", self.made.DESCRIPTOR.fields_by_number)
        for number, start, content, end in spans(self.content):
            field = fields.get(number)
            is_known = field is not None and self.content[start] & 7 == _wire_type(field)
            found = self.content[start:end], self.content[content:end]
            pieces.setdefault((number, is_known), []).append(found)
        made: dict[str, Part] = {}
        for (number, is_known), each in pieces.items():
            field = fields[number] if is_known else None
            made[self._name(number, field)] = _part(self.made, field, each)
        return made

    def _name(self, number: int, field: FieldDescriptor | None) -> str:
        if field is not None:
            return str(field.name)
        is_kind = self.made.DESCRIPTOR.full_name == MODEL and number in MODEL_KINDS
        is_free = is_kind and number not in self.made.DESCRIPTOR.fields_by_number
        return MODEL_KINDS[number] if is_free else f"{UNKNOWN}{number}"

    def way(self, path: str, key: str) -> str:
        """Return the path of a part."""
        return f"{path}.{key}" if path else key

    @property
    def text(self) -> str:
        """The text, on one line."""
        return " ".join(line.strip() for line in str(self.made.FromString(self.content)).splitlines())


class MapEntry(Whole):
    """An entry of a map: its value has the entry's own path."""

    @cached_property
    def _parts(self) -> Mapping[str, Part]:
        return {name: part for name, part in self.fields.items() if name != _KEY}

    @property
    def parts(self) -> Mapping[str, Part]:
        """The value, and unknown fields; the key is left out."""
        return self._parts

    @property
    def fixed(self) -> bytes:
        key = self.fields.get(_KEY)
        return b"" if key is None else key.wire

    def way(self, path: str, key: str) -> str:
        """Return the path of a part."""
        return path if key == "value" else super().way(path, key)

    @property
    def text(self) -> str:
        """The text of the value."""
        return self.parts["value"].text if "value" in self.parts else EMPTY


class PartList(Part):
    """A list of messages, or a map. Its parts are named by keys, or by messages' names if each has its own."""

    is_open = True

    def __init__(self, items: list[Whole]) -> None:
        self.items = items
        self.wire = b"".join(each.wire for each in items)

    @cached_property
    def _named(self) -> tuple[dict[str, Part], bool]:
        made: dict[str, Part] = {}
        names = [_name_of(each) for each in self.items]
        for index, (name, item) in enumerate(zip(names, self.items, strict=True)):
            key, number = name or str(index), 1
            while key in made:
                number += 1
                key = f"{name or index}, {number}"
            made[key] = item
        return made, len({*names}) == len(names) and None not in names

    @property
    def parts(self) -> Mapping[str, Part]:
        """The parts by keys of the map or names of messages, otherwise by place."""
        return self._named[0]

    @property
    def is_named(self) -> bool:
        """Whether each part has a key or a name."""
        return self._named[1]

    @property
    def is_map(self) -> bool:
        """Whether this is a map, whose order has no meaning."""
        return any(isinstance(each, MapEntry) for each in self.items)

    def way(self, path: str, key: str) -> str:
        """Return the path of a part."""
        return f"{path}[{quote(key)[1:-1]}]"

    @property
    def text(self) -> str:
        """The text, on one line."""
        return ", ".join([each.text for each in self.items])


def part_of(message: Message) -> Whole:
    """Return a message as a part."""
    wire = wire_of(message)
    return Whole(type(message), wire, wire)


def facts(message: Message) -> Iterator[tuple[str, str]]:
    """Yield every set field by its path, such as `input[x].type.multiArrayType.dataType`.

    An empty message counts as a fact.
    """
    return leaves(part_of(message), "")


def leaves(part: Part, path: str) -> Iterator[tuple[str, str]]:
    """Yield the facts of a part at a path."""
    return ((leaf.path, leaf.text) for leaf in _leaves(part, path, ()))


class _Leaf(NamedTuple):
    """A fact of a part: its path, its text, and the way to it by keys and parts."""

    path: str
    text: str
    way: tuple[tuple[str, Part], ...]


def _leaves(part: Part, path: str, way: tuple[tuple[str, Part], ...]) -> Iterator[_Leaf]:
    if not part.is_open:
        yield _Leaf(path, part.text, way)
    elif path and not part.parts:
        yield _Leaf(path, EMPTY, way)
    for key, each in part.parts.items():
        yield from _leaves(each, part.way(path, key), (*way, (key, each)))


def unknown_places(part: Part, path: str = "") -> Iterator[str]:
    """Yield the paths of the fields in a part that the schema lacks, except kinds of models."""
    for key, each in part.parts.items():
        if each.is_open:
            yield from unknown_places(each, part.way(path, key))
        elif each.field is None and key.startswith(UNKNOWN):
            yield part.way(path, key)


def differences(old: Part, new: Part, path: str = "", steps: tuple[PartStep, ...] = ()) -> Iterator[MessageDifference]:
    """Yield the differences of two parts at a path: at least one, unless all bytes are equal.

    The `steps` lead to the two; there are none if these are the outermost parts.
    """
    if old.wire == new.wire:
        return
    has_differences = False
    for each in _inside(old, new, path, steps) if type(old) is type(new) else ():
        has_differences = True
        yield each
    if not has_differences:
        texts = old.text, new.text
        shown = texts if texts[0] != texts[1] else (digest(old.wire), digest(new.wire))
        yield MessageDifference(path, *shown, steps)


def _inside(old: Part, new: Part, path: str, steps: tuple[PartStep, ...]) -> Iterator[MessageDifference]:
    """Yield the differences of the parts of two parts, and of their order."""
    for key in {**old.parts, **new.parts}:
        was, now = old.parts.get(key), new.parts.get(key)
        step = PartStep(key, was, now)
        if was is not None and now is not None:
            yield from differences(was, now, old.way(path, key), (*steps, step))
        elif was is not None:
            yield from _missing(was, old.way(path, key), (*steps, step))
        elif now is not None:
            yield from _missing(now, new.way(path, key), (*steps, step))
    orders = [[key for key in one.parts if key in other.parts] for one, other in ((old, new), (new, old))]
    if orders[0] != orders[1]:
        texts = [f"({', '.join(order)})" for order in orders]
        yield MessageDifference(path, texts[0], texts[1], steps, is_order=True)


def _missing(part: Part, path: str, steps: tuple[PartStep, ...]) -> Iterator[MessageDifference]:
    """Yield each fact of a part that only one side has."""
    is_old = steps[-1].old is not None
    for leaf in _leaves(part, path, ()):
        way = [PartStep(key, each if is_old else None, None if is_old else each) for key, each in leaf.way]
        old, new = (leaf.text, None) if is_old else (None, leaf.text)
        yield MessageDifference(leaf.path, old, new, (*steps, *way))


def digest(wire: bytes) -> str:
    """Return the text for bytes that the schema does not know."""
    return wire.hex() if len(wire) <= SHOWN else f"{len(wire)} bytes, SHA-256 {sha256(wire).hexdigest()[:16]}"


# ---- fields


def beside_kinds(spec: Spec) -> bytes:
    """Return the contents of a Model message in fields that the schema lacks, except kinds of models."""
    if all(number in MODEL_KINDS for number in unknown_fields(spec)):
        return b""
    return b"".join(part.wire for name, part in part_of(spec).parts.items() if name.startswith(UNKNOWN))


def _part(holder: type[Message], field: FieldDescriptor | None, pieces: list[tuple[bytes, bytes]]) -> Part:
    """Return the contents of a field: all its pieces, each with its tag, and their contents."""
    wire = b"".join(piece for piece, _ in pieces)
    if field is None or field.message_type is None:
        return Part(holder, field, wire)
    made = _inner_class(holder, field.name)  # type: ignore[arg-type]  # a class is hashable, whatever its messages are
    if not is_repeated(field):
        return Whole(made, b"".join(content for _, content in pieces), wire)
    kind = MapEntry if field.message_type.GetOptions().map_entry else Whole
    return PartList([kind(made, content, piece) for piece, content in pieces])


@cache
def _inner_class(holder: type[Message], name: str) -> type[Message]:
    """Return the class of the messages in a field."""
    message = holder()
    value: Fields = getattr(message, name)
    if hasattr(value, "GetEntryClass"):
        return value.GetEntryClass()  # type: ignore[no-any-return]
    return type(value.add() if hasattr(value, "add") else value)


def _wire_type(field: FieldDescriptor) -> int:
    """Return the wire type of a field; a list of numbers is packed in one piece."""
    return LENGTH_DELIMITED if is_repeated(field) else _WIRE_TYPES.get(field.type, 0)


def _name_of(item: Whole) -> str | None:
    """Return the key of an entry, or the name of a message; None if there is none."""
    field = item.made.DESCRIPTOR.fields_by_name.get("key" if isinstance(item, MapEntry) else "name")
    if field is None:
        return None
    name = getattr(item.made.FromString(item.content), field.name)
    return str(name) if name or isinstance(item, MapEntry) else None


def _text(field: FieldDescriptor, value: Fields) -> str:
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return known.name if known else str(value)
    if field.type == _FLOAT:
        return str(shortest(value))
    return quote(value) if isinstance(value, str) else value.hex() if isinstance(value, bytes) else str(value)
