"""A compiled model is written whole or not at all: what was there stays whole, and nothing is left beside it."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from models import test_interrupts
from models.test_build_safety import blob, contents, weight_file
from models.test_interrupts import struck
from models.test_outputs import RUNNER, posix, tree
from support.containers import link, write_package
from support.pipelines import of_text, piped, unary

import miltext
from miltext.building import build, writing
from miltext.building.choices import BuildChoices
from miltext.building.compiling import writing as compiling
from miltext.cli import command
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError
from miltext.files import staging
from miltext.files.interrupts import ended_by_signals
from miltext.schema.proto import Model

STRIDE = 5
"""A signal comes at each line of so many: all of them would take too long, and their number is a prime."""


def weighted(folder: Path) -> Path:
    """A text with a weight file beside it."""
    weight_file(folder)
    (folder / "a.mil").write_text(blob())
    return folder / "a.mil"


def a_program(folder: Path) -> Path:
    return weighted(folder)


def a_pipeline(folder: Path) -> Path:
    weighted(folder)
    spec = piped(unary("x", "y"), of_text(blob().replace("x)", "y)").replace("= x", "= y")), names=["a", "b"])
    (folder / "P.mlmodel").write_bytes(spec.SerializeToString())
    return folder / "P.mlmodel"


# ---- signals


@posix
@pytest.mark.parametrize("make", [a_program, a_pipeline])
@pytest.mark.parametrize("there", [True, False], ids=["replaced", "new"])
def test_a_signal_leaves_the_old_one_or_the_new_one(
    there: bool, make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(test_interrupts, "WRITING", {each.__file__ for each in (staging, compiling, writing)})
    (tmp_path / "in").mkdir()
    room = tmp_path / "room"
    choices = BuildChoices(force=True, check=False)
    source = open_model(make(tmp_path / "in"))
    prepared = build.prepare(source, room / "C.mlmodelc", choices)

    def prepare() -> None:
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir()
        if there:
            (room / "C.mlmodelc").mkdir()
            (room / "C.mlmodelc" / "coremldata.bin").write_text("old")

    def write() -> None:
        new = deepcopy(prepared)
        with ended_by_signals():
            compiling.write_compiled(new, room / "C.mlmodelc", choices)

    prepare()
    before = tree(room)
    write()
    after = tree(room)
    line, strikes = 1, 0
    while True:
        prepare()
        if not struck(line, write):
            break
        assert tree(room) in (before, after), f"line {line}"
        line, strikes = line + STRIDE, strikes + 1
    assert strikes > 25  # so that they reach all of the writing
    assert tree(room) == after


# ---- no room, and no leave


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
@pytest.mark.parametrize("size", [0, 100, 150, 700])
@pytest.mark.parametrize("make", [a_program, a_pipeline])
def test_a_full_disk_leaves_the_old_one(make: Callable[[Path], Path], size: int, tmp_path: Path) -> None:
    """Weights are the first to be cut short, then the text, then `metadata.json`."""
    source = make(tmp_path)
    target = tmp_path / "C.mlmodelc"
    miltext.build(source, target, check=False)
    before = contents(tmp_path)
    assert max(map(len, before.values())) > size
    with files_of_at_most(size), pytest.raises(OSError, match="large") as raised:
        miltext.build(source, target, force=True, check=False)
    assert (raised.value.errno, raised.value.filename) == (errno.EFBIG, str(target))
    assert contents(tmp_path) == before
    assert not [each for each in os.listdir(tmp_path) if each.startswith(".miltext")]


def test_a_folder_that_may_not_be_written_to_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = weighted(tmp_path)
    before = tree(tmp_path)

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refused)
    target = tmp_path / "C.mlmodelc"
    result = RUNNER.invoke(command, ["build", str(source), "-o", str(target)])
    monkeypatch.undo()
    assert result.exit_code == 2
    assert f"{target}: Permission denied" in result.stderr
    assert tree(tmp_path) == before


@pytest.mark.parametrize("inner", ["C.mlmodelc", "more/C.mlmodelc"])
def test_a_file_in_the_place_of_a_folder_is_reported(inner: str, tmp_path: Path) -> None:
    source = weighted(tmp_path)
    (tmp_path / "file").write_text("mine")
    before = tree(tmp_path)
    result = RUNNER.invoke(command, ["build", str(source), "-o", str(tmp_path / "file" / inner)])
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert tree(tmp_path) == before


# ---- onto, into and through what is there


def test_an_output_inside_the_input_is_refused(tmp_path: Path) -> None:
    bundle = tmp_path / "C.mlmodelc"
    miltext.build(a_pipeline(tmp_path), bundle, check=False)
    before = tree(tmp_path)
    for inner in ("D.mlmodelc", "model0", "model0/D.mlmodelc", "model0.mlmodelc"):
        with pytest.raises((ModelError, FileExistsError)):
            miltext.build(bundle, bundle / inner, check=False)
    assert tree(tmp_path) == before


def test_a_stage_does_not_replace_pipeline_that_it_is_read_from(tmp_path: Path) -> None:
    bundle = tmp_path / "C.mlmodelc"
    miltext.build(a_pipeline(tmp_path), bundle, check=False)
    before = tree(tmp_path)
    with pytest.raises(ModelError, match="MIL402"):
        miltext.build(bundle / "model1", bundle, force=True, check=False)
    assert tree(tmp_path) == before


def test_a_pipeline_is_written_onto_itself(tmp_path: Path) -> None:
    bundle = tmp_path / "C.mlmodelc"
    miltext.build(a_pipeline(tmp_path), bundle, check=False)
    before = contents(bundle)
    miltext.build(bundle, bundle, force=True, check=False)
    after = contents(bundle)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    # The names of its weights are unlike in one folder, and so its hash is that of another package.
    assert changed == {
        "analytics/coremldata.bin",
        "model1/model.mil",
        "model1/weights/weight.bin",
        "model1/weights/1-weight.bin",
    }
    miltext.build(bundle, bundle, force=True, check=False)
    assert contents(bundle) == after


@posix
def test_the_targets_of_links_are_replaced(tmp_path: Path) -> None:
    source = weighted(tmp_path)
    (tmp_path / "real").mkdir()
    link(tmp_path / "L.mlmodelc", tmp_path / "real" / "C.mlmodelc")
    miltext.build(source, tmp_path / "L.mlmodelc")
    assert (tmp_path / "L.mlmodelc").is_symlink()
    before = contents(tmp_path / "real" / "C.mlmodelc")
    with pytest.raises(FileExistsError):
        miltext.build(source, tmp_path / "L.mlmodelc")
    miltext.build(source, tmp_path / "L.mlmodelc", force=True)
    assert (tmp_path / "L.mlmodelc").is_symlink()
    assert contents(tmp_path / "real" / "C.mlmodelc") == before


@posix
@pytest.mark.parametrize("name", ["weights", "weights/weight.bin"])
def test_weights_behind_links_that_lead_outside_are_refused(name: str, tmp_path: Path) -> None:
    miltext.build(weighted(tmp_path), tmp_path / "P.mlpackage")
    inside = tmp_path / "P.mlpackage" / "Data" / "com.apple.CoreML" / name
    inside.rename(tmp_path / "outside")
    link(inside, tmp_path / "outside")
    before = tree(tmp_path)
    with pytest.raises(ModelError, match=r"MIL30[12]"):
        miltext.build(tmp_path / "P.mlpackage", tmp_path / "C.mlmodelc")
    assert tree(tmp_path) == before


@posix
def test_a_stage_behind_a_link_is_not_a_stage(tmp_path: Path) -> None:
    bundle = tmp_path / "C.mlmodelc"
    miltext.build(a_pipeline(tmp_path), bundle, check=False)
    shutil.move(bundle / "model1", tmp_path / "elsewhere")
    link(bundle / "model1", tmp_path / "elsewhere")
    assert len(open_model(bundle).models) == 1


NAMES = ["../x.bin", "weights/../model.mil", "./model.mil", "./metadata.json", "model1/w.bin", "/etc/passwd", ""]


@pytest.mark.parametrize("name", NAMES)
def test_weights_by_odd_names_are_refused(name: str, tmp_path: Path) -> None:
    weight_file(tmp_path / "in")
    data = (tmp_path / "in" / "weights" / "weight.bin").read_bytes()
    (tmp_path / "in" / "model1").mkdir()
    for place in ("in/model.mil", "in/metadata.json", "in/model1/w.bin", "x.bin"):
        (tmp_path / place).write_bytes(data)
    (tmp_path / "in" / "a.mlmodel").write_bytes(of_text(blob(f"@model_path/{name}")).SerializeToString())
    before = tree(tmp_path)
    with pytest.raises(ModelError, match="MIL301"):
        miltext.build(tmp_path / "in" / "a.mlmodel", tmp_path / "C.mlmodelc")
    assert tree(tmp_path) == before


# ---- at the same time


def raced(work: Callable[[int], Any], count: int = 4) -> list[BaseException | None]:
    """What several threads raised that did this at once."""
    start = threading.Barrier(count)
    found: list[BaseException | None] = [None] * count

    def run(index: int) -> None:
        start.wait()
        try:
            work(index)
        except (OSError, ModelError) as failure:
            found[index] = failure

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def marked(folder: Path, index: int) -> Path:
    spec: Model = piped(unary("x", f"y{index}", f"inner{index}"), names=[f"name{index}"])
    return write_package(folder / f"{index}.mlpackage", spec.SerializeToString())


@pytest.mark.parametrize("force", [True, False])
def test_several_builds_into_one_place_leave_one_of_them_whole(force: bool, tmp_path: Path) -> None:
    packages = [marked(tmp_path, index) for index in range(4)]
    target = tmp_path / "C.mlmodelc"
    failures = raced(lambda index: miltext.build(packages[index], target, force=force, check=False))
    assert all(isinstance(each, FileExistsError) for each in failures if each is not None)
    assert failures.count(None) == (4 if force else 1)
    alone = [miltext.build(each, tmp_path / each.stem / "C.mlmodelc", check=False) for each in packages]
    assert len(alone) == 4
    assert contents(target) in [contents(tmp_path / each.stem / "C.mlmodelc") for each in packages]
    assert not [each for each in os.listdir(tmp_path) if each.startswith(".miltext")]
