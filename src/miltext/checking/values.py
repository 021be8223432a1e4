"""Checks of types and values: types are complete, and values match their types.

The rules are stated in the comments of Apple's `MIL.proto`; coremltools' blob storage format, version 2, determines the
data types that a weight file can contain, and the possible places of a record in it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, counted, named
from miltext.checking.inference.reading import Constant
from miltext.checking.sizes import GREATEST, WAY_OUT, greatest_size, too_large
from miltext.diagnostics import codes
from miltext.ir.functions import Block
from miltext.parsing.lowering.left_out import MARK
from miltext.schema.dtypes import BY_NUMBER, DType
from miltext.schema.operations import first_opset
from miltext.schema.paths import Key, Path, block_path
from miltext.schema.types import StateType, compatible, read_type
from miltext.schema.types import TensorType as Tensor
from miltext.weight_files.blob_storage import ALIGNMENT
from miltext.weight_files.paths import MODEL_PATH, escape

if TYPE_CHECKING:
    from miltext.checking.arrays import Arrays
    from miltext.checking.inference.reading import Binding, Form, StatedGraph, StatedType
    from miltext.ir.parts import Op, Value
    from miltext.schema import proto
    from miltext.schema.proto import TensorType, TensorValue, ValueType

ATTRIBUTES = frozenset({"name"})
"""The attributes of every operation. No known operation has a parameter of such a name."""

UNKNOWN_SIZE = "the type of a constant has an unknown dimension"


def value_findings(graph: StatedGraph, arrays: Arrays | None = None) -> list[Finding]:
    """Return the errors in the types and values of a Program; the `arrays` are the ones named in its text."""
    contents = _Contents(graph, arrays)
    contents.program()
    return contents.found


class _Contents:
    """A walk over all types and values that caches its findings about equal types and values."""

    def __init__(self, graph: StatedGraph, arrays: Arrays | None) -> None:
        self.graph = graph
        self.found: list[Finding] = []
        self.arrays = arrays
        self.type = functools.cache(lambda stated: [] if _is_whole(stated) else list(_check_type(stated.message)))
        self.is_too_large = functools.cache(lambda stated: greatest_size(stated.type) > GREATEST)
        self.is_open = functools.cache(lambda stated: not _is_whole(stated) and _is_open(stated.message))
        self._tensors: dict[tuple[Form | None, bool], list[Finding]] = {}
        self._files: set[tuple[StatedType, str, bool]] = set()
        self._right: set[tuple[StatedType | None, StatedType]] = set()
        self._has_too_large = False

    def program(self) -> None:
        self.attributes(self.graph.own_attributes, ())
        for name, function in self.graph.functions.items():
            path = ("functions", Key(name))
            self.attributes(self.graph.attributes[function], path)
            self.declared(function.inputs, (*path, "inputs"))
            for opset, block in function.blocks.items():
                for place, part in block.parts(block_path(name, opset)):
                    self.part(part, place)

    def part(self, part: Block | Op, path: Path) -> None:
        """Check a block or an operation at a path."""
        attributes = self.graph.attributes[part]
        if isinstance(part, Block):
            self.attributes(attributes, path)
            self.declared(part.inputs, (*path, "inputs"))
            return
        if part.inputs:
            self.inputs(part, path)
        self.outputs(part, path)
        self.attributes(attributes, path, "val")

    def inputs(self, op: Op, path: Path) -> None:
        """Check the arguments of the operation at `path`."""
        bound = self.graph.inputs[op]
        if bound is not op.inputs:  # it has more than names
            for name, bindings in bound.items():
                self.bindings(name, bindings, path)
        if op.type == "const" or not ATTRIBUTES.isdisjoint(op.inputs):
            self.attributes_as_inputs(op, path)

    def bindings(self, name: str, bindings: Iterable[Binding], path: Path) -> None:
        """Check the constants bound to an argument of the operation at `path`."""
        for index, binding in enumerate(bindings):
            if isinstance(binding, Constant):
                if found := self.value(binding, True):
                    self.add(found, (*path, "inputs", Key(name), "arguments", index, "value"))
            elif binding is None:
                message = "this argument is bound to nothing: neither to a name nor to a value"
                self.found.append(
                    Finding((*path, "inputs", Key(name), "arguments", index), codes.MISSING_VALUE, message)
                )

    def attributes(self, attributes: Mapping[str, Constant], path: Path, constant: str = "") -> None:
        """Check the attributes of the message at `path`; the attribute named by `constant` cannot have unknown
        sizes.
        """
        tensors = self._tensors
        for name, value in attributes.items():
            is_constant = name == constant
            found = tensors.get((value.form, is_constant))
            if found is None:
                found = self.value(value, is_constant)
            if found:
                self.add(found, (*path, "attributes", Key(name)))

    def attributes_as_inputs(self, op: Op, path: Path) -> None:
        """Report attributes among the inputs of the operation at `path`, if the operation is known."""
        if first_opset(op.type) is None:
            return
        own, others = ({"val"}, "") if op.type == "const" else (set(), "...")
        for name in sorted(op.inputs.keys() & (ATTRIBUTES | own)):
            message = f"`{name}` of `{op.type}` is an attribute; write `{op.type}({others})[{name} = ...]`"
            self.found.append(Finding((*path, "inputs", Key(name), "key"), codes.ATTRIBUTE_AS_ARGUMENT, message))

    def declared(self, values: Iterable[Value], path: Path) -> None:
        """Check the types of inputs or outputs."""
        for index, value in enumerate(values):
            stated = self.graph.stated[value]
            if found := self.type(stated):
                self.add(found, (*path, index, "type"))
            if not self._has_too_large and self.is_too_large(stated):
                self._has_too_large = True  # others follow from the first
                message = f"{too_large(f'{named(value.name)} has', greatest_size(stated.type))}; {WAY_OUT}"
                self.found.append(Finding((*path, index, "type"), codes.IMPOSSIBLE_PACKAGE_SIZE, message))

    def outputs(self, op: Op, path: Path) -> None:
        """Check the types of outputs: none is a state; a `const` has no open size that its value settles."""
        value = self.graph.attributes[op].get("val") if op.type == "const" else None
        held = None if value is None else value.stated
        types = [(held, self.graph.stated[output]) for output in op.outputs]
        if self._right.issuperset(types):
            return
        path, before = (*path, "outputs"), len(self.found)
        self.declared(op.outputs, path)
        settled = held is not None and not self.is_open(held)
        for index, (_, stated) in enumerate(types):
            if isinstance(stated.type, StateType):
                message = "an operation cannot make a state: a state is an input of the function"
                self.found.append(Finding((*path, index, "type"), codes.MISPLACED_STATE, message))
            if settled and self.is_open(stated):
                self.found.append(Finding((*path, index, "type"), codes.CONSTANT_OF_UNKNOWN_SIZE, UNKNOWN_SIZE))
        if len(self.found) == before:
            self._right.update(types)

    def add(self, found: Iterable[Finding], path: Path) -> None:
        """Add findings about a message at `path`, whose own paths begin there."""
        self.found += [finding._replace(path=path + finding.path) for finding in found]

    def value(self, value: Constant, constant: bool) -> list[Finding]:
        """Return the errors of a value; for a tensor, they depend on type, field and number of elements."""
        form = value.form
        if form is None:
            return self.content(value, constant)
        known = self._tensors.get((form, constant))
        if known is None:
            known = self._tensors[form, constant] = list(_check_value(value.message, constant))
        return known

    def content(self, value: Constant, constant: bool) -> list[Finding]:
        """Return the errors of a value other than a tensor in the Program itself."""
        blob = value.message.blobFileValue
        key = value.stated, blob.fileName, constant
        is_placed = blob.offset >= ALIGNMENT and blob.offset % ALIGNMENT == 0
        if is_placed and key in self._files:
            return []
        settled = not self.type(value.stated) and not (constant and self.is_open(value.stated))
        found = list(_check_content(value.message) if settled else _check_value(value.message, constant))
        if found or blob.fileName.startswith(MARK):
            return found or (self.arrays.typed(value.message, ()) if self.arrays else [])
        if is_placed:
            self._files.add(key)
        return []


def _fault(code: str, message: str, *path: str, severity: str = "error") -> Finding:
    """Return a finding about a type or a value; `path` leads from it to the faulty part."""
    return Finding(path, code, message, severity=severity)


# ---- types


def _parts(message: ValueType) -> list[ValueType]:
    """Return the types inside the type of a container; a state is not a container."""
    kind = message.WhichOneof("type")
    if kind == "listType":
        return [message.listType.type]
    if kind == "dictionaryType":
        return [message.dictionaryType.keyType, message.dictionaryType.valueType]
    return list(message.tupleType.types) if kind == "tupleType" else []


def _is_whole(stated: StatedType) -> bool:
    """Return whether a type is a completely known tensor type: it has no errors."""
    return isinstance(stated.type, Tensor) and None not in stated.type.shape


def _check_type(message: ValueType) -> Iterator[Finding]:
    kind = message.WhichOneof("type")
    if kind is None:
        yield _fault(codes.INCOMPLETE_TYPE, "a type is missing here")
    elif kind == "tensorType":
        yield from _check_tensor_type(message.tensorType)
    elif kind == "stateType":
        wrapped = message.stateType.wrappedType
        if wrapped.WhichOneof("type") in ("tensorType", None):
            yield from _check_type(wrapped)
        else:
            yield _fault(codes.MISPLACED_STATE, "a state contains a tensor and nothing else")
    for part in _parts(message):
        yield from _check_type(part)


def _check_tensor_type(tensor: TensorType) -> Iterator[Finding]:
    dimensions = tensor.dimensions
    if tensor.dataType not in BY_NUMBER:
        yield _fault(codes.INCOMPLETE_TYPE, f"{tensor.dataType} is not the number of a data type of the schema")
    if tensor.rank != len(dimensions) and (tensor.rank != -1 or dimensions):
        yield _fault(
            codes.WRONG_RANK, f"the rank is {tensor.rank}, but the type has {counted(len(dimensions), 'dimension')}"
        )
    if any(dimension.WhichOneof("dimension") is None for dimension in dimensions):
        yield _fault(codes.INCOMPLETE_TYPE, "a dimension is neither a size nor unknown")


def _is_open(message: ValueType) -> bool:
    """Return whether a type leaves a part of its tensors' shape open."""
    tensor, length = message.tensorType, message.listType.length
    sizes = [length, *tensor.dimensions]
    unknown = tensor.rank == -1 or any(size.WhichOneof("dimension") == "unknown" for size in sizes)
    return unknown or any(map(_is_open, _parts(message)))


# ---- values


def _check_value(value: proto.Value, constant: bool) -> Iterator[Finding]:
    """Check a value; for `constant`, its type must be fully known."""
    wrong = [finding._replace(path=("type",)) for finding in _check_type(value.type)]
    yield from wrong
    if not wrong:
        if constant and _is_open(value.type):
            yield _fault(codes.CONSTANT_OF_UNKNOWN_SIZE, UNKNOWN_SIZE, "type")
        yield from _check_content(value)


def _check_content(value: proto.Value) -> Iterator[Finding]:
    member = value.WhichOneof("value")
    if member == "immediateValue":
        yield from _check_immediate(value)
    elif member is None and not _is_empty_list(value.type):
        yield _fault(codes.MISSING_VALUE, "this value is empty: it has no immediate value, and none in a file")
    elif member == "blobFileValue" and not value.blobFileValue.fileName.startswith(MARK):
        yield from _check_blob(value)


def _is_empty_list(message: ValueType) -> bool:
    """Return whether values of the type are empty lists, in coremltools' form."""
    return message.HasField("listType") and message.listType.length.constant.size == 0


def _check_blob(value: proto.Value) -> Iterator[Finding]:
    blob = value.blobFileValue
    if not blob.fileName:
        yield _fault(codes.INVALID_BLOBFILE, "this BLOBFILE does not name a file")
    elif (reason := escape(blob.fileName)) is not None:
        message = f"the path of this BLOBFILE {reason}; name a file in the model: `{MODEL_PATH}/weights/weight.bin`"
        yield _fault(codes.INVALID_BLOBFILE, message)
    if blob.offset < ALIGNMENT:
        message = f"a record cannot begin at the offset {blob.offset}: the header takes the first {ALIGNMENT} bytes"
        yield _fault(codes.INVALID_BLOBFILE, message)
    elif blob.offset % ALIGNMENT:
        message = f"records begin at multiples of {ALIGNMENT}, and {blob.offset} is not one"
        yield _fault(
            codes.INVALID_BLOBFILE, message, severity="warning"
        )  # hand-written programs like this reportedly compile
    if value.type.WhichOneof("type") != "tensorType":
        yield _fault(codes.VALUE_TYPE_MISMATCH, "a weight file contains only tensors", "type")
    elif (dtype := BY_NUMBER[value.type.tensorType.dataType]).blob is None:
        yield _fault(codes.DTYPE_NOT_IN_WEIGHT_FILES, f"a weight file cannot hold {dtype.name}", "type")


_KINDS = {"tensor": "tensorType", "list": "listType", "tuple": "tupleType", "dictionary": "dictionaryType"}


def _check_immediate(value: proto.Value) -> Iterator[Finding]:
    immediate, kind = value.immediateValue, value.type.WhichOneof("type")
    member = immediate.WhichOneof("value")
    if member is None:
        yield _fault(codes.MISSING_VALUE, "this value is empty: it is an immediate value without content")
    elif _KINDS[member] != kind:
        yield _fault(
            codes.VALUE_TYPE_MISMATCH, f"the value is a {member}, its type is a {str(kind).removesuffix('Type')}"
        )
    elif member == "tensor":
        yield from _check_tensor(immediate.tensor, value.type.tensorType)
    else:
        yield from _check_container(value, member)


def _check_tensor(tensor: TensorValue, tensor_type: TensorType) -> Iterator[Finding]:
    field, dtype = tensor.WhichOneof("value"), BY_NUMBER[tensor_type.dataType]
    if field is None:
        yield _fault(codes.MISSING_VALUE, "this value is empty: it is a tensor without values")
        return
    held = len(getattr(tensor, field).values)
    sizes = [size.constant.size for size in tensor_type.dimensions if size.WhichOneof("dimension") == "constant"]
    if len(sizes) == len(tensor_type.dimensions) and tensor_type.rank >= 0:
        yield from _check_count(math.prod(sizes), held, field, dtype)
    if field != dtype.field:
        message = f"values of {dtype.name} belong in `{dtype.field}`; these are in `{field}`"
        yield _fault(codes.UNUSUAL_FIELD, message, severity="warning")


def _check_count(count: int, held: int, field: str, dtype: DType) -> Iterator[Finding]:
    if field != "bytes":
        yield from _check_length(count, held, "element", "value")
    elif held != (size := -(-count * dtype.bits // 8)):
        room = f"{counted(count, 'element')} of {dtype.name} take {counted(size, 'byte')}, the value has {held}"
        packed = [bits for bits in (1, 2, 3, 4, 6) if dtype.bits == 8 and held == -(-count * bits // 8)]
        if packed:  # some writers pack elements and keep the type of whole bytes
            yield _fault(
                codes.WRONG_ELEMENT_COUNT, f"{room}: they seem packed, {packed[0]} bits each", severity="warning"
            )
        else:
            yield _fault(codes.WRONG_ELEMENT_COUNT, room)


def _check_length(count: int, held: int, noun: str, holder: str) -> Iterator[Finding]:
    if held != count:
        yield _fault(codes.WRONG_ELEMENT_COUNT, f"the type declares {counted(count, noun)}, the {holder} has {held}")


def _check_container(value: proto.Value, member: str) -> Iterator[Finding]:
    immediate, types = value.immediateValue, _parts(value.type)
    if member == "dictionary":
        key, kept = types
        pairs = immediate.dictionary.values
        elements = [each for pair in pairs for each in ((pair.key, key), (pair.value, kept))]
    elif member == "list":
        length, values = value.type.listType.length, immediate.list.values
        if length.WhichOneof("dimension") == "constant":
            yield from _check_length(length.constant.size, len(values), "value", "list")
        elements = [(element, types[0]) for element in values]
    else:
        values = immediate.tuple.values
        yield from _check_length(len(types), len(values), "value", "tuple")
        elements = list(zip(values, types))  # noqa: B905  # a difference was just reported
    for element, implied in elements:
        if compatible(read_type(implied), read_type(element.type)):
            yield from (finding._replace(path=()) for finding in _check_value(element, False))
        else:
            yield _fault(codes.VALUE_TYPE_MISMATCH, "an element's type differs from the type in its container")
