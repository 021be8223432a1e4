"""Constructs that Core ML refuses, by the rows of `miltext.schema.refused`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, named
from miltext.ir.parts import Op
from miltext.schema.dtypes import DTYPES
from miltext.schema.operations import opset_place, since
from miltext.schema.paths import Key, Path, block_path
from miltext.schema.refused import REFUSED, RefusedPort, dtype_of
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.reading import StatedGraph
    from miltext.ir.functions import Block
    from miltext.schema.types import Type

PACKED = frozenset(dtype.name for dtype in DTYPES if dtype.packed)
ROWS = {side: [row for row in REFUSED if row.side == side] for side in {row.side for row in REFUSED}}


def refused_findings(graph: StatedGraph, undescribed: str = "") -> Iterator[Finding]:
    """Find parts that Core ML refuses in the functions of a Program.

    `undescribed` is the severity for types of inputs and outputs that no description can have; "" omits these findings.
    """
    has_packed = any(_is_packed(stated.type) for stated in {*graph.stated.values()})
    for name, function in graph.functions.items():
        path: Path = ("functions", Key(name))
        for index, value in enumerate(function.inputs):
            port = RefusedPort("input", function.message.opset, value.name, graph.type(value))
            yield from _findings(port, (*path, "inputs", index))
            if undescribed:
                yield from _findings(port._replace(side="described input"), (*path, "inputs", index), undescribed)
        for opset, block in function.blocks.items():
            place = block_path(name, opset)
            yield from _block(graph, opset, block, place)
            if has_packed and any(opset_place(opset) < opset_place(since(dtype)) for dtype in PACKED):
                yield from _constants(graph, opset, block, place)
            if undescribed:
                yield from _given(graph, opset, block, place, undescribed)


def _given(graph: StatedGraph, opset: str, block: Block, path: Path, undescribed: str) -> Iterator[Finding]:
    """Find outputs of types that no description can have, among the values that a function makes itself."""
    for index, value in enumerate(block.outputs):
        made = graph.type(value) if value.maker is not None and value.maker.block is block else None
        yield from _findings(
            RefusedPort("described output", opset, value.name, made), (*path, "outputs", index), undescribed
        )


def _block(graph: StatedGraph, opset: str, block: Block, path: Path) -> Iterator[Finding]:
    """Find parts of a function's block that Core ML refuses."""
    counts = Counter(value.name for value in block.outputs)
    yield from _findings(RefusedPort("outputs", opset, times=len(block.outputs)), (*path, "outputs"))
    for value, index in {value: index for index, value in reversed([*enumerate(block.outputs)])}.items():
        is_input = value.owner in (block, block.owner)
        given = graph.type(value) if is_input else None
        port = RefusedPort("output", opset, value.name, given, counts[value.name], is_input)
        yield from _findings(port, (*path, "outputs", index))


def _constants(graph: StatedGraph, opset: str, block: Block, path: Path) -> Iterator[Finding]:
    """Find constants of a block, and of those inside it, that Core ML refuses for elements smaller than a byte."""
    for place, part in block.parts(path):
        if not isinstance(part, Op) or part.type != "const" or not part.outputs:
            continue
        output = part.outputs[0]
        stated = graph.type(output)
        if _is_packed(stated):
            yield from _findings(RefusedPort("constant", opset, output.name, stated), (*place, "outputs", 0, "type"))


def _is_packed(stated: Type) -> bool:
    return isinstance(stated, TensorType) and stated.dtype in PACKED


def _findings(port: RefusedPort, path: Path, severity: str | None = None) -> Iterator[Finding]:
    for row in ROWS[port.side]:
        if row.holds(port):
            parts = {"name": named(port.name), "dtype": dtype_of(port), "since": since(dtype_of(port))}
            message = f"{row.message.format(**parts)}; {row.way_out}"
            yield Finding(path, row.code, message, severity=severity or row.severity)
