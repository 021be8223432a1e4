"""The arguments in the brackets of an operation, also of a nested one, by name or by place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.reference.markdown import known_signature
from miltext.syntax.phrases import ARGUMENTS, OPERATIONS, arguments, is_positional, name_in
from miltext.syntax.tree import Statement

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.parsing.scopes import Scopes
    from miltext.schema.operations import Signature
    from miltext.syntax.tree import Node


def parameters(given: Sequence[Node], known: Signature) -> list[str | None]:
    """Return the parameter of each argument; None for an argument too many, and for a positional argument after a named
    one.
    """
    found: list[str | None] = []
    is_by_place = True
    for place, argument in enumerate(given):
        is_by_place = is_by_place and is_positional(argument)
        if not is_positional(argument):
            found.append(name_in(argument))
        else:
            found.append(known.positions[place] if is_by_place and place < len(known.positions) else None)
    return found


def by_place(operation: Node, opset: str | None) -> Iterator[tuple[Node, str]]:
    """Yield the positional arguments of an operation, each with its parameter."""
    known = known_signature(name_in(operation), opset)
    if known is not None:
        given = list(arguments(operation))
        for argument, parameter in zip(given, parameters(given, known), strict=True):
            if parameter is not None and is_positional(argument):
                yield argument, parameter


def parameter_around(phrases: Sequence[Node], opset: str | None) -> tuple[Signature, str] | None:
    """Return the parameter of the innermost argument of some phrases, each inside the phrase before."""
    for depth in range(len(phrases) - 1, 1, -1):
        operation, _, argument = phrases[depth - 2 : depth + 1]
        if is_positional(argument) and operation.name in OPERATIONS:
            parameter = next((found for each, found in by_place(operation, opset) if each is argument), None)
            known = known_signature(name_in(operation), opset)
            return (known, parameter) if known and parameter else None
        if argument.name in ARGUMENTS or argument.name == "inner_block":
            return None
    return None


def opset_at(scopes: Scopes, offset: int) -> str | None:
    """Return the opset of the function, or of its part, around an offset."""
    return next((scope.opset for scope in scopes.around(offset)), None)


def operations_in(root: Node, chosen: Span) -> Iterator[Node]:
    """Yield the operations that touch a span of the text, and the operations nested in them, except plain ones."""
    todo = [root]
    while todo:
        found = todo.pop()
        if found.name in OPERATIONS:
            yield found
        todo += (
            child
            for child in found.children
            if not isinstance(child, Statement) and child.start <= chosen.end and child.end >= chosen.start
        )
