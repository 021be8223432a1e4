"""The models that differ between two revisions of a git repository, each compared with what it was."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import MiltextError, Note
from miltext.diffing.difference import Difference
from miltext.models.bundle import SIGNS
from miltext.models.coremldata import FILE_NAME as COREMLDATA
from miltext.models.coremldata import TEXT
from miltext.models.files import MODEL_FOLDERS
from miltext.models.manifest import MANIFEST
from miltext.models.metadata_json import FILE_NAME as METADATA
from miltext.models.model_weights import MODEL_PATH, blob_values
from miltext.models.opening import open_model
from miltext.models.refusals import refusal
from miltext.review.repository import SUBMODULE, Files, Repository, Snapshot, WorkingTree, parents
from miltext.review.sidecar import is_sidecar

if TYPE_CHECKING:
    from miltext.models.model import Model

TEXTS = (".mil", ".mlmodel")
"""How the names of models end that are files, and are looked for in folders."""

_POINTERS = ("MIL252", "MIL303")
"""The codes of a git-lfs pointer in place of a file."""

Compare = Callable[["Model", "Model"], Difference]


class Pair(NamedTuple):
    """The path of a model from the top, in both revisions; None where there is none."""

    old: str | None
    new: str | None

    @property
    def path(self) -> str:
        """The path in the new revision, if there is one."""
        path = self.old if self.new is None else self.new
        assert path is not None
        return path


@dataclass(frozen=True)
class Reviewed:
    """A model that differs: `old` and `new` are its names, None where a revision does not have it.

    `difference` is None if only one has it, or if it cannot be compared: then the `failure` says why.
    """

    old: str | None
    new: str | None
    difference: Difference | None = None
    failure: MiltextError | None = None

    @property
    def status(self) -> str:
        """What became of it: `added`, `removed`, `changed`, `same`, `unknown` where not all was read, or `unread`."""
        if self.failure is not None:
            return "unread"
        if self.difference is None:
            return "added" if self.old is None else "removed"
        return {True: "same", False: "changed", None: "unknown"}[self.difference.same]

    @property
    def title(self) -> str:
        """Its name, and the one that it had."""
        names = [name for name in (self.old, self.new) if name is not None]
        return " -> ".join(dict.fromkeys(names))


@contextmanager
def revisions(folder: Path, words: str, cached: bool = False) -> Iterator[Review]:
    """Give the review of what `words` ask for, in the repository that a folder is in, as long as it lasts.

    `A..B` are two revisions, and `A...B` is B and the commit where it parted from A; `A^!` is A and its parent. `A` is
    that revision and the working tree or, if `cached`, the index. Raise ModelError (MIL845) for what git does not have.
    """
    repository = Repository(folder)
    with TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True) as made:  # Windows keeps what is mapped
        yield Review(repository, *_sides(repository, words, cached, Path(made).resolve()))


def _sides(repository: Repository, words: str, cached: bool, folder: Path) -> tuple[Files, Files]:
    old, new = _asked(repository, words)
    if new is not None and cached:
        raise refusal("MIL845", "the index is compared with one revision: name one, or leave out --cached")
    was = Snapshot(repository, old, repository.tree_of(old), folder / "old")
    if new is not None:
        return was, Snapshot(repository, new, repository.tree_of(new), folder / "new")
    return was, Snapshot(repository, "", None, folder / "new") if cached else WorkingTree(repository)


def _asked(repository: Repository, words: str) -> tuple[str, str | None]:
    """Return the revisions that words mean, as git reads them: nothing is HEAD."""
    if words.endswith("^!"):
        return f"{words[:-2]}^", words[:-2]
    for dots in ("...", ".."):
        old, found, new = words.partition(dots)
        if found:
            old, new = old or "HEAD", new or "HEAD"
            return (repository.base_of(old, new) if dots == "..." else old), new
    return words or "HEAD", None


class Review:
    """Two times of a repository, `old` and `new`, and the models that differ between them."""

    def __init__(self, repository: Repository, old: Files, new: Files) -> None:
        self._repository = repository
        self._old = old
        self._new = new

    def is_model(self, name: str) -> bool:
        """Whether a name is that of one model, and not of a folder that may hold some."""
        path = self._repository.path_of(name)
        return any(is_model(side, path) for side in (self._old, self._new))

    def compared(self, names: Sequence[str], compare: Compare) -> Iterator[Reviewed]:
        """Yield each model that differs, of those named and those below the folders named; of none, all that there are.

        What it is compared from lasts until the next is asked for. Raise ModelError (MIL846) for a name that neither
        revision has.
        """
        for pair in self._pairs(names):
            yield self._reviewed(pair, compare)
            self._old.clear()
            self._new.clear()

    def one(self, name: str, compare: Compare) -> Reviewed:
        """Return what became of one model, which may be the same. Raise MiltextError for one that cannot be read."""
        path = self._repository.path_of(name)
        there = [path if side.has(path) else None for side in (self._old, self._new)]
        found = self._reviewed(Pair(*there), compare)
        if found.failure is not None:
            raise found.failure
        return found

    # ---- which models

    @property
    def _sides(self) -> tuple[Files, Files]:
        return self._old, self._new

    def _pairs(self, names: Sequence[str]) -> list[Pair]:
        paths = [self._path(name) for name in names] or [""]
        was, now = [list(dict.fromkeys(each for path in paths for each in _models(side, path))) for side in self._sides]
        gone, added = [path for path in was if path not in now], [path for path in now if path not in was]
        moved = {added[0]: gone[0]} if [*gone, *added] == paths and len(gone) == len(added) == 1 else {}
        if gone and added and not moved:
            moved = self._moved(gone, added)
        pairs = [Pair(path, path) for path in now if path in was and self._may_differ(path)]
        pairs += [Pair(moved.get(path), path) for path in added]
        pairs += [Pair(path, None) for path in gone if path not in moved.values()]
        return sorted(pairs, key=lambda pair: pair.path)

    def _path(self, name: str) -> str:
        """Return the path of a name. Raise ModelError (MIL846) where there is nothing, or another repository."""
        path = self._repository.path_of(name)
        for side in self._sides:
            for each in (*parents(path), path):
                if each in side.entries and side.entries[each].mode == SUBMODULE:
                    inner = self._repository.name_of(each)
                    raise refusal("MIL846", f"`{inner}` is a repository of its own, a submodule", name)
        if path and not any(side.has(path) for side in self._sides):
            raise refusal("MIL846", "neither of the two has a file or folder of this name", name)
        return path

    def _may_differ(self, path: str) -> bool:
        """Whether anything of a model differs: its files, or those beside it that it names."""
        return self._old.parts(path) != self._new.parts(path) or self._differs_beside(path)

    def _differs_beside(self, path: str) -> bool:
        """Whether a file differs that is below the folder of a text, and whose name is in the text."""
        home = posixpath.dirname(path)
        beside = [each for each in self._changed if not home or each.startswith(f"{home}/")]
        if not beside or path in self._new.folders:
            return False
        self._new.fetch(self._new.parts(path), self._old)
        data = (self._new.folder / path).read_bytes()
        return any(posixpath.basename(each).encode(errors="surrogateescape") in data for each in beside)

    @cached_property
    def _changed(self) -> list[str]:
        """The files that differ, but for models and what is in their folders."""
        old, new = self._old.entries, self._new.entries
        return [path for path in {**old, **new} if old.get(path) != new.get(path) and _model_of(path) is None]

    def _moved(self, gone: Sequence[str], added: Sequence[str]) -> dict[str, str]:
        """Return the models that git takes for renamed, by most of their files, as old paths by new ones."""
        votes = Counter[tuple[str, str]]()
        for was, now in self._new.renamed_since(self._old):
            is_telling = posixpath.basename(was) not in (MANIFEST, COREMLDATA, METADATA)
            votes[_enclosing(was, gone), _enclosing(now, added)] += is_telling
        moved: dict[str, str] = {}
        for (was, now), count in votes.most_common():
            if was and now and count and now not in moved and was not in moved.values():
                moved[now] = was
        return moved

    # ---- one model

    def _reviewed(self, pair: Pair, compare: Compare) -> Reviewed:
        was = None if pair.old is None else self._said(self._old, pair.old)
        now = None if pair.new is None else self._said(self._new, pair.new)
        if pair.old is None or pair.new is None or was is None or now is None:
            return Reviewed(was, now)
        if pair.old == pair.new and not self._may_differ(pair.new):
            return Reviewed(was, now, Difference(was, now))
        try:
            models = self._opened(self._old, self._new, pair.old), self._opened(self._new, self._old, pair.new)
            return Reviewed(was, now, self._told(compare(*models), pair))
        except MiltextError as failure:
            return Reviewed(was, now, failure=self._told_failure(failure, pair))

    def _opened(self, side: Files, other: Files, path: str) -> Model:
        """Return a model whose files, and the weight files beside it that it names, are at hand."""
        side.fetch(side.parts(path), other)
        model = open_model(side.folder / path)
        if path not in side.folders:
            home = posixpath.dirname(path)
            named = {
                held.value.blobFileValue.fileName
                for each in model.programs()
                for held in blob_values(each.model.program)
            }
            beside = [posixpath.normpath(posixpath.join(home, name.removeprefix(f"{MODEL_PATH}/"))) for name in named]
            side.fetch([part for each in sorted(beside) for part in side.parts(each)], other)
        return model

    # ---- names

    def _said(self, side: Files, path: str) -> str:
        """Return what people call a path: `HEAD~:Model.mlpackage` or, in the working tree, its name from here."""
        return f"{side.label}{path}" if side.label else self._repository.name_of(path)

    def _told(self, found: Difference, pair: Pair) -> Difference:
        def told(text: str) -> str:
            return self._renamed(text, pair)

        inner = [
            each if each.difference is None else replace(each, difference=self._told(each.difference, pair))
            for each in found.models
        ]
        return replace(
            found, old=told(found.old), new=told(found.new), notes=tuple(map(told, found.notes)), models=tuple(inner)
        )

    def _told_failure(self, failure: MiltextError, pair: Pair) -> MiltextError:
        """Have an error name files as they are called in the repository."""
        if failure.path is not None:
            failure.path = self._renamed(failure.path, pair)
        failure.diagnostics = [
            each._replace(
                message=self._renamed(each.message, pair),
                notes=tuple(note._replace(message=self._renamed(note.message, pair)) for note in each.notes),
            )
            for each in failure.diagnostics
        ]
        first = failure.diagnostics[0]
        if first.code in _POINTERS:
            note = Note("of another revision: `git lfs fetch origin REVISION`, once `git lfs install` was run")
            failure.diagnostics[0] = first._replace(notes=(*first.notes, note))
        return failure

    def _renamed(self, text: str, pair: Pair) -> str:
        """Return a text with what people call paths in place of where they are."""
        for side, path in zip(self._sides, pair, strict=True):
            if path is not None:
                text = text.replace(str(side.folder / path), self._said(side, path))
            text = text.replace(f"{side.folder}/", side.label)
        return text


def _models(side: Files, path: str) -> Iterator[str]:
    """Yield the model at a path, or those below a folder; of a folder inside a model, that model."""
    if is_model(side, path):
        yield path
        return
    for each in side.below(path):
        found = _model_of(each)
        if found is not None:
            yield found


def is_model(side: Files, path: str) -> bool:
    """Whether there is a file at a path, or a folder that is opened as a model."""
    if path in side.folders or not path:
        signs = [posixpath.join(path, name) for name in (MANIFEST, TEXT, *SIGNS)]
        return path.lower().endswith(MODEL_FOLDERS) or any(
            each in side.entries or each in side.folders for each in signs
        )
    return side.has(path)


def _model_of(path: str) -> str | None:
    """Return the model that a file is or belongs to, as a search of folders finds it."""
    for each in (*parents(path), path):
        name = posixpath.basename(each)
        if name.lower().endswith(MODEL_FOLDERS):
            return each
        if name.startswith(".") or name == "node_modules":
            return None
    return path if path.lower().endswith(TEXTS) and not is_sidecar(path) else None


def _enclosing(path: str, models: Sequence[str]) -> str:
    """Return the model of a list that a file is, or is in; empty for none."""
    return next((each for each in (path, *parents(path)) if each in models), "")
