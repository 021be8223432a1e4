"""README.md: its table has every verb, what it names is there, and its blocks run in order, as they are."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from conftest import ROOT
from support.followed_page import COMMANDS

import miltext
import miltext.testing
from miltext.cli import command

sys.path.insert(0, str(ROOT / "scripts"))
import walk_readme

README = (ROOT / "README.md").read_text(encoding="utf-8")
TABLE = [line.split(" | ") for line in README.splitlines() if line.startswith("| `")]
LINKS = dict.fromkeys(re.findall(r"\]\((\S+?)\)|^\[[\w -]+\]: (\S+)$", README, re.MULTILINE))
BLOCKS = [*walk_readme.blocks(README)]

INSTALLS = re.compile(r"^(?:python3 -m venv|pip) ")
"""The commands that need the network. The walk of .ci/run runs them, and here they have been run before."""

ANNOUNCED = {"sh": "a command", "python": "tests/test_python_examples.py", "mil": "a text", "text": "an output"}
"""What kinds of blocks there are, and what they are."""


# ---- the table and the links


def test_the_table_has_every_verb_once() -> None:
    named = [verb for row in TABLE for verb in re.findall(r"`([\w-]+)`", row[0])]
    assert sorted(named) == sorted(command.list_commands(click.Context(command)))


def test_python_names_in_the_table_exist() -> None:
    named = [name for row in TABLE for name in re.findall(r"`([\w.]+)`", row[2])]
    assert len(named) > 15
    for name in named:
        scope, _, last = name.rpartition(".")
        assert last in (miltext.testing if scope else miltext).__all__, name


@pytest.mark.parametrize("link", ["".join(each) for each in LINKS])
def test_each_link_and_picture_leads_to_a_file_of_the_repository(link: str) -> None:
    page, _, anchor = link.partition("#")
    assert re.match(r"[a-z]+:|/|\.\.", page) is None
    path = ROOT / page
    assert path.is_file()
    if anchor:
        heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


def test_each_reference_is_there_and_used() -> None:
    defined = re.findall(r"^\[([\w -]+)\]: ", README, re.MULTILINE)
    assert sorted(defined) == sorted(set(re.findall(r"\]\[([\w -]+)\]", README)))


# ---- the blocks


def test_the_first_two_blocks_set_it_up_and_test_it() -> None:
    """Each is one line that needs nothing of the other: an environment of its own, and a path to each command."""
    first, second = [block.text for block in BLOCKS[:2]]
    assert re.fullmatch(r"python3 -m venv (\S+) && \1/bin/pip install .* && \1/bin/miltext print \S+\n", first)
    assert re.fullmatch(r"python3 -m venv (\S+) && \1/bin/pip install .* && \1/bin/python -m pytest .*\n", second)
    assert README.index(first) < 400


def test_each_block_is_of_a_known_kind() -> None:
    """Blocks `sh` are those that the walk runs, or that say why it does not."""
    kinds = re.findall(r"^ *(?:```|~~~)(.*)\n(?:.*\n)*? *(?:```|~~~)$", README, re.MULTILINE)
    assert {*kinds} == ANNOUNCED.keys()
    assert kinds.count("sh") == len(BLOCKS) > 5
    assert (
        re.findall(
            r"^(?: {4}|\t)(?:miltext|git|pip|python)\b.*",
            re.sub(r"```.*?```", "", README, flags=re.DOTALL),
            re.MULTILINE,
        )
        == []
    )
    for line in [line for block in BLOCKS for line in walk_readme.lines(block)]:  # a line is whole
        assert subprocess.run(["bash", "-n", "-c", line], capture_output=True, check=False).returncode == 0, line
    assert all(block.reason is None or len(block.reason) > 10 for block in BLOCKS)


def test_the_text_that_it_shows_is_the_example() -> None:
    (shown,) = re.findall(r"^```mil\n(program.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown == (ROOT / "examples" / "ffn" / "ffn.mil").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="the blocks are those of a Unix shell")
@pytest.mark.skipif(shutil.which("git") is None, reason="some blocks need git")
def test_the_blocks_run_in_order(tmp_path: Path) -> None:
    """As the walk runs them, but with the miltext that is tested in place of one that is installed from the network."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "activate").touch()
    (tmp_path / ".gitignore").write_text(".venv\nout\n", encoding="utf-8")
    known = {**os.environ, "HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": os.devnull}
    for words in ("init -q -b main", "add .", "-c user.name=a -c user.email=a@b commit -q -m first"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, env=known, check=True)
    page = re.sub(
        r"^```sh\n(?=python3|pip)", "<!-- not run: needs the network -->\n```sh\n", README, flags=re.MULTILINE
    )
    assert page.count("<!-- not run") == sum(bool(INSTALLS.match(block.text)) for block in BLOCKS) == 3
    script = f"{COMMANDS.replace('set -euo pipefail', '')}{walk_readme.script(page)}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=known,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"FFN.mlpackage", "FFN.mlmodelc", "New.mlpackage", "Renamed.mlpackage", "diff.html", "model.html"} <= made
    status = ["git", "status", "--porcelain", "--", "examples"]
    assert subprocess.run(status, cwd=tmp_path, env=known, capture_output=True, check=True).stdout == b""


# ---- the walk itself


@pytest.mark.skipif(os.name == "nt", reason="the walk needs bash")
@pytest.mark.parametrize(
    ("page", "status", "shown", "said"),
    [
        ("```sh\necho a\n```\n\n```sh\necho b\n```\n", 0, "a\n\necho b\nb\n", ""),
        ("```sh\nfalse\n```\n\n```sh\necho never\n```\n", 1, "false\n", "README: `false` ended with 1"),
        ("```sh\nfalse | cat\necho on\n```\n", 0, "on\n", ""),
        ("```sh\necho a \\\n  b\n\n# nothing\n```\n", 0, "a b\n", ""),
        ("```sh\nx=1\n```\n```sh\necho $x\n```\n", 0, "\n1\n", ""),
        ("<!-- not run: needs an editor -->\n```sh\nfalse\n```\n", 0, "(not run: needs an editor)", ""),
        ("```sh\nmiltext() { return 1; }\nmiltext diff a b   # differs\necho on\n```\n", 0, "on\n", ""),
        ("```sh\nmiltext() { return 2; }\nmiltext diff a b\necho never\n```\n", 1, "", "ended with 2"),
        ("```sh\nmiltext() { return 1; }\nmiltext check a\necho never\n```\n", 1, "", "`miltext check a` ended with 1"),
        ("```text\nfalse\n```\n", 0, "", ""),
        ("```sh\ncd / && false && true\n```\n", 1, "", "ended with 1"),
    ],
)
def test_the_walk_ends_at_a_failing_command(page: str, status: int, shown: str, said: str) -> None:
    done = subprocess.run(["bash", "-c", walk_readme.script(page)], capture_output=True, text=True, check=False)
    assert (done.returncode, shown in done.stdout, said in done.stderr) == (status, True, True), done
    assert "\nnever\n" not in done.stdout.replace("echo never", "")


def test_the_walk_leaves_out_commands_on_request() -> None:
    made = walk_readme.script("```sh\npytest\n```\n```sh\necho a\n```\n", without="pytest")
    assert made.count("\npytest\n") == 1  # which is shown
    assert made.count("\necho a\n") == 2
