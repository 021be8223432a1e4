"""Operations of other functions in a function: equal constants once, and names apart."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from miltext.printing.renaming import rename

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Value


class Moving:
    """A function that takes the operations of others; `names` are their values, with their names and their parts.

    `shared` is the number of constants that an earlier part has, too.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self.names: list[tuple[Value, str, str]] = []
        self.shared = 0
        self._constants: dict[tuple[Block | bytes | Value, ...], Op] = {}

    def take(self, part: Function, block: Block, name: str) -> list[Op]:
        """Return the operations of a part's block, whose values are known by the part's name from now on."""
        part.touch()
        self._function.clashing.update(part.clashing)
        self.names += [(value, value.name, name) for value in part.defined()]
        block.outputs = []
        return [*block]

    def put(self, block: Block, place: Op | None, ops: Iterable[Op], given: Collection[Value]) -> None:
        """Insert operations before a place of a block; `given` are the outputs among their values."""
        block.insert_before(place, *(op for op in ops if not self._is_there(block, op, given)))

    def _is_there(self, block: Block, op: Op, given: Collection[Value]) -> bool:
        """Return whether the block has an equal constant of an earlier part under its name, which then takes its uses;
        an output stays.
        """
        if not op.is_constant or any(value in given for value in op.outputs):
            return False
        data = hashlib.blake2b(op.message.SerializeToString(deterministic=True)).digest()
        first = self._constants.setdefault((block, data, *op.operands), op)
        if first is op:
            return False
        self.shared += 1
        for value, same in zip(op.outputs, first.outputs, strict=True):
            value.replace_uses(same)
        return True

    def part_names(self, outer: Collection[Value]) -> None:
        """Give fresh names to values whose names another part has, or one of the `outer` values, which keep theirs."""
        first: dict[str, str | None] = {value.name: None for value in outer}
        for value, _, part in self.names:
            if value not in outer and first.setdefault(value.name, part) != part:
                rename(value, self._function.fresh(value.name))
