"""Blocks: those of a function give back the same, and those of an operation keep to its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, Remark, but, counted, named, opset_named
from miltext.diagnostics.wording import listed
from miltext.schema.paths import Key, Path
from miltext.schema.types import TensorType, Type, compatible, spelled
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Arguments
    from miltext.checking.inference.reading import Block, Function, Program
    from miltext.schema.operations import BlockSignature, Signature
    from miltext.schema.proto import Operation

TRUTH = TensorType("bool", ())


class Asked(NamedTuple):
    """The types that a block's inputs or outputs must have, and where that comes from, as a clause that they end.

    `fits` judges one of the types and what stands in its place.
    """

    types: Sequence[Type]
    by: str
    fits: Callable[[Type, Type], bool]


def specialization_findings(program: Program) -> Iterator[Finding]:
    """Find where the blocks of a function, one for each opset, differ in what they give back."""
    for name, function in program.functions.items():
        blocks = function.blocks
        if len(blocks) > 1:
            first = function.opset if function.opset in blocks else min(blocks)
            path = ("functions", Key(name), "block_specializations")
            for opset in sorted(set(blocks) - {first}):
                difference = _difference(function, blocks[first], blocks[opset], opset)
                if difference:
                    remark = Remark(f"the block for {opset_named(first)}", (*path, Key(first)))
                    yield Finding((*path, Key(opset), "key"), "MIL608", difference, (remark,))


def _difference(function: Function, block: Block, other: Block, opset: str) -> str | None:
    head = f"the block for {opset_named(opset)} does not give back what the function's other block does"
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


def block_findings(operation: Operation, arguments: Arguments, known: Signature, path: Path) -> Iterator[Finding]:
    """Find what is wrong with the blocks of the operation at `path`, which is given `arguments`."""
    blocks = arguments.blocks
    if len(blocks) != len(known.blocks):
        names = f" ({', '.join(block.name for block in known.blocks)})" if known.blocks else ""
        message = f"`{known.name}` has {counted(len(known.blocks), 'block')}{names}, {but(len(blocks))} given"
        yield Finding((*path, "type"), "MIL511", message)
        return
    for index, (block, signed) in enumerate(zip(blocks, known.blocks, strict=True)):
        place, what = (*path, "blocks", index), f"the block `{signed.name}`"
        asked = _inputs(signed, arguments)
        found = list(_agreement((*place, "inputs"), f"{what} takes", asked, block.inputs)) if asked else []
        if not found:  # what a block gives back often follows from what it takes
            asked = _outputs(index, len(operation.outputs), arguments, known)
            found = list(_agreement((*place, "outputs"), f"{what} gives back", asked, block.outputs))
        yield from found


def _inputs(signed: BlockSignature, arguments: Arguments) -> Asked | None:
    """Return what a block takes; None where the parameter is missing that its inputs stand for, as others tell."""
    if signed.inputs is None:
        return Asked([], f"a block of `{arguments.op_type}` takes", compatible)
    if not arguments.has(signed.inputs):
        return None
    return Asked(_bound(arguments, signed.inputs), f"`{signed.inputs}` has", compatible)


def _outputs(index: int, count: int, arguments: Arguments, known: Signature) -> Asked:
    """Return what a block gives back: a truth value for a condition, else `count` values, one for each output.

    Each of these has the type of what goes into the loop, but for sizes, which may change from one turn to the next;
    outside a loop, of what the first block gives back. A condition may be a vector of one: converters make such.
    """
    if known.blocks[index].name == "cond":
        return Asked([TRUTH], "a condition gives back", _alike)
    loop = known.blocks[index].inputs
    types = _bound(arguments, loop) if loop else arguments.blocks[0].outputs
    by = f"`{loop}` has" if loop else f"the block `{known.blocks[0].name}` gives back"
    if len(types) == count and (loop or index):
        return Asked(types, by, _alike if loop else compatible)
    return Asked([None] * count, f"`{known.name}` gives back", compatible)


def _bound(arguments: Arguments, name: str) -> list[Type]:
    return [operand.type for operand in arguments.operands.get(name, ())]


def _alike(asked: Type, given: Type) -> bool:
    """Tell whether two types differ in sizes at most."""
    if isinstance(asked, TensorType) and isinstance(given, TensorType):
        return asked.dtype == given.dtype
    return asked is None or given is None or type(asked) is type(given)


def _agreement(path: Path, what: str, asked: Asked, given: Sequence[Type]) -> Iterator[Finding]:
    """Find where inputs or outputs at `path` are not as many, or not of the types, that they must be."""
    if len(asked.types) != len(given):
        counts = counted(len(given), "value"), counted(len(asked.types), "value")
        yield Finding(path[:-1], "MIL512", f"{what} {counts[0]}; {asked.by} {counts[1]}")
        return
    for index, (wanted, found) in enumerate(zip(asked.types, given, strict=True)):
        if not asked.fits(wanted, found):
            yield Finding((*path, index), "MIL512", f"{what} {spelled(found)} here; {asked.by} {spelled(wanted)}")
