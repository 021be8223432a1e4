"""The blocks of a function, one for each opset that it is written for: they must give back the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, Remark, listed, named, opset_text
from miltext.checking.inference import Type, compatible, spelled
from miltext.schema.paths import Key
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Block, Function, Program


def specialization_findings(program: Program) -> Iterator[Finding]:
    """Where the blocks of a function differ in what they give back, which is what the function gives back."""
    for name, function in program.functions.items():
        blocks = function.blocks
        if len(blocks) > 1:
            first = function.opset if function.opset in blocks else min(blocks)
            path = ("functions", Key(name), "block_specializations")
            for opset in sorted(set(blocks) - {first}):
                difference = _difference(function, blocks[first], blocks[opset], opset)
                if difference:
                    remark = Remark(f"the block for {opset_text(first)}", (*path, Key(first)))
                    yield Finding((*path, Key(opset), "key"), "MIL608", difference, (remark,))


def _difference(function: Function, block: Block, other: Block, opset: str) -> str | None:
    head = f"the block for {opset_text(opset)} does not give back what the function's other block does"
    if block.outputs != other.outputs:
        return f"{head}: {_names(other)}, not {_names(block)}"
    types, others = _types(function, block), _types(function, other)
    for name in block.outputs:
        if not compatible(types.get(name), others.get(name)):
            return f"{head}: {named(name)} is {spelled(others[name])}, not {spelled(types[name])}"
    return None


def _names(block: Block) -> str:
    return listed(map(name_text, block.outputs), "and") or "nothing"


def _types(function: Function, block: Block) -> dict[str, Type]:
    values = [*function.inputs, *block.inputs]
    values += [output for operation in block.operations for output in operation.outputs]
    return {value.name: value.stated.type for value in values}
