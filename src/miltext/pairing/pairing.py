"""Pairs of corresponding functions, blocks and operations of two programs."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from miltext.pairing.keyed import EXACT
from miltext.pairing.likeness import Sources
from miltext.pairing.matching import match_blocks, match_names
from miltext.pairing.named import paired_names
from miltext.pairing.sequences import Pair, common, in_order, merged
from miltext.schema.opsets import plain_opset
from miltext.syntax.gc_pause import gc_paused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op
    from miltext.pairing.keyed import KeyedGraph


class PairedBlock(NamedTuple):
    """Two corresponding blocks, or one without a partner.

    `place` is its opset in a function, its index in an operation. `inputs` and `pairs` are the inputs and operations
    that correspond, by index; `spine` the pairs of operations also in the same order; `inner` the inner blocks of
    pairs, by the new index.
    """

    place: str
    old: Block | None
    new: Block | None
    inputs: list[Pair]
    pairs: dict[int, int]
    spine: list[Pair]
    inner: dict[int, list[PairedBlock]]

    def sides(self) -> tuple[list[Op], list[Op]]:
        """Return the operations of both blocks; none of a missing block."""
        return [*(self.old or ())], [*(self.new or ())]

    def partners(self) -> list[tuple[int, Op, Op]]:
        """Return the operations that correspond, each pair with the new index."""
        old, new = self.sides()
        return [(j, old[i], new[j]) for i, j in self.pairs.items()]

    def steps(self) -> Iterator[tuple[Op | None, Op | None]]:
        """Yield the operations of both in a common order: two for a pair of the spine, else one."""
        old, new = self.sides()
        for i, j in merged(self.spine, len(old), len(new)):
            yield None if i is None else old[i], None if j is None else new[j]


class PairedFunction(NamedTuple):
    """Two functions that correspond, or one without a partner; `inputs` are pairs of inputs, by index."""

    old_name: str
    name: str
    old: Function | None
    new: Function | None
    inputs: list[Pair]
    blocks: list[PairedBlock]


def pair_functions(old: KeyedGraph, new: KeyedGraph) -> list[PairedFunction]:
    """Return the functions of both programs by name; functions of one name, and renamed ones, are paired."""
    with gc_paused:
        names = _function_names(old, new)
        found = [_pair_function(name, names.get(name, name), old, new) for name in old.functions]
        added = sorted(new.functions.keys() - names.values())
        found += [_pair_function(name, name, old, new) for name in added]
    return sorted(found, key=lambda pair: pair.name)


def _function_names(old: KeyedGraph, new: KeyedGraph) -> dict[str, str]:
    """Return the new name of each function that both have."""
    if len(old.functions) == len(new.functions) == 1:
        return dict(zip(old.functions, new.functions, strict=True))
    return paired_names(
        old.functions,
        new.functions,
        lambda name: Sources(old, EXACT).function(old.functions[name]),
        lambda name: Sources(new, EXACT).function(new.functions[name]),
    )


def _pair_function(old_name: str, name: str, old: KeyedGraph, new: KeyedGraph) -> PairedFunction:
    a, b = old.functions.get(old_name), new.functions.get(name)
    if a is None or b is None:
        return PairedFunction(old_name, name, a, b, [], [])
    inputs = _pair_inputs(old, a, new, b)
    blocks = [_pair_block(*block, old, new) for block in _function_blocks(a, b)]
    return PairedFunction(old_name, name, a, b, inputs, blocks)


def _function_blocks(a: Function, b: Function) -> list[tuple[str, Block | None, Block | None]]:
    """Return the blocks of two functions by opset, if need be by another of its names; the only blocks, of any."""
    partners = {key: key for key in a.blocks if key in b.blocks}
    left = {plain_opset(key): key for key in sorted(b.blocks, reverse=True) if key not in partners}
    for key in sorted(a.blocks.keys() - partners.keys()):
        if (same := left.pop(plain_opset(key), None)) is not None:
            partners[key] = same
    if len(a.blocks) == len(b.blocks) == 1:
        partners = dict(zip(a.blocks, b.blocks, strict=True))
    paired = [(other, a.blocks[key], b.blocks[other]) for key, other in partners.items()]
    lost = [(key, block, None) for key, block in a.blocks.items() if key not in partners]
    made = [(key, None, block) for key, block in b.blocks.items() if key not in partners.values()]
    return sorted([*paired, *lost, *made], key=itemgetter(0))


def _pair_inputs(old: KeyedGraph, a: Block | Function, new: KeyedGraph, b: Block | Function) -> list[Pair]:
    """Return the inputs that correspond, and set the tokens of all."""
    pairs = match_names(old, a.inputs, new, b.inputs)
    for graph, side in ((old, a), (new, b)):
        for value in side.inputs:
            graph.tokens[value] = graph.keys.fresh()
    for i, j in pairs:
        new.tokens[b.inputs[j]] = old.tokens[a.inputs[i]]
        old.known_as[a.inputs[i]] = b.inputs[j].name
    return pairs


def _pair_block(place: str, a: Block | None, b: Block | None, old: KeyedGraph, new: KeyedGraph) -> PairedBlock:
    if a is None or b is None:
        return PairedBlock(place, a, b, [], {}, [], {})
    inputs = _pair_inputs(old, a, new, b)
    pairs = match_blocks(old, a, new, b)
    ops, others = [*a], [*b]
    inner = {
        j: [_pair_block(*block, old, new) for block in _inner_blocks(old, ops[i], new, others[j])]
        for i, j in pairs
        if ops[i].blocks or others[j].blocks
    }
    return PairedBlock(place, a, b, inputs, dict(pairs), in_order(pairs), inner)


def _inner_blocks(old: KeyedGraph, a: Op, new: KeyedGraph, b: Op) -> list[tuple[str, Block | None, Block | None]]:
    """Return the inner blocks of two operations: one by one if the numbers are equal, else by their contents."""
    if len(a.blocks) == len(b.blocks):
        return [(str(place), a.blocks[place], b.blocks[place]) for place in range(len(b.blocks))]
    keys = [[Sources(graph, EXACT).block(block, 1) for block in op.blocks] for graph, op in ((old, a), (new, b))]
    return [
        (str(i if j is None else j), None if i is None else a.blocks[i], None if j is None else b.blocks[j])
        for i, j in merged(common(*keys), len(a.blocks), len(b.blocks))
    ]
