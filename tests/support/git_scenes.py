"""Packages that two branches edited at random, merged by the real git, and what is to hold of all that is left behind.

Each weight is looked up by a reader of the tests' own, which knows of nothing but coremltools' messages.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from math import prod
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from support.commands import miltext
from support.new_findings import new_findings, original_findings
from support.package_versions import (
    FIRST,
    OTHER,
    SECOND,
    Edit,
    authored,
    exported_again,
    in_two_files,
    laid_anew,
    rewritten,
    sigmoid,
    tanh,
)
from support.repositories import EXAMPLE

PACKAGE = "Model.mlpackage"
COMMANDS = ("merge", "rebase", "cherry-pick", "stash")


def biased(package: Path) -> None:
    """Change a number in the program."""
    rewritten(package, "-0x1.07cp-2", "0x1p-3")


EDITS: tuple[Edit, ...] = (
    *(tanh, sigmoid, biased, FIRST, SECOND, OTHER, laid_anew, in_two_files),
    *(authored("a"), authored("b"), exported_again(1), exported_again(2)),
)

_RECORD = struct.Struct("<IIQQ")
_SENTINEL = 0xDEADBEEF
_BITS = {1: 16, 2: 32, 3: 8, 4: 8, 5: 16, 6: 16, 7: 16, 8: 4, 9: 2, 10: 1, 11: 3, 12: 6, 13: 32, 14: 32, 15: 4}
"""The bits of an element, by the number that a record has for its type: MILBlob's BlobDataType."""

_FP16 = {"FLOAT16": 1, "FLOAT32": 2, "UINT8": 3, "INT8": 4}
"""Numbers of records by the data types of MIL that the example has, or that it may get."""


def records(package: Path) -> int:
    """Return how many weights a package's programs name. Raise AssertionError for one whose record is not there, or is
    of another type or size.
    """
    from coremltools.proto import MIL_pb2, Model_pb2

    model = package / "Data" / "com.apple.CoreML" / "model.mlmodel"
    spec = Model_pb2.Model.FromString(model.read_bytes())
    count = 0
    for value in _values(spec):
        name = value.blobFileValue.fileName.replace("@model_path", str(model.parent))
        data = Path(name).read_bytes()
        sentinel, number, size, start = _RECORD.unpack_from(data, value.blobFileValue.offset)
        declared = value.type.tensorType
        elements = prod(each.constant.size for each in declared.dimensions)
        assert sentinel == _SENTINEL, (name, value.blobFileValue.offset)
        assert number == _FP16[MIL_pb2.DataType.Name(declared.dataType)], (name, value.blobFileValue.offset)
        assert size * 8 == elements * _BITS[number], (name, value.blobFileValue.offset)
        assert start + size <= len(data), name
        count += 1
    return count


def _values(message: Any) -> Any:
    """Yield all values of a message that are in weight files."""
    if message.DESCRIPTOR.full_name.endswith("MILSpec.Value") and message.WhichOneof("value") == "blobFileValue":
        yield message
    for field, held in message.ListFields():
        if field.message_type is None:
            continue
        if field.message_type.GetOptions().map_entry:
            inner = field.message_type.fields_by_name["value"]
            each = [held[key] for key in held] if inner.message_type is not None else []
        else:
            each = [*held] if hasattr(held, "append") or hasattr(held, "extend") else [held]
        for one in each:
            yield from _values(one)


def require_sound(package: Path, kind: str = "mlProgram", weights: int = 2, *, flaw: str = "") -> None:
    """Raise AssertionError for a package that coremltools does not open, in which `check` finds more than the `flaw` of
    its side, or whose weights are not where its program has them.
    """
    from coremltools.models import MLModel

    spec = MLModel(str(package), skip_model_load=True).get_spec()
    assert spec.WhichOneof("Type") == kind
    found = new_findings(original_findings(EXAMPLE), package)
    assert {each.code for each in found} - {flaw} == set(), found
    assert records(package) == weights


class Scene(NamedTuple):
    """How a pair of edits is merged: by which of git's commands, with git-lfs, and where git knows a committer."""

    seed: int
    command: str
    lfs: bool
    identity: bool

    @classmethod
    def of(cls, seed: int) -> Scene:
        """Return the scene of a seed: sixteen of them have each combination once."""
        return cls(seed, COMMANDS[seed % 4], seed // 4 % 2 == 1, seed // 8 % 2 == 1)

    def __str__(self) -> str:
        words = self.command, "git-lfs" if self.lfs else "no git-lfs", "identity" if self.identity else "no identity"
        return f"seed {self.seed}, {', '.join(words)}"


NO_COMMITTER = "no email was given"
EMPTY = "is now empty"
"""What git says where it refuses to commit, and where a picked change is there already."""

AUTHOR = {
    f"GIT_{role}_{key}": said for role in ("AUTHOR", "COMMITTER") for key, said in (("NAME", "a"), ("EMAIL", "a@b"))
}


class Checkout:
    """A repository in a folder, with git set up for models there and with a home that has nothing."""

    def __init__(self, folder: Path, identity: bool) -> None:
        self.folder = folder
        self.package = folder / PACKAGE
        home = folder.parent / "home"
        home.mkdir(exist_ok=True)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "XDG_"))},
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_EDITOR": "true",
            "GIT_PAGER": "cat",
        }
        self.author = AUTHOR
        if identity:
            self.environment.update(AUTHOR)

    def run(self, *words: str, known: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command; with `known`, git knows who commits."""
        return subprocess.run(
            words,
            cwd=self.folder,
            env={**self.environment, **(self.author if known else {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=600,
        )

    def git(self, *words: str, known: bool = True) -> str:
        done = self.run("git", *words, known=known)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def ended(self, *words: str) -> tuple[int, str]:
        """Run the command in this process, as if in the folder; return its status and what it says of errors."""
        outside = os.environ.keys() - self.environment.keys()
        environment: dict[str, Any] = {**dict.fromkeys(outside), **self.environment}
        done = miltext(*words, cwd=self.folder, **environment)
        return done.returncode, done.stderr.decode(errors="replace")

    def miltext(self, *words: str, status: int = 0) -> str:
        found, said = self.ended(*words)
        assert found == status, (words, said)
        return said

    def set_up(self, lfs: bool) -> None:
        """Make the repository, without the package."""
        self.folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.useConfigOnly", "true")
        self.git("config", "core.autocrlf", "false")
        if lfs:
            self.git("lfs", "install", "--local")
            patterns = ("*.mlmodel", "*.bin")
            (self.folder / ".gitattributes").write_text("".join(f"{each} filter=lfs -text\n" for each in patterns))
        (self.folder / "notes").write_text("none\n")
        self.commit()
        done = self.run(sys.executable, "-m", "miltext", "git", "setup")  # git is to start what starts this
        assert done.returncode == 0, done.stderr

    def commit(self) -> None:
        self.git("add", "-A", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "change")

    def edit(self, edits: Sequence[Edit]) -> None:
        """Make the package, or change it."""
        if not self.package.exists():
            shutil.copytree(EXAMPLE, self.package)
        for each in edits:
            each(self.package)

    @property
    def unmerged(self) -> str:
        return self.git("ls-files", "-u")

    def merge(self, ours: Sequence[Edit], theirs: Sequence[Edit], *, added: bool = False) -> str:
        """Have two branches edit the package, or add it, and merge one into the other; return what git says."""
        if not added:
            self.edit([])
            self.commit()
        for name, edits in (("theirs", theirs), ("ours", ours)):
            self.git("checkout", "-q", "-B", name, "main")
            self.edit(edits)
            self.commit()
        done = self.run("git", "merge", "--no-edit", "theirs")
        return done.stdout + done.stderr

    @property
    def text(self) -> Path:
        """The text with the conflicts of the package."""
        return self.folder / f"{PACKAGE}.conflict.mil"

    def take_in_text(self, *sides: int) -> None:
        """Take these sides of the conflicts in the text, the last of them in all others: 1 is ours, 2 theirs."""
        left = [*sides]
        pattern = r"<{7}[^\n]*\n(.*?)={7}\n(.*?)>{7}[^\n]*\n"

        def taken(found: re.Match[str]) -> str:
            return found[left.pop(0) if len(left) > 1 else left[0]]

        self.text.write_text(re.sub(pattern, taken, self.text.read_text(), flags=re.DOTALL))

    def resolve(self, *words: str, status: int = 0) -> str:
        return self.miltext("merge", "--resolve", *words, status=status)


def held(scene: Scene, folder: Path, template: Path) -> str:
    """Merge packages edited at random as a scene says, resolved both ways if in conflict, and return how it ended.

    `template` is a repository without the package. Raise AssertionError where a package that is left is not sound, or
    is not all of the side that was asked for.
    """
    shutil.copytree(template, folder / "repository")
    checkout = Checkout(folder / "repository", scene.identity)
    random = Random(scene.seed)
    ours, theirs = ([*_fitting(random.sample(EDITS, random.randrange(1, 4)))] for _ in range(2))
    is_added = random.randrange(4) == 0 and scene.command != "stash"
    if not is_added:
        checkout.edit([])
        checkout.commit()
    sides = _branches(checkout, scene, ours, theirs)
    done = _merged(checkout, scene)
    if done.returncode and NO_COMMITTER in done.stderr:
        done = _with_committer(checkout, scene)
    shown = checkout.run("git", "diff", "HEAD~"), checkout.run("git", "log", "-p", "-2")
    assert [each.returncode for each in shown] == [0, 0], [each.stderr for each in shown]
    if not checkout.unmerged:
        if checkout.package.exists():
            require_sound(checkout.package)
        assert done.returncode == 0 or EMPTY in done.stderr, done.stderr
        return "merged" if done.returncode == 0 else "nothing left to pick"
    if "to neither side" not in done.stderr:
        require_sound(checkout.package)
    for number, (side, commit) in enumerate(sides.items()):
        _resolved(checkout, scene, folder / str(number), side, commit)
    if (checkout.folder / f"{PACKAGE}.conflict.mil").exists():
        _edited(checkout, random)
    return "resolved"


def _fitting(edits: list[Edit]) -> list[Edit]:
    """Leave out edits that do not find what another one changed."""
    return [each for each in edits if getattr(each, "__name__", "") != "sigmoid" or tanh not in edits]


def _branches(checkout: Checkout, scene: Scene, ours: list[Edit], theirs: list[Edit]) -> dict[str, str]:
    """Make a branch of each side and be on that which is merged into; return the commit of each side's package."""
    for name, edits in (("theirs", theirs), ("ours", ours)):
        checkout.git("checkout", "-q", "-B", name, "main")
        checkout.edit(edits)
        if (name, scene.command) == ("theirs", "stash"):
            checkout.git("add", "-A")  # files that are not tracked are no part of a stash
            checkout.git("stash", "-q")
        else:
            checkout.commit()
    if scene.command == "rebase":  # picks ours onto theirs, which is what git calls ours then
        return {"ours": "theirs", "theirs": "ours"}
    return {"ours": "ours", "theirs": "stash@{0}" if scene.command == "stash" else "theirs"}


def _merged(checkout: Checkout, scene: Scene, known: bool = False) -> subprocess.CompletedProcess[str]:
    later = () if scene.identity else ("--no-commit",)
    words = {
        "merge": ("merge", *(later or ("--no-edit",)), "theirs"),
        "rebase": ("rebase", "theirs"),
        "cherry-pick": ("cherry-pick", *later, "theirs"),
        "stash": ("stash", "pop"),
    }[scene.command]
    return checkout.run("git", *words, known=known)


def _with_committer(checkout: Checkout, scene: Scene) -> subprocess.CompletedProcess[str]:
    """Merge again what git refuses where it knows no committer; all that comes after is done without one again.

    git asks for its committer before it merges, or after the first commit that it picks; what it leaves is sound.
    """
    if (checkout.folder / ".git" / "rebase-merge").exists():
        require_sound(checkout.package)
        checkout.git("rebase", "--abort")
    left = checkout.git("status", "--porcelain")
    assert left == "", left
    return _merged(checkout, scene, known=True)


def _resolved(checkout: Checkout, scene: Scene, folder: Path, side: str, commit: str) -> None:
    """Resolve a copy of a repository with one side; the package is all of that then, and git knows it."""
    shutil.copytree(checkout.folder, folder / "repository")
    copy = Checkout(folder / "repository", scene.identity)
    copy.miltext("merge", "--resolve", side, PACKAGE)
    assert copy.unmerged == ""
    copy.git("diff", "--cached", "--exit-code", "--raw", "--no-textconv", commit, "--", PACKAGE)
    assert copy.git("status", "--porcelain", "--", PACKAGE).count("??") == 0
    assert copy.git("diff", "--raw", "--no-textconv", "--", PACKAGE) == ""
    require_sound(copy.package)


def _edited(checkout: Checkout, random: Random) -> None:
    """Resolve each conflict of the text with one of its sides, that around the program with the same for all."""
    path = checkout.folder / f"{PACKAGE}.conflict.mil"
    text, around = path.read_text(), random.choice((1, 2))

    def chosen(found: re.Match[str]) -> str:
        return found[around if found[1].startswith("//") or found[2].startswith("//") else random.choice((1, 2))]

    pattern = r"<{7}[^\n]*\n(.*?)={7}\n(.*?)>{7}[^\n]*\n"
    path.write_text(re.sub(pattern, chosen, text, flags=re.DOTALL))
    status, said = checkout.ended("merge", "--resolve", str(path), PACKAGE)
    if status:  # a name that only the other side's statement makes, say
        assert status == 1, said
        assert "error[" in said or "neither" in said, said
        return
    assert checkout.unmerged == ""
    assert not path.exists()
    require_sound(checkout.package)
