"""What is different between two operations that correspond."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any

from miltext.diffing.structure import Change, Rename
from miltext.models.pairing.graph import EXACT, NAME, Graph, Node, Region
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.diffing.values import Found, Values

Bound = list[Any]
"""What an argument is bound to: the number of a value for a name, a Value for a literal, None for nothing."""


class Operations:
    """Tells two operations apart."""

    def __init__(self, old: Graph, new: Graph, values: Values) -> None:
        self._old = old
        self._new = new
        self._values = values
        self._spelling = values.spelling

    def changes(self, a: Node, b: Node, where: tuple[str, str]) -> list[Found]:
        """Return what an operation says otherwise; the operation of the function `where`, for its weights."""
        if self._untouched(a, b):
            return []
        old, new = a.operation, b.operation
        changes: list[Found] = (
            [] if old.type == new.type else [Change("operation", "", name_text(old.type), name_text(new.type))]
        )
        changes += self._arguments(a, b, where)
        changes += self._values.changes("attribute", _stated(old), _stated(new), where)
        return [*changes, *self._types(a, b)]

    def _untouched(self, a: Node, b: Node) -> bool:
        """Whether nothing can be different: there are no weights, which only seem to be equal."""
        if a.weighty or b.weighty or a.kinds[EXACT] != b.kinds[EXACT]:
            return False
        tokens = [[graph.tokens[value] for value in node.operands] for graph, node in ((self._old, a), (self._new, b))]
        return tokens[0] == tokens[1]

    def _arguments(self, a: Node, b: Node, where: tuple[str, str]) -> Iterator[Found]:
        old, new = arguments(a), arguments(b)
        for key in sorted({*old, *new}):
            name, before, now = name_text(key), old.get(key), new.get(key)
            if before is None or now is None:
                yield Change("argument", name, self._text(self._old, before), self._text(self._new, now))
            elif len(before) == len(now) == 1 and _is_literal(before[0]) and _is_literal(now[0]):
                change = self._values.change("argument", name, before[0], now[0], where)
                if change:
                    yield change
            elif len(before) != len(now) or not all(map(self._same, before, now)):
                yield Change("argument", name, *self._told_apart(before, now))

    def _same(self, before: Any, now: Any) -> bool:
        if isinstance(before, int) and isinstance(now, int):
            return self._old.tokens[before] == self._new.tokens[now]
        if _is_literal(before) and _is_literal(now):
            return self._values.same(before, now)
        return before is None and now is None

    def _told_apart(self, before: Bound, now: Bound) -> tuple[str | None, str | None]:
        """Return the texts of two bindings; with a word on it where an operation is gone and its name is now
        another's.
        """
        old, new = self._text(self._old, before), self._text(self._new, now)
        return (f"{old} (removed)", new) if old == new else (old, new)

    def _text(self, graph: Graph, bound: Bound | None) -> str | None:
        if bound is None:
            return None
        texts = [self._binding(graph, each) for each in bound]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def _binding(self, graph: Graph, bound: Any) -> str:
        if bound is None:
            return "$unset"
        return name_text(graph.known_as[bound]) if isinstance(bound, int) else self._spelling.value(bound)

    def _types(self, a: Node, b: Node) -> list[Change]:
        """Return what is different in the types of the outputs, or their number."""
        old, new = a.operation.outputs, b.operation.outputs
        if len(old) != len(new):
            return [Change("outputs", "", self._spelling.parameters(old), self._spelling.parameters(new))]
        changed = [
            (old[place], new[place])
            for place in range(len(new))
            if self._old.types[a.values[place]] != self._new.types[b.values[place]]
        ]
        type_of, several = self._spelling.type, len(new) > 1
        return [
            Change("type", name_text(now.name) if several else "", type_of(before), type_of(now))
            for before, now in changed
        ]

    def outputs(self, a: Region, b: Region) -> list[Change]:
        """Whether two blocks give other values."""
        if [self._old.tokens[value] for value in a.outputs] == [self._new.tokens[value] for value in b.outputs]:
            return []
        before, now = self._told_apart([*a.outputs], [*b.outputs])
        return [Change("outputs", "", before, now)]

    def renamed(self, a: Node, b: Node, outputs: Set[int]) -> Iterator[Rename]:
        """Yield the names that two operations do not share; `outputs` are the values that the function gives."""
        for old, new in zip(a.values, b.values, strict=False):  # one may have more outputs
            before, now = name_text(self._old.names[old]), name_text(self._new.names[new])
            if before != now:
                yield Rename("output" if new in outputs else "value", now, before, now)
        names = [each.operation.attributes.get(NAME, None) for each in (a, b)]
        if names[0] != names[1]:
            yield Rename("name", b.label, *[self._spelling.literal(name) if name else None for name in names])


def arguments(node: Node) -> dict[str, Bound]:
    """Return what the arguments of an operation are bound to, by key."""
    numbers = iter(node.operands)
    inputs = node.operation.inputs
    return {
        key: [
            each.value if each.HasField("value") else next(numbers) if each.HasField("name") else None
            for each in inputs[key].arguments
        ]
        for key in sorted(inputs)
    }


def _is_literal(bound: Any) -> bool:
    return bound is not None and not isinstance(bound, int)


def _stated(operation: Any) -> dict[str, Any]:
    """Return the attributes of an operation but its name."""
    attributes = operation.attributes
    return {name_text(key): attributes[key] for key in attributes if key != NAME}
