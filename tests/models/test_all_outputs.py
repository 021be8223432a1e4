"""All options of all verbs that name what is written, at every kind of target: one table, from the list of verbs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
import pytest
from click.testing import Result
from models import test_outputs as outputs
from support.containers import TEXT, link
from support.repositories import EXAMPLE

from miltext.cli import VERBS, command

RUNNER, tree, posix = outputs.RUNNER, outputs.tree, outputs.posix
WRITING = ("--output", "--state-out", "--save")
"""The options that name what is written."""


class Row(NamedTuple):
    """A verb's words before the option, the option, a name for the target, and what else the verb reads."""

    words: tuple[str, ...]
    option: str
    target: str
    has_force: bool = False
    is_read: tuple[str, ...] = ()
    status: int = 0

    def run(self, folder: Path, target: Path, *more: str) -> Result:
        here = [str(folder / word) if "." in word and "=" not in word else word for word in self.words]
        return RUNNER.invoke(command, [*here, self.option, str(target), *more])

    def place(self, target: Path) -> Path:
        """The file that is written: of a folder of arrays, one in it; a folder of parts is written whole."""
        return target / "edges_weight_0_to_fp16.npy" if self.option == "--save" else target

    @property
    def is_model(self) -> bool:
        return self.target.endswith((".mlpackage", ".mlmodel", ".mlmodelc"))


ONE = "M.mlpackage"
ROWS = {
    "print": Row(("print", ONE), "-o", "out.mil", is_read=(ONE,)),
    "parse": Row(("parse", "in.mil"), "-o", "out.pb", is_read=("in.mil",)),
    "infer": Row(("infer", "draft.mil"), "-o", "out.mil", is_read=("draft.mil",)),
    "describe": Row(("describe", ONE), "-o", "out.toml", is_read=(ONE,)),
    "diff": Row(("diff", "in.mil", ONE), "-o", "out.diff", is_read=("in.mil", ONE), status=1),
    "run": Row(("run", "in.mil", "--random", "0"), "-o", "out.npz", is_read=("in.mil",)),
    "run --state-out": Row(("run", "in.mil", "--random", "0"), "--state-out", "out.npz", is_read=("in.mil",)),
    "weights": Row(("weights", ONE), "--save", "arrays", is_read=(ONE,)),
    "generate": Row(("generate", "--seed", "1"), "-o", "out.mil", has_force=True),
    "generate a model": Row(("generate", "--seed", "1"), "-o", "out.mlmodel", has_force=True),
    "merge": Row(("merge", "in.mil", "in.mil", "other.mil"), "-o", "out.mil", True, ("in.mil", "other.mil")),
    "merge models": Row(("merge", ONE, ONE, "N.mlpackage"), "-o", "out.mlmodel", True, (ONE, "N.mlpackage")),
    "extract": Row(("extract", ONE, "lit_cast_fp16"), "-o", "out.mil", True, (ONE,)),
    "extract a model": Row(("extract", "in.mil", "y"), "-o", "out.mlmodel", True, ("in.mil",)),
    "reduce": Row(("reduce", "in.mil", "--test", "true"), "-o", "out.mil", True, ("in.mil",)),
    "rename": Row(("rename", ONE, "image", "z"), "-o", "out.mil", True, (ONE,)),
    "rename a model": Row(("rename", "in.mil", "x", "z"), "-o", "out.mlmodel", True, ("in.mil",)),
    "expose": Row(("expose", ONE, "lit_cast_fp16"), "-o", "out.mil", True, (ONE,)),
    "build": Row(("build", ONE), "-o", "out.mlpackage", True, (ONE,)),
    "convert-weights": Row(("convert-weights", "in.mil", "--to", "fp16"), "-o", "out.mlmodel", True, ("in.mil",)),
    "reshape": Row(("reshape", "in.mil", "x=1,4"), "-o", "out.mlmodel", True, ("in.mil",)),
    "rewrite": Row(("rewrite", "casts", "in.mil"), "-o", "out.mil", True, ("in.mil",)),
    "rewrite a model": Row(("rewrite", "casts", ONE), "-o", "out.mlpackage", True, (ONE,)),
    "optimize": Row(("optimize", "in.mil"), "-o", "out.mil", True, ("in.mil",)),
    "link": Row(("link", "in.mil", ONE), "-o", "out.mlmodel", True, ("in.mil", ONE)),
    "split": Row(("split", ONE, "--parts", "2"), "-o", "parts", True, (ONE,)),
    "optimize a model": Row(("optimize", ONE), "-o", "out.mlpackage", True, (ONE,)),
}


def test_every_option_that_writes_has_a_row() -> None:
    found = set[tuple[str, str]]()
    with click.Context(command) as context:
        for name in VERBS:
            verb = command.get_command(context, name)
            assert verb is not None
            options = [each for each in verb.params if isinstance(each, click.Option)]
            found |= {(name, long) for each in options for long in each.opts if long in WRITING}
    names = {"-o": "--output"}
    assert {(row.words[0], names.get(row.option, row.option)) for row in ROWS.values()} == found


def test_force_is_where_the_table_has_it() -> None:
    with click.Context(command) as context:
        for row in ROWS.values():
            verb = command.get_command(context, row.words[0])
            assert verb is not None
            assert any("--force" in each.opts for each in verb.params) == row.has_force, row


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.mil").write_text(TEXT)
    (tmp_path / "other.mil").write_text(TEXT.replace("relu", "tanh"))
    (tmp_path / "draft.mil").write_text(outputs.DRAFT)
    for name in (ONE, "N.mlpackage"):
        shutil.copytree(EXAMPLE, tmp_path / name)
    (tmp_path / "notes").write_bytes(outputs.NOTES)
    np.save(tmp_path / "array.npy", np.zeros(2, np.float32))
    return tmp_path


@pytest.fixture(params=ROWS)
def row(request: pytest.FixtureRequest) -> Row:
    return ROWS[request.param]


def unchanged(before: outputs.Tree, folder: Path) -> None:
    assert tree(folder) == before


def test_a_file_of_the_same_kind_is_replaced_or_needs_force(row: Row, folder: Path) -> None:
    target = folder / row.target
    assert row.run(folder, target).exit_code == row.status
    before = tree(folder)
    again = row.run(folder, target)
    if not row.has_force:
        assert again.exit_code == row.status, again.stderr
        return
    assert (again.exit_code, f"{target}: it already exists; --force" in again.stderr) == (2, True), again.stderr
    unchanged(before, folder)
    assert row.run(folder, target, "--force").exit_code == row.status


@posix
@pytest.mark.parametrize("how", ["a link to notes", "a link to a weight file", "a link to an input"])
def test_the_target_of_a_link_is_not_replaced(row: Row, how: str, folder: Path) -> None:
    target = row.place(folder / row.target)
    target.parent.mkdir(exist_ok=True)
    weights = folder / "N.mlpackage" / "Data" / "com.apple.CoreML" / "weights" / "weight.bin"
    read = folder / (row.is_read or ("in.mil",))[0]
    link(target, {"a link to notes": folder / "notes", "a link to a weight file": weights}.get(how, read))
    before = tree(folder)
    result = row.run(folder, folder / row.target)
    refused = 1 if row.words[0] == "describe" and "input" not in how else 2  # which reads a description first
    assert result.exit_code == refused, (result.output, result.stderr)
    assert target.name in result.stderr
    unchanged(before, folder)


def test_nothing_is_written_where_it_is_read(row: Row, folder: Path) -> None:
    """Not at an input, not into one, however it is called."""
    for name in row.is_read:
        inside = [folder / name / row.target] if (folder / name).is_dir() else []
        same = [folder / name] if (folder / name).suffix == Path(row.target).suffix or row.option == "--save" else []
        for target in (*inside, *same):
            before = tree(folder)
            result = row.run(folder, target, *["--force"] * (row.has_force and target not in same))
            assert result.exit_code == 2, (target, result.output, result.stderr)
            unchanged(before, folder)


@pytest.mark.parametrize("force", [False, True])
def test_a_folder_is_not_replaced(row: Row, force: bool, folder: Path) -> None:
    target = row.place(folder / row.target)
    (target / "letters").mkdir(parents=True)
    (target / "letters" / "one").touch()
    before = tree(folder)
    result = row.run(folder, folder / row.target, *["--force"] * (force and row.has_force))
    assert result.exit_code == 2, (result.output, result.stderr)
    assert target.name in result.stderr
    unchanged(before, folder)


def test_a_missing_folder_is_named_or_made(row: Row, folder: Path) -> None:
    before = tree(folder)
    result = row.run(folder, folder / "missing" / row.target)
    if result.exit_code == row.status:
        assert row.is_model or row.option == "--save" or row.words[0] == "split"
        assert row.place(folder / "missing" / row.target).exists()
        return
    assert (result.exit_code, "missing" in result.stderr) == (2, True), result.stderr
    unchanged(before, folder)


def test_where_nothing_may_be_written_the_target_is_named(
    row: Row, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "place").mkdir()
    outputs.refuse_folders(folder / "place", monkeypatch)
    before = tree(folder)
    result = row.run(folder, folder / "place" / row.target)
    assert (result.exit_code, str(folder / "place") in result.stderr) == (2, True), result.stderr
    unchanged(before, folder)


@pytest.mark.parametrize("place", ["written", "moved"])
def test_an_interruption_leaves_the_old_files(
    row: Row, place: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = folder / row.target
    assert row.run(folder, target).exit_code == row.status
    if row.words[0] == "describe":  # which leaves a file as it is that says the same
        target.write_text(target.read_text().replace('"Tells', '"Other'))
    before = tree(folder)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr({"written": "os.fsync", "moved": "miltext.files.staging.move_new"}[place], interrupted)
    result = row.run(folder, target, *["--force"] * row.has_force)
    assert result.exit_code == 130 or "Aborted!" in result.stderr, (result.exit_code, result.output, result.stderr)
    monkeypatch.undo()
    unchanged(before, folder)
