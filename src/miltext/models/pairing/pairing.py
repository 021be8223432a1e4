"""Two programs side by side: pairs of functions, blocks and operations that correspond."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from miltext.models.pairing.graph import EXACT
from miltext.models.pairing.likeness import Sources
from miltext.models.pairing.matching import match_names, match_regions
from miltext.models.pairing.sequences import Pair, common, in_order, merged

if TYPE_CHECKING:
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node, Region


class PairedBlock(NamedTuple):
    """Two blocks that correspond, or one without a partner.

    `place` is its opset in a function, its index in an operation. `inputs` and `pairs` are the inputs and operations
    that correspond, by index; `spine` those pairs of operations that are also in the same order; `inner` the inner
    blocks of pairs, by the new index.
    """

    place: str
    old: Region | None
    new: Region | None
    inputs: list[Pair]
    pairs: dict[int, int]
    spine: list[Pair]
    inner: dict[int, list[PairedBlock]]

    def steps(self) -> Iterator[tuple[Node | None, Node | None]]:
        """Yield the operations of both in one order: two for a pair of the spine, else one."""
        old, new = [region.nodes if region else [] for region in (self.old, self.new)]
        for i, j in merged(self.spine, len(old), len(new)):
            yield None if i is None else old[i], None if j is None else new[j]


class PairedFunction(NamedTuple):
    """Two functions that correspond, or one without a partner; `inputs` are pairs of inputs, by index."""

    old_name: str
    name: str
    old: FunctionGraph | None
    new: FunctionGraph | None
    inputs: list[Pair]
    blocks: list[PairedBlock]


def pair_functions(old: Graph, new: Graph) -> list[PairedFunction]:
    """Return the functions of both programs by name; those of one name, and those only renamed, are paired."""
    names = _function_names(old, new)
    found = [_pair_function(name, names.get(name, name), old, new) for name in old.functions]
    added = sorted(new.functions.keys() - names.values())
    found += [_pair_function(name, name, old, new) for name in added]
    return sorted(found, key=lambda pair: pair.name)


def _function_names(old: Graph, new: Graph) -> dict[str, str]:
    """Return the new name of each function that both have."""
    names = {name: name for name in old.functions if name in new.functions}
    left = [name for name in old.functions if name not in names]
    free = {Sources(new, EXACT).function(new.functions[name]): name for name in new.functions if name not in names}
    for name in left:
        same = free.pop(Sources(old, EXACT).function(old.functions[name]), None)
        if same is not None:
            names[name] = same
    if len(old.functions) == len(new.functions) == 1:
        names = dict(zip(old.functions, new.functions, strict=True))
    return names


def _pair_function(old_name: str, name: str, old: Graph, new: Graph) -> PairedFunction:
    a, b = old.functions.get(old_name), new.functions.get(name)
    if a is None or b is None:
        return PairedFunction(old_name, name, a, b, [], [])
    inputs = _pair_inputs(old, a.inputs, new, b.inputs)
    keys = sorted({*a.blocks, *b.blocks})
    blocks = [(key, a.blocks.get(key), b.blocks.get(key)) for key in keys]
    if len(a.blocks) == len(b.blocks) == 1:
        (region,), ((place, other),) = a.blocks.values(), b.blocks.items()
        blocks = [(place, region, other)]
    return PairedFunction(old_name, name, a, b, inputs, [_pair_block(*block, old, new) for block in blocks])


def _pair_inputs(old: Graph, a: Region, new: Graph, b: Region) -> list[Pair]:
    """Return the inputs that correspond, and set the tokens of all."""
    pairs = match_names(old, a.inputs, new, b.inputs)
    for graph, region in ((old, a), (new, b)):
        for value in region.inputs:
            graph.tokens[value] = graph.keys.fresh()
    for i, j in pairs:
        new.tokens[b.inputs[j]] = old.tokens[a.inputs[i]]
        old.known_as[a.inputs[i]] = new.names[b.inputs[j]]
    return pairs


def _pair_block(place: str, a: Region | None, b: Region | None, old: Graph, new: Graph) -> PairedBlock:
    if a is None or b is None:
        return PairedBlock(place, a, b, [], {}, [], {})
    inputs = _pair_inputs(old, a, new, b)
    pairs = match_regions(old, a, new, b)
    inner = {
        j: [_pair_block(*block, old, new) for block in _inner_blocks(old, a.nodes[i], new, b.nodes[j])]
        for i, j in pairs
        if a.nodes[i].blocks or b.nodes[j].blocks
    }
    return PairedBlock(place, a, b, inputs, dict(pairs), in_order(pairs), inner)


def _inner_blocks(old: Graph, a: Node, new: Graph, b: Node) -> list[tuple[str, Region | None, Region | None]]:
    """Return the inner blocks of two operations: one by one if the numbers are equal, else by their contents."""
    if len(a.blocks) == len(b.blocks):
        return [(str(place), a.blocks[place], b.blocks[place]) for place in range(len(b.blocks))]
    keys = [[Sources(graph, EXACT).block(block, 1) for block in node.blocks] for graph, node in ((old, a), (new, b))]
    return [
        (str(i if j is None else j), None if i is None else a.blocks[i], None if j is None else b.blocks[j])
        for i, j in merged(common(*keys), len(a.blocks), len(b.blocks))
    ]
