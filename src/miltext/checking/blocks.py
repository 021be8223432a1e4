"""Checks of blocks: all blocks of a function return the same types, and blocks of an operation match its signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, Remark, but, counted, named, opset_named
from miltext.diagnostics import codes
from miltext.diagnostics.wording import listed
from miltext.schema.paths import Path, block_path
from miltext.schema.types import ListType, TensorType, Type, compatible, spelled
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.checking.inference.operands import Arguments
    from miltext.checking.inference.program import Inference
    from miltext.checking.inference.reading import StatedGraph
    from miltext.ir.functions import Block
    from miltext.schema.operations import BlockSignature, Signature

TRUTH = TensorType("bool", ())


class RequiredTypes(NamedTuple):
    """The required types of a block's inputs or outputs, after a clause about their source.

    `fits` compares a type with the required one.
    """

    types: Sequence[Type]
    by: str
    fits: Callable[[Type, Type], bool]


def specialization_findings(graph: StatedGraph) -> Iterator[Finding]:
    """Find differences between the outputs of a function's blocks for several opsets."""
    for name, function in graph.functions.items():
        blocks = function.blocks
        if len(blocks) > 1:
            first = function.own_opset or min(blocks)
            for opset in sorted(set(blocks) - {first}):
                difference = _difference(graph, blocks[first], blocks[opset], opset)
                if difference:
                    remark = Remark(f"the block for {opset_named(first)}", block_path(name, first))
                    yield Finding((*block_path(name, opset), "key"), codes.BLOCK_OUTPUTS_DIFFER, difference, (remark,))


def _difference(graph: StatedGraph, block: Block, other: Block, opset: str) -> str | None:
    head = f"the outputs of the block for {opset_named(opset)} differ from the outputs of the function's other block"
    names, others = ([value.name for value in each.outputs] for each in (block, other))
    if names != others:
        listing = [listed(map(name_text, each), "and") or "nothing" for each in (others, names)]
        return f"{head}: {listing[0]}, not {listing[1]}"
    for value, partner in zip(block.outputs, other.outputs, strict=True):
        first, given = graph.type(value), graph.type(partner)
        if not compatible(first, given):
            return f"{head}: {named(value.name)} is {spelled(given)}, not {spelled(first)}"
    return None


def block_findings(inference: Inference, known: Signature, path: Path) -> Iterator[Finding]:
    """Find the errors in the blocks of the operation at `path`; the inference contains their returned types."""
    blocks = inference.arguments.blocks
    if len(blocks) != len(known.blocks):
        names = f" ({', '.join(block.name for block in known.blocks)})" if known.blocks else ""
        message = f"`{known.name}` has {counted(len(known.blocks), 'block')}{names}, {but(len(blocks))} given"
        yield Finding((*path, "type"), codes.WRONG_BLOCK_COUNT, message)
        return
    found: list[Finding] = []
    for index, (block, signed) in enumerate(zip(blocks, known.blocks, strict=True)):
        place, what = (*path, "blocks", index), f"the block `{signed.name}`"
        taken = _inputs(signed, inference.arguments)
        wrong = list(_agreement((*place, "inputs"), f"{what} takes", taken, block.inputs)) if taken else []
        for required in _outputs(index, inference, known):  # the outputs of a block often follow from its inputs
            wrong = wrong or list(_agreement((*place, "outputs"), f"{what} returns", required, block.outputs))
        found += wrong
    yield from found or _declared(inference, known, path)


def _declared(inference: Inference, known: Signature, path: Path) -> Iterator[Finding]:
    """Find blocks whose outputs do not fit their operation, although the outputs of all blocks together do.

    coremltools' loader compares these types ("Mismatch between var types").
    """
    for index, (block, signed) in enumerate(zip(inference.arguments.blocks, known.blocks, strict=True)):
        if signed.name != "cond" and inference.agrees:  # else reported at the operation
            required = RequiredTypes(inference.declared, f"`{known.name}` returns", _holds)
            what = f"the block `{signed.name}` returns"
            yield from _agreement((*path, "blocks", index, "outputs"), what, required, block.outputs)


def _inputs(signed: BlockSignature, arguments: Arguments) -> RequiredTypes | None:
    """Return the input types of a block; None if their parameter is missing, which is reported elsewhere."""
    if signed.inputs is None:
        return RequiredTypes([], f"a block of `{arguments.op_type}` takes", compatible)
    if not arguments.has(signed.inputs):
        return None
    return RequiredTypes(_bound(arguments, signed.inputs), f"`{signed.inputs}` has", compatible)


def _outputs(index: int, inference: Inference, known: Signature) -> Iterator[RequiredTypes]:
    """Yield the required outputs of a block: a truth value for a condition, else the operation's outputs.

    In a loop, each output is an input of the next turn, with a `?` for each size that changes, as in coremltools
    (`build_nested_blocks` of `while_loop`, iOS15/control_flow.py). Outside a loop, each has the type of the first
    block's output.
    """
    blocks, count = inference.arguments.blocks, len(inference.declared)
    signed = known.blocks[index]
    if signed.name == "cond":
        yield RequiredTypes([TRUTH], "a condition returns", _is_truth)
        return
    loop = _bound(inference.arguments, signed.inputs) if signed.inputs else None
    if len(loop if loop is not None else blocks[0].outputs) != count:
        yield RequiredTypes([None] * count, f"`{known.name}` returns", _holds)
    elif loop is not None:
        yield RequiredTypes(loop, f"`{signed.inputs}` has", _is_alike)
        if len(blocks[index].inputs) == len(loop):
            yield RequiredTypes(blocks[index].inputs, "it takes", _holds)
    elif index:
        yield RequiredTypes(blocks[0].outputs, f"the block `{known.blocks[0].name}` returns", _holds)


def _bound(arguments: Arguments, name: str) -> list[Type]:
    return [operand.type for operand in arguments.operands.get(name, ())]


def _is_truth(_: Type, given: Type) -> bool:
    """Return whether a type is valid for a condition: a scalar, or a vector of one element.

    Converters make vectors of one element, and Apple's compiler takes them (the loops of a model that it compiled are
    such).
    """
    return any(compatible(TRUTH._replace(shape=shape), given) for shape in ((), (1,)))


def _is_alike(required: Type, given: Type) -> bool:
    """Return whether two types differ in sizes at most: in a loop, these may change."""
    if isinstance(required, TensorType) and isinstance(given, TensorType):
        return required.dtype == given.dtype and len(required.shape) == len(given.shape)
    return required is None or given is None or type(required) is type(given)


def _holds(required: Type, given: Type) -> bool:
    """Return whether a value of one type can be of the other; the length of a list may change."""
    if isinstance(required, ListType) and isinstance(given, ListType):
        return compatible(required.element, given.element)
    return compatible(required, given)


def _agreement(path: Path, what: str, required: RequiredTypes, given: Sequence[Type]) -> Iterator[Finding]:
    """Find inputs or outputs at `path` with a wrong number or wrong types."""
    if len(required.types) != len(given):
        counts = counted(len(given), "value"), counted(len(required.types), "value")
        yield Finding(path[:-1], codes.MISFIT_BLOCK, f"{what} {counts[0]}; {required.by} {counts[1]}")
        return
    for index, (wanted, found) in enumerate(zip(required.types, given, strict=True)):
        if not required.fits(wanted, found):
            yield Finding(
                (*path, index), codes.MISFIT_BLOCK, f"{what} {spelled(found)} here; {required.by} {spelled(wanted)}"
            )
