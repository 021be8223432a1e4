"""The parts of a model around its program, as the tables of a description: plain values under the words of `words`.

Each message is spelled in words if possible. The words are read back and compared with the original message, and
missing parts are added as bytes, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from miltext.descriptions.parts import Whole, part_of
from miltext.descriptions.values import Wrong
from miltext.descriptions.words import (
    BY_TYPE,
    FEATURE,
    FUNCTION,
    FUNCTION_SIDES,
    FUNCTIONS,
    LABELS,
    METADATA,
    MODEL,
    SIDES,
    STAGES,
    UNSPELLED,
    USER_DEFINED,
)
from miltext.diagnostics.dynamic import Json
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.descriptions.surroundings import Surroundings
    from miltext.descriptions.words import Words
    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.proto import FeatureDescription, FunctionDescription, Message, Metadata

Table = dict[str, Json]
AnyMessage = TypeVar("AnyMessage", bound="Message")


def spell(around: Surroundings) -> Table:
    """Return the table of a model, with its inner tables."""
    table: Table = {}
    if around.name is not None:
        table["name"] = around.name
    if around.at:
        table["kind"] = around.kind
    spelled = _Spelled(type(around.head)())
    spelled.say(around.head, MODEL)
    if around.head.HasField("description"):
        _say_description(spelled, around)
    if "" in around.labels:
        spelled.table[LABELS] = around.labels[""]
    table |= spelled.whole(around.head, {})
    return table | ({STAGES: [spell(each) for each in around.stages]} if around.stages else {})


def _say_description(spelled: _Spelled, around: Surroundings) -> None:
    """Spell the tables of a model's description."""
    described, made = around.head.description, spelled.made
    assert isinstance(made, type(around.head))
    if described.HasField("metadata"):
        spelled.tables["metadata"] = _metadata(described.metadata)
        made.description.metadata.CopyFrom(described.metadata)
    spelled.say_features(described, SIDES, made.description)
    if described.functions:
        spelled.tables[FUNCTIONS] = [_function(each, around.labels.get(each.name)) for each in described.functions]
        made.description.functions.extend(described.functions)


class _Spelled:
    """An unfinished table, and the message with its contents."""

    def __init__(self, made: Message) -> None:
        self.made = made
        self.table: Table = {}
        self.tables: Table = {}

    def say(self, message: Message, words: Words) -> None:
        """Spell a message in words; leave out values that cannot be read back."""
        said = {key: form.word_value(message) for key, form in words.items()}
        for key, value in said.items():
            trial = type(self.made).FromString(wire_of(self.made))
            with suppress(Wrong):
                if value is not None:
                    words[key].put(value, trial)
                    self.table[key], self.made = value, trial

    def say_features(self, described: Fields, sides: Iterable[str], made: Fields) -> None:
        """Spell the features of each side."""
        for side in sides:
            features = getattr(described, side)
            if features:
                self.tables[side] = [spell_feature(each) for each in features]
                getattr(made, side).extend(features)

    def whole(self, message: Message, least: Table) -> Table:
        """Return the table with the leftover bytes of a message; only `least` with all bytes if they cannot be
        separated.
        """
        rest = leftover(message, self.made)
        if rest is None:
            labels = {key: self.table[key] for key in (LABELS,) if key in self.table}
            return {**least, **labels, UNSPELLED: wire_of(message).hex()}
        return {**self.table, **({UNSPELLED: rest.hex()} if rest else {}), **self.tables}


def spell_feature(feature: FeatureDescription) -> Table:
    """Return the table of an input, an output, a state or a training input."""
    spelled = _Spelled(type(feature)())
    spelled.say(feature, FEATURE)
    spelled.say(feature, BY_TYPE.get(spelled.table.get("type", ""), {}))
    return spelled.whole(feature, {"name": feature.name})


def _function(function: FunctionDescription, labels: object) -> Table:
    spelled = _Spelled(type(function)())
    spelled.say(function, FUNCTION)
    spelled.table |= {} if labels is None else {LABELS: labels}
    spelled.say_features(function, FUNCTION_SIDES, spelled.made)
    return spelled.whole(function, {"name": function.name})


def _metadata(metadata: Metadata) -> Table:
    spelled = _Spelled(type(metadata)())
    spelled.say(metadata, METADATA)
    defined = {key: metadata.userDefined[key] for key in sorted(metadata.userDefined)}
    if defined:
        spelled.tables[USER_DEFINED] = defined
        made: Fields = spelled.made
        made.userDefined.update(defined)
    return spelled.whole(metadata, {})


def leftover(whole: Message, said: Message) -> bytes | None:
    """Return the bytes that make `whole` of the message `said` when merged into it; None if there are no such bytes.

    They are empty if `said` is complete, and contain the fields that differ; of messages, the differing parts.
    """
    wanted = wire_of(whole)
    if wire_of(said) == wanted:
        return b""
    rest = _rest(part_of(whole), part_of(said))
    joined = type(said).FromString(wire_of(said) + rest)
    return rest if wire_of(joined) == wanted else None


def _rest(whole: Whole, said: Whole) -> bytes:
    """Return a message's fields, concatenated, that `said` lacks or has otherwise."""
    rest = b""
    for name, part in whole.parts.items():
        there = said.parts.get(name)
        if isinstance(part, Whole) and isinstance(there, Whole):
            inner = _rest(part, there)
            rest += part.with_content(inner) if inner else b""
        elif there is None or there.wire != part.wire:
            rest += part.wire
    return rest
