"""Contradictions in a package between its manifest, its overlays and its model, and the parts of unknown use."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from miltext.building.compiling.other_files import other_items
from miltext.checking.contract.files import FileFindings
from miltext.checking.contract.manifests import manifest_findings
from miltext.diagnostics import Diagnostic, codes, warning
from miltext.diagnostics.wording import listed
from miltext.models.manifest import DATA, MANIFEST
from miltext.models.overlays import NAMES, SIDES, spelled
from miltext.weight_files.paths import suspicion

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.checking.contract.weights import UsedFile
    from miltext.models.model import Model
    from miltext.models.overlays import Overlay, Overlays


def overlay_findings(overlays: Overlays) -> list[FileFindings]:
    """Return the findings in the overlays of a package, file by file."""
    found = ((each.file, [*_of_overlay(each, overlays)]) for each in overlays.read)
    return [FileFindings(os.fspath(file), findings, None) for file, findings in found if findings]


def package_findings(package: Model, overlays: Overlays, used: Sequence[UsedFile]) -> list[FileFindings]:
    """Return the findings around the model of a package with these overlays and weight files, file by file, apart from
    those in the overlays.
    """
    assert package.path is not None
    by_file: dict[Path, list[Diagnostic]] = {}
    for each in overlays.unread:
        wrong = each.problem._replace(severity="error")
        there = by_file.setdefault(package.path / DATA / each.item.name, [])
        there += [wrong] if all(wrong not in known for known in by_file.values()) else []
    by_file[package.path / MANIFEST] = [*_of_items(package)]
    by_file[package.path] = [*_unlisted(package, overlays)]
    files = [FileFindings(os.fspath(path), found, None) for path, found in by_file.items() if found]
    return [
        *files,
        *manifest_findings(package, _weight_paths(package, used), {each.item.path for each in overlays.unread}),
    ]


def _weight_paths(package: Model, used: Sequence[UsedFile]) -> list[PurePosixPath]:
    """Return the paths of weight files below `Data`."""
    assert package.path is not None
    assert package.model_path is not None
    place = package.model_path.relative_to(package.path / DATA)
    return [PurePosixPath(os.path.normpath(place / each.short_name)) for each in used if not suspicion(each.name)]


def _of_overlay(overlay: Overlay, overlays: Overlays) -> Iterator[Diagnostic]:
    for each, keys in overlays.unplaced:
        if each is overlay:
            message = f"`{spelled(keys)}` describes a feature, and the model has no {_SIDE_NAMES[keys[0]]} `{keys[1]}`"
            yield warning(codes.MISFIT_OVERLAY, message)
    if unknown := overlay.unknown:
        message = f"the use of these values is unknown: {listed(map(spelled, unknown), 'and', most=_MOST_NAMED)}"
        yield Diagnostic("note", codes.UNKNOWN_PACKAGE_PART, message)


_SIDE_NAMES = dict(zip(SIDES, ("input", "output", "state", "training input"), strict=True))
_MOST_NAMED = 10
"""How many items or values a note names."""


def _of_items(package: Model) -> Iterator[Diagnostic]:
    if others := other_items(package):
        named = listed((item.name for item in others), "and", most=_MOST_NAMED)
        yield Diagnostic("note", codes.UNKNOWN_PACKAGE_PART, f"the use of these items is unknown: {named}")


def _unlisted(package: Model, overlays: Overlays) -> Iterator[Diagnostic]:
    """Yield a note for each file with the name of an overlay that the manifest does not list."""
    assert package.model_path is not None
    assert package.path is not None
    paths = [*(each.path for each in overlays.read), *(each.item.path for each in overlays.unread)]
    known = [package.path / DATA / path for path in paths]
    places = {os.path.realpath(path) for path in known}
    for name in NAMES:
        file = package.model_path / name
        if file.is_file() and os.path.realpath(file) not in places:
            message = f"`{name}` is not an item of the manifest, so it is not an overlay"
            yield Diagnostic("note", codes.UNKNOWN_PACKAGE_PART, message)
