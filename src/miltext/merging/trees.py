"""The files of a package in the three commits that git merges, which tells a driver nothing but one file of each.

The commits are found by what git has of them: the branches that are merged, or the commits in whose history a file
became what it is. A guess is not taken: all that fit have to have the same files.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

Tree = dict[str, str]
"""The objects of a folder's files, by their paths in it."""


class NotFound(Exception):
    """The commits that are merged cannot be told for certain."""


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
        """Return which of the versions git takes of a file by itself, or leaves in a conflict; None if it asks the
        driver of a name.
        """
        base, ours, theirs = (tree.get(file) for tree in self.versions)
        if base == ours != theirs:
            return 2
        if theirs in (ours, base) or None in (base, ours, theirs):
            return 1
        asked = _git("check-attr", "-z", "merge", "--", f"{self.path}/{file}").split("\0")
        return None if driver in asked[2:3] else 1

    def write(self, folder: Path) -> list[Path]:
        """Write the files of each version into a folder of its own."""
        made = list[Path]()
        for name, tree in zip(self._fields, self.versions, strict=False):
            for path, blob in tree.items():
                target = folder / name / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(target, "wb") as file:
                    subprocess.run(["git", "cat-file", "blob", blob], stdout=file, check=True)
            made.append(folder / name)
        return made


def trees(path: str, depth: int, files: Sequence[str]) -> Trees:
    """Return the files of the folder that a path is in, `depth` folders up, in the commits that are merged.

    The `files` are the base's, ours and theirs of that path. Raise NotFound.
    """
    wanted = _git("hash-object", "--no-filters", "--", *files).split()
    found = dict[str, Trees]()
    for commits in _candidates(path, wanted):
        if all(_object(commit, path) == blob for commit, blob in zip(commits, wanted, strict=True)):
            folder = str(PurePosixPath(path).parents[depth - 1])
            base, ours, theirs = (_files(commit, folder) for commit in commits)
            listed = Trees(base, ours, theirs, folder)
            found[str(listed)] = listed
    if len(found) != 1:
        raise NotFound("git does not tell which commits are merged" if not found else "several commits fit")
    return next(iter(found.values()))


def _candidates(path: str, wanted: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the commits that may be merged, as base, ours and theirs."""
    heads = [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    for theirs in [*heads, *_git("rev-parse", "--verify", "-q", "MERGE_HEAD").split()]:
        for base in _git("merge-base", "--all", "HEAD", theirs).split():
            yield base, "HEAD", theirs
    if heads:
        return
    history = "log", "--all", "--reflog", "--diff-merges=first-parent", "--raw", "--no-abbrev", "--no-renames"
    commit = ""
    for line in _git(*history, "--format=%H", "--", path).splitlines():
        if not line.startswith(":"):
            commit = line or commit
        elif line.split()[2:4] == [wanted[0], wanted[2]]:
            yield f"{commit}^", "HEAD", commit
        elif line.split()[2:4] == [wanted[2], wanted[0]]:
            yield commit, "HEAD", f"{commit}^"


def _object(commit: str, path: str) -> str:
    return _git("rev-parse", "--verify", "-q", f"{commit}:{path}").strip()


def _files(commit: str, folder: str) -> Tree:
    listed = _git("ls-tree", "-r", "-z", "--full-tree", f"{commit}:{folder}").split("\0")
    rows = [row.partition("\t") for row in listed if row]
    return {path: facts.split()[2] for facts, _, path in rows}


def _git(*arguments: str) -> str:
    """Return what git answers; nothing where it refuses."""
    done = subprocess.run(["git", "--literal-pathspecs", *arguments], capture_output=True, check=False)
    return os.fsdecode(done.stdout) if done.returncode == 0 else ""
