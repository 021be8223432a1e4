"""The parts of phrases by name: accessors of a text's tree, each a row of the grammar's rules.

`tests/syntax/test_phrases.py` compares each row with the grammar, so a change of the grammar's rules requires a change
of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from miltext.syntax.literals import unquote
from miltext.syntax.names import name_of
from miltext.syntax.plain_tokens import operation_head
from miltext.syntax.tree import Node, Statement

# ---- rules that stand for one another

VALUES = frozenset("named_value draft_value".split())
"""A name with its type, or without."""

OPERATIONS = frozenset("operation call".split())

ARGUMENTS = frozenset("argument single_argument positional_argument".split())

ATTRIBUTES = frozenset("attribute draft_attribute".split())

BINDINGS = frozenset("name_binding value_binding unset_binding draft_binding weight_binding call_binding".split())

TYPES = frozenset(
    "scalar_type plain_tensor tensor_type tensor_buffer_type list_type tuple_type dictionary_type state_type "
    "absent_type empty_type".split()
)

OPSETS = frozenset("opset operation_opset".split())

WEIGHTS = frozenset("array_file record".split())
"""Values in files."""

UNTYPED = frozenset("draft_value draft_binding draft_attribute".split())
"""Phrases that leave a type to be inferred, which only drafts have."""

SHORT = frozenset("positional_argument call_binding weight_binding record".split())
"""Phrases that only the short spelling of a draft has."""

BODIES = frozenset("block specialization".split())
"""Blocks of a function."""

_NAMED = VALUES | OPERATIONS | ATTRIBUTES | OPSETS | frozenset("function argument single_argument name_binding".split())
_WITH_INPUTS = frozenset("function specialization inner_block".split())
_WITH_ATTRIBUTES = OPERATIONS | frozenset("program function block".split())

_PLAIN = frozenset("results NAME arguments attributes".split())
"""The parts that a plain operation may have; a search for other parts does not read its phrases."""


class Name(NamedTuple):
    """A name at a place of the text, and the text of the name."""

    start: int
    end: int
    text: str

    @classmethod
    def of(cls, token: Node) -> Name:
        """Return the name that a token spells."""
        return cls(token.start, token.end, name_of(token.token or ""))


# ---- kinds of rows


class _Row:
    """Child phrases with these `names`: directly in a phrase of the rules `of`, or in lists `within` it."""

    def __init__(self, of: str | frozenset[str], names: str | frozenset[str], within: str = "") -> None:
        self.of, self.names, self.within = (
            frozenset(words.split()) if isinstance(words, str) else words for words in (of, names, within)
        )
        self._is_plain = not _PLAIN.isdisjoint(self.within or self.names)

    def _all(self, phrase: Node) -> Iterator[Node]:
        if isinstance(phrase, Statement) and not self._is_plain:
            return iter(())
        names = self.names
        if not self.within:
            return (child for child in phrase.children if child.name in names)
        lists = (child for child in phrase.children if child.name in self.within)
        return (child for each in lists for child in each.children if child.name in names)


class Every(_Row):
    """Row of any number of phrases."""

    def __call__(self, phrase: Node) -> Iterator[Node]:
        """Return the phrases, in the order of the text."""
        return self._all(phrase)


class Optional(_Row):
    """Row of a phrase that may be absent."""

    def __call__(self, phrase: Node) -> Node | None:
        """Return the phrase, None if it is absent."""
        return next(self._all(phrase), None)


class Only(_Row):
    """Row of a phrase always present, except in the rest of a broken text."""

    def __call__(self, phrase: Node) -> Node:
        """Return the phrase."""
        return next(self._all(phrase))


class At(_Row):
    """Row of a phrase at an index."""

    def __init__(self, of: str | frozenset[str], index: int) -> None:
        super().__init__(of, "")
        self.index = index

    def __call__(self, phrase: Node) -> Node:
        """Return the phrase."""
        return phrase.children[self.index]


# ---- the rows

functions = Every("program", "function")
program_fields = Every("program", "program_version program_doc draft_marker")
draft_words = Every("draft_marker", "NAME")
bodies = Every("function", BODIES, "bodies")
inputs = Every(_WITH_INPUTS, VALUES, "parameters")
operations = Every("block", "operation")
returned = Every("block", "NAME", "outputs")
inner_blocks = Every("operation", "inner_block")
outputs = Every("operation", VALUES, "results")
arguments = Every(OPERATIONS, ARGUMENTS, "arguments")
bindings = Every(ARGUMENTS, BINDINGS)
attributes = Every(_WITH_ATTRIBUTES, ATTRIBUTES, "attributes marked_attributes")

opset = Optional(OPERATIONS | {"function", "specialization"}, OPSETS)
opset_token = Optional("function specialization", "NAME", "opset")
body_parameters = Optional("specialization inner_block", "parameters")
result_list = Optional("operation", "results")
attribute_list = Optional(_WITH_ATTRIBUTES, "attributes marked_attributes")
name_token = Optional(_NAMED, "NAME")
imported = Optional(OPERATIONS, "imported")
type_of = Optional(VALUES | {"value"}, TYPES | {"DRAFT"})
opening = Optional("program block", "LBRACE")

parameters = Only("function inner_block", "parameters")
version = Only("program", "NUMBER")
argument_list = Only(OPERATIONS, "arguments")
output_list = Only("block", "outputs")
_block = Only("specialization inner_block", "block")

held = At(BINDINGS | ATTRIBUTES | {"single_argument"}, -1)
contents = At("value", -2)


# ---- what the parts spell


def block(body: Node) -> Node:
    """Return the block of the body of a function or an operation."""
    return body if body.name == "block" else _block(body)


def items(brackets: Node) -> list[Node]:
    """Return the items of a list in brackets."""
    return brackets.children[1:-1:2]


def name_in(phrase: Node | None) -> str:
    """Return the name in a phrase or a token; for an operation, its type; empty without a name."""
    if isinstance(phrase, Statement) and (head := operation_head().match(phrase.text)):
        return head[3]
    token = phrase if phrase is None or phrase.token is not None else name_token(phrase)
    return name_of(token.token or "") if token else ""


def is_positional(argument: Node) -> bool:
    """Return whether an argument stands without its parameter's name."""
    return argument.name == "positional_argument"


def used_name(binding: Node) -> Node | None:
    """Return the name that an argument uses, None for any other argument."""
    return held(binding) if binding.name == "name_binding" else None


def made(operation: Node) -> list[Name]:
    """Return the names of an operation's outputs; for a function, its own name."""
    if isinstance(operation, Statement):
        return [Name(*next(operation.names()))]
    named = [operation] if operation.name == "function" else outputs(operation)
    return [Name.of(token) for each in named if (token := name_token(each))]


def opset_name(phrase: Node) -> str:
    """Return the opset of a function or of a block of one; empty without an opset."""
    return name_in(opset_token(phrase))


def attributes_named(phrase: Node, key: str) -> Iterator[Node]:
    """Return the attributes of a phrase that have a key, in any spelling."""
    return (attribute for attribute in attributes(phrase) if name_in(attribute) == key)


def own_name(operation: Node) -> Node | None:
    """Return the string of an operation's attribute `name`, where it is a plain one."""
    for attribute in attributes_named(operation, "name"):
        value = held(attribute)
        token = contents(value) if value.name == "value" else value
        return token if token.name == "STRING" else None
    return None


def string_of(token: Node) -> str:
    """Return the text of a string's token."""
    return unquote(token.token or "")
