"""Merge of one file of a package for git's merge drivers: the model, its weights, the manifest, an overlay.

git calls the driver for each file separately, and does not call it for a file that only one side changed. So each call
merges all files of the package, with git's own decisions on the other files, and returns the requested file.
"""

from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.containers.spec import SpecModel
from miltext.files.contents import parse_spec, read_file
from miltext.files.writing import MODEL_FOLDERS
from miltext.merging.contents import programs_of, weight_files
from miltext.merging.filters import NotHere, as_checked_out, ask
from miltext.merging.manifests import merge_manifests
from miltext.merging.models import Kept, MergedModel, merge_models
from miltext.merging.overlays import merge_overlays
from miltext.merging.trees import NotFound, Trees, require_same, trees
from miltext.models.manifest import MANIFEST
from miltext.models.overlays import NAMES
from miltext.review.git import DRIVER
from miltext.weight_files.paths import MODEL_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.merging.conflicts import Markers

WEIGHTS = "weight.bin"
"""The endings of the names of weight files."""


BESIDE = ".conflict.mil"
"""The suffix of a text with conflicts, after the name of its model."""


class DriverResult(NamedTuple):
    """The result of a driver for a file: its bytes, None to keep ours; the reasons; and the merged text, if any."""

    data: bytes | None
    reasons: Sequence[str] = ()
    text: str | None = None
    errors: Sequence[Diagnostic] = ()


def merge_part(path: str, files: Sequence[str], markers: Markers) -> DriverResult:
    """Merge a model, a weight file, a manifest or an overlay, whose three versions are in files. Raise MiltextError."""
    parts = PurePosixPath(path)
    if any(part.endswith(".mlmodelc") for part in parts.parts):
        reason = "this is a part of a compiled model: merge the source of the compilation, and compile it again"
        return DriverResult(None, [reason, ways_out(parts)])
    try:
        if parts.name == MANIFEST:
            return _merge_by_itself(path, files, merge_manifests)
        if parts.name in NAMES:
            return _merge_by_itself(path, files, merge_overlays)
        return _merge_part(path, files, markers)
    except (NotFound, NotHere) as failure:
        return DriverResult(None, [f"{failure}; the files there may be of both sides", ways_out(parts)])


def _merge_by_itself(
    path: str, files: Sequence[str], merge: Callable[[bytes, bytes, bytes], bytes | None]
) -> DriverResult:
    """Merge a file without a look at the other files of its package."""
    with as_checked_out(files, path) as shown:
        base, ours, theirs = (Path(file).read_bytes() for file in shown)
    merged = merge(base, ours, theirs)
    name = PurePosixPath(path).name
    what = "the manifest" if name == MANIFEST else f"a text in {name}"
    reasons = [f"both sides changed {what}; ours stays", ways_out(PurePosixPath(path))] if merged is None else []
    return DriverResult(merged, reasons)


def ways_out(path: PurePosixPath) -> str:
    """Return the ways out for a package in conflict."""
    name = str(whole_model(path))
    package = shlex.quote(f"./{name}" if name.startswith("-") else name)
    ours, here = (ask("rev-parse", "--verify", "-q", each) for each in ("HEAD", f"HEAD:{name}"))
    if ours and not here:  # theirs renamed it: no side is found by that name
        return f"only theirs has this name: `git restore --source=COMMIT --staged --worktree -- {package}` takes theirs"
    return f"`miltext merge --resolve ours {package}` takes ours whole, with its weights; so do `theirs` and a text"


def whole_model(path: PurePosixPath) -> PurePosixPath:
    """Return the package or compiled model that contains a path, else the path itself."""
    return next((each for each in (path, *path.parents) if each.suffix.lower() in MODEL_FOLDERS), path)


def beside(path: str) -> str:
    """Return the name of the text with the conflicts of a package, or of a file in it."""
    return f"{whole_model(PurePosixPath(path))}{BESIDE}"


def _merge_part(path: str, files: Sequence[str], markers: Markers) -> DriverResult:
    """Merge as `merge_part` does. Raise NotFound."""
    is_weights = path.endswith(WEIGHTS)
    found = trees(path, 2 if is_weights else 1, files)
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
        package = _Package(found, _only_model(found) if is_weights else PurePosixPath(path).name, Path(made))
        merged = package.merged(markers)
        if not merged.is_whole:
            file = PurePosixPath(path).relative_to(PurePosixPath(path).parents[1]) if is_weights else None
            return package.one_side(merged, file)
        assert merged.model is not None
        if not is_weights:
            return DriverResult(merged.model.SerializeToString(deterministic=True))
        written = package.target / PurePosixPath(path).relative_to(PurePosixPath(path).parents[1])
        return DriverResult(read_file(written) if written.exists() else None)


def _only_model(found: Trees) -> str:
    """Return the name of the only model in a folder, which is the same in all versions that have the model.

    Raise NotFound.
    """
    added = [tree for tree in found.versions if tree]
    names = {name for tree in added for name in tree if "/" not in name and name.endswith(".mlmodel")}
    if len(names) != 1 or not all(names <= tree.keys() for tree in added):
        raise NotFound("the weight file belongs to different models in the versions")
    return names.pop()


class _Package:
    """The three versions of a model and its weight files; git merges some of these itself."""

    def __init__(self, found: Trees, name: str, folder: Path) -> None:
        self._path = PurePosixPath(found.path, name)
        folders = found.write(folder, [name])
        base, ours, theirs = (read_model(each, name) if (each / name).exists() else None for each in folders)
        if ours is None or theirs is None:
            raise NotFound("one side has no such model")
        self._models = (base, ours, theirs)
        there = [model for model in self._models if model is not None]
        weights = sorted({file for model in there for file in weight_files(programs_of(model))})
        found.write(folder, [file.partition("/")[2] for file in weights])
        settled = {file: found.settled(file.partition("/")[2], DRIVER) for file in weights}
        own = found.settled(name, DRIVER)
        for file in [file for file, side in {name: own, **settled}.items() if side is None]:
            require_same(found, file.removeprefix(f"{MODEL_PATH}/"))
        if None in settled.values():
            _only_model(found)  # so that each driver of a part finds the same
        self._kept = Kept(own, {file: side for file, side in settled.items() if side is not None})
        self.target = folder / "merged"
        self.target.mkdir()

    def merged(self, markers: Markers) -> MergedModel:
        """Merge the model, with git's result for its other files."""
        base, ours, theirs = self._models
        return merge_models(base, ours, theirs, self.target, markers, self._kept)

    def one_side(self, merged: MergedModel, weights: PurePosixPath | None) -> DriverResult:
        """Return the side whose model is complete in a conflict: ours, unless git takes the weight file of theirs,
        which lacks our weights.

        For a weight file, return theirs if git takes the model of theirs.
        """
        if weights is not None and self._kept.model == 2:
            theirs = self._models[2].model_path
            assert theirs is not None
            said = "git takes the model of theirs, so theirs is there until this is resolved"
            return DriverResult(
                read_file(theirs / weights), [*merged.conflicts, said, ways_out(self._path)], merged.text
            )
        taken = ", ".join(file.partition("/")[2] for file, side in self._kept.weights.items() if side == 2)
        data = merged.model.SerializeToString(deterministic=True) if merged.model and taken and not weights else None
        if not taken or weights:
            state = ["ours stays"]
        elif merged.side == 1:
            state = ["ours stays; its weights are in the file of theirs"]
        elif merged.side == 2:
            state = [f"git takes {taken} of theirs, so theirs is there until this is resolved"]
        else:
            state = [f"git takes {taken} of theirs, so the package belongs to neither side until this is resolved"]
        return DriverResult(data, [*merged.conflicts, *state, ways_out(self._path)], merged.text, merged.errors)


def read_model(folder: Path, name: str) -> SpecModel:
    """Return the model with a name in a folder. Raise ModelError."""
    return SpecModel("mlmodel", name, None, folder, parse_spec(read_file(folder / name), name))
