"""What git's merge drivers do with one file of a package: the model, its weights, the manifest.

git asks for each file by itself, and takes a file that one side alone changed without asking. So each time all files of
the package are merged, with those that git settles by itself as they will be; and the one that was asked for is given.
"""

from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.merging.contents import programs_of, weight_files
from miltext.merging.models import Kept, MergedModel, merge_models
from miltext.merging.trees import NotFound, Staged, Trees, require_same, trees
from miltext.models.contents import parse_spec, read_file
from miltext.models.model_weights import MODEL_PATH
from miltext.models.spec import SpecModel
from miltext.review.git import DRIVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.merging.conflicts import Markers

WEIGHTS = "weight.bin"
"""How the names of weight files end."""


class Outcome(NamedTuple):
    """What a driver made of a file: its bytes, None where ours stays; why; and the merged text, if there is one."""

    data: bytes | None
    reasons: Sequence[str] = ()
    text: str | None = None
    errors: Sequence[Diagnostic] = ()


def merge_part(path: str, files: Sequence[str], markers: Markers) -> Outcome:
    """Merge a model or a weight file of a package, whose three versions are in files. Raise MiltextError."""
    if any(part.endswith(".mlmodelc") for part in PurePosixPath(path).parts):
        return Outcome(None, ["this is a part of a compiled model: merge what it was compiled from, and compile that"])
    try:
        return _merge_part(path, files, markers)
    except NotFound as failure:
        way = "merge the packages with `miltext merge BASE OURS THEIRS -o MERGED`"
        doubt = "ours stays; see that the weight file beside it is ours, too"
        back = "" if isinstance(failure, Staged) else f": {_bring_back(PurePosixPath(path))}"
        return Outcome(None, [f"{failure}; {way}", f"{doubt}{back}"])


def _bring_back(path: PurePosixPath) -> str:
    """Return what to say of a package of which git may have taken a file of theirs."""
    parents = path.parents
    package = next((each for each in parents if each.suffix == ".mlpackage"), parents[0])
    return f"`git checkout HEAD -- {shlex.quote(str(package))}` brings ours back"


def _merge_part(path: str, files: Sequence[str], markers: Markers) -> Outcome:
    """Merge as `merge_part` does. Raise NotFound."""
    is_weights = path.endswith(WEIGHTS)
    found = trees(path, 2 if is_weights else 1, files)
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
        package = _Package(found, _only_model(found) if is_weights else PurePosixPath(path).name, Path(made))
        merged = package.merged(markers)
        if not merged.is_whole:
            return package.ours(merged, is_weights)
        assert merged.model is not None
        if not is_weights:
            return Outcome(merged.model.SerializeToString(deterministic=True))
        written = package.target / PurePosixPath(path).relative_to(PurePosixPath(path).parents[1])
        return Outcome(read_file(written if written.exists() else Path(files[1])))


def _only_model(found: Trees) -> str:
    """Return the name of the model in a folder, which has one in all versions. Raise NotFound."""
    names = {name for tree in found.versions for name in tree if "/" not in name and name.endswith(".mlmodel")}
    if len(names) != 1 or not all(names <= tree.keys() for tree in found.versions):
        raise NotFound("the weight file is not that of one model in all versions")
    return names.pop()


class _Package:
    """The three versions of a model and its weight files, of which git settles some by itself."""

    def __init__(self, found: Trees, name: str, folder: Path) -> None:
        self._path = PurePosixPath(found.path, name)
        folders = found.write(folder, [name])
        specs = [(each, parse_spec(read_file(each / name), name)) for each in folders]
        self._models = [SpecModel("mlmodel", name, None, each, spec) for each, spec in specs]
        weights = sorted({file for model in self._models for file in weight_files(programs_of(model))})
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
        """Merge the model, as git will have its other files."""
        base, ours, theirs = self._models
        return merge_models(base, ours, theirs, self.target, markers, self._kept)

    def ours(self, merged: MergedModel, is_weights: bool) -> Outcome:
        """Return ours in place of a model that is in conflict.

        Where git takes the weight file of theirs, our model has its weights there, if they are.
        """
        taken = [file.partition("/")[2] for file, side in self._kept.weights.items() if side == 2]
        data, reasons = None, [*merged.conflicts, "ours stays whole"]
        if taken and not is_weights and merged.model is not None:
            data = merged.model.SerializeToString(deterministic=True)
            reasons.append("its weights are in the file of theirs")
        elif taken and not is_weights:
            reasons.append(f"but git takes {', '.join(taken)} of theirs: {_bring_back(self._path)}")
        return Outcome(data, reasons, merged.text, merged.errors)
