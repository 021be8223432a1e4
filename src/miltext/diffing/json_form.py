"""A Difference as JSON, `docs/diff.md` describes the form."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from miltext.diffing.structure import BlockDifference

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference

FORM = 1
"""The version of the form: another one where a reader of this would go wrong."""

_KINDS = ("added", "removed", "changed", "moved")


def render_json(difference: Difference) -> dict[str, Any]:
    """All that a Difference says."""
    return {
        "form": FORM,
        "same": difference.same,
        "old": difference.old,
        "new": difference.new,
        "notes": list(difference.notes),
        "changes": _plain(difference.changes),
        "functions": [_plain(each) for each in difference.functions],
        "weights": _plain(difference.weights),
    }


def _plain(thing: Any) -> Any:
    """Anything in a Difference as what JSON has."""
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else str(thing)
    if isinstance(thing, (tuple, list)):
        return [_plain(each) for each in thing]
    if not hasattr(thing, "__dataclass_fields__"):
        return thing
    names = [
        field.name for field in fields(thing) if not (isinstance(thing, BlockDifference) and field.name == "operations")
    ]
    plain = {name: _plain(getattr(thing, name)) for name in names}
    if isinstance(thing, BlockDifference):
        plain.update({kind: _plain(getattr(thing, kind)) for kind in _KINDS})
    return plain
