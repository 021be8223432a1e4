"""Which values of two functions are held against each other, and from which others each is computed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.models.pairing.graph import EXACT
from miltext.models.pairing.matching import match_names
from miltext.schema.paths import Key

if TYPE_CHECKING:
    from miltext.models.pairing.graph import FunctionGraph, Graph, Node, Region
    from miltext.models.pairing.pairing import PairedBlock
    from miltext.schema.paths import Path


VALUE, OUTPUT, STATE = "value", "output", "state"
"""The kinds of pairs: of inner values and inputs, of outputs, and of what states hold in the end."""


class Walked:
    """One function of a graph, all its blocks included.

    Values have the numbers that the graph gives them. `nodes` are the operations by their paths, `paths` the paths by
    the numbers of what they make or take in. `inputs` and `outputs` are the numbers of the function's; `around` has the
    operations whose inner blocks take in values, by the numbers of these.
    """

    def __init__(self, graph: Graph, name: str, opset: str) -> None:
        self.graph = graph
        function: FunctionGraph = graph.functions[name]
        self.region = function.blocks[opset]
        self.inputs = function.inputs.inputs
        self.outputs = self.region.outputs
        self.nodes: dict[Path, Node] = {}
        self.paths: dict[int, Path] = {}
        self.around: dict[int, Node] = {}
        self._written: dict[int, list[int]] = {}
        path: Path = ("functions", Key(name))
        self.paths.update({number: (*path, "inputs", place) for place, number in enumerate(self.inputs)})
        self._walk(self.region, (*path, "block_specializations", Key(opset)))

    def _walk(self, region: Region, path: Path) -> None:
        for node in region.nodes:
            place = (*path, "operations", node.index)
            self.nodes[place] = node
            self.paths.update({number: (*place, "outputs", at) for at, number in enumerate(node.values)})
            if node.operation.type == "write_state" and node.operands:
                *data, state = node.operands  # in the order of their parameters' names: `data`, `input`
                self._written.setdefault(state, []).extend(data)
            for at, inner in enumerate(node.blocks):
                self.around.update(dict.fromkeys(inner.inputs, node))
                self._walk(inner, (*place, "blocks", at))

    def sources(self, number: int) -> Iterator[int]:
        """Yield the values that a value comes from: what its operation takes, what inner blocks or states hand on."""
        node = self.graph.makers[number] or self.around.get(number)
        yield from self._written.get(number, ())
        if node is not None:
            yield from node.operands
            for block in node.blocks:
                yield from block.outputs

    def through(self, number: int, paired: Container[int]) -> Iterable[int]:
        """Return the values that a value comes from, and for those that are not `paired` what they come from."""
        seen: dict[int, None] = {}
        waiting = list(self.sources(number))
        while waiting:
            value = waiting.pop()
            if value not in seen and value != number:
                seen[value] = None
                if value not in paired:
                    waiting += self.sources(value)
        return seen

    def is_constant(self, number: int) -> bool:
        """Tell whether a value comes from no input."""
        maker = self.graph.makers[number]
        return maker is not None and not maker.grounded

    def inside(self, node: Node) -> Iterator[int]:
        """Yield the values that are made in the inner blocks of an operation."""
        for block in node.blocks:
            for inner in block.nodes:
                yield from inner.values
                yield from self.inside(inner)


class Pair(NamedTuple):
    """Two values that are held against each other, by number; `kind` is one of VALUE, OUTPUT and STATE."""

    old: int
    new: int
    kind: str = VALUE


class Partners:
    """The pairs of values that are compared, and how the new program's values hang together.

    `main` has the index of the pair that speaks for a value of the new program. `lost` and `gained` are the names of
    outputs that only the old or the new one has.
    """

    def __init__(self, new: Walked, pairs: list[Pair], lost: Sequence[str] = (), gained: Sequence[str] = ()) -> None:
        self.new = new
        self.pairs = pairs
        self.lost = lost
        self.gained = gained
        self.main: dict[int, int] = {}
        for index, pair in enumerate(pairs):
            if pair.kind != STATE:
                self.main.setdefault(pair.new, index)
        self._nearest: dict[int, tuple[int, ...]] = {}

    def nearest(self, number: int) -> tuple[int, ...]:
        """Return the pairs of the values that a value of the new program comes from, through what has no partner."""
        if number not in self._nearest:
            found = (self.main.get(value) for value in self.new.through(number, self.main))
            self._nearest[number] = tuple(index for index in found if index is not None)
        return self._nearest[number]

    def are_made_alike(self, old: Walked | None, pair: Pair) -> bool:
        """Tell whether one operation makes both values of a pair, of the same type and arguments, from pairs.

        What it makes differs then only as what it takes does: a program always computes the same from the same.
        """
        maker = old.graph.makers[pair.old] if old else None
        other = self.new.graph.makers[pair.new]
        if maker is None or other is None or not maker.operands or maker.blocks or other.blocks:
            return False
        if maker.kinds[EXACT] != other.kinds[EXACT] or maker.slots != other.slots:
            return False
        partners = (self.main.get(number) for number in other.operands)
        return all(
            index is not None and self.pairs[index].old == number
            for index, number in zip(partners, maker.operands, strict=True)
        )


def between(walked: Walked, number: int, paired: Container[int]) -> list[Node]:
    """Return the operations without partners that stand between a value and the nearest that have one."""
    makers = [walked.graph.makers[value] for value in walked.through(number, paired) if value not in paired]
    return list(dict.fromkeys(maker for maker in makers if maker is not None))


def by_structure(
    old: Walked, new: Walked, inputs: Mapping[int, int], states: Mapping[int, int], block: PairedBlock | None
) -> Partners:
    """Return the values of two functions that correspond, as `diff` finds them, and the outputs that do.

    `inputs` and `states` are those that correspond, by number; `block` is how `diff` pairs the blocks of the two.
    """
    same = dict(inputs)
    if block is not None:
        same.update(_operations(block))
        _add_inner_outputs(block, same)
        same.update(_constants(old, new, same))
    outputs = _outputs(old, new, same, has_more=len(same) > len(inputs))
    pairs = [Pair(a, b, OUTPUT if outputs.get(a) == b else VALUE) for a, b in same.items()]
    pairs += [Pair(a, b, OUTPUT) for a, b in outputs.items() if same.get(a) != b]
    pairs += [Pair(a, b, STATE) for a, b in states.items()]
    lost = [old.graph.names[number] for number in old.outputs if number not in outputs]
    gained = [new.graph.names[number] for number in new.outputs if number not in outputs.values()]
    return Partners(new, [*pairs, *_casts(new, pairs)], lost, gained)


def by_name(new: Walked, names: Iterable[str]) -> Partners:
    """Return what is called by the names: values of the function's own block, or else the first of inner blocks.

    The old numbers are the places of the names, and all count as outputs. Raise KeyError for a name that no value has.
    """
    own = (*new.inputs, *(number for node in new.region.nodes for number in node.values))
    known = {new.graph.names[number]: number for number in (*reversed(new.paths), *own)}
    found = [known[name] for name in names]
    return Partners(new, [Pair(place, number, OUTPUT) for place, number in enumerate(found)])


def _outputs(old: Walked, new: Walked, same: Mapping[int, int], *, has_more: bool) -> dict[int, int]:
    """Return the outputs that correspond: those of one name, those that correspond by structure, the rest in order.

    The rest is paired only where the functions have more in common than inputs.
    """
    names, others = old.graph.names, new.graph.names
    by_name = {others[number]: number for number in new.outputs}
    found = {number: by_name[names[number]] for number in old.outputs if names[number] in by_name}
    for number in old.outputs:
        partner = same.get(number)
        if number not in found and partner in new.outputs and partner not in found.values():
            found[number] = partner
    left = [number for number in dict.fromkeys(old.outputs) if number not in found]
    free = [number for number in dict.fromkeys(new.outputs) if number not in found.values()]
    rest = match_names(old.graph, left, new.graph, free) if has_more else []
    return found | {left[i]: free[j] for i, j in rest}


def _constants(old: Walked, new: Walked, same: Mapping[int, int]) -> dict[int, int]:
    """Return the constants that nothing else pairs, and that corresponding operations take in the same place.

    So a weight is held against the weight that is compressed.
    """
    found: dict[int, int] = {}
    taken = {*same.values()}
    for a, b in same.items():
        maker, other = old.graph.makers[a], new.graph.makers[b]
        if maker is None or other is None:
            continue
        places = dict(zip(other.slots, other.operands, strict=True))
        for slot, number in zip(maker.slots, maker.operands, strict=True):
            partner = places.get(slot, -1)
            is_free = number not in same and number not in found and partner >= 0 and partner not in taken
            if is_free and old.is_constant(number) and new.is_constant(partner):
                found[number] = partner
                taken.add(partner)
    return found


def _casts(new: Walked, pairs: Iterable[Pair]) -> list[Pair]:
    """Return the casts that only the new program has, each with what the value that it casts is held against."""
    partners = {pair.new: pair.old for pair in reversed(list(pairs))}
    found: list[Pair] = []
    for node in new.nodes.values():
        if node.operation.type == "cast" and node.operands and node.values[0] not in partners:
            source = partners.get(node.operands[0])
            if source is not None:
                partners[node.values[0]] = source
                found.append(Pair(source, node.values[0]))
    return found


def _operations(block: PairedBlock) -> dict[int, int]:
    """Return the values of operations that correspond, those of inner blocks included."""
    assert block.old is not None
    assert block.new is not None
    found: dict[int, int] = {}
    for i, j in block.pairs.items():
        found.update(zip(block.old.nodes[i].values, block.new.nodes[j].values, strict=False))
        for inner in block.inner.get(j, ()):
            if inner.old is not None and inner.new is not None:
                found.update(_operations(inner))
    return found


def _add_inner_outputs(block: PairedBlock, same: dict[int, int]) -> None:
    """Pair what inner blocks that correspond hand on, where they make it and nothing else pairs it."""
    taken = {*same.values()}
    for inner in (each for blocks in block.inner.values() for each in blocks):
        if inner.old is not None and inner.new is not None:
            for a, b in zip(inner.old.outputs, inner.new.outputs, strict=False):
                if a not in same and b not in taken and _makes(inner.old, a) and _makes(inner.new, b):
                    same[a] = b
                    taken.add(b)
            _add_inner_outputs(inner, same)


def _makes(region: Region, number: int) -> bool:
    return any(number in node.values for node in region.nodes)
