"""The operands of an operation as bounds see them: constants as arrays, other values as ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from miltext.bounds.intervals import UNKNOWN, Interval, hull, of_array
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from miltext.evaluation.planning import Step
    from miltext.evaluation.rules import Array
    from miltext.schema.types import Type


@dataclass
class Operands:
    """The operands of a step by parameter: arrays, ranges, or settings of its rule; `types` are declared types."""

    step: Step
    values: Mapping[str, Sequence[Any]]
    types: Mapping[str, Sequence[Type]]

    def __contains__(self, name: str) -> bool:
        return any(each is not None for each in self.values.get(name, ()))

    def interval(self, name: str) -> Interval:
        """Return the range of a parameter, of all its values; anything without one."""
        several = [each for each in self.values.get(name, ()) if each is not None]
        return hull(map(interval_of, several)) if several else UNKNOWN

    def intervals(self) -> Iterator[Interval]:
        """Yield the ranges of all operands that are numbers."""
        for value in (each for several in self.values.values() for each in several if each is not None):
            if isinstance(value, Interval):
                yield value
            elif isinstance(value, np.ndarray | np.generic | float):
                yield of_array(np.asarray(value))

    def each(self, name: str) -> Iterator[Interval]:
        """Yield the range of each value of a parameter."""
        return map(interval_of, self.values[name])

    def array(self, name: str) -> Array | None:
        """Return a constant as numbers to compute with; None for another value."""
        (value, *_) = self.values.get(name) or [None]
        if value is None or isinstance(value, Interval) or not np.issubdtype(np.asarray(value).dtype, np.number):
            return None
        return np.asarray(value, np.float64)

    def setting(self, name: str) -> Any:
        """Return a setting, such as axes; None without one, and for a value that is not constant."""
        (value, *_) = self.values.get(name) or [None]
        return None if isinstance(value, Interval) else value

    def number(self, name: str, usual: float) -> float:
        """Return a setting that is a number, or the usual one."""
        value = self.setting(name)
        return usual if value is None else float(np.asarray(value).reshape(-1)[0])

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a parameter; None if a size is unknown."""
        (declared, *_) = self.types.get(name) or [None]
        if not isinstance(declared, TensorType):
            return None
        sizes = tuple(size for size in declared.shape if isinstance(size, int))
        return sizes if len(sizes) == len(declared.shape) else None


def interval_of(value: Any) -> Interval:
    """Return the range of an operand."""
    if isinstance(value, Interval):
        return value
    array = np.asarray(value)
    return of_array(array) if array.dtype.kind in "fiub" else UNKNOWN
