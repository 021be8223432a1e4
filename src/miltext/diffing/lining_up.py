"""Alignment of the texts of two programs by structure."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.spelling import SHOWN
from miltext.diffing.values import DIGITS
from miltext.ir.graph import Graph
from miltext.ir.parts import Op
from miltext.printing.printer import OPERATION, Printer
from miltext.printing.tensors import Style
from miltext.schema import proto
from miltext.schema.walk import without_operations
from miltext.syntax.names import name_text, opset_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from miltext.diffing.entries import At
    from miltext.pairing.keyed import KeyedGraph
    from miltext.pairing.pairing import PairedBlock, PairedFunction
    from miltext.schema.proto import Function, Operation, Program


EQUAL, DIFFERENT, REMOVED, ADDED, MOVED, LOOSE = " ", "~", "-", "+", ">", ""
"""The states of lines side by side: equal but for names; a pair with differences; only in one program; an operation at
another place in the other program; without a structure, to be aligned by their text.
"""


class Stretch(NamedTuple):
    """Aligned lines of the two texts, and their state.

    `at` is the place of a function or an operation, as in a report, without the model. `nodes` are the operations: both
    of them, even if one has moved.
    """

    mark: str
    old: Sequence[str]
    new: Sequence[str]
    at: At = ()
    nodes: tuple[Op | None, Op | None] = (None, None)


class _LinePrinter(Printer):
    """Prints parts of a program as lines without long literals."""

    def head(self, program: Program) -> str:
        return next(iter(self.program(program))).rstrip("\n")

    def attributes(self, program: Program) -> str:
        return self._attributes(program.attributes)

    def function(self, name: str, function: Function) -> list[str]:
        return "".join(self._function(name, function)).splitlines()

    def operation(self, operation: Operation, indent: str) -> list[str]:
        return self._operation(operation, indent).splitlines()


@dataclass(frozen=True)
class Texts:
    """The texts of two programs whose functions are paired.

    `different` are the operations of the new program that differ from their partners; `same_attributes` is true if the
    relevant attributes of the programs are the same. The old text uses the new names of values and functions, unless it
    `has_own_names`; `floats` is the form of floats.
    """

    old: KeyedGraph
    new: KeyedGraph
    pairs: Sequence[PairedFunction]
    different: Collection[Op]
    same_attributes: bool
    has_own_names: bool = False
    floats: str = "hex"

    @cached_property
    def _shown(self) -> Graph:
        """The old program as it is shown: in paired functions, values have their names in the new program."""
        paired = [pair.old for pair in self.pairs if pair.old and pair.new]
        values = (value for function in paired for value in function.defined())
        if self.has_own_names or all(self.old.name_of(value) == value.name for value in values):
            return self.old
        shown = Graph(deepcopy(self.old.message))
        for function in paired:
            for own, value in zip(function.defined(), shown.functions[function.name].defined(), strict=True):
                assert value.message is not None, "a defined value is declared"
                value.message.name = name = self.old.name_of(own)
                for use in value.uses:
                    if isinstance(use.user, Op):
                        use.binding.name = name
                    else:
                        use.user.message.outputs[use.place] = name
        return shown

    @cached_property
    def _renamed(self) -> dict[Op, Operation]:
        """The messages of the old program's operations as they are shown, where they differ from their own."""
        if self._shown is self.old:
            return {}
        return {own: op.message for own, op in zip(self.old.walk(), self._shown.walk(), strict=True)}

    def stretches(self) -> Iterator[Stretch]:
        """Yield the lines of both texts."""
        old, new, page = self.old.message, self.new.message, self._page
        yield _either([page.head(old)], [page.head(new)])
        before, now = [[page.attributes(each)] if each.attributes else [] for each in (old, new)]
        yield Stretch(EQUAL, before, now) if self.same_attributes else _either(before, now)
        yield Stretch(EQUAL, ["{"], ["{"])
        for pair in self.pairs:
            yield from self._function(pair)
        yield Stretch(EQUAL, ["}"], ["}"])

    # ---- functions, blocks and operations

    def _function(self, pair: PairedFunction) -> Iterator[Stretch]:
        old = self._shown.functions[pair.old.name].message if pair.old else None
        new = pair.new.message if pair.new else None
        at = ("function", name_text(pair.name))
        names = pair.old_name if self.has_own_names else pair.name, pair.name
        if old and new and len(pair.blocks) == 1:
            shells = [
                self._page.function(name, without_operations(each))
                for name, each in zip(names, (old, new), strict=True)
            ]
            if len(shells[0]) == len(shells[1]) == 2:
                yield from self._around(shells, pair.blocks, OPERATION, at)
                return
        before, now = [
            self._page.function(name, each) if each else [] for name, each in zip(names, (old, new), strict=True)
        ]
        yield Stretch(LOOSE if old and new else REMOVED if old else ADDED, before, now, at)

    def _around(
        self, shells: Sequence[Sequence[str]], blocks: Sequence[PairedBlock], indent: str, at: At
    ) -> Iterator[Stretch]:
        """Yield the lines around blocks, the first at the place of their function or operation, and the blocks in their
        places.
        """
        left, place = iter(blocks), at
        for before, now in zip(*shells, strict=True):
            yield _either([before], [now])._replace(at=place)
            place = ()
            if now.endswith("{"):
                block = next(left)
                yield from self._block(block, indent, _block_at(at, block.place))

    def _block(self, pair: PairedBlock, indent: str, at: At) -> Iterator[Stretch]:
        mates = {j: i for i, j in pair.pairs.items()}
        old, new = pair.sides()
        for a, b in pair.steps():
            i = self.old.facts[a].index if a else -1
            j = self.new.facts[b].index if b else -1
            if a and b:
                if j in pair.inner:
                    yield from self._nest(a, b, pair.inner[j], indent, (*at, str(j)))
                else:
                    yield self._pair(a, b, indent, (*at, str(j)))
            elif a:
                mate = new[pair.pairs[i]] if i in pair.pairs else None
                yield Stretch(MOVED if mate else REMOVED, self._lines(a, indent), [], (*at, f"-{i}"), (a, mate))
            elif b:
                mate = old[mates[j]] if j in mates else None
                yield Stretch(MOVED if mate else ADDED, [], self._lines(b, indent), (*at, str(j)), (mate, b))

    def _nest(self, a: Op, b: Op, inner: Sequence[PairedBlock], indent: str, at: At) -> Iterator[Stretch]:
        """Yield two operations with inner blocks."""
        if not all(pair.old and pair.new for pair in inner):
            yield Stretch(LOOSE, self._lines(a, indent), self._lines(b, indent), at, (a, b))
            return
        before, now = [self._page.operation(without_operations(self._message(each)), indent) for each in (a, b)]
        if b not in self.different and not self.has_own_names:
            before[0] = now[0]
        head, *others = self._around([before, now], inner, indent + " " * 8, at)
        yield head._replace(nodes=(a, b))
        yield from others

    def _pair(self, a: Op, b: Op, indent: str, at: At) -> Stretch:
        """Return the lines of two corresponding operations; differing weights have their digests."""
        now = self._lines(b, indent)
        if b not in self.different:
            return Stretch(EQUAL, self._lines(a, indent) if self.has_own_names else now, now, at, (a, b))
        before = self._lines(a, indent)
        for lines, op, graph in ((before, a, self.old), (now, b, self.new)):
            if digests := _digests(op, graph):
                lines[-1] = f"{lines[-1]} // {', '.join(digests)}"
        return Stretch(DIFFERENT, before, now, at, (a, b))

    def _lines(self, op: Op, indent: str) -> list[str]:
        return self._page.operation(self._message(op), indent)

    def _message(self, op: Op) -> Operation:
        return self._renamed.get(op, op.message)

    @cached_property
    def _page(self) -> _LinePrinter:
        return _LinePrinter(Style(elide=SHOWN, floats=self.floats))


def _block_at(at: At, place: str) -> At:
    """Return the place of a block in a function or an operation."""
    return (*at, place) if at[0] == "operation" else ("operation", at[1], opset_text(place) if place else "")


def _either(before: list[str], now: list[str]) -> Stretch:
    return Stretch(EQUAL if before == now else DIFFERENT, before, now)


def _digests(op: Op, graph: KeyedGraph) -> list[str]:
    """Return the digests of an operation's weights, shortened."""
    if not graph.facts[op].weighty:
        return []
    bound = [each for operands in op.inputs.values() for each in operands]
    attributes = [op.attributes[name] for name in sorted(op.attributes)]  # a map has no order of its own
    values = [each for each in [*bound, *attributes] if isinstance(each, proto.Value)]
    return [f"sha256:{blob.digest()[:DIGITS]}" for each in values if (blob := graph.contents.blob(each))]
