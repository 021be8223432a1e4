"""Contradictions between the manifest of a package and its files, each at its place in the manifest.

apple/coremltools opens no package with an error: `modelpackage/src/ModelPackage.cpp`, `ModelPackageImpl::validate`. The
warnings are about manifests that its `addItem` never makes.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from miltext.building.compiling.other_files import files_below
from miltext.checking.compiled.json_places import places
from miltext.checking.contract.files import FileFindings
from miltext.diagnostics import Diagnostic, ModelError, Note, codes, error, warning
from miltext.diagnostics.wording import for_shell, listed
from miltext.files.contents import read_inside, within
from miltext.files.json_keys import repeated_key
from miltext.models.manifest import DATA, MANIFEST, item_path
from miltext.models.overlays import NAMES
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from miltext.diagnostics import Span
    from miltext.diagnostics.dynamic import Json
    from miltext.models.model import Model

VERSION, ITEMS, ROOT = "fileFormatVersion", "itemInfoEntries", "rootModelIdentifier"
TEXTS = ("author", "description", "name", "path")
"""The keys that every item needs, all with texts."""

NEWEST = (1, 0, 0)
"""The newest version of the format."""

SILENT = (".DS_Store", ".gitkeep", ".gitattributes")
"""The names of files that belong to no package, and are often in one."""

_MOST_NAMED = 10
_LONG = 60


def manifest_findings(package: Model, used: Collection[PurePosixPath], known: Collection[str]) -> list[FileFindings]:
    """Return the findings in the manifest of a package.

    `used` are the weight files that its programs name, and `known` the items whose files are reported elsewhere, all by
    their paths below `Data`.
    """
    assert package.path is not None
    text = read_inside(package.path, MANIFEST).decode("utf-8-sig", "replace")
    found = [*_Manifest(package.path, text, used, known).findings()]
    return [FileFindings(os.fspath(package.path / MANIFEST), found, text)] if found else []


class _Manifest:
    """A manifest, with the places of its values."""

    def __init__(self, folder: Path, text: str, used: Collection[PurePosixPath], known: Collection[str]) -> None:
        self._folder, self._used, self._known = folder, used, known
        self._repeated: list[str] = []
        self._manifest = json.loads(text, object_pairs_hook=self._object)
        self._places = places(text)
        self._items: dict[str, Json] = self._manifest[ITEMS]

    def _object(self, pairs: list[tuple[str, Json]]) -> Json:
        if (key := repeated_key(pairs)) is not None:
            self._repeated.append(key)
        return dict(pairs)

    def findings(self) -> Iterator[Diagnostic]:
        for key in self._repeated:
            yield self._made(warning, f"the key `{shown(key, _LONG)}` occurs twice: readers take either value")
        if wrong := _wrong_version(self._manifest.get(VERSION)):
            yield self._made(error, wrong, VERSION)
        for name, item in self._items.items():
            yield from self._texts(name, item)
            path = item_path(item)
            if path is not None:
                yield from self._path(name, path)
        yield from self._twice()
        yield from self._unlisted()
        yield from self._unknown()

    def _made(
        self, make: Callable[..., Diagnostic], message: str, *way: str, notes: tuple[Note, ...] = ()
    ) -> Diagnostic:
        """Return an error or a warning at the value that the keys lead to."""
        notes = notes or (Note(codes.TABLE[codes.MISFIT_MANIFEST].way_out),)
        return make(codes.MISFIT_MANIFEST, message, self._span(way), *notes)

    def _noted(self, message: str, *way: str) -> Diagnostic:
        return Diagnostic("note", codes.UNKNOWN_PACKAGE_PART, message, self._span(way))

    def _span(self, way: tuple[str, ...]) -> Span | None:
        return self._places.get(way) or self._places.get(way[:-1])

    def _texts(self, name: str, item: Json) -> Iterator[Diagnostic]:
        if not isinstance(item, dict):
            yield self._made(error, f"the item `{shown(name, _LONG)}` is not an object", ITEMS, name)
            return
        for key in TEXTS:
            if not isinstance(item.get(key), str):
                lacks = "has another value than a text for" if key in item else "lacks"
                yield self._made(error, f"the item `{shown(name, _LONG)}` {lacks} `{key}`", ITEMS, name, key)

    def _path(self, name: str, path: str) -> Iterator[Diagnostic]:
        """Yield the finding of an item outside of the package, or without its file."""
        way, quoted = (ITEMS, name, "path"), f"`{shown(path, _LONG)}`"
        if path in self._known:
            return
        try:
            within(self._folder / DATA, path)
        except ModelError:
            yield self._made(warning, f"the item {quoted} is outside of the package", *way)
            return
        if os.path.exists(self._folder / DATA / path):
            return
        holds_weights = any(each.is_relative_to(_normal(path)) for each in self._used)
        if not holds_weights:  # a missing weight file is reported by itself
            message = f"the item {quoted} does not exist: coremltools does not open the package"
            yield self._made(error, message, *way, notes=self._ways(path))

    def _ways(self, path: str) -> tuple[Note, ...]:
        """Return the ways out of a missing item: git drops an empty folder."""
        if PurePosixPath(path).suffix:
            return ()
        folder = self._folder / DATA / path
        made, kept = for_shell(os.fspath(folder)), for_shell(os.fspath(folder / ".gitkeep"))
        again = for_shell(os.fspath(self._folder))
        return (
            Note(f"git keeps no empty folders: `mkdir -p {made} && touch {kept}` makes one that git keeps"),
            Note(f"`miltext build {again} -o {again} --force` makes the folder, until git drops it again"),
        )

    def _twice(self) -> Iterator[Diagnostic]:
        paths = {name: str(_normal(path)) for name, item in self._items.items() if (path := item_path(item))}
        for path, count in Counter(paths.values()).items():
            if count > 1:
                name = [each for each, known in paths.items() if known == path][-1]
                message = f"{count} items have the path `{shown(path, _LONG)}`"
                yield self._made(warning, message, ITEMS, name, "path")

    def _unlisted(self) -> Iterator[Diagnostic]:
        """Yield the files that no item contains: weight files that a program uses, and others."""
        listed_paths = [_normal(path) for item in self._items.values() if (path := item_path(item))]
        data = self._folder / DATA

        def is_listed(path: PurePosixPath) -> bool:
            return any(path.is_relative_to(each) for each in listed_paths)

        for each in sorted(self._used):
            if not is_listed(each) and os.path.exists(data / each):
                yield self._made(warning, f"no item contains `{each}`, which the program uses")
        used = {DATA / each for each in self._used}
        files = [PurePosixPath(name) for name in files_below(self._folder, (MANIFEST,))]
        others = [path for path in files if path not in used and path.name not in (*SILENT, *NAMES)]
        others = [path for path in others if path.parts[0] != DATA.name or not is_listed(path.relative_to(DATA))]
        if others:
            message = f"no item contains {listed(map(str, others), 'and', most=_MOST_NAMED)}"
            yield self._noted(message)

    def _unknown(self) -> Iterator[Diagnostic]:
        known = (VERSION, ITEMS, ROOT)
        for key in self._manifest:
            if key not in known:
                yield self._noted(f"the use of the key `{shown(key, _LONG)}` is unknown", key)
        for name, item in self._items.items():
            for key in item if isinstance(item, dict) else ():
                if key not in TEXTS:
                    yield self._noted(f"the use of the key `{shown(key, _LONG)}` is unknown", ITEMS, name, key)


def _normal(path: str) -> PurePosixPath:
    return PurePosixPath(os.path.normpath(path))


def _wrong_version(version: Json) -> str | None:
    """Return the reason why a version of the format is not supported."""
    if version is None:
        return f"the manifest lacks `{VERSION}`"
    found = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", version) if isinstance(version, str) else None
    if found is None:
        return f"`{VERSION}` is {shown(json.dumps(version), _LONG)}, not a text such as `1.0.0`"
    if tuple(map(int, found.groups())) > NEWEST:
        return f"the format is `{version}`, and the newest known one is `1.0.0`"
    return None
