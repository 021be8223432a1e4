"""Inputs made smaller as long as they break the same law at the same place."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")
Cut = Callable[[bytes], tuple[Sequence[Any], Callable[[Sequence[Any]], bytes]]]
"""The pieces of an input, and what makes an input of some of them."""


def joined(pieces: Callable[[bytes], list[bytes]]) -> Cut:
    """Return the cut into pieces that stand one after the other."""
    return lambda data: (pieces(data), b"".join)


def minimized(data: bytes, fails: Callable[[bytes], bool], cuts: Iterable[Cut], seconds: float) -> bytes:
    """Return the smallest input found that fails, by each of the cuts in turn, until none helps or time is up."""
    until = time.monotonic() + seconds
    cuts = list(cuts)
    while True:
        before = data
        for cut in cuts:
            pieces, make = cut(data)
            shorter = make(least(pieces, partial(_fail_together, fails, make), until))
            data = shorter if len(shorter) <= len(data) else data
        if len(data) >= len(before) or time.monotonic() > until:
            return data


def _fail_together(fails: Callable[[bytes], bool], make: Callable[[Sequence[Any]], bytes], kept: Sequence[Any]) -> bool:
    return fails(make(kept))


def least(pieces: Sequence[T], fails: Callable[[Sequence[T]], bool], until: float) -> Sequence[T]:
    """Return pieces of which none can be left out, and no longer row of them that was tried; all fail together.

    Rows of half of all are tried first, then of half as many, down to one (Zeller and Hildebrandt, 2002).
    """
    size = max(1, len(pieces) // 2)
    while pieces:
        place, before = 0, len(pieces)
        while place < len(pieces):
            if time.monotonic() > until:
                return pieces
            rest = [*pieces[:place], *pieces[place + size :]]
            if fails(rest):
                pieces = rest
            else:
                place += size
        if size == 1 and len(pieces) == before:
            break
        size = max(1, size // 2)
    return pieces
