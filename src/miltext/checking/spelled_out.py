"""The parts that `infer` writes on request besides types: names, constants, defaults.

The result is equal to the output of coremltools 9.0's builder for the same operations
(`converters/mil/mil/builder.py`): a literal argument of an operation is a `const` directly before it, named after the
operation and the parameter. Literals come in the order of the operation's parameters, then defaults. In a converted
model, the names of those constants are older than the ending `_cast_fp16` of the operation's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.drafts import marker_of, marker_words
from miltext.parsing.elaboration import names_inside
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.spans import bodies_of, operations_of
from miltext.schema.operations import signature
from miltext.schema.walk import is_compressed
from miltext.syntax import phrases
from miltext.syntax.editing import appended, edited
from miltext.syntax.lexer import dialect_of
from miltext.syntax.literals import quote
from miltext.syntax.names import FreshNames, identifier, name_text
from miltext.syntax.phrases import name_in
from miltext.syntax.plain_tokens import argument_parts, attribute_parts, operation_head
from miltext.syntax.tree import Node, Statement, tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from miltext.diagnostics import Span
    from miltext.schema.operations import Parameter, Signature
    from miltext.schema.paths import Path
    from miltext.syntax.editing import Edit, EditedText
    from miltext.syntax.tree import Tree

_CAST = re.compile(r"_cast_(?:fp|u?int)[0-9]+\Z")
"""The ending that coremltools adds to the name of an operation when it changes the data type."""

_INLINE = {"classify": ("classes",), "reshape_like": ("begins", "ends", "end_masks")}
"""The parameters that coremltools binds to values, by operation; all parameters of `constexpr_` operations are bound
so.
"""

_CONVERTED = re.compile(r"_to_(?:fp|u?int)[0-9]+\Z")
"""The ending that coremltools adds to the name of a constant when it changes the data type."""

_NUMBERED = re.compile(r"\Avar_(?=[0-9])")
"""The beginning of a value's name where the model's source has just a number."""

_UNTYPED = ("absent_type", "empty_type")
"""The rules of the types that no output can be declared to have."""


def spelled_out(text: str, asked: Collection[str] = ()) -> EditedText | None:
    """Return a text with the parts written out that its marker or `asked` (DRAFT_WORDS) requests; None without any.

    All other parts of the Program must be present. The result has no marker, is not formatted, and records the original
    places.
    """
    tree = parse_tree(text, whole=True)
    marker = marker_of(tree.root)
    wanted = {*asked, *marker_words(tree.root)}
    edits = [(*marker.span, _comments(text, tree, marker))] if marker else []
    return _SpellingOut(text, tree.root, edits).run(wanted) if wanted else None


def _comments(text: str, tree: Tree, phrase: Node) -> str:
    """Return the comments in a phrase, each with its necessary line end."""
    inside = (span for span in tree.comments if phrase.start < span.start < phrase.end)
    return "".join(f"{text[span.start : span.end]}\n" for span in inside)


class _Given(NamedTuple):
    """A value of a parameter: its type, its text with the type, and the place of that text.

    `place` is empty, or the place among several values. A value without a span is a default.
    """

    parameter: str
    place: str
    type: str
    value: str
    span: Span | None = None


class _SpellingOut:
    """The edits of a text: the text in place of a span, or between two characters."""

    def __init__(self, text: str, root: Node, edits: list[Edit]) -> None:
        self.text = text
        self.root = root
        self.edits = edits
        self.names = FreshNames(())

    def run(self, wanted: Collection[str]) -> EditedText:
        """Return the text with all requested parts."""
        missing: Mapping[Path, Mapping[str, tuple[str, str]]] = {}
        if "defaults" in wanted:
            from miltext.checking.defaults import program_defaults

            program = attempt(edited(self.text, self.edits).text, LeavingOut())
            missing = program_defaults(program, dialect_of(self.text)) if program else {}
        for function in phrases.functions(self.root):
            for path, body in bodies_of(function):
                parts = *phrases.inputs(function), body
                self.names = FreshNames(name for part in parts for name in names_inside(part))
                before: tuple[Path, list[Node]] = (), []
                for place, operation in operations_of(body, path):
                    constants = before[1] if before[0] == place[:-1] else []
                    self.operation(operation, constants, str(path[-1]), missing.get(place, {}), wanted)
                    before = place[:-1], [*constants, operation] if name_in(operation) == "const" else []
        return edited(self.text, self.edits)

    def insert(self, place: int, written: str) -> None:
        self.edits.append((place, place, written))

    # ---- operations

    def operation(
        self,
        operation: Node,
        constants: Sequence[Node],
        opset: str,
        missing: Mapping[str, tuple[str, str]],
        wanted: Collection[str],
    ) -> None:
        """Write the `wanted` parts of an operation, given the constants directly before it."""
        if isinstance(operation, Statement) and not missing and "names" not in wanted:
            return  # it is given names only
        parts = _parts(operation)
        if "names" in wanted and parts.outputs and not parts.is_named:
            self.insert(
                parts.attributes, parts.attribute.format(f"name = string({quote(implied_name(parts.outputs[0]))})")
            )
        given = [_Given(name, "", *typed) for name, typed in missing.items()]
        if "consts" in wanted:
            known = signature(parts.type, opset)
            given = [*_in_order(self.literals(operation, known), known), *given]
            owner = _owner(operation, parts) if given else ""
            is_named = parts.is_named or not parts.outputs or "names" in wanted
            first = _first_of(operation, constants) if given else operation
            given = [self.constant(each, owner, first.start, is_named) for each in given]
        self.edits += [(*each.span, each.value) for each in given if each.span]
        written = [f"{name_text(each.parameter)} = {each.value}" for each in given if not each.span]
        if written:
            self.edits.append(appended(parts.arguments, written, is_first=parts.takes_nothing))

    def literals(self, operation: Node, known: Signature | None) -> Iterator[_Given]:
        """Yield the values among the arguments of an operation, in the order of the text."""
        if isinstance(operation, Statement):
            return
        for argument in phrases.arguments(operation):
            name, bindings = name_in(argument), [*phrases.bindings(argument)]
            parameter = known.parameters.get(name) if known else None
            if stays_inline(name_in(operation), name, parameter):
                continue
            is_one = len(bindings) == 1 and not (parameter and parameter.variadic)
            for place, binding in enumerate(bindings):
                value = phrases.held(binding)
                stated = phrases.type_of(value) if binding.name == "value_binding" else None
                if stated is not None and stated.name not in _UNTYPED:
                    made = "".join(token.token or "" for token in tokens(stated))
                    written = self.text[value.start : value.end]
                    yield _Given(name, "" if is_one else str(place), made, written, binding.span)

    def constant(self, given: _Given, owner: str, place: int, is_named: bool) -> _Given:
        """Write a value as a constant before the operation `owner` at a place; return the text that uses the
        constant.
        """
        before, after = constant_name(owner, given.parameter, given.place, given.type)
        name = self.names.numbered(identifier(before), after)
        attributes = f"name = string({quote(implied_name(name))}), " if is_named else ""
        self.insert(place, f"{given.type} {name} = const()[{attributes}val = {given.value}]; ")
        return given._replace(value=name)


def stays_inline(op_type: str, name: str, parameter: Parameter | None) -> bool:
    """Return whether the values of an operation's parameter stay inline instead of becoming constants."""
    is_inline = op_type == "const" or is_compressed(op_type) or name in _INLINE.get(op_type, ())
    return is_inline or (parameter is not None and parameter.attribute)


def is_converted(constant: str) -> bool:
    """Return whether a constant has the name of a constant whose data type coremltools changed."""
    return _CONVERTED.search(constant) is not None


def implied_name(value: str) -> str:
    """Return the name of an operation by its first value; coremltools makes `op_7` and `var_7` of the name `7`."""
    return _NUMBERED.sub("op_", value)


def constant_name(owner: str, parameter: str, place: str, type: str) -> tuple[str, str]:
    """Return the name of a constant for a parameter of an operation, before its number and after it."""
    older = _CAST.sub("", owner)
    return f"{older}_{parameter}{place}", "_to_fp16" if older != owner and "fp16" in type else ""


def _in_order(given: Iterable[_Given], known: Signature | None) -> list[_Given]:
    """Sort values by the parameters of their operation, and values of other parameters after them by name."""
    places = {name: place for place, name in enumerate(known.parameters if known else ())}
    return sorted(given, key=lambda each: (places.get(each.parameter, len(places)), each.parameter))


def _first_of(operation: Node, constants: Sequence[Node]) -> Node:
    """Return the first of an operation and its converted constants directly before it. coremltools converts weights
    after it made constants of literals, and places them closer to their use.
    """
    used = {*_used(operation)}
    for constant in reversed(constants):
        if not any(name in used and is_converted(name) for name in _parts(constant).outputs):
            break
        operation = constant
    return operation


def _used(operation: Node) -> Iterator[str]:
    """Yield the names of an operation's operands."""
    if isinstance(operation, Statement):
        yield from (name for _, _, name in [*operation.names()][1:])
        return
    for argument in phrases.arguments(operation):
        yield from map(name_in, filter(None, map(phrases.used_name, phrases.bindings(argument))))


def _owner(operation: Node, parts: _Parts) -> str:
    """Return the name of an operation for its constants."""
    name = phrases.own_name(operation) if len(parts.outputs) != 1 else None
    return owner_of(parts.type, parts.outputs, phrases.string_of(name) if name else None)


def owner_of(op_type: str, outputs: Sequence[str], name: str | None) -> str:
    """Return the name of an operation: its output's or, if it has several or none, its `name`."""
    if len(outputs) == 1:
        return outputs[0]
    return name or next(iter(outputs), op_type)


class _Parts(NamedTuple):
    """The parts of an operation in the text.

    Further attributes are inserted at the place `attributes`, by a template, and further arguments at `arguments`.
    """

    type: str
    outputs: list[str]
    is_named: bool
    attributes: int
    attribute: str
    arguments: int
    takes_nothing: bool


def _parts(operation: Node) -> _Parts:
    if isinstance(operation, Statement):
        return _parts_of_token(operation.text, operation.start)
    arguments, attributes = phrases.argument_list(operation), phrases.attribute_list(operation)
    return _Parts(
        name_in(operation),
        [made.text for made in phrases.made(operation)],
        any(phrases.attributes_named(operation, "name")),
        attributes.start + 1 if attributes else arguments.end,
        "[{}]" if attributes is None else "{}, " if phrases.items(attributes) else "{}",
        arguments.end - 1,
        not phrases.items(arguments),
    )


def _parts_of_token(text: str, start: int) -> _Parts:
    """Return the parts of an operation that was read as one token at a place."""
    head = operation_head().match(text)
    assert head is not None  # so it was read
    end = head.end()
    opening = text.find("[", end)
    return _Parts(
        head[3],
        [head[2]],
        any(key == "name" for key, _, _ in attribute_parts().findall(text, end)),
        start + (end if opening < 0 else opening + 1),
        "[{}]" if opening < 0 else "{}, ",
        start + end - 1,
        next(argument_parts().finditer(text, *head.span(4)), None) is None,
    )
