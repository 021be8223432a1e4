"""The writing of packages: copies of other contents, and the manifest.

The form is coremltools 9.0's, `modelpackage/src/ModelPackage.cpp`.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.files.writing import copy_file

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.models.manifest import Manifest

DATA = PurePosixPath("Data")
AUTHOR = "com.apple.CoreML"
MODEL_FILE = f"{AUTHOR}/model.mlmodel"


def copy_folder(source: Path, target: Path, skipped: set[Path], progress: Progress | None = None) -> None:
    """Copy a folder with all its contents, empty folders too, except for the files `skipped`, which are paths in it.

    Raise OSError, and ModelError (MIL403) for links that lead outside or to folders, and for anything that is neither a
    file nor a folder.
    """
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


def new_manifest() -> Manifest:
    """Return the manifest of a package with only a model."""
    root = _identifier(MODEL_FILE)
    entries = {root: _entry(MODEL_FILE, "CoreML Model Specification")}
    return {"fileFormatVersion": "1.0.0", "itemInfoEntries": entries, "rootModelIdentifier": root}


def _entry(path: str, description: str) -> dict[str, str]:
    return {"author": AUTHOR, "description": description, "name": PurePosixPath(path).name, "path": path}


def list_item(manifest: Manifest, path: PurePosixPath, item: PurePosixPath) -> None:
    """List an item of the package, unless the path is inside a listed item."""
    if not any(path.is_relative_to(known) for known in _listed(manifest)):
        manifest["itemInfoEntries"][_identifier(str(item))] = _entry(str(item), "CoreML Model Weights")


def unlist(manifest: Manifest, gone: Collection[Path]) -> None:
    """Remove files from the list, each by its path below `Data`: coremltools opens no package that lacks an item."""
    names = {path.as_posix() for path in gone}
    items = manifest["itemInfoEntries"]
    for identifier in [each for each, item in items.items() if PurePosixPath(item["path"]).as_posix() in names]:
        del items[identifier]


def _listed(manifest: Manifest) -> list[str]:
    """Return the paths of a manifest's items."""
    return [item["path"] for item in manifest["itemInfoEntries"].values()]


def make_listed_folders(manifest: Manifest, data: Path) -> None:
    """Make the missing folders of a manifest: git keeps no empty ones, and coremltools, which lists the folder of
    weights of every model, opens no package that lacks an item.
    """
    for path in map(PurePosixPath, _listed(manifest)):
        if not path.suffix and not path.is_absolute() and ".." not in path.parts:
            with suppress(OSError, ValueError):  # a file is there, or the name is impossible for a folder
                (data / path).mkdir(parents=True, exist_ok=True)


def _identifier(path: str) -> str:
    """Return an item's identifier: always the same for a path, so that repeated builds are equal."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, path))
