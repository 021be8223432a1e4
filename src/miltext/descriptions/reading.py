"""Reading of descriptions in TOML: the messages made from their tables, or all mistakes in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from miltext.descriptions.forms import SIZES
from miltext.descriptions.surroundings import Labels, Surroundings, head_of
from miltext.descriptions.values import Wrong, inside, items, number, text
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
    STAGE,
    STAGES,
    TYPES,
    UNSPELLED,
    USER_DEFINED,
    Words,
)
from miltext.diagnostics import ModelError, codes, error, refusing
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.schema.proto import Metadata
from miltext.schema.proto import Model as Spec
from miltext.schema.wire import wire_of
from miltext.toml.reading import Keys, Mistake, NotToml, noun, read_toml
from miltext.toml.writing import value_text

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Fields, Json, Record

MOST_REPORTED = 20
"""The greatest number of mistakes reported in a file: finding their places takes time."""


def read_description(source: str, path: str) -> Surroundings:
    """Return the contents of a description's text. Raise ModelError: MIL470 to MIL475, with all mistakes."""
    try:
        table = read_toml(source)
    except NotToml as failure:
        found = error(codes.UNREADABLE_DESCRIPTION, f"this is not TOML: {failure.reason}", failure.span)
        raise ModelError([found], text=source, path=path) from failure
    reading = _DescriptionReading()
    around = reading.model(table, ())
    refuse(reading.mistakes, source, path)
    return around


def refuse(mistakes: list[Mistake], source: str, path: str) -> None:
    """Raise ModelError for mistakes in a description, each at its place, if there are any."""
    if mistakes:
        raise ModelError([each.diagnostic(source) for each in mistakes[:MOST_REPORTED]], text=source, path=path)


TOP = (*MODEL, LABELS)
"""The keys that belong above all tables, and are easily misplaced below them."""


class _DescriptionReading:
    """A description during its reading; `mistakes` grows."""

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def model(self, table: Record, at: Keys) -> Surroundings:
        """Return the contents of a model's table: the whole text, or the table of a stage in a pipeline."""
        around = Surroundings(Spec(), at=at)
        of_stage = STAGE if at else ()
        tables = ("metadata", *SIDES, FUNCTIONS, STAGES)
        self.refuse_unknown(table, (*of_stage, *MODEL, LABELS, UNSPELLED, *tables), at)
        for key in of_stage:
            with self.noting(key, at):
                setattr(around, key, text(table[key]) if key in table else None)
        head = around.head
        self.words(head, MODEL, table, at)
        if "metadata" in table and (inner := self.table(table["metadata"], (*at, "metadata"))) is not None:
            self.metadata(head.description.metadata, inner, (*at, "metadata"))
        self.features(head.description, SIDES, table, at)
        for inner, where in self.tables(table, FUNCTIONS, at):
            self.function(around, inner, where)
        self.labels(around, "", table, at)
        around.stages = [self.model(inner, where) for inner, where in self.tables(table, STAGES, at)]
        self.unspelled(head, table, at)
        return around

    def function(self, around: Surroundings, table: Record, at: Keys) -> None:
        made = around.head.description.functions.add()
        self.refuse_unknown(table, (*FUNCTION, LABELS, UNSPELLED, *FUNCTION_SIDES), at)
        self.need_name(table, at)
        self.words(made, FUNCTION, table, at)
        self.features(made, FUNCTION_SIDES, table, at)
        self.unspelled(made, table, at)
        self.labels(around, made.name, table, at)

    def features(self, described: Fields, sides: Iterable[str], table: Record, at: Keys) -> None:
        for side in sides:
            for inner, where in self.tables(table, side, at):
                self.feature(getattr(described, side).add(), inner, where)

    def feature(self, made: Fields, table: Record, at: Keys) -> None:
        kind = table.get("type")
        words = BY_TYPE.get(kind, {}) if isinstance(kind, str) else {}
        known = (*FEATURE, UNSPELLED, *words)
        others = {key: _types_with(key) for key in table if key not in known and _types_with(key)}
        self.refuse_unknown([key for key in table if key not in others], known, at)
        for key, types in others.items() if kind in (None, *TYPES) else ():  # a wrong word is reported alone
            said = "this has no `type`" if kind is None else f'this one is "{kind}"'
            self.mistake(
                codes.UNKNOWN_DESCRIPTION_KEY,
                f"`{key}` belongs to the type {' or '.join(types)}, and {said}",
                (*at, key),
            )
        self.need_name(table, at)
        self.words(made, {**FEATURE, **words}, table, at)
        self.unspelled(made, table, at)

    def metadata(self, made: Metadata, table: Record, at: Keys) -> None:
        made.SetInParent()
        self.refuse_unknown(table, (*METADATA, UNSPELLED, USER_DEFINED), at)
        self.words(made, METADATA, table, at)
        defined = self.table(table.get(USER_DEFINED, {}), (*at, USER_DEFINED)) or {}
        for key, value in defined.items():
            with self.noting(key, (*at, USER_DEFINED)):
                if isinstance(value, dict):
                    quoted = _quoted(key, value)
                    raise Wrong(
                        codes.DESCRIPTION_VALUE_TYPE,
                        f"takes a string, not a table: write a key with dots in quotes, `{quoted}`",
                    )
                made.userDefined[key] = text(value)
        self.unspelled(made, table, at)

    # ---- parts of a table

    def words(self, made: Fields, words: Words, table: Record, at: Keys) -> None:
        for key, form in words.items():
            if key in table:
                with self.noting(key, at):
                    form.put(table[key], made)

    def labels(self, around: Surroundings, function: str, table: Record, at: Keys) -> None:
        if LABELS in table:
            with self.noting(LABELS, at):
                around.labels[function] = _labels(table[LABELS])

    def unspelled(self, made: Fields, table: Record, at: Keys) -> None:
        if UNSPELLED not in table:
            return
        with self.noting(UNSPELLED, at):
            digits = text(table[UNSPELLED])
            with refusing(
                lambda _: Wrong(
                    codes.DESCRIPTION_VALUE_TYPE, "is not what `miltext describe` writes: leave it as it was"
                )
            ):
                made.MergeFromString(bytes.fromhex(digits))
            if isinstance(made, Spec) and wire_of(made) != wire_of(head_of(made)):
                raise Wrong(codes.DESCRIPTION_VALUE_TYPE, "contains fields that do not belong to a description")

    def need_name(self, table: Record, at: Keys) -> None:
        if "name" not in table:
            self.mistake(codes.DESCRIPTION_ENTRY_COUNT, f"this `{_header(at)}` has no `name`", at, key=False)

    def refuse_unknown(self, table: Iterable[str], known: Iterable[str], at: Keys) -> None:
        for key in [each for each in table if each not in known]:
            near = nearest(key, known)
            place = f"`{_header(at)}`" if at else "a description"
            listed = "" if near else f"; it has {', '.join(f'`{each}`' for each in known)}"
            if at and near is None and key in TOP:
                listed = ": it belongs to the model, above the first table"
            message = f"{place} has no key `{key}`{did_you_mean(near)}{listed}"
            self.mistake(codes.UNKNOWN_DESCRIPTION_KEY, message, (*at, key), suggestion=near)

    # ---- tables in a table

    def tables(self, table: Record, key: str, at: Keys) -> Iterator[tuple[Record, Keys]]:
        """Yield the tables of an array of tables, each with the way to it."""
        listed = table.get(key, [])
        if not isinstance(listed, list):
            self.mistake(
                codes.DESCRIPTION_VALUE_TYPE,
                f"`{key}` takes an array of tables, `[[{key}]]`, not {noun(listed)}",
                (*at, key),
            )
            return
        for index, inner in enumerate(listed):
            where = (*at, key, index)
            found = self.table(inner, where)
            if found is not None:
                yield found, where

    def table(self, value: object, at: Keys) -> Record | None:
        if isinstance(value, dict):
            return value
        self.mistake(codes.DESCRIPTION_VALUE_TYPE, f"`{_noun(at)}` takes a table, not {noun(value)}", at)
        return None

    # ---- mistakes

    def mistake(
        self, code: str, message: str, at: Keys, *, key: bool | None = None, suggestion: str | None = None
    ) -> None:
        is_key = code == codes.UNKNOWN_DESCRIPTION_KEY if key is None else key
        self.mistakes.append(Mistake(code, message, at, key=is_key, suggestion=suggestion))

    def noting(self, key: str, at: Keys) -> _Noting:
        """Return a context manager that records mistakes in the value of a key."""
        return _Noting(self, key, at)


class _Noting:
    def __init__(self, reading: _DescriptionReading, key: str, at: Keys) -> None:
        self.reading, self.key, self.at = reading, key, at

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, failure: BaseException | None, trace: object) -> bool:
        if not isinstance(failure, Wrong):
            return False
        message = f"`{self.key}` {failure.message}"
        at = (*self.at, self.key, *failure.at)
        self.reading.mistakes.append(Mistake(failure.code, message, at, suggestion=failure.suggestion))
        return True


def _types_with(key: str) -> list[str]:
    """Return the types, in quotes, that have a key."""
    return [f'"{kind}"' for kind, words in BY_TYPE.items() if key in words]


def _quoted(key: str, value: object) -> str:
    """Return a line with a dotted key in quotes, as a single key."""
    while isinstance(value, dict) and value:
        first, value = next(iter(value.items()))
        key = f"{key}.{first}"
    return f"{value_text(key)} = ..."


def _header(at: Keys) -> str:
    """Return the header of a table, without its enclosing tables."""
    return f"[[{_noun(at)}]]" if isinstance(at[-1], int) else f"[{_noun(at)}]"


def _noun(at: Keys) -> str:
    return next((each for each in reversed(at) if isinstance(each, str)), "description")


def _labels(value: object) -> Labels:
    """Return labels: all strings, or all whole numbers. Raise Wrong."""
    found = items(value, "strings or of whole numbers")
    is_text = not found or isinstance(found[0], str)
    made: list[Json] = []
    for index, each in enumerate(found):
        with inside(index):
            made.append(text(each) if is_text else number(each, SIZES[0], SIZES[1]))
    return made
