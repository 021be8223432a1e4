"""Differences of a `metadata.json` from the program and the description of its model."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import LONG
from miltext.compiled.histogram import KEY as HISTOGRAM
from miltext.compiled.metadata import FUNCTIONS, metadata
from miltext.compiled.metadata_json import FILE_NAME, METADATA_KEYS
from miltext.compiled.precision import STORAGE
from miltext.compiled.stated import CLASS
from miltext.diagnostics.wording import listed
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from miltext.checking.compiled.json_places import Way
    from miltext.diagnostics.dynamic import Json, Record
    from miltext.schema.proto import Model as Spec

VERSION = "metadataOutputVersion"

FREE = {CLASS: (".+", "a text"), VERSION: (".+", "a text"), "isUpdatable": ("[01]", '"0" or "1"')}
"""The keys of texts that follow from nothing in the folder, the form of each, and its description: the name, the
compiler, and a field of the package that no other file has.
"""

SCHEMAS = ("inputSchema", "outputSchema", "stateSchema")

ONLY_WITH_CAUSE = (STORAGE, FUNCTIONS, "defaultFunctionName", *METADATA_KEYS.values())
"""The keys that exist only for a non-empty fact; other keys of this kind are unknown."""

NEWER = ("stateSchema", "visionOS")
"""The keys that only newer compilers write; `stateSchema`, only for a model without a state."""

PROVEN = ("name", "shortDescription", "isOptional")
"""The keys of every entry, of any type."""

SEEN = {"colorspace": "RGB"}
"""The values seen in an image, which other images do not have."""

_LONG = 100
"""The greatest number of quoted characters of a value in a message."""

_MOST_COUNTS = 5
"""The number of counts of operations in a message."""


class Unlike(NamedTuple):
    """An error in a file, and the way to its key."""

    way: Way
    message: str


class _At(NamedTuple):
    """A place in the file: the way to it, and its name, in which names stand for the indices of lists."""

    way: Way = ()
    place: tuple[str, ...] = ()

    def key(self, key: str) -> _At:
        return _At((*self.way, key), (*self.place, key))

    def entry(self, index: int, name: str) -> _At:
        return _At((*self.way, index), (*self.place, name))

    def __str__(self) -> str:
        return f"`{shown('.'.join(self.place), LONG)}`"


def unlike(said: Mapping[str, Json], spec: Spec) -> Iterator[Unlike]:
    """Yield the differences of a model's entry in the file from the model, where the model's value is known."""
    made = metadata(spec, "")
    (expected,) = json.loads(made.text)
    return _Comparison({doubt.place for doubt in made.doubts}).models(said, expected, _At())


class _Comparison:
    """A comparison of the stated values with the expected ones, except in doubtful places."""

    def __init__(self, doubts: Collection[tuple[str, ...]]) -> None:
        self._doubts = doubts

    def models(self, said: Mapping[str, Json], expected: Mapping[str, Json], at: _At) -> Iterator[Unlike]:
        """Yield the differences in the entry of a model or of a function."""
        proven = {key: value for key, value in expected.items() if at.key(key).place not in self._doubts}
        yield from _lacking(said, proven, at)
        for key, value in said.items():
            where, wanted = at.key(key), expected.get(key)
            if key in FREE:
                pattern, words = FREE[key]
                if not isinstance(value, str) or not re.fullmatch(pattern, value, re.DOTALL):
                    yield Unlike(where.way, f"{FILE_NAME} states {_short(value)} for {where}, which is not {words}")
            elif where.place in self._doubts:
                continue
            elif key in SCHEMAS:
                yield from self._entries(value, wanted or [], where)
            elif key == HISTOGRAM:
                yield from self._counts(value, wanted or {}, where)
            elif key == FUNCTIONS:
                yield from self._functions(value, wanted or [], where)
            elif key in expected or key in ONLY_WITH_CAUSE:
                yield from _values(value, wanted, where)

    def _functions(self, said: Json, expected: list[Json], at: _At) -> Iterator[Unlike]:
        yield from _names(said, expected, at)
        for entry, wanted, where in _pairs(said, expected, at):
            yield from self.models(entry, wanted, where)

    def _entries(self, said: Json, expected: list[Json], at: _At) -> Iterator[Unlike]:
        """Yield the differences of a list of features; for an unseen type, only in the keys proven for all types."""
        yield from _names(said, expected, at)
        for entry, wanted, where in _pairs(said, expected, at):
            keys = PROVEN if where.place in self._doubts else {**entry, **wanted}
            keys = (*keys, *(key for key, seen in SEEN.items() if seen in (entry.get(key), wanted.get(key))))
            there, here = ({key: each[key] for key in keys if key in each} for each in (entry, wanted))
            yield from _values(there, here, where)

    def _counts(self, said: Json, expected: Mapping[str, int], at: _At) -> Iterator[Unlike]:
        """Yield other counts of operations; where in doubt, the opset in a name is uncertain, not the count."""
        if not isinstance(said, dict):
            yield Unlike(at.way, f"{FILE_NAME} states {_short(said)} for {at}, which is not an object")
            return
        doubtful = {name for name in expected if at.key(name).place in self._doubts}
        loosely = {_without_opset(name) for name in doubtful}
        yield from _values(_strictly(said, loosely), _strictly(expected, loosely), at)
        counts, true = _by_operation(said, loosely), _by_operation(expected, loosely)
        odd = [name for name in sorted(loosely) if counts[name] != true[name]]
        if odd:
            found = [f"{counts[name]} `{name}`, but it is {true[name]}" for name in odd[:_MOST_COUNTS]]
            found += [f"and {len(odd) - _MOST_COUNTS} others otherwise"] * (len(odd) > _MOST_COUNTS)
            yield Unlike(at.way, f"{FILE_NAME} counts in {at} {'; '.join(found)}")


def _strictly(counts: Mapping[str, Json], loosely: Collection[str]) -> Record:
    return {name: count for name, count in counts.items() if _without_opset(name) not in loosely}


def _by_operation(counts: Mapping[str, Json], names: Collection[str]) -> Counter[str]:
    found = Counter[str]()
    for name, count in counts.items():
        if _without_opset(name) in names:
            found[_without_opset(name)] += count if type(count) is int else 0
    return found


def _without_opset(name: str) -> str:
    """Return the name of an operation in the histogram without the opset of its definition."""
    word = re.sub(r"^Ios\d+\.", "", name)
    return word[:1].lower() + word[1:]


# ---- names of entries


def _names(said: Json, expected: list[Json], at: _At) -> Iterator[Unlike]:
    """Yield a list without the form of entries with names, with other names, or with the names in another order."""
    found, wanted = _names_in(said), _names_in(expected)
    if found is None or wanted is None:
        yield Unlike(at.way, f"{FILE_NAME} states {_short(said)} for {at}, which is not a list of objects with names")
        return
    there, left = {*found}, Counter(wanted)
    missing = [name for name in wanted if name not in there]
    if missing:
        yield Unlike(at.way, f"{FILE_NAME} lacks {listed(missing, 'and')} in {at}")
    for index, name in enumerate(found):
        if left[name] <= 0:
            again = " twice" if name in left else ", which is not there"
            yield Unlike((*at.way, index), f"{FILE_NAME} has `{shown(name, LONG)}` in {at}{again}")
        left[name] -= 1
    if found != wanted and sorted(found) == sorted(wanted):
        first, second = next((left, right) for left, right in zip(found, wanted, strict=True) if left != right)
        yield Unlike(at.way, f"{FILE_NAME} has {at} in another order: `{first}` in place of `{second}`")


def _names_in(said: Json) -> list[str] | None:
    if not isinstance(said, list) or not all(isinstance(each, dict) and type(each.get("name")) is str for each in said):
        return None
    return [each["name"] for each in said]


def _pairs(said: Json, expected: list[Json], at: _At) -> Iterator[tuple[Json, Json, _At]]:
    """Yield the entries that both have, by their names."""
    by_name = {each["name"]: each for each in expected}
    for index, name in enumerate(_names_in(said) or ()):
        if name in by_name:
            yield said[index], by_name[name], at.entry(index, name)


# ---- values


def _values(said: Json, expected: Json, at: _At) -> Iterator[Unlike]:
    """Yield differences of two values of JSON; None stands for a key that should be absent."""
    if isinstance(said, dict) and isinstance(expected, dict):
        yield from _lacking(said, expected, at)
        for key, value in said.items():
            yield from _values(value, expected.get(key), at.key(key))
    elif _json(said) != _json(expected):
        is_empty = said in ("", [], {}) and expected is None
        if not is_empty:
            instead = "but there is none" if expected is None else f"but it is {_short(expected)}"
            yield Unlike(at.way, f"{FILE_NAME} states {_short(said)} for {at}, {instead}")


def _lacking(said: Mapping[str, Json], expected: Mapping[str, Json], at: _At) -> Iterator[Unlike]:
    missing = [key for key in expected if key not in said and not (key in NEWER and expected[key] in ([], "1.0"))]
    if missing:
        yield Unlike(at.way, f"{FILE_NAME} lacks {listed(missing, 'and')}{f' in {at}' if at.place else ''}")


def _short(value: Json) -> str:
    return shown(_json(value), _LONG)


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
