"""Types and values: that a type says what it must, and that a value is what its type says.

The rules are those that the comments of Apple's `MIL.proto` state; which data types a weight file can hold, and where a
record can stand in it, is told by coremltools' blob storage format, version 2.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, counted
from miltext.checking.inference import StateType, compatible, read_type
from miltext.checking.inference.reading import Constant
from miltext.models.weights import ALIGNMENT
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.dtypes import BY_NUMBER, DType
from miltext.schema.paths import Key, Path

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding, Block, Declared, Operation, Program, Stated
    from miltext.schema.proto import TensorType, TensorValue, Value, ValueType

UNKNOWN_SIZE = "the type of a constant has an unknown dimension"


class Fault(NamedTuple):
    """What is wrong with a type or a value, wherever it stands; `field` is the part of the value to blame."""

    code: str
    message: str
    field: str | None = None
    severity: str = "error"


def value_findings(program: Program) -> list[Finding]:
    """What is wrong with the types and values of a Program."""
    contents = _Contents()
    contents.program(program)
    return contents.found


class _Contents:
    """A walk over all types and values, which remembers the faults of those that it has seen."""

    def __init__(self) -> None:
        self.found: list[Finding] = []
        self.type = functools.cache(lambda stated: list(type_faults(stated.message)))
        self.is_open = functools.cache(lambda stated: unknown_dimensions(stated.message))
        self._tensors: dict[tuple[Stated, bool, str, int], list[Fault]] = {}

    def program(self, program: Program) -> None:
        self.attributes(program.attributes, ())
        for name, function in program.functions.items():
            path = ("functions", Key(name))
            self.attributes(function.attributes, path)
            self.declared(function.inputs, (*path, "inputs"))
            for opset, block in function.blocks.items():
                self.block(block, (*path, "block_specializations", Key(opset)))

    def block(self, block: Block, path: Path) -> None:
        self.attributes(block.attributes, path)
        self.declared(block.inputs, (*path, "inputs"))
        for index, operation in enumerate(block.operations):
            place = (*path, "operations", index)
            for name, bindings in operation.inputs.items():
                self.bindings(name, bindings, place)
            self.outputs(operation, place)
            self.attributes(operation.attributes, place, "val")
            for nested, inner in enumerate(operation.blocks):
                self.block(inner, (*place, "blocks", nested))

    def bindings(self, name: str, bindings: Iterable[Binding], path: Path) -> None:
        """The constants that an argument of the operation at `path` is bound to."""
        for index, binding in enumerate(bindings):
            if isinstance(binding, Constant):
                for fault in self.value(binding, True):
                    self.found.append(_finding(fault, (*path, "inputs", Key(name), "arguments", index, "value")))
            elif binding is None:
                message = "this argument is bound to nothing: neither a name nor a value"
                self.found.append(Finding((*path, "inputs", Key(name), "arguments", index), "MIL617", message))

    def attributes(self, attributes: Mapping[str, Constant], path: Path, constant: str = "") -> None:
        """The attributes of the message at `path`; the type of the one named `constant` may leave nothing unknown."""
        for name, value in attributes.items():
            for fault in self.value(value, name == constant):
                self.found.append(_finding(fault, (*path, "attributes", Key(name))))

    def declared(self, values: Iterable[Declared], path: Path) -> None:
        """The types of inputs."""
        for index, value in enumerate(values):
            for fault in self.type(value.stated):
                self.found.append(_finding(fault, (*path, index, "type")))

    def outputs(self, operation: Operation, path: Path) -> None:
        """The types of outputs: none is a state, and that of a `const` leaves no size open that its value settles."""
        value = operation.attributes.get("val") if operation.type == "const" else None
        settled = value is not None and not self.is_open(value.stated)
        for index, output in enumerate(operation.outputs):
            for fault in self.type(output.stated):
                self.found.append(_finding(fault, (*path, "outputs", index, "type")))
            if isinstance(output.stated.type, StateType):
                message = "no operation makes a state: a state is an input of the function"
                self.found.append(Finding((*path, "outputs", index, "type"), "MIL618", message))
            if settled and self.is_open(output.stated):
                self.found.append(Finding((*path, "outputs", index, "type"), "MIL611", UNKNOWN_SIZE))

    def value(self, value: Constant, constant: bool) -> list[Fault]:
        """What is wrong with a value; for a tensor, its type, the field and the number of its elements settle that."""
        message = value.message
        tensor = message.immediateValue.tensor
        field = tensor.WhichOneof("value")
        if field is None:
            settled = not self.type(value.stated) and not (constant and self.is_open(value.stated))
            return list(_content_faults(message) if settled else value_faults(message, constant))
        key = value.stated, constant, field, len(getattr(tensor, field).values)
        faults = self._tensors.get(key)
        if faults is None:
            faults = self._tensors[key] = list(value_faults(message, constant))
        return faults


def _finding(fault: Fault, path: Path) -> Finding:
    return Finding((*path, fault.field) if fault.field else path, fault.code, fault.message, severity=fault.severity)


# ---- types


def type_faults(message: ValueType) -> Iterator[Fault]:
    """What is wrong with a type."""
    kind = message.WhichOneof("type")
    if kind == "tensorType":
        yield from _tensor_faults(message.tensorType)
    elif kind == "listType":
        yield from type_faults(message.listType.type)
    elif kind == "tupleType":
        for part in message.tupleType.types:
            yield from type_faults(part)
    elif kind == "dictionaryType":
        yield from type_faults(message.dictionaryType.keyType)
        yield from type_faults(message.dictionaryType.valueType)
    elif kind == "stateType":
        yield from _state_faults(message.stateType.wrappedType)
    else:
        yield Fault("MIL616", "a type is missing here")


def _state_faults(wrapped: ValueType) -> Iterator[Fault]:
    if wrapped.WhichOneof("type") in ("tensorType", None):
        yield from type_faults(wrapped)
    else:
        yield Fault("MIL618", "a state holds a tensor, nothing else")


def _tensor_faults(tensor: TensorType) -> Iterator[Fault]:
    if tensor.dataType not in BY_NUMBER:
        yield Fault("MIL616", f"the schema has no data type of the number {tensor.dataType}")
    dimensions = tensor.dimensions
    if tensor.rank != len(dimensions) and (tensor.rank != -1 or dimensions):
        yield Fault("MIL610", f"the rank is {tensor.rank}, but {counted(len(dimensions), 'dimension')} are given")
    if any(dimension.WhichOneof("dimension") is None for dimension in dimensions):
        yield Fault("MIL616", "a dimension is neither a size nor unknown")


def unknown_dimensions(message: ValueType) -> bool:
    """Whether a type leaves something about the shape of its tensors open."""
    kind = message.WhichOneof("type")
    if kind == "tensorType":
        tensor = message.tensorType
        return tensor.rank == -1 or any(size.WhichOneof("dimension") == "unknown" for size in tensor.dimensions)
    if kind == "listType":
        return unknown_dimensions(message.listType.type) or message.listType.length.HasField("unknown")
    if kind == "tupleType":
        return any(map(unknown_dimensions, message.tupleType.types))
    if kind == "dictionaryType":
        dictionary = message.dictionaryType
        return unknown_dimensions(dictionary.keyType) or unknown_dimensions(dictionary.valueType)
    return False


# ---- values


def value_faults(value: Value, constant: bool) -> Iterator[Fault]:
    """What is wrong with a value; `constant`: its type may leave nothing unknown."""
    faults = list(type_faults(value.type))
    if faults:
        yield from (fault._replace(field="type") for fault in faults)
        return
    if constant and unknown_dimensions(value.type):
        yield Fault("MIL611", UNKNOWN_SIZE, "type")
    yield from _content_faults(value)


def _content_faults(value: Value) -> Iterator[Fault]:
    member = value.WhichOneof("value")
    if member == "blobFileValue" and value.blobFileValue.fileName.startswith(MARK):
        return
    if member == "blobFileValue":
        yield from _blob_faults(value)
    elif member is not None:
        yield from _immediate_faults(value)
    elif not _is_empty_list(value.type):
        yield Fault("MIL617", "this value holds nothing: no immediate value, and none in a file")


def _is_empty_list(message: ValueType) -> bool:
    """Whether nothing is what a value of the type holds: coremltools writes an empty list so."""
    return message.HasField("listType") and message.listType.length.constant.size == 0


def _blob_faults(value: Value) -> Iterator[Fault]:
    blob = value.blobFileValue
    if not blob.fileName:
        yield Fault("MIL614", "this BLOBFILE names no file")
    if blob.offset < ALIGNMENT:
        message = f"no record begins at the offset {blob.offset}: the header takes the first {ALIGNMENT} bytes"
        yield Fault("MIL614", message)
    elif blob.offset % ALIGNMENT:
        message = f"records begin at multiples of {ALIGNMENT}; {blob.offset} is none"
        yield Fault("MIL614", message, None, "warning")  # hand-written programs with such offsets are said to compile
    if value.type.WhichOneof("type") != "tensorType":
        yield Fault("MIL613", "a weight file holds tensors, nothing else", "type")
    elif (dtype := BY_NUMBER[value.type.tensorType.dataType]).blob is None:
        yield Fault("MIL615", f"a weight file cannot hold {dtype.name}", "type")


_KINDS = {"tensor": "tensorType", "list": "listType", "tuple": "tupleType", "dictionary": "dictionaryType"}


def _immediate_faults(value: Value) -> Iterator[Fault]:
    immediate, kind = value.immediateValue, value.type.WhichOneof("type")
    member = immediate.WhichOneof("value")
    if member is None:
        yield Fault("MIL617", "this value holds nothing: an immediate value without content")
    elif _KINDS[member] != kind:
        yield Fault("MIL613", f"the value is a {member}, its type is a {str(kind).removesuffix('Type')}")
    elif member == "tensor":
        yield from _tensor_value_faults(immediate.tensor, value.type.tensorType)
    else:
        yield from _container_faults(value, member)


def _tensor_value_faults(tensor: TensorValue, tensor_type: TensorType) -> Iterator[Fault]:
    field, dtype = tensor.WhichOneof("value"), BY_NUMBER[tensor_type.dataType]
    if field is None:
        yield Fault("MIL617", "this value holds nothing: a tensor without values")
        return
    held = len(getattr(tensor, field).values)
    sizes = [size.constant.size for size in tensor_type.dimensions if size.WhichOneof("dimension") == "constant"]
    if len(sizes) == len(tensor_type.dimensions) and tensor_type.rank >= 0:
        yield from _count_faults(math.prod(sizes), held, field, dtype)
    if field != dtype.field:
        message = f"values of {dtype.name} usually stand in `{dtype.field}`; these are in `{field}`"
        yield Fault("MIL619", message, None, "warning")


def _count_faults(count: int, held: int, field: str, dtype: DType) -> Iterator[Fault]:
    if field != "bytes":
        if held != count:
            yield Fault("MIL612", f"the type says {counted(count, 'element')}, the value has {held}")
    elif held != (size := -(-count * dtype.bits // 8)):
        room = f"{counted(count, 'element')} of {dtype.name} take {counted(size, 'byte')}, the value has {held}"
        packed = [bits for bits in (1, 2, 3, 4, 6) if dtype.bits == 8 and held == -(-count * bits // 8)]
        if packed:  # some writers pack elements and keep the type of whole bytes
            yield Fault("MIL612", f"{room}: they seem packed, {packed[0]} bits each", None, "warning")
        else:
            yield Fault("MIL612", room)


def _container_faults(value: Value, member: str) -> Iterator[Fault]:
    if member == "dictionary":
        key, kept = value.type.dictionaryType.keyType, value.type.dictionaryType.valueType
        pairs = value.immediateValue.dictionary.values
        elements = [(part, implied) for pair in pairs for part, implied in ((pair.key, key), (pair.value, kept))]
    elif member == "list":
        length, values = value.type.listType.length, value.immediateValue.list.values
        if length.WhichOneof("dimension") == "constant" and length.constant.size != len(values):
            yield Fault("MIL612", f"the type says {counted(length.constant.size, 'value')}, the list has {len(values)}")
        elements = [(element, value.type.listType.type) for element in values]
    else:
        types, values = value.type.tupleType.types, value.immediateValue.tuple.values
        if len(types) != len(values):
            yield Fault("MIL612", f"the type says {counted(len(types), 'value')}, the tuple has {len(values)}")
        elements = list(zip(values, types))  # noqa: B905  # a difference was just told
    for element, implied in elements:
        yield from _element_faults(element, implied)


def _element_faults(element: Value, implied: ValueType) -> Iterator[Fault]:
    if not compatible(read_type(implied), read_type(element.type)):
        yield Fault("MIL613", "an element is of another type than its container says")
    else:
        yield from (fault._replace(field=None) for fault in value_faults(element, False))
