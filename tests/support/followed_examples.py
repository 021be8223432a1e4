"""A folder in which examples of helps and pages are run one after the other, with stand-ins for what they name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

from support.shell_lines import Said, run, words
from support.stand_ins import Made, place, stand_in

OUTPUTS = ("-o", "--output", "--save", "-r")
"""What comes before the name of something that is made."""

EDITED = {"both.mil", "model.mil", "New.mlpackage"}
"""What people have edited between two examples."""

NAMED = re.compile(
    r"(?:[\w.]+=)?([\w./-]+\.(?:mlpackage|mlmodelc|mlmodel|mil|toml|npz|jpg|py|sh|tsv)|(?:\./)?predict|DIR)"
)
"""A word of an example that names something, perhaps behind a `=`."""


class Followed:
    """A folder in which examples are run one after the other, with what they name."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "work", folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.placed: dict[str, Made | None] = {}
        self.environment = {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_PAGER": "cat",
            **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }

    def run(self, line: str) -> Said:
        """Run a line, with stand-ins for what it names, unless an example made that; what it makes is made anew."""
        found = words(line)
        outputs = {name for word, name in pairwise(found) if word in OUTPUTS}
        for name in outputs if "--force" not in line else ():
            if found.count(name) == 1:
                _remove(self.folder / name)
        if re.search("git |miltext log", line) and not (self.folder / ".git").exists():
            self._commit(line)
        for name in _named(line):
            if name not in outputs or found.count(name) > 1 or "--force" in line:
                self.place(name, line)
        self.placed |= dict.fromkeys(outputs & self.placed.keys())
        return run(line, self.folder, self.environment)

    def place(self, name: str, line: str) -> None:
        """Put a stand-in where it is missing, is edited by people, or is another one than the line before had."""
        there = (self.folder / name).exists()
        if there and name not in self.placed and name not in EDITED:
            return
        made = stand_in(name, line)
        if made is not None and (not there or made != self.placed.get(name)):
            place(made, self.folder / name)
            self.placed[name] = made

    def _commit(self, line: str) -> None:
        """Make the folder a repository: `v1` on main, and `v2` on a branch, with other models and a new name for one.

        The working tree has what the first one had, and that is staged below `models`.
        """
        models = ("Model.mlpackage", "models/Model.mlpackage")
        for file in ("model.mil", "model.mlmodel", "Old.mlpackage", *models):
            self.place(file, line)
        self._git("init -q -b main", "add .", "commit -qm first", "tag v1", "checkout -qb topic")
        self._git("mv Old.mlpackage New.mlpackage")
        for file in models:
            self._replace(file, "New.mlpackage", line)
        self._git("add .", "commit -qm second", "tag v2")
        for file in models:
            self._replace(file, file, line)
        self._git("add models")
        text = self.folder / "model.mil"
        text.write_text(text.read_text(encoding="utf-8").replace("tanh", "softsign"), encoding="utf-8")

    def _git(self, *commands: str) -> None:
        for command in commands:
            words = ["git", *command.split()]
            subprocess.run(words, cwd=self.folder, env={**os.environ, **self.environment}, check=True)

    def _replace(self, file: str, name: str, line: str) -> None:
        """Put the stand-in of another name in the place of a file."""
        made = stand_in(name, line)
        assert made is not None
        place(made, self.folder / file)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _named(line: str) -> list[str]:
    """Return the names in a line for which there has to be something; a folder has a text and a model."""
    found = words(line)
    names = [match[1].removeprefix("./") for word in found for match in [NAMED.fullmatch(word)] if match]
    names += [match[1].removeprefix("./") for word in found if " " in word for match in NAMED.finditer(word)]
    if "." in found or "*.mil" in found:
        names += ["model.mil", "Model.mlpackage"]
    if "models/*.mlmodelc" in found:
        names.append("models/Model.mlmodelc")
    if "miltext" in found:
        names += [f"{folder}/Model.mlpackage" for folder in ("models", "zoo") if folder in found]
    if "ffn.mil" in found:
        names += ["w1.npy", "w2.npy", "w3.npy", "rms.npy"]
    return names


STATUSES = {"diff": 1}
"""How examples of a verb end that do not say it, if not with 0: the models to compare are different."""


def expected(line: str) -> int:
    """Return how a line ends: as it says itself, or as its verb does."""
    if told := re.search(r"# exit status (\d)$", line):
        return int(told[1])
    verb = next((after for word, after in pairwise(words(line)) if word == "miltext"), "")
    return STATUSES.get(verb, 0)
