"""Functions refused by Core ML, by the rows of `miltext.schema.refused`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, named
from miltext.checking.inference.reading import Operation
from miltext.schema.dtypes import DTYPES
from miltext.schema.operations import opset_place, since
from miltext.schema.paths import Key, Path, block_path
from miltext.schema.refused import REFUSED, RefusedPort, dtype_of
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Program, ReadBlock, ReadFunction

PACKED = frozenset(dtype.name for dtype in DTYPES if dtype.packed)
ROWS = {side: [row for row in REFUSED if row.side == side] for side in {row.side for row in REFUSED}}


def refused_findings(program: Program, undescribed: str = "") -> Iterator[Finding]:
    """Find parts that Core ML refuses in the functions of a Program.

    `undescribed` is the severity of an input's or an output's type that no description has; "" leaves these out.
    """
    for name, function in program.functions.items():
        path: Path = ("functions", Key(name))
        for index, value in enumerate(function.inputs):
            port = RefusedPort("input", function.opset, value.name, value.stated.type)
            yield from _findings(port, (*path, "inputs", index))
            if undescribed:
                yield from _findings(port._replace(side="described input"), (*path, "inputs", index), undescribed)
        for opset, block in function.blocks.items():
            place: Path = block_path(name, opset)
            yield from _block(function, opset, block, place)
            if undescribed:
                yield from _given(opset, block, place, undescribed)


def _given(opset: str, block: ReadBlock, path: Path, undescribed: str) -> Iterator[Finding]:
    """Find outputs of types that no description has, among the values that a function makes itself."""
    own = {output.name: output.stated.type for output in block.made()}
    for index, name in enumerate(block.outputs):
        port = RefusedPort("described output", opset, name, own.get(name))
        yield from _findings(port, (*path, "outputs", index), undescribed)


def _block(function: ReadFunction, opset: str, block: ReadBlock, path: Path) -> Iterator[Finding]:
    """Find parts of a function's block that Core ML refuses."""
    taken = {value.name: value.stated.type for value in function.inputs}
    if not taken.keys().isdisjoint(block.outputs):
        own = {output.name for output in block.made()}
        taken = {name: taken[name] for name in taken.keys() - own}
    counts = Counter(block.outputs)
    yield from _findings(RefusedPort("outputs", opset, times=len(block.outputs)), (*path, "outputs"))
    for name, index in {name: index for index, name in reversed([*enumerate(block.outputs)])}.items():
        port = RefusedPort("output", opset, name, taken.get(name), counts[name], name in taken)
        yield from _findings(port, (*path, "outputs", index))
    if any(opset_place(opset) < opset_place(since(dtype)) for dtype in PACKED):
        yield from _constants(opset, block, path)


def _constants(opset: str, block: ReadBlock, path: Path) -> Iterator[Finding]:
    """Find constants of a block, and of those inside it, that Core ML refuses for elements smaller than a byte."""
    for place, part in block.parts(path):
        if not isinstance(part, Operation) or part.type != "const" or not part.outputs:
            continue
        output = part.outputs[0]
        if isinstance(output.stated.type, TensorType) and output.stated.type.dtype in PACKED:
            port = RefusedPort("constant", opset, output.name, output.stated.type)
            yield from _findings(port, (*place, "outputs", 0, "type"))


def _findings(port: RefusedPort, path: Path, severity: str | None = None) -> Iterator[Finding]:
    for row in ROWS[port.side]:
        if row.holds(port):
            parts = {"name": named(port.name), "dtype": dtype_of(port), "since": since(dtype_of(port))}
            message = f"{row.message.format(**parts)}; {row.way_out}"
            yield Finding(path, row.code, message, severity=severity or row.severity)
