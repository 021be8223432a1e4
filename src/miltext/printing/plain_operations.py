"""The operations of a Program as text, from its wire form: each becomes its line, or a message to be printed.

Most operations contain only names, tensor types and short values. Reading them from the wire takes half the time of
reading them from messages. Completely read bytes of a known form are neither nested too deeply nor unknown to the
schema: only the rest must be checked. An operation of another form is parsed separately, and left to the Printer, which
writes the same text for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from miltext.diagnostics import PrintError
from miltext.printing.printer import OPERATION, Lines, Printer
from miltext.schema.fields import (
    BINDING_HEAD,
    BINDING_HEADS,
    BLOB,
    BLOCK_OPERATIONS,
    ENTRY_VALUE,
    FILE_NAME,
    FUNCTION_BLOCKS,
    KEY,
    NAME,
    OFFSET,
    OPERATION_ATTRIBUTES,
    OPERATION_INPUTS,
    OPERATION_OUTPUTS,
    OPERATION_TYPE,
    PROGRAM_FUNCTIONS,
    STRING_ENTRY_HEAD,
    STRING_ENTRY_HEADS,
)
from miltext.schema.proto import Model, NamedValueType, Value
from miltext.schema.wire import HEAD, read_varint, sized, spans, tag, varint
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.literals import quote
from miltext.syntax.memo import Memo
from miltext.syntax.names import DRAFT, RESERVED
from miltext.syntax.programs import PROGRAM_IN_MODEL

if TYPE_CHECKING:
    from miltext.schema.proto import Message, Operation, ValueType

    Read = TypeVar("Read", bound=Message)

LONGEST = 1 << 12
"""The size of an operation with a long literal, which is printed later, on demand."""

_BYTE = 127
"""The greatest length that one byte can hold."""

_KEY, _NAME, _OPERATION, _BLOB, _VALUE = KEY[0], NAME[0], BLOCK_OPERATIONS[0], BLOB[0], ENTRY_VALUE[0]
_ARGUMENT, _OUTPUT, _ATTRIBUTE = OPERATION_INPUTS[0], OPERATION_OUTPUTS[0], OPERATION_ATTRIBUTES[0]

_TO_NAME, _TO_STRING, _TO_OFFSET = HEAD + BINDING_HEAD, HEAD + STRING_ENTRY_HEAD, HEAD + HEAD + len(OFFSET)
"""Offset of the name in the entry of an input, of the string in the entry of an attribute, and of the offset in a blob.
The size of the key, or of the path, is added.
"""

_AROUND = BLOCK_OPERATIONS, ENTRY_VALUE, FUNCTION_BLOCKS, ENTRY_VALUE, PROGRAM_FUNCTIONS, tag(PROGRAM_IN_MODEL)
"""The fields around an operation, innermost first."""

assert KEY == OPERATION_TYPE  # `_key` reads both


class _NotPlain(Exception):
    """An operation for the Printer."""


class _WireNames(dict[bytes, str]):
    """Names by their wire form. Most need no quotes, which is quickly determined."""

    def __init__(self, quoted: Callable[[str], str]) -> None:
        super().__init__()
        self._quoted = quoted

    def __missing__(self, wire: bytes) -> str:
        name = wire.decode()
        plain = name.isascii() and name.isidentifier() and name not in RESERVED
        text = self[wire] = name if plain else self._quoted(name)
        return text


class Operations:
    """Removes the operations of a Program: each becomes its line, or a message for a Printer."""

    def __init__(self, printer: Printer) -> None:
        self._printer = printer
        self._names = _WireNames(printer.name)
        self._keys = Memo(self._key)
        self._input_heads = Memo(self._input_head)
        self._string_heads = Memo(self._string_head)
        self._types = Memo(self._type)
        self._values = Memo(self._value)
        self._blob_heads = Memo(self._blob_head)
        self.lines: Lines = {}

    def fresh(self) -> Operations:
        """Return Operations for another program, with the cache of this one."""
        made = copy(self)
        made.lines = {}
        return made

    @property
    def size(self) -> int:
        """The size of the cache."""
        memos = self._keys, self._input_heads, self._string_heads, self._types, self._values, self._blob_heads
        return len(self._names) + sum(len(each) for each in memos) + self._printer.size

    def take_out(self, wire: bytes) -> bytes:
        """Move the operations of a Program's deterministic wire form to `lines`; return the rest."""
        try:
            with gc_paused:
                return _changed(wire, 0, len(wire), PROGRAM_FUNCTIONS, self._function)
        except ValueError:  # an unknown field of a kind long out of use
            self.lines = {}
            return wire

    # Down to the operations, a message is a part of the whole wire form, between two places: only the rest is copied.

    def _function(self, wire: bytes, at: int, end: int) -> bytes:
        """Return the rest of an entry of `functions`."""
        blocks = partial(self._block, _key_of(wire, at, end))
        function = partial(_changed, field=FUNCTION_BLOCKS, change=blocks)
        return _changed(wire, at, end, ENTRY_VALUE, function)

    def _block(self, function: str, wire: bytes, at: int, end: int) -> bytes:
        """Return the rest of an entry of `block_specializations`."""
        lines = self.lines[function, _key_of(wire, at, end)] = []
        return _changed(wire, at, end, ENTRY_VALUE, lambda *block: b"".join(self._rest(lines, *block)))

    def _rest(self, lines: list[str | Operation], block: bytes, at: int, end: int) -> Iterator[bytes]:
        """Yield the rest of a Block, which includes operations with unknown fields."""
        for _, start, content, stop in spans(block, at, end):
            if block[start] != _OPERATION:
                yield block[start:stop]
            elif stop - content < LONGEST and (text := self._line(block, content, stop)):
                lines.append(text)
            elif (message := _message(block[content:stop])) is not None:
                lines.append(message)
            else:
                yield block[start:stop]

    # ---- pieces that come again: each is judged once, when it is first met

    def _key(self, wire: bytes) -> str:
        """Read a field with a plain name: the key of a map, or the type of an operation."""
        if wire[0] != _KEY or wire[1] != len(wire) - HEAD:
            raise _NotPlain
        name = self._names[wire[HEAD:]]
        if name[0] == "$" or name == DRAFT:
            raise _NotPlain
        return name

    def _input_head(self, wire: bytes) -> str:
        """Read the entry of an input bound to a name, up to this name: `x = `."""
        value = HEAD + wire[1]
        if wire[value:] != BINDING_HEADS[wire[-1]]:
            raise _NotPlain
        return f"{self._keys[wire[:value]]} = "

    def _string_head(self, wire: bytes) -> str:
        """Read the entry of a string attribute, up to the string: `name = string(`; empty for another value."""
        value = HEAD + wire[1]
        if wire[value:] != STRING_ENTRY_HEADS.get(wire[-1]):
            return ""
        return f"{self._keys[wire[:value]]} = {self._printer.string_start}"

    def _type(self, wire: bytes) -> str:
        """Read the field `type` of a NamedValueType or a Value: a tensor type without attributes."""
        message = _read(NamedValueType(), wire)
        _require_tensor(message.type)
        return self._printer.type_of(message, "type").text

    def _value(self, wire: bytes) -> str:
        """Read the value of an attribute: a short tensor."""
        if wire[0] != _VALUE or wire[1] != len(wire) - HEAD:
            raise _NotPlain
        message = _read(Value(), wire[HEAD:])
        _require_tensor(message.type)
        if message.immediateValue.WhichOneof("value") != "tensor":
            raise _NotPlain
        return self._printer.long_value(message)

    def _blob_head(self, wire: bytes) -> tuple[str, int]:
        """Read the value of an attribute up to a blob's offset, `fp16(BLOBFILE(...uint64(`, and the size of the
        offset.
        """
        size, value = read_varint(wire, 1)
        blob = value + HEAD + wire[value + 1]
        kind, path = wire[value:blob], wire[blob + 2 * HEAD : -len(OFFSET)]
        offset = bytes(max(value + size - len(wire), 0))
        file = sized(FILE_NAME, path) + OFFSET + offset
        if not offset or wire + offset != sized(ENTRY_VALUE, kind + sized(BLOB, file)):
            raise _NotPlain
        return f"{self._types[kind]}({self._printer.blob_start(path.decode())}", len(offset)

    # ---- operations

    def _line(self, wire: bytes, at: int, end: int) -> str | None:
        """Return the line of the Operation between two places; None if it is not plain."""
        try:
            start, arguments, results, attributes = at, "", "", ""
            at += HEAD + wire[at + 1]
            kind, types, names = self._keys[wire[start:at]], self._types, self._names
            if at < end and wire[at] == _ARGUMENT:
                arguments, at = self._arguments(wire, at, end)
            while at < end and wire[at] == _OUTPUT:
                output, at = at + HEAD, at + HEAD + wire[at + 1]
                name, kind_of = output + HEAD, output + HEAD + wire[output + 1]
                if at - output > _BYTE or wire[output] != _NAME:
                    return None
                comma = ", " if results else ""
                results += f"{comma}{types[wire[kind_of:at]]} {names[wire[name:kind_of]]}"
            if at < end:
                attributes = self._attributes(wire, at, end)
        except (_NotPlain, PrintError, LookupError):
            return None
        equals = " = " if results else ""
        return f"{OPERATION}{results}{equals}{kind}({arguments}){attributes};\n"

    def _arguments(self, wire: bytes, at: int, end: int) -> tuple[str, int]:
        """Return `x = a, y = b`, and the beginning of the next field."""
        heads, names = self._input_heads, self._names
        texts = []
        while at < end and wire[at] == _ARGUMENT:
            start, at = at + HEAD, at + HEAD + wire[at + 1]
            name = start + wire[start + 1] + _TO_NAME
            if wire[name - 1] != at - name or at - start > _BYTE:
                raise _NotPlain
            texts.append(heads[wire[start:name]] + names[wire[name:at]])
        if len(texts) > 1:
            texts.sort()
        return ", ".join(texts), at

    def _attributes(self, wire: bytes, at: int, end: int) -> str:
        """`[name = string("y")]`"""
        heads, names = self._string_heads, self._names
        texts = []
        while at < end:
            if wire[at] != _ATTRIBUTE:
                raise _NotPlain
            size, start = wire[at + 1], at + HEAD
            if size > _BYTE:
                size, start = read_varint(wire, at + 1)
            at = start + size
            string = start + wire[start + 1] + _TO_STRING
            if wire[string - 1] == at - string and (head := heads[wire[start:string]]):
                name = names.get(wire[string:at])  # mostly, the name of the operation's output
                quoted = quote(wire[string:at].decode()) if name is None or name[0] == "$" else f'"{name}"'
                texts.append(f"{head}{quoted})")
            else:
                value = start + HEAD + wire[start + 1]
                texts.append(f"{self._keys[wire[start:value]]} = {self._entry_value(wire, value, at)}")
        if len(texts) > 1:
            texts.sort()
        return f"[{', '.join(texts)}]"

    def _entry_value(self, wire: bytes, at: int, end: int) -> str:
        """Return the value of an attribute, between two places."""
        value = at + HEAD + (wire[at + 1] > _BYTE)
        blob = value + HEAD + wire[value + 1]
        if wire[blob] != _BLOB:
            return self._values[wire[at:end]]
        offset = blob + wire[blob + HEAD + 1] + _TO_OFFSET
        text, size = self._blob_heads[wire[at:offset]]
        number, stop = read_varint(wire, offset)
        if stop != end or size != end - offset:
            raise _NotPlain
        return f"{text}{number})))"


# ---- parts of the wire form


def _key_of(wire: bytes, at: int, end: int) -> str:
    """Return the key of a map's entry; without a key it is empty, or the entry has unknown fields."""
    keys = (wire[content:stop] for _, start, content, stop in spans(wire, at, end) if wire[start] == KEY[0])
    return next(keys, b"").decode()


def _changed(wire: bytes, at: int, end: int, field: bytes, change: Callable[[bytes, int, int], bytes]) -> bytes:
    """Change the contents of each field with a tag in the message between two places."""
    return b"".join(
        sized(field, change(wire, content, stop)) if wire[start] == field[0] else wire[start:stop]
        for _, start, content, stop in spans(wire, at, end)
    )


def _read(message: Read, wire: bytes) -> Read:
    """Fill a message from its complete wire form."""
    message.ParseFromString(wire)
    message.DiscardUnknownFields()
    if message.SerializeToString(deterministic=True) != wire:
        raise _NotPlain
    return message


def _message(wire: bytes) -> Operation | None:
    """Read an Operation at its depth in a Model; None if it has unknown fields.

    Raise protobuf's error for too deep nesting.
    """
    head = b""
    for field in _AROUND:
        head = field + varint(len(head) + len(wire)) + head
    operation = Model.FromString(head + wire).mlProgram.functions[""].block_specializations[""].operations[0]
    operation.DiscardUnknownFields()
    return operation if operation.ByteSize() == len(wire) else None


def _require_tensor(value_type: ValueType) -> None:
    if value_type.WhichOneof("type") != "tensorType" or value_type.tensorType.attributes:
        raise _NotPlain
