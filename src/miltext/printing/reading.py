"""A text for display: its lines in tokens, the meaning of each name in it, and its operations in their blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pygments.token import Comment, Whitespace

from miltext.diagnostics import line_and_column
from miltext.highlight import MilLexer
from miltext.parsing.scopes import Scopes
from miltext.syntax import phrases
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import STATEMENTS
from miltext.syntax.names import DRAFT
from miltext.syntax.tree import Node, Statement, tree_of

if TYPE_CHECKING:
    from pygments.token import _TokenType

    from miltext.parsing.scopes import Meaning


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
    `phrase` is its phrase; of the program, None.
    """

    kind: str
    label: str
    line: int
    makes: list[int] = field(default_factory=list)
    takes: list[int] = field(default_factory=list)
    inside: list[TextPart] = field(default_factory=list)
    phrase: Node | None = None


class TextReader:
    """A text line by line, the meaning of each name in it, and its parts.

    `unnamed` are the values of a draft's operations that are inside others. `root` is the tree of the text, if it was
    parsed before, and `scopes` are its names, if they were read; `comments` are comments to show at places where
    phrases end.
    """

    def __init__(
        self,
        text: str,
        root: Node | None = None,
        comments: Mapping[int, str] | None = None,
        scopes: Scopes | None = None,
    ) -> None:
        self.unnamed: list[Definition] = []
        self.program = TextPart("program", "", 1)
        self._text = text
        self._comments = comments or {}
        with gc_paused:
            tree = root or tree_of(text, STATEMENTS)
            self._scopes = scopes or Scopes(tree)
            self._read(tree)

    def _read(self, tree: Node) -> None:
        names = self._scopes.in_sight()
        values = [value for name, value in names if name is value.name]
        numbers = {value: number for number, value in enumerate(values)}
        self._named = {name.start: (numbers[value], name is value.name) for name, value in names}
        self.definitions = [self._definition(value) for value in values]
        for name, value in names:
            if name is not value.name:
                self.definitions[numbers[value]].uses.append(self._line(name.start))
        for function in phrases.functions(tree):
            self._function(function)

    def spelled(self, phrase: Node) -> str:
        """Return the text of a phrase."""
        return self._text[phrase.start : phrase.end]

    def is_value(self, at: int) -> bool:
        """Return whether the name at a place has a definition."""
        return at in self._named

    def lines(self) -> Iterator[list[LineToken]]:
        """Yield the text's lines."""
        line: list[LineToken] = []
        for at, kind, token in MilLexer().get_tokens_unprocessed(self._text):
            if at in self._comments:
                line += [LineToken(Whitespace, "  "), LineToken(Comment, self._comments[at])]
            meaning = self._named.get(at, ())
            for part in token.splitlines(keepends=True) if "\n" in token else [token]:
                line.append(LineToken(kind, part.rstrip("\n"), *meaning))
                if part.endswith("\n"):
                    yield line
                    line = []
        if line:
            yield line

    def _definition(self, value: Meaning) -> Definition:
        """Return a value's definition, without the lines of its uses yet."""
        start, end, _ = value.name
        maker = "input" if value.operation is None else self._label(value.operation)
        return Definition(self._text[start:end], self._text[slice(*value.type)] or DRAFT, self._line(start), maker, [])

    # ---- parts

    def _function(self, function: Node) -> None:
        part = self._part("function", self._label(function), function, self.program)
        self._inputs(function, part)
        for body in phrases.bodies(function):
            opset = phrases.opset_token(body)
            label = opset.token or "" if opset else ""
            self._block(body, self._part("block", label, body, part) if body.name == "specialization" else part)

    def _block(self, body: Node, part: TextPart) -> None:
        """Read the inputs, operations and outputs of a block into a part."""
        self._inputs(body, part)
        block = phrases.block(body)
        for operation in phrases.operations(block):
            if isinstance(operation, Statement):
                self._statement(operation, part)
                continue
            made = self._operation(operation, part)
            for inner in phrases.inner_blocks(operation):
                self._block(inner, self._part("block", str(len(made.inside)), inner, made))
        for token in phrases.returned(block):
            self._part("output", token.token or "", token, part).takes += self._meant(token.start)

    def _inputs(self, head: Node, part: TextPart) -> None:
        for token in filter(None, map(phrases.name_token, phrases.inputs(head))):
            self._part("input", token.token or "", token, part).makes += self._meant(token.start)

    def _statement(self, statement: Statement, around: TextPart) -> None:
        """Read a plain operation without its phrases."""
        part = self._part("op", phrases.name_in(statement), statement, around)
        for name, _ in self._scopes.between(*statement.span):
            if (found := self._named.get(name.start)) is not None:
                number, defines = found
                (part.makes if defines else part.takes).append(number)

    def _operation(self, operation: Node, around: TextPart) -> TextPart:
        """Read an operation, after the operations in its arguments, however deep these are inside others."""
        reading = [(self._op(operation), self._arguments(operation))]
        while True:
            part, given = reading[-1]
            for phrase in given:
                if phrase.name == "call":
                    reading.append((self._op(phrase), self._arguments(phrase)))
                    break
                part.takes += self._meant(phrase.start)
            else:
                reading.pop()
                around.inside.append(part)
                if not reading:
                    part.makes += [number for made in phrases.made(operation) for number in self._meant(made.start)]
                    return part
                self.unnamed.append(Definition("", DRAFT, part.line, part.label, [reading[-1][0].line]))
                part.makes.append(-len(self.unnamed))
                reading[-1][0].takes.append(-len(self.unnamed))

    def _arguments(self, operation: Node) -> Iterator[Node]:
        """Return the names and the operations in the arguments of an operation, in their order."""
        bindings = (binding for argument in phrases.arguments(operation) for binding in phrases.bindings(argument))
        return (phrases.held(each) for each in bindings if each.name in ("name_binding", "call_binding"))

    def _op(self, operation: Node) -> TextPart:
        return TextPart("op", self._label(operation), self._line(operation.start), phrase=operation)

    def _part(self, kind: str, label: str, phrase: Node, around: TextPart) -> TextPart:
        """Return a new part inside another."""
        part = TextPart(kind, label, self._line(phrase.start), phrase=phrase)
        around.inside.append(part)
        return part

    def _meant(self, at: int) -> list[int]:
        """Return the number of the value of the name at a place, if any."""
        return [number for number, _ in filter(None, [self._named.get(at)])]

    def _label(self, phrase: Node) -> str:
        """Return the name in a phrase in its spelling."""
        token = None if isinstance(phrase, Statement) else phrases.name_token(phrase)
        return token.token or "" if token else phrases.name_in(phrase)

    def _line(self, at: int) -> int:
        return line_and_column(self._text, at)[0]
