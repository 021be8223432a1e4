"""Printing of a Program as MIL text that reads back equal, in the layout of Apple's compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from miltext.diagnostics import Note, PrintError, codes, error
from miltext.printing.tensors import PLAIN, Style, field_literal, usual_literal
from miltext.schema.dtypes import BY_NUMBER, DType
from miltext.schema.fields import STRING_HEAD, STRING_HEADS
from miltext.schema.opsets import DIALECTS
from miltext.syntax.literals import quote
from miltext.syntax.names import DRAFT, name_text, opset_text

if TYPE_CHECKING:
    from miltext.schema import proto

    Typed: TypeAlias = proto.NamedValueType | proto.Value | proto.ListType | proto.DictionaryType | proto.StateType

FUNCTION, OPERATION, CLOSING = " " * 4, " " * 12, " " * 8
"""Apple's indents: a function, the operations of its block, and the line that closes the block."""

BlockLines: TypeAlias = "list[str | proto.Operation]"
"""The operations of a block: text, or a message yet to be printed."""

Lines = dict[tuple[str, str], BlockLines]
"""The operations of each block, by its function's name and its opset."""


class TypeText(NamedTuple):
    """A type as text, with the facts on which its literals depend.

    `shape` is None if no plain literal can be nested like the type: rank and dimensions disagree, a dimension is
    neither a size nor `?`, or several are `?`. `wire` is the ValueType, None if absent.
    """

    text: str
    wire: bytes | None
    kind: str | None = None
    dtype: DType | None = None
    shape: tuple[int | None, ...] | None = None
    parts: tuple[TypeText, ...] = ()
    length: int | None = None


class Printer:
    """Prints messages as text in one style.

    Maps are sorted by key; Python's order of strings is the order of their UTF-8 bytes.
    """

    def __init__(self, style: Style = PLAIN) -> None:
        dialect, floats, _, strict = style
        if dialect not in DIALECTS:
            raise ValueError(f"unknown dialect {dialect!r}: choose {' or '.join(DIALECTS)}")
        if floats not in ("hex", "decimal"):
            raise ValueError(f"unknown form of floats {floats!r}: choose 'hex' or 'decimal'")
        self._dialect = dialect
        self._style = style
        self._strict = strict
        self.name: Callable[[str], str] = self._strict_name if strict else name_text
        self.marker = ""
        self._types: dict[bytes, TypeText] = {}
        self._values: dict[bytes, str] = {}
        self._scalar = "{}(" if dialect == "1.3" else "tensor<{}, []>("
        self.string_start = self._scalar.format("string")

    @property
    def size(self) -> int:
        """The number of cached types and values."""
        return len(self._types) + len(self._values)

    def _ours(self, text: str, what: str) -> str:
        """Return a spelling of miltext's own, if it is allowed."""
        if self._strict:
            raise PrintError([error(codes.NOT_APPLE_SYNTAX, f"Apple's syntax cannot express {what}")])
        return text

    # ---- names

    def _strict_name(self, name: str) -> str:
        text = name_text(name)
        return text if text[0] != "$" else self._ours(text, f"the name {quote(name)}")

    def _opset(self, opset: str) -> str:
        """Return `ios18` for CoreML8."""
        text = opset_text(opset)
        return text if text[0] != "$" else self._ours(text, f"an opset that is {quote(opset)} in the proto")

    # ---- the program and its functions

    def program(self, program: proto.Program, lines: Lines | None = None) -> Iterable[str]:
        """Yield the text of a Program, in pieces. `lines` has the operations of its blocks, if the message lacks
        them.
        """
        head = f"program({self._dialect}){self.marker}"
        if program.version != 1:
            head += self._ours(f" $version({program.version})", f"Program.version {program.version}")
        if program.docString:
            head += self._ours(f" $doc({quote(program.docString)})", "a Program's docString")
        yield head + "\n"
        if program.attributes:
            yield self._attributes(program.attributes) + "\n"
        yield "{\n"
        for name in sorted(program.functions):
            yield from self._function(name, program.functions[name], lines)
        yield "}"

    def _function(self, name: str, function: proto.Function, lines: Lines | None = None) -> Iterable[str]:
        opset = f"<{self._opset(function.opset)}>" if function.opset else ""
        head = f"{FUNCTION}func {self.name(name)}{opset}{self._parameters(function.inputs)}"
        yield f"{head} {self._attributes(function.attributes)}" if function.attributes else head
        blocks, lines = function.block_specializations, lines or {}
        own = blocks.get(function.opset)
        if own is not None and not own.inputs:
            yield " "
            yield from self._block(own, CLOSING, lines.get((name, function.opset)))
        else:
            own = None
            if not blocks:
                yield self._ours(" $none", "a function without a block")
        for key in sorted(blocks):
            if own is None or key != function.opset:
                opset = self._opset(key) if key else self._ours('$""', "a block without an opset")
                yield self._ours(
                    f"\n{CLOSING}$block<{opset}>", "a block of another opset than the function's, or its inputs"
                )
                yield (self._parameters(blocks[key].inputs) if blocks[key].inputs else "") + " "
                yield from self._block(blocks[key], CLOSING, lines.get((name, key)))
        yield ";\n"

    def _parameters(self, inputs: Iterable[proto.NamedValueType]) -> str:
        return f"({', '.join([self._named_value(value) for value in inputs])})"

    def _named_value(self, value: proto.NamedValueType) -> str:
        return f"{self.type_of(value, 'type').text} {self.name(value.name)}"

    def _block(self, block: proto.Block, closing: str, lines: BlockLines | None = None) -> Iterable[str]:
        yield "{\n"
        indent = OPERATION if closing == CLOSING else closing + "    "
        for operation in block.operations if lines is None else lines:
            yield operation if isinstance(operation, str) else self._located(operation, indent)
        yield f"{closing}}} -> ({', '.join([self.name(name) for name in block.outputs])})"
        if block.attributes:
            yield self._ours(f" ${self._attributes(block.attributes)}", "a block's attributes")

    def _located(self, operation: proto.Operation, indent: str) -> str:
        """Return an operation. An error names the innermost operation around it."""
        try:
            return self._operation(operation, indent)
        except PrintError as failure:
            raise _inside(failure, operation) from None

    def _operation(self, operation: proto.Operation, indent: str) -> str:
        results = ", ".join([self._named_value(output) for output in operation.outputs])
        name, inputs = self._operator(operation.type), operation.inputs
        arguments = ", ".join([f"{self.name(key)} = {self._argument(inputs[key])}" for key in sorted(inputs)])
        attributes = self._attributes(operation.attributes) if operation.attributes else ""
        text = f"{indent}{results}{' = ' if results else ''}{name}({arguments}){attributes}"
        for block in operation.blocks:
            inner = "".join(self._block(block, indent + "    "))
            text += f"\n{indent}    {self._parameters(block.inputs)} {inner}"
        return text + ";\n"

    def _operator(self, op_type: str) -> str:
        """Return the name of an operation."""
        name = self.name(op_type)
        return name if name != DRAFT else self._ours(f"${quote(DRAFT)}", f"the name {quote(DRAFT)} of an operation")

    # ---- arguments and attributes

    def _argument(self, argument: proto.Argument) -> str:
        bindings = argument.arguments
        if len(bindings) == 1:
            return self._binding(bindings[0])
        return f"({', '.join([self._binding(binding) for binding in bindings])})"

    def _binding(self, binding: proto.Argument.Binding) -> str:
        name = binding.name
        if name:
            return self.name(name)
        member = binding.WhichOneof("binding")
        if member == "value":
            return self.value(binding.value)
        if member == "name":
            return self.name("")
        return self._ours("$unset", "a binding to nothing")

    def _attributes(self, attributes: Mapping[str, proto.Value]) -> str:
        """`[name = string("y")]`"""
        names = sorted(attributes)
        return f"[{', '.join([f'{self.name(name)} = {self.value(attributes[name])}' for name in names])}]"

    # ---- types

    def type_of(self, message: Typed, field: str) -> TypeText:
        """Return the type in a field of a message, absent ones included."""
        value_type: proto.ValueType = getattr(message, field)
        wire = value_type.SerializeToString(deterministic=True)
        known = self._types.get(wire)
        if known is not None:
            return known
        if not wire:
            return self._missing_type(message.HasField(field))
        made = self._types[wire] = self._type(value_type, wire)
        return made

    def _missing_type(self, present: bool) -> TypeText:
        word = "$empty" if present else "$absent"
        return TypeText(self._ours(word, "a missing type"), b"" if present else None)

    def _part(self, value_type: proto.ValueType) -> TypeText:
        """Return a type in a repeated field, where it is always present."""
        wire = value_type.SerializeToString(deterministic=True)
        return self._type(value_type, wire) if wire else self._missing_type(True)

    def _type(self, value_type: proto.ValueType, wire: bytes) -> TypeText:
        member = value_type.WhichOneof("type")
        if member == "tensorType":
            return self._tensor_type(value_type.tensorType, wire)
        if member == "listType":
            element, length = self.type_of(value_type.listType, "type"), self._length(value_type.listType)
            return TypeText(f"list<{element.text}, {length}>", wire, "list", parts=(element,), length=_size(length))
        if member == "tupleType":
            parts = tuple([self._part(part) for part in value_type.tupleType.types])
            return TypeText(f"tuple<{', '.join([part.text for part in parts])}>", wire, "tuple", parts=parts)
        if member == "dictionaryType":
            key, value = (self.type_of(value_type.dictionaryType, field) for field in ("keyType", "valueType"))
            return TypeText(f"dict<{key.text}, {value.text}>", wire, "dictionary", parts=(key, value))
        wrapped = self.type_of(value_type.stateType, "wrappedType")
        return TypeText(f"state<{wrapped.text}>", wire, "state", parts=(wrapped,))

    def _tensor_type(self, tensor: proto.TensorType, wire: bytes) -> TypeText:
        dtype = BY_NUMBER.get(tensor.dataType)
        word = dtype.name if dtype else self._ours(f"${tensor.dataType}", f"the data type {tensor.dataType}")
        dimensions = [self._dimension(dimension) for dimension in tensor.dimensions]
        extra = ""
        if tensor.rank != len(dimensions):
            extra += self._ours(f", $rank({tensor.rank})", "a rank that is not the number of dimensions")
        if tensor.attributes:
            extra += self._ours(f", ${self._attributes(tensor.attributes)}", "a tensor type's attributes")
        shape = None
        if tensor.rank == len(dimensions) and all(text[0] != "$" for text in dimensions) and dimensions.count("?") < 2:
            shape = tuple(_size(text) for text in dimensions)
        if not dimensions and not extra and self._dialect == "1.3":
            return TypeText(word, wire, "tensor", dtype, shape)
        return TypeText(f"tensor<{word}, [{', '.join(dimensions)}]{extra}>", wire, "tensor", dtype, shape)

    def _dimension(self, dimension: proto.Dimension) -> str:
        member = dimension.WhichOneof("dimension")
        if member == "constant":
            return str(dimension.constant.size)
        if member == "unknown":
            return self._ours("$variadic", "a variadic dimension") if dimension.unknown.variadic else "?"
        return self._ours("$empty", "an empty dimension")

    def _length(self, list_type: proto.ListType) -> str:
        if list_type.HasField("length"):
            return self._dimension(list_type.length)
        return self._ours("$absent", "a list without a length")

    # ---- values

    def value(self, value: proto.Value) -> str:
        """`int32(1)`"""
        wire = value.SerializeToString(deterministic=True)
        if wire[:STRING_HEAD] == STRING_HEADS.get(len(wire) - STRING_HEAD):  # half of all are an operation's name
            return f"{self.string_start}{quote(wire[STRING_HEAD:].decode())})"
        if len(wire) > 64:
            return self.long_value(value)
        known = self._values.get(wire)
        if known is None:
            known = self._values[wire] = self.long_value(value)
        return known

    def long_value(self, value: proto.Value) -> str:
        """Return a Value without using the cache of printed Values."""
        value_type = self.type_of(value, "type")
        doc = value.docString
        marked = self._ours(f"$doc({quote(doc)}) ", "a Value's docString") if doc else ""
        return f"{marked}{value_type.text}({self._raw(value, value_type)})"

    def literal(self, value: proto.Value) -> str:
        """Return the text in the parentheses after the type of a Value."""
        return self._raw(value, self.type_of(value, "type"))

    def _raw(self, value: proto.Value, value_type: TypeText) -> str:
        """Return the text in the parentheses after a value's type."""
        member = value.WhichOneof("value")
        if member == "blobFileValue":
            blob = value.blobFileValue
            return self._blob(blob.fileName, blob.offset)
        if member is None:
            return self._ours("$unset", "a Value without a value")
        immediate = value.immediateValue
        kind = immediate.WhichOneof("value")
        if kind == "tensor":
            return self._tensor(immediate.tensor, value_type)
        if kind is None:
            return self._ours("$empty", "an immediate value without a value")
        return self._container(kind, getattr(immediate, kind).values, value_type)

    def _blob(self, path: str, offset: int) -> str:
        return f"{self.blob_start(path)}{offset}))"

    def blob_start(self, path: str) -> str:
        """`BLOBFILE(path = string("..."), offset = uint64(`, to be followed by the offset and two parentheses."""
        return f"BLOBFILE(path = {self.string_start}{quote(path)}), offset = {self._scalar.format('uint64')}"

    def _tensor(self, tensor: proto.TensorValue, value_type: TypeText) -> str:
        field = tensor.WhichOneof("value")
        if field is None:
            return self._ours("$tensor", "a tensor without values")
        text = usual_literal(tensor, value_type.dtype, value_type.shape, self._style)
        if text is None:
            return self._ours(f"${field}({field_literal(tensor, field, self._style)})", f"values in `{field}` here")
        is_ours = text[0] == "$" or (field != "strings" and "$" in text)
        return self._ours(text, "this literal") if is_ours else text

    def _container(self, kind: str, values: Sequence[Any], value_type: TypeText) -> str:
        parts = value_type.parts if kind == value_type.kind else ()
        count = len(parts) if kind == "tuple" else value_type.length
        fits = kind == value_type.kind and count in (None, len(values))
        marker = "" if fits else self._ours(f"${kind}", f"a {kind} of that many values, or under this type")
        if kind == "dictionary":
            return f"{marker}{{{', '.join([self._pair(pair, parts) for pair in values])}}}"
        implied = chain(parts if kind == "tuple" else parts * len(values), repeat(None))
        elements = ", ".join(map(self._element, values, implied))
        return f"{marker}({elements})" if kind == "tuple" else f"{marker}[{elements}]"

    def _pair(self, pair: proto.DictionaryValue.KeyValuePair, parts: Sequence[TypeText]) -> str:
        members = [
            self._element(getattr(pair, field), parts[index] if parts else None)
            if pair.HasField(field)
            else self._ours("$absent", "a pair without a key or value")
            for index, field in enumerate(("key", "value"))
        ]
        return f"{{{', '.join(members)}}}"

    def _element(self, value: proto.Value, implied: TypeText | None) -> str:
        """Return a Value inside another, without its type if the container implies it."""
        own = self.type_of(value, "type")
        if implied is None or own.wire != implied.wire or value.docString:
            return self._ours(f"$value({self.value(value)})", "a type or docString of an element's own")
        return self._raw(value, own)


def _size(text: str) -> int | None:
    return int(text) if text.isdecimal() else None


def _inside(failure: PrintError, operation: proto.Operation) -> PrintError:
    """Return the error with the innermost operation around it."""
    finding = failure.diagnostics[0]
    if finding.notes:
        return failure
    results = ", ".join(name_text(output.name) for output in operation.outputs)
    place = f"in the operation `{name_text(operation.type)}`" + (f" that makes `{results}`" if results else "")
    return PrintError([finding._replace(notes=(Note(place),))])


def type_text(value_type: proto.ValueType | None) -> str:
    """Return a type in MIL text, without fields that the schema lacks."""
    from miltext.schema.proto import NamedValueType

    named = NamedValueType(name="x", type=value_type)
    named.DiscardUnknownFields()
    return Printer().type_of(named, "type").text
