"""The bars of long work: on a terminal, of all that there is to do, and never in what is written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pytest

from miltext.cli import command, progress
from miltext.containers.opening import load
from miltext.drafting.building import build
from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import CHUNK
from miltext.weight_files.blob_storage import BlobWriter

RECORDS = [("fp16", CHUNK + 5), ("uint4", 2 * CHUNK + 3), ("fp32", 11)]
VERBS = {
    "diff of equals": ["diff", "old/m.mil", "new/m.mil"],
    "diff": ["diff", "old/m.mil", "other/m.mil"],
    "diff of other types": ["diff", "old/m.mil", "cast/m.mil"],
    "diff of itself": ["diff", "old/m.mil", "old/m.mil"],
    "annotate": ["print", "old/m.mil", "--annotate"],
    "annotate to a file": ["print", "old/m.mil", "--annotate", "-o", "out.mil"],
    "compact": ["print", "old/m.mil", "--compact"],
    "html": ["print", "old/m.mil", "--compact", "--html"],
    "sidecar": ["sidecar", "old/m.mil"],
    "full sidecar": ["sidecar", "--full", "old/m.mil"],
    "weights": ["weights", "old/m.mil"],
    "save": ["weights", "old/m.mil", "--save", "arrays"],
    "build": ["build", "old/m.mil", "-o", "out.mlpackage", "--force"],
    "build of a file": ["build", "old/m.mil", "-o", "out/m.mlmodel", "--force"],
    "build again": ["build", "P.mlpackage", "-o", "out.mlpackage", "--externalize", "--force"],
    "build of arrays": ["build", "named/m.mil", "-o", "out.mlpackage", "--externalize", "--force"],
    "build of a compiled model": ["build", "P.mlpackage", "-o", "out.mlmodelc", "--externalize", "--force"],
    "build of arrays beside": ["build", "named/m.mil", "-o", "named/m.mlmodel", "--force"],
    "build of arrays from a package": [
        "build",
        "named/m.mil",
        "-o",
        "out.mlpackage",
        "--from",
        "P.mlpackage",
        "--force",
    ],
    "build pruned": ["build", "P.mlpackage", "-o", "out.mlpackage", "--prune-weights", "--force"],
    "build of equals pruned": ["build", "E.mlpackage", "-o", "out.mlpackage", "--prune-weights", "--force"],
    "build of a pruned file": ["build", "E.mlpackage", "-o", "out/m.mlmodel", "--prune-weights", "--force"],
    "build of a pruned compiled model": ["build", "E.mlpackage", "-o", "out.mlmodelc", "--prune-weights", "--force"],
    "merge": ["merge", "P.mlpackage", "P.mlpackage", "E.mlpackage", "-o", "out.mlpackage", "--force"],
    "build of arrays from a file": ["build", "named/m.mil", "-o", "out/m.mlmodel", "--from", "M/m.mlmodel", "--force"],
}


def write(folder: Path, records: list[tuple[str, int]], first: int = 1) -> None:
    """A text with weights of these types and numbers of elements; the first element is as given, all others are 1."""
    (folder / "weights").mkdir(parents=True)
    lines: list[str] = []
    with BlobWriter(folder / "weights" / "weight.bin") as writer:
        for number, (name, count) in enumerate(records):
            array = np.ones(count, BY_NAME[name].numpy)
            array[0] = first
            place = f'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({writer.add(BY_NAME[name], array)}))'  # noqa: E501
            kind = f"tensor<{name}, [{count}]>"
            lines.append(f'{kind} w{number} = const()[name = string("w{number}"), val = {kind}({place})];\n')
    body = f"{''.join(lines)} fp16 y = const()[val = fp16(1)];"
    text = f"program(1.3)\n{{ func main<ios18>(tensor<fp16, [2]> x) {{\n{body} }} -> (y); }}\n"
    (folder / "m.mil").write_text(text)


IMMEDIATE = "tensor<fp16, [70]>"


def write_arrays(folder: Path) -> None:
    """A text with arrays in both orders, one of them twice under two names, another not of a weight file's types, and
    two equal values that `--externalize` moves. A file that nothing names is beside it.
    """
    folder.mkdir()
    lines = [
        f'{IMMEDIATE} v{number} = const()[name = string("v{number}"), val = {IMMEDIATE}({[1.5] * 70})];\n'
        for number in range(2)
    ]
    fortran = np.asfortranarray(np.zeros((1030, 1031), np.float16))
    arrays: dict[str, npt.NDArray[Any]] = {"c": np.zeros(CHUNK + 5, np.float32), "f": fortran}
    arrays |= {"d": np.zeros(9), "unnamed": np.zeros(CHUNK)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    names = [("c.npy", "fp32", "c"), ("./c.npy", "fp32", "c"), ("f.npy", "fp16", "f"), ("f.npy", "fp32", "f"), ("d.npy", "fp64", "d")]  # fmt: skip  # noqa: E501
    for number, (file, dtype, name) in enumerate(names):
        kind = f"tensor<{dtype}, {[*arrays[name].shape]}>"
        lines.append(f'{kind} w{number} = const()[name = string("w{number}"), val = {kind}($npy("{file}"))];\n')
    body = f"{''.join(lines)} fp16 y = const()[val = fp16(1)];"
    text = f"program(1.3)\n{{ func main<ios18>(tensor<fp16, [2]> x) {{\n{body} }} -> (y); }}\n"
    (folder / "m.mil").write_text(text)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("old", "new"):
        write(tmp_path / name, RECORDS)
    write(tmp_path / "other", RECORDS, first=0)
    write(tmp_path / "cast", [("fp32", RECORDS[0][1]), ("uint6", RECORDS[1][1]), RECORDS[2]])
    write_arrays(tmp_path / "named")
    (tmp_path / "M").mkdir()
    for made in ("P.mlpackage", "M/m.mlmodel"):
        build(load(tmp_path / "old" / "m.mil"), tmp_path / made)
    write(tmp_path / "equals", [*RECORDS, *RECORDS])
    build(load(tmp_path / "equals" / "m.mil"), tmp_path / "E.mlpackage")
    (tmp_path / "P.mlpackage" / "Data" / "notes.txt").write_bytes(bytes(CHUNK))
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Bar:
    """What is asked of click's bar."""

    made: list[Bar] = []

    def __init__(self, *, length: int, label: str, file: object) -> None:
        self.length, self.label, self.file = length, label, file
        self.done = 0
        self.finished = False
        self.made.append(self)

    def update(self, size: int) -> None:
        assert not self.finished
        self.done += size

    def render_finish(self) -> None:
        self.finished = True


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    """The bars that are made; without them, and with a terminal, each verb is a slow one."""
    monkeypatch.setattr(Bar, "made", [])
    monkeypatch.setattr(click, "progressbar", Bar)
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    return Bar.made


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch, *, terminal: bool) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with pytest.raises(SystemExit) as end:
        command.main(arguments)
    assert end.value.code in (0, 1)


@pytest.mark.parametrize("verb", VERBS)
def test_long_work_shows_a_bar_that_comes_to_its_end(
    verb: str, files: Path, bars: list[Bar], monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    run(VERBS[verb], monkeypatch, terminal=True)
    assert len(bars) == 1 + (verb in ("save", "merge", "html"))
    for bar in bars:
        assert bar.finished
        assert bar.file is sys.stderr
        if "sidecar" in verb:  # of which the size is that of the files, records' heads too
            assert 0.99 * bar.length < bar.done <= bar.length
        else:
            assert bar.done == bar.length > CHUNK


@pytest.mark.parametrize("verb", VERBS)
def test_no_bar_without_a_terminal_or_for_quick_work(
    verb: str, files: Path, bars: list[Bar], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(VERBS[verb], monkeypatch, terminal=False)
    monkeypatch.setattr(progress, "QUIET_SECONDS", 60.0)
    run(VERBS[verb], monkeypatch, terminal=True)
    assert bars == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("verb", ["diff", "annotate", "save", "build of arrays"])
def test_a_bar_is_on_the_terminal_and_not_in_the_output(verb: str, files: Path) -> None:
    import pty

    code = "from miltext.cli import command, progress; progress.QUIET_SECONDS = -1.0; command()"
    quiet = subprocess.run([sys.executable, "-c", code, *VERBS[verb]], capture_output=True, check=False)
    for made in ("arrays", "out.mlpackage"):
        shutil.rmtree(made, ignore_errors=True)
    master, slave = pty.openpty()
    try:
        shown = subprocess.run([sys.executable, "-c", code, *VERBS[verb]], stdout=subprocess.PIPE, stderr=slave, check=False)  # fmt: skip  # noqa: E501
        os.close(slave)
        assert b"100%" in os.read(master, 1 << 16)
    finally:
        os.close(master)
    assert (shown.returncode, shown.stdout, quiet.stderr) == (quiet.returncode, quiet.stdout, b"")
