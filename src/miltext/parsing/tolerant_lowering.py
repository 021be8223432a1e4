"""Lowering that continues after an error: it reports each error, and lowers the enclosing phrases without the refused
part.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics import codes
from miltext.parsing.lowering import LoweringError, OpsetSpelling
from miltext.parsing.lowering.left_out import LeavingOut, NamedArray
from miltext.parsing.lowering.maps import repeated
from miltext.parsing.lowering.markers import marker_error
from miltext.parsing.lowering.names import name_bytes
from miltext.parsing.lowering.types import ABSENT
from miltext.parsing.lowering.values import Children, Raw, bound_list_error, list_error, misplaced
from miltext.parsing.sync_points import names_in
from miltext.parsing.syntax_errors import syntax_error
from miltext.parsing.tree_lowering import TreeLowering, lowering_diagnostic
from miltext.schema.fields import BLOCK_OPERATIONS, NAME, OPERATION_OUTPUTS
from miltext.schema.opsets import DIALECTS
from miltext.schema.wire import sized
from miltext.syntax.phrases import SHORT
from miltext.syntax.tree import Node, Statement, transformed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from miltext.diagnostics import Diagnostic
    from miltext.syntax.parser import Parsed, SyntaxFailure

_USES = ("name_binding", "outputs")
"""The rules of phrases in which names refer to earlier values."""

BROKEN = object()
"""The lowered form of a refused phrase, and of a phrase that requires its refused inner phrase."""

Repair: TypeAlias = "Callable[[Children], Children]"


class Opaque(Node):
    """An operation with only its outputs known: its children are the outputs with types, `names` the others."""

    names: tuple[str, ...] = ()


def opaque(begun: list[Node], text: str, start: int, end: int) -> Opaque:
    """Return an operation between two places, with only its outputs known.

    `begun` are its finished phrases, `text` is its likely text.
    """
    read = _read_outputs(begun)
    operation = Opaque("operation", start, end, [value for value in read if value.name == "named_value"])
    untyped = [value.children[-1].token or "" for value in read if value.name != "named_value"]
    operation.names = tuple(untyped if read else _outputs_in(text))
    return operation


def _read_outputs(begun: list[Node]) -> list[Node]:
    """Return the outputs in the finished phrases of an operation, with their types or as outputs of a draft."""
    for node in begun:
        if node.name == "results":
            return [child for child in node.children if child.children]
    [value_type, name] = begun if len(begun) == 2 else (None, None)
    if value_type is None or name is None or name.name != "NAME" or value_type.token is not None:
        return []
    return [Node("named_value", value_type.start, name.end, [value_type, name])]


def _outputs_in(text: str) -> list[str]:
    """Return the names before the `=` of an operation, the names of its outputs among them."""
    outputs, equals, _ = text.partition("=")
    outside = outputs.count("(") == outputs.count(")")
    return names_in(outputs if outside else re.split("[(;]", outputs, maxsplit=1)[0]) if equals else []


class TolerantLowering(TreeLowering):
    """Lowering of a tree that accepts drafts, and continues after an error.

    `repaired` are the phrases lowered without a broken part, by their rule and place. `drafts` are the beginnings of
    draft spellings. `misnamed` are the reserved words used as names of values: each is reported only at its definition.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text, LeavingOut())
        self.diagnostics: list[Diagnostic] = []
        self.repaired: set[tuple[str, int, int]] = set()
        self.drafts: list[int] = []
        self.misnamed: set[str] = set()

    def lower(self, phrase: Node, children: Children) -> Parsed:
        """Return the lowered form of a phrase, given its lowered children; BROKEN if no part can be kept."""
        return self.statement(phrase) if isinstance(phrase, Statement) else self.in_net(self._made, phrase, children)

    def _made(self, phrase: Node, children: Children) -> Parsed:
        """Return the lowered form of a phrase, by the rules of drafts or of Programs. Raise LoweringError."""
        if isinstance(phrase, Opaque):
            self._mark(phrase)
            return _operation_of(phrase.names, [child for child in children if child is not BROKEN])
        if phrase.name in SHORT:  # cut before its end
            return BROKEN
        if phrase.name == "draft_marker":  # `$draft(names)`
            refused = marker_error(children)
            return self.refused(phrase, children, refused) if refused else ("$draft", b"")
        if phrase.name == "draft_binding":  # `[0, 1]`: a binding to be made later
            return self._draft_binding(phrase, children[0])
        if phrase.name == "draft_attribute":  # `val = 0.5`
            name, _, literal = children
            value = self._draft_binding(phrase, literal)
            return BROKEN if value is BROKEN else (name, name_bytes(name), value)
        if phrase.name == "draft_value":  # `_ y`, `y`: an output without a type
            self.drafts.append(phrase.start)
            return super().lower(phrase._replace(name="named_value"), [ABSENT, children[1]])
        if any(child is BROKEN for child in children):
            if phrase.name not in _WITHOUT_BROKEN:
                return BROKEN
            self._mark(phrase)
            children = _WITHOUT_BROKEN[phrase.name](children)
        return BROKEN if any(child is BROKEN for child in children) else super().lower(phrase, children)

    def _draft_binding(self, phrase: Node, literal: str | Raw) -> Parsed:
        if literal is BROKEN or self.is_misnamed(phrase):
            return BROKEN
        if isinstance(literal, str) and phrase.name == "draft_binding":
            found = [bound_list_error(literal)]
        else:
            found = [*map(list_error, _plain_lists(literal)), misplaced(literal)]
        errors = [refused for refused in found if refused]
        if errors:
            self.diagnostics += [lowering_diagnostic(phrase, refused, self.text) for refused in errors]
            return BROKEN
        self.drafts.append(phrase.start)
        return literal.content() if isinstance(literal, NamedArray) else b""

    def unread(self, statement: Statement, failure: SyntaxFailure) -> bytes:
        if not self.is_misnamed(*failure.read[-1:]):
            self.diagnostics.append(syntax_error(self.text, failure, failure.read))
        self._mark(statement)
        lost = opaque(failure.read, statement.text, statement.start, statement.end)
        return transformed(lost, self.lower)  # type: ignore[no-any-return]

    def refused(self, phrase: Node, children: Children, refused: LoweringError) -> Parsed:
        misnamed = str(refused.at) if refused.code == codes.RESERVED_WORD else ""
        if not (misnamed in self.misnamed and phrase.name in _USES):
            self.diagnostics.append(lowering_diagnostic(phrase, refused, self.text))
        if misnamed and phrase.name == "named_value":
            self.misnamed.add(misnamed)
        if phrase.name in _WITHOUT_REFUSED:
            self._mark(phrase)
            with suppress(LoweringError):
                return getattr(self.lowering, phrase.name)(_WITHOUT_REFUSED[phrase.name](children))
        return BROKEN

    def is_misnamed(self, *phrases: Node) -> bool:
        """Return whether a phrase is a reserved word used as the name of a value."""
        return any(self.text[phrase.start : phrase.end] in self.misnamed for phrase in phrases)

    def _mark(self, phrase: Node) -> None:
        self.repaired.add((phrase.name, phrase.start, phrase.end))


def _plain_lists(literal: str | Raw | None) -> Iterator[str]:
    """Yield the lists of plain elements in a literal, each a single token."""
    if isinstance(literal, Raw):
        for child in literal.children:
            yield from _plain_lists(child)
    elif literal and literal[0] == "[" and literal != "[":
        yield literal


def _operation_of(names: Iterable[str], typed: Iterable[bytes]) -> bytes:
    """Return an Operation with only its outputs known, as a field of its Block: names, and outputs with types."""
    outputs = [*typed]
    for name in names:
        with suppress(LoweringError):
            outputs.append(sized(NAME, name_bytes(name)))
    return sized(BLOCK_OPERATIONS, repeated(OPERATION_OUTPUTS, outputs))


# ---- the phrases without their broken parts


def _replaced(absent: dict[int, Parsed], children: Children) -> Children:
    absent = {range(len(children))[index]: value for index, value in absent.items()}
    return [absent.get(index, child) if child is BROKEN else child for index, child in enumerate(children)]


def _program(children: Children) -> Children:
    body = children.index("{")
    whole = _replaced({body - 1: None}, children[:body]) + children[body:]
    return [child for child in whole if child is not BROKEN]


_WITHOUT_BROKEN: dict[str, Repair] = {
    "named_value": partial(_replaced, {0: ABSENT}),
    "operation": partial(_replaced, {0: b"", 3: None, 4: b"", 5: {}}),
    "block": partial(_replaced, {-2: [], -1: None}),
    "function": partial(_replaced, {2: None, 4: None}),
    "program": _program,
}

# ---- the refusals of this lowering


def _named_plainly(children: Children) -> Children:
    """Return the children with unreserved quoted names."""
    return [
        f'$"{re.sub("[^A-Za-z0-9_@]", "", child)}"'
        if isinstance(child, str) and child not in ("(", ",", ")")
        else child
        for child in children
    ]


def _named_nothing(children: Children) -> Children:
    results, equals, _, _, *others = children
    return [results, equals, '$""', None, *others]


def _once(children: Children) -> Children:
    """Return the program's children with a known dialect, and with each field and function once."""
    body = children.index("{")
    word, opening, dialect, closing, *fields, attributes = children[:body]
    fields = list({field[0]: field for field in fields}.values())
    functions = {function[0]: function for function in reversed(children[body + 1 : -1])}
    dialect = dialect if dialect in DIALECTS else DIALECTS[-1]
    return [word, opening, dialect, closing, *fields, attributes, "{", *functions.values(), "}"]


def _without_none(children: Children) -> Children:
    """Return the blocks of a function, without a `$none` among them."""
    return [child for child in children if not isinstance(child, str)]


def _blocks_once(children: Children) -> Children:
    """Return the function's children with the first block of each opset."""
    *head, bodies, end = children
    own = head[2] or OpsetSpelling("", b"")
    blocks = {(opset or own).wire: (opset, body) for opset, body in reversed(bodies)}
    return [*head, [*blocks.values()], end]


_WITHOUT_REFUSED: dict[str, Repair] = {
    "named_value": _named_plainly,
    "outputs": _named_plainly,
    "operation": _named_nothing,
    "bodies": _without_none,
    "function": _blocks_once,
    "program": _once,
}
