"""Nothing is lost, and nothing escapes: failed and interrupted builds, lying records, names that lead outside."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.containers import LFS, link
from support.weight_records import header, record

import miltext
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.diagnostics import MiltextError, ModelError
from miltext.drafting.building import build
from miltext.files import staging
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobFile, BlobWriter

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
DATA = Path("Data", "com.apple.CoreML")
BLOB = 'tensor<fp32, [16]>(BLOBFILE(path = string("%s"), offset = uint64(%d)))'


def program(value: str, more: str = "") -> str:
    return f"""program(1.3)
{{
    func main<ios18>(tensor<fp32, [16]> x) {{
            tensor<fp32, [16]> w = const()[name = string("w"), val = {value}];
            {more}
            tensor<fp32, [16]> y = add(x = x, y = w)[name = string("y")];
        }} -> (y);
}}
"""


def text_model(text: str, folder: Path) -> TextModel:
    path = folder / "model.mil"
    path.write_text(text)
    return TextModel(text.encode(), str(path), path)


def blob(name: str = "@model_path/weights/weight.bin", offset: int = 64) -> str:
    return program(BLOB % (name, offset))


def weight_file(folder: Path, data: bytes | None = None) -> Path:
    path = folder / "weights" / "weight.bin"
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        with BlobWriter(path) as writer:
            writer.add(BY_NAME["fp32"], np.arange(16, dtype=np.float32))
    else:
        path.write_bytes(data)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


# ---- what is there stays until all is written


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A package that is where a build is to write."""
    shutil.copytree(EXAMPLE, tmp_path / "Old.mlpackage")
    return tmp_path / "Old.mlpackage"


def test_a_target_is_replaced_only_with_force(old: Path) -> None:
    before = contents(old)
    model = miltext.load(EXAMPLE)
    model.program.functions["main"].attributes.clear()
    with pytest.raises(FileExistsError, match="it already exists"):
        model.save(old)
    assert contents(old) == before
    model.save(old, force=True)
    assert [path.name for path in old.parent.iterdir()] == [old.name]


@pytest.mark.parametrize("fails", ["read", "write", "swap", "rename"])
def test_a_build_that_fails_leaves_the_old_one_whole(old: Path, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
    before = contents(old)
    real = os.replace
    calls: list[object] = []

    def broken(source: Path, target: Path) -> None:
        calls.append(source)
        if len(calls) == 1:
            raise OSError(errno.EIO, "the disk is gone")
        real(source, target)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space left")

    if fails in ("swap", "rename"):
        monkeypatch.setattr(staging, "_call", full if fails == "swap" else lambda *_: False)
        monkeypatch.setattr(os, "replace", broken)
    if fails == "read":
        (old / DATA / "weights" / "weight.bin").write_bytes(b"")
        before = contents(old)
    if fails == "write":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises((OSError, ModelError)):
        miltext.load(old).save(old, force=True)
    assert contents(old) == before
    assert [path.name for path in old.parent.iterdir()] == [old.name]


def test_without_a_swap_target_is_moved_aside_and_then_removed(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "_call", lambda *_: False)
    model = miltext.load(old)
    model.program.functions["main"].opset = "CoreML7"
    model.save(old, force=True)
    assert miltext.load(old).program.functions["main"].opset == "CoreML7"
    assert [path.name for path in old.parent.iterdir()] == [old.name]


def test_several_files_move_together_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "a.mlmodel"
    old_model = b"an old model of @model_path/weights/weight.bin"
    model.write_bytes(old_model)
    weights = weight_file(tmp_path, b"old weights")
    (tmp_path / "in").mkdir()
    weight_file(tmp_path / "in")
    source = text_model(blob(), tmp_path / "in")
    displace = staging.displace
    calls: list[object] = []

    def second_fails(made: Path, target: Path) -> None:
        calls.append(made)
        if len(calls) == 2:
            raise OSError(errno.EIO, "the disk is gone")
        displace(made, target)

    monkeypatch.setattr(staging, "displace", second_fails)
    with pytest.raises(OSError, match="the disk is gone"):
        build(source, model, force=True)
    assert (model.read_bytes(), weights.read_bytes()) == (old_model, b"old weights")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mlmodel", "in", "weights"]
    monkeypatch.undo()
    with pytest.raises(FileExistsError):
        build(source, model)
    build(source, model, force=True)
    assert weights.read_bytes() == (tmp_path / "in" / "weights" / "weight.bin").read_bytes()
    assert list(miltext.load(model).weights["w"]) == list(range(16))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_an_interrupted_build_leaves_the_old_one_whole(old: Path, number: str) -> None:
    before = contents(old)
    script = f"""
import os, signal, sys, time
from miltext.building import writing
from miltext.__main__ import main

def struck(path, pieces, write=writing.write_new):
    write(path, pieces)
    os.kill(os.getpid(), signal.{number})
    time.sleep(60)

writing.write_new = struck
main()
"""
    command = [sys.executable, "-c", script, "build", str(old), "-o", str(old), "--force"]
    result = subprocess.run(command, capture_output=True, check=False, timeout=50)
    assert (result.returncode, result.stderr) == (128 + getattr(signal, number), b"")
    assert contents(old) == before
    assert [path.name for path in old.parent.iterdir()] == [old.name]


def test_a_folder_that_is_not_a_package_is_never_replaced(tmp_path: Path) -> None:
    precious = tmp_path / "Home.mlpackage"
    (precious / "letters").mkdir(parents=True)
    with pytest.raises(ModelError, match="MIL402"):
        miltext.load(EXAMPLE).save(precious, force=True)
    (tmp_path / "a.mlmodel").mkdir()
    with pytest.raises(ModelError, match="MIL402"):
        miltext.load(EXAMPLE).save(tmp_path / "a.mlmodel", force=True)
    with pytest.raises(ModelError, match="MIL401"):
        miltext.load(EXAMPLE).save(tmp_path / "a.coreml")
    assert (precious / "letters").is_dir()


def test_the_original_may_be_the_target_and_keeps_other_files(old: Path) -> None:
    manifest = json.loads((old / "Manifest.json").read_text())
    manifest["itemInfoEntries"]["mine"] = {"author": "me", "description": "", "name": "notes", "path": "me/notes.txt"}
    (old / "Manifest.json").write_text(json.dumps(manifest))
    (old / "Data" / "me").mkdir()
    (old / "Data" / "me" / "notes.txt").write_text("keep this")
    original = open_model(old)
    text = miltext.to_text(original.program).replace("int32(-1)", "int32(1)")
    build(text_model(text, old.parent), old, original=original, force=True)
    assert (old / "Data" / "me" / "notes.txt").read_text() == "keep this"
    assert json.loads((old / "Manifest.json").read_text()) == manifest
    assert "int32(1)" in miltext.to_text(miltext.load(old).program)


# ---- what weights may be named, and what they must be

LIES: dict[str, tuple[str, str, bytes | None]] = {
    "climbs": ("MIL301", blob("@model_path/../weights/weight.bin"), None),
    "absolute": ("MIL301", blob("/etc/passwd"), None),
    "absolute below": ("MIL301", blob("@model_path//etc/passwd"), None),
    "no @model_path": ("MIL301", blob("weights/weight.bin"), None),
    "not there": ("MIL302", blob("@model_path/other.bin"), None),
    "git-lfs": ("MIL303", blob(), LFS),
    "empty": ("MIL304", blob(), b""),
    "version 1": ("MIL304", blob(), header(version=1) + record() + bytes(64)),
    "sentinel": ("MIL305", blob(), header() + record(sentinel=0xDEADBEE0) + bytes(64)),
    "no place": ("MIL305", blob(offset=65), None),
    "past the end": ("MIL305", blob(offset=6400), None),
    "size": ("MIL306", blob(), header() + record(size=640) + bytes(64)),
    "start": ("MIL306", blob(), header() + record(start=1 << 40) + bytes(64)),
    "unknown dtype": ("MIL306", blob(), header() + record(number=99) + bytes(64)),
    "dtype": ("MIL309", blob(), header() + record(number=14) + bytes(64)),
    "count": ("MIL309", blob(), header() + record(size=32) + bytes(32)),
    "no tensor": (
        "MIL309",
        blob().replace("val = tensor<fp32, [16]>", "val = list<fp32, 16>"),
        None,
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_weight_that_is_not_as_it_is_stated(lie: str, tmp_path: Path) -> None:
    code, text, data = LIES[lie]
    weight_file(tmp_path, data)
    out = tmp_path / "New.mlpackage"
    with pytest.raises(MiltextError, match=code) as failure:
        build(text_model(text, tmp_path), out, check=False)
    assert failure.value.diagnostics[0].notes
    if code == "MIL309":
        assert "`w`" in str(failure.value)
    assert not out.exists()


def test_a_link_that_leads_outside(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    outside = weight_file(tmp_path)
    (folder / "weights").mkdir(parents=True)
    link(folder / "weights" / "weight.bin", outside)
    with pytest.raises(MiltextError, match="MIL301"):
        build(text_model(blob(), folder), tmp_path / "New.mlpackage")
    package = tmp_path / "Linked.mlpackage"
    shutil.copytree(EXAMPLE, package)
    link(package / "Data" / "more", tmp_path)
    with pytest.raises(MiltextError, match="MIL403"):
        miltext.load(package).save(tmp_path / "New.mlpackage")
    (package / "Data" / "more").unlink()
    link(package / "Data" / "more.txt", package / "Manifest.json")
    miltext.load(package).save(tmp_path / "New.mlpackage")
    assert not (tmp_path / "New.mlpackage" / "Data" / "more.txt").is_symlink()


def test_weights_are_found_beside_the_text_or_where_it_is_stated(tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    path = weight_file(folder)
    (tmp_path / "text").mkdir()
    source = text_model(blob(), tmp_path / "text")
    with pytest.raises(MiltextError, match="MIL302"):
        build(source, tmp_path / "None.mlpackage")
    for number, weights in enumerate((folder, folder / "weights")):
        out = tmp_path / f"{number}.mlpackage"
        build(source, out, weights=weights)
        assert (out / DATA / "weights" / "weight.bin").read_bytes() == path.read_bytes()
        assert list(miltext.load(out).weights["w"]) == list(range(16))
    with pytest.raises(MiltextError, match="MIL302"):
        build(source, tmp_path / "None.mlpackage", weights=tmp_path / "text")


# ---- large files in little memory

HOLE = 4 << 30
SCRIPT = f"""
import sys
from pathlib import Path
from miltext.containers.opening import open_model
from miltext.drafting.building import build

def anonymous():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) * 1024

most, seen = 0, []
def progress(size):
    global most
    seen.append(size)
    if len(seen) % 32 == 0:
        most = max(most, anonymous())

model = open_model(sys.argv[1])
build(model, sys.argv[2], progress=progress)
array = open_model(sys.argv[2]).weights["w"]
assert array.shape == ({HOLE // 4},) and array[-1] == 7 and float(array[1 << 20]) == 5
assert sum(seen) > {HOLE}, sum(seen)
print(max(most, anonymous()))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not tell how much memory is used")
def test_four_gigabytes_are_copied_and_read_in_little_memory(tmp_path: Path) -> None:
    source = tmp_path / "in"
    path = source / "weights" / "weight.bin"
    path.parent.mkdir(parents=True)
    with open(path, "wb") as file:
        file.write(header() + record(size=HOLE))
        # more than may be in memory at once
        file.writelines(struct.pack("<f", number) * (1 << 18) for number in range(1, 401))
        file.seek(128 + HOLE - 4)
        file.write(struct.pack("<f", 7))
    wide = f"tensor<fp32, [{HOLE // 4}]>"
    text_model(blob().replace("tensor<fp32, [16]>", wide), source)
    out = tmp_path / "New.mlpackage"
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(source / "model.mil"), str(out)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 300 << 20
    copy = out / DATA / "weights" / "weight.bin"
    assert copy.stat().st_size == path.stat().st_size
    with BlobFile(copy) as file:
        assert file.blob(64).size == HOLE


def test_a_bar_is_for_long_work_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import click

    from miltext.cli import progress
    from miltext.cli.writing_verbs import write_model

    bars: list[dict[str, object]] = []

    class Bar:
        def __init__(self, **options: object) -> None:
            bars.append({**options, "done": 0})

        def update(self, size: int) -> None:
            bars[-1]["done"] = int(str(bars[-1]["done"])) + size

        def render_finish(self) -> None:
            bars[-1]["finished"] = True

    monkeypatch.setattr(click, "progressbar", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    write_model(open_model(EXAMPLE), str(tmp_path / "Quick.mlpackage"))
    assert bars == []
    monkeypatch.setattr(progress, "QUIET_SECONDS", -1.0)
    write_model(open_model(EXAMPLE), str(tmp_path / "Slow.mlpackage"))
    assert (len(bars), bars[0]["finished"]) == (1, True)
    assert int(str(bars[0]["done"])) == (EXAMPLE / DATA / "weights" / "weight.bin").stat().st_size
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    write_model(open_model(EXAMPLE), str(tmp_path / "Piped.mlpackage"))
    assert len(bars) == 1


def test_an_unusable_and_an_unreadable_original(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(old)
    text = text_model(program("tensor<fp32, [16]>($empty)"), old.parent)
    with pytest.raises(ModelError, match="MIL404"):
        build(text, old, original=text, force=True)
    monkeypatch.setattr("miltext.building.writing.LARGEST", 100)
    with pytest.raises(ModelError, match="MIL405"):
        miltext.load(old).save(old, force=True)
    assert contents(old) == before
