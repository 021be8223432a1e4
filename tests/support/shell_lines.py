"""Lines of a shell in examples, run in a folder: `miltext` in this process, other commands in one of their own.

A line is one pipeline with redirections, which is all that most examples are. A block that has more is run by bash.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from support.commands import miltext, miltext_process
from support.followed_page import COMMANDS

QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
BEYOND = re.compile(r"[;&`(){}\\]|\$(?!EDITOR)|^\s*(for|if|while)\b", re.MULTILINE)
"""What is more than a pipeline with redirections."""

OWN_PROCESS = ("lsp",)
"""The verbs that speak with the streams of a process."""


class Said(NamedTuple):
    """How a command ended, and what it wrote to both streams."""

    status: int
    output: str


def lines(block: str) -> list[str]:
    """Return the commands of a block, or the block as a whole if it is more than pipelines."""
    code = QUOTED.sub("''", re.sub(r"(^|\s)#.*", "", block))
    if BEYOND.search(code.replace("\\\n", "")):
        return [block]
    joined = block.replace("\\\n", " ").splitlines()
    return [line for line in joined if line.strip() and not line.lstrip().startswith("#")]


def words(line: str) -> list[str]:
    """Return the words and signs of a line without its comment."""
    lexer = shlex.shlex(re.sub(r"\s# .*", "", line), posix=True, punctuation_chars="|<>")
    lexer.commenters, lexer.whitespace_split = "", True
    return list(lexer)


def run(line: str, folder: Path, environment: dict[str, str]) -> Said:
    """Run a line in a folder."""
    if len(lines(line)) != 1 or lines(line)[0] is not line or BEYOND.search(QUOTED.sub("''", " ".join(words(line)))):
        return _in_bash(line, folder, environment)
    data, told, status = b"", "", 0
    for stage in _stages(words(line)):
        given, target = stage.given, stage.target
        data = (folder / given).read_bytes() if given else data
        ended = _stage(_globbed(stage.words, line, folder), data, folder, environment)
        if ended is None:  # a tool that this machine lacks, at the end of a pipe
            return Said(status, told)
        status, told = status or ended.returncode, told + ended.stderr.decode()
        data = ended.stdout
        if target:
            (folder / target).write_bytes(data)
            data = b""
    return Said(status, told + data.decode(errors="replace"))


class _Stage(NamedTuple):
    words: list[str]
    given: str
    target: str


def _stages(found: list[str]) -> Iterator[_Stage]:
    """Yield the commands of a pipeline, each with the files of `<` and `>`."""
    while found:
        end = found.index("|") if "|" in found else len(found)
        part, found = found[:end], found[end + 1 :]
        files = {"<": "", ">": ""}
        for sign in files:
            if sign in part:
                at = part.index(sign)
                files[sign] = part[at + 1]
                del part[at : at + 2]
        yield _Stage(part, files["<"], files[">"])


def _globbed(found: list[str], line: str, folder: Path) -> list[str]:
    """Return the words with the names of files in the place of patterns that are not quoted."""
    made: list[str] = []
    for word in found:
        names = sorted(glob.glob(word, root_dir=folder)) if "*" in word and f"'{word}'" not in line else []
        made += names or [word]
    return made


def _stage(
    found: list[str], data: bytes, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes] | None:
    if found[0] == "miltext":
        run_it = miltext_process if found[1:] and found[1] in OWN_PROCESS else miltext
        return run_it(*found[1:], input=data, cwd=folder, **environment)
    if shutil.which(found[0]) is None and not (folder / found[0]).exists():
        return None
    return subprocess.run(
        found, input=data, cwd=folder, env={**os.environ, **environment}, capture_output=True, check=False
    )


def _in_bash(block: str, folder: Path, environment: dict[str, str]) -> Said:
    done = subprocess.run(
        ["bash", "-c", COMMANDS + block],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return Said(done.returncode, done.stdout.decode(errors="replace"))
