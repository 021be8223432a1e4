"""The pairs of values to compare in two functions, and the sources of each value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.ir.functions import Block
from miltext.ir.parts import Op, Value
from miltext.pairing.keyed import EXACT
from miltext.pairing.matching import match_names
from miltext.schema.paths import Key, block_path
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.pairing.keyed import KeyedGraph
    from miltext.pairing.pairing import PairedBlock
    from miltext.schema.paths import Path


Held: TypeAlias = "Value | int"
"""A compared value, or the index of an array in place of an old program."""

VALUE, OUTPUT, STATE = "value", "output", "state"
"""The kinds of pairs: inner values and inputs, outputs, and final states."""


class Walked:
    """The single block of a function: its operations by their `paths`, and the sources of values.

    `values` are the inputs and the outputs of operations, in the order of the text, each operation before its inner
    ones.
    """

    def __init__(self, graph: KeyedGraph, name: str, opset: str) -> None:
        self.graph = graph
        self.function = graph.functions[name]
        self.block = self.function.blocks[opset]
        self.ops = {place: part for place, part in self.block.parts(block_path(name, opset)) if isinstance(part, Op)}
        self.paths = {op: place for place, op in self.ops.items()}
        self.values = [*self.function.inputs, *(value for op in self.paths for value in op.outputs)]

    def path(self, value: Value) -> Path:
        """Return the place where a value is declared."""
        if value.maker is None:
            return ("functions", Key(self.function.name), "inputs", self.function.inputs.index(value))
        return (*self.paths[value.maker], "outputs", value.maker.outputs.index(value))

    def sources(self, value: Value) -> Iterator[Value]:
        """Yield the sources of a value: the operands of its operation, and values passed on by inner blocks or
        states.
        """
        op = value.owner.owner if isinstance(value.owner, Block) else value.maker
        for use in value.uses:
            if use.op in self.paths and use.op.type == "write_state" and use.op.operands[-1] is value:
                yield from use.op.operands[:-1]  # in the order of their parameters' names: `data`, `input`
        if isinstance(op, Op):
            yield from op.operands
            for block in op.blocks:
                yield from block.outputs

    def through(self, value: Value, paired: Container[Held]) -> Iterable[Value]:
        """Return the sources of a value; a source that is not `paired` is replaced by its own sources."""
        seen: dict[Value, None] = {}
        waiting = list(self.sources(value))
        while waiting:
            source = waiting.pop()
            if source not in seen and source is not value:
                seen[source] = None
                if source not in paired:
                    waiting += self.sources(source)
        return seen

    def is_constant(self, value: Value) -> bool:
        """Return whether a value comes from no input."""
        return value.maker is not None and not self.graph.facts[value.maker].grounded


class Pair(NamedTuple):
    """Two values to be compared; `kind` is VALUE, OUTPUT or STATE."""

    old: Held
    new: Value
    kind: str = VALUE


class Sameness(NamedTuple):
    """The criteria for equal operations.

    `source` returns the value that an operand stands for, and `is_kept` whether a pair of operands counts as equal.
    """

    operations: Callable[[Op, Op], bool] | None = None
    source: Callable[[Value], Value] = lambda value: value
    is_kept: Callable[[int], bool] = lambda _: True


EQUAL = Sameness()


class Partners:
    """The pairs of values to compare, and the sources of the new program's values.

    `main` has the index of the pair that represents a value of the new program. `lost` and `gained` are the names of
    outputs that only the old or the new one has.
    """

    def __init__(self, new: Walked, pairs: list[Pair], lost: Sequence[str] = (), gained: Sequence[str] = ()) -> None:
        self.new = new
        self.pairs = pairs
        self.lost = lost
        self.gained = gained
        self.main: dict[Value, int] = {}
        for index, pair in enumerate(pairs):
            if pair.kind != STATE:
                self.main.setdefault(pair.new, index)
        self._nearest: dict[Value, tuple[int, ...]] = {}

    def nearest(self, value: Value) -> tuple[int, ...]:
        """Return the pairs of the sources of a new program's value, through values without partners."""
        if value not in self._nearest:
            found = (self.main.get(source) for source in self.new.through(value, self.main))
            self._nearest[value] = tuple(index for index in found if index is not None)
        return self._nearest[value]

    def are_made_alike(self, old: Walked | None, pair: Pair, by: Sameness = EQUAL) -> bool:
        """Return whether operations of the same type and arguments make both values of a pair from paired inputs.

        The outputs then differ only because of the inputs.
        """
        if old is None or not isinstance(pair.old, Value):
            return False
        op, other = pair.old.maker, pair.new.maker
        if op is None or other is None or op.type != other.type:
            op, other = by.source(pair.old).maker, by.source(pair.new).maker
        if op is None or other is None or op.blocks or other.blocks:
            return False
        facts, others = old.graph.facts[op], self.new.graph.facts[other]
        if not facts.operands or facts.slots != others.slots:
            return False
        if not (by.operations(op, other) if by.operations else _are_equal(old, op, self.new, other)):
            return False
        return all(self._is_pair(*both, by) for both in zip(facts.operands, others.operands, strict=True))

    def take_alike(self, old: Walked, op: Op, other: Op, by: Sameness) -> bool:
        """Return whether operations of one type have the same parameters, with pairs of values or constants each."""
        facts, others = old.graph.facts[op], self.new.graph.facts[other]
        if op.type != other.type or facts.slots != others.slots:
            return False
        return all(
            self._is_pair(before, now, by) or (old.is_constant(before) and self.new.is_constant(now))
            for before, now in zip(facts.operands, others.operands, strict=True)
        )

    def _is_pair(self, old: Value, new: Value, by: Sameness) -> bool:
        index = self.main.get(new, self.main.get(by.source(new)))
        known = None if index is None or not by.is_kept(index) else self.pairs[index].old
        return isinstance(known, Value) and by.source(known) is by.source(old)


def between(walked: Walked, value: Value, paired: Container[Held]) -> list[Op]:
    """Return the operations without partners between a value and its nearest values with partners."""
    makers = [source.maker for source in walked.through(value, paired) if source not in paired]
    return list(dict.fromkeys(maker for maker in makers if maker is not None))


def by_structure(
    old: Walked,
    new: Walked,
    inputs: Mapping[Value, Value],
    states: Mapping[Value, Value],
    block: PairedBlock | None,
) -> Partners:
    """Return the corresponding values and outputs of two functions, as `diff` finds them.

    `inputs` and `states` are the corresponding inputs and states; `block` is `diff`'s pairing of the blocks.
    """
    same = dict(inputs)
    if block is not None:
        same.update(_operations(block))
        _prefer_namesakes(old, new, same)
        _add_inner_outputs(block, same)
        same.update(_constants(old, new, same))
    outputs = _outputs(old, new, same, has_more=len(same) > len(inputs))
    pairs = [Pair(a, b, OUTPUT if outputs.get(a) == b else VALUE) for a, b in same.items()]
    pairs += [Pair(a, b, OUTPUT) for a, b in outputs.items() if same.get(a) != b]
    pairs += [Pair(a, b, STATE) for a, b in states.items()]
    lost = [value.name for value in old.block.outputs if value not in outputs]
    gained = [value.name for value in new.block.outputs if value not in outputs.values()]
    return Partners(new, [*pairs, *_casts(new, pairs)], lost, gained)


def by_name(new: Walked, names: Iterable[str]) -> Partners:
    """Return the values of these names in the function's own block, or else the first in inner blocks.

    All of them count as outputs. Raise KeyError for a name without a value.
    """
    known = {value.name: value for value in (*reversed(new.values), *new.function.inputs, *new.block.made())}
    return Partners(new, [Pair(place, known[name], OUTPUT) for place, name in enumerate(names)])


def _outputs(old: Walked, new: Walked, same: Mapping[Value, Value], *, has_more: bool) -> dict[Value, Value]:
    """Return the corresponding outputs: by name, then by structure, the rest in order.

    The rest is paired only if the functions have more in common than inputs.
    """
    before, now = old.block.outputs, new.block.outputs
    named = {value.name: value for value in now}
    found = {value: named[value.name] for value in before if value.name in named}
    for value in before:
        partner = same.get(value)
        if value not in found and partner is not None and partner in now and partner not in found.values():
            found[value] = partner
    left = [value for value in dict.fromkeys(before) if value not in found]
    free = [value for value in dict.fromkeys(now) if value not in found.values()]
    rest = match_names(old.graph, left, new.graph, free) if has_more else []
    return found | {left[i]: free[j] for i, j in rest}


def _constants(old: Walked, new: Walked, same: Mapping[Value, Value]) -> dict[Value, Value]:
    """Return unpaired constants given for the same argument of corresponding operations.

    This compares a weight with its compressed form.
    """
    found: dict[Value, Value] = {}
    taken = {*same.values()}
    for a, b in same.items():
        if a.maker is None or b.maker is None:
            continue
        facts, others = old.graph.facts[a.maker], new.graph.facts[b.maker]
        places = dict(zip(others.slots, others.operands, strict=True))
        for slot, value in zip(facts.slots, facts.operands, strict=True):
            partner = places.get(slot)
            is_free = value not in same and value not in found and partner is not None and partner not in taken
            if partner is not None and is_free and old.is_constant(value) and new.is_constant(partner):
                found[value] = partner
                taken.add(partner)
    return found


def _casts(new: Walked, pairs: Iterable[Pair]) -> list[Pair]:
    """Return the casts that only the new program has, each with the reference of its input."""
    partners = {pair.new: pair.old for pair in reversed(list(pairs))}
    found: list[Pair] = []
    for op in new.paths:
        if op.type == "cast" and op.operands and op.outputs[0] not in partners:
            source = partners.get(op.operands[0])
            if source is not None:
                partners[op.outputs[0]] = source
                found.append(Pair(source, op.outputs[0]))
    return found


def _operations(block: PairedBlock) -> dict[Value, Value]:
    """Return the values of corresponding operations, inner blocks included."""
    found: dict[Value, Value] = {}
    for j, op, other in block.partners():
        found.update(zip(op.outputs, other.outputs, strict=False))
        for inner in block.inner.get(j, ()):
            if inner.old is not None and inner.new is not None:
                found.update(_operations(inner))
    return found


def _prefer_namesakes(old: Walked, new: Walked, same: dict[Value, Value]) -> None:
    """Pair a value with its free namesake of the same sizes, in place of a value that a different operation makes.

    An operation in place of several, such as a `conv` with a bias, has the name of the last of them, and the numbers.
    """
    counted = Counter(value.name for value in old.values)
    names = {value.name: value for value in old.values if counted[value.name] == 1}
    doubtful = {
        a: b
        for a, b in same.items()
        if a.name != b.name and a.maker and b.maker and not _are_equal(old, a.maker, new, b.maker)
    }
    for a, b in doubtful.items():
        namesake = names.get(b.name)
        is_free = namesake is not None and (namesake not in same or namesake in doubtful)
        if namesake is not None and is_free and _sizes(namesake) == _sizes(b):
            if same.get(a) is b:
                del same[a]
            same[namesake] = b


def _are_equal(old: Walked, op: Op, new: Walked, other: Op) -> bool:
    """Return whether two operations have the same type, parameters and constants."""
    facts, others = old.graph.facts[op], new.graph.facts[other]
    return facts.slots == others.slots and facts.kinds[EXACT] == others.kinds[EXACT]


def _sizes(value: Value) -> object:
    return value.type.shape if isinstance(value.type, TensorType) else value.type


def _add_inner_outputs(block: PairedBlock, same: dict[Value, Value]) -> None:
    """Pair the outputs of corresponding inner blocks that the blocks compute and that have no other pair."""
    taken = {*same.values()}
    for inner in (each for blocks in block.inner.values() for each in blocks):
        if inner.old is not None and inner.new is not None:
            for a, b in zip(inner.old.outputs, inner.new.outputs, strict=False):
                if a not in same and b not in taken and _makes(inner.old, a) and _makes(inner.new, b):
                    same[a] = b
                    taken.add(b)
            _add_inner_outputs(inner, same)


def _makes(block: Block, value: Value) -> bool:
    return value.maker is not None and value.maker.block is block
