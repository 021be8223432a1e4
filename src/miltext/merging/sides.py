"""One version of a text as items: functions, and the statements of their blocks, each with the comments around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.scopes import Meaning, Scopes
from miltext.parsing.spans import name_in
from miltext.parsing.trees import first
from miltext.syntax.names import name_text
from miltext.syntax.plain_tokens import operation_head
from miltext.syntax.tree import Node, Statement, named

if TYPE_CHECKING:
    from miltext.parsing.recovery import Recovered
    from miltext.schema.proto import Program

_BESIDE = re.compile(r"(?:[ \t]|/\*(?:(?!\*/).)*\*/)*(?://[^\n]*)?(?=\n|\Z)")
"""The part of a line that belongs to the statement before it: the rest, if it contains nothing but comments."""

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

    It reaches from `start` to `end` with the comments before it and beside it, and without them as its `node` does.
    `results` are the values that it makes, `holes` the contents of its braces.
    """

    node: Node
    start: int
    end: int
    results: list[Meaning]
    holes: list[Hole]
    key: Key = None

    def segments(self) -> Iterator[tuple[int, int]]:
        """Yield the stretches of text between the holes."""
        start = self.start
        for hole in self.holes:
            yield start, hole.start
            start = hole.end
        yield start, self.end

    def said(self, text: str) -> str:
        """Return its own text, without the comments around it."""
        return text[self.node.start : self.node.end]

    def inside(self) -> Iterator[Item]:
        """Yield this item and the items in its holes."""
        yield self
        for hole in self.holes:
            for item in hole.items:
                yield from item.inside()


class Side:
    """A version of a text, whose line ends are plain newlines. Raise ParseError for another text than MIL's.

    `keys` maps its values to their partners in other versions, `names` to their final names.
    """

    def __init__(self, text: str, path: str | None = None) -> None:
        self.text = text
        tree = parse_tree(text, path, whole=True)
        self.comments = tree.comments
        self._scopes = Scopes(tree.root)
        self.values = [value for _, value in self._scopes.found]
        self._defined = {value.name.start: value for value in self.values if value is not None}
        self.keys: dict[Meaning, Key] = {}
        self.names: Mapping[Key, str] = {}
        self.program = self._program(tree.root)

    # ---- items

    def _program(self, root: Node) -> Item:
        opening = next(child for child in root.children if child.token == "{")
        functions = [(function, self._bodies(function)) for function in named(root, "function")]
        return Item(root, 0, len(self.text), [], [self._hole(opening, functions)])

    def _bodies(self, function: Node) -> list[Hole]:
        return [
            self._block(body, function if place == 0 else body)
            for bodies in named(function, "bodies")
            for place, body in enumerate(named(bodies, "block", "specialization"))
        ]

    def _block(self, body: Node, head: Node) -> Hole:
        """Return the hole of a block; `head` has its inputs."""
        block = body if body.name == "block" else first(body, "block")
        assert block is not None  # by the grammar
        opening = next(child for child in block.children if child.token == "{")
        statements = [(each, self._inner(each)) for each in named(block, "operation")]
        hole = self._hole(opening, statements)
        for parameters in [*named(head, "parameters"), *(named(body, "parameters") if body is not head else ())]:
            hole.inputs += [self._defined[each.children[-1].start] for each in parameters.children if _is_value(each)]
        return hole

    def _inner(self, operation: Node) -> list[Hole]:
        if isinstance(operation, Statement):
            return []
        return [self._block(inner, inner) for inner in named(operation, "inner_block")]

    def _hole(self, opening: Node, nodes: list[tuple[Node, list[Hole]]]) -> Hole:
        start = end = self._beside(opening.end)
        items = list[Item]()
        for node, holes in nodes:
            begin, end = end, self._beside(node.end)
            items.append(Item(node, begin, end, self._results(node), holes))
        return Hole(start, end, items)

    def _beside(self, offset: int) -> int:
        """Return the end of the text that belongs to the statement that ends at an offset."""
        match = _BESIDE.match(self.text, offset)
        return match.end() if match else offset

    def _results(self, node: Node) -> list[Meaning]:
        if isinstance(node, Statement):
            head = operation_head(node.text)
            assert head is not None  # so it was read
            return [self._defined[node.start + head.start(2)]]
        if node.name == "function":
            name = first(node, "NAME")
            return [self._defined[name.start]] if name else []
        return [
            self._defined[each.children[-1].start]
            for results in named(node, "results")
            for each in results.children
            if _is_value(each)
        ]

    # ---- names

    def key(self, value: Meaning | None, name: str = "") -> Key:
        """Return the meaning of a name: a value as all versions know it, or the name itself where it is undefined."""
        return ("undefined", name) if value is None else self.keys.get(value, value)

    def states(self) -> set[Key]:
        """Return the inputs of state type: the order of their reads and writes matters."""
        inputs = (value for item in self.program.inside() for hole in item.holes for value in hole.inputs)
        return {self.key(value) for value in inputs if value.phrase.children[0].name == "state_type"}

    def uses(self, item: Item) -> set[Key]:
        """Return the values that an item names, with all in its holes."""
        return self.named_in(item.start, item.end)

    def takes_nothing(self, item: Item) -> bool:
        """Return whether an item names only its own results."""
        return all(
            value is not None and value.name is name for name, value in self._scopes.between(item.start, item.end)
        )

    def named_in(self, start: int, end: int) -> set[Key]:
        """Return the values named in a stretch of the text."""
        return {self.key(value, name.text) for name, value in self._scopes.between(start, end)}

    def values_in(self, start: int, end: int) -> Iterator[Meaning]:
        """Yield the values that a stretch of the text defines."""
        for name, value in self._scopes.between(start, end):
            if value is not None and value.name is name:
                yield value

    def written(self, start: int, end: int, names: Mapping[Key, str] | None = None) -> str:
        """Return a stretch of the text, with the final names of its values."""
        names = self.names if names is None else names
        pieces, at = list[str](), start
        for name, value in self._scopes.between(start, end):
            wanted = names.get(self.key(value)) if value is not None else None
            if wanted is not None and wanted != name.text:
                pieces += [self.text[at : name.start], name_text(wanted)]
                at = name.end
        return "".join([*pieces, self.text[at:end]])

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
    return name_in(item.node)


def _is_value(phrase: Node) -> bool:
    return phrase.name in ("named_value", "draft_value")
