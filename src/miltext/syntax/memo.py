"""Functions of one argument that cache their results for short arguments, which are likely to occur again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

Key = TypeVar("Key")
Kept = TypeVar("Kept")

LONGEST = 200
"""The greatest length of a cached text: longer ones may be megabytes, and hardly occur again."""


class Memo(dict[Key, Kept]):
    """A function of one argument that caches its results for at most `most` arguments, except long texts."""

    def __init__(self, function: Callable[[Key], Kept], most: int = 1 << 16) -> None:
        super().__init__()
        self.function = function
        self.most = most

    __call__ = dict.__getitem__
    cache_clear = dict.clear

    def __missing__(self, key: Key) -> Kept:
        result = self.function(key)
        if len(self) >= self.most:
            self.clear()
        if not isinstance(key, str) or len(key) <= LONGEST:
            self[key] = result
        return result


def memo(most: int) -> Callable[[Callable[[Key], Kept]], Memo[Key, Kept]]:
    """Return a decorator that makes a Memo of a function."""
    return partial(Memo, most=most)
