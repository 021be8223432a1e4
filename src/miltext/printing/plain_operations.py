"""Plain operations as text, straight from a Program's wire form: the printer's fast path.

Most operations say nothing but names, tensor types and short values. Reading them from the wire takes half the time
of asking messages for them. And what has been read to its last byte, in a shape that is known here, is neither nested
too deeply nor unknown to the schema: only the rest needs to be checked for that. Whatever is of no such shape is left
to the Printer, which says the same of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from miltext.diagnostics import PrintError
from miltext.printing.printer import OPERATION, Lines, Printer
from miltext.schema.dtypes import BY_NAME
from miltext.schema.fields import (
    BINDING_NAME,
    BINDINGS,
    BLOB,
    BLOCK_OPERATIONS,
    ENTRY_VALUE,
    FILE_NAME,
    FUNCTION_BLOCKS,
    IMMEDIATE,
    KEY,
    NAME,
    OFFSET,
    OPERATION_ATTRIBUTES,
    OPERATION_INPUTS,
    OPERATION_OUTPUTS,
    PROGRAM_FUNCTIONS,
    TENSOR,
    TENSOR_TYPE,
    TENSOR_VALUES,
    VALUE_TYPE,
    VALUES,
)
from miltext.schema.proto import NamedValueType, Value
from miltext.schema.wire import heads, number_tag, read_varint, sized, spans, varint
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.literals import quote
from miltext.syntax.names import DRAFT, PLAIN, RESERVED

if TYPE_CHECKING:
    from miltext.schema.proto import Message, ValueType

LONGEST = 1 << 12
"""An operation of more bytes holds a long literal, and is printed when its turn comes: text is made as it is needed."""

SHORT = 2 + 127
"""Values of up to so many bytes, with a tag and a length of one byte, are likely to come again."""

_NAME, _OPERATION, _BLOB, _VALUE = NAME[0], BLOCK_OPERATIONS[0], BLOB[0], ENTRY_VALUE[0]
_ARGUMENT, _OUTPUT, _ATTRIBUTE = OPERATION_INPUTS[0], OPERATION_OUTPUTS[0], OPERATION_ATTRIBUTES[0]

_BYTE = 127
"""The greatest length that is one byte."""

_BINDINGS = dict(enumerate(heads(ENTRY_VALUE, BINDINGS, BINDING_NAME, longest=_BYTE - 4)))
"""What comes before a name of each length that is the only binding of an argument."""

_STRING_TYPE = sized(VALUE_TYPE, sized(TENSOR_TYPE, number_tag(1) + varint(BY_NAME["string"].number)))
_STRINGS = {
    size: ENTRY_VALUE + varint(len(_STRING_TYPE) + len(head) + size) + _STRING_TYPE + head
    for size, head in enumerate(heads(IMMEDIATE, TENSOR, TENSOR_VALUES["strings"], VALUES, longest=_BYTE - 14))
}
"""What comes before a string of each length that is the value of an attribute."""


class _NotPlain(Exception):
    """What is said here is for the Printer to say."""


class _Memo(dict[bytes, str]):
    """What a function makes of a piece of the wire form; kept, for most come again."""

    def __init__(self, function: Callable[[bytes], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, wire: bytes) -> str:
        text = self[wire] = self._function(wire)
        return text


class _Names(dict[bytes, str]):
    """Names by their wire form. Most need no quotes, and that is soon seen."""

    def __init__(self, quoted: Callable[[str], str]) -> None:
        super().__init__()
        self._quoted = quoted

    def __missing__(self, wire: bytes) -> str:
        name = wire.decode()
        text = self[wire] = name if PLAIN.fullmatch(name) and name not in RESERVED else self._quoted(name)
        return text


class PlainOperations:
    """Takes the plain operations out of a Program, as the lines that a Printer would print."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._names = _Names(printer.name)
        self._keys = _Memo(self._key)
        self._types = _Memo(self._type)
        self._values = _Memo(self._value)
        self._paths = _Memo(lambda wire: printer.blob_start(wire.decode()))
        self._string_start = printer.string_start
        self.lines: Lines = {}

    def take_out(self, wire: bytes) -> bytes:
        """The deterministic wire form of a Program without its plain operations, which are then in `lines`."""
        try:
            with gc_paused:
                return _changed(wire, 0, len(wire), PROGRAM_FUNCTIONS, self._function)
        except ValueError:  # an unknown field of a kind that is long out of use
            self.lines = {}
            return wire

    # Down to the operations, a message is a part of the whole wire form, between two places: nothing is copied but
    # what is left.

    def _function(self, wire: bytes, at: int, end: int) -> bytes:
        """What is left of an entry of `functions`."""
        blocks = partial(self._block, _key_of(wire, at, end))
        function = partial(_changed, field=FUNCTION_BLOCKS, change=blocks)
        return _changed(wire, at, end, ENTRY_VALUE, function)

    def _block(self, function: str, wire: bytes, at: int, end: int) -> bytes:
        """What is left of an entry of `block_specializations`."""
        lines = self.lines[function, _key_of(wire, at, end)] = []
        return _changed(wire, at, end, ENTRY_VALUE, lambda *block: b"".join(self._rest(lines, *block)))

    def _rest(self, lines: list[str | None], block: bytes, at: int, end: int) -> Iterator[bytes]:
        """What is left of a Block."""
        run: list[str] = []
        while at < end:
            start = at
            if block[start] != _OPERATION:
                *_, at = next(spans(block, start, end))
                yield block[start:at]
                continue
            size, at = block[start + 1], start + 2
            if size > _BYTE and block[at] <= _BYTE:  # as most are
                size, at = size + (block[at] << 7) - 128, at + 1
            elif size > _BYTE:
                size, at = read_varint(block, start + 1)
            text = self._operation(block, at, at + size) if size < LONGEST else None
            at += size
            if text is not None:
                run.append(text)
                continue
            lines += "".join(run), None
            run.clear()
            yield block[start:at]
        lines.append("".join(run))

    # ---- pieces that come again: each is judged once, when it is first met

    def _key(self, wire: bytes) -> str:
        """A tag, a length, and a name that stands for itself: a map's key, or the type of an operation."""
        if wire[0] != _NAME or wire[1] != len(wire) - 2:
            raise _NotPlain
        name = self._names[wire[2:]]
        if name[0] == "$" or name == DRAFT:
            raise _NotPlain
        return name

    def _type(self, wire: bytes) -> str:
        """The field `type` of a NamedValueType or a Value: a tensor type without attributes."""
        message = _read(NamedValueType(), wire)
        _require_tensor(message.type)
        return self._printer.type_of(message, "type").text

    def _value(self, wire: bytes) -> str:
        """The value of an attribute: a tensor."""
        if wire[0] != _VALUE or wire[1] != len(wire) - 2:
            raise _NotPlain
        message = _read(Value(), wire[2:])
        _require_tensor(message.type)
        if message.immediateValue.WhichOneof("value") != "tensor":
            raise _NotPlain
        return self._printer.long_value(message)

    # ---- operations

    def _operation(self, wire: bytes, at: int, end: int) -> str | None:
        """The line of the Operation between two places; None where it is not plain."""
        try:
            start, arguments, results, attributes = at, "", "", ""
            at += 2 + wire[at + 1]
            kind = self._keys[wire[start:at]]
            if at < end and wire[at] == _ARGUMENT:
                arguments, at = self._arguments(wire, at, end)
            while at < end and wire[at] == _OUTPUT:
                output, at = at + 2, at + 2 + wire[at + 1]
                name = output + 2 + wire[output + 1]
                if at - output > _BYTE or wire[output] != _NAME:
                    return None
                comma = ", " if results else ""
                results += f"{comma}{self._types[wire[name:at]]} {self._names[wire[output + 2 : name]]}"
            if at < end:
                attributes = self._attributes(wire, at, end)
        except (_NotPlain, PrintError, LookupError):
            return None
        equals = " = " if results else ""
        return f"{OPERATION}{results}{equals}{kind}({arguments}){attributes};\n"

    def _arguments(self, wire: bytes, at: int, end: int) -> tuple[str, int]:
        """`x = a, y = b`, and where the next field begins."""
        keys, names = self._keys, self._names
        texts = []
        while at < end and wire[at] == _ARGUMENT:
            start = at + 2
            at = start + wire[at + 1]
            key = start + 2 + wire[start + 1]
            if at - start > _BYTE or wire[key : key + 6] != _BINDINGS[at - key - 6]:
                raise _NotPlain
            texts.append(f"{keys[wire[start:key]]} = {names[wire[key + 6 : at]]}")
        if len(texts) > 1:
            texts.sort()
        return ", ".join(texts), at

    def _attributes(self, wire: bytes, at: int, end: int) -> str:
        """`[name = string("y")]`"""
        keys, names, values, string_start = self._keys, self._names, self._values, self._string_start
        texts = []
        while at < end:
            if wire[at] != _ATTRIBUTE:
                raise _NotPlain
            size, start = wire[at + 1], at + 2
            if size > _BYTE:
                size, start = read_varint(wire, at + 1)
            at = start + size
            key = start + 2 + wire[start + 1]
            if wire[key : key + 16] == _STRINGS.get(at - key - 16):
                string = wire[key + 16 : at]
                name = names.get(string)  # mostly, that of the operation's output
                text = quote(string.decode()) if name is None or name[0] == "$" else f'"{name}"'
                texts.append(f"{keys[wire[start:key]]} = {string_start}{text})")
            elif at - key > SHORT or wire[key + 4 + wire[key + 3]] == _BLOB:
                texts.append(f"{keys[wire[start:key]]} = {self._blob(wire, key, at)}")
            else:
                texts.append(f"{keys[wire[start:key]]} = {values[wire[key:at]]}")
        if len(texts) > 1:
            texts.sort()
        return f"[{', '.join(texts)}]"

    def _blob(self, wire: bytes, at: int, end: int) -> str:
        """The value of an attribute, between two places, if it is a blob."""
        value = at + (2 if wire[at + 1] <= _BYTE else 3)
        blob = value + 2 + wire[value + 1]
        path = blob + 4
        number = path + wire[blob + 3]
        offset, _ = read_varint(wire, number + 1)
        name, kind = wire[path:number], wire[value:blob]
        file = sized(FILE_NAME, name) + OFFSET + varint(offset)
        if wire[at:end] != sized(ENTRY_VALUE, kind + sized(BLOB, file)):
            raise _NotPlain
        return f"{self._types[kind]}({self._paths[name]}{offset})))"


# ---- parts of the wire form


def _key_of(wire: bytes, at: int, end: int) -> str:
    """The key of a map's entry; one without is the empty key's, or has fields that the schema lacks."""
    keys = (wire[content:stop] for _, start, content, stop in spans(wire, at, end) if wire[start] == KEY[0])
    return next(keys, b"").decode()


def _changed(wire: bytes, at: int, end: int, field: bytes, change: Callable[[bytes, int, int], bytes]) -> bytes:
    """The message between two places, with a change to what each of its fields of that tag holds."""
    return b"".join(
        sized(field, change(wire, content, stop)) if wire[start] == field[0] else wire[start:stop]
        for _, start, content, stop in spans(wire, at, end)
    )


def _read(message: Message, wire: bytes) -> Any:
    """The message, of which this is the wire form to the last byte."""
    message.ParseFromString(wire)
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != wire:
        raise _NotPlain
    return message


def _require_tensor(value_type: ValueType) -> None:
    if value_type.WhichOneof("type") != "tensorType" or value_type.tensorType.attributes:
        raise _NotPlain
