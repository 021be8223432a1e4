"""Texts of models that are kept for git: where, and what of them is deleted again."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from models.test_outputs import RUNNER, tree
from support.repositories import EXAMPLE, MODEL, Repository

from miltext.cli import command
from miltext.review import kept_texts

FILE = EXAMPLE / MODEL.partition("/")[2]
NAME = "0030bc01322ed2cad099fd78e0cc4b2a497c230d"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder where git has texts kept."""
    made = tmp_path / ".git" / kept_texts.FOLDER / "1.0"
    made.mkdir(parents=True)
    return made


def keep(path: Path | str) -> int:
    return RUNNER.invoke(command, ["textconv", "--keep", str(path), str(FILE)]).exit_code


@pytest.mark.parametrize("name", ["k", f"{NAME}.bin", "", "notes/k.mil", f"{kept_texts.FOLDER}/{NAME}.bin"])
def test_a_text_is_kept_nowhere_else(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_texts, "MOST", 1)
    (tmp_path / "weight.bin").write_bytes(bytes(1 << 10))
    (tmp_path / "k").write_text("mine")
    before = tree(tmp_path)
    assert keep(tmp_path / name if name else "") == 2
    assert tree(tmp_path) == before


@pytest.mark.parametrize("name", ["k", f"{NAME}", f"{NAME[1:]}.bin", f"{NAME}.mil/k"])
def test_nothing_but_a_text_of_an_object_is_kept_there(name: str, folder: Path) -> None:
    before = tree(folder)
    assert keep(folder / name) == 2
    assert tree(folder) == before


def test_the_oldest_texts_are_deleted_and_nothing_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = [folder / f"{digit * 40}.bin" for digit in "abc"]
    others = [folder / "notes", folder / f"{NAME[1:]}.bin", folder.parent / f"{'d' * 40}.bin"]
    for age, path in enumerate([*others, *old]):
        path.write_bytes(bytes(10_000))
        os.utime(path, (age, age))
    (folder / f"{'e' * 40}.bin").mkdir()
    assert keep(folder / f"{NAME}.mlmodel") == 0
    assert all(path.exists() for path in old)
    size = (folder / f"{NAME}.mlmodel").stat().st_size
    monkeypatch.setattr(kept_texts, "MOST", 2 * (10_000 + 2 * size))
    assert keep(folder / f"{NAME[::-1]}.mlmodel") == 0
    assert [path.exists() for path in old] == [False, False, True]
    assert all(path.exists() for path in others)
    assert "func main" in (folder / f"{NAME[::-1]}.mlmodel").read_text()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_nothing_is_kept_outside_a_repository(tmp_path: Path) -> None:
    """git has files there as text, too, if it is set up for all repositories."""
    repository = Repository(tmp_path)
    repository.miltext("git", "setup", "--global")
    shown = repository.git("config", "--global", "diff.miltext.textconv")
    own = shown[shown.index("||") :].split()[1]
    environment = {**repository.environment, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    outside = tmp_path / "outside"
    outside.mkdir()
    told = shown.replace(own, "echo")
    words = ["sh", "-c", f'{told.strip()} "$@"', "sh", str(FILE)]
    run = subprocess.run(words, cwd=outside, env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"textconv -- {FILE}\n"
    run = subprocess.run(words, cwd=repository.folder, env=environment, capture_output=True, text=True, check=False)
    assert run.stdout.startswith(f"textconv --keep .git/{kept_texts.FOLDER}/")
