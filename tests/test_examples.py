"""Every example of the helps, of README and of docs is run: here, or by the test of its page."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import pairwise, zip_longest
from pathlib import Path

import pytest
from conftest import ROOT
from support.followed_page import Block, blocks
from support.shell_lines import Said, lines, run, words
from support.stand_ins import Made, place, stand_in
from support.verbs import examples, verbs

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="the examples are those of a Unix shell"),
    pytest.mark.skipif(shutil.which("git") is None, reason="some examples need git"),
]

PAGES = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]

FOLLOWED = {
    "docs/tutorial.md": "tests/test_tutorial.py",
    "docs/golden-files.md": "tests/test_golden_page.py",
    "docs/convert-weights.md": "tests/conversion/test_convert_weights_page.py",
    "docs/generate.md": "tests/generation/test_generate_page.py",
    "docs/how-to/": "tests/test_how_to.py",
}
"""The pages whose commands another test runs."""

NOT_RUN = {
    "pip install 'miltext[lsp]'": "needs the network",
    "python3 -m venv .venv && ": "needs the network; tests/test_newcomer.py installs the wheel",
    "python3 -m venv .venv-test && ": "needs the network; it is the first step of .ci/run",
    "$EDITOR ": "needs an editor",
    "miltext lsp": "serves an editor; tests/lsp",
    "miltext check --with-coremltools": "loads coremltools, which takes seconds; tests/cli/test_check_verb.py",
}
"""The beginnings of the examples that are not run, and why."""

STATUSES = {"diff": 1}
"""How examples of a verb end that do not say it, if not with 0: the models to compare are different."""

OUTPUTS = ("-o", "--output", "--save", "-r")
"""What comes before the name of something that is made."""

EDITED = {"both.mil", "model.mil", "New.mlpackage"}
"""What people have edited between two examples."""

NAMED = re.compile(r"(?:[\w.]+=)?([\w./-]+\.(?:mlpackage|mlmodelc|mlmodel|mil|toml|npz|jpg|sh)|(?:\./)?predict|DIR)")
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
        if "git " in line and not (self.folder / ".git").exists():
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
        """Make the folder a repository, whose last commit changes its models."""
        for file in ("model.mil", "model.mlmodel", "Model.mlpackage"):
            self.place(file, line)
        for command in ("init -q", "add .", "commit -qm first"):
            subprocess.run(
                ["git", *command.split()], cwd=self.folder, env={**os.environ, **self.environment}, check=True
            )
        text = self.folder / "model.mil"
        text.write_text(text.read_text(encoding="utf-8").replace("tanh", "softsign"), encoding="utf-8")


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
    if "ffn.mil" in found:
        names += ["w1.npy", "w2.npy", "w3.npy", "rms.npy"]
    return names


def _expected(line: str) -> int:
    """Return how a line ends: as it says itself, or as its verb does."""
    if told := re.search(r"# exit status (\d)$", line):
        return int(told[1])
    verb = next((after for word, after in pairwise(words(line)) if word == "miltext"), "")
    return STATUSES.get(verb, 0)


def _reason(line: str) -> str | None:
    return next((why for beginning, why in NOT_RUN.items() if line.lstrip().startswith(beginning)), None)


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Followed:
    made = Followed(tmp_path)
    monkeypatch.chdir(made.folder)
    return made


# ---- the helps


HELPS = {tuple(examples(verb)): words or "miltext" for words, verb in verbs().items()}
"""The names of verbs by their examples, of which some have the same."""


@pytest.mark.parametrize("shown", HELPS, ids=[*HELPS.values()])
def test_the_examples_of_a_help(shown: tuple[str, ...], followed: Followed) -> None:
    for line in shown:
        _follow(line, followed)


def _follow(line: str, followed: Followed) -> str:
    if _reason(line):
        return ""
    status, output = followed.run(line)
    assert status == _expected(line), f"{line}\n{output}"
    assert "Traceback" not in output, line
    return output


# ---- the pages


def _followers(page: str) -> str | None:
    return next((test for prefix, test in FOLLOWED.items() if page.startswith(prefix)), None)


def _runs(page: str) -> list[tuple[Block, str | None]]:
    """Return the blocks of commands, each with the output that the page shows right after it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = blocks(text)
    runs = []
    for block, after in zip_longest(found, found[1:]):
        is_shown = after is not None and after.language == "text" and not text[block.end : after.start].strip()
        if block.language in ("sh", "bash", "console"):
            runs.append((block, after.text if after is not None and is_shown else None))
    return runs


@pytest.mark.parametrize("page", [page for page in PAGES if _runs(page) and _followers(page) is None])
def test_the_commands_of_a_page(page: str, followed: Followed) -> None:
    for block, shown in _runs(page):
        output = "".join(_follow(line, followed) for line in lines(block.text))
        assert shown is None or output == shown, block.text


def test_the_other_pages_have_their_tests() -> None:
    for page, test in FOLLOWED.items():
        said = (ROOT / test).read_text(encoding="utf-8")
        assert all(part in said for part in page.removesuffix("/").split("/")), test


def test_what_is_not_run_is_there() -> None:
    there = [line for page in PAGES for block, _ in _runs(page) for line in lines(block.text)]
    there += [line for verb in verbs().values() for line in examples(verb)]
    assert [why for why in NOT_RUN if not any(line.lstrip().startswith(why) for line in there)] == []
