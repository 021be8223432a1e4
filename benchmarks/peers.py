"""The peers: protobuf's own text and JSON, coremltools, ONNX, xDSL, and the floors under them all.

coremltools, onnx and xDSL are optional (requirements.txt): if one is not installed, its action is None. ONNX and xDSL
cannot hold MIL programs, so they get the generated network in their own notation: the same operations, names, types
and constants.
"""

from __future__ import annotations

import contextlib
import io
import logging
import re
import struct
from collections import deque
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from google.protobuf import json_format, text_format

from miltext.schema.dtypes import BY_NUMBER
from miltext.schema.proto import Program

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from benchmarks.measure import Action

_TOKENS = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<name>[A-Za-z_][A-Za-z0-9_@]*)|(?P<string>"[^"\\]*(?:\\.[^"\\]*)*")"""
    r"""|(?P<number>[-+]?(?:0x[0-9a-f.]+p[-+]?[0-9]+|[0-9]+))|(?P<mark>->|[(){}\[\]<>,;=?])"""
)


def tokenizer(text: str) -> Action:
    """Make the floor of parsing in Python: a loop over the matches of one regular expression that finds tokens."""
    return lambda: deque((match.lastgroup for match in _TOKENS.finditer(text)), maxlen=0)


def text_format_parse(program: Message) -> Action:
    """Make a parse of protobuf's text of a Program."""
    text = text_format.MessageToString(program)
    return lambda: text_format.Parse(text, Program())


def json_parse(program: Message) -> Action:
    """Make a parse of protobuf's JSON of a Program."""
    text = json_format.MessageToJson(program)
    return lambda: json_format.Parse(text, Program())


def binary_parse(program: Message) -> Action:
    """Make the floor of making a Program: from its bytes."""
    wire = program.SerializeToString()
    return lambda: Program.FromString(wire)


class CoremlTools(NamedTuple):
    """coremltools' two actions on a Program: proto to pymil, and pymil to text."""

    load: Action | None
    to_text: Action | None


def coremltools(program: Message, specification_version: int) -> CoremlTools:
    """Make coremltools' loader and printer; the loader gets zeros in place of weights from a file."""
    if not find_spec("coremltools"):
        return CoremlTools(None, None)
    with contextlib.redirect_stderr(io.StringIO()):
        logging.disable(logging.WARNING)
        loader: Any = import_module("coremltools.converters.mil.frontend.milproto.load")
        logging.disable(logging.NOTSET)
        spec = import_module("coremltools.proto.MIL_pb2").Program.FromString(program.SerializeToString())
    sizes = {blob.offset: prod(sizes) for blob, sizes in _blobs(program)}
    types, zeros = import_module("coremltools.converters.mil.mil.types"), import_module("numpy").zeros

    def load() -> Any:
        with patch.object(loader, "_load_file_value", value):
            return loader.load_mil_proto(spec, specification_version)

    def value(_: Any, blob: Any, dtype: Any) -> Any:
        return zeros(sizes[blob.offset], types.nptype_from_builtin(dtype))

    loaded = load()
    return CoremlTools(load, lambda: str(loaded))


def _blobs(program: Any) -> Iterator[tuple[Any, list[int]]]:
    for each in _operations(program):
        for value in each.attributes.values():
            if value.WhichOneof("value") == "blobFileValue":
                yield value.blobFileValue, _sizes(value.type)


def _operations(program: Any) -> Iterator[Any]:
    todo = [block for function in program.functions.values() for block in function.block_specializations.values()]
    while todo:
        for operation in todo.pop().operations:
            yield operation
            todo += operation.blocks


def _sizes(value_type: Any) -> list[int]:
    return [dimension.constant.size for dimension in value_type.tensorType.dimensions]


class _Node(NamedTuple):
    """An operation of the generated network, for the neighbours: `value` is a constant's."""

    kind: str
    name: str
    dtype: str
    sizes: list[int]
    inputs: list[str]
    value: Any


def _nodes(program: Any) -> Iterator[_Node]:
    for each in _operations(program):
        output = each.outputs[0]
        inputs = [binding.name for key in sorted(each.inputs) for binding in each.inputs[key].arguments]
        value = _constant(each.attributes["val"]) if each.type == "const" else None
        dtype = BY_NUMBER[output.type.tensorType.dataType].name
        yield _Node(each.type, output.name, dtype, _sizes(output.type), inputs, value)


def _constant(value: Any) -> Any:
    """Return a constant as a value of Python: the offset of a blob, else a string or a list of numbers."""
    if value.WhichOneof("value") == "blobFileValue":
        return value.blobFileValue.offset
    tensor = value.immediateValue.tensor
    field = tensor.WhichOneof("value")
    if field == "bytes":
        return list(struct.unpack(f"<{len(tensor.bytes.values) // 2}e", tensor.bytes.values))
    values = list(getattr(tensor, field).values)
    return values[0] if field == "strings" else values


_BLOB = "@model_path/weights/weight.bin"
_MLIR_TYPES = {"fp16": "f16", "int32": "i32", "bool": "i1"}


def mlir_text(program: Any) -> str:
    """Spell the generated network as MLIR text, each operation in the generic form."""
    types = {"x": _mlir_type("fp16", _sizes(program.functions["main"].inputs[0].type))}
    lines = []
    for node in _nodes(program):
        types[node.name] = _mlir_type(node.dtype, node.sizes)
        operands = ", ".join(f"%{name}" for name in node.inputs)
        signature = f"({', '.join(types[name] for name in node.inputs)}) -> {types[node.name]}"
        value = "" if node.value is None else f", val = {_mlir_value(node)}"
        lines.append(
            f'    %{node.name} = "mil.{node.kind}"({operands}) {{name = "{node.name}"{value}}} : {signature}\n'
        )
    return f"builtin.module {{\n  func.func @main(%x: {types['x']}) {{\n{''.join(lines)}    func.return\n  }}\n}}\n"


def _mlir_type(dtype: str, sizes: list[int]) -> str:
    return f"tensor<{'x'.join([*map(str, sizes), _MLIR_TYPES[dtype]])}>" if dtype in _MLIR_TYPES else f"!mil.{dtype}"


def _mlir_value(node: _Node) -> str:
    if isinstance(node.value, int):
        return f'{{path = "{_BLOB}", offset = {node.value} : i64}}'
    if isinstance(node.value, str):
        return f'"{node.value}"'
    text = ", ".join(str(value).lower() for value in node.value)
    return f"dense<{f'[{text}]' if node.sizes else text}> : {_mlir_type(node.dtype, node.sizes)}"


def xdsl_actions(text: str) -> tuple[Action | None, Action | None]:
    """Make xDSL's parser and printer, on a text of its own."""
    if not find_spec("xdsl"):
        return None, None
    context = import_module("xdsl.context").Context(allow_unregistered=True)
    context.load_dialect(import_module("xdsl.dialects.builtin").Builtin)
    context.load_dialect(import_module("xdsl.dialects.func").Func)
    parser, printer = import_module("xdsl.parser").Parser, import_module("xdsl.printer").Printer
    module = parser(context, text).parse_module()
    return lambda: parser(context, text).parse_module(), lambda: printer(stream=io.StringIO()).print_op(module)


def onnx_text(program: Any) -> str:
    """Spell the generated network as ONNX text, with the type of every value; empty without onnx."""
    if not find_spec("onnx"):
        return ""
    helper, numbers = import_module("onnx.helper"), import_module("onnx").TensorProto
    types = {"fp16": numbers.FLOAT16, "int32": numbers.INT32, "bool": numbers.BOOL, "string": numbers.STRING}
    nodes, infos = [], [helper.make_tensor_value_info("x", types["fp16"], [1, 16, 64])]
    for node in _nodes(program):
        kind = "Constant" if node.kind == "const" else node.kind
        nodes.append(helper.make_node(kind, node.inputs, [node.name], node.name, **_onnx_value(node.value)))
        infos.append(helper.make_tensor_value_info(node.name, types[node.dtype], node.sizes))
    graph = helper.make_graph(nodes, "main", infos[:1], infos[-1:], value_info=infos[1:-1])
    return str(import_module("onnx.printer").to_text(helper.make_model(graph)))


def _onnx_value(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if isinstance(value, int):
        return {"path": _BLOB, "offset": value}
    if isinstance(value, str):
        return {"value_string": value}
    return {"value_floats": value} if isinstance(value[0], float) else {"value_ints": list(map(int, value))}


def onnx_actions(text: str) -> tuple[Action | None, Action | None]:
    """Make onnx.parser and onnx.printer (both C++), on a text of their own."""
    if not find_spec("onnx"):
        return None, None
    parse, to_text = import_module("onnx.parser").parse_model, import_module("onnx.printer").to_text
    model = parse(text)
    return lambda: parse(text), lambda: to_text(model)
