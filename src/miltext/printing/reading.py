"""A text for display: its lines in tokens, the meaning of each name in it, and its operations in their blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import line_and_column
from miltext.highlight import MilLexer
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.names import DRAFT
from miltext.syntax.plain_tokens import operation_head
from miltext.syntax.tree import Node, Statement, named, tree_of

if TYPE_CHECKING:
    from pygments.token import _TokenType


class Definition(NamedTuple):
    """A value that the text defines: name and type, its line, the operation that makes it, and the lines of its uses.

    The page's script reads it as a list.
    """

    name: str
    type: str
    line: int
    maker: str
    uses: list[int]


class LineToken(NamedTuple):
    """A token of one line: a value's piece has its number, and `defines` is true where the value is defined."""

    kind: _TokenType
    text: str
    value: int | None = None
    defines: bool = False


@dataclass(slots=True)
class TextPart:
    """A part of the text: a `program`, `function`, `block`, `op`, `input` or `output`, and the parts inside it.

    `label` is the name of a function, input or output, the opset or the number of a block, and an operation's type.
    `makes` and `takes` are values by their numbers; the numbers of values without a name are negative, from -1 down.
    """

    kind: str
    label: str
    line: int
    makes: list[int] = field(default_factory=list)
    takes: list[int] = field(default_factory=list)
    inside: list[TextPart] = field(default_factory=list)


class _UnreadPart(NamedTuple):
    """The unread phrases of a part, the values in their scope, and the action at the end.

    `around` is the part around their parts: `part` itself, but in an operation the part around the operation.
    """

    children: Iterator[Node]
    scope: dict[str, int]
    part: TextPart
    around: TextPart
    end: Callable[[], None] = lambda: None


class TextReader:
    """A text line by line, the meaning of each name in it, and its parts.

    `unnamed` are the values of a draft's operations that stand inside others.
    """

    def __init__(self, text: str) -> None:
        self.definitions: list[Definition] = []
        self.unnamed: list[Definition] = []
        self.program = TextPart("program", "", 1)
        self._text = text
        self._named: dict[int, tuple[int, bool]] = {}  # by its place, the value that a name means, and if it defines it
        self._read(tree_of(text, STATEMENTS))

    def lines(self) -> Iterator[list[LineToken]]:
        """Yield the text's lines."""
        line: list[LineToken] = []
        for at, kind, token in MilLexer().get_tokens_unprocessed(self._text):
            meaning = self._named.get(at, ())
            for part in token.splitlines(keepends=True) if "\n" in token else [token]:
                line.append(LineToken(kind, part.rstrip("\n"), *meaning))
                if part.endswith("\n"):
                    yield line
                    line = []
        if line:
            yield line

    def _read(self, tree: Node) -> None:
        """Read a tree, however deep operations stand inside others."""
        todo = [_UnreadPart(iter(tree.children), {}, self.program, self.program)]
        while todo:
            reading = todo[-1]
            child = next(reading.children, None)
            if child is not None:
                todo += self._begin(child, reading)
            else:
                reading.end()
                todo.pop()

    def _begin(self, child: Node, reading: _UnreadPart) -> Iterator[_UnreadPart]:
        """Read a phrase, and yield the phrases to read inside it."""
        _, scope, part, around, _ = reading
        if isinstance(child, Statement):
            self._read_statement(child, scope, around)
        elif child.name in ("named_value", "draft_value"):
            self._read_value(child, scope, part)
        elif child.name == "name_binding":
            self._use(next(named(child, "NAME")), scope, part)
        elif child.name == "outputs":
            for name in named(child, "NAME"):
                self._use(name, scope, self._part("output", name.token or "", name, around))
        elif child.name == "block":
            yield _UnreadPart(iter(child.children), dict(scope), part, around)
        elif child.name in ("function", "specialization", "inner_block"):
            inside = self._inside(child, part)
            yield _UnreadPart(iter(child.children), dict(scope), inside, inside)
        elif child.name in ("operation", "call"):
            yield self._begin_operation(child, reading)
        elif child.name not in ("results", "attributes", "marked_attributes", "value_binding"):
            yield _UnreadPart(iter(child.children), scope, part, around)

    def _inside(self, phrase: Node, part: TextPart) -> TextPart:
        """Return a function or a block as a part inside another."""
        if phrase.name == "inner_block":
            return self._part("block", str(len(part.inside)), phrase, part)
        name = next(named(next(named(phrase, "opset")) if phrase.name == "specialization" else phrase, "NAME"))
        return self._part("block" if phrase.name == "specialization" else "function", name.token or "", phrase, part)

    def _begin_operation(self, phrase: Node, reading: _UnreadPart) -> _UnreadPart:
        """Begin an operation, or an operation in the arguments of another: it stands first, as it is made first."""
        _, scope, part, around, _ = reading
        name = next(named(phrase, "NAME"))
        operation = TextPart("op", name.token or "", self._line(phrase.start))
        made: dict[str, int] = {}
        for results in named(phrase, "results"):
            for value in named(results, "named_value", "draft_value"):
                self._read_value(value, made, operation)

        def end() -> None:
            scope.update(made)  # only now: `x = relu(x = x)` takes the x before it
            around.inside.append(operation)
            if phrase.name == "call":
                self.unnamed.append(Definition("", DRAFT, operation.line, operation.label, [part.line]))
                operation.makes.append(-len(self.unnamed))
                part.takes.append(-len(self.unnamed))

        return _UnreadPart(iter(phrase.children), scope, operation, around, end)

    def _read_statement(self, statement: Statement, scope: dict[str, int], around: TextPart) -> None:
        head = operation_head(statement.text)
        assert head is not None  # so it was read
        operation = self._part("op", head[3], statement, around)
        (at, _, name), *uses = statement.names()
        for start, _, used in uses:
            self._use_name(used, start, scope, operation)
        self._define(name, at, head[1], scope, operation)

    def _read_value(self, phrase: Node, scope: dict[str, int], part: TextPart) -> None:
        """Read a value with its type: an operation's output, or else an input of a block or a function."""
        *kinds, name = phrase.children
        kind = self._text[kinds[0].start : kinds[0].end] if kinds else DRAFT
        maker = part if part.kind == "op" else self._part("input", name.token or "", name, part)
        self._define(name.token or "", name.start, kind, scope, maker)

    def _define(self, name: str, at: int, kind: str, scope: dict[str, int], maker: TextPart) -> None:
        index = scope[name] = len(self.definitions)
        made_by = maker.label if maker.kind == "op" else "input"
        self.definitions.append(Definition(name, kind, self._line(at), made_by, []))
        self._named[at] = index, True
        maker.makes.append(index)

    def _use(self, name: Node, scope: dict[str, int], user: TextPart) -> None:
        self._use_name(name.token or "", name.start, scope, user)

    def _use_name(self, name: str, at: int, scope: dict[str, int], user: TextPart) -> None:
        found = scope.get(name)
        if found is not None:
            self._named[at] = found, False
            self.definitions[found].uses.append(self._line(at))
            user.takes.append(found)

    def _part(self, kind: str, label: str, phrase: Node, around: TextPart) -> TextPart:
        """Return a new part inside another."""
        part = TextPart(kind, label, self._line(phrase.start))
        around.inside.append(part)
        return part

    def _line(self, at: int) -> int:
        return line_and_column(self._text, at)[0]
