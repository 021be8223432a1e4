"""Programs whose constants are where they are used, as people write them."""

from __future__ import annotations

from collections.abc import Mapping

from miltext.schema.proto import Block, Operation, Program, Value


def inlined(program: Program) -> Program:
    """Return a Program without constants that only operations use, but for those in files: they are arguments."""
    made = Program()
    made.CopyFrom(program)
    for function in made.functions.values():
        for block in function.block_specializations.values():
            _inline(block, {})
    return made


def _inline(block: Block, outer: Mapping[str, Value]) -> None:
    held, kept = dict(outer), list[Operation]()
    for operation in block.operations:
        for name in operation.inputs:
            for binding in operation.inputs[name].arguments:
                if binding.name in held:
                    binding.value.CopyFrom(held[binding.name])
        for inner in operation.blocks:
            _inline(inner, held)
        value = operation.attributes["val"] if operation.type == "const" else None
        if value and value.WhichOneof("value") == "immediateValue" and operation.outputs[0].name not in block.outputs:
            held[operation.outputs[0].name] = value
        else:
            kept.append(Operation.FromString(operation.SerializeToString()))
    del block.operations[:]
    block.operations.extend(kept)
