"""Lowering that goes on after a refusal: each is told, and the phrases around it make do without what was refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from miltext.complaints import complain
from miltext.fields import (
    BLOCK_OPERATIONS,
    NAME,
    OPERATION_OUTPUTS,
)
from miltext.lowering import Refused
from miltext.lowering.left_out import LeavingOut
from miltext.lowering.maps import (
    repeated,
)
from miltext.lowering.names import name_bytes
from miltext.lowering.types import ABSENT
from miltext.lowering.values import Raw
from miltext.opsets import DIALECTS
from miltext.parser import described, list_refusal
from miltext.syntax import Driver, SyntaxFailure, Trace
from miltext.wire import sized

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.syntax import Node

_USES = ("name_binding", "outputs")
"""The rules of phrases in which names stand for values that were defined before."""

BROKEN = object()
"""The value of a phrase that was refused, or that nothing is left of without the one inside it that was."""

Children: TypeAlias = "list[Any]"
Mend: TypeAlias = Callable[[Children], Children]


class Mending:
    """Callbacks of a traced parse: those of `Lowering`, but that a draft is no refusal, and that a refusal is no end.

    `mended` has the phrases that had to do without something, by their rule and place; `drafts` where those of a draft
    begin; `misnamed` the reserved words that a value was called by, which is told once, and not where they are used.
    """

    def __init__(self, text: str, trace: Trace) -> None:
        self._text = text
        self._trace = trace
        self._lowering = LeavingOut()
        self.diagnostics: list[Diagnostic] = []
        self.mended: set[tuple[str, int, int]] = set()
        self.drafts: list[int] = []
        self.misnamed: set[str] = set()

    def __getattr__(self, rule: str) -> Callable[[Children], Any]:
        return partial(self._lowered, rule, getattr(self._lowering, rule))

    def draft_value(self, children: Children) -> bytes:
        """`_ y`: an output without a type."""
        self.drafts.append(self._trace.nodes[-1].start)
        return self.named_value([ABSENT, children[1]])  # type: ignore[no-any-return]

    def draft_binding(self, children: Children) -> Any:
        """`[0, 1]`: a binding that is yet to be made."""
        if self.is_misnamed(self._trace.nodes[-1]):
            return BROKEN
        refusals = filter(None, map(list_refusal, _plain_lists(children[0])))
        self.diagnostics += [described(self._text, refused, self._trace) for refused in refusals]
        self.drafts.append(self._trace.nodes[-1].start)
        return b""

    def plain_operation(self, children: Children) -> Any:
        """A whole operation; if it is refused, by its phrases, of which each may be."""
        token = children[0]
        try:
            return self._lowering.plain_operation(children)
        except Refused:
            driver, trace = self._by_phrases
        trace.nodes.clear()
        trace.offset = token.start
        try:
            return driver.fragment("operation", token, trace)
        except SyntaxFailure as failure:
            if not self.is_misnamed(*trace.nodes[-1:]):
                self.diagnostics.append(complain(self._text, failure, trace.nodes))
        self.mended.add(("operation", token.start, token.end))
        return operation_of([token.partition("=")[0].split()[-1]])

    @cached_property
    def _by_phrases(self) -> tuple[Driver, Trace]:
        """What reads an operation phrase by phrase, and tells and keeps it here."""
        trace = Trace()
        inner = Mending(self._text, trace)
        inner.diagnostics, inner.mended, inner.drafts = self.diagnostics, self.mended, self.drafts
        inner.misnamed = self.misnamed
        return Driver(inner, fast=False), trace

    def _lowered(self, rule: str, lower: Callable[[Children], Any], children: Children) -> Any:
        if any(child is BROKEN for child in children):
            if rule not in _WITHOUT_BROKEN:
                return BROKEN
            children = self._mend(_WITHOUT_BROKEN[rule], children)
        try:
            return BROKEN if any(child is BROKEN for child in children) else lower(children)
        except Refused as refused:
            self._tell(rule, refused)
        if rule not in _WITHOUT_REFUSED:
            return BROKEN
        try:
            return lower(self._mend(_WITHOUT_REFUSED[rule], children))
        except Refused:
            return BROKEN

    def _tell(self, rule: str, refused: Refused) -> None:
        if refused.code == "MIL102" and rule == "named_value":
            self.misnamed.add(str(refused.at))
        elif refused.code == "MIL102" and rule in _USES and refused.at in self.misnamed:
            return
        self.diagnostics.append(described(self._text, refused, self._trace))

    def is_misnamed(self, *phrases: Node) -> bool:
        """Whether a phrase is a reserved word that a value was called by."""
        return any(self._text[phrase.start : phrase.end] in self.misnamed for phrase in phrases)

    def _mend(self, mend: Mend, children: Children) -> Children:
        phrase = self._trace.nodes[-1]
        self.mended.add((phrase.name, phrase.start, phrase.end))
        return mend(children)


def _plain_lists(literal: str | Raw) -> Iterator[str]:
    """The lists of plain elements in a literal, each one token."""
    if isinstance(literal, Raw):
        for child in literal.children:
            yield from _plain_lists(child)
    elif literal[0] == "[" and literal != "[":
        yield literal


def operation_of(names: list[str]) -> bytes:
    """As a field of its Block, an Operation that could not be read, but for the names that it defines."""
    outputs = []
    for name in names:
        with suppress(Refused):
            outputs.append(sized(NAME, name_bytes(name)))
    return sized(BLOCK_OPERATIONS, repeated(OPERATION_OUTPUTS, outputs))


# ---- what a phrase does without: parts of it that are broken


def _replaced(absent: dict[int, Any], children: Children) -> Children:
    return [absent.get(index, child) if child is BROKEN else child for index, child in enumerate(children)]


def _block(children: Children) -> Children:
    return _replaced({len(children) - 2: [], len(children) - 1: None}, children)


def _program(children: Children) -> Children:
    body = children.index("{")
    whole = _replaced({body - 1: None}, children[:body]) + children[body:]
    return [child for child in whole if child is not BROKEN]


_WITHOUT_BROKEN: dict[str, Mend] = {
    "named_value": partial(_replaced, {0: ABSENT}),
    "operation": partial(_replaced, {0: b"", 3: None, 4: b"", 5: {}}),
    "block": _block,
    "function": partial(_replaced, {2: None, 4: None}),
    "program": _program,
}

# ---- and what it refused itself


def _named_plainly(children: Children) -> Children:
    value_type, name = children
    return [value_type, _plainly(name)]


def _named_each_plainly(children: Children) -> Children:
    return [_plainly(child) if child not in ("(", ",", ")") else child for child in children]


def _plainly(name: str) -> str:
    return f'$"{re.sub("[^A-Za-z0-9_@]", "", name)}"'


def _named_nothing(children: Children) -> Children:
    results, equals, _, _, *others = children
    return [results, equals, '$""', None, *others]


def _once(children: Children) -> Children:
    """The program in a known dialect, each field and function once."""
    body = children.index("{")
    word, opening, dialect, closing, *fields, attributes = children[:body]
    fields = list({field[0]: field for field in fields}.values())
    functions = {function[0]: function for function in reversed(children[body + 1 : -1])}
    dialect = dialect if dialect in DIALECTS else DIALECTS[-1]
    return [word, opening, dialect, closing, *fields, attributes, "{", *functions.values(), "}"]


_WITHOUT_REFUSED: dict[str, Mend] = {
    "named_value": _named_plainly,
    "outputs": _named_each_plainly,
    "operation": _named_nothing,
    "program": _once,
}
