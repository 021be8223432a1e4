"""The resolution of a package in conflict to one side or to an edited text, for all its files and git's index. git
calls its drivers file by file, and does not call them for a file that only one side changed.

So after a conflict, the model of one side can be beside a weight file of the other, and `git checkout --ours` restores
only the files in conflict.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import NamedTuple

from miltext.diagnostics import codes
from miltext.files.contents import decode, read_file
from miltext.files.refusals import refusal
from miltext.files.staging import Staging
from miltext.files.writing import copy_file, write_new
from miltext.merging.conflicts import has_markers
from miltext.merging.contents import programs_of, weight_files
from miltext.merging.driver import beside, read_model, whole_model
from miltext.merging.filters import ask
from miltext.merging.manifests import say_the_same
from miltext.merging.models import MergedModel, resolve_models
from miltext.merging.trees import Commits, NotFound, Trees, files_in, fits, is_named, stopped_at
from miltext.models.manifest import MANIFEST
from miltext.review.repository import Repository
from miltext.weight_files.paths import MODEL_PATH

SIDES = {"ours": 1, "theirs": 2}
"""The sides from which a package can be taken, with their versions."""


class IndexStage(NamedTuple):
    """A version of a file in conflict, as git's index has it: the base is number 1, ours 2, theirs 3."""

    mode: str
    object: str
    number: int
    path: str

    @property
    def row(self) -> str:
        """The version as a row for git's index."""
        return f"{self.mode} {self.object} {self.number}\t{self.path}\0"


def _though_sparse() -> list[str]:
    """Return git's option to change files outside a sparse checkout; none without one, for older versions lack it."""
    return ["--sparse"] if ask("config", "--type=bool", "core.sparseCheckout").strip() == "true" else []


class InConflict:
    """A package, a compiled model or a single file that git could not merge; `path` is relative to the top of the
    repository.

    `of_ours` are the files in conflict that no text contains, which are the files of ours after a text is taken.

    Raise ModelError: MIL845 outside a repository, MIL860 where git has no conflict, MIL861 where the commits that git
    merges are unknown, MIL862 for changes that would be lost without permission.
    """

    def __init__(self, name: str, *, force: bool = False) -> None:
        self._name = name
        self._repository = Repository(Path.cwd())
        if self._repository.top is None:
            raise refusal(codes.NO_CONFLICT, "this repository is bare, so it has no conflicts", name)
        self._top = self._repository.top
        self.path = str(whole_model(PurePosixPath(self._repository.path_of(name))))
        self._stages = self._unmerged()
        if not self._stages:
            raise refusal(codes.NO_CONFLICT, "no file of this model is in conflict", name)
        self._unknown: NotFound | None = None
        self._commits = self._found()
        self._is_file = self.path in {stage.path for stage in self._stages}
        self._trees = files_in(self._commits, str(PurePosixPath(self.path).parent) if self._is_file else self.path)
        self._force = force
        self.of_ours: list[str] = []
        self._strange = set[str]() if is_named() else self._of_no_version()
        if self._strange and self._unknown is None:
            self._unknown = NotFound("no matching commit contains the other files as they are in the index")

    def _found(self) -> Commits:
        """Return the commits that git merges; only ours if git does not name the others, for example because the
        package has another name there.
        """
        objects = self._objects()
        try:
            return stopped_at(objects)
        except NotFound as failure:
            self._unknown = failure
            if not fits(("", "HEAD", ""), objects):
                raise refusal(codes.COMMITS_UNKNOWN, str(failure), self._name) from failure
            return "", "HEAD", ""

    def _require_all(self) -> None:
        """Raise ModelError (MIL861) if git does not name theirs."""
        if self._unknown is not None:
            raise refusal(codes.COMMITS_UNKNOWN, str(self._unknown), self._name)

    @property
    def text(self) -> Path:
        """The text beside it, with the conflicts between markers."""
        return Path(self._top, beside(self.path))

    def take(self, side: int) -> None:
        """Take all files of a side, and no others. Raise ModelError."""
        if side != SIDES["ours"]:
            self._require_all()
        self._refuse_changes()
        self._take(side)

    def _take(self, side: int, *, but: Iterable[str] = ()) -> None:
        there = {self._at(file): blob for file, blob in self._trees.versions[side].items()}
        owned = {*self._owned()} - {*but}
        taken = sorted(owned & there.keys())
        gone = sorted(owned - there.keys())
        if taken:
            where = "--staged", "--worktree", "--ignore-skip-worktree-bits"
            self._git("restore", f"--source={self._commits[side]}", *where, "--", *taken)
        if gone:
            self._git("rm", "-r", "-q", "-f", "--ignore-unmatch", *_though_sparse(), "--", *gone)

    def take_text(self, file: Path) -> MergedModel:
        """Take the contents of an edited text, with the weights that it names, and the other files that git merged.

        Nothing is changed if the result is incomplete. Raise ModelError (MIL863) for a text with markers, and if one
        side lacks the model.
        """
        self._require_all()
        self._refuse_changes()
        data = read_file(file)
        text = decode(data, str(file)) if data else ""  # as where one side removed all that conflicts
        if has_markers(text):
            raise refusal(codes.UNRESOLVED_CONFLICT, "conflicts are left between markers in this text", file)
        with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
            name, merged = self._merged(text, Path(made))
            if merged.model is None:
                return merged
            made_files = self._place(name, merged, Path(made, "merged"))
        unmerged = {stage.path for stage in self._stages}
        left = {*self._owned()} - unmerged
        self.of_ours = sorted(unmerged - {*made_files})
        self._take(SIDES["ours"], but=[*made_files, *left])
        self._git("add", "-f", *_though_sparse(), "--", *made_files)
        return merged

    def leave_unmerged(self, but: str) -> None:
        """Mark all files but one as in conflict again, with any contents: `git mergetool` visits each in turn."""
        stages = [stage for stage in self._stages if stage.path != self._repository.path_of(but)]
        gone = (f"0 {'0' * len(stage.object)}\t{stage.path}\0" for stage in stages)
        rows = "".join([*gone, *(stage.row for stage in stages)])
        self._git("update-index", "-z", "--index-info", input=os.fsencode(rows))

    @property
    def is_last(self) -> bool:
        """Whether only one file is in conflict."""
        return len({stage.path for stage in self._stages}) == 1

    def _merged(self, text: str, folder: Path) -> tuple[str, MergedModel]:
        """Return the path of the model in its folder, and the model of a text. Raise ModelError."""
        file = self._model_file()
        found = files_in(self._commits, str(PurePosixPath(file).parent))
        name = PurePosixPath(file).name
        try:
            folders = found.write(folder, [name])
            models = [read_model(each, name) if (each / name).exists() else None for each in folders]
            base, ours, theirs = models
            if ours is None or theirs is None:
                raise refusal(
                    codes.UNRESOLVED_CONFLICT, "one side has no such model, so a text cannot merge both", self._name
                )
            used = {each for model in models if model is not None for each in weight_files(programs_of(model))}
            found.write(folder, [each.removeprefix(f"{MODEL_PATH}/") for each in used])
        except NotFound as failure:
            raise refusal(codes.COMMITS_UNKNOWN, str(failure), self._name) from failure
        (folder / "merged").mkdir()
        return file, resolve_models(base, ours, theirs, folder / "merged", text)

    def _model_file(self) -> str:
        """Return the path of the only model. Raise ModelError (MIL863)."""
        files = {file for tree in self._trees.versions[1:] for file in tree if file.endswith(".mlmodel")}
        if self._is_file:
            files = {PurePosixPath(self.path).name} & files
        if len(files) != 1:
            raise refusal(codes.UNRESOLVED_CONFLICT, "a text is for a package with one model", self._name)
        return self._at(files.pop())

    def _place(self, model: str, merged: MergedModel, folder: Path) -> list[str]:
        """Write a model and its weight files to the working tree, all or none; return their paths."""
        assert merged.model is not None
        place = PurePosixPath(model).parent
        weights = [file for file in sorted(folder.rglob("*")) if file.is_file()]
        paths = {str(place / file.relative_to(folder).as_posix()): file for file in weights}
        with Staging(replace=True, parents=True) as staging:
            write_new(staging.place(self._top / model), [merged.model.SerializeToString(deterministic=True)])
            for path, file in paths.items():
                copy_file(file, staging.place(self._top / path))
            staging.commit()
        return [model, *paths]

    def _owned(self) -> list[str]:
        """Return the paths of all files of the sides and of the index."""
        if not self._is_file:
            inside = {self._at(file) for tree in self._trees.versions for file in tree}
            return sorted({*inside, *self._git("ls-files", "-z", "--", self.path).split("\0")[:-1]})
        with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:
            return [self.path, *self._weights_of_file(self._trees, Path(made))]

    def _weights_of_file(self, found: Trees, folder: Path) -> list[str]:
        """Return the paths of the weight files of a model without a package."""
        name = PurePosixPath(self.path).name
        if not name.endswith(".mlmodel"):
            return []
        try:
            folders = found.write(folder, [name])
        except NotFound as failure:
            raise refusal(codes.COMMITS_UNKNOWN, str(failure), self._name) from failure
        models = [read_model(each, name) for each in folders if (each / name).exists()]
        used = {each.removeprefix(f"{MODEL_PATH}/") for model in models for each in weight_files(programs_of(model))}
        return sorted(self._at(each) for each in used if any(each in tree for tree in found.versions))

    def _at(self, file: str) -> str:
        return str(PurePosixPath(self._trees.path, file))

    def _git(self, *arguments: str, input: bytes = b"") -> str:
        return os.fsdecode(self._repository.run(*arguments, input=input, cwd=self._top))

    def _unmerged(self) -> list[IndexStage]:
        rows = self._git("ls-files", "-u", "-z", "--", self.path).split("\0")[:-1]
        found = ((*row.partition("\t")[0].split(), row.partition("\t")[2]) for row in rows)
        return [IndexStage(mode, blob, int(number), path) for mode, blob, number, path in found]

    def _objects(self) -> dict[str, list[str]]:
        """Return the objects of each file in conflict: in the base, in ours and in theirs; empty where it is
        missing.
        """
        files = dict[str, list[str]]()
        for stage in self._stages:
            files.setdefault(stage.path, ["", "", ""])[stage.number - 1] = stage.object
        return files

    def _refuse_changes(self) -> None:
        """Raise ModelError (MIL862) where files without a conflict were changed since git stopped; and for earlier
        changes of them in the index, which only a merge without its own commit keeps.
        """
        if self._force:
            return
        owned = self._settled()
        listed = self._git("diff", "--no-ext-diff", "--name-only", "-z", "--", *owned).split("\0")[:-1]
        changed = {path for path in {*listed} & owned if not self._says_the_same(path)}
        changed |= self._strange
        if changed:
            raise refusal(codes.CHANGES_WOULD_BE_LOST, f"`{min(changed)}` has changes that would be lost", self._name)

    def _settled(self) -> set[str]:
        """Return the paths of all files without a conflict."""
        return {*self._owned()} - {stage.path for stage in self._stages}

    def _of_no_version(self) -> set[str]:
        """Return the files without a conflict whose contents in the index are in no version."""
        known = [{self._at(file): blob for file, blob in tree.items()} for tree in self._trees.versions]
        listed = self._git("ls-files", "-s", "-z", "--", *self._settled()).split("\0")[:-1]
        rows = ((facts.split(), path) for facts, _, path in (row.partition("\t") for row in listed))
        staged = {path: blob for (_, blob, stage), path in rows if stage == "0"}
        return {path for path, blob in staged.items() if blob not in [each.get(path) for each in known]}

    def _says_the_same(self, path: str) -> bool:
        """Return whether a file is a manifest with a new layout only."""
        file = self._top / path
        if PurePosixPath(path).name != MANIFEST or not file.is_file():
            return False
        staged = self._repository.run("cat-file", "--filters", f":0:{path}", cwd=self._top)
        return say_the_same(file.read_bytes(), staged)
