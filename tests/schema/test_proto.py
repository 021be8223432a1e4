"""The messages: Apple's names and numbers, on every protobuf, beside coremltools in one process."""

from __future__ import annotations

import ast
import copy
import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message

from miltext.schema import dtypes, proto
from miltext.schema.proto.kinds import MODEL_KINDS

ROOT = Path(__file__).resolve().parents[2]
DECLARED_KINDS = {200, 201, 202, 502}
MILSPEC = """
    Program Function Block Operation Argument NamedValueType ValueType TensorType ListType TupleType DictionaryType
    StateType Dimension Value TensorValue TupleValue ListValue DictionaryValue
""".split()
SPECIFICATION = """
    Model ModelDescription FunctionDescription FeatureDescription FeatureType ArrayFeatureType ImageFeatureType
    SizeRange StateFeatureType DictionaryFeatureType SequenceFeatureType Int64FeatureType DoubleFeatureType
    StringFeatureType Metadata Pipeline PipelineClassifier PipelineRegressor
""".split()

NO_UPB = importlib.util.find_spec("google._upb") is None
BACKENDS = [pytest.param("upb", marks=pytest.mark.skipif(NO_UPB, reason="this protobuf has no upb")), "python"]

Facts = dict[str, object]


def file_proto(message: type[Message]) -> FileDescriptorProto:
    return FileDescriptorProto.FromString(message.DESCRIPTOR.file.serialized_pb)


def enum_facts(scope: str, enum: EnumDescriptorProto) -> Facts:
    return {f"{scope}.{enum.name}.{value.name}": value.number for value in enum.value}


def message_facts(scope: str, message: DescriptorProto) -> Iterator[tuple[str, object]]:
    name = f"{scope}.{message.name}"
    yield name, "message"
    for nested in message.nested_type:
        yield from message_facts(name, nested)
    for enum in message.enum_type:
        yield from enum_facts(name, enum).items()
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None
        yield f"{name}.{field.name}", (field.number, field.type, field.label, field.type_name, oneof)


def file_facts(file: FileDescriptorProto) -> Facts:
    """Every message, field and enum value of a file by full name, with its numbers and types."""
    facts: Facts = {}
    for enum in file.enum_type:
        facts |= enum_facts(file.package, enum)
    for message in file.message_type:
        facts.update(message_facts(file.package, message))
    return facts


def run_python(code: str, **environment: str) -> str:
    """What a fresh interpreter prints for `code`."""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", MILSPEC + SPECIFICATION)
def test_full_names_are_apples(name: str) -> None:
    package = "CoreML.Specification.MILSpec" if name in MILSPEC else "CoreML.Specification"
    assert getattr(proto, name).DESCRIPTOR.full_name == f"{package}.{name}"


def test_nothing_else_is_exposed() -> None:
    assert sorted(proto.__all__) == sorted(MILSPEC + SPECIFICATION)


def test_messages_inside_messages_are_attributes_of_their_class() -> None:
    argument = proto.Argument(arguments=[proto.Argument.Binding(name="x")])
    assert type(argument.arguments[0]) is proto.Argument.Binding
    assert type(proto.Value().immediateValue) is proto.Value.ImmediateValue
    assert type(proto.TensorValue().longInts) is proto.TensorValue.RepeatedLongInts
    assert type(proto.Dimension().unknown) is proto.Dimension.UnknownDimension
    assert type(proto.Model().mlProgram) is proto.Program


def test_enum_values_are_attributes_of_their_message() -> None:
    assert proto.ArrayFeatureType.FLOAT16 == 65552
    assert proto.ImageFeatureType.GRAYSCALE_FLOAT16 == 40


def test_copies_are_equal_and_apart() -> None:
    program = proto.Program(version=1)
    program.functions["main"].block_specializations["CoreML7"].operations.add(type="relu")
    twin = copy.deepcopy(program)
    assert twin.SerializeToString(deterministic=True) == program.SerializeToString(deterministic=True)
    twin.functions["main"].opset = "CoreML7"
    assert program.functions["main"].opset == ""


def test_data_types_of_the_table_match_the_schema() -> None:
    (enum,) = file_proto(proto.Program).enum_type
    declared = {(value.name, value.number) for value in enum.value if value.name != "UNUSED_TYPE"}
    assert {(data_type.proto_name, data_type.number) for data_type in dtypes.DTYPES} == declared


def test_a_kind_that_is_not_declared_survives_as_its_bytes() -> None:
    from google.protobuf.unknown_fields import UnknownFieldSet

    neural_network = b"\x08\x01" + b"\xa2\x1f\x02\x08\x01"  # specificationVersion 1, field 500
    model = proto.Model.FromString(neural_network)
    assert model.WhichOneof("Type") is None
    unknown: Any = UnknownFieldSet(model)
    assert [MODEL_KINDS[field.field_number] for field in unknown] == ["neuralNetwork"]
    assert model.SerializeToString() == neural_network


@pytest.mark.parametrize(
    ("module", "message"), [("MIL", "Program"), ("FeatureTypes", "FeatureType"), ("Model", "Model")]
)
def test_the_schema_equals_that_of_coremltools(module: str, message: str) -> None:
    pytest.importorskip("coremltools", reason="needs coremltools, whose schema is the reference")
    theirs = file_facts(file_proto(getattr(importlib.import_module(f"coremltools.proto.{module}_pb2"), message)))
    ours = file_facts(file_proto(getattr(proto, message)))
    left_out = set(theirs) - set(ours)
    kinds = {
        f"CoreML.Specification.Model.{name}" for number, name in MODEL_KINDS.items() if number not in DECLARED_KINDS
    }
    expected = kinds | {name for name in theirs if ".SerializedModel" in name}
    assert left_out == (expected if module == "Model" else set())
    assert {name: theirs.get(name) for name in ours} == ours


def test_kinds_of_model_match_coremltools() -> None:
    pytest.importorskip("coremltools", reason="needs coremltools, whose schema is the reference")
    model = importlib.import_module("coremltools.proto.Model_pb2").Model
    members = model.DESCRIPTOR.oneofs_by_name["Type"].fields
    assert {field.number: field.name for field in members} == MODEL_KINDS


BESIDE_COREMLTOOLS = """
import {first}
import {second}
from coremltools.proto import MIL_pb2
from google.protobuf.internal import api_implementation
from miltext.schema import proto
assert api_implementation.Type() == "{backend}"
assert MIL_pb2.Program.DESCRIPTOR.full_name == proto.Program.DESCRIPTOR.full_name
ours = proto.Program(version=1, docString="d")
ours.functions["main"].block_specializations["CoreML7"].operations.add(type="relu").inputs["x"].arguments.add(name="a")
ours.attributes["v"].immediateValue.tensor.longInts.values.append(-1)
data = ours.SerializeToString(deterministic=True)
theirs = MIL_pb2.Program.FromString(data)
assert theirs.functions["main"].block_specializations["CoreML7"].operations[0].inputs["x"].arguments[0].name == "a"
assert theirs.SerializeToString(deterministic=True) == data
assert proto.Program.FromString(theirs.SerializeToString()).SerializeToString(deterministic=True) == data
print("both")
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("first", "second"), [("miltext.schema.proto", "coremltools"), ("coremltools", "miltext.schema.proto")]
)
def test_lives_beside_coremltools(first: str, second: str, backend: str) -> None:
    pytest.importorskip("coremltools", reason="needs coremltools to live beside")
    code = BESIDE_COREMLTOOLS.format(first=first, second=second, backend=backend)
    assert run_python(code, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=backend).endswith("both\n")


@pytest.mark.parametrize("backend", BACKENDS)
def test_builds_on_every_backend(backend: str) -> None:
    code = (
        "from google.protobuf.internal import api_implementation\n"
        "from miltext.schema import proto\n"
        "print(api_implementation.Type(), proto.Argument.Binding(name='x').WhichOneof('binding'))"
    )
    assert run_python(code, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=backend).split() == [backend, "name"]


def test_leaves_the_default_pool_alone() -> None:
    code = (
        "import miltext.schema.proto\n"
        "from google.protobuf import descriptor_pool\n"
        "try: descriptor_pool.Default().FindMessageTypeByName('CoreML.Specification.MILSpec.Program')\n"
        "except KeyError: print('absent')"
    )
    assert run_python(code) == "absent\n"


def test_descriptors_and_stubs_are_fresh() -> None:
    pytest.importorskip("grpc_tools", reason="needs grpcio-tools, whose protoc reads schema/")
    subprocess.run([sys.executable, str(ROOT / "scripts" / "make_descriptors.py"), "--check"], check=True)


def test_the_package_carries_apples_notice() -> None:
    notice = Path(proto.__file__).with_name("LICENSE.Apple").read_text(encoding="utf-8")
    assert re.search(r"Copyright \(c\) [\d-]+, Apple Inc", notice)
    assert "Redistribution and use in source and binary forms" in notice


CODE = [
    path
    for folder in ("src", "website", "fuzz", "scripts", "tests")
    for path in (ROOT / folder).rglob("*.py")
    if "node_modules" not in path.parts
]


def test_numbers_of_types_match_the_class() -> None:
    """upb's descriptors have no `CPPTYPE_FLOAT` before protobuf 4.25; the class FieldDescriptor always has."""
    read = [
        f"{path.relative_to(ROOT).as_posix()}: {ast.unparse(node)}"
        for path in CODE
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and node.attr.startswith("CPPTYPE_")
        if not (isinstance(node.value, ast.Name) and node.value.id == "FieldDescriptor")
    ]
    assert len(CODE) > 500
    assert read == []
