"""The settings with which git shows models as text: attributes, a diff driver, and a difftool."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.models.overlays import NAMES
from miltext.review.kept_texts import FOLDER

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

DRIVER = "miltext"
TEXT_DRIVER = "miltext-text"
MANIFEST_DRIVER = "miltext-manifest"
ATTRIBUTES = (
    f"*.mlmodel diff={DRIVER} merge={DRIVER}",
    f"coremldata.bin diff={DRIVER}",
    f"*weight.bin diff={DRIVER} merge={DRIVER}",
    f"**/*.mlpackage/Manifest.json diff={MANIFEST_DRIVER} merge={DRIVER}",
    *(f"**/*.mlpackage/**/{name} diff={MANIFEST_DRIVER} merge={DRIVER}" for name in NAMES),
    f"*.mil diff={TEXT_DRIVER} merge={TEXT_DRIVER}",
    f"**/*.mlmodelc/**/model.mil merge={DRIVER}",
)
"""The attributes of files for display and merge; `*.mil` is text already, and its hunks are headed by the function."""

SECTIONS = (
    *(f"diff.{driver}" for driver in (DRIVER, TEXT_DRIVER, MANIFEST_DRIVER)),
    f"difftool.{DRIVER}",
    f"mergetool.{DRIVER}",
    f"merge.{DRIVER}",
    f"merge.{TEXT_DRIVER}",
)
"""Our sections of git's configuration."""

IN_CONFLICT = 3
"""The status of the merge driver after conflicts; after any other failure, git merges itself."""

_NOTES = f"refs/notes/textconv/{DRIVER}"
_NOTED = f"diff.{DRIVER}.cachetextconv"
"""The ref and the setting with which earlier versions let git keep texts, as notes: git does not write these without a
committer.
"""

_NAME_IT = 'git hash-object --no-filters -- "$1"'
_COMPARE = 'git --no-pager diff --no-ext-diff --no-index -- "$LOCAL" "$REMOTE"'
"""The commands for git's shell where miltext cannot be run: name a file as git does, and compare two files."""

_FUNCTION = r"^ *(func [^(]*)"

_WORDS = (
    r"-?0x[0-9a-fA-F.]+p[-+]?[0-9]+"
    r"|[-+]?[0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?"
    r"|\$?[A-Za-z_][A-Za-z0-9_@]*"
    r'|"([^"\\]|\\.)*"'
    r"|->|//"
    r"|[^[:space:]]"
)
"""The words of MIL text for `git diff --word-diff`: numbers, names, strings, and all other characters one by one."""

_MERGED = "%O %A %B %L %P %S %X %Y"
"""The arguments of a merge driver: base, ours, theirs, the size of markers, the path, and names of the versions."""

_MERGE_LINES = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B || return 1"
_KEEP_OURS = "return 1"
"""The commands for git's shell that treat texts and other files as git does, and fail as a driver has to."""
_BEGIN, _END = "# miltext: begin", "# miltext: end"
_BLOCK = re.compile(rf"^{_BEGIN}\n.*?^{_END}\n", re.DOTALL | re.MULTILINE)


class GitError(Exception):
    """A refusal of git in git's own words, or the reason why git cannot be run."""


class Installation:
    """miltext in a repository's git, or with `everywhere` in the git of every repository of the user.

    The `options` are words for the command that shows models, with a space before each.

    Raise GitError if git cannot be run, or `folder` is not in a repository.
    """

    def __init__(self, folder: Path, everywhere: bool, options: str = "") -> None:
        self._folder = folder
        self._options = options
        self._everywhere = everywhere
        self.scope = "--global" if everywhere else "--local"
        self.attributes = self._attributes_file()

    def _git(self, *arguments: str) -> str:
        try:
            done = subprocess.run(["git", *arguments], cwd=self._folder, capture_output=True, check=False)
        except OSError as failure:
            raise GitError(f"git cannot be run: {failure.strerror}") from failure
        if done.returncode:
            raise GitError(os.fsdecode(done.stderr).strip())
        return os.fsdecode(done.stdout).strip()

    def _output(self, *arguments: str) -> str:
        """Return the output of git, empty if git fails."""
        try:
            return self._git(*arguments)
        except GitError:
            return ""

    def _attributes_file(self) -> Path:
        """Return the user's file of attributes, or the repository's uncommitted one."""
        if not self._everywhere:
            return self._folder / self._git("rev-parse", "--git-path", "info/attributes")
        named = self._get("core.attributesFile", "--type=path")
        folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        return Path(named) if named else Path(folder) / "git" / "attributes"

    def _get(self, key: str, *options: str) -> str:
        """Return a configured value, empty if there is none."""
        return self._output("config", self.scope, *options, "--get", key)

    def configuration(self) -> dict[str, str]:
        """Return the keys to set. The structural diff becomes git's difftool unless the user chose another."""
        command = _command()
        chosen = {} if self._tool() not in ("", DRIVER) else {"diff.tool": DRIVER}
        return {
            f"diff.{DRIVER}.textconv": self._kept_or_name(f"{command} textconv{self._options}"),
            f"diff.{DRIVER}.xfuncname": _FUNCTION,
            f"diff.{DRIVER}.wordRegex": _WORDS,
            f"diff.{TEXT_DRIVER}.xfuncname": _FUNCTION,
            f"diff.{TEXT_DRIVER}.wordRegex": _WORDS,
            f"diff.{MANIFEST_DRIVER}.textconv": self._or_itself(f"{command} textconv"),
            f"merge.{DRIVER}.name": "miltext: models with their weights, operation by operation",
            f"merge.{DRIVER}.driver": self._or_else(f"{command} mergedriver --", _KEEP_OURS),
            f"merge.{DRIVER}.recursive": "binary",
            f"merge.{TEXT_DRIVER}.name": "miltext: MIL text, operation by operation",
            f"merge.{TEXT_DRIVER}.driver": self._or_else(f"{command} mergedriver --", _MERGE_LINES),
            f"difftool.{DRIVER}.cmd": f'{command} difftool -- "$LOCAL" "$REMOTE" || {_COMPARE}',
            f"mergetool.{DRIVER}.cmd": f'{command} mergetool -- "$MERGED"',
            f"mergetool.{DRIVER}.trustExitCode": "true",
            **chosen,
        }

    def _tool(self) -> str:
        """Return git's configured tool for comparing files, here or everywhere; empty if there is none."""
        scopes = ("--global", "--system") if self._everywhere else ("--includes",)
        requested = (
            self._output("config", scope, "--get", key) for key in ("diff.tool", "merge.tool") for scope in scopes
        )
        return next(filter(None, requested), "")

    def _kept_or_name(self, command: str) -> str:
        """Return a command for git's shell that shows a kept text, or has the given command make and keep it.

        Texts have the names of objects, whose bytes git and git-lfs provide; outside a repository, none is kept. Where
        the command fails, only the name is shown: git would stop.
        """
        setup = f"miltext git setup{self._options}{' --global' * self._everywhere}"
        said = f'echo "miltext cannot be run; to record where it is now: {setup}"'
        place = f"{FOLDER}/{self._kind_of_texts()}/$n.${{1##*.}}"
        kept = f'n=$({_NAME_IT}); k=$(git rev-parse --git-common-dir 2>/dev/null) && k="$k/{place}"'
        made = f'{command} ${{k:+--keep "$k"}} -- "$1" 2>/dev/null'
        return f'f() {{ {kept}; cat "$k" 2>/dev/null || {made} || {{ {said}; echo "$n"; }}; }}; f'

    def _kind_of_texts(self) -> str:
        """Return the name of the folder for texts of this version of miltext, with these options."""
        from importlib.metadata import version

        return f"{version('miltext')}{self._options.replace(' ', '')}"

    def _or_itself(self, command: str) -> str:
        """Return a command for git's shell that outputs a file unchanged if the given command fails."""
        return f'f() {{ t=$({command} -- "$1" 2>/dev/null) && printf "%s\\n" "$t" || cat -- "$1"; }}; f'

    def _or_else(self, command: str, otherwise: str) -> str:
        """Return a merge driver for git's shell with another action where a command cannot be run."""
        is_there = f"command -v {shlex.quote(shlex.split(command)[0])} >/dev/null"
        runs = f"{is_there} && {command} {_MERGED}"
        return f"f() {{ {runs}; case $? in 0) ;; {IN_CONFLICT}) return 1 ;; *) {otherwise} ;; esac; }}; f"

    def plan(self) -> str:
        """Return the settings that `install` writes, for people."""
        lines = [f"in {self.attributes}:", *(f"    {line}" for line in ATTRIBUTES), f"with git config {self.scope}:"]
        return "\n".join([*lines, *(f"    {key} = {value}" for key, value in self.configuration().items())])

    def record(self) -> Record:
        """Return the settings that `install` writes, for programs."""
        return {
            "scope": self.scope.removeprefix("--"),
            "file": str(self.attributes),
            "attributes": list(ATTRIBUTES),
            "configuration": self.configuration(),
        }

    def install(self) -> None:
        """Write the settings in place of an earlier version's, and forget its texts."""
        for key, value in self.configuration().items():
            self._git("config", self.scope, key, value)
        self._output("config", self.scope, "--unset-all", _NOTED)
        kept = _BLOCK.sub("", self._read())
        newline = "\n" if kept and not kept.endswith("\n") else ""
        self._write(kept + newline + "\n".join([_BEGIN, *ATTRIBUTES, _END, ""]))
        self._forget_texts()

    def remove(self) -> None:
        """Remove the settings that `install` wrote, and nothing else."""
        for key in (*self.configuration(), _NOTED):
            if key.startswith(SECTIONS) and self._get(key):
                self._git("config", self.scope, "--unset-all", key)
        if self._get("diff.tool") == DRIVER:
            self._git("config", self.scope, "--unset", "diff.tool")
        before = self._read()
        if _BLOCK.search(before):
            self._write(_BLOCK.sub("", before))
        self._forget_texts()

    def _read(self) -> str:
        return self.attributes.read_bytes().decode(errors="surrogateescape") if self.attributes.exists() else ""

    def _write(self, text: str) -> None:
        from miltext.files.writing import write_file

        if not text:
            self.attributes.unlink(missing_ok=True)
            return
        self.attributes.parent.mkdir(parents=True, exist_ok=True)
        write_file(self.attributes, [text.encode(errors="surrogateescape")])

    def _forget_texts(self) -> None:
        """Delete the texts that the repository here keeps, if there is one; texts of earlier versions, too."""
        self._output("update-ref", "-d", _NOTES)
        if folder := self._output("rev-parse", "--git-common-dir"):
            shutil.rmtree(self._folder / folder / FOLDER, ignore_errors=True)


def _command() -> str:
    """Return the command for git's shell that runs this installation of miltext, in any folder and environment.

    It is not `python -m`, which would import modules from the repository's own folder.
    """
    folder = os.path.dirname(sys.executable)
    script = shutil.which("miltext", path=folder)
    words = [Path(script).as_posix()] if script else [Path(sys.executable).as_posix(), "-I", "-m", "miltext"]
    return shlex.join(words)
