"""The merge of packages' manifests, whose identifiers are at random in each export."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from miltext.merging.plans import chosen

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

_ITEMS, _ROOT = "itemInfoEntries", "rootModelIdentifier"


def merge_manifests(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return the merged manifest, item by item, with the identifiers in ours; None for a conflict.

    The result is ours, byte for byte, unless theirs changed more than identifiers. An empty base means that both sides
    added the package. Data other than a manifest conflicts with any other.
    """
    said = [_by_paths(data) for data in (base or b"{}", ours, theirs)]
    if said[1] is None or said[2] is None:
        return ours if theirs == ours else None
    merged = merged_records(said[0] or {}, said[1], said[2])
    if merged == said[1]:
        return ours
    return None if merged is None else _with_identifiers(merged, json.loads(ours), json.loads(theirs))


def say_the_same(one: bytes, other: bytes) -> bool:
    """Return whether two manifests differ only in identifiers and layout; coremltools changes the layout when it opens
    a manifest.
    """
    return _by_paths(one) == _by_paths(other) is not None


def _by_paths(data: bytes) -> Record | None:
    """Return the contents of a manifest by path instead of identifier; None for other data."""
    from miltext.models.manifest import by_paths

    try:
        return by_paths(json.loads(data))
    except (ValueError, RecursionError):
        return None


def merged_records(base: Record, ours: Record, theirs: Record) -> Record | None:
    """Return objects merged key by key; None for a conflict."""
    merged: Record = {}
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        before, mine, other = said = [[each[key]] if key in each else [] for each in (base, ours, theirs)]
        found = said[side] if (side := chosen(said)) else None
        if found is None and all(isinstance(each, dict) for each in (*mine, *other)) and mine and other:
            held = merged_records(before[0] if before and isinstance(before[0], dict) else {}, mine[0], other[0])
            found = None if held is None else [held]
        if found is None:
            return None
        if found:
            merged[key] = found[0]
    return merged


def _with_identifiers(merged: Record, ours: Record, theirs: Record) -> bytes | None:
    """Return a manifest by identifier: the identifiers of ours, and of theirs for items that it added.

    Return None if two items have the same identifier, or the model is not among the items.
    """
    known = {item["path"]: name for each in (theirs, ours) for name, item in each[_ITEMS].items()}
    if merged[_ROOT] not in merged[_ITEMS] or not merged[_ITEMS].keys() <= known.keys():
        return None
    items = {known[path]: item for path, item in merged[_ITEMS].items()}
    if len(items) < len(merged[_ITEMS]):
        return None
    whole = {**merged, _ITEMS: items, _ROOT: known[merged[_ROOT]]}
    return f"{json.dumps(whole, indent=4)}\n".encode()
