"""The `.mlpackage`: a folder whose Manifest.json names its `.mlmodel`.

This module reads and writes packages. The form of the manifest is from coremltools 9.0,
`modelpackage/src/ModelPackage.cpp`: an item's path is relative to `Data/`, and the item named by `rootModelIdentifier`
is the model. Other producers use other names of files, so only the manifest counts.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import codes, refusing
from miltext.diagnostics.dynamic import Json
from miltext.files.contents import inside, read_inside, within
from miltext.files.refusals import refusal

if TYPE_CHECKING:
    from miltext.diagnostics import ModelError
    from miltext.files.writing import Progress

MANIFEST = "Manifest.json"

Manifest = dict[str, Json]
"""The object in a manifest, with all its keys, as read from JSON."""


MODEL, WEIGHTS = "CoreML Model Specification", "CoreML Model Weights"
"""The descriptions of coremltools' items."""


class PackageItem(NamedTuple):
    """An item of a package: its path below `Data`, and the description of its use, empty without one.

    `is_model` is true for the root model.
    """

    path: str
    use: str
    is_model: bool

    @property
    def name(self) -> str:
        """The path for people."""
        return _printable(self.path)


def _printable(text: str) -> str:
    """Return a text with escapes in place of control characters and halves of characters."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def items(folder: Path) -> list[PackageItem]:
    """Return the items of a package that have a path, each path once, in the order of paths. Raise ModelError
    (MIL255).
    """
    manifest = _read_manifest(folder)
    found: dict[str, PackageItem] = {}
    for name, item in manifest["itemInfoEntries"].items():
        path = item_path(item)
        if path is not None:
            use, is_model = item.get("description"), name == manifest["rootModelIdentifier"]
            found.setdefault(path, PackageItem(path, _printable(use) if isinstance(use, str) else "", is_model))
    return sorted(found.values())


def model_file(folder: Path) -> Path:
    """Return the path of a package's `.mlmodel`, from its manifest. Raise ModelError (MIL255)."""
    manifest = _read_manifest(folder)
    root, items = manifest["rootModelIdentifier"], manifest["itemInfoEntries"]
    path = item_path(items.get(root))
    if path is None:
        raise _wrong(folder, f"it lacks an item with a path for the root model {root!r}")
    return inside(within(folder, "Data"), path)


def by_paths(manifest: Json) -> Manifest:
    """Return a manifest with paths in place of its random identifiers.

    Raise ValueError for another object, or if items share a path.
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


def item_path(item: object) -> str | None:
    """Return the path of an item; None without one."""
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


# ---- packages, written in the same form


DATA = PurePosixPath("Data")
AUTHOR = "com.apple.CoreML"
MODEL_FILE = f"{AUTHOR}/model.mlmodel"


def copy_folder(source: Path, target: Path, skipped: set[Path], progress: Progress | None = None) -> None:
    """Copy a folder with all its contents, including empty folders, except for the files `skipped`, which are paths in
    it.

    Raise OSError, and ModelError (MIL403) for links that lead outside or to folders, and for anything except files and
    folders.
    """
    from miltext.files.writing import copy_file

    target.mkdir(parents=True)
    for path in contents_of(source):
        copy = target / path.relative_to(source)
        if path.is_dir():
            copy.mkdir()
        elif path not in skipped:
            copy_file(Path(os.path.realpath(path)), copy, progress)


def contents_of(folder: Path) -> list[Path]:
    """Return the folders and files below a folder, each folder before its contents. Raise as `copy_folder` does."""
    root = Path(os.path.realpath(folder))
    found: list[Path] = []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = Path(parent, name)
            is_file = path.is_file() and Path(os.path.realpath(path)).is_relative_to(root)
            if not is_file and (path.is_symlink() or not path.is_dir()):
                message = f"{str(path.relative_to(folder))!r} leads outside, or is not a file"
                raise refusal(codes.LINK_IN_PACKAGE, message, folder)
            found.append(path)
    return found


def _raise(failure: OSError) -> None:
    raise failure


# ---- manifests


def manifest_of(origin: Path | None) -> Manifest:
    """Return the manifest of a package, with paths of all items, as Core ML requires; without a package, the manifest
    of a new one with only a model. Raise ModelError (MIL255).
    """
    if origin is None:
        root = _identifier(MODEL_FILE)
        entries = {root: _entry(MODEL_FILE, MODEL)}
        return {"fileFormatVersion": "1.0.0", "itemInfoEntries": entries, "rootModelIdentifier": root}
    manifest = _read_manifest(origin)
    for name, item in manifest["itemInfoEntries"].items():
        if item_path(item) is None:
            raise _wrong(origin, f"it lacks a path for the item {name!r}")
    return manifest


def write_manifest(
    manifest: Manifest, package: Path, weights: Mapping[PurePosixPath, PurePosixPath], gone: Collection[Path]
) -> None:
    """Write the manifest of a package that has all its other contents, and make the missing folders in its list.

    `weights` are listed by their items, each by its path below `Data`, unless a listed item contains it; the files
    `gone` are removed from the list.
    """
    import json

    from miltext.files.writing import write_new

    _unlist(manifest, gone)
    for path, item in weights.items():
        list_item(manifest, path, item, WEIGHTS)
    _make_listed_folders(manifest, package / DATA)
    write_new(package / MANIFEST, [(json.dumps(manifest, indent=4, sort_keys=True) + "\n").encode()])


def _entry(path: str, description: str) -> dict[str, str]:
    return {"author": AUTHOR, "description": description, "name": PurePosixPath(path).name, "path": path}


def list_item(manifest: Manifest, path: PurePosixPath, item: PurePosixPath, use: str) -> None:
    """List an item of the package, unless a listed item contains the path."""
    if not any(path.is_relative_to(known) for known in _listed(manifest)):
        manifest["itemInfoEntries"][_identifier(str(item))] = _entry(str(item), use)


def _unlist(manifest: Manifest, gone: Collection[Path]) -> None:
    """Remove files from the list, each by its path below `Data`: coremltools opens no package that lacks an item."""
    names = {path.as_posix() for path in gone}
    items = manifest["itemInfoEntries"]
    for identifier in [each for each, item in items.items() if PurePosixPath(item["path"]).as_posix() in names]:
        del items[identifier]


def _listed(manifest: Manifest) -> list[str]:
    """Return the paths of a manifest's items."""
    return [item["path"] for item in manifest["itemInfoEntries"].values()]


def _make_listed_folders(manifest: Manifest, data: Path) -> None:
    """Make the missing folders of a manifest: git keeps no empty ones, and coremltools, which lists the folder of
    weights of every model, opens no package that lacks an item.
    """
    for path in map(PurePosixPath, _listed(manifest)):
        if not path.suffix and not path.is_absolute() and ".." not in path.parts:
            with suppress(OSError, ValueError):  # a file is there, or the name is impossible for a folder
                (data / path).mkdir(parents=True, exist_ok=True)


def _identifier(path: str) -> str:
    """Return an item's identifier: a function of its path, so that repeated builds are equal."""
    import uuid

    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))
