"""The models of a git repository that differ between two of its revisions, each compared with its old version."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.coremldata import FILE_NAME as COREMLDATA
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.containers.bundle import SIGNS
from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError, Note, codes, render
from miltext.diagnostics.option_words import of_command
from miltext.diffing.difference import Difference, ModelDifference
from miltext.diffing.structure import Change
from miltext.files.interrupts import ended_by_signals
from miltext.files.refusals import refusal
from miltext.files.writing import MODEL_FOLDERS
from miltext.models.manifest import MANIFEST
from miltext.review.repository import SUBMODULE, Repository, RepositoryFiles, Snapshot, WorkingTree, parents
from miltext.review.sidecar import is_sidecar
from miltext.weight_files.model_weights import blob_values
from miltext.weight_files.paths import MODEL_PATH

if TYPE_CHECKING:
    from miltext.models.model import Model

SEARCHED = (".mil", ".mlmodel")
"""The endings of files that count as models in folders."""

_WITH_PARENT = re.compile(r"(?P<commit>.+)\^(?:!|-(?P<which>[0-9]*))", re.DOTALL)
"""A commit and a parent of it, as git writes them."""

_POINTERS = (codes.LFS_POINTER_OF_MODEL, codes.LFS_POINTER_OF_WEIGHTS)
"""The codes of a git-lfs pointer in place of a file."""

_SIMILAR_FILES = (MANIFEST, COREMLDATA, METADATA)
"""Files too similar in all models to prove a rename."""

Compare = Callable[["Model", "Model"], Difference]
"""A function that compares two models."""


@contextmanager
def revisions(folder: Path, words: str, cached: bool = False) -> Iterator[Review]:
    """Yield the review of the revisions in `words`, of the repository around a folder; its files are removed when the
    generator ends.

    `A..B` are two revisions, and `A...B` are B and the commit where it parted from A; `B^!` and `B^-` are B and its
    parent, `B^-2` B and its second parent. `A` is that revision and the working tree or, if `cached`, the index. Raise
    ModelError (MIL845) for a revision that git does not have.
    """
    repository = Repository(folder)
    made = TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True)  # Windows keeps mapped files
    with ended_by_signals(), made as place:
        yield Review(repository, *_sides(repository, words, cached, Path(place).resolve()))


def _sides(repository: Repository, words: str, cached: bool, folder: Path) -> tuple[RepositoryFiles, RepositoryFiles]:
    old, new = _revisions_in(repository, words)
    if new is not None and cached:
        raise refusal(
            codes.UNKNOWN_REVISION,
            "the index is compared with one revision: name one, or compare two by `miltext diff --git A..B`",
        )
    was = Snapshot(repository, old, repository.tree_of(old), folder / "old")
    if new is not None:
        return was, Snapshot(repository, new, repository.tree_of(new), folder / "new")
    return was, Snapshot(repository, "", None, folder / "new") if cached else WorkingTree(repository)


def _revisions_in(repository: Repository, words: str) -> tuple[str, str | None]:
    """Return the revisions for words in git's syntax; an empty word is HEAD."""
    own = _WITH_PARENT.fullmatch(words)
    if own is not None:
        return f"{own['commit']}^{own['which'] or ''}", own["commit"]
    if words.endswith("^@"):
        said = f"`{words}` means all parents of a commit"
        said += f": for a commit and its parent, write `miltext diff --git {words[:-2]}^!`"
        raise refusal(codes.UNKNOWN_REVISION, said)
    for dots in ("...", ".."):
        old, found, new = words.partition(dots)
        if found:
            old, new = old or "HEAD", new or "HEAD"
            return (repository.base_of(old, new) if dots == "..." else old), new
    return words or "HEAD", None


class _Pair(NamedTuple):
    """The path of a model from the top, in the old and in the new revision; None for a missing model."""

    old: str | None
    new: str | None


class Review:
    """Two states of a repository, and the models that differ between them."""

    def __init__(self, repository: Repository, old: RepositoryFiles, new: RepositoryFiles) -> None:
        self._repository = repository
        self._sides = old, new

    def difference(self, names: Sequence[str], compare: Compare, *, breaking: bool = False) -> Difference:
        """Return the differences of the named models, and of the models in named folders; without names, of all that
        differ.

        The differences of a single named model are as `compare` returns them, with its errors. The differences of
        several are the `models` of a Difference, where an unreadable model is a note. With `breaking`, new and renamed
        models are left out. Raise ModelError (MIL846) for a name in neither revision.
        """
        paths = [self._path(name) for name in names] or [""]
        if len(paths) == 1 and all(is_model(side, paths[0]) for side in self._sides):
            return replace(self._one(paths[0], compare), breaking=breaking)
        notes = [
            f"{name}: this submodule has another commit; its models are not compared"
            for name in self._submodules(paths)
        ]
        complete, found = True, list[ModelDifference]()
        for pair in self._pairs(paths):
            if breaking and pair.old is None:
                continue
            try:
                inner = self._model(pair, compare, with_place=not breaking)
            except MiltextError as failure:
                head = render(failure.diagnostics[0], failure.text, failure.path).splitlines()[0]
                notes.append(of_command(f"{head}; not compared"))
                complete = False
                continue
            if inner.difference is not None:
                notes += inner.difference.notes
                complete = complete and inner.difference.complete
            if inner.difference is None or inner.difference.same is False:
                found.append(inner)
        old, new = [side.title for side in self._sides]
        return Difference(old, new, tuple(notes), complete=complete, models=tuple(found), breaking=breaking)

    # ---- one model, by its paths

    @property
    def sides(self) -> tuple[RepositoryFiles, RepositoryFiles]:
        """The old and the new files."""
        return self._sides

    def change(self, was: str, now: str, compare: Compare) -> Difference | None:
        """Return the differences of a model at these paths; None if no file of it differs.

        Raise MiltextError for an unreadable one.
        """
        if was == now and not self._may_differ(now):
            return None
        return self._compared(_Pair(was, now), compare)[0]

    def opened(self, path: str, *, old: bool = False) -> Model:
        """Return a model without its weights. Raise MiltextError for an unreadable one."""
        side = self._sides[not old]
        with self._naming(_Pair(path, path)):
            side.fetch([each for each in side.parts(path) if "weights" not in each.split("/")], side)
            return open_model(side.folder / path)

    def origin(self, path: str) -> str | None:
        """Return the old path of a new model that git lists as renamed; None for any other."""
        old, new = self._sides
        gone = [each for each in dict.fromkeys(_models(old, "")) if not new.has(each)]
        return self._files_moved.get(path) or self._moved(gone, [path]).get(path)

    def destination(self, path: str) -> str | None:
        """Return the new path of a model that git lists as renamed; None for any other."""
        old, new = self._sides
        added = [each for each in dict.fromkeys(_models(new, "")) if not old.has(each)]
        files = (now for now, was in self._files_moved.items() if was == path)
        return next(iter([*files, *self._moved([path], added)]), None)

    @cached_property
    def _files_moved(self) -> dict[str, str]:
        """The old paths of files that git lists as renamed, by the new ones."""
        old, new = self._sides
        return {now: was for was, now in new.renamed_since(old)}

    def _submodules(self, paths: Sequence[str]) -> list[str]:
        """Return the submodules below these paths that differ."""
        old, new = [side.entries for side in self._sides]
        there = {each: None for entries in (old, new) for each in entries if entries[each].mode == SUBMODULE}
        differ = [each for each in there if old.get(each) != new.get(each)]
        return [self._repository.name_of(each) for each in differ if {*paths} & {"", *parents(each)}]

    # ---- which models

    def _path(self, name: str) -> str:
        """Return the path of a name. Raise ModelError (MIL846) where there is nothing, or another repository."""
        path = self._repository.path_of(name)
        for side in self._sides:
            for each in (*parents(path), path):
                if each in side.entries and side.entries[each].mode == SUBMODULE:
                    inner = self._repository.name_of(each)
                    raise refusal(codes.FILE_IN_NO_REVISION, f"`{inner}` is a submodule, a repository of its own", name)
        if not any(side.has(path) for side in self._sides):
            raise refusal(codes.FILE_IN_NO_REVISION, "neither of the two has a file or folder of this name", name)
        return path

    def _pairs(self, paths: Sequence[str]) -> list[_Pair]:
        """Return the models that may differ, in the order of their paths."""
        was, now = [list(dict.fromkeys(each for path in paths for each in _models(side, path))) for side in self._sides]
        gone, added = [path for path in was if path not in now], [path for path in now if path not in was]
        moved = {added[0]: gone[0]} if [*gone, *added] == paths and len(gone) == len(added) == 1 else {}
        if gone and added and not moved:
            moved = self._moved(gone, added)
        pairs = [_Pair(path, path) for path in now if path in was and self._may_differ(path)]
        pairs += [_Pair(moved.get(path), path) for path in added]
        pairs += [_Pair(path, None) for path in gone if path not in moved.values()]
        return sorted(pairs, key=lambda pair: pair.new or pair.old or "")

    def _may_differ(self, path: str) -> bool:
        """Return whether a model may differ: one of its files, or a file beside a text that the text names."""
        old, new = self._sides
        return old.parts(path) != new.parts(path) or self._differs_beside(path)

    def _differs_beside(self, path: str) -> bool:
        """Return whether a file below the folder of a text differs, and its name is in the text."""
        old, new = self._sides
        home = posixpath.dirname(path)
        beside = [each for each in self._changed if not home or each.startswith(f"{home}/")]
        if not beside or path in new.folders:
            return False
        new.fetch(new.parts(path), old)
        data = (new.folder / path).read_bytes()
        return any(posixpath.basename(each).encode(errors="surrogateescape") in data for each in beside)

    @cached_property
    def _changed(self) -> list[str]:
        """The files that differ, without models and the contents of their folders."""
        old, new = [side.entries for side in self._sides]
        return [path for path in {**old, **new} if old.get(path) != new.get(path) and _model_of(path) is None]

    def _moved(self, gone: Sequence[str], added: Sequence[str]) -> dict[str, str]:
        """Return the old paths, by the new ones, of models most of whose files git lists as renamed."""
        votes = Counter[tuple[str, str]]()
        for now, was in self._files_moved.items():
            votes[_enclosing(was, gone), _enclosing(now, added)] += posixpath.basename(was) not in _SIMILAR_FILES
        moved: dict[str, str] = {}
        for (was, now), count in votes.most_common():
            if was and now and count and now not in moved and was not in moved.values():
                moved[now] = was
        return moved

    # ---- one model

    def _model(self, pair: _Pair, compare: Compare, *, with_place: bool) -> ModelDifference:
        """Return the change of a model; raise MiltextError for an unreadable one."""
        old, new = self._sides
        if pair.old is not None and pair.new is not None:
            found, kind = self._compared(pair, compare)
            was, now = [self._repository.name_of(path) for path in (pair.old, pair.new)]
            if was != now and with_place:
                found = replace(found, changes=(Change("place", "", was, now), *found.changes))
            return ModelDifference(now, "", kind, "changed", found)
        side, path, status = (old, pair.old, "removed") if pair.new is None else (new, pair.new, "added")
        assert path is not None
        kind = self.opened(path, old=side is old).type
        return ModelDifference(self._repository.name_of(path), "", kind, status, None)

    def _one(self, path: str, compare: Compare) -> Difference:
        """Return the differences of a model in both; equal files are not read."""
        if self._may_differ(path):
            return self._compared(_Pair(path, path), compare)[0]
        old, new = self._sides
        return Difference(self._shown_path(old, path), self._shown_path(new, path))

    def _compared(self, pair: _Pair, compare: Compare) -> tuple[Difference, str]:
        """Return the differences of a model, and its type."""
        old, new = self._sides
        assert pair.old is not None
        assert pair.new is not None
        with self._naming(pair):
            models = self._opened(old, new, pair.old), self._opened(new, old, pair.new)
            return self._with_names(compare(*models), pair), models[1].type

    def _opened(self, side: RepositoryFiles, other: RepositoryFiles, path: str) -> Model:
        """Return a model after fetching its files, and the weight files beside it that it names."""
        side.fetch(side.parts(path), other)
        model = open_model(side.folder / path)
        if path not in side.folders:
            for beside in named_beside(model, path):
                side.fetch(side.parts(beside), other)
        return model

    # ---- names

    def _shown_path(self, side: RepositoryFiles, path: str) -> str:
        """Return the name of a path for people: `HEAD~:Model.mlpackage` or, in the working tree, its name from here."""
        return f"{side.label}{path}" if side.label else self._repository.name_of(path)

    def _called(self, text: str, pair: _Pair) -> str:
        """Return a text with the names for people in place of the paths of files."""
        for side, path in zip(self._sides, pair, strict=True):
            if path is not None:
                text = text.replace(str(side.folder / path), self._shown_path(side, path))
            text = text.replace(f"{side.folder}/", side.label)
        return text

    def _with_names(self, found: Difference, pair: _Pair) -> Difference:
        """Return a Difference with the names of files in the repository."""
        old, new, *notes = [self._called(text, pair) for text in (found.old, found.new, *found.notes)]
        models = [
            each if each.difference is None else replace(each, difference=self._with_names(each.difference, pair))
            for each in found.models
        ]
        return replace(found, old=old, new=new, notes=tuple(notes), models=tuple(models))

    @contextmanager
    def _naming(self, pair: _Pair) -> Iterator[None]:
        """Replace the paths of files in errors by their names in the repository."""
        try:
            yield
        except MiltextError as failure:
            if failure.path is not None:
                failure.path = self._called(failure.path, pair)
            for index, each in enumerate(failure.diagnostics):
                notes = [note._replace(message=self._called(note.message, pair)) for note in each.notes]
                if each.code in _POINTERS:
                    notes.append(
                        Note("for another revision, run `git lfs install`, and `git lfs fetch origin REVISION`")
                    )
                reported = each._replace(message=self._called(each.message, pair), notes=tuple(notes))
                failure.diagnostics[index] = reported
            raise


def named_beside(model: Model, path: str) -> list[str]:
    """Return the paths of the weight files that a model in a single file at a path names."""
    programs = [stage.model.program for stage in model.programs()]
    named = {held.value.blobFileValue.fileName for each in programs for held in blob_values(each)}
    folder = posixpath.dirname(path)
    beside = (posixpath.join(folder, name.removeprefix(f"{MODEL_PATH}/")) for name in sorted(named))
    return [posixpath.normpath(each) for each in beside]


def _models(side: RepositoryFiles, path: str) -> Iterator[str]:
    """Yield the model at a path, or the models below a folder; for a folder inside a model, that model."""
    if is_model(side, path):
        yield path
        return
    for each in side.below(path):
        found = _model_of(each)
        if found is not None:
            yield found


def is_model(side: RepositoryFiles, path: str) -> bool:
    """Return whether there is a file at a path, or a folder to open as a model."""
    if path not in side.folders:
        return side.has(path)
    if path.lower().endswith(MODEL_FOLDERS):
        return True
    signs = [posixpath.join(path, name) for name in (MANIFEST, COREMLDATA, *SIGNS)]
    return any(each in side.entries or each in side.folders for each in signs)


def _model_of(path: str) -> str | None:
    """Return the model to which a file belongs, as a search of folders finds it."""
    for each in (*parents(path), path):
        name = posixpath.basename(each)
        if name.lower().endswith(MODEL_FOLDERS):
            return each
        if name.startswith(".") or name == "node_modules":
            return None
    return path if path.lower().endswith(SEARCHED) and not is_sidecar(path) else None


def _enclosing(path: str, models: Sequence[str]) -> str:
    """Return the model in a list that equals the file, or contains it; empty for none."""
    return next((each for each in (path, *parents(path)) if each in models), "")
