"""What a function of one argument gives, kept for arguments that are short enough to come again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

Key = TypeVar("Key")
Kept = TypeVar("Kept")

LONGEST = 200
"""Texts of more characters are not kept: there may be megabytes of them, and they hardly come again."""


class Memo(dict[Key, Kept]):
    """A function of one argument that keeps what it gave, for at most `most` arguments, no text of them long."""

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
    """Keep what the function gives, as a Memo does."""
    return partial(Memo, most=most)
