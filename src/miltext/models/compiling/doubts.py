"""What is not proven of a compiled model: nothing that Apple's compiler wrote shows how it writes that."""

from __future__ import annotations

from typing import NamedTuple


class Doubt(NamedTuple):
    """One thing that no known output of the compiler shows.

    Core ML reads what it is about, and may not load a guess; but what has a `key` stands in `metadata.json` alone,
    under that key, for people.
    """

    what: str
    key: str = ""
