"""Exports of an MLComputePlan, as people share them: tables with tabs, and JSON.

No format is a standard: people write a few lines of Swift or Python over Apple's class, and name the fields as they
like. A table has a heading, or the columns of the study: case, index, operation, output, preferred device, supported
devices and cost. In JSON, each object with an operation and a device is a row.
Source: MLComputePlan's documentation for the facts; public scripts over it for the names.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.diagnostics import codes, refusing
from miltext.dumps.placed import PlacedOperation
from miltext.files.refusals import reason_of, refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diagnostics.dynamic import Json

FIELDS = {
    "type": "operation op optype operator operatorname operationname operatortype type",
    "name": "output outputs outputname outputnames name identifier path",
    "function": "function functionname case component",
    "backend": "prefers preferred preferreddevice preferredcomputedevice selected selecteddevice device backend "
    "cpuandneprefers",
    "supported": "can supported supporteddevices supportedcomputedevices cpuandnecan",
    "cost": "cost weight estimatedcost estimatedcostweight",
}
"""The names of a field in exports, as letters alone, the first that is present counting."""

_NAMES = {field: words.split() for field, words in FIELDS.items()}
_DEVICES = {
    "ane": "ane neuralengine mlneuralenginecomputedevice ne npu",
    "cpu": "cpu mlcpucomputedevice",
    "gpu": "gpu mlgpucomputedevice",
}
"""The words for a device in exports, as letters alone; `ane`, `cpu` and `gpu` are ours."""

_BY_WORD = {word: device for device, words in _DEVICES.items() for word in words.split()}
_NONE = frozenset({"", "none", "null", "unknown", "unreported", "nil"})
_OPSET = re.compile(r"(?:ios|coreml)[0-9]+\.")
_COLUMNS = "function index type name backend supported cost".split()
"""The columns of a table without a heading: those of the study."""

Row = Mapping[str, object]


def read_plan(text: str, name: str) -> list[PlacedOperation] | None:
    """Return the operations of a plan, as JSON or as a table; None for any other text. Raise ModelError (MIL890)."""
    if text.lstrip()[:1] in ("{", "["):
        with refusing(lambda failure: _refused(f"the JSON cannot be read: {reason_of(failure)}", name)):
            rows = [*_objects(json.loads(text), {})]
    elif "\t" in text.partition("\n")[0]:
        rows = _table(text)
    else:
        return None
    if not rows:
        raise _refused("no operation with a device is in this file", name)
    return [_operation(row, name) for row in rows]


def _refused(message: str, name: str) -> Exception:
    return refusal(codes.UNREADABLE_PLAN, message, name)


def letters(word: object) -> str:
    """Return the letters and digits of a word, small, by which names of fields and devices are compared."""
    return re.sub(r"[^a-z0-9]", "", str(word).lower())


def _field(row: Row, field: str) -> object:
    return next((row[word] for word in _NAMES[field] if row.get(word) not in (None, "")), None)


# ---- JSON


def _objects(thing: Json, around: Row) -> Iterator[Row]:
    """Yield each object with an operation and a device, with the function and the fields of the objects around it."""
    if isinstance(thing, list):
        for each in thing:
            yield from _objects(each, around)
    elif isinstance(thing, dict):
        row: Row = {letters(key): value for key, value in thing.items()}
        has_device = any(row.get(word) is not None for word in (*_NAMES["backend"], *_NAMES["supported"]))
        if has_device and isinstance(_field(row, "type"), str):
            yield {**around, **row}
            return
        function = _field(row, "function")
        for key, each in thing.items():
            named = {"function": function} if isinstance(function, str) else around
            inner = {"function": key} if letters(key) == "main" else named
            yield from _objects(each, inner)


# ---- tables


def _table(text: str) -> list[Row]:
    lines = [line for line in csv.reader(text.splitlines(), delimiter="\t") if line]
    heading = [letters(each) for each in lines[0]]
    if not any(word in heading for word in _NAMES["backend"]):
        return [dict(zip(_COLUMNS, line, strict=False)) for line in lines if _is_of_study(line)]
    return [dict(zip(heading, line, strict=False)) for line in lines[1:]]


def _is_of_study(line: Sequence[str]) -> bool:
    return len(line) > _COLUMNS.index("backend") and letters(line[_COLUMNS.index("backend")]) in _BY_WORD


# ---- rows


def _operation(row: Row, name: str) -> PlacedOperation:
    cost = _field(row, "cost")
    if isinstance(cost, dict):  # Apple's class has the number as its `weight`
        cost = cost.get("weight")
    with refusing(lambda _: _refused(f"a cost is not a number: {cost!r}", name)):
        share = None if cost is None else float(str(cost))
    outputs = _field(row, "name")
    first = outputs[0] if isinstance(outputs, list) and outputs else outputs
    if isinstance(first, dict):
        first = first.get("name")
    return PlacedOperation(
        str(_field(row, "function") or "main"),
        _OPSET.sub("", str(_field(row, "type"))),
        "" if first is None else str(first),
        _device(_field(row, "backend")),
        tuple(device for each in _listed(_field(row, "supported")) if (device := _device(each))),
        cost=share,
    )


def _listed(words: object) -> list[object]:
    if isinstance(words, str):
        return [*re.split(r"[,;|\s]+", words.strip("[]"))]
    return [*words] if isinstance(words, list) else []


def _device(word: object) -> str | None:
    """Return the device that a word names; an unknown word is a device of its own."""
    if isinstance(word, dict):
        word = word.get("name") or word.get("type")
    plain = letters("" if word is None else word)
    return None if plain in _NONE else _BY_WORD.get(plain, plain)
