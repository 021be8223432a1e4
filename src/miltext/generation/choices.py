"""The sources of a generated program's choices: a seed, bytes, or another source of whole numbers.

The first of several alternatives is always the simplest one, so that a source that prefers small numbers makes small
programs.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices(ABC):
    """A source of choices."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included; `low` is the simplest."""

    def pick(self, items: Sequence[T]) -> T:
        """Return an item; the first is the simplest. `items` is not empty."""
        return items[self.integer(0, len(items) - 1)]

    def flag(self) -> bool:
        """Return true or false; false is simpler."""
        return self.integer(0, 1) == 1

    def rarely(self) -> bool:
        """Return true in one of eight cases; false is simpler."""
        return self.integer(0, 7) == 7

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in some order; the given order is the simplest."""
        left = list(items)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in items]

    def group(self, make: Callable[[], T]) -> T:
        """Return the result of `make`; a source may record that its choices belong together."""
        return make()


class SeededChoices(Choices):
    """Choices from a seed: the same ones on every system, and with every version of Python.

    Of Python's generator only `random` is used, the only method with a guarantee of stable numbers
    (https://docs.python.org/3/library/random.html#notes-on-reproducibility).
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def integer(self, low: int, high: int) -> int:
        return low + int(self._random() * (high - low + 1))


class ByteChoices(Choices):
    """Choices from bytes, for fuzzing: after the last byte, each choice is the simplest one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._place = 0

    def integer(self, low: int, high: int) -> int:
        width = ((high - low).bit_length() + 7) // 8
        taken = self._data[self._place : self._place + width]
        self._place += width
        return low + int.from_bytes(taken, "little") % (high - low + 1)
