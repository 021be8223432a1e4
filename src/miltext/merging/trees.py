"""The files of a package in the three commits that git merges; a driver receives only one file of each.

A merge sets variables for its commits, and a rebase or a pick of several commits keeps a list of them. While git
applies or reverts one commit, the commit with exactly this change is used. Otherwise, the commits are known only if a
single version of the package ever had the file. Nothing is guessed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from miltext.merging.filters import NotHere, ask, write_as_checked_out
from miltext.merging.plans import OURS, chosen

Tree = dict[str, str]
"""The objects of the files in a folder, by path."""


class NotFound(Exception):
    """The commits of the merge cannot be found for certain."""


class Staged(NotFound):
    """The index has uncommitted changes of the package."""


class Trees(NamedTuple):
    """The files of one folder in the base, in ours and in theirs; `path` is the folder."""

    base: Tree
    ours: Tree
    theirs: Tree
    path: str

    @property
    def versions(self) -> tuple[Tree, Tree, Tree]:
        """The three versions."""
        return self[:3]

    def settled(self, file: str, driver: str) -> int | None:
        """Return the version of a file that git takes itself or leaves in conflict; None if git calls the driver of a
        name.
        """
        blobs = [tree.get(file) for tree in self.versions]
        if (side := chosen(blobs)) or None in blobs[1:]:
            return side or OURS
        requested = ask("check-attr", "-z", "merge", "--", str(PurePosixPath(self.path, file))).split("\0")
        return None if driver in requested[2:3] else OURS

    def write(self, folder: Path, files: Iterable[str]) -> list[Path]:
        """Write the given files of each version, if they exist, into one folder per version, as git checks them out.

        Raise NotFound for a file whose git-lfs object is not here.
        """
        written = dict[str, Path]()
        folders = [folder / name for name in self._fields[:3]]
        for path, place, tree in ((path, *each) for path in files for each in zip(folders, self.versions, strict=True)):
            blob, target = tree.get(path, ""), place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if blob in written:
                os.link(written[blob], target)
            elif blob:
                self._write(blob, path, target)
                written[blob] = target
        return folders

    def _write(self, blob: str, path: str, target: Path) -> None:
        try:
            write_as_checked_out(blob, str(PurePosixPath(self.path, path)), target)
        except NotHere as failure:
            sides = [name for name, tree in zip(self._fields, self.versions, strict=False) if tree.get(path) == blob]
            raise NotFound(f"{path} of {' and '.join(sides)}: {failure}") from failure


def trees(path: str, depth: int, files: Sequence[str]) -> Trees:
    """Return the files of the folder `depth` levels above a path, in the commits of the merge.

    The `files` are the base's, ours and theirs of that path; an empty base means that both sides added it. Raise
    NotFound.
    """
    parents = PurePosixPath(path).parents
    if len(parents) < depth:
        raise NotFound("the weight file is in no package")
    folder = "" if parents[depth - 1] == PurePosixPath() else str(parents[depth - 1])
    wanted = ask("hash-object", "--no-filters", "--", *files).split()
    return _trees(path, folder, wanted if os.path.getsize(files[0]) else ["", *wanted[1:]])


def require_same(found: Trees, file: str) -> None:
    """Raise NotFound if the driver of another file in the folder would find other trees."""
    wanted = [tree.get(file, "") for tree in found.versions]
    if _trees(str(PurePosixPath(found.path, file)), found.path, wanted) != found:
        raise NotFound("several commits fit")


def _trees(path: str, folder: str, wanted: Sequence[str]) -> Trees:
    """Return the files of a folder in the commits in which a path has these objects. Raise NotFound."""
    is_bare = ask("rev-parse", "--is-bare-repository").strip() == "true"  # which has no index
    if not is_bare and ask("diff-index", "--cached", "--name-only", "HEAD", "--", folder or "."):
        raise Staged("the index contains changes of the package")
    reported = [*_merged_heads()]
    fitting = _fitting(reported or _listed(), path, wanted)
    if not reported and not fitting:
        reported = [*_picked(path, wanted, _is_picking())]
        fitting = _fitting(reported, path, wanted)
    found = {tuple(_object(f"{commit}:{folder}") for commit in each) for each in fitting}
    if not reported and not fitting:
        found = set(product(*_folders_with(path, folder, wanted)))
    if len(found) != 1:
        raise NotFound("the merged commits cannot be determined" if not found else "several commits fit")
    base, ours, theirs = (_files(tree) if tree else {} for tree in found.pop())
    return Trees(base, ours, theirs, folder)


Commits = tuple[str, str, str]
"""The base, ours and theirs; the base may be an empty tree, or empty if it is unknown."""


def _fitting(candidates: Iterable[Commits], path: str, wanted: Sequence[str]) -> list[Commits]:
    """Return the commits in which a path has these objects; an empty object means that the path is absent."""
    known = (each for each in candidates if all(each))
    return [each for each in known if [_object(f"{commit}:{path}") for commit in each] == [*wanted]]


def _merged_heads() -> Iterator[Commits]:
    """Yield the commits of a merge, from git's variables; a base that git merged from several is not a commit."""
    heads = [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    for theirs in heads or ask("rev-parse", "--verify", "-q", "MERGE_HEAD").split():
        bases = ask("merge-base", "--all", "HEAD", theirs).split() or [_nothing()]
        yield (bases[0] if len(bases) == 1 else "", "HEAD", theirs)


def _nothing() -> str:
    """Return the tree without files."""
    return ask("hash-object", "-t", "tree", "--stdin").strip()


def _before(commit: str) -> str:
    """Return the parent of a commit, or the tree without files."""
    return _object(f"{commit}^") or _nothing()


def _listed() -> Iterator[Commits]:
    """Yield the commits of the current command in a rebase, or in a pick of several commits.

    git writes its lists before it merges: in a rebase, the command is the last one done, in a pick the first one to do.
    After a stop, another command may merge.
    """
    if any(ask("rev-parse", "--verify", "-q", head) for head in _STOPPED):
        return
    for name, place in (("rebase-merge/done", -1), ("sequencer/todo", 0)):
        path = Path(ask("rev-parse", "--git-path", name).strip())
        lines = path.read_text(errors="replace").splitlines() if path.is_file() else []
        found = _COMMAND.match(lines[place]) if lines else None
        kind, commit = found.groups() if found else ("", "")
        for parent in ask("rev-parse", f"{commit}^@").split() if commit else ():
            yield (commit, "HEAD", parent) if kind == "revert" else (parent, "HEAD", commit)


_STOPPED = ("CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD")
"""Names that git sets when it stops at a commit, and removes before it continues."""

_COMMAND = re.compile(r"(pick|revert|reword|edit|squash|fixup|[presf])\s+(?:-[cC]\s+)?([0-9a-f]+)\b")


def _is_picking() -> bool:
    """Return whether git applies or reverts commits."""
    return "GIT_REFLOG_ACTION" in os.environ or any(
        os.path.exists(ask("rev-parse", "--git-path", name).strip()) for name in _PICKING
    )


def _picked(path: str, wanted: Sequence[str], picking: bool) -> Iterator[Commits]:
    """Yield the commits that changed a file from the base to theirs: only the stash unless git is picking, which also
    allows commits with the reverse change.
    """
    which = ("--all", "--reflog") if picking else ("-g", "refs/stash")
    history = "log", *which, "--diff-merges=first-parent", "--raw", "--no-abbrev", "--no-renames", "--format=%H"
    before, after = (each or "0" * len(wanted[1]) for each in (wanted[0], wanted[2]))
    commit = ""
    for line in ask(*history, "--", path).splitlines():
        if not line.startswith(":"):
            commit = line or commit
        elif line.split()[2:4] == [before, after]:
            yield _before(commit), "HEAD", commit
        elif line.split()[2:4] == [after, before] and picking:
            yield commit, "HEAD", _before(commit)


_PICKING = ("rebase-merge", "rebase-apply", "sequencer", "CHERRY_PICK_HEAD", "REVERT_HEAD")
"""Names that exist while git applies or reverts commits, one after the other."""


def stopped_at(files: Mapping[str, Sequence[str]]) -> Commits:
    """Return the base, ours and theirs of a stopped merge, whose files are those in the index.

    Several bases count as none. Raise NotFound.
    """
    reported = [*_merged_heads(), *_stopped()]
    fitting = [each for each in reported if fits(each, files)]
    for picking in (False, True):
        if not reported and not fitting:
            changed = next(((path, wanted) for path, wanted in files.items() if wanted[0] != wanted[2]), None)
            found = _picked(*changed, picking) if changed else ()
            fitting = [each for each in found if fits(each, files)]
    if len({*fitting}) != 1:
        raise NotFound("the merged commits cannot be determined" if not fitting else "several commits fit")
    return fitting[0]


def is_named() -> bool:
    """Return whether git names the commit at which it stopped: it does so for a merge, a rebase or a pick, but not for
    a stash.
    """
    return any(_object(head) for head in ("MERGE_HEAD", *_STOPPED))


def fits(commits: Commits, files: Mapping[str, Sequence[str]]) -> bool:
    """Return whether files have these objects in commits; an unknown commit always fits."""
    there = ((commit, path, blob) for path, blobs in files.items() for commit, blob in zip(commits, blobs, strict=True))
    return all(_object(f"{commit}:{path}") == blob for commit, path, blob in there if commit)


def _stopped() -> Iterator[Commits]:
    """Yield the commits that a rebase, a pick or a revert has stopped at."""
    for head in _STOPPED:
        commit = _object(head)
        for parent in (ask("rev-parse", f"{commit}^@").split() or [_nothing()]) if commit else ():
            yield (commit, "HEAD", parent) if head == "REVERT_HEAD" else (parent, "HEAD", commit)


def files_in(commits: Commits, folder: str) -> Trees:
    """Return the files of a folder in commits."""
    found = (_object(f"{commit}:{folder}") if commit else "" for commit in commits)
    base, ours, theirs = (_files(tree) if tree else {} for tree in found)
    return Trees(base, ours, theirs, folder)


def _folders_with(path: str, folder: str, wanted: Sequence[str]) -> list[set[str]]:
    """Return for each file all folders in the history that contain it."""
    commits = ask("log", "--all", "--reflog", "--format=%H", "--full-history", "--", folder or ".").split()
    lines = "".join(f"{commit}:{name}\n" for commit in commits for name in (path, folder))
    objects = ask("cat-file", "--batch-check=%(objectname)", input=os.fsencode(lines)).split("\n")
    known = {*zip(objects[::2], objects[1::2], strict=False)}
    return [{tree for blob, tree in known if blob == each} for each in wanted]


def _object(name: str) -> str:
    return ask("rev-parse", "--verify", "-q", name).strip()


def _files(tree: str) -> Tree:
    rows = [row.partition("\t") for row in ask("ls-tree", "-r", "-z", "--full-tree", tree).split("\0") if row]
    return {path: facts.split()[2] for facts, _, path in rows}
