"""The unproven parts of a compiled model: no output of Apple's compiler shows how it writes them."""

from __future__ import annotations

from typing import NamedTuple


class Doubt(NamedTuple):
    """A construct that no known output of the compiler shows.

    It is refused if Core ML would read a guess in place of an unknown fact; else it is reported. A construct with a
    `place` stands in `metadata.json` alone, for people: below these keys, in which names stand for the entries and
    functions of lists.
    """

    what: str
    place: tuple[str, ...] = ()
    is_refused: bool = False
