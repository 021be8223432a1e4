"""The likeness of operations: alone, with all sources, and with connections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.parts import Value
from miltext.pairing.keyed import EXACT, HELD, LOOSE, NAME, SHAPED, TYPED, names_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op
    from miltext.pairing.keyed import KeyedGraph


def local(graph: KeyedGraph, op: Op, level: int) -> int:
    """Return an integer for an operation by itself, at a level."""
    kinds = graph.facts[op].kinds
    known = kinds.get(level)
    if known is None:
        known = kinds[level] = graph.keys[_LEVELS[level](graph, op)]
    return known


def _shape(graph: KeyedGraph, op: Op) -> Hashable:
    """Return an operation with the types of its literals, but without their values."""
    type_key, attributes = graph.contents.type_key, op.attributes
    arguments = [
        (key, *[None if each is None or isinstance(each, Value) else type_key(each) for each in operands])
        for key, operands in op.inputs.items()
    ]
    stated = [(key, type_key(attributes[key])) for key in sorted(attributes) if key != NAME]
    types = [graph.types[output] for output in op.outputs]
    return "shape", op.type, tuple(arguments), tuple(stated), tuple(types), len(op.blocks)


_LEVELS: dict[int, Callable[[KeyedGraph, Op], Hashable]] = {
    SHAPED: _shape,
    TYPED: lambda _, op: ("type", op.type),
    HELD: lambda graph, op: "held" if op.is_constant else graph.keys.fresh(),
    LOOSE: lambda graph, op: ("grounded", graph.facts[op].grounded),
}
"""Functions for the key of an operation by itself, at each level but the exact one."""


class Sources:
    """Integers for operations with all their sources: equal operations with equal sources have equal integers.

    The sources end at inputs, and at values with tokens. Visit the operations of operands before their users.
    """

    def __init__(self, graph: KeyedGraph, level: int) -> None:
        self._graph = graph
        self._level = level
        self._known: dict[Value, int] = {}

    def function(self, function: Function) -> Hashable:
        """Return the contents of a function without its name and the names of values."""
        types = self._inputs(function.inputs, 0)
        blocks = [(opset, self.block(block, 1)) for opset, block in function.blocks.items()]
        attributes = function.attributes
        stated = [(name, self._graph.contents.key(attributes[name])) for name in sorted(attributes)]
        return function.message.opset, types, tuple(blocks), tuple(stated)

    def op(self, op: Op, depth: int = 0) -> int:
        """Return the integer of an operation inside `depth` blocks."""
        keys, facts = self._graph.keys, self._graph.facts[op]
        number = facts.kinds.get(self._level)
        if number is None:
            number = local(self._graph, op, self._level)
        if facts.operands or op.blocks:  # any other operation has no sources
            blocks = tuple([self.block(block, depth + 1) for block in op.blocks])
            number = keys["from", self._level, number, facts.slots, self._tokens(facts.operands), blocks]
        for place, value in enumerate(op.outputs):
            self._known[value] = keys["output", number, place] if place else number
        return number

    def block(self, block: Block, depth: int) -> int:
        """Return the integer of a block, in any order of its operations."""
        types = self._inputs(block.inputs, depth)
        made = sorted([self.op(op, depth) for op in block])
        return self._graph.keys["block", types, tuple(made), self._tokens(block.outputs)]

    def _inputs(self, inputs: Iterable[Value], depth: int) -> tuple[int, ...]:
        for place, value in enumerate(inputs):
            self._known[value] = self._graph.keys["input", depth, place]
        return tuple([self._graph.types[value] for value in inputs])

    def _tokens(self, values: Iterable[Value]) -> tuple[int, ...]:
        known, tokens = self._known, self._graph.tokens
        return tuple([known[value] if (token := tokens.get(value)) is None else token for value in values])


class BlockOperations:
    """The operations of one block, by index.

    `mates` are their partners' indexes in the other block, `tokens` integers that partners share. `makers` lists for
    each the makers of its operands, as (slot, index, place among the maker's outputs), `uses` its users, as (place,
    slot, index), and `exits` the outputs of the block that take its values, with a token of the output for an index.
    """

    def __init__(self, graph: KeyedGraph, block: Block) -> None:
        self.graph = graph
        self.block = block
        self.ops = [*block]
        self.facts = [graph.facts[op] for op in self.ops]
        self.names = [names_of(op) for op in self.ops]
        self.mates: list[int | None] = [None] * len(self.ops)
        self.tokens: list[int] = [0] * len(self.ops)
        self.exits: dict[int, list[tuple[int, int, int]]] = {}
        self.makers = [self._makers(index) for index in range(len(self.ops))]
        self.uses: list[list[tuple[int, int, int]]] = [[] for _ in self.ops]
        for index, makers in enumerate(self.makers):
            for slot, maker, place in makers:
                self.uses[maker].append((place, slot, index))

    def _makers(self, index: int) -> list[tuple[int, int, int]]:
        facts, inside = self.facts[index], self.graph.keys["inside"]
        taken = [*zip(facts.slots, facts.operands, strict=True), *[(inside, value) for value in facts.captures]]
        return [(slot, *made) for slot, value in taken if (made := self._made(value)) is not None]

    def _made(self, value: Value) -> tuple[int, int] | None:
        """Return the operation of this block that computes a value, and the place among its outputs."""
        maker = value.maker
        if maker is None or maker.block is not self.block:
            return None
        return self.graph.facts[maker].index, maker.outputs.index(value)

    def set_exits(self, tokens: list[int]) -> None:
        """Set the token of each output of the block: corresponding outputs share theirs."""
        outside = self.graph.keys["outside"]
        for value, token in zip(self.block.outputs, tokens, strict=True):
            if (made := self._made(value)) is not None:
                self.exits.setdefault(made[0], []).append((made[1], outside, token))

    def is_used(self, index: int) -> bool:
        """Return whether any output of an operation is used."""
        return bool(self.uses[index]) or index in self.exits

    def is_telling(self, index: int) -> bool:
        """Return whether text and name identify an operation: it has weights, or is not a constant."""
        return self.facts[index].grounded or self.facts[index].weighty

    def is_next(self, index: int, other: int) -> bool:
        """Return whether either operation takes a value of the other."""
        return any(maker == other for _, maker, _ in self.makers[index]) or any(
            maker == index for _, maker, _ in self.makers[other]
        )

    def part(self, index: int) -> None:
        """Take the partner of an operation away."""
        self.mates[index] = None
        for value in self.ops[index].outputs:
            self.graph.known_as.pop(value, None)

    def single(self, start: int = 0, stop: int | None = None) -> list[int]:
        """Return the unpaired operations, or those in a range."""
        return [index for index, mate in enumerate(self.mates[start:stop], start) if mate is None]

    def local(self, index: int, level: int) -> int:
        """Return an integer for an operation by itself, at a level."""
        known = self.facts[index].kinds.get(level)
        return local(self.graph, self.ops[index], level) if known is None else known

    def line(self, index: int) -> Hashable:
        """Return an operation as written, except weights, inner blocks and the attribute `name`."""
        facts = self.facts[index]
        return facts.kinds[EXACT], facts.slots, self.names[index], tuple([value.name for value in facts.operands])

    def upward(self, level: int) -> dict[int, int]:
        """Return an integer for all sources of each unpaired operation, up to the inputs or to partners."""
        sources = Sources(self.graph, level)
        return {index: sources.op(self.ops[index]) for index in self.single()}

    def downward(self, level: int) -> dict[int, int]:
        """Return an integer for all results of each unpaired operation, down to the outputs or to partners."""
        keys, exits = self.graph.keys, self.exits
        known = list(self.tokens)
        found: dict[int, int] = {}
        for index in reversed(self.single()):
            uses = [(place, slot, known[user]) for place, slot, user in self.uses[index]]
            if index in exits:
                uses += exits[index]
            uses.sort()
            found[index] = known[index] = keys["to", level, self.local(index, level), tuple(uses)]
        return found
