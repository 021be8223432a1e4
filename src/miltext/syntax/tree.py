"""The tree of a text: its phrases with their places. Phrases of plain operations are read on demand."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, cached_property, partial
from sys import intern
from typing import NamedTuple

from miltext.diagnostics import Span
from miltext.syntax.lexer import FINE, STATEMENTS
from miltext.syntax.parser import Parsed, Parser, Places, SyntaxFailure
from miltext.syntax.plain_tokens import argument_parts, operation_head


class Token(str):
    """A token with its place, for the callbacks; a tree contains thousands, stored as plain words."""

    __slots__ = ("end", "start")

    start: int
    end: int

    @classmethod
    def of(cls, leaf: Node) -> Token:
        """Return the token of a leaf."""
        token = cls(leaf.token)
        token.start, token.end = leaf.start, leaf.end
        return token


class Node(NamedTuple):
    """A finished phrase: a rule's callback name or, for a token, its terminal; and its place in the text. `absent` are
    the indices of missing optional symbols among all symbols of the rule.
    """

    name: str
    start: int
    end: int
    children: list[Node]
    token: str | None = None
    absent: tuple[int, ...] = ()

    @property
    def span(self) -> Span:
        return Span(self.start, self.end)


class Statement(Node):
    """A plain operation: one token of the grammar, whose phrases are read on demand."""

    text = ""

    @cached_property
    def children(self) -> list[Node]:
        """The phrases of the operation; none if the grammar's rules refuse a text that the token allows."""
        try:
            return self.read().children
        except SyntaxFailure:
            return []

    def names(self) -> Iterator[tuple[int, int, str]]:
        """Yield the name that it defines, and the names that it uses: the begin, the end and the text of each."""
        parts = operation_head().match(self.text)
        assert parts is not None  # so it was read
        yield self.start + parts.start(2), self.start + parts.end(2), parts[2]
        for use in argument_parts().finditer(self.text, *parts.span(4)):
            yield self.start + use.start(2), self.start + use.end(2), use[2]

    @property
    def type_span(self) -> Span:
        """The place of the type of its output."""
        parts = operation_head().match(self.text)
        assert parts is not None  # so it was read
        return Span(self.start + parts.start(1), self.start + parts.end(1))

    def read(self) -> Node:
        """Return the operation, read by the grammar's fine rules. Raise SyntaxFailure if they refuse it; see
        `tree_of`.
        """
        return tree_of(self.text, FINE, "operation", offset=self.start)


class Folded(Node):
    """An operation without its phrases, which are read again from its `text` on demand."""

    text = ""

    @cached_property
    def children(self) -> list[Node]:
        """The phrases of the operation."""
        return tree_of(self.text[self.start : self.end], STATEMENTS, "operation", offset=self.start).children


class Tree(NamedTuple):
    """A text's tree of phrases, and the spans of its comments."""

    root: Node
    comments: list[Span]


class TreeBuilder:
    """Callbacks that make a node of each phrase."""

    def __getattr__(self, rule: str) -> Callable[[list[Node | None]], Node]:
        return partial(_phrase, rule)

    def plain_operation(self, children: list[Statement]) -> Statement:
        """Return the phrases of an operation read as one token."""
        return children[0]


def _phrase(rule: str, children: list[Node | None]) -> Node:
    if None not in children:
        nodes: list[Node] = children  # type: ignore[assignment]
        return Node(rule, nodes[0].start, nodes[-1].end, nodes)
    nodes = [child for child in children if child is not None]
    absent = tuple(index for index, child in enumerate(children) if child is None)
    return Node(rule, nodes[0].start, nodes[-1].end, nodes, None, absent)


_NO_CHILDREN: list[Node] = []
"""The children of every token: one list, which stays unchanged."""

_LONG = 64
"""The length from which a word hardly occurs twice."""


def leaf(terminal: str, text: str, start: int, offset: int = 0) -> Node:
    """Return the node of a token; `offset` is the beginning of the text in a longer one."""
    start += offset
    if terminal == "OPERATION":
        statement = Statement("operation", start, start + len(text), [])
        statement.text = text
        return statement
    return Node(terminal, start, start + len(text), _NO_CHILDREN, intern(text) if len(text) < _LONG else text)


@cache
def tree_parser(coarse: frozenset[str]) -> Parser:
    """Return the parser of trees, shared in the process."""
    return Parser(TreeBuilder(), coarse)


def tree_of(
    text: str, coarse: frozenset[str], rule: str = "program", comments: list[Span] | None = None, offset: int = 0
) -> Node:
    """Return the tree of a text, a phrase of a rule, in which these coarse terminals are read.

    Places are offsets in a longer text, where it begins at `offset`. Raise SyntaxFailure, with the nodes `read` by
    then.
    """
    parser = tree_parser(coarse)
    place = partial(leaf, offset=offset) if offset else leaf
    stack = parser.stack(rule)
    try:
        return parser.run(text, Places(place, [] if comments is None else comments), stack)[0]  # type: ignore[no-any-return]
    except SyntaxFailure as failure:
        failure.shift(offset)
        failure.read = flat(stack[1])
        raise


def flat(values: Iterable[Parsed]) -> list[Node]:
    """Return the nodes of a parse's stack: a growing repetition is a list there."""
    nodes: list[Node] = []
    for value in values:
        if isinstance(value, Node):
            nodes.append(value)
        elif value is not None:
            nodes += flat(value)
    return nodes


def last_nodes(values: Iterable[Parsed]) -> list[Node]:
    """Return the nodes of a parse's stack as `flat` does, but of each repetition only the last four symbols.

    A message about the place where a parse stopped needs no more: earlier symbols of a repetition are finished, and no
    bracket in them is open. A block may have thousands of operations, and a text thousands of mistakes.
    """
    return flat(value if isinstance(value, Node) or value is None else value[-4:] for value in values)


def folded(root: Node, text: str) -> Node:
    """Return the tree of a valid text without the phrases of its operations, which take many times its memory."""
    if root.name == "operation":
        if isinstance(root, Statement):
            return root
        found = Folded(root.name, root.start, root.end, [], None, root.absent)
        found.text = text
        return found
    if root.name not in ("program", "function", "bodies", "specialization", "block"):
        return root
    return root._replace(children=[folded(child, text) for child in root.children])


def walk(phrase: Node) -> Iterator[Node]:
    """Yield a phrase and all phrases inside it, in the order of the text."""
    todo = [phrase]
    while todo:
        found = todo.pop()
        yield found
        todo += reversed(found.children)


def chain(root: Node, offset: int) -> list[Node]:
    """Return the phrases around the character at an offset, outermost first."""
    found = [root]
    while True:
        children = found[-1].children
        place = bisect_right(children, offset, key=lambda child: child.start) - 1
        if place < 0 or children[place].end <= offset:
            return found
        found.append(children[place])


def tokens(root: Node) -> Iterator[Node]:
    """Yield the tokens of a tree in the order of the text; a Statement is one."""
    todo = [root]
    while todo:
        found = todo.pop()
        if found.token is not None or isinstance(found, Statement):
            yield found
        else:
            todo += reversed(found.children)


def transformed(
    root: Node, lower: Callable[[Node, list[Parsed]], Parsed], spelled: Mapping[int, str] | None = None
) -> Parsed:
    """Return the result of `lower` for a tree, phrase by phrase from the inside out.

    It takes a phrase and the values of its children: tokens, results for phrases, None for an absent one. A Statement
    has one child, its token. `spelled` are other spellings of tokens by their places.
    """
    spelled = spelled or {}
    if isinstance(root, Statement):
        return lower(root, [spelled.get(root.start, root.text)])
    stack: list[tuple[Node, list[Parsed], Iterator[Node]]] = [(root, [], iter(root.children))]
    while True:
        phrase, values, children = stack[-1]
        for child in children:
            if child.token is not None:
                values.append(spelled.get(child.start) or Token.of(child))
            elif isinstance(child, Statement):
                values.append(lower(child, [spelled.get(child.start, child.text)]))
            else:
                stack.append((child, [], iter(child.children)))
                break
        else:
            stack.pop()
            for index in phrase.absent:
                values.insert(index, None)
            value = lower(phrase, values)
            if not stack:
                return value
            stack[-1][1].append(value)
