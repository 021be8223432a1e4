"""Exports of an MLComputePlan, as people share them: tables with tabs or commas, JSON, and JSON line by line.

No format is a standard: people write a few lines of Swift or Python over Apple's class, and name the fields as they
like. A table has a heading, or the columns of the study: case, index, operation, output, preferred device, supported
devices and cost. In JSON, each object with an operation and a device is a row, and so are those in its blocks.
Source: MLComputePlan's documentation for the facts; public scripts over it for the names.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

from miltext.diagnostics import codes, refusing
from miltext.dumps.placed import ANE, PlacedOperation
from miltext.files.json_keys import repeated_key
from miltext.files.refusals import reason_of, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diagnostics.dynamic import Json

FIELDS = {
    "type": "operation op optype operator operatorname operationname operatortype type",
    "name": "output outputs outputname outputnames name identifier path",
    "function": "function functionname case component",
    "backend": "prefers preferred preferreddevice preferredcomputedevice selected selecteddevice computedevice device "
    "backend cpuandneprefers",
    "supported": "can supported supporteddevices supportedcomputedevices cpuandnecan",
    "cost": "cost weight estimatedcost estimatedcostweight",
}
"""The names of a field in exports, as letters alone, the first that is present counting."""

USAGES = ("deviceusage", "computedeviceusage", "usage")
"""The names of an object with the devices of an operation, as in Apple's class."""

_NAMES = {field: words.split() for field, words in FIELDS.items()}
_DEVICE = re.compile(
    r"ml(?P<kind>neuralengine|cpu|gpu)computedevice|\b(?P<word>neural[ _]?engine|ane|npu|ne|cpu|gpu)\b", re.IGNORECASE
)
"""A device in any spelling: a word, or Apple's classes as Swift, Objective-C and coremltools print their objects."""

_ENGINE = frozenset({"neuralengine", "ane", "npu", "ne"})
_NONE = frozenset({"", "none", "null", "unknown", "unreported", "nil", "optionalnil"})
_OPSET = re.compile(r"(?:ios|coreml)[0-9]+\.")
_CONSTANT = "const"
_COLUMNS = "function index type name backend supported cost".split()
"""The columns of a table without a heading: those of the study."""

Row = Mapping[str, object]


def read_plan(text: str, name: str) -> list[PlacedOperation] | None:
    """Return the operations of a plan, as JSON or as a table; None for any other text. Raise ModelError (MIL890).

    Constants run nowhere, so they are left out.
    """
    start = text.lstrip()
    if start[:1] in ("{", "["):
        with refusing(lambda failure: _refused(f"the JSON cannot be read: {reason_of(failure)}", name)):
            rows = [*_objects(_json(start, name), {}, is_outer=True)]
        places = [f"row {number}" for number in range(1, len(rows) + 1)]
    elif (separator := _separator(start)) is not None:
        numbered = _by_index(_table(text, separator, name))
        rows, places = [row for _, row in numbered], [f"line {line}" for line, _ in numbered]
    else:
        return None
    if not rows:
        raise _refused("no operation with a device is in this file", name)
    found = [_operation(row, name, place) for row, place in zip(rows, places, strict=True)]
    return [each for each in found if each.type != _CONSTANT]


def _refused(message: str, name: str) -> Exception:
    return refusal(codes.UNREADABLE_PLAN, message, name)


def letters(word: object) -> str:
    """Return the letters and digits of a word in lower case, to compare names of fields and devices."""
    return re.sub(r"[^a-z0-9]", "", str(word).lower())


def _field(row: Row, field: str) -> object:
    return next((row[word] for word in _NAMES[field] if row.get(word) not in (None, "")), None)


# ---- JSON


def _json(text: str, name: str) -> Json:
    """Return the value of a JSON text; for several objects, each on its own line, their list."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.startswith("{") and line.rstrip().endswith("}") for line in lines):
        return _object(text, name)
    return [_object(line, name) for line in lines]


def _object(text: str, name: str) -> Json:
    def unique(pairs: list[tuple[str, Json]]) -> Json:
        if key := repeated_key(pairs):
            raise _refused(f"an object has the key {key!r} twice", name)
        return dict(pairs)

    return json.loads(text, object_pairs_hook=unique)


def _objects(thing: Json, around: Row, *, is_outer: bool = False) -> Iterator[Row]:
    """Yield each object with an operation and a device, with the function and the fields of the objects around it.

    The keys of an object under `functions`, and those of the outermost one whose values are lists, name functions.
    """
    if isinstance(thing, list):
        for each in thing:
            yield from _objects(each, around)
        return
    if not isinstance(thing, dict):
        return
    row = _row(thing)
    has_device = any(row.get(word) is not None for word in (*_NAMES["backend"], *_NAMES["supported"]))
    is_row = has_device and isinstance(_field(row, "type"), str)
    if is_row:
        yield {**around, **row}
    function = _field(row, "function")
    named: Row = {"function": function} if isinstance(function, str) else around
    for key, each in thing.items():
        word = letters(key)
        if word == "functions" and isinstance(each, dict):
            for name, inner in each.items():
                yield from _objects(inner, {"function": name})
        elif not (is_row and word in _OWN):
            is_function = word == "main" or (is_outer and isinstance(each, list) and word not in _LISTS)
            yield from _objects(each, {"function": key} if is_function else named)


_OWN = frozenset({*USAGES, *(word for words in _NAMES.values() for word in words)})
"""The fields of an operation that contain no other operations."""

_LISTS = frozenset(
    "operations ops rows layers nodes items blocks block computeplans computeplan plans plan functions models "
    "components program results data entries".split()
)
"""The names of lists of operations, which are not names of functions."""


def _row(thing: Mapping[str, Json]) -> Row:
    """Return an object's fields by the letters of their keys, with those of its device usage."""
    row = {letters(key): value for key, value in thing.items()}
    for word in USAGES:
        inner = row.get(word)
        if isinstance(inner, dict):
            row |= {letters(key): value for key, value in inner.items()}
    return row


# ---- tables


def _separator(text: str) -> str | None:
    """Return the separator of the columns of a table: a tab, or a comma below a heading; None for another text."""
    first = text.partition("\n")[0]
    if "\t" in first:
        return "\t"
    is_headed = {letters(each) for each in first.split(",")} & {*_NAMES["backend"]}
    return "," if "," in first and is_headed else None


def _table(text: str, separator: str, name: str) -> list[tuple[int, Row]]:
    """Return the rows of a table with the numbers of their lines. Raise ModelError (MIL890) for a repeated column."""
    reader = csv.reader(text.splitlines(), delimiter=separator)
    lines = [(reader.line_num, line) for line in reader if any(each.strip() for each in line)]
    heading = [letters(each) for each in lines[0][1]]
    if not any(word in heading for word in _NAMES["backend"]):
        return [(number, dict(zip(_COLUMNS, line, strict=False))) for number, line in lines if _is_of_study(line)]
    twice = [word for word, count in Counter(filter(None, heading)).items() if count > 1]
    if twice:
        raise _refused(f"line {lines[0][0]}: the column `{twice[0]}` occurs twice: rename one of them", name)
    return [(number, dict(zip(heading, line, strict=False))) for number, line in lines[1:]]


def _by_index(numbered: list[tuple[int, Row]]) -> list[tuple[int, Row]]:
    """Return the rows of each function in the order of their column `index`, if all rows have whole numbers there."""
    functions: dict[object, int] = {}
    for _, row in numbered:
        functions.setdefault(_field(row, "function"), len(functions))
    if not all(str(row.get("index", "")).isdecimal() for _, row in numbered):
        return numbered
    return sorted(numbered, key=lambda each: (functions[_field(each[1], "function")], int(str(each[1]["index"]))))


def _is_of_study(line: Sequence[str]) -> bool:
    place = _COLUMNS.index("backend")
    return len(line) > place and (_DEVICE.search(line[place]) is not None or letters(line[place]) in _NONE)


# ---- rows


def _operation(row: Row, name: str, place: str) -> PlacedOperation:
    outputs = _field(row, "name")
    first = outputs[0] if isinstance(outputs, list) and outputs else outputs
    if isinstance(first, dict):
        first = first.get("name")
    operation = _field(row, "type")
    if operation is None:
        raise _refused(f"{place}: the operation is missing", name)
    return PlacedOperation(
        str(_field(row, "function") or "main"),
        _OPSET.sub("", str(operation)),
        "" if first is None else str(first),
        _device(_field(row, "backend")),
        _devices(_field(row, "supported")),
        cost=_share(_field(row, "cost"), name, place),
    )


def _share(cost: object, name: str, place: str) -> float | None:
    """Return the share of a cost: a number, `0,5` or `40%`. Raise ModelError (MIL890) for anything else."""
    if isinstance(cost, dict):  # Apple's class has the number as its `weight`
        cost = cost.get("weight")
    if cost is None or letters(cost) in _NONE:
        return None
    digits = str(cost).strip()
    plain = digits.removesuffix("%").strip().replace(",", ".")
    with refusing(lambda _: _refused(f"{place}: a cost is not a number: {cost!r}", name)):
        share = float(plain) / (100 if digits.endswith("%") else 1)
    if not isfinite(share) or share < 0:
        raise _refused(f"{place}: a cost is not a share: {cost!r}", name)
    return share


def _devices(words: object) -> tuple[str, ...]:
    """Return the devices in a list, or in a text with commas, semicolons, lines or spaces between them."""
    pieces = re.split(r"[,;|]", words.strip("[]{}()")) if isinstance(words, str) else words
    found = list[str]()
    for each in pieces if isinstance(pieces, list) else []:
        several = [_named(match) for match in _DEVICE.finditer(each)] if isinstance(each, str) else []
        found += several or filter(None, [_device(each)])
    return tuple(dict.fromkeys(found))


def _device(word: object) -> str | None:
    """Return the device that a word names; an unknown word is a device of its own."""
    if isinstance(word, dict):
        word = word.get("name") or word.get("type") or word.get("kind")
    plain = "" if word is None else str(word)
    if match := _DEVICE.search(plain):
        return _named(match)
    return None if letters(plain) in _NONE else letters(plain) or None


def _named(match: re.Match[str]) -> str:
    word = letters(match["kind"] or match["word"])
    return ANE if word in _ENGINE else word
