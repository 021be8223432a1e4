"""Keys of JSON objects: Python's reader silently keeps the last value of a repeated key."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.diagnostics.dynamic import Json


def repeated_key(pairs: Iterable[tuple[str, Json]]) -> str | None:
    """Return the first key of an object's pairs that it has more than once, or None."""
    counts = Counter(key for key, _ in pairs)
    return next((key for key, count in counts.items() if count > 1), None)
