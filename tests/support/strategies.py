"""Programs for hypothesis: any message that the schema allows, and Programs like real ones.

`messages` is driven by the descriptors, so that no field is forgotten: each is absent, present and empty, or filled;
oneofs unset; numbers, names and strings of every odd sort. Two kinds of message are made so that they also make sense
half of the time: a Value whose literal fits its type, and the types that it needs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from google import protobuf
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.internal import api_implementation
from hypothesis import strategies as st

from miltext.schema import proto
from miltext.schema.dtypes import DTYPES, FIELD_DTYPES, DType
from miltext.schema.opsets import OPSETS
from miltext.schema.proto import Program, TensorValue, Value, ValueType
from miltext.syntax.names import RESERVED

DATA_TYPES = [dtype.number for dtype in DTYPES]
NO_DATA_TYPES = [0, -1, 3, 99, 2**31 - 1, -(2**31)]

IDENTIFIERS = ["x", "y", "_", "a@b", "_0", "op_12_cast_fp16", "path", "offset", "shape", "inf", "nan", "program"]
ODD_NAMES = ["", " ", "a b", "1x", "-", "@", "$", "$x", '"', 'a"b', "\\", "\\n", "\n", "\r", "\t", "\0", "\x7f", "\x85"]
ODD_NAMES += ["é", "e\u0301", "名前", "\U0001f600", "\u200b", "\u202e", "\u2066", "\u2028", "\ufeff", "\ufffe"]
ODD_NAMES += ["//", "/*", "]", "func x", "$none", *sorted(RESERVED)]
OPSET_NAMES = [*(opset.proto for opset in OPSETS), *(opset.text for opset in OPSETS), "CoreML99", "", "ios 18"]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
names = st.one_of(st.sampled_from(IDENTIFIERS), st.sampled_from(ODD_NAMES), texts)
opsets = st.one_of(st.sampled_from(OPSET_NAMES), names)
int32s = st.one_of(st.integers(-3, 3), st.sampled_from([2**31 - 1, -(2**31)]), st.integers(-(2**31), 2**31 - 1))
int64s = st.one_of(st.integers(-3, 3), st.sampled_from([2**63 - 1, -(2**63), 2**31]), st.integers(-(2**63), 2**63 - 1))
uint64s = st.one_of(st.integers(0, 4), st.sampled_from([2**63, 2**64 - 1]), st.integers(0, 2**64 - 1))

KEEPS_NANS = api_implementation.Type() != "python"
"""protobuf in pure Python decodes every NaN to the same one."""

OLD = tuple(map(int, protobuf.__version__.split(".")[:2])) < (4, 25)
"""Whether this protobuf crashes on damaged bytes, or reads strings that are no UTF-8."""

_ODD_FP32 = [0, 1 << 31, 1, 0x807FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001]
_ODD_FP64 = [pattern << 32 | (pattern & 1) for pattern in _ODD_FP32]


def bit_patterns(bits: int, odd: list[int], infinity: int) -> st.SearchStrategy[int]:
    """The bits of a float, as far as this protobuf keeps them."""
    patterns = st.sampled_from(odd) | st.integers(0, (1 << bits) - 1)
    return patterns.filter(lambda pattern: KEEPS_NANS or pattern & ~(1 << bits - 1) <= infinity)


fp32_bits = bit_patterns(32, _ODD_FP32, 0x7F800000)
fp64_bits = bit_patterns(64, _ODD_FP64, 0x7FF0000000000000)

_TYPES = FieldDescriptor
SCALARS: dict[int, st.SearchStrategy[Any]] = {
    _TYPES.TYPE_STRING: names,
    _TYPES.TYPE_BYTES: st.binary(max_size=9),
    _TYPES.TYPE_BOOL: st.booleans(),
    _TYPES.TYPE_INT32: int32s,
    _TYPES.TYPE_INT64: int64s,
    _TYPES.TYPE_UINT64: uint64s,
    _TYPES.TYPE_ENUM: st.sampled_from(DATA_TYPES) | st.sampled_from(NO_DATA_TYPES),
    _TYPES.TYPE_FLOAT: fp32_bits.map(lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0]),
    _TYPES.TYPE_DOUBLE: fp64_bits.map(lambda bits: struct.unpack("<d", struct.pack("<Q", bits))[0]),
}
OPSET_FIELDS = {"Function.opset", "Function.block_specializations"}


def floats(bits: list[int]) -> Any:
    """RepeatedFloats of these bits: through the wire, since appending a signalling NaN would quiet it."""
    return TensorValue.RepeatedFloats.FromString(_packed(struct.pack(f"<{len(bits)}I", *bits)))


def doubles(bits: list[int]) -> Any:
    """RepeatedDoubles of these bits."""
    return TensorValue.RepeatedDoubles.FromString(_packed(struct.pack(f"<{len(bits)}Q", *bits)))


def _packed(data: bytes) -> bytes:
    """A packed field 1; its length must be below 128."""
    return bytes([10, len(data)]) + data if data else b""


@st.composite
def messages(draw: st.DrawFn, descriptor: Any, budget: int) -> Any:
    """Any message of the descriptor, with at most about `budget` messages inside one another."""
    if descriptor.name == "RepeatedFloats":
        return floats(draw(st.lists(fp32_bits, max_size=4)))
    if descriptor.name == "RepeatedDoubles":
        return doubles(draw(st.lists(fp64_bits, max_size=4)))
    if descriptor.name == "Value" and draw(st.booleans()):
        return draw(fitting_values(budget))
    message = _class(descriptor)()
    for field in descriptor.fields:
        if field.containing_oneof is None and draw(st.integers(0, 3)):
            _fill(draw, message, field, budget)
    for oneof in descriptor.oneofs:
        member = draw(st.sampled_from([None, *oneof.fields, *oneof.fields]))
        if member is not None:
            _fill(draw, message, member, budget)
    return message


def _class(descriptor: Any) -> type[Any]:
    outer = descriptor.containing_type
    return getattr(_class(outer) if outer else proto, descriptor.name)  # type: ignore[no-any-return]


def _fill(draw: st.DrawFn, message: Any, field: Any, budget: int) -> None:
    """Put something, which may be an empty message, in a field."""
    target = getattr(message, field.name)
    if field.enum_type is not None and field.enum_type.name != "DataType":
        own = [value.number for value in field.enum_type.values]
        setattr(message, field.name, draw(st.sampled_from(own) | SCALARS[field.type]))
    elif field.message_type is None:
        strategy = opsets if f"{message.DESCRIPTOR.name}.{field.name}" in OPSET_FIELDS else SCALARS[field.type]
        if hasattr(target, "extend"):
            target.extend(draw(st.lists(strategy, max_size=3)))
        else:
            setattr(message, field.name, draw(strategy))
    elif field.message_type.GetOptions().map_entry:
        _fill_map(draw, target, field, budget)
    elif hasattr(target, "extend"):
        if budget > 0:
            target.extend(draw(st.lists(messages(field.message_type, budget - 1), min_size=1, max_size=2)))
    else:
        target.SetInParent()
        if budget > 0:
            target.CopyFrom(draw(messages(field.message_type, budget - 1)))


def _fill_map(draw: st.DrawFn, target: Any, field: Any, budget: int) -> None:
    value_type = field.message_type.fields_by_name["value"].message_type
    keys = opsets if field.name == "block_specializations" else names
    for key in draw(st.lists(keys, min_size=1, max_size=2, unique=True)) if budget > 0 else []:
        if value_type is None:
            target[key] = draw(names)
            continue
        target[key].CopyFrom(draw(messages(value_type, budget - 2)))


# ---- values that fit their types, or nearly


def tensor_type(number: int, shape: list[int | None]) -> ValueType:
    """The type of a tensor; None is a dimension of unknown size."""
    made = ValueType()
    made.tensorType.dataType = number
    made.tensorType.rank = len(shape)
    for size in shape:
        dimension = made.tensorType.dimensions.add()
        if size is None:
            dimension.unknown.SetInParent()
        else:
            dimension.constant.size = size
    return made


ELEMENTS: dict[str, Callable[[DType], st.SearchStrategy[Any]]] = {
    "floats": lambda dtype: fp32_bits,
    "doubles": lambda dtype: fp64_bits,
    "bools": lambda dtype: st.booleans(),
    "strings": lambda dtype: names,
    "ints": lambda dtype: st.integers(dtype.minimum, dtype.maximum) | int32s,
    "longInts": lambda dtype: int64s,
}


@st.composite
def tensor_values(draw: st.DrawFn, dtype: DType, count: int, field: str) -> TensorValue:
    """`count` elements in a field of a TensorValue."""
    made = TensorValue()
    member = getattr(made, field)
    member.SetInParent()
    if field == "bytes":
        data = draw(st.binary(min_size=(count * dtype.bits + 7) // 8, max_size=(count * dtype.bits + 7) // 8))
        spare = -count * dtype.bits % 8
        clear = draw(st.booleans()) and data
        member.values = data[:-1] + bytes([data[-1] & 0xFF >> spare]) if clear else data
        return made
    strategy = ELEMENTS[field](dtype if field == dtype.field else FIELD_DTYPES[field])
    elements = draw(st.lists(strategy, min_size=count, max_size=count))
    if field in ("floats", "doubles"):
        member.CopyFrom(floats(elements) if field == "floats" else doubles(elements))
    else:
        member.values.extend(elements)
    return made


SHAPES: list[list[int | None]] = [[], [1], [3], [2, 2], [2, 1, 3], [1, 1, 1], [0], [2, 0], [0, 3], [9], [10**9, 0]]
UNKNOWN_SHAPES: list[list[int | None]] = [[None], [2, None], [None, 3], [None, None], [None, 0], [0, None]]


@st.composite
def fitting_tensors(draw: st.DrawFn) -> Value:
    """A tensor whose elements fill its shape in the usual field; now and then nearly so."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.sampled_from(SHAPES + UNKNOWN_SHAPES))
    known = [draw(st.integers(0, 2)) if size is None else size for size in shape]
    count = 1
    for size in known:
        count *= size
    count = max(0, count + draw(st.sampled_from([0, 0, 0, 0, 1, -1])))
    field = dtype.field if draw(st.integers(0, 4)) else draw(st.sampled_from([*FIELD_DTYPES, "bytes"]))
    made = Value(type=tensor_type(dtype.number, shape))
    made.immediateValue.tensor.CopyFrom(draw(tensor_values(dtype, count, field)))
    return made


def _without_immediate(value: Value) -> Value:
    value.immediateValue.SetInParent()
    return value


def _without_elements(value: Value) -> Value:
    value.immediateValue.tensor.SetInParent()
    return value


NOTHINGS: list[Callable[[Value], Value]] = [lambda value: value, _without_immediate, _without_elements]
"""The ways of a Value to have a type and nothing else."""


@st.composite
def fitting_values(draw: st.DrawFn, budget: int) -> Value:
    """A tensor, a blob, or a container whose elements have the types that its own implies."""
    kind = draw(st.sampled_from(["tensor"] * 3 + ["nothing", "blob", "list", "tuple", "dictionary"]))
    if kind == "tensor" or budget < 4:
        return draw(fitting_tensors())
    if kind == "nothing":
        made = Value(type=tensor_type(draw(st.sampled_from(DATA_TYPES)), draw(st.sampled_from(SHAPES))))
        return draw(st.sampled_from(NOTHINGS))(made)
    if kind == "blob":
        made = Value(type=tensor_type(draw(st.sampled_from(DATA_TYPES)), draw(st.sampled_from(SHAPES))))
        made.blobFileValue.fileName, made.blobFileValue.offset = draw(names), draw(uint64s)
        return made
    if kind == "tuple":
        return tuple_value(draw(st.lists(fitting_values(budget - 3), max_size=3)))
    if kind == "list":
        element = draw(fitting_values(budget - 3))
        return list_value([element] * draw(st.integers(1, 3)), draw(st.booleans()))
    pair = draw(fitting_values(budget - 4)), draw(fitting_values(budget - 4))
    return dictionary_value([pair] * draw(st.integers(1, 2)))


def tuple_value(values: list[Value]) -> Value:
    """The tuple of these values, under the type that they make."""
    made = Value()
    made.type.tupleType.types.extend(value.type for value in values)
    made.type.tupleType.SetInParent()
    made.immediateValue.tuple.SetInParent()
    made.immediateValue.tuple.values.extend(values)
    return made


def list_value(values: list[Value], known: bool) -> Value:
    """The list of these values of one type; its length `known` or not."""
    made = Value()
    made.type.listType.type.CopyFrom(values[0].type)
    length = made.type.listType.length
    if known:
        length.constant.size = len(values)
    else:
        length.unknown.SetInParent()
    made.immediateValue.list.values.extend(values)
    return made


def dictionary_value(pairs: list[tuple[Value, Value]]) -> Value:
    """The dictionary of these pairs, all of the first one's types."""
    made = Value()
    made.type.dictionaryType.keyType.CopyFrom(pairs[0][0].type)
    made.type.dictionaryType.valueType.CopyFrom(pairs[0][1].type)
    for key, value in pairs:
        made.immediateValue.dictionary.values.add(key=key, value=value)
    return made


# ---- programs

BUDGET = 12
"""Enough for each message of the schema to be reached from a Program: an attribute of a type in a nested block."""

any_programs: st.SearchStrategy[Program] = messages(Program.DESCRIPTOR, BUDGET)
any_values: st.SearchStrategy[Value] = messages(Value.DESCRIPTOR, 8)


def in_program(value: Value) -> Program:
    """A Program whose one attribute is the value."""
    made = Program(version=1)
    made.attributes["v"].CopyFrom(value)
    return made
