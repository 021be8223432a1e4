"""Facts in models other than ML Programs and pipelines: labels, and classes of an app.

The schema does not declare these kinds, so they are read from bytes. The numbers of the fields are from coremltools
9.0's schema, which the tests compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.schema.proto.kinds import MODEL_KINDS
from miltext.schema.wire import read_varint, spans, wire_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.schema.proto import Model

LABELS: dict[str, dict[int, type[str] | type[int]]] = {
    "glmClassifier": {100: str, 101: int},
    "supportVectorClassifier": {100: str, 101: int},
    "treeEnsembleClassifier": {100: str, 101: int},
    "neuralNetworkClassifier": {100: str, 101: int},
    "kNearestNeighborsClassifier": {100: str, 101: int},
    "nonMaximumSuppression": {100: str, 101: int},
    "textClassifier": {200: str},
    "wordTagger": {200: str},
    "gazetteer": {200: str},
}
"""The kinds that return labels: the fields with a vector of them, and their type."""

_LAYERS = (1, 500, 10)
"""Path to the class of each custom layer in a neural network: `layers`, `custom`, `className`."""

CLASSES: dict[str, tuple[int, ...]] = {
    "customModel": (10,),
    "neuralNetwork": _LAYERS,
    "neuralNetworkClassifier": _LAYERS,
    "neuralNetworkRegressor": _LAYERS,
}
"""The kinds with classes of an app, and the path of their names."""

_VECTOR = 1
"""The field of a vector's elements."""

_NUMBERS = {kind: number for number, kind in MODEL_KINDS.items()}


def labels_in(spec: Model, kind: str) -> list[str] | list[int]:
    """Return the labels that a model of a kind returns. Raise ValueError for bytes outside the schema."""
    strings, integers = list[str](), list[int]()
    for field, element in LABELS[kind].items():
        for held in _at(wire_of(spec), (_NUMBERS[kind], field, _VECTOR)):
            if element is str:
                strings.append(held.decode())
            else:
                integers += _integers(held)
    return strings or integers


def classes_in(spec: Model, kind: str) -> list[str]:
    """Return the classes that an app must provide. Raise ValueError for bytes outside the schema."""
    return [name.decode() for name in _at(wire_of(spec), (_NUMBERS[kind], *CLASSES[kind]))]


def _at(data: bytes, path: Sequence[int]) -> list[bytes]:
    """Return the contents of each field at a path. Raise ValueError for bytes other than fields."""
    places = [(0, len(data))]
    try:
        for number in path:
            inner = [(field, last) for first, last in places for field in spans(data, first, last)]
            if any(end > last for (*_, end), last in inner):
                raise ValueError("a field ends after the message around it")
            places = [(content, end) for (field, _, content, end), _ in inner if field == number]
    except IndexError as failure:
        raise ValueError("the bytes end inside a field") from failure
    return [data[content:end] for content, end in places]


def _integers(held: bytes) -> list[int]:
    """Return the numbers in a field of int64: packed ones, or one by itself."""
    found: list[int] = []
    at = 0
    while at < len(held):
        number, at = read_varint(held, at)
        found.append(number - (1 << 64) if number >> 63 else number)
    return found
