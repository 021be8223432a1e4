"""Two texts in two panes: their lines in rows, with the findings of a report."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.lining_up import ADDED, DIFFERENT, EQUAL, LOOSE, REMOVED
from miltext.pairing.keyed import label
from miltext.pairing.sequences import common
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from miltext.diffing.entries import At
    from miltext.diffing.lining_up import Stretch, Texts
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Value
    from miltext.pairing.pairing import PairedFunction

RENAMED = "="
"""The mark of two lines with only irrelevant differences: names of values, places of weights, and tools."""

_REPORTED_AT_USES = (DIFFERENT, REMOVED, ADDED)
"""The marks of a constant's row for constants reported at their uses."""


class Line(NamedTuple):
    """A line of a text, and its number."""

    number: int
    text: str


class PaneRow(NamedTuple):
    """A line of each text, or of only one, and their mark: a mark of `lining_up`, or RENAMED.

    `nodes` are the operations that begin here.
    """

    mark: str
    sides: tuple[Line | None, Line | None]
    nodes: tuple[Op | None, Op | None] = (None, None)


class Panes:
    """The rows of two texts, with the values' own names and decimal floats."""

    def __init__(self, texts: Texts) -> None:
        self.rows: list[PaneRow] = []
        self._functions = {("function", name_text(pair.name)): pair for pair in texts.pairs}
        self._at: dict[At, int] = {}
        self._defined: tuple[dict[Value, int], dict[Value, int]] = {}, {}
        self._begun: dict[Op, int] = {}
        self._numbers = [0, 0]
        shown = [*replace(texts, has_own_names=True, floats="decimal").stretches()]
        for renamed, own in zip(texts.stretches(), shown, strict=True):
            self._note(own)
            self.rows += self._rows(renamed, own)

    # ---- rows

    def _rows(self, renamed: Stretch, own: Stretch) -> Iterator[PaneRow]:
        """Yield the lines of a stretch in rows: `renamed` contains the same lines as `own`, with the new names of
        values.
        """
        nodes = own.nodes
        for i, j in _places(renamed):
            old, new = self._line(0, own.old, i), self._line(1, own.new, j)
            mark = renamed.mark
            if mark == LOOSE:
                is_equal = i is not None and j is not None and renamed.old[i] == renamed.new[j]
                mark = REMOVED if new is None else ADDED if old is None else EQUAL if is_equal else DIFFERENT
            if mark == EQUAL and (old and old.text) != (new and new.text):
                mark = RENAMED
            yield PaneRow(mark, (old, new), nodes)
            nodes = None, None

    def _line(self, side: int, lines: Sequence[str], place: int | None) -> Line | None:
        if place is None:
            return None
        self._numbers[side] += 1
        return Line(self._numbers[side], lines[place])

    # ---- the places of findings

    def _note(self, stretch: Stretch) -> None:
        """Record the function, operations and values of the next row."""
        row, at = len(self.rows), stretch.at
        if not at:
            return
        self._at[at] = row
        if at in self._functions:
            self._note_function(self._functions[at], at[1], row)
        for side, lines in enumerate((stretch.old, stretch.new)):
            node = stretch.nodes[side]
            if node and lines:
                self._note_node(node, side, at[1], row)

    def _note_function(self, pair: PairedFunction, name: str, row: int) -> None:
        for side, function in enumerate((pair.old, pair.new)):
            if function:
                self._note_inputs(function, side, name, row)
                for block in function.blocks.values():
                    self._note_inputs(block, side, name, row)

    def _note_node(self, node: Op, side: int, function: str, row: int) -> None:
        self._begun[node] = row
        self._defined[side].update(dict.fromkeys(node.outputs, row))
        if side:
            for name in {label(node), *[name_text(value.name) for value in node.outputs]}:
                self._at.setdefault(("value", function, name), row)
        for block in node.blocks:
            self._note_inputs(block, side, function, row)

    def _note_inputs(self, part: Block | Function, side: int, function: str, row: int) -> None:
        for value in part.inputs:
            self._defined[side][value] = row
            if side:
                self._at.setdefault(("value", function, name_text(value.name)), row)

    def row_at(self, at: At) -> int | None:
        """Return the row of a place in a report, or of the nearest enclosing place; None without one."""
        for end in range(len(at), 2, -1):
            if at[:end] in self._at:
                return self._at[at[:end]]
        return self._at.get(("function", *at[1:2]))

    def places(self, row: int) -> Iterator[tuple[int, int, int]]:
        """Yield the side, the row and the number of each line that belongs to a row; a moved line has different rows on
        the two sides.
        """
        for side, (line, node) in enumerate(zip(self.rows[row].sides, self.rows[row].nodes, strict=True)):
            place = row if line or not node else self._begun[node]
            if found := self.rows[place].sides[side]:
                yield side, place, found.number

    def constants(self, row: int) -> Iterator[int]:
        """Yield the rows of an operation's differing constants, which are reported at their uses."""
        for side, node in enumerate(self.rows[row].nodes):
            for value in node.operands if node else ():
                place = self._defined[side].get(value)
                if value.is_constant and place is not None:
                    yield from [place] if self.rows[place].mark in _REPORTED_AT_USES else []

    def links(self, row: PaneRow, side: int) -> Mapping[str, int]:
        """Return the rows of the values that an operation takes, by their names."""
        node, defined = row.nodes[side], self._defined[side]
        return {name_text(value.name): defined[value] for value in node.operands if value in defined} if node else {}


def _places(stretch: Stretch) -> Iterator[tuple[int | None, int | None]]:
    """Yield the lines of each row, by their places; differing lines between equal ones are paired in order."""
    ends = len(stretch.old), len(stretch.new)
    i, j = 0, 0
    for end, edge in [*(common(stretch.old, stretch.new) if stretch.mark == LOOSE else ()), ends]:
        yield from zip_longest(range(i, end), range(j, edge))
        if (end, edge) != ends:
            yield end, edge
        i, j = end + 1, edge + 1
