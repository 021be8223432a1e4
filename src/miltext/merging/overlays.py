"""The merge of packages' overlays, text by text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.merging.manifests import merged_records
from miltext.models.overlays import FEATURES, METADATA, Overlays, parsed, spelled, texts_of, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.models.overlays import Overlay
    from miltext.schema.proto import ModelDescription


def merged_overlays(versions: Sequence[Model | None], described: ModelDescription) -> Overlays:
    """Return the overlays of a merged model with this description; the `versions` are the base, ours and theirs.

    A text is the description's. If both sides changed a value of unknown use, ours is taken.
    """
    there = [each.overlays if each is not None else None for each in versions]
    known = [texts_of(each.whole) for each in there if each is not None]
    read: list[Overlay] = []
    for use in (METADATA, FEATURES):
        base, ours, theirs = (_of_use(each, use) for each in there)
        kept = ours or theirs
        if kept is not None and (ours is not None or base is None) and (theirs is not None or base is None):
            tables = [each.table if each is not None else {} for each in (base, ours, theirs)]
            table = merged_records(tables[0], tables[1], tables[2])
            merged = kept if table is None else kept._replace(table=table)
            read.append(merged.after({keys: "" for texts in known for keys in texts}, texts_of(described)))
    return Overlays(read, [], described, described)


def lost_values(base: Model | None, theirs: Model, merged: Overlays) -> list[str]:
    """Return the values of unknown use that theirs changed, and the merged overlays do not have."""
    found: list[str] = []
    for each in theirs.overlays.read if theirs.overlays is not None else ():
        was, now = (_of_use(side, each.use) for side in (base.overlays if base is not None else None, merged))
        known = [side.unknown for side in (was, now) if side is not None]
        changed = [keys for keys, value in each.unknown.items() if all(side.get(keys) != value for side in known)]
        found += [f"{each.name} {spelled(keys)}" for keys in changed]
    return found


def _of_use(overlays: Overlays | None, use: str) -> Overlay | None:
    return next((each for each in overlays.read if each.use == use), None) if overlays is not None else None


def merge_overlays(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Return a merged overlay, text by text; None for a conflict.

    It is ours, byte for byte, unless theirs changed more than the layout. An empty base means that both sides added it.
    Data other than an overlay is in conflict with any other.
    """
    said = [_table(data) for data in (base or b"{}", ours, theirs)]
    if said[1] is None or said[2] is None:
        return ours if theirs == ours else None
    merged = merged_records(said[0] or {}, said[1], said[2])
    return ours if merged == said[1] else None if merged is None else written(merged)


def _table(data: bytes) -> Record | None:
    """Return the object in an overlay; None for other data."""
    try:
        table = parsed(data)
    except (ValueError, RecursionError):
        return None
    return table if isinstance(table, dict) else None
