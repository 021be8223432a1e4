"""Operations of one opset in a block for a newer one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.schema.operations import signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.ir.functions import Block
    from miltext.ir.parts import Op


def obstacles(block: Block, old: str, new: str) -> Iterator[tuple[Op, str]]:
    """Yield the operations of a block that are other ones in a newer opset, or not in it, each with the reason."""
    for op in block.walk():
        if reason := _obstacle(op, old, new):
            yield op, reason


def _obstacle(op: Op, old: str, new: str) -> str | None:
    """Return why an operation is another one in a newer opset, or none; None if it stays the same."""
    before, after = signature(op.type, old), signature(op.type, new)
    if before is None or before == after:
        return None
    if after is None or before.opset == after.opset:
        return None if after else f"`{op.type}` is not in it"
    given = {*op.inputs, *op.attributes}
    gone = [name for name in before.parameters if name in given and name not in after.parameters]
    if gone and not after.open:
        return f"`{op.type}` has no parameter `{gone[0]}` there"
    missing = [name for name, each in after.parameters.items() if each.required and name not in given]
    if missing:
        return f"`{op.type}` needs `{missing[0]}` there"
    least, most = after.outputs
    if len(op.outputs) < least or (most is not None and len(op.outputs) > most):
        return f"`{op.type}` has another number of outputs there"
    return None
