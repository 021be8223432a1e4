"""The arguments, attributes and weights of a graph's nodes, as compact JSON for `html_inspector.js`.

`call_tables` returns a dictionary of lists:

- `forms`: each `[arguments, attributes]`, a form of calls, listed once, however many operations have it. Both are lists
  of `[name, item, ...]`: a parameter with its bindings, or an attribute with its value. An item is a string, the
  spelling of a literal; 0, the next item of the node's own; or null: for an argument, the next value that the node
  takes; for an attribute, the name of the first value that it makes.
- `calls`: for each node, null without arguments and attributes; the number of its form; or a list of this number and
  the node's own items: strings as above, and numbers of weights.
- `weights`: each `[data type, shape, elements, bytes, file, offset, reason, statistics]`. A file and a reason are
  numbers of `words`, whose first word is empty: the file of a literal, and the reason if the weight was read. The
  statistics are `[least, greatest, mean, share of zeros, number of read elements]`, or null for a weight without
  elements, and for an unread weight.
- `words`: the words of `weights`, each once.

A weight is a value in a weight file, a tensor whose elements the text leaves out, or one with a long literal. Equal
spellings are one weight.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeAlias, TypeVar

from miltext.syntax import phrases
from miltext.syntax.literals import quote
from miltext.syntax.names import name_of
from miltext.syntax.plain_tokens import argument_parts, attribute_parts, operation_head
from miltext.syntax.tree import Node, Statement

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.printing.reading import TextPart, TextReader

LONG = 100
"""The most characters of a literal in a form: a longer one is cut, or shown as a weight with its facts."""

UNREAD = "the page was made without the model"
"""The reason if nothing reads weights."""

_OWN = 0
_ELSEWHERE = ("BLOBFILE", "$elided")

Item: TypeAlias = "str | int | None"
Bound: TypeAlias = "tuple[str, *tuple[Item, ...]]"
Form: TypeAlias = "tuple[tuple[Bound, ...], tuple[Bound, ...]]"


class WeightFacts(NamedTuple):
    """Facts about a weight.

    `file` is its path and `offset` its place in the file; a literal has an empty path. `statistics` are the least, the
    greatest and the mean value as text, since JSON has no NaN, the share of zeros, and the number of read elements.
    They are None for a weight without elements, and for an unread weight: then `reason` is the reason.
    """

    dtype: str = ""
    shape: str = ""
    elements: int = 0
    size: int = 0
    file: str = ""
    offset: int = 0
    reason: str = ""
    statistics: tuple[str, str, str, float, int] | None = None


ReadWeights: TypeAlias = Callable[[Sequence[str]], "list[WeightFacts]"]
"""A function that returns the facts about each value by its spelling."""

T = TypeVar("T", bound=Hashable)


class _Interned(Generic[T]):
    """Things by number, each once."""

    def __init__(self, *first: T) -> None:
        self.numbers: dict[T, int] = {each: number for number, each in enumerate(first)}

    def number(self, thing: T) -> int:
        """Return the number of an entry, the next number for a new entry."""
        return self.numbers.setdefault(thing, len(self.numbers))


def call_tables(reader: TextReader, parts: Iterable[TextPart | None], read: ReadWeights) -> dict[str, list[Json]]:
    """Return the tables of the nodes of these parts, as described in the module."""
    forms: _Interned[Form] = _Interned()
    weights: _Interned[str] = _Interned()
    calls: list[Json] = []
    for part in parts:
        call = _Call(reader, part, weights) if part is not None and part.kind == "op" else None
        form = call.form() if call else ((), ())
        number = forms.number(form) if any(form) else None
        calls.append([number, *call.own] if call and call.own else number)
    words = _Interned("")
    records = [_record(facts, words) for facts in read([*weights.numbers])]
    return {"forms": [*forms.numbers], "calls": calls, "weights": records, "words": [*words.numbers]}


def unread(spellings: Sequence[str]) -> list[WeightFacts]:
    """Return facts without contents: the reader of weights for a page without a model."""
    return [WeightFacts(reason=UNREAD)] * len(spellings)


def _record(facts: WeightFacts, words: _Interned[str]) -> Json:
    dtype, shape, elements, size, file, offset, reason, found = facts
    return [dtype, shape, elements, size, words.number(file), offset, words.number(reason), found]


class _Call:
    """The call of an operation; `own` are the node's own items so far."""

    def __init__(self, reader: TextReader, part: TextPart, weights: _Interned[str]) -> None:
        self.own: list[str | int] = []
        self._reader = reader
        self._phrase = part.phrase
        self._weights = weights
        made = reader.definitions[part.makes[0]] if part.makes and part.makes[0] >= 0 else None
        self._type = made.type if made else ""
        self._name = quote(name_of(made.name)) if made else ""

    def form(self) -> Form:
        """Return the arguments and the attributes, and collect the node's own items."""
        if isinstance(self._phrase, Statement):
            return self._plain(self._phrase)
        assert self._phrase is not None  # so it was made
        arguments: tuple[Bound, ...] = tuple(
            (phrases.name_in(each), *self._bindings(each)) for each in phrases.arguments(self._phrase)
        )
        attributes = phrases.attributes(self._phrase)
        return arguments, tuple((phrases.name_in(each), self._held(phrases.held(each))) for each in attributes)

    def _plain(self, statement: Statement) -> Form:
        """Return the form of a plain operation, without reading its phrases."""
        text = statement.text
        head = operation_head().match(text)
        assert head is not None  # so it was read
        arguments = tuple(
            (found[1], self._taken(found[2], statement.start + found.start(2)))
            for found in argument_parts().finditer(text, *head.span(4))
        )
        attributes = attribute_parts().finditer(text, head.end())
        return arguments, tuple((found[1], self._value(found[2], found[3])) for found in attributes)

    def _bindings(self, argument: Node) -> Iterator[Item]:
        for binding in phrases.bindings(argument):
            if binding.name == "unset_binding":
                yield self._reader.spelled(binding)
                continue
            held = phrases.held(binding)
            is_name = binding.name == "name_binding"
            yield self._taken(self._reader.spelled(held), held.start) if is_name else self._held(held)

    def _taken(self, name: str, at: int) -> Item:
        """Return the item of a name in an argument: itself if it has no definition."""
        return None if self._reader.is_value(at) else name

    def _held(self, phrase: Node) -> Item:
        """Return the item of a literal or of an inner operation."""
        if phrase.name == "call":
            return None
        stated = phrases.type_of(phrase) if phrase.name == "value" else None
        if stated is None:
            return _cut(self._reader.spelled(phrase))
        return self._value(self._reader.spelled(stated), self._reader.spelled(phrases.contents(phrase)))

    def _value(self, type_: str, literal: str) -> Item:
        """Return the item of a typed literal: without its type if it is a string, or of the type of the output."""
        if literal == self._name:
            return None
        if _is_weight(type_, literal):
            self.own.append(self._weights.number(f"{type_}({literal})"))
            return _OWN
        if not literal.startswith('"'):
            return _cut(literal if type_ == self._type else f"{type_}({literal})")
        self.own.append(_cut(literal))
        return _OWN


def _is_weight(type_: str, literal: str) -> bool:
    if literal.startswith(_ELSEWHERE):
        return True
    return len(literal) > LONG and literal.startswith("[") and type_.startswith("tensor") and '"' not in literal


def _cut(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]}\u2026"
