"""Where in a text the messages of its Program stand: the tree of phrases, read along the schema's fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from miltext.schema.opsets import PROTO_BY_TEXT
from miltext.schema.paths import Key, Path
from miltext.syntax.literals import LiteralError, unquote
from miltext.syntax.tree import Node, Statement, named

if TYPE_CHECKING:
    from collections.abc import Callable


BINDINGS = ("name_binding", "value_binding", "unset_binding", "draft_binding", "weight_binding", "call_binding")
"""The rules of an argument's bindings."""

Enter: TypeAlias = "Callable[[Path, Node], bool]"


def find(program: Node, path: Path) -> Node:
    """Return the phrase that spells the message at a path, or the innermost phrase around it that spells one."""
    found = program
    for place, phrase in phrases_by_path(program):
        if path[: len(place)] == place:
            found = phrase
    return found


def phrases_by_path(program: Node, enter: Enter | None = None) -> Iterator[tuple[Path, Node]]:
    """Yield every phrase that spells a message of its own, outermost first, with the message's path.

    With `enter`, enter only the operations for which it is true: most of a text is operations.
    """
    yield (), program
    yield from _attributes(program, ())
    for function in named(program, "function"):
        yield from _function(function, enter)


def words(phrase: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the names inside a phrase of `phrases_by_path`, with paths that end in their field.

    They are an Operation's `type`, a NamedValueType's and a Binding's `name`, a Function's `opset`, the `outputs` of a
    Block, all and each by its index, and, after the key of a map, that `key` itself.
    """
    if phrase.name in ("named_value", "draft_value", "name_binding"):
        yield (*path, "name"), next(named(phrase, "NAME"))
    elif phrase.name == "operation":
        yield from (((*path, "type"), name) for name in named(phrase, "NAME"))
    elif phrase.name in ("function", "argument", "single_argument"):
        yield (*path, "key"), next(named(phrase, "NAME"))
    for opset in named(phrase, "opset"):
        yield (*path, "key" if phrase.name == "specialization" else "opset"), opset.children[1]
    block = next(named(phrase, "block"), phrase) if phrase.name in ("specialization", "inner_block") else phrase
    for outputs in named(block, "outputs"):
        yield (*path, "outputs"), outputs
        yield from (((*path, "outputs", index), name) for index, name in enumerate(named(outputs, "NAME")))
    for attributes in named(block, "attributes", "marked_attributes"):
        for attribute in named(attributes, "attribute", "draft_attribute"):
            yield (*path, "attributes", Key(name_in(attribute)), "key"), attribute.children[0]


def name_of(token: str) -> str:
    """Return the name that a token spells; a name with a wrong escape, an error elsewhere, stays as it is."""
    try:
        return unquote(token[1:]) if token.startswith("$") else token
    except LiteralError:
        return token


def name_in(phrase: Node) -> str:
    """Return the name that stands in a phrase."""
    return name_of(next(named(phrase, "NAME")).token or "")


def _opset(phrase: Node) -> str:
    for opset in named(phrase, "opset"):
        token = opset.children[1].token or ""
        return PROTO_BY_TEXT.get(token) or name_of(token)
    return ""


def _function(function: Node, enter: Enter | None) -> Iterator[tuple[Path, Node]]:
    path: Path = ("functions", Key(name_in(function)))
    yield path, function
    yield from _values(function, "parameters", (*path, "inputs"))
    yield from _attributes(function, path)
    for place, body in bodies_of(function):
        yield from _block(body, place, enter)


def bodies_of(function: Node) -> Iterator[tuple[Path, Node]]:
    """Yield the blocks of a function, each with its path."""
    path: Path = ("functions", Key(name_in(function)), "block_specializations")
    for bodies in named(function, "bodies"):
        for body in named(bodies, "block", "specialization"):
            yield (*path, Key(_opset(body) if body.name == "specialization" else _opset(function))), body


def operations_of(body: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the operations in a block at a path, each with its own and before those inside of it."""
    block = body if body.name == "block" else next(named(body, "block"))
    for index, operation in enumerate(named(block, "operation")):
        place = (*path, "operations", index)
        yield place, operation
        for at, inner in enumerate([] if isinstance(operation, Statement) else named(operation, "inner_block")):
            yield from operations_of(inner, (*place, "blocks", at))


def _block(body: Node, path: Path, enter: Enter | None) -> Iterator[tuple[Path, Node]]:
    """Yield the phrases in a block, or in a block with its opset or its inputs before it."""
    yield path, body
    yield from _values(body, "parameters", (*path, "inputs"))
    block = body if body.name == "block" else next(named(body, "block"))
    for index, operation in enumerate(named(block, "operation")):
        place = (*path, "operations", index)
        if enter is None or enter(place, operation):
            yield from _operation(operation, place, enter)
    yield from _attributes(block, path)


def _operation(operation: Node, path: Path, enter: Enter | None) -> Iterator[tuple[Path, Node]]:
    yield path, operation
    yield from _values(operation, "results", (*path, "outputs"))
    for arguments in named(operation, "arguments"):
        for argument in named(arguments, "argument", "single_argument"):
            yield from _argument(argument, (*path, "inputs", Key(name_in(argument))))
    yield from _attributes(operation, path)
    for index, inner in enumerate(named(operation, "inner_block")):
        yield from _block(inner, (*path, "blocks", index), enter)


def _argument(argument: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    yield path, argument
    for index, binding in enumerate(named(argument, *BINDINGS)):
        yield (*path, "arguments", index), binding
        if binding.name == "value_binding":
            yield from _value(binding.children[0], (*path, "arguments", index, "value"))


def _values(phrase: Node, kind: str, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the inputs or the outputs in a phrase of a kind inside another phrase."""
    for values in named(phrase, kind):
        for index, value in enumerate(named(values, "named_value", "draft_value")):
            yield (*path, index), value
            if len(value.children) > 1:
                yield from _type(value.children[0], (*path, index, "type"))


def _attributes(phrase: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    for attributes in named(phrase, "attributes", "marked_attributes"):
        for attribute in named(attributes, "attribute", "draft_attribute"):
            place = (*path, "attributes", Key(name_in(attribute)))
            if attribute.name == "attribute":
                yield from _value(attribute.children[2], place)
            else:  # the literal stands there; the phrase leaves its type out
                yield place, attribute.children[2]
                yield place, attribute


def _value(value: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    yield path, value
    yield from _type(value.children[-4], (*path, "type"))


def _type(value_type: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    if value_type.name != "absent_type":
        yield path, value_type
