"""A version of a text as items: functions, and the statements of their blocks, with the comments around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, TypeAlias

from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.scopes import Meaning, Scopes
from miltext.syntax import phrases
from miltext.syntax.comments import OwnedComments
from miltext.syntax.editing import apart, changed
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.parsing.recovery import Recovered
    from miltext.schema.proto import Program
    from miltext.syntax.editing import Edit
    from miltext.syntax.phrases import Name
    from miltext.syntax.tree import Node

_BLANKS = re.compile(r"[ \t]*(?=\n|\Z)")

Key: TypeAlias = object
"""Identity of a value or an item: equal for partners in all versions."""


@dataclass(eq=False, slots=True)
class Hole:
    """The contents of the braces of a program or a block, between two offsets: its items.

    `inputs` are the values that the block takes.
    """

    start: int
    end: int
    items: list[Item]
    inputs: list[Meaning] = field(default_factory=list)
    key: Key = None


@dataclass(eq=False, slots=True)
class Item:
    """A program, a function or a statement.

    The range from `start` to `end` includes the comments before it and beside it; the range of its `node` does not.
    `results` are the values that it defines, `holes` the contents of its braces.
    """

    node: Node
    start: int
    end: int
    results: list[Meaning]
    holes: list[Hole]
    key: Key = None

    def segments(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of text between the holes."""
        start = self.start
        for hole in self.holes:
            yield start, hole.start
            start = hole.end
        yield start, self.end

    def own_text(self, text: str) -> str:
        """Return the text of the item, without the comments around it."""
        return text[self.node.start : self.node.end]

    def inside(self) -> Iterator[Item]:
        """Yield this item and the items in its holes."""
        yield self
        for hole in self.holes:
            for item in hole.items:
                yield from item.inside()


class Side:
    """A version of a text, with plain newlines as line ends. Raise ParseError for text other than MIL.

    `keys` maps its values to their partners in other versions, `names` to their final names.
    """

    def __init__(self, text: str, path: str | None = None) -> None:
        self.text = text
        tree = parse_tree(text, path, whole=True)
        self.comments = tree.comments
        self._owned = OwnedComments(text, tree.comments)
        self._scopes = Scopes(tree.root)
        self.values = [value for _, value in self._scopes.found]
        self.keys: dict[Meaning, Key] = {}
        self.names: Mapping[Key, str] = {}
        self.program = self._program(tree.root)

    # ---- items

    def _program(self, root: Node) -> Item:
        functions = [(function, self._bodies(function)) for function in phrases.functions(root)]
        return Item(root, 0, len(self.text), [], [self._hole(root, functions)])

    def _bodies(self, function: Node) -> list[Hole]:
        holes = [self._block(body) for body in phrases.bodies(function)]
        for hole in holes[:1]:
            hole.inputs = [*self._inputs(function), *hole.inputs]
        return holes

    def _block(self, body: Node) -> Hole:
        block = phrases.block(body)
        statements = [
            (each, [self._block(inner) for inner in phrases.inner_blocks(each)]) for each in phrases.operations(block)
        ]
        hole = self._hole(block, statements)
        hole.inputs = self._inputs(body)
        return hole

    def _hole(self, braces: Node, nodes: list[tuple[Node, list[Hole]]]) -> Hole:
        opening = phrases.opening(braces)
        assert opening is not None  # in a whole text
        start = end = self._beside(opening.end)
        items = list[Item]()
        for node, holes in nodes:
            begin, end = end, self._beside(node.end)
            results = [value for made in phrases.made(node) for value in self.values_in(made.start, made.end)]
            items.append(Item(node, begin, end, results, holes))
        return Hole(start, end, items)

    def _inputs(self, head: Node) -> list[Meaning]:
        return [value for each in phrases.inputs(head) for value in self.values_in(each.start, each.end)]

    def _beside(self, offset: int) -> int:
        """Return the end of the text that belongs to the phrase that ends at an offset: its comments, and blanks."""
        end = self._owned.end(offset)
        blanks = _BLANKS.match(self.text, end)
        return blanks.end() if blanks else end

    # ---- names

    def key(self, value: Meaning | None, name: str = "") -> Key:
        """Return the key of the value of a name, or an undefined name itself."""
        return ("undefined", name) if value is None else self.keys.get(value, value)

    def states(self) -> set[Key]:
        """Return the inputs of state type: the order of their reads and writes matters."""
        inputs = (value for item in self.program.inside() for hole in item.holes for value in hole.inputs)
        types = ((value, phrases.type_of(value.phrase)) for value in inputs)
        return {self.key(value) for value, stated in types if stated and stated.name == "state_type"}

    def uses(self, item: Item) -> set[Key]:
        """Return the values that an item and the contents of its holes name."""
        return self.named_in(item.start, item.end)

    def takes_nothing(self, item: Item) -> bool:
        """Return whether an item names only its own results."""
        return all(
            value is not None and value.name is name for name, value in self._scopes.between(item.start, item.end)
        )

    def named_in(self, start: int, end: int) -> set[Key]:
        """Return the values named in a range of the text."""
        return {self.key(value, name.text) for name, value in self._scopes.between(start, end)}

    def values_in(self, start: int, end: int) -> Iterator[Meaning]:
        """Yield the values defined in a range of the text."""
        for name, value in self._scopes.between(start, end):
            if value is not None and value.name is name:
                yield value

    def renamed(self, start: int, end: int, names: Mapping[Key, str] | None = None) -> Iterator[tuple[Name, str]]:
        """Yield each renamed name in a range of the text, with its final name."""
        names = self.names if names is None else names
        for name, value in self._scopes.between(start, end):
            wanted = names.get(self.key(value)) if value is not None else None
            if wanted is not None and wanted != name.text:
                yield name, wanted

    def written(self, start: int, end: int, names: Mapping[Key, str] | None = None, edits: Sequence[Edit] = ()) -> str:
        """Return a range of the text with the edits, and with final names outside of them."""
        changes, text = [*edits], self.text[start:end]
        for name, wanted in self.renamed(start, end, names):
            if not any(at <= name.start < to for at, to, _ in edits):
                changes.append((name.start, name.end, name_text(wanted)))
        inside = apart(text, ((at - start, to - start, new) for at, to, new in changes)) if changes else []
        return changed(text, inside)

    def comments_in(self, span: Span) -> list[Span]:
        """Return the comments that begin in a range of the text."""
        first, last = (bisect_left(self.comments, at, key=attrgetter("start")) for at in span)
        return self.comments[first:last]

    # ---- the Program to pair

    def paired_program(self) -> tuple[Program | None, Recovered | None]:
        """Return the Program, or the readable part of a draft."""
        program = attempt(self.text)
        if program is not None:
            return program, None
        from miltext.parsing.recovery import recover

        read = recover(self.text)
        return read.program, read


def function_name(item: Item) -> str:
    """Return the name of a function."""
    return phrases.name_in(item.node)
