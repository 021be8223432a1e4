"""The history of a model in a git repository: for each commit that changes its files, the difference."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import MiltextError, codes
from miltext.files.interrupts import ended_by_signals
from miltext.files.refusals import refusal
from miltext.review.repository import Repository, Snapshot
from miltext.review.revisions import Review, is_model, named_beside

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference
    from miltext.models.model import Model

_FIELDS = ("%H", "%h", "%P", "%aI", "%an", "%s")
"""git's placeholders for the facts of a commit, one a line."""

_OPTIONS = ("-c", "log.showSignature=false", "-c", "log.follow=false", "log", "-z", "--no-color", "--encoding=UTF-8")
_LISTING = (*_OPTIONS, "--no-patch", f"--format={'%n'.join(_FIELDS)}")
"""The words with which git lists commits, whatever its configuration."""

ADDED, REMOVED, CHANGED, UNREADABLE = "added", "removed", "changed", "unreadable"
"""The states of a commit: the model is only in it, only before it, in both, or cannot be compared."""


class Commit(NamedTuple):
    """The facts of a commit: its full and its short name, its parents' names, the author's date and name, and the
    subject.
    """

    name: str
    short: str
    parents: tuple[str, ...]
    date: str
    author: str
    subject: str

    @property
    def parent(self) -> str | None:
        """The first parent; None for a commit without parents."""
        return self.parents[0] if self.parents else None


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """A commit, and its effect on a model: `status` is one of the states above, `path` the model's path in the commit
    and `old_path` the path before it, from the top of the repository, None where it does not exist.

    `difference` is of a changed model, `facts` are of an added one, `problem` is the reason why a model cannot be read,
    and `moved_to` the new path of a model that was renamed away. `is_first` is true if no commit before it has the
    model, `is_cut` if the clone is shallow and begins here.
    """

    commit: Commit
    status: str
    path: str | None
    old_path: str | None
    difference: Difference | None = None
    facts: ModelFacts | None = None
    problem: MiltextError | None = None
    moved_to: str | None = None
    is_first: bool = False
    is_cut: bool = False


class ModelFacts(NamedTuple):
    """The type of a model, its number of models if it is a pipeline, its number of operations, and the bytes of its
    weights, each stored one once.
    """

    type: str
    models: int
    operations: int
    bytes: int


class _Place(NamedTuple):
    """A path of the model, and the paths of files beside it that its text names, from the top."""

    path: str
    beside: tuple[str, ...] = ()


class History:
    """The commits that change a model; its old paths are followed through renames.

    Raise ModelError for a folder outside of a repository (MIL845), and for a path that no commit has (MIL846).
    """

    def __init__(self, folder: Path, name: str, revisions: str, *, first_parent: bool = False) -> None:
        self._repository = Repository(folder)
        self._name = name
        self._revisions = revisions or "HEAD"
        self._options = ["--first-parent"] * first_parent
        self._places = [_Place(self._repository.path_of(name))]
        if not self._repository.names_commits(self._revisions):
            self._require_commits()
        self._tip = self._revisions.rpartition("..")[2] or "HEAD"
        self._require_known()

    def _require_commits(self) -> None:
        """Raise ModelError (MIL845) for a word other than a revision; a range may be empty."""
        for each in self._revisions.replace("...", "..").split(".."):
            self._repository.tree_of(each or "HEAD")

    def _require_known(self) -> None:
        """Raise ModelError (MIL846) for a path that no commit has, and for the repository itself."""
        path = self._places[0].path
        if not path or next(self._listed(self._tip, [path], "--max-count=1"), None) is None:
            what = "this is not in git yet: commit it first" if self._is_there(path) else "no commit has such a file"
            raise refusal(codes.FILE_IN_NO_REVISION, what if path else "this is a repository: name a model", self._name)

    def _is_there(self, path: str) -> bool:
        return self._repository.top is not None and (self._repository.top / path).exists()

    def name_of(self, path: str) -> str:
        """Return the name of a path, relative to the folder where the search for the repository began."""
        return self._repository.name_of(path)

    # ---- which commits

    def entries(self) -> Generator[HistoryEntry, None, None]:
        """Yield the commits in git's order, each with its difference, on demand.

        A merge is compared with its first parent. git lists it only if the model differs from each parent's.
        """
        self._look_at_newest()
        seen: set[str] = set()
        last = ""
        while True:
            known = len(self._paths())
            for commit in self._since(last):
                if commit.name in seen:
                    continue
                seen.add(commit.name)
                last = commit.name
                entry = self._entry(commit)
                if entry is not None:
                    yield entry
                if len(self._paths()) > known:
                    break  # the older commits may change files known from now on
            else:
                return

    def _look_at_newest(self) -> None:
        """Note the weight files that the newest version names: they may be newer than its text.

        Raise ModelError (MIL846) for a folder without a model.
        """
        path = self._places[0].path
        for commit in self._listed(self._tip, [path], "--max-count=1"):
            with self._review(commit) as review:
                old, new = review.sides
                side = new if new.has(path) else old
                if not is_model(side, path):
                    raise refusal(
                        codes.FILE_IN_NO_REVISION, "this folder is not a model: name a model in it", self._name
                    )
                self._note_beside(review, path, old=side is old)

    def _since(self, last: str) -> Iterator[Commit]:
        """Yield the commits that change the known paths, after a listed one."""
        found = self._listed(self._revisions, self._paths(), *self._options)
        if last:
            for commit in found:
                if commit.name == last:
                    break
        yield from found

    def _listed(self, revisions: str, paths: Sequence[str], *options: str) -> Iterator[Commit]:
        for record in self._repository.records(*_LISTING, *options, revisions, "--", *paths):
            name, short, parents, date, author, subject = record.split("\n", 5)
            yield Commit(name, short, tuple(parents.split()), date, author, subject)

    def _paths(self) -> list[str]:
        return [*dict.fromkeys(path for place in self._places for path in (place.path, *place.beside))]

    # ---- one commit

    def _entry(self, commit: Commit) -> HistoryEntry | None:
        """Return the change of a commit; None if the model is neither in it nor before it, or has the same files."""
        with self._review(commit) as review:
            old, new = review.sides
            now = next((each.path for each in self._places if new.has(each.path)), None)
            was = next((each.path for each in self._places if old.has(each.path)), None)
            if now is not None and now != was and not old.has(now):
                was = review.origin(now) or (None if was is None or new.has(was) else was)
            if was is not None:
                self._note(was)
            if now is None:
                return None if was is None else self._removed(commit, review, was)
            return self._added(commit, review, now) if was is None else self._changed(commit, review, was, now)

    def _removed(self, commit: Commit, review: Review, was: str) -> HistoryEntry:
        self._note_beside(review, was, old=True)
        return HistoryEntry(commit, REMOVED, None, was, moved_to=review.destination(was))

    def _added(self, commit: Commit, review: Review, now: str) -> HistoryEntry:
        try:
            facts = model_facts(review.opened(now))
        except MiltextError as failure:
            return HistoryEntry(commit, UNREADABLE, now, None, problem=failure)
        is_cut = commit.parent is None and commit.name in self._shallow()
        return HistoryEntry(commit, ADDED, now, None, facts=facts, is_first=not self._is_before(commit), is_cut=is_cut)

    def _changed(self, commit: Commit, review: Review, was: str, now: str) -> HistoryEntry | None:
        try:
            found = review.change(was, now, _compared)
        except MiltextError as failure:
            self._note_beside(review, was, old=True)
            return HistoryEntry(commit, UNREADABLE, now, was, problem=failure)
        if found is None:
            return None
        self._note_beside(review, was, old=True)
        return HistoryEntry(commit, CHANGED, now, was, found)

    def _note_beside(self, review: Review, path: str, *, old: bool) -> None:
        """Note the weight files that a model in a single file names, if it can be read."""
        if path not in review.sides[not old].folders:
            with suppress(MiltextError):
                self._note(path, *named_beside(review.opened(path, old=old), path))

    def _note(self, path: str, *beside: str) -> None:
        """Note a path of the model, the newest first, and files beside it."""
        for index, place in enumerate(self._places):
            if place.path == path:
                self._places[index] = _Place(path, tuple(dict.fromkeys((*place.beside, *beside))))
                return
        self._places.append(_Place(path, beside))

    def _is_before(self, commit: Commit) -> bool:
        """Return whether a commit before this one has the model at a known path."""
        before = (self._listed(parent, self._paths(), "--max-count=1") for parent in commit.parents)
        return any(next(found, None) is not None for found in before)

    def _shallow(self) -> set[str]:
        """Return the commits at which a shallow clone begins."""
        with suppress(OSError):
            path = Path(self._repository.ask("rev-parse", "--path-format=absolute", "--git-path", "shallow"))
            return {*path.read_text().split()}
        return set()

    @contextmanager
    def _review(self, commit: Commit) -> Iterator[Review]:
        """Yield the review of a commit and its first parent, whose files are removed at the end."""
        repository = self._repository
        old = repository.empty_tree if commit.parent is None else repository.tree_of(commit.parent)
        made = TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True)
        with ended_by_signals(), made as place:
            folder = Path(place).resolve()
            before = Snapshot(repository, f"{commit.short}^", old, folder / "old")
            after = Snapshot(repository, commit.short, repository.tree_of(commit.name), folder / "new")
            yield Review(repository, before, after)


def _compared(old: Model, new: Model) -> Difference:
    from miltext.diffing import diff

    return diff(old, new)


def model_facts(model: Model) -> ModelFacts:
    """Return the facts of a model to report of its first version."""
    from miltext.schema.walk import operations

    programs = [stage.model for stage in model.programs()]
    counted: set[tuple[object, ...]] = set()
    size = 0
    for index, each in enumerate(programs):
        for weight in each.weights.entries.values():
            place = (weight.blob.fileName, weight.blob.offset) if weight.blob else (index, id(weight.value))
            size += weight.size if place not in counted else 0
            counted.add(place)
    count = sum(1 for each in programs for _ in operations(each.program))
    return ModelFacts(model.type, len(model.models) if model.is_pipeline else 0, count, size)
