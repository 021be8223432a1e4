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


def refused_findings(program: Program, *, is_model: bool = False) -> Iterator[Finding]:
    """Find parts that Core ML refuses in the functions of a Program, and in a model, if it is known to be one."""
    for name, function in program.functions.items():
        path: Path = ("functions", Key(name))
        for index, value in enumerate(function.inputs):
            for side in ("input", "model input")[: 1 + is_model]:
                port = RefusedPort(side, function.opset, value.name, value.stated.type)
                yield from _findings(port, (*path, "inputs", index))
        for opset, block in function.blocks.items():
            place: Path = block_path(name, opset)
            yield from _block(function, opset, block, place)
            if is_model:
                yield from _given(opset, block, place)


def _given(opset: str, block: ReadBlock, path: Path) -> Iterator[Finding]:
    """Find outputs of a model's function that Core ML refuses, among the values that it makes itself."""
    own = {output.name: output.stated.type for output in block.made()}
    for index, name in enumerate(block.outputs):
        yield from _findings(RefusedPort("model output", opset, name, own.get(name)), (*path, "outputs", index))


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


def _findings(port: RefusedPort, path: Path) -> Iterator[Finding]:
    for row in ROWS[port.side]:
        if row.holds(port):
            parts = {"name": named(port.name), "dtype": dtype_of(port), "since": since(dtype_of(port))}
            message = f"{row.message.format(**parts)}; {row.way_out}"
            yield Finding(path, row.code, message, severity=row.severity)
