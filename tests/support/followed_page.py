"""A page of the documentation that a reader follows by copy and paste, followed in a folder of its own.

A block with a file's name, as in "```mil mlp.mil", is saved as that file. A block `sh` is run by bash. The block `text`
after it is what the commands write, to both streams; without it, they write nothing. `# exit status 1` at the end of
the last command says how it ends. "```sh coremltools" is run only where that package or command is, and its standard
output alone is looked at, as coremltools warns of what it lacks on each system.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import NamedTuple

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```\n", re.DOTALL | re.MULTILINE)

COMMANDS = f"""\
set -euo pipefail
python() {{ {sys.executable!r} "$@"; }}
miltext() {{ python -m miltext "$@"; }}
pytest() {{ PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python -m pytest -p miltext.pytest_plugin -p no:cacheprovider "$@"; }}
export -f python miltext pytest
"""
"""What the pages' commands are in the tests. Other plugins, which a reader does not have, write lines of their own."""

UNSET = ("CI", "BUILD_NUMBER", "MIL_UPDATE", "NO_COLOR", "FORCE_COLOR")
"""Variables that change what commands write; those of pytest, which runs this, do, too."""


class Block(NamedTuple):
    """A fenced block: its language, the word after that, its text, and where in the page it begins and ends."""

    language: str
    word: str | None
    text: str
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block(match[1], match[2], match[3], *match.span()) for match in BLOCK.finditer(page)]


def files(page: str) -> dict[str, str]:
    """Return the files that a page has its reader save; of a name that comes twice, the last one."""
    return {block.word: block.text for block in blocks(page) if block.word and block.language != "sh"}


def follow(page: str, folder: Path, commands: str = COMMANDS, *, others: bool = True) -> str:
    """Do in `folder` what a page says, and return the page with what its commands write now.

    The shell has these `commands` first. Without `others`, it has no packages besides miltext and pytest.
    """
    return "".join(_followed(page, folder, commands, others))


def _followed(page: str, folder: Path, commands: str, others: bool) -> Iterator[str]:
    done = 0
    for block in blocks(page):
        if block.language == "sh":
            yield page[done : block.end]
            done = block.end
            shown = re.compile(r"\s*^```text\n(.*?)^```\n", re.DOTALL | re.MULTILINE).match(page, done)
            if block.word and (not others or (find_spec(block.word) is None and which(block.word) is None)):
                continue
            written = _run(block, folder, commands)
            yield f"\n```text\n{written}```\n" if written else ""
            done = shown.end() if shown else done
        elif block.word:
            told = page[max(0, block.start - 400) : block.start]
            assert f"`{block.word}`" in told, f"the page does not tell the reader to save {block.word}"
            (folder / block.word).write_text(block.text, encoding="utf-8")
    yield page[done:]


def _run(block: Block, folder: Path, commands: str) -> str:
    """Return what a block's commands write, with the time that the pages have."""
    result = subprocess.run(
        ["bash", "-c", commands + block.text],
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if block.word else subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    told = re.search(r"# exit status (\d)\n\Z", block.text)
    assert result.returncode == (int(told[1]) if told else 0), f"{block.text}{result.stdout}{result.stderr or ''}"
    return re.sub(r"\bin \d+\.\d\ds$", "in 0.05s", result.stdout, flags=re.MULTILINE)


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in UNSET and not name.startswith("PYTEST")}
    return {**kept, "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_GLOBAL": os.devnull}
