"""The places of a Program's messages in its text: the phrases of the tree, by paths of the schema's fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from miltext.schema.paths import Key, Path
from miltext.syntax import phrases
from miltext.syntax.names import opset_of
from miltext.syntax.phrases import block, name_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from miltext.syntax.tree import Node


Enter: TypeAlias = "Callable[[Path, Node], bool]"

_NAMED = {
    **dict.fromkeys((*phrases.VALUES, "name_binding"), "name"),
    **dict.fromkeys(("function", "argument", "single_argument"), "key"),
    "operation": "type",
}
"""The field for the name in a phrase."""


def find(program: Node, path: Path) -> Node:
    """Return the phrase of the message at a path, or the phrase of the innermost message around it."""
    found = program
    for place, phrase in phrases_by_path(program):
        if path[: len(place)] == place:
            found = phrase
    return found


def phrases_by_path(program: Node, enter: Enter | None = None) -> Iterator[tuple[Path, Node]]:
    """Yield every phrase of a message, outermost first, with the message's path.

    With `enter`, enter only the operations for which it returns true: most of a text is operations. A Program contains
    only the first of duplicate functions and blocks.
    """
    yield (), program
    yield from _attributes(program, ())
    seen = set[str]()
    for function in phrases.functions(program):
        if (name := name_in(function)) not in seen:
            seen.add(name)
            yield from _function(function, enter)


def words(phrase: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the names inside a phrase of `phrases_by_path`, with paths that end in their field.

    They are an Operation's `type`, a NamedValueType's and a Binding's `name`, a Function's `opset`, the `outputs` of a
    Block, all and each by its index, and, after the key of a map, that `key` itself.
    """
    if phrase.name in _NAMED and (token := phrases.name_token(phrase)):
        yield (*path, _NAMED[phrase.name]), token
    if phrase.name == "operation" and (model := phrases.imported(phrase)):
        yield (*path, "type"), model
    if token := phrases.opset_token(phrase):
        yield (*path, "key" if phrase.name == "specialization" else "opset"), token
    body = block(phrase) if phrase.name in ("specialization", "inner_block") else phrase
    if body.name == "block":
        yield (*path, "outputs"), phrases.output_list(body)
        yield from (((*path, "outputs", index), token) for index, token in enumerate(phrases.returned(body)))
    for attribute in phrases.attributes(body):
        yield (*path, "attributes", Key(name_in(attribute)), "key"), attribute.children[0]


def opset_in(body: Node) -> str:
    """Return the opset of a function, or of a block of it, in a Program's spelling; empty without one."""
    token = phrases.opset_token(body)
    return opset_of((token.token if token else None) or "")


def _function(function: Node, enter: Enter | None) -> Iterator[tuple[Path, Node]]:
    path: Path = ("functions", Key(name_in(function)))
    yield path, function
    yield from _values(phrases.inputs(function), (*path, "inputs"))
    yield from _attributes(function, path)
    seen = set[Path]()
    for place, body in bodies_of(function):
        if place not in seen:
            seen.add(place)
            yield from _block(body, place, enter)


def bodies_of(function: Node) -> Iterator[tuple[Path, Node]]:
    """Yield the blocks of a function, each with its path, which duplicates share."""
    path: Path = ("functions", Key(name_in(function)), "block_specializations")
    for body in phrases.bodies(function):
        yield (*path, Key(opset_in(body if body.name == "specialization" else function))), body


def operations_of(body: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the operations in a block at a path, each with its path and before its inner operations."""
    for index, operation in enumerate(phrases.operations(block(body))):
        place = (*path, "operations", index)
        yield place, operation
        for at, inner in enumerate(phrases.inner_blocks(operation)):
            yield from operations_of(inner, (*place, "blocks", at))


def _block(body: Node, path: Path, enter: Enter | None) -> Iterator[tuple[Path, Node]]:
    """Yield the phrases in a block, or in a block with its opset or its inputs before it."""
    yield path, body
    yield from _values(phrases.inputs(body), (*path, "inputs"))
    for index, operation in enumerate(phrases.operations(block(body))):
        place = (*path, "operations", index)
        if enter is None or enter(place, operation):
            yield from _operation(operation, place, enter)
    yield from _attributes(block(body), path)


def _operation(operation: Node, path: Path, enter: Enter | None) -> Iterator[tuple[Path, Node]]:
    yield path, operation
    yield from _values(phrases.outputs(operation), (*path, "outputs"))
    for argument in phrases.arguments(operation):
        if not phrases.is_positional(argument):
            yield from _argument(argument, (*path, "inputs", Key(name_in(argument))))
    yield from _attributes(operation, path)
    for index, inner in enumerate(phrases.inner_blocks(operation)):
        yield from _block(inner, (*path, "blocks", index), enter)


def _argument(argument: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    yield path, argument
    for index, binding in enumerate(phrases.bindings(argument)):
        yield (*path, "arguments", index), binding
        if binding.name == "value_binding":
            yield from _value(phrases.held(binding), (*path, "arguments", index, "value"))


def _values(values: Iterator[Node], path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the inputs or the outputs of a phrase, and their types."""
    for index, value in enumerate(values):
        yield (*path, index), value
        yield from _type(value, (*path, index, "type"))


def _attributes(phrase: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    for attribute in phrases.attributes(phrase):
        place = (*path, "attributes", Key(name_in(attribute)))
        if attribute.name == "attribute":
            yield from _value(phrases.held(attribute), place)
        else:  # a literal with an omitted type
            yield place, phrases.held(attribute)
            yield place, attribute


def _value(value: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    yield path, value
    yield from _type(value, (*path, "type"))


def _type(value: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yield the type of a value, if it has one."""
    stated = phrases.type_of(value)
    if stated is not None and stated.name != "absent_type":
        yield path, stated
