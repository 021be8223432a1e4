"""Lowering of each phrase of MIL text to the wire bytes of its message.

`Lowering` has one method for each rule of the grammar and keeps no state; Lark's own parser takes it as its
transformer, as miltext's loop does. A phrase that no Program can contain raises a `LoweringError`, which names the
token or child at fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes
from miltext.parsing.lowering import values
from miltext.parsing.lowering.blobs import BlobLiteral, DraftBlob, blob_field, blob_message
from miltext.parsing.lowering.errors import INFER, no_dialect
from miltext.parsing.lowering.errors import LoweringError as LoweringError
from miltext.parsing.lowering.maps import Entries, entries, repeated, unique
from miltext.parsing.lowering.markers import marker_error
from miltext.parsing.lowering.names import name_bytes, operation_type, string_bytes, whole_number
from miltext.parsing.lowering.plain import plain_operation, plain_type
from miltext.parsing.lowering.types import (
    ABSENT,
    EMPTY,
    Dimension,
    LoweredType,
    data_type,
    dictionary_type,
    list_type,
    lower_dimension,
    scalar_type,
    state_type,
    tensor_type,
    tuple_type,
)
from miltext.schema import fields
from miltext.schema.opsets import DIALECTS, PROTO_BY_TEXT
from miltext.schema.wire import number_tag, sized, varint
from miltext.syntax.memo import memo

if TYPE_CHECKING:
    from miltext.parsing.lowering.values import Children, Raw
    from miltext.schema.dtypes import DType


@memo(1 << 10)
def opset_bytes(token: str) -> bytes:
    """Return an opset in the spelling of the proto: `ios18` is CoreML8, any other name stays."""
    proto = PROTO_BY_TEXT.get(token)
    return proto.encode() if proto else name_bytes(token)


class OpsetSpelling(NamedTuple):
    """An opset in the spellings of the text and of the proto."""

    token: str
    wire: bytes


_FIELDS = 4
"""The number of children of a program before its fields: `program(1.3)`."""


class Lowering:
    """A callback for each rule of `grammar/mil.lark`; the children are all symbols of the phrase."""

    def program(self, children: Children) -> bytes:
        """`program(1.3) [a = v] { ... }` -> Program"""
        _, _, dialect, _, *members, attributes, _ = children[: children.index("{") + 1]
        if dialect not in DIALECTS:
            raise LoweringError(codes.UNKNOWN_DIALECT, no_dialect(dialect), dialect)
        functions = unique(children[children.index("{") + 1 : -1], "a function")
        for place, (word, _) in enumerate(members):
            if any(word == other for other, _ in members[:place]):
                way = "; write all its words in one: `$draft(names, consts)`" if word == "$draft" else "; remove one"
                raise LoweringError(codes.DUPLICATE_DEFINITION, f"`{word}` may occur once{way}", _FIELDS + place)
        version = b"" if any(field[0] == "$version" for field in members) else number_tag(1) + varint(1)
        own = [field for _, field in members]
        maps = *entries(fields.PROGRAM_ATTRIBUTES, attributes), *entries(fields.PROGRAM_FUNCTIONS, functions)
        return b"".join([version, *own, *maps])

    def program_version(self, children: Children) -> tuple[str, bytes]:
        """`$version(2)`"""
        number = whole_number(children[2], 64, signed=True)
        return "$version", number_tag(1) + varint(number) if number else b""

    def program_doc(self, children: Children) -> tuple[str, bytes]:
        """`$doc("...")`"""
        return "$doc", sized(fields.PROGRAM_DOC, string_bytes(children[2]))

    def draft_marker(self, children: Children) -> tuple[str, bytes]:
        """`$draft(names, consts)`"""
        message = f"a Program cannot contain this: remove it, {INFER}"
        raise marker_error(children) or LoweringError(codes.SHORT_SPELLING, message)

    # ---- functions, blocks, operations

    def function(self, children: Children) -> tuple[str, bytes, bytes]:
        """`func main<ios18>(...) [a = v] { ... } -> (y);` -> its name and Function"""
        _, name, opset, inputs, attributes, bodies, _ = children
        own_opset = opset or OpsetSpelling("", b"")
        blocks = unique([(*(opset or own_opset), body) for opset, body in bodies], "a block")
        own = (
            repeated(fields.FUNCTION_INPUTS, inputs),
            sized(fields.FUNCTION_OPSET, own_opset.wire) if own_opset.wire else b"",
        )
        maps = *entries(fields.FUNCTION_ATTRIBUTES, attributes), *entries(fields.FUNCTION_BLOCKS, blocks)
        return name, name_bytes(name), b"".join([*own, *maps])

    def opset(self, children: Children) -> OpsetSpelling:
        """`<ios18>`"""
        return OpsetSpelling(children[1], opset_bytes(children[1]))

    operation_opset = opset

    def parameters(self, children: Children) -> list[bytes]:
        """`(tensor<fp16, [1]> x, ...)`"""
        return children[1:-1:2]

    def named_value(self, children: Children) -> bytes:
        """`tensor<fp16, [1]> x` -> NamedValueType"""
        value_type: LoweredType = children[0]
        name: str = children[1]
        return sized(fields.NAME, name_bytes(name)) + value_type.field

    def bodies(self, children: Children) -> list[tuple[OpsetSpelling | None, bytes]]:
        """Return the function's blocks, each with its opset, None for the function's own."""
        bodies = [child for child in children if not isinstance(child, str)]
        if len(bodies) != len(children) and bodies:
            raise LoweringError(
                codes.DUPLICATE_DEFINITION,
                "`$none` declares a function without blocks, but blocks follow; remove one of the two",
                0,
            )
        return [body if isinstance(body, tuple) else (None, body) for body in bodies]

    def specialization(self, children: Children) -> tuple[OpsetSpelling, bytes]:
        """`$block<ios17>(...) { ... } -> (y)`"""
        _, opset, inputs, block = children
        return opset, repeated(fields.BLOCK_INPUTS, inputs or ()) + block

    def inner_block(self, children: Children) -> bytes:
        """`(tensor<int32, [1]> i) { ... } -> (y)`"""
        inputs: list[bytes] = children[0]
        block: bytes = children[1]
        return repeated(fields.BLOCK_INPUTS, inputs) + block

    def block(self, children: Children) -> bytes:
        """`{ ... } -> (y)` -> Block"""
        *operations, _, _, outputs, attributes = children
        operations[0] = b""  # for the opening brace
        operations += repeated(fields.BLOCK_OUTPUTS, outputs), *entries(fields.BLOCK_ATTRIBUTES, attributes)
        return b"".join(operations)

    def outputs(self, children: Children) -> list[bytes]:
        """Lower `(a, b)`"""
        return [name_bytes(name) for name in children[1:-1:2]]

    def operation(self, children: Children) -> bytes:
        """`tensor<fp16, [1]> y = relu(x = x)[name = string("y")];` -> Operation, as a field of its Block"""
        results, _, name, opset, arguments, attributes, *blocks, _ = children
        if opset is not None:
            raise LoweringError(
                codes.OPERATION_OPSET,
                "an operation cannot have its own opset in a Program; write the opset at the function",
                3,
            )
        head: bytes = operation_type(name) + arguments + (results or b"")
        parts = [head, repeated(fields.OPERATION_BLOCKS, blocks), *entries(fields.OPERATION_ATTRIBUTES, attributes)]
        return sized(fields.BLOCK_OPERATIONS, b"".join(parts))

    def imported(self, children: Children) -> str:
        """`$import("encoder.mlpackage")`"""
        message = (
            "a Program contains operations, and no model in a file; `miltext build` puts the operations of the model "
            "in this place"
        )
        raise LoweringError(codes.IMPORT_IN_TEXT, message)

    def plain_operation(self, children: Children) -> bytes:
        """Lower an operation that was read as one token."""
        return sized(fields.BLOCK_OPERATIONS, plain_operation(children[0]))

    def results(self, children: Children) -> bytes:
        """`tensor<fp16, [1]> h, tensor<fp16, [1]> c`"""
        return repeated(fields.OPERATION_OUTPUTS, children[::2])

    def draft_value(self, children: Children) -> bytes:
        """`_ y`, `y`"""
        raise LoweringError(codes.MISSING_TYPE, f"the type of `{children[1]}` is left out: write it, {INFER}", 0)

    # ---- arguments and attributes

    def arguments(self, children: Children) -> bytes:
        """`(x = a, values = (b, c), axis = int32(1))`"""
        return b"".join(entries(fields.OPERATION_INPUTS, unique(children[1:-1:2], "an argument")))

    def single_argument(self, children: Children) -> tuple[str, bytes, bytes]:
        """`x = a`"""
        name, _, binding = children
        return name, name_bytes(name), sized(fields.BINDINGS, binding)

    def argument(self, children: Children) -> tuple[str, bytes, bytes]:
        """`values = (a, b)`"""
        name, _, _, *bindings = children
        return name, name_bytes(name), repeated(fields.BINDINGS, bindings[:-1:2])

    def name_binding(self, children: Children) -> bytes:
        """Lower `a`"""
        return sized(fields.BINDING_NAME, name_bytes(children[0]))

    def value_binding(self, children: Children) -> bytes:
        """`int32(1)`"""
        return sized(fields.BINDING_VALUE, children[0])

    def positional_argument(self, children: Children) -> tuple[str, bytes, bytes]:
        """`x`, `(x, y)`"""
        raise LoweringError(codes.SHORT_SPELLING, f"an argument has no name: write its parameter, `x = ...`, {INFER}")

    def call_binding(self, children: Children) -> bytes:
        """`relu(x)`"""
        raise LoweringError(
            codes.SHORT_SPELLING, f"an operation is inside another: give it a statement of its own, {INFER}"
        )

    def call(self, children: Children) -> None:
        """`relu(x)`"""

    def unset_binding(self, children: Children) -> bytes:
        """`$unset`"""
        return b""

    def draft_binding(self, children: Children) -> bytes:
        """`[0, 1]`"""
        if isinstance(children[0], str) and (refused := values.bound_list_error(children[0])):
            raise refused
        raise values.untyped(children[0], 0)

    def weight_binding(self, children: Children) -> bytes:
        """`$npy("w.npy")`"""
        raise values.untyped(children[0], 0)

    def attributes(self, children: Children) -> Entries:
        """`[name = string("y"), val = int32(1)]`"""
        pairs = children[1:-1:2]
        members = {key: value for _, key, value in pairs}
        return members if len(members) == len(pairs) else unique(pairs, "an attribute")

    marked_attributes = attributes

    def attribute(self, children: Children) -> tuple[str, bytes, bytes]:
        """`name = string("y")`"""
        name, _, value = children
        return name, name_bytes(name), value

    def draft_attribute(self, children: Children) -> tuple[str, bytes, bytes]:
        """`val = 0.5`"""
        if isinstance(children[2], str) and (refused := values.plain_list_error(children[2])):
            raise refused
        raise values.untyped(children[2], 2)

    # ---- types

    def plain_tensor(self, children: Children) -> LoweredType:
        """`tensor<fp16, [1, 80]>`, read as one token"""
        return plain_type(children[0])

    def scalar_type(self, children: Children) -> LoweredType:
        """`fp16`, `$99`"""
        number, dtype = children[0]
        return tensor_type(number, None, []) if dtype is None else scalar_type(dtype)

    def dtype(self, children: Children) -> tuple[int, DType | None]:
        """`fp16`, `$99` -> its number and, where it has one, its row of the table"""
        return data_type(children[0])

    def tensor_type(self, children: Children) -> LoweredType:
        """`tensor<fp16, [1, ?], $rank(3), $[a = v]>`"""
        _, _, (number, dtype), _, dimensions, *members, _ = children
        kinds = [type(field) for field in members]
        if len(set(kinds)) != len(kinds):
            raise LoweringError(codes.DUPLICATE_DEFINITION, "a tensor type's rank and attributes may each occur once")
        rank = next((field for field in members if isinstance(field, int)), None)
        attributes = next((field for field in members if isinstance(field, bytes)), b"")
        return tensor_type(number, dtype, dimensions, rank, attributes)

    def tensor_rank(self, children: Children) -> int:
        """`, $rank(-1)`"""
        return whole_number(children[3], 64, signed=True)

    def tensor_attributes(self, children: Children) -> bytes:
        """`, $[a = v]`"""
        return b"".join(entries(fields.TENSOR_TYPE_ATTRIBUTES, children[1]))

    def dimensions(self, children: Children) -> list[Dimension]:
        """`[1, ?]`"""
        dimensions = children[1:-1:2]
        for index, dimension in enumerate(dimensions):
            if dimension.wire is None:
                raise LoweringError(
                    codes.WRONG_KIND_OF_LITERAL, "only a list's length can be absent, not a dimension", 1 + 2 * index
                )
        return dimensions

    def dimension(self, children: Children) -> Dimension:
        """`1`, `?`, `$variadic`, `$empty`, `$absent`"""
        return lower_dimension(children[0])

    def list_type(self, children: Children) -> LoweredType:
        """`list<tensor<int32, [2]>, ?>`"""
        return list_type(children[2], children[4])

    def tuple_type(self, children: Children) -> LoweredType:
        """`tuple<string, int32>`"""
        parts = children[2:-1:2]
        for index, value_type in enumerate(parts):
            if value_type.wire is None:
                raise LoweringError(
                    codes.WRONG_KIND_OF_LITERAL, "a tuple's types cannot be absent; write `$empty`", 2 + 2 * index
                )
        return tuple_type(parts)

    def dictionary_type(self, children: Children) -> LoweredType:
        """`dict<string, string>`"""
        return dictionary_type(children[2], children[4])

    def state_type(self, children: Children) -> LoweredType:
        """`state<tensor<fp16, [1]>>`"""
        return state_type(children[2])

    def tensor_buffer_type(self, children: Children) -> LoweredType:
        """`tensor_buffer<fp16, shape=[1], strides=[1], interleave_factors=[1]>`"""
        raise LoweringError(
            codes.RUNTIME_TYPE,
            "`tensor_buffer` is a type of the Core ML runtime, which a Program cannot hold; write a `tensor` type",
        )

    def absent_type(self, children: Children) -> LoweredType:
        """`$absent`"""
        return ABSENT

    def empty_type(self, children: Children) -> LoweredType:
        """`$empty`"""
        return EMPTY

    # ---- values

    def value(self, children: Children) -> bytes:
        """`$doc("...") int32(1)` -> Value"""
        doc, value_type, _, raw, _ = children
        return (doc or b"") + values.lower_value(value_type, raw)

    def value_doc(self, children: Children) -> bytes:
        """`$doc("...")`"""
        return sized(fields.DOC, string_bytes(children[2]))

    def blob(self, children: Children) -> BlobLiteral:
        """`BLOBFILE(path = string("..."), offset = uint64(64))`"""
        members = dict(children[2:-1:2])
        if len(members) != 2:
            raise LoweringError(codes.DUPLICATE_DEFINITION, "a blob has one path and one offset")
        return BlobLiteral([children[0], blob_message(members["path"], members["offset"])])

    def blob_path(self, children: Children) -> tuple[str, bytes | int]:
        """`path = string("...")`, `offset = uint64(64)`"""
        return children[0], blob_field(children[0], children[2], children[4])

    blob_offset = blob_path

    # A literal of unknown type keeps its children until a value determines its type.

    raw_list = values.RawList  # `[a, b]`
    raw_tuple = values.RawTuple  # `(a, b)`
    raw_dictionary = values.RawDictionary  # `{{a, b}, {c, d}}`
    values_field = values.ValuesField  # `$ints([1, 2])`
    any_kind = values.AnyKind  # `$list[a, b]`
    whole_value = values.WholeValue  # `$value(int32(1))`
    nothing = values.Fixed  # `$tensor`, `$empty`, `$unset`
    no_value = values.NoValue  # `$absent`

    def pair(self, children: Children) -> Children:
        """Lower `{a, b}`"""
        return children

    def elided(self, children: Children) -> Raw:
        """`$elided(1000, "sha256:...")`"""
        return values.Elided(children)

    def array_file(self, children: Children) -> Raw:
        """`$npy("weights/w.npy")`, `fp16 $npz("weights.npz", "key")`"""
        return values.ArrayFile(children)

    def record(self, children: Children) -> Raw:
        """`$blob("weights/weight.bin", 64)`"""
        return DraftBlob(children)
