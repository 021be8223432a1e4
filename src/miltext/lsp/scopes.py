"""What the names of a text mean: where each is defined, from where it is seen, and where it is used."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from miltext.lsp.trees import first
from miltext.parsing.spans import name_of
from miltext.syntax.tree import Statement, named

if TYPE_CHECKING:
    from miltext.syntax.tree import Node


class Name(NamedTuple):
    """A name where it stands: its place in the text, and what it says."""

    start: int
    end: int
    text: str

    @classmethod
    def of(cls, token: Node) -> Name:
        """Return the name that a token spells."""
        return cls(token.start, token.end, name_of(token.token or ""))


class Scope:
    """What sees the same names: a function with its inputs, or a block. `opset` is its function's, as the text has it.

    `phrase` spells all of it, and `outputs` are the names that it gives back. References outwards are weak: there are
    no cycles, so that a reading is gone with the last one who looks at it, and no collector is needed.
    """

    def __init__(self, phrase: Node, outer: Scope | None, opset: str | None) -> None:
        self.phrase = phrase
        self._outer = None if outer is None else ref(outer)
        self.opset = opset
        self.inner: list[Scope] = []
        self.values: dict[str, list[Value]] = {}
        self.outputs: list[Name] = []
        if outer is not None:
            outer.inner.append(self)

    @property
    def outer(self) -> Scope | None:
        """The scope directly outside of this one."""
        return self._outer() if self._outer else None

    def find(self, name: str) -> Value | None:
        """Return the value of that name which is seen from here: the last that was defined, in the innermost scope."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name][-1]
            scope = scope.outer
        return None

    def around(self) -> Iterator[Scope]:
        """Yield this scope and those outside of it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def inside(self) -> Iterator[Scope]:
        """Yield this scope and those inside of it."""
        todo = [self]
        while todo:
            scope = todo.pop()
            yield scope
            todo += scope.inner


class Value:
    """Something that a name is defined for: a value, or a function, which is a `value` of the program's scope.

    `phrase` spells it with its type; `operation` makes it, and is None for an input and a function. It is seen from
    `seen_from` on.
    """

    __slots__ = ("_phrase", "_scope", "name", "operation", "seen_from", "uses")

    def __init__(self, name: Name, phrase: Node, operation: Node | None, scope: Scope) -> None:
        self.name = name
        self._phrase = phrase
        self.operation = operation
        self._scope = ref(scope)
        self.seen_from = operation.end if operation else phrase.end
        self.uses: list[Name] = []
        scope.values.setdefault(name.text, []).append(self)

    @property
    def phrase(self) -> Node:
        """What spells it, with its type."""
        if isinstance(self._phrase, Statement):
            return next(named(self._phrase, "results")).children[0]
        return self._phrase

    @property
    def scope(self) -> Scope:
        """What it is defined in."""
        scope = self._scope()
        assert scope is not None  # whoever has a value has the Scopes that it is from
        return scope

    @property
    def is_function(self) -> bool:
        """Whether this is a function."""
        return self._phrase.name == "function"

    @property
    def names(self) -> list[Name]:
        """The definition and the uses, in the order of the text."""
        return sorted([self.name, *self.uses])


class Scopes:
    """The names of a text. `program` is the scope of its functions, which see nothing of one another.

    `is_draft` tells whether the text leaves types to be inferred.
    """

    def __init__(self, root: Node) -> None:
        self.program = Scope(root, None, None)
        self.functions: list[Scope] = []
        self.is_draft = False
        self._found: list[tuple[Name, Value | None]] = []
        self._missing: list[Name] = []
        for function in named(root, "function"):
            self._function(function)
        self._found.sort(key=lambda found: found[0])
        self._starts = [name.start for name, _ in self._found]

    @property
    def found(self) -> list[tuple[Name, Value | None]]:
        """Every name of a value or a function, in the order of the text, and what it means; None where nothing."""
        return self._found

    def at(self, offset: int) -> tuple[Name, Value | None] | None:
        """Return the name at an offset, or that ends there, with its meaning."""
        place = bisect_right(self._starts, offset) - 1
        return self._found[place] if place >= 0 and offset <= self._found[place][0].end else None

    def between(self, start: int, end: int) -> Iterator[tuple[Name, Value | None]]:
        """Yield the names that begin in a stretch of the text."""
        for place in range(bisect_right(self._starts, start - 1), len(self._found)):
            if self._found[place][0].start >= end:
                return
            yield self._found[place]

    def scope_at(self, offset: int) -> Scope | None:
        """Return the innermost scope that an offset is in."""
        found, scopes = None, self.functions
        while True:
            inner = next((scope for scope in scopes if scope.phrase.start < offset < scope.phrase.end), None)
            if inner is None:
                return found
            found, scopes = inner, inner.inner

    # ---- reading the tree

    def _function(self, function: Node) -> None:
        opset = _opset(function)
        scope = Scope(function, None, opset)
        self.functions.append(scope)
        if token := first(function, "NAME"):
            self._define(token, function, None, self.program)
        self._inputs(function, scope)
        for bodies in named(function, "bodies"):
            for body in named(bodies, "block", "specialization"):
                self._block(body, Scope(body, scope, _opset(body) if body.name == "specialization" else opset))
                self._settle(scope)

    def _block(self, body: Node, scope: Scope) -> None:
        """Read a block, with the opset and the inputs that stand before it where it has them."""
        self._inputs(body, scope)
        block = body if body.name == "block" else first(body, "block")
        for child in block.children if block else ():
            if child.name == "operation":
                self._operation(child, scope)
            elif child.name == "outputs":
                scope.outputs = [Name.of(token) for token in named(child, "NAME")]
                for name in scope.outputs:
                    self._use(name, scope)

    def _operation(self, operation: Node, scope: Scope) -> None:
        if isinstance(operation, Statement):
            defined, *used = [Name(*place) for place in operation.names()]
            for name in used:
                self._use(name, scope)
            self._found.append((defined, Value(defined, operation, operation, scope)))
            return
        for child in operation.children:
            if child.name == "arguments":
                for argument in named(child, "argument", "single_argument"):
                    self._argument(argument, scope)
            elif child.name == "inner_block":
                self._block(child, Scope(child, scope, scope.opset))
        for results in named(operation, "results"):
            self._values(results, operation, scope)

    def _argument(self, argument: Node, scope: Scope) -> None:
        for binding in argument.children:
            if binding.name == "name_binding":
                self._use(Name.of(binding.children[0]), scope)
            self.is_draft = self.is_draft or binding.name == "draft_binding"

    def _inputs(self, phrase: Node, scope: Scope) -> None:
        for parameters in named(phrase, "parameters"):
            self._values(parameters, None, scope)

    def _values(self, phrase: Node, operation: Node | None, scope: Scope) -> None:
        for value in named(phrase, "named_value", "draft_value"):
            self._define(value.children[-1], value, operation, scope)
            self.is_draft = self.is_draft or value.name == "draft_value"

    def _define(self, token: Node, phrase: Node, operation: Node | None, scope: Scope) -> None:
        name = Name.of(token)
        self._found.append((name, Value(name, phrase, operation, scope)))

    def _use(self, name: Name, scope: Scope) -> None:
        value = scope.find(name.text)
        if value is None:
            self._missing.append(name)
        else:
            value.uses.append(name)
            self._found.append((name, value))

    def _settle(self, function: Scope) -> None:
        """Names that nothing seen defines mean what is defined later or elsewhere in the function, if that is one."""
        everywhere: dict[str, list[Value]] = {}
        for scope in function.inside() if self._missing else ():
            for name, values in scope.values.items():
                everywhere.setdefault(name, []).extend(values)
        for use in self._missing:
            meant = everywhere.get(use.text, [])
            value = meant[0] if len(meant) == 1 else None
            if value is not None:
                value.uses.append(use)
            self._found.append((use, value))
        self._missing.clear()


def _opset(phrase: Node) -> str | None:
    opset = first(phrase, "opset")
    return name_of(opset.children[1].token or "") if opset else None
