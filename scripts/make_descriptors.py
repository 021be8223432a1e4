"""Make src/miltext/schema/proto/*.binpb and __init__.pyi from schema/*.proto; `--check` fails if they are stale.

The script needs grpcio-tools (for its protoc) and protobuf. Nothing in a descriptor depends on protoc's version.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from generated import ROOT, settle
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

SCHEMA = ROOT / "schema"
PACKAGE = ROOT / "src" / "miltext" / "schema" / "proto"
FILES = ("MIL", "FeatureTypes", "Model")

SCALARS = {
    FieldDescriptorProto.TYPE_BOOL: "bool",
    FieldDescriptorProto.TYPE_BYTES: "bytes",
    FieldDescriptorProto.TYPE_DOUBLE: "float",
    FieldDescriptorProto.TYPE_ENUM: "int",
    FieldDescriptorProto.TYPE_FLOAT: "float",
    FieldDescriptorProto.TYPE_INT32: "int",
    FieldDescriptorProto.TYPE_INT64: "int",
    FieldDescriptorProto.TYPE_STRING: "str",
    FieldDescriptorProto.TYPE_UINT64: "int",
}
STUB_HEAD = '''\
"""Types of the messages that `__init__.py` makes. Written by scripts/make_descriptors.py: do not edit."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Literal

from google.protobuf.internal.containers import (
    MessageMap,
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
    ScalarMap,
)
from google.protobuf.message import Message as Message
'''


def compile_schema() -> list[FileDescriptorProto]:
    """Compile the schema to descriptors in the order of FILES, without sources and derived names."""
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "schema.binpb"
        names = [f"{name}.proto" for name in FILES]
        if protoc.main(["protoc", f"-I{SCHEMA}", f"--descriptor_set_out={out}", *names]) != 0:
            sys.exit("protoc refused the schema")
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file
    by_name = {file.name: file for file in files}
    for file in files:
        for message in file.message_type:
            drop_json_names(message)
    return [by_name[name] for name in names]


def drop_json_names(message: DescriptorProto) -> None:
    """Clear the names that every runtime derives by itself."""
    for field in message.field:
        field.ClearField("json_name")
    for nested in message.nested_type:
        drop_json_names(nested)


def local_name(type_name: str) -> str:
    """Shorten `.CoreML.Specification.MILSpec.Argument.Binding` to `Argument.Binding`."""
    return type_name.removeprefix(".CoreML.Specification.").removeprefix("MILSpec.")


def field_types(field: FieldDescriptorProto, entries: dict[str, DescriptorProto]) -> tuple[str, str]:
    """Name the type of a field as it is read, and the type that the constructor takes for it."""
    scalar = SCALARS.get(field.type)
    item = scalar or local_name(field.type_name)
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        value = entry.field[1]
        key_name, value_name = SCALARS[entry.field[0].type], SCALARS.get(value.type) or local_name(value.type_name)
        kind = "ScalarMap" if value.type in SCALARS else "MessageMap"
        return f"{kind}[{key_name}, {value_name}]", f"Mapping[{key_name}, {value_name}]"
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        kind = "RepeatedScalarFieldContainer" if scalar else "RepeatedCompositeFieldContainer"
        return f"{kind}[{item}]", f"Iterable[{item}]"
    return item, item


def stub_members(message: DescriptorProto) -> Iterator[str]:
    """Yield the lines of a message's class body, fields in order of their numbers."""
    entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
    for nested in message.nested_type:
        if nested.name not in entries:
            yield from stub_class(nested)
    for enum in message.enum_type:
        yield from (f"{value.name}: ClassVar[Literal[{value.number}]]" for value in enum.value)
    fields = sorted(message.field, key=lambda field: field.number)
    takes = []
    for field in fields:
        read, take = field_types(field, entries)
        takes.append(f"{field.name}: {take} | None = ...")
        if field.type in SCALARS and field.label != FieldDescriptorProto.LABEL_REPEATED:
            yield f"{field.name}: {read}"
        else:
            yield from ("@property", f"def {field.name}(self) -> {read}: ...")
    yield f"def __init__(self, *, {', '.join(takes)}) -> None: ..." if takes else "def __init__(self) -> None: ..."
    if message.oneof_decl:
        names = ", ".join(f'"{field.name}"' for field in fields if field.HasField("oneof_index"))
        yield f"def WhichOneof(self, oneof_group: str) -> Literal[{names}] | None: ..."


def stub_class(message: DescriptorProto) -> Iterator[str]:
    """Yield the lines of a message's class."""
    yield f"class {message.name}(Message):"
    yield from (f"    {line}" for line in stub_members(message))


def outputs() -> dict[Path, bytes]:
    """Make the contents of every file that this script writes."""
    files = compile_schema()
    made = {PACKAGE / f"{Path(file.name).stem}.binpb": file.SerializeToString(deterministic=True) for file in files}
    classes = ["\n".join(stub_class(message)) for file in files for message in file.message_type]
    names = [message.name for file in files for message in file.message_type]
    stub = f"{STUB_HEAD}\n__all__ = {names}\n\n" + "\n\n".join(classes) + "\n"
    return made | {PACKAGE / "__init__.pyi": stub.encode()}


def main() -> None:
    """Write the descriptors, or compare them with the files."""
    settle(__doc__, outputs().items())


if __name__ == "__main__":
    main()
