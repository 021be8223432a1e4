"""The blocks inside an operation against its signature: how many there are, what they take, what they give back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, counted, here
from miltext.checking.inference import TensorType, Type, compatible, spelled

if TYPE_CHECKING:
    from miltext.checking.inference import Arguments
    from miltext.schema.operations import BlockSignature, Signature
    from miltext.schema.paths import Path
    from miltext.schema.proto import Operation

TRUTH = TensorType("bool", ())


class Asked(NamedTuple):
    """The types that a block's inputs or outputs must have, and where that comes from, as a clause that they end.

    `fits` judges one of the types and what stands in its place.
    """

    types: Sequence[Type]
    by: str
    fits: Callable[[Type, Type], bool]


def block_findings(operation: Operation, arguments: Arguments, known: Signature, path: Path) -> Iterator[Finding]:
    """What is wrong with the blocks of the operation at `path`, which is given `arguments`."""
    blocks = arguments.blocks
    if len(blocks) != len(known.blocks):
        names = f" ({', '.join(block.name for block in known.blocks)})" if known.blocks else ""
        message = f"`{known.name}` has {counted(len(known.blocks), 'block')}{names}; {here(len(blocks))}"
        yield Finding((*path, "type"), "MIL511", message)
        return
    for index, (block, signed) in enumerate(zip(blocks, known.blocks, strict=True)):
        place, named = (*path, "blocks", index), f"the block `{signed.name}`"
        asked = _inputs(signed, arguments)
        found = list(_agreement((*place, "inputs"), f"{named} takes", asked, block.inputs)) if asked else []
        if not found:  # what a block gives back often follows from what it takes
            asked = _outputs(index, len(operation.outputs), arguments, known)
            found = list(_agreement((*place, "outputs"), f"{named} gives back", asked, block.outputs))
        yield from found


def _inputs(signed: BlockSignature, arguments: Arguments) -> Asked | None:
    """What a block takes; None where the parameter that its inputs stand for is missing, which is told elsewhere."""
    if signed.inputs is None:
        return Asked([], f"a block of `{arguments.op_type}` takes", compatible)
    if not arguments.has(signed.inputs):
        return None
    return Asked(_bound(arguments, signed.inputs), f"`{signed.inputs}` has", compatible)


def _outputs(index: int, count: int, arguments: Arguments, known: Signature) -> Asked:
    """What a block gives back: a condition a truth value, the others the `count` outputs of the operation.

    Of those each is of the type that goes into a loop, or that the first block gives back.
    """
    if known.blocks[index].name == "cond":
        return Asked([TRUTH], "a condition gives back", _alike)
    loop = known.blocks[index].inputs
    types = _bound(arguments, loop) if loop else arguments.blocks[0].outputs
    by = f"`{loop}` has" if loop else f"the block `{known.blocks[0].name}` gives back"
    if len(types) == count and (loop or index):
        return Asked(types, by, _alike)
    return Asked([None] * count, f"`{known.name}` gives back", _alike)


def _bound(arguments: Arguments, name: str) -> list[Type]:
    return [operand.type for operand in arguments.operands.get(name, ())]


def _alike(asked: Type, given: Type) -> bool:
    """Whether two types differ in sizes at most: those may change from one turn of a loop to the next."""
    if isinstance(asked, TensorType) and isinstance(given, TensorType):
        return asked.dtype == given.dtype
    return asked is None or given is None or type(asked) is type(given)


def _agreement(path: Path, what: str, asked: Asked, given: Sequence[Type]) -> Iterator[Finding]:
    """The findings about inputs or outputs at `path` that are not as many, or not of the types, that they must be."""
    if len(asked.types) != len(given):
        counts = counted(len(given), "value"), counted(len(asked.types), "value")
        yield Finding(path[:-1], "MIL512", f"{what} {counts[0]}; {asked.by} {counts[1]}")
        return
    for index, (wanted, found) in enumerate(zip(asked.types, given, strict=True)):
        if not asked.fits(wanted, found):
            yield Finding((*path, index), "MIL512", f"{what} {spelled(found)} here; {asked.by} {spelled(wanted)}")
