"""The files that some work read: a change of any of them is noticed, and an unchanged one is not read."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pytest
from support.zoo import opened_below

from miltext.batches import reads
from miltext.batches.reads import Reads, recording

LONG_AGO = time.time_ns() - 10**12


def write(path: Path, text: str, changed: int = LONG_AGO) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(changed, changed))


def read_of(work: Callable[[], object], model: Path) -> Reads | None:
    with recording() as recorder:
        work()
    return recorder.reads(str(model))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.mil"
    write(path, "text")
    return path


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    path = tmp_path / "w.npy"
    write(path, "array")
    return path


@pytest.fixture
def known(model: Path, beside: Path) -> Reads:
    found = read_of(lambda: (model.read_text(), beside.read_bytes()), model)
    assert found is not None
    return found


def test_unchanged_files_are_not_opened(known: Reads, model: Path, beside: Path) -> None:
    assert [each.path for each in known.files] == [str(model), str(beside)]
    with opened_below(model.parent) as found:
        assert known.renewed() is known
    assert found == []


def replace(path: Path, text: str) -> None:
    write(path.with_suffix(".new"), text)
    path.with_suffix(".new").replace(path)


def become_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGES: dict[str, Callable[[Path], object]] = {
    "another size": lambda path: write(path, "longer text"),
    "same size": lambda path: write(path, "arrax", LONG_AGO + 1),
    "same size and time": lambda path: write(path, "arrax"),
    "gone": lambda path: path.unlink(),
    "a folder": become_folder,
    "another file": lambda path: replace(path, "arrax"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_any_file_is_noticed(change: str, known: Reads, beside: Path) -> None:
    CHANGES[change](beside)
    assert known.renewed() is None


SAME: dict[str, Callable[[Path], object]] = {
    "touched": os.utime,
    "written again": lambda path: write(path, "array", LONG_AGO + 1),
    "another file": lambda path: replace(path, "array"),
}


@pytest.mark.parametrize("change", SAME)
def test_a_file_with_the_same_contents_is_read_once_more(
    change: str, known: Reads, model: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SAME[change](beside)
    later = time.time_ns() + 10 * reads.COARSEST
    monkeypatch.setattr(time, "time_ns", lambda: later)
    with opened_below(model.parent) as found:
        renewed = known.renewed()
    assert found == [str(beside)]
    assert renewed is not None
    with opened_below(model.parent) as found:
        assert renewed.renewed() is renewed
    assert found == []


def test_a_file_written_just_before_its_reading_is_compared(model: Path) -> None:
    """Its times may not change when it is written again: such as on FAT, where they are even seconds."""
    write(model, "text", time.time_ns())
    known = read_of(model.read_text, model)
    assert known is not None
    os.utime(model, ns=(known.files[0].identity or (0, 0))[:2])
    with opened_below(model.parent) as found:
        assert known.renewed() is not None
    assert found == [str(model)]


def test_a_file_that_was_looked_for_may_appear(model: Path, tmp_path: Path) -> None:
    def work() -> None:
        with pytest.raises(FileNotFoundError):
            (tmp_path / "w.npy").read_bytes()

    known = read_of(work, model)
    assert known is not None
    assert known.renewed() is known
    write(tmp_path / "w.npy", "array")
    assert known.renewed() is None


def test_all_files_and_names_in_a_model_count(tmp_path: Path) -> None:
    package = tmp_path / "M.mlpackage"
    write(package / "Manifest.json", "{}")
    write(package / "Data" / "weight.bin", "0")
    known = read_of((package / "Manifest.json").read_bytes, package)
    assert known is not None
    assert known.renewed() is known
    write(package / "Data" / "other.bin", "0")
    assert known.renewed() is None
    (package / "Data" / "other.bin").unlink()
    assert known.renewed() is known
    write(package / "Data" / "weight.bin", "1")
    assert known.renewed() is None


def test_a_listed_folder_is_an_input(model: Path, tmp_path: Path) -> None:
    write(tmp_path / "samples" / "a.npz", "")
    known = read_of(lambda: os.listdir(tmp_path / "samples"), model)
    assert known is not None
    assert known.renewed() is known
    write(tmp_path / "samples" / "b.npz", "")
    assert known.renewed() is None


def test_a_large_file_is_never_read_but_counts_as_changed(
    model: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reads, "LARGEST", 4)
    known = read_of(beside.read_bytes, model)
    assert known is not None
    assert [each.digest is None for each in known.files] == [True, False]
    assert known.renewed() is known
    os.utime(beside)
    assert known.renewed() is None


def test_work_that_writes_is_not_only_a_result(model: Path, tmp_path: Path) -> None:
    assert read_of(lambda: (tmp_path / "out").write_text(""), model) is None


def test_a_file_that_changes_during_the_work_is_not_compared(model: Path, beside: Path) -> None:
    def work() -> None:
        beside.read_bytes()
        os.utime(beside, ns=(LONG_AGO + 5, LONG_AGO + 5))

    assert read_of(work, model) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_a_pipe_is_not_an_input_to_compare(model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["sh", "-c", 'echo once > "$0"', tmp_path / "pipe"]):
        assert read_of((tmp_path / "pipe").read_text, model) is None


def test_files_that_another_thread_opens_count(model: Path, beside: Path) -> None:
    def work() -> None:
        thread = Thread(target=beside.read_bytes)
        thread.start()
        thread.join()

    known = read_of(work, model)
    assert known is not None
    assert str(beside) in [each.path for each in known.files]


def test_files_of_the_installation_do_not_count(model: Path) -> None:
    known = read_of(lambda: (Path(reads.__file__).read_bytes(), Path(json.__file__).read_bytes()), model)
    assert known is not None
    assert [each.path for each in known.files] == [str(model)]


def test_reads_come_back_from_json(known: Reads) -> None:
    assert Reads.of_json(*json.loads(json.dumps(known))) == known
