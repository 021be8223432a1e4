"""Names for types known only at run time, whose values a reader checks."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value of JSON: an object, a list, a string, a number, a truth value or None."""

Record: TypeAlias = dict[str, Json]
"""An object of JSON, and a table of TOML."""

Fields: TypeAlias = Any
"""A message of any type, or its repeated field, whose fields are read and written by name."""
