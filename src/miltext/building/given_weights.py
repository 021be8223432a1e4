"""Weight files given with a model or a text: folders of files, and single files by name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics import Note, codes
from miltext.files.refusals import WeightsError, refusal
from miltext.files.writing import WITH_DESCRIPTION, have_same_bytes
from miltext.models.manifest import MANIFEST, model_file
from miltext.weight_files.model_weights import BlobFolder, LooseFolder, blob_values, is_weight_file
from miltext.weight_files.paths import MODEL_PATH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from miltext.models.model import Model
    from miltext.schema.proto import Program

    AnyPath: TypeAlias = str | os.PathLike[str]
    GivenWeights: TypeAlias = "AnyPath | Mapping[str, AnyPath] | Sequence[AnyPath | Mapping[str, AnyPath]]"
    """A folder, files by their names below `@model_path`, or several of these."""


class GivenFolder(BlobFolder):
    """The weight files of the model's `own` folder, and files given from elsewhere for some programs.

    A name in `held` means the file in the own folder; any other name means it only if no file is given for it. `taken`
    are the names, below `@model_path`, of the files from elsewhere. If folders are given for a text by itself, its own
    folder is not used. After an edit (`is_edited`), a given file may be without values.

    Raise WeightsError as BlobFolder does; MIL310 for a name of several different files, and MIL311 for a given file
    that no value names.
    """

    def __init__(
        self,
        own: BlobFolder,
        given: GivenWeights | None,
        programs: Iterable[Program],
        held: Collection[str] = (),
        *,
        is_edited: bool = False,
    ) -> None:
        super().__init__(own.model_path)
        self.taken: set[str] = set()
        self._held = held
        folders, files = _parts(given)
        looked_at = programs if given else ()
        self._named = {each.value.blobFileValue.fileName for program in looked_at for each in blob_values(program)}
        self._own = LooseFolder(_model_path(folders[0])) if folders and isinstance(own, LooseFolder) else own
        self._folders = [LooseFolder(_model_path(folder)) for folder in folders]
        self._by_name: dict[str, list[Path]] = {}
        for name, path in [(name, path) for name, path in files if not is_edited or self._meant(name)]:
            self._by_name.setdefault(self._full_name(name), []).append(_weight_file(Path(path)))
        self._known: dict[str, Path] = {}

    def path(self, file_name: str) -> Path:
        if file_name not in self._known:
            self._known[file_name] = self._find(file_name)
        return self._known[file_name]

    def _find(self, file_name: str) -> Path:
        own = _in_folder(self._own, file_name) if file_name in self._held else []
        found = [*own, *self._given(file_name)]
        if not found:
            return self._own.path(file_name)  # otherwise it raises the error
        for other in found[1:]:
            if not have_same_bytes(found[0], other):
                message = f"there are two weight files {file_name!r} with different content: {found[0]} and {other}"
                both = [Note("both are given: leave one out, if they are of one model")] * (not own)
                raise refusal(codes.WEIGHT_FILES_OF_ONE_NAME, message, None, *both)
        if not own:
            self.taken.add(file_name.partition("/")[2])
        return found[0]

    def _given(self, file_name: str) -> list[Path]:
        if file_name not in self._named:
            return []
        in_folders = (path for folder in self._folders for path in _in_folder(folder, file_name))
        return self._by_name.get(file_name) or [*in_folders]

    def _full_name(self, name: str) -> str:
        """Return the fileName for its part after `@model_path/`, or for its last part alone."""
        meant = self._meant(name)
        name = name.removeprefix(f"{MODEL_PATH}/")
        if len(meant) == 1:
            return meant[0]
        what = "several values are in different weight files" if meant else "no value is in a weight file"
        names = ", ".join(sorted(self._named)) or "none"
        raise refusal(
            codes.UNUSED_WEIGHT_FILE, f"{what} {name!r}", None, Note(f"the weight files of the program: {names}")
        )

    def _meant(self, name: str) -> list[str]:
        """Return the names of weight files with this part after `@model_path/`, otherwise with this last part."""
        name = name.removeprefix(f"{MODEL_PATH}/")
        meant = [each for each in self._named if each == f"{MODEL_PATH}/{name}"]
        return meant or [each for each in self._named if each.rpartition("/")[2] == name]


def given_folder(source: Model, given: GivenWeights | None, program: Program) -> GivenFolder:
    """Return the folder of the weight files that a program of a model or a text names."""
    is_whole = source.kind in WITH_DESCRIPTION
    own = BlobFolder(source.model_path) if is_whole else LooseFolder(source.model_path or Path.cwd())
    return GivenFolder(own, given, [program])


def with_files(given: GivenWeights | None, files: Mapping[str, Path]) -> list[AnyPath | Mapping[str, AnyPath]]:
    """Return given weights with further files, by their names below `@model_path`."""
    return [*_several(given), files]


def with_folder(given: GivenWeights | None, folder: Path) -> list[AnyPath | Mapping[str, AnyPath]]:
    """Return given weights with a further folder."""
    return [*_several(given), folder]


def _several(given: GivenWeights | None) -> list[AnyPath | Mapping[str, AnyPath]]:
    if given is None:
        return []
    return [*given] if isinstance(given, Sequence) and not isinstance(given, str) else [given]


def _parts(given: GivenWeights | None) -> tuple[list[Path], list[tuple[str, AnyPath]]]:
    """Return the given folders, and the given files by name."""
    folders: list[Path] = []
    files: list[tuple[str, AnyPath]] = []
    for each in _several(given):
        if isinstance(each, Mapping):
            files += each.items()
        else:
            folders.append(Path(each))
    return folders, files


def _in_folder(folder: BlobFolder, file_name: str) -> list[Path]:
    """Return the path of the file with a name in a folder, if it exists."""
    try:
        return [folder.path(file_name)]
    except WeightsError as failure:
        if failure.diagnostics[0].code != codes.MISSING_WEIGHT_FILE:
            raise
        return []


def _model_path(folder: Path) -> Path:
    """Return the folder for `@model_path` of a package; any other folder itself."""
    return model_file(folder).parent if os.path.exists(folder / MANIFEST) else folder


def _weight_file(path: Path) -> Path:
    """Return the real path of a weight file, or of the only file of a model or folder."""
    if path.is_dir():
        found = _weight_files(_model_path(path))
        if len(found) != 1:
            listed = [Note(str(each)) for each in found]
            raise refusal(
                codes.UNUSED_WEIGHT_FILE, f"{path} has {len(found) or 'no'} weight files, instead of one", None, *listed
            )
        path = found[0]
    if not path.is_file():
        raise refusal(codes.MISSING_WEIGHT_FILE, "the weight file cannot be found", path)
    return Path(os.path.realpath(path))


def _weight_files(folder: Path) -> list[Path]:
    """Return the weight files in a folder, or in coremltools' place for them."""
    there = [path for pattern in ("*", "weights/*") for path in sorted(folder.glob(pattern))]
    return [path for path in there if path.is_file() and is_weight_file(path)]
