"""What comes before a name or a string on the wire is what protobuf writes before it."""

from __future__ import annotations

from miltext.schema import fields
from miltext.schema.proto import Operation
from miltext.schema.value_builders import STRING, immediate
from miltext.schema.wire import spans


def entry(operation: Operation) -> tuple[bytes, int]:
    """What the only field of an Operation holds, an entry of a map, and where its value begins."""
    wire = operation.SerializeToString()
    ((_, _, start, end),) = spans(wire)
    _, (_, value, _, _) = spans(wire, start, end)
    return wire[:end], value


def test_heads_of_bindings() -> None:
    for size, head in fields.BINDING_HEADS.items():
        assert len(head) == fields.BINDING_HEAD
        operation = Operation()
        operation.inputs["x"].arguments.add(name="n" * size)
        wire, value = entry(operation)
        assert wire[value:] == head + b"n" * size


def test_heads_of_strings() -> None:
    for size, head in fields.STRING_HEADS.items():
        assert len(head) == fields.STRING_HEAD
        assert len(fields.STRING_ENTRY_HEADS[size]) == fields.STRING_ENTRY_HEAD
        operation = Operation()
        operation.attributes["x"].CopyFrom(immediate(STRING, "s" * size))
        wire, value = entry(operation)
        assert wire[value:] == fields.STRING_ENTRY_HEADS[size] + b"s" * size
        assert operation.attributes["x"].SerializeToString() == head + b"s" * size
