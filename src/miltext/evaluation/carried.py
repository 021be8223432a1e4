"""Names for values that callers give to programs and get from them, whose types the program declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Carried: TypeAlias = Any
"""A tensor as an array, a list of arrays, a dictionary of a classifier, or a picture."""

Named: TypeAlias = Mapping[str, Carried]
"""Values by the names of inputs, outputs or states."""
