"""The declared exactness of a rule: how far the new numbers may be from the old ones.

`exact` is equality of bits, except that all NaNs are equal. `ulp 2` is at most two units in the last place, and `ulp 0`
equality without the sign of zero. `atol 1e-3` is the greatest difference, and `rtol 1e-3` the greatest difference
divided by the old number. `or` joins bounds of which one must hold for each element, and `;` the bounds for several
data types: `fp16: ulp 4; fp32: ulp 16 or atol 1e-30`.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.schema.dtypes import BY_NAME

if TYPE_CHECKING:
    from miltext.evaluation.rules import Array

KINDS = ("ulp", "atol", "rtol")
"""The kinds of bounds with a number."""

_ALL = ""
"""The data type of bounds for all data types."""

HELP = 'write "exact", or bounds such as "ulp 2", "atol 1e-3 or ulp 1" or "fp16: ulp 4; fp32: ulp 16"'


class Tolerance(NamedTuple):
    """A bound for an element; `kind` is one of KINDS, or `exact`."""

    kind: str
    number: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind == "exact" else f"{self.kind} {self.number:g}"


class Exactness:
    """The bounds of a rule, by data type."""

    def __init__(self, text: str) -> None:
        """Read the text of a rule's attribute. Raise ValueError for any other text."""
        self.text = text.strip()
        self._bounds: dict[str, list[Tolerance]] = {}
        for part in self.text.split(";"):
            dtype, colon, bounds = part.rpartition(":")
            name = dtype.strip()
            if (colon and name not in BY_NAME) or name in self._bounds:
                raise ValueError(f"`{part.strip()}` has no data type of its own; {HELP}")
            self._bounds[name] = [_bound(each) for each in re.split(r"\bor\b", bounds)]

    def __str__(self) -> str:
        return self.text

    @property
    def is_exact(self) -> bool:
        """Whether all results have the same bits."""
        return all(each.kind == "exact" for bounds in self._bounds.values() for each in bounds)

    def excess(self, before: Array, after: Array, dtype: str) -> Array:
        """Return which elements are outside of all bounds for a data type; without bounds for it, all that differ."""
        from miltext.rewriting.excess import outside  # numpy is imported for proofs alone

        return outside(self._bounds.get(dtype, self._bounds.get(_ALL, [Tolerance("exact")])), before, after)


def domain_of(text: str) -> float | None:
    """Return the greatest magnitude of a domain, None for all numbers. Raise ValueError for any other text."""
    if text == "any":
        return None
    try:
        limit = math.inf if text == "finite" else float(text)
    except ValueError:
        limit = -1.0
    if not limit >= 0:
        raise ValueError(f'`{text}` is not a domain: write "any", "finite", or the greatest magnitude, as in "200"')
    return limit


def _bound(text: str) -> Tolerance:
    words = text.split()
    if words == ["exact"]:
        return Tolerance("exact")
    try:
        kind, number = words[0], float(words[1])
    except (IndexError, ValueError):
        raise ValueError(f"`{text.strip()}` is not a bound; {HELP}") from None
    if kind not in KINDS or len(words) > 2 or not 0 <= number < math.inf:
        raise ValueError(f"`{text.strip()}` is not a bound; {HELP}")
    return Tolerance(kind, number)
