"""Types of the values that callers pass to programs and receive from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Carried: TypeAlias = Any
"""A tensor as an array, a list of arrays, a dictionary of a classifier, or a picture."""

Named: TypeAlias = Mapping[str, Carried]
"""Values by the names of inputs, outputs or states."""
