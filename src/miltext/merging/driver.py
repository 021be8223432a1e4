"""What git's merge drivers do with one file of a package: the model, its weights, the manifest.

git asks for each file by itself, and takes a file that one side alone changed without asking. So each time all files of
the package are merged, with those that git settles by itself as they will be; and the one that was asked for is given.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.merging.models import Kept, MergedModel, merge_models
from miltext.merging.trees import NotFound, Trees, trees
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
    is_weights = path.endswith(WEIGHTS)
    if any(part.endswith(".mlmodelc") for part in PurePosixPath(path).parts):
        return Outcome(None, ["this is a part of a compiled model: merge what it was compiled from, and compile that"])
    try:
        found = trees(path, 2 if is_weights else 1, files)
    except (NotFound, IndexError) as failure:
        way = "merge the packages with `miltext merge BASE OURS THEIRS -o MERGED`"
        return Outcome(None, [f"{failure}; {way}", "ours stays; see that the weight file beside it is ours, too"])
    names = {name for tree in found.versions for name in tree if "/" not in name and name.endswith(".mlmodel")}
    name = PurePosixPath(path).name if not is_weights else next(iter(names), "")
    if (is_weights and len(names) != 1) or not all(name in tree for tree in found.versions):
        return Outcome(None, ["the versions do not have one model file that these weights are of"])
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
        merged = _merged(found, name, Path(made), markers)
        if not merged.is_whole:
            return _ours(merged, found, name, is_weights)
        assert merged.model is not None
        if not is_weights:
            return Outcome(merged.model.SerializeToString(deterministic=True))
        written = Path(made) / "merged" / PurePosixPath(path).relative_to(PurePosixPath(path).parents[1])
        return Outcome(written.read_bytes() if written.exists() else read_file(Path(files[1])))


def _ours(merged: MergedModel, found: Trees, name: str, is_weights: bool) -> Outcome:
    """Return ours in place of a model that is in conflict.

    Where git takes the weight file of theirs, our model has its weights there, if they are.
    """
    reasons = [*merged.conflicts, "ours stays whole"]
    if is_weights or found.settled(name, DRIVER) is not None:
        return Outcome(None, reasons, merged.text, merged.errors)
    taken = [file for tree in found.versions for file in tree if found.settled(file, DRIVER) == 2]
    if not taken:
        return Outcome(None, reasons, merged.text, merged.errors)
    if merged.model is not None:
        data = merged.model.SerializeToString(deterministic=True)
        return Outcome(data, [*reasons, "its weights are in the file of theirs"], merged.text, merged.errors)
    files = " ".join(dict.fromkeys(taken))
    return Outcome(
        None,
        [*reasons, f"but git takes {files} of theirs: `git checkout HEAD --` brings ours back"],
        merged.text,
        merged.errors,
    )


def _merged(found: Trees, name: str, folder: Path, markers: Markers) -> MergedModel:
    """Merge the packages, as git will have their other files."""
    models = [
        SpecModel("mlmodel", name, None, each, parse_spec(read_file(each / name), name)) for each in found.write(folder)
    ]
    files = {file for tree in found.versions for file in tree}
    weights = {f"{MODEL_PATH}/{file}": place for file in files if (place := found.settled(file, DRIVER)) is not None}
    kept = Kept(found.settled(name, DRIVER), weights)
    (folder / "merged").mkdir()
    return merge_models(models[0], models[1], models[2], folder / "merged", markers, kept)
