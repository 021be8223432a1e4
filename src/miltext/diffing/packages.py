"""The differences of two packages beside their models: overlays, texts under them, and items of unknown use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from miltext.building.compiling.other_files import files_below, other_items
from miltext.diagnostics import ModelError
from miltext.diffing.bundles import Facts, changed_facts, file_fact
from miltext.files.contents import within
from miltext.files.refusals import reason_of
from miltext.models.manifest import DATA
from miltext.models.overlays import spelled, texts_of
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from miltext.diffing.structure import Change
    from miltext.models.manifest import PackageItem
    from miltext.models.model import Model
    from miltext.models.overlays import Overlays


def compare_packages(old: Model, new: Model) -> list[Change]:
    """Return the changes of the parts of packages that no description has; none unless both are packages."""
    if old.overlays is None or new.overlays is None:
        return []
    return [
        *changed_facts("overlay", _overlays(old.overlays), _overlays(new.overlays)),
        *_own_texts(old.overlays, new.overlays),
        *changed_facts("item", _items(old), _items(new)),
    ]


def _overlays(overlays: Overlays) -> Facts:
    """Return the uses of overlays by their paths, and their values of unknown use."""
    found = {each.name: quote(each.use) for each in overlays.read}
    for each in overlays.read:
        for keys, value in each.unknown.items():
            found[f"{each.name} {spelled(keys)}"] = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return found


def _own_texts(old: Overlays, new: Overlays) -> Iterator[Change]:
    """Yield the changes of models' own texts that no description contains, because overlays replace these texts."""
    was, now = texts_of(old.whole), texts_of(new.whole)
    same = {keys for keys in was | now if was.get(keys) == now.get(keys)}
    facts = [
        {spelled(keys): quote(text) for keys, text in texts_of(each.own).items() if keys in same and text}
        for each in (old, new)
    ]
    return changed_facts("own text", *facts)


def _items(package: Model) -> Facts:
    """Return the files of unread items, each by its size and digest, or by the reason why it cannot be read."""
    assert package.path is not None
    assert package.overlays is not None
    unread = [each.item for each in package.overlays.unread]
    found: Facts = {}
    for item in sorted({*other_items(package), *unread}):
        found |= _files(package.path / DATA, item)
    return found


def _files(data: Path, item: PackageItem) -> Facts:
    """Return the facts of an item's files by their paths, or the reason why the item cannot be read."""
    try:
        place = within(data, item.path)
        names = files_below(place, ()) if place.is_dir() else []
        return {f"{item.name}/{name}": file_fact(place / name) for name in names} or {item.name: file_fact(place)}
    except ModelError as failure:
        return {item.name: failure.diagnostics[0].message}
    except OSError as failure:
        return {item.name: reason_of(failure)}
