"""The `.mlpackage`: a folder whose Manifest.json names its `.mlmodel`.

The manifest's form is coremltools 9.0's, `modelpackage/src/ModelPackage.cpp`: an item's path is relative to `Data/`,
and the item named by `rootModelIdentifier` is the model. Other producers use other names, so only the manifest is
followed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import codes, refusing
from miltext.diagnostics.dynamic import Json
from miltext.files.contents import inside, read_inside, within
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError

MANIFEST = "Manifest.json"

Manifest = dict[str, Json]
"""The object in a manifest, with all its keys, as read from JSON."""


def model_file(folder: Path) -> Path:
    """Return the path of a package's `.mlmodel`, from its manifest. Raise ModelError (MIL255)."""
    manifest = _read_manifest(folder)
    root, items = manifest["rootModelIdentifier"], manifest["itemInfoEntries"]
    path = _item_path(items.get(root))
    if path is None:
        raise _wrong(folder, f"it lacks an item with a path for the root model {root!r}")
    return inside(within(folder, "Data"), path)


def whole_manifest(folder: Path) -> Manifest:
    """Return a package's manifest, in which all items have paths, as Core ML requires. Raise ModelError (MIL255)."""
    manifest = _read_manifest(folder)
    for name, item in manifest["itemInfoEntries"].items():
        if _item_path(item) is None:
            raise _wrong(folder, f"it lacks a path for the item {name!r}")
    return manifest


def by_paths(manifest: Json) -> Manifest:
    """Return a manifest with paths in place of the identifiers, which are random. Raise ValueError for any other
    object, or if items share a path.
    """
    try:
        paths = {name: item["path"] for name, item in manifest["itemInfoEntries"].items()}
        entries = {paths[name]: item for name, item in manifest["itemInfoEntries"].items()}
        root = paths[manifest["rootModelIdentifier"]]
    except (KeyError, TypeError, AttributeError) as failure:
        raise ValueError("this is not a manifest") from failure
    if len(entries) < len(paths):
        raise ValueError("two items have one path")
    return {**manifest, "itemInfoEntries": entries, "rootModelIdentifier": root}


def _item_path(item: object) -> str | None:
    path = item.get("path") if isinstance(item, dict) else None
    return path if isinstance(path, str) and path else None


def _read_manifest(folder: Path) -> Manifest:
    """Return a manifest with a root model and items."""
    import json

    data = read_inside(folder, MANIFEST)
    with refusing(lambda failure: _wrong(folder, f"it is not JSON: {failure}")):
        manifest = json.loads(data)
    if not isinstance(manifest, dict):
        raise _wrong(folder, "it is not a JSON object")
    root, items = manifest.get("rootModelIdentifier"), manifest.get("itemInfoEntries")
    if not isinstance(root, str) or not isinstance(items, dict):
        raise _wrong(folder, "it lacks rootModelIdentifier or itemInfoEntries")
    return manifest


def _wrong(folder: Path, what: str) -> ModelError:
    return refusal(codes.INCONSISTENT_PACKAGE, f"the package's manifest is wrong: {what}", folder / MANIFEST)
