"""The elements of constants that control the computation: words, axes, numbers in their ranges."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from miltext.generation.shapes import Sizes, value_of
from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.generation.choices import Choices
    from miltext.generation.constants import Number
    from miltext.schema.operations import Parameter
    from miltext.schema.types import TensorType

SPREAD = 3
"""The greatest distance of an otherwise unlimited number from its least value."""

RANGES = {"lower": (-1, 2), "upper": (-1, 2), "seed": (1, 9)}
"""The ranges of integer parameters without limits in the table; others start at 1."""

UNUSUAL = frozenset(["sigmoid_hard"])
"""Omitted words: coremltools' recurrent layers name it `hard_sigmoid` (iOS15/recurrent.py)."""

SMALL = frozenset(["epsilon"])
"""Parameters with small numbers."""


def elements_for(parameter: Parameter, type: TensorType, sizes: Sizes, choices: Choices) -> list[Number] | None:
    """Choose the elements of a constant; None if there is no choice, as for strings without a list of words."""
    count = prod(size or 0 for size in type.shape)
    if parameter.axes:
        return _axes(parameter, type, sizes, choices)
    if parameter.words:
        words = [word for word in parameter.words if word not in UNUSUAL]
        return [choices.pick(words) for _ in range(count)]
    kind = BY_NAME[type.dtype].kind
    if kind == "string":
        return None
    if kind == "bool":
        return [choices.flag() for _ in range(count)]
    least, most = (None if term is None else value_of(term, sizes) for term in (parameter.least, parameter.most))
    if kind == "float":
        return [_float(parameter, least, most, choices) for _ in range(count)]
    low, high = RANGES.get(parameter.name, (1, 1 + SPREAD)) if least is None else (least, least + SPREAD)
    high = high if most is None else min(high, most)
    return [choices.integer(low, high) for _ in range(count)] if low <= high else None


def _float(parameter: Parameter, least: int | None, most: int | None, choices: Choices) -> float:
    """Choose a float in a range: eighths, which every float type contains, or a 1024th of these for a SMALL
    parameter.
    """
    low = 1 if least is None else least * 8
    number = choices.integer(low, low + 8 if most is None else most * 8) / 8
    return number / 1024 if parameter.name in SMALL else number


def _axes(parameter: Parameter, type: TensorType, sizes: Sizes, choices: Choices) -> list[Number] | None:
    """Choose an axis, a permutation of all axes, or some axes, each counted from the front or from the end."""
    rank = None if parameter.axes is None else value_of(parameter.axes, sizes)
    if not rank:
        return None
    fixed = not type.shape or parameter.shape[0].text != "[?]"
    order = choices.shuffled(range(rank)) if type.shape and fixed else _some(rank, bool(type.shape), choices)
    least = -rank if parameter.least is None else value_of(parameter.least, sizes) or -rank
    return [axis - rank if axis - rank >= least and choices.rarely() else axis for axis in order]


def _some(rank: int, several: bool, choices: Choices) -> list[int]:
    """Choose one axis, or in their order one or more of them."""
    first = choices.integer(0, rank - 1)
    rest = range(first + 1, rank) if several else ()
    return [first, *(axis for axis in rest if choices.flag())]
