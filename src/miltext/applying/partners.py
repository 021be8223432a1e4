"""The parts of the edited graph that the parts of the two compared graphs correspond to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.functions import Block
from miltext.ir.parts import Op

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.diffing.lining_up import Texts
    from miltext.ir.functions import Function
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Value
    from miltext.pairing.pairing import PairedBlock


class Partners:
    """The parts of a graph of the old program, by the parts of the compared graphs.

    `ops`, `blocks`, `values` and `functions` are by the old parts, `new_ops`, `new_blocks` and `new_functions` by the
    new ones that correspond to old ones. `followers` are the new operations by ours.
    """

    def __init__(self, texts: Texts, graph: Graph) -> None:
        self.ops: dict[Op, Op] = {}
        self.blocks: dict[Block, Block] = {}
        self.values: dict[Value, Value] = {}
        self.functions: dict[Function, Function] = {}
        self.new_ops: dict[Op, Op] = {}
        self.new_blocks: dict[Block, Block] = {}
        self.new_functions: dict[Function, Function] = {}
        for name, function in texts.old.functions.items():
            self._function(function, graph.functions[name])
        for pair in texts.pairs:
            if pair.old is not None and pair.new is not None:
                self.new_functions[pair.new] = self.functions[pair.old]
            self._pairs(pair.blocks)
        self.followers = {own: new for new, own in self.new_ops.items()}
        self._tokens = {texts.old.tokens[value]: own for value, own in self.values.items() if value in texts.old.tokens}
        self._new_tokens = texts.new.tokens
        self._unknown = {value: each for each in texts.new.functions.values() for value in each.undefined.values()}

    def _function(self, function: Function, own: Function) -> None:
        self.functions[function] = own
        self.values.update(zip(function.defined(), own.defined(), strict=True))
        for (_, part), (_, there) in zip(function.parts(), own.parts(), strict=True):
            if isinstance(part, Op) and isinstance(there, Op):
                self.ops[part] = there
            elif isinstance(part, Block) and isinstance(there, Block):
                self.blocks[part] = there

    def _pairs(self, pairs: Iterable[PairedBlock]) -> None:
        for pair in pairs:
            if pair.old is not None and pair.new is not None:
                self.new_blocks[pair.new] = self.blocks[pair.old]
            for _, old, new in pair.partners():
                self.new_ops[new] = self.ops[old]
            for inner in pair.inner.values():
                self._pairs(inner)

    def value(self, new: Value) -> Value | None:
        """Return the value that corresponds to a new one; None without one.

        A name without a definition corresponds to the same name.
        """
        if new in self._unknown:
            function = self.new_functions.get(self._unknown[new])
            return None if function is None else function.unknown(new.name)
        return self._tokens.get(self._new_tokens.get(new, -1))

    def owner(self, new: Op | Function) -> Op | Function | None:
        """Return the operation or function that corresponds to the owner of a new block."""
        return self.new_ops.get(new) if isinstance(new, Op) else self.new_functions.get(new)
