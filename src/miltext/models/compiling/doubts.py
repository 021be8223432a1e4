"""What is not proven of a compiled model: nothing that Apple's compiler wrote shows how it writes that."""

from __future__ import annotations

from typing import NamedTuple


class Doubt(NamedTuple):
    """One thing that no known output of the compiler shows.

    It is refused where Core ML reads a guess in place of something that is not known; else it is told. What has a
    `place` stands in `metadata.json` alone, for people: below these keys, in which names stand for the entries and
    functions of lists.
    """

    what: str
    place: tuple[str, ...] = ()
    is_refused: bool = False
