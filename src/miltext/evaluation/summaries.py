"""Summary of a value: a row of a table for people, a record for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from miltext.diagnostics.plain import plain
from miltext.schema.types import ListType, TensorType, Type, spelled
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record
    from miltext.evaluation.carried import Carried
    from miltext.evaluation.rules import Array

FEW = 6
"""The most elements of a tensor shown by its elements."""

MOST_PROBABLE = 5
"""The number of shown entries of a dictionary."""

PIECE = 1 << 16
"""Number of elements read at once, so that their intermediate values stay in the processor's cache."""

FASTER = {"f2": np.float32, "b1": np.uint8}
"""Replacements of types with which numpy is slow, or lacks an operation."""

STRINGS = "OU"
"""The kinds of numpy types that strings have."""

HEADINGS = ("name", "type", "min", "max", "mean", "NaN", "inf", "zeros")

Number: TypeAlias = "int | float"
Element: TypeAlias = "str | bool | Number"


class Summary(NamedTuple):
    """The `least`, the `greatest` and the `mean` of finite elements, None where there are none; and the counts of NaN,
    infinities and zeros.
    """

    least: Number | None
    greatest: Number | None
    mean: float | None
    nans: int
    infinities: int
    zeros: int


def summarize(*arrays: Array) -> Summary:
    """Return the summary of the elements of arrays, with bools as 0 and 1. No array is copied whole."""
    least: list[Number] = []
    greatest: list[Number] = []
    finite, total, nans, infinities, zeros = 0, 0.0, 0, 0, 0
    for piece in _pieces(arrays):
        zeros += piece.size - int(np.count_nonzero(piece))
        if piece.dtype.kind == "f":
            there = np.isfinite(piece)
            nans += (without_number := int(np.count_nonzero(np.isnan(piece))))
            infinities += piece.size - int(np.count_nonzero(there)) - without_number
            piece = piece[there]
        if piece.size:
            finite += piece.size
            total += float(piece.sum(dtype=np.float64))
            least.append(piece.min().item())
            greatest.append(piece.max().item())
    if not finite:
        return Summary(None, None, None, nans, infinities, zeros)
    return Summary(min(least), max(greatest), total / finite, nans, infinities, zeros)


def _pieces(arrays: Iterable[Array]) -> Iterator[Array]:
    """Yield the elements of arrays as flat arrays, in memory order."""
    for array in arrays:
        faster = FASTER.get(array.dtype.str[1:], array.dtype)
        pieces: Any = np.nditer(array, ["external_loop", "buffered", "zerosize_ok"], buffersize=PIECE)
        with pieces:
            yield from (piece.astype(faster) for piece in pieces if piece.size)


def type_of(value: Carried, declared: Type) -> Type:
    """Return the type of a value: the declared one, with the actual sizes."""
    if isinstance(declared, TensorType) and isinstance(value, np.ndarray):
        return TensorType(declared.dtype, value.shape)
    if isinstance(declared, ListType) and isinstance(value, list):
        return ListType(declared.element, len(value))
    return declared


# ---- for people


def row(name: str, value: Carried, declared: Type) -> tuple[str, ...]:
    """Return the cells of a value's row: its name, its type, and its statistics, or its elements if it is short."""
    head = name, spelled(type_of(value, declared))
    if isinstance(value, Mapping):
        return *head, _entries(value)
    if isinstance(value, np.ndarray) and (value.size <= FEW or value.dtype.kind in STRINGS):
        return *head, _elements(value)
    found = summarize(*_arrays(value))
    if found.least is None and not found.nans and not found.infinities:
        return *head, "no elements"
    measured = (found.least, found.greatest, found.mean)
    counts = (found.nans, found.infinities, found.zeros)
    return *head, *("-" if each is None else _number(each) for each in measured), *map(str, counts)


def _arrays(value: Carried) -> list[Array]:
    """Return the arrays that a tensor or a list holds."""
    return [each for each in (value if isinstance(value, list) else [value]) if each is not None]


def _entries(value: Mapping[str | int, float]) -> str:
    """Return the greatest entries of a dictionary, such as classes by probability."""
    ordered = sorted(value.items(), key=lambda entry: -math.inf if math.isnan(entry[1]) else entry[1], reverse=True)
    shown = [f"{_element(key)} {_number(number)}" for key, number in ordered[:MOST_PROBABLE]]
    return _shortened(shown, len(ordered))


def _elements(value: Array) -> str:
    if not value.size:
        return "no elements"
    if value.size > FEW:
        return _shortened([_element(each) for each in value.flat[:FEW]], value.size)
    return _nested(value.tolist())


def _shortened(shown: list[str], count: int) -> str:
    return ", ".join([*shown, f"... of {count}"] if len(shown) < count else shown) or "no elements"


def _nested(elements: Element | list[Element]) -> str:
    return f"[{', '.join(map(_nested, elements))}]" if isinstance(elements, list) else _element(elements)


def _element(element: Element) -> str:
    if isinstance(element, str):
        return quote(element)
    return str(element).lower() if isinstance(element, bool) else _number(element)


def _number(number: Number) -> str:
    return str(number) if isinstance(number, int) else f"{number:.6g}"


# ---- for programs


def record(name: str, value: Carried, declared: Type) -> Record:
    """Return the facts of a row as JSON, and a short value or a dictionary as a whole.

    A NaN or infinity in such a value becomes the string `nan`, `inf` or `-inf`.
    """
    made = type_of(value, declared)
    found: Record = {"name": name, "type": spelled(made)}
    if isinstance(made, TensorType):
        found |= {"dtype": made.dtype, "shape": list(made.shape)}
    if isinstance(value, Mapping):
        return found | {"value": {str(key): plain(each) for key, each in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype.kind in STRINGS:
        return found | {"value": value.tolist()}
    least, greatest, mean, nans, infinities, zeros = summarize(*_arrays(value))
    found |= {"min": least, "max": greatest, "mean": mean, "nan": nans, "inf": infinities, "zeros": zeros}
    return found | {"value": plain(value.tolist())} if isinstance(value, np.ndarray) and value.size <= FEW else found
