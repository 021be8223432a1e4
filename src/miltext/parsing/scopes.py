"""The meaning of names in a text: the place of each definition, its scope, and its uses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.diagnostics import Span
from miltext.syntax import phrases
from miltext.syntax.phrases import Name
from miltext.syntax.tree import Statement

if TYPE_CHECKING:
    from miltext.syntax.tree import Node

_DRAFTS = phrases.UNTYPED | phrases.SHORT

_WITHOUT_NAMES = ("value", "raw_list")


class Meaning:
    """The meaning of a name: a value or a function.

    `phrase` is its name with its type, or the plain operation that defines it. `operation` is the operation that
    defines it, None for an input and a function.
    """

    __slots__ = ("name", "operation", "phrase", "uses")

    def __init__(self, name: Name, phrase: Node, operation: Node | None) -> None:
        self.name = name
        self.phrase = phrase
        self.operation = operation
        self.uses: list[Name] = []

    @property
    def type(self) -> Span:
        """The place of its type, or of the `_` in a draft; without either, the empty place before the name."""
        if isinstance(self.phrase, Statement):
            return self.phrase.type_span
        stated = phrases.type_of(self.phrase)
        return stated.span if stated else Span(self.name.start, self.name.start)

    @property
    def seen_from(self) -> int:
        """The offset of the beginning of its scope."""
        return (self.operation or self.phrase).end

    @property
    def is_function(self) -> bool:
        """Whether this is a function."""
        return self.phrase.name == "function"

    @property
    def names(self) -> list[Name]:
        """The definition and the uses, in the order of the text."""
        return sorted([self.name, *self.uses])


class Scope:
    """A function with its inputs, or a block, with the names defined in it; `phrase` is its phrase.

    `opset` is the opset of its function, as spelled in the text; `inner` are the scopes directly inside it. It has no
    reference to its outer scope: without cycles, the memory is freed without the garbage collector.
    """

    def __init__(self, phrase: Node, opset: str | None = None) -> None:
        self.phrase = phrase
        self.opset = opset
        self.inner: list[Scope] = []
        self.values: dict[str, list[Meaning]] = {}

    def inside(self) -> Iterator[Scope]:
        """Yield this scope and those inside it."""
        todo = [self]
        while todo:
            scope = todo.pop()
            yield scope
            todo += scope.inner


class Scopes:
    """The names of a text. `program` is the scope of its functions, which are independent.

    `found` is every name of a value or a function, in the order of the text, with its meaning, or None. `guessed` are
    the uses without a visible definition, which get the function's only value of that name. `is_draft` is true if the
    text omits a type.
    """

    def __init__(self, root: Node) -> None:
        self.program = Scope(root)
        self.found: list[tuple[Name, Meaning | None]] = []
        self.guessed: set[Name] = set()
        self.is_draft = False
        self._missing: list[Name] = []
        for function in phrases.functions(root):
            self._function(function)
        self.found.sort(key=lambda found: found[0])
        self._starts = [name.start for name, _ in self.found]

    def at(self, offset: int) -> tuple[Name, Meaning | None] | None:
        """Return the name that contains an offset or ends at it, with its meaning."""
        place = bisect_right(self._starts, offset) - 1
        return self.found[place] if place >= 0 and offset <= self.found[place][0].end else None

    def between(self, start: int, end: int) -> list[tuple[Name, Meaning | None]]:
        """Return the names that begin in a range of the text."""
        return self.found[bisect_right(self._starts, start - 1) : bisect_right(self._starts, end - 1)]

    def in_sight(self) -> list[tuple[Name, Meaning]]:
        """Return the names of values, without those whose definition is guessed."""
        return [
            (name, value)
            for name, value in self.found
            if value is not None and not value.is_function and name not in self.guessed
        ]

    def around(self, offset: int) -> list[Scope]:
        """Return the scopes around an offset, the innermost first, without the scope of the program."""
        found: list[Scope] = []
        scopes = self.program.inner
        while scope := next((each for each in scopes if each.phrase.start < offset < each.phrase.end), None):
            found.insert(0, scope)
            scopes = scope.inner
        return found

    def seeing(self, value: Meaning) -> list[Scope]:
        """Return the scope of a value, and its outer scopes."""
        return [self.program] if value.is_function else self.around(value.name.start)

    def meaning(self) -> list[int | None]:
        """Return, for each name in the order of the text, the index of its definition in that order."""
        places = {name: place for place, (name, _) in enumerate(self.found)}
        return [places[value.name] if value else None for _, value in self.found]

    # ---- reading the tree

    def _function(self, function: Node) -> None:
        scope = self._scope(function, self.program, phrases.opset_name(function) or None)
        if token := phrases.name_token(function):
            self._define(Name.of(token), function, None, self.program)
        self._values(phrases.inputs(function), None, scope)
        for body in phrases.bodies(function):
            opset = phrases.opset_name(body) or None if body.name == "specialization" else scope.opset
            self._block(body, [self._scope(body, scope, opset), scope])
            self._settle(scope)

    def _scope(self, phrase: Node, outer: Scope, opset: str | None) -> Scope:
        scope = Scope(phrase, opset)
        outer.inner.append(scope)
        return scope

    def _block(self, body: Node, scopes: Sequence[Scope]) -> None:
        """Read a block, with the opset and the inputs before it; `scopes` are the block's and its outer scopes."""
        self._values(phrases.inputs(body), None, scopes[0])
        block = phrases.block(body)
        for operation in phrases.operations(block):
            if isinstance(operation, Statement):
                defined, *used = [Name(*place) for place in operation.names()]
                for name in used:
                    self._use(name, scopes)
                self._define(defined, operation, operation, scopes[0])
            else:
                self._operation(operation, scopes)
        for token in phrases.returned(block):
            self._use(Name.of(token), scopes)

    def _operation(self, operation: Node, scopes: Sequence[Scope]) -> None:
        for given in (*phrases.arguments(operation), *phrases.attributes(operation)):
            self._given(given, scopes)
        for inner in phrases.inner_blocks(operation):
            self._block(inner, [self._scope(inner, scopes[0], scopes[0].opset), *scopes])
        self._values(phrases.outputs(operation), operation, scopes[0])

    def _given(self, phrase: Node, scopes: Sequence[Scope]) -> None:
        """Read the names in an argument or an attribute, also of nested operations, and note the spellings of
        drafts.
        """
        todo = [phrase]
        while todo:
            found = todo.pop()
            if token := phrases.used_name(found):
                self._use(Name.of(token), scopes)
            elif found.name not in _WITHOUT_NAMES:
                todo += reversed(found.children)
            self.is_draft = self.is_draft or found.name in _DRAFTS

    def _values(self, values: Iterator[Node], operation: Node | None, scope: Scope) -> None:
        for value in values:
            if token := phrases.name_token(value):
                self._define(Name.of(token), value, operation, scope)
            self.is_draft = self.is_draft or value.name in _DRAFTS

    def _define(self, name: Name, phrase: Node, operation: Node | None, scope: Scope) -> None:
        value = Meaning(name, phrase, operation)
        scope.values.setdefault(name.text, []).append(value)
        self.found.append((name, value))

    def _use(self, name: Name, scopes: Sequence[Scope]) -> None:
        """Find the meaning of a name: its last definition in the innermost scope that defines it."""
        for scope in scopes:
            if name.text in scope.values:
                value = scope.values[name.text][-1]
                value.uses.append(name)
                self.found.append((name, value))
                return
        self._missing.append(name)

    def _settle(self, function: Scope) -> None:
        """Resolve names without a visible definition, where the function has one value of that name."""
        everywhere: dict[str, list[Meaning]] = {}
        for scope in function.inside() if self._missing else ():
            for name, values in scope.values.items():
                everywhere.setdefault(name, []).extend(values)
        for use in self._missing:
            meant = everywhere.get(use.text, [])
            value = meant[0] if len(meant) == 1 else None
            if value is not None:
                value.uses.append(use)
                self.guessed.add(use)
            self.found.append((use, value))
        self._missing.clear()
