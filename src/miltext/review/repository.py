"""The git repository of a folder: git's output there, and the files of a revision or of the working tree.

git itself writes the files of a revision into a folder, as into a checkout: with line ends, links, and the objects of
git-lfs.
"""

from __future__ import annotations

import os
import posixpath
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import IO, NamedTuple

from miltext.diagnostics import ModelError, codes
from miltext.files.refusals import refusal

LINK, SUBMODULE = "120000", "160000"
"""git's modes for a link, and for a repository in the repository."""

_OPTIONS = {
    "core.hooksPath": os.devnull,
    "core.sparseCheckout": "false",
    "core.splitIndex": "false",
    "core.fsmonitor": "false",
}
"""The options of git's commands that write files of a revision: no file is left out, and no hook runs."""


class Repository:
    """A repository; `top` is the top of its working tree, None in a bare one.

    Raise ModelError (MIL845), in git's words, where git cannot be run or the folder is not in a repository.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.git_dir = self.ask("rev-parse", "--absolute-git-dir")
        has_files = self.ask("rev-parse", "--is-inside-work-tree") == "true"
        self.top = Path(self.ask("rev-parse", "--show-toplevel")) if has_files else None
        self._prefix = self.ask("rev-parse", "--show-prefix") if has_files else ""

    def run(self, *arguments: str, input: bytes = b"", cwd: Path | None = None, **environment: str) -> bytes:
        """Return git's output, at the top unless another folder is given. Raise ModelError (MIL845)."""
        try:
            done = subprocess.run(
                ["git", "--literal-pathspecs", *arguments],
                cwd=cwd or self._folder,
                env={**os.environ, **environment},
                input=input,
                capture_output=True,
                check=False,
            )
        except OSError as failure:
            raise refusal(codes.UNKNOWN_REVISION, f"git cannot be run: {failure.strerror}") from failure
        if done.returncode:
            said = os.fsdecode(done.stderr).split("\n")
            raise refusal(codes.UNKNOWN_REVISION, f"git refuses: {' '.join(filter(None, said)) or arguments[0]}")
        return done.stdout

    def records(self, *arguments: str) -> Iterator[str]:
        """Yield git's output at the top, cut at each NUL, as it comes; git ends with the generator.

        Raise ModelError (MIL845).
        """
        with subprocess.Popen(
            ["git", "--literal-pathspecs", *arguments],
            cwd=self.top or self.git_dir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            try:
                yield from _cut(running.stdout)
            except BaseException:
                running.kill()
                raise
            said = os.fsdecode(running.stderr.read()).split("\n")
            if running.wait():
                raise refusal(codes.UNKNOWN_REVISION, f"git refuses: {' '.join(filter(None, said)) or arguments[0]}")

    def ask(self, *arguments: str) -> str:
        """Return git's output, in one line."""
        return os.fsdecode(self.run(*arguments)).removesuffix("\n")

    def path_of(self, name: str) -> str:
        """Return the path of a file or folder from the top, which is empty for the top itself.

        Raise ModelError (MIL846) for a path outside.
        """
        path = posixpath.normpath(posixpath.join(self._prefix, name.replace(os.sep, "/")))
        if os.path.isabs(name):
            there = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(name))), os.path.basename(name))
            path = Path(os.path.relpath(there, os.path.realpath(self.top or self.git_dir))).as_posix()
        if path.split("/")[0] in ("..", ""):
            raise refusal(codes.FILE_IN_NO_REVISION, "this is outside the repository", name)
        return "" if path == "." else path

    def name_of(self, path: str) -> str:
        """Return the name of a path, relative to the folder where the search for the repository began."""
        return posixpath.relpath(path or ".", self._prefix or ".")

    def tree_of(self, revision: str) -> str:
        """Return the tree of a revision. Raise ModelError (MIL845) where there is none of that name."""
        with suppress(ModelError):
            if not revision.startswith("-"):
                return self._peeled(revision, "tree")
        a_file = (
            f"; for the file, write `miltext diff --git HEAD {revision}`"
            if os.path.exists(self._folder / revision)
            else ""
        )
        raise refusal(codes.UNKNOWN_REVISION, f"`{revision}` is not a revision of this repository{a_file}")

    @cached_property
    def empty_tree(self) -> str:
        """The name of a tree without files."""
        return self.ask("hash-object", "-t", "tree", "--stdin")

    def names_commits(self, words: str) -> bool:
        """Return whether words in git's syntax name commits: a revision, or a range of them."""
        with suppress(ModelError):
            return not words.startswith("-") and bool(self.ask("rev-list", "--max-count=1", words, "--"))
        return False

    def base_of(self, one: str, other: str) -> str:
        """Return the last common commit of two revisions: `one` if it is that commit, otherwise a short hash.

        Raise ModelError (MIL845) without a common commit.
        """
        for revision in (one, other):
            self.tree_of(revision)
        with suppress(ModelError):
            base = self.ask("merge-base", one, other)
            return one if base == self._peeled(one, "commit") else self.ask("rev-parse", "--short", base)
        raise refusal(codes.UNKNOWN_REVISION, f"`{one}` and `{other}` have no commit in common")

    def _peeled(self, revision: str, kind: str) -> str:
        """Return the object of this kind that a revision names. Raise ModelError."""
        found = self.ask("rev-parse", "--verify", "--quiet", revision)  # of `:/text`, all is text
        return self.ask("rev-parse", "--verify", "--quiet", f"{found}^{{{kind}}}")


class TreeEntry(NamedTuple):
    """git's entry at a path: the mode, and the name of the object."""

    mode: str
    object: str


class RepositoryFiles(ABC):
    """The files of a repository at one time, as `entries` by path from the top.

    They are below `folder`, once they have been fetched. `label` comes before a path, as in `HEAD~:Model.mlpackage`;
    it is empty for the working tree. `title` is their name for people, `tree` the name of that object, if there is one.
    """

    def __init__(self, repository: Repository, label: str, title: str, folder: Path, tree: str | None = None) -> None:
        self._repository = repository
        self.label = label
        self.title = title
        self.folder = folder
        self.tree = tree

    @property
    @abstractmethod
    def entries(self) -> Mapping[str, TreeEntry]:
        """The entries in git. Raise ModelError (MIL845) for an index with conflicts."""

    @cached_property
    def folders(self) -> set[str]:
        """All folders that files are in, the top too."""
        return {"", *(parent for path in self.entries for parent in parents(path))}

    def has(self, path: str) -> bool:
        """Return whether there is a file or folder at a path, perhaps behind links."""
        return path in self.entries or path in self.folders or bool(self.parts(path))

    def below(self, path: str) -> list[str]:
        """Return the files below a folder."""
        return [each for each in self.entries if not path or each.startswith(f"{path}/")]

    def parts(self, path: str) -> dict[str, TreeEntry]:
        """Return the file at a path, or the files below it, with all links on the way and their targets."""
        found: dict[str, TreeEntry] = {}
        todo, seen = [path], set[str]()
        while todo:
            path = todo.pop()
            if path in seen:
                continue
            seen.add(path)
            here = [each for each in (*parents(path), path) if each in self.entries]
            here += self.below(path) if path in self.folders else []
            for each in here:
                found[each] = self.entries[each]
                if self.entries[each].mode == LINK:
                    rest = path[len(each) :] if path.startswith(f"{each}/") else ""
                    todo.append(posixpath.normpath(posixpath.join(posixpath.dirname(each), self.target(each) + rest)))
        return found

    @abstractmethod
    def target(self, path: str) -> str:
        """Return the target of a link."""

    def renamed_since(self, old: RepositoryFiles) -> Iterator[tuple[str, str]]:
        """Yield the old and the new path of each file that, for git, was renamed since a tree."""
        assert old.tree is not None
        options = "-M", "-r", "-z", "--name-status", "--diff-filter=R"
        listed = self._repository.run(*self._since(options, old.tree), cwd=self._repository.top)
        words = iter(os.fsdecode(listed).split("\0")[:-1])
        yield from ((was, now) for _, was, now in zip(words, words, words, strict=True))

    @abstractmethod
    def _since(self, options: tuple[str, ...], tree: str) -> list[str]:
        """Return the words for git that compare a tree with these files."""

    @abstractmethod
    def fetch(self, paths: Iterable[str], other: RepositoryFiles) -> None:
        """Fetch these files below `folder`; a file that `other` has as well is taken from there."""


class Snapshot(RepositoryFiles):
    """The files of a tree, or of the index where `tree` is None; they are fetched into a folder of their own."""

    def __init__(self, repository: Repository, label: str, tree: str | None, folder: Path) -> None:
        super().__init__(repository, f"{label}:", label or "the index", folder / "files", tree)
        self._index = folder / "index"
        self.folder.mkdir(parents=True)

    @cached_property
    def entries(self) -> Mapping[str, TreeEntry]:
        if self.tree is not None:
            self._run("read-tree", self.tree)
        else:
            staged = _staged(self._repository)
            for path, _, stage in _rows(staged):
                if stage != "0":
                    raise refusal(codes.UNKNOWN_REVISION, f"the index has conflicts at `{path}`")
            self._run("update-index", "-z", "--index-info", input=staged)
        return {path: entry for path, entry, _ in _rows(self._run("ls-files", "-z", "--stage"))}

    def target(self, path: str) -> str:
        return os.fsdecode(self._run("cat-file", "blob", self.entries[path].object))

    def fetch(self, paths: Iterable[str], other: RepositoryFiles) -> None:
        alike = _attributes(self) == _attributes(other)
        wanted = [path for path in paths if path in self.entries and not os.path.lexists(self.folder / path)]
        left = [path for path in wanted if not (alike and self._share(path, other))]
        if left:
            self._run("checkout-index", "-z", "--stdin", input=b"".join(os.fsencode(path) + b"\0" for path in left))

    def _since(self, options: tuple[str, ...], tree: str) -> list[str]:
        return ["diff-tree", *options, tree, self.tree] if self.tree else ["diff-index", "--cached", *options, tree]

    def _share(self, path: str, other: RepositoryFiles) -> bool:
        """Link a file to the other side's file of the same object, if it can be linked."""
        entry, there = self.entries[path], other.folder / path
        if other.entries.get(path) != entry or entry.mode in (LINK, SUBMODULE) or not os.path.isfile(there):
            return False
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # as of another file system
            os.link(there, self.folder / path, follow_symlinks=False)
            return True
        return False

    def _run(self, *arguments: str, input: bytes = b"") -> bytes:
        options = [word for key, said in _OPTIONS.items() for word in ("-c", f"{key}={said}")]
        places = {"GIT_DIR": self._repository.git_dir, "GIT_WORK_TREE": str(self.folder)}
        return self._repository.run(
            *options, *arguments, input=input, cwd=self.folder, GIT_INDEX_FILE=str(self._index), **places
        )


class WorkingTree(RepositoryFiles):
    """The files as they are now, without ignored ones. Raise ModelError (MIL845) in a bare repository."""

    def __init__(self, repository: Repository) -> None:
        if repository.top is None:
            raise refusal(
                codes.UNKNOWN_REVISION, "this repository is bare: there is no working tree to compare a revision with"
            )
        super().__init__(repository, "", "the working tree", repository.top)

    @cached_property
    def entries(self) -> Mapping[str, TreeEntry]:
        found = {path: entry for path, entry, _ in _rows(_staged(self._repository))}
        changed = self._names("diff-files", "-z", "--name-only")
        for path in [*changed, *self._names("ls-files", "-z", "--others", "--exclude-standard")]:
            mode = found[path].mode if path in found else ""
            if os.path.islink(self.folder / path):
                found[path] = TreeEntry(LINK, "")
            elif os.path.isfile(self.folder / path) or mode == SUBMODULE:
                found[path] = TreeEntry("100644" if mode in (LINK, "") else mode, "")
            else:
                found.pop(path, None)
        return found

    def target(self, path: str) -> str:
        return os.readlink(self.folder / path)

    def fetch(self, paths: Iterable[str], other: RepositoryFiles) -> None:
        """Leave the files where they are."""

    def _since(self, options: tuple[str, ...], tree: str) -> list[str]:
        return ["diff-index", *options, tree]

    def _names(self, *arguments: str) -> list[str]:
        return os.fsdecode(self._repository.run(*arguments, cwd=self.folder)).split("\0")[:-1]


def parents(path: str) -> Iterator[str]:
    """Yield the folders of a path, the outermost first; not the top."""
    for index, letter in enumerate(path):
        if letter == "/":
            yield path[:index]


def _cut(stream: IO[bytes]) -> Iterator[str]:
    """Yield the parts of a stream, each ended by a NUL, as they come."""
    left = b""
    while data := stream.read1(1 << 16):  # type: ignore[attr-defined]
        *whole, left = (left + data).split(b"\0")
        yield from map(os.fsdecode, whole)


def _staged(repository: Repository) -> bytes:
    return repository.run("ls-files", "-z", "--stage", cwd=repository.top)


def _rows(listing: bytes) -> Iterator[tuple[str, TreeEntry, str]]:
    """Yield the path, the entry and the stage of each row that `git ls-files --stage` lists."""
    for row in os.fsdecode(listing).split("\0")[:-1]:
        facts, _, path = row.partition("\t")
        mode, name, stage = facts.split(" ")
        yield path, TreeEntry(mode, name), stage


def _attributes(files: RepositoryFiles) -> dict[str, TreeEntry]:
    """Return the `.gitattributes` files, by which git writes other files."""
    return {path: entry for path, entry in files.entries.items() if path.endswith(".gitattributes")}
