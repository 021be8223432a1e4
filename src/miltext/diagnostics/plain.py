"""Conversion of values to JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json


def field_names(thing: Json) -> list[str]:
    """Return the names of the fields of a dataclass."""
    return [each.name for each in fields(thing)]


def plain(thing: Json, names: Callable[[Json], Iterable[str]] = field_names) -> Json:
    """Return a value as JSON: a dataclass becomes an object with its fields, or with the fields that `names` returns.

    Infinite numbers and NaN are the strings `nan`, `inf` and `-inf`.
    """
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else str(thing)
    if isinstance(thing, dict):
        return {key: plain(each, names) for key, each in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [plain(each, names) for each in thing]
    return {name: plain(getattr(thing, name), names) for name in names(thing)} if is_dataclass(thing) else thing
