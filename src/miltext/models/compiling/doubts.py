"""What is not proven of a compiled model: nothing that Apple's compiler wrote shows how it writes that."""

from __future__ import annotations

from typing import NamedTuple


class Doubt(NamedTuple):
    """One thing that no known output of the compiler shows.

    Core ML reads what it is about, and may not load a guess; but what has a `place` stands in `metadata.json` alone,
    for people: below these keys, in which names stand for the entries and functions of lists.
    """

    what: str
    place: tuple[str, ...] = ()
