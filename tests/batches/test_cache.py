"""The cache of results: an unchanged model has its result, a damaged entry is none, and many may write at once."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from miltext.batches import cache as caches
from miltext.batches.cache import TAG, Hit, ResultCache
from miltext.batches.reads import Reads, recording
from miltext.diagnostics.dynamic import Record

WORK = ["check", {"fix": "False"}, "m.mil"]
RESULT: Record = {"status": 1, "out": "\udcff text", "err": "", "counts": {"error": 1}}


def reads_of(model: Path) -> Reads:
    with recording() as recorder:
        model.read_bytes()
    found = recorder.reads(str(model))
    assert found is not None
    return found


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.mil"
    path.write_text("text", encoding="utf-8")
    os.utime(path, (1, 1))
    return path


@pytest.fixture
def folder(tmp_path: Path, model: Path) -> Path:
    """A folder with one result."""
    cache = ResultCache(tmp_path / "kept" / "cache")
    cache.put(WORK, reads_of(model), RESULT)
    cache.close()
    assert cache.problem is None
    return tmp_path / "kept" / "cache"


def put(folder: Path, work: list[Any], reads: Reads, result: Record) -> None:
    cache = ResultCache(folder)
    cache.put(work, reads, result)
    cache.close()


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if len(path.name) == 64)


def test_a_result_is_kept(folder: Path) -> None:
    assert ResultCache(folder).get(WORK) == Hit(RESULT)
    assert len(entries(folder)) == 1


def test_the_folder_is_marked_as_a_cache(folder: Path) -> None:
    assert (folder / ".gitignore").read_text() == "*\n"
    assert (folder / TAG).read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    (folder / ".gitignore").write_text("mine\n")
    put(folder, ["other"], Reads(1, [], []), RESULT)
    assert (folder / ".gitignore").read_text() == "mine\n"


def test_other_work_has_no_result(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ResultCache(folder).get([*WORK[:-1], "n.mil"]) is None
    assert ResultCache(folder).get(["info", *WORK[1:]]) is None
    monkeypatch.setattr(caches, "versions", lambda: {"miltext": "0.0.1"})
    assert ResultCache(folder).get(WORK) is None


def test_two_versions_share_a_folder(folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setattr(caches, "versions", lambda: {"miltext": "0.0.1"})
        put(folder, WORK, reads_of(model), {"status": 0})
        assert ResultCache(folder).get(WORK) == Hit({"status": 0})
    assert ResultCache(folder).get(WORK) == Hit(RESULT)


def test_the_code_of_a_checkout_is_a_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caches, "_PACKAGE", tmp_path)
    monkeypatch.setattr(caches, "distribution", lambda _: SimpleNamespace(read_text=lambda _: "miltext.pth,,\n"))
    found = []
    for text in ("a", "b", "a"):
        (tmp_path / "code.py").write_text(text, encoding="utf-8")
        caches.versions.cache_clear()
        found.append(caches.versions())
    assert found[0] == found[2] != found[1]
    monkeypatch.setattr(
        caches, "distribution", lambda _: SimpleNamespace(read_text=lambda _: "miltext/__init__.py,x,1")
    )
    caches.versions.cache_clear()
    assert caches.versions() != found[0]
    monkeypatch.undo()
    caches.versions.cache_clear()


def test_a_changed_model_has_no_result_and_then_another(folder: Path, model: Path) -> None:
    model.write_text("texts", encoding="utf-8")
    cache = ResultCache(folder)
    assert cache.get(WORK) is None
    put(folder, WORK, reads_of(model), {"status": 0})
    assert cache.get(WORK) == Hit({"status": 0})
    assert len(entries(folder)) == 1


def test_a_damaged_entry_is_a_miss(folder: Path) -> None:
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    damaged = [whole[:end] for end in range(0, len(whole), 7)]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), 7)]
    for data in [*damaged, whole + b"\n", b"\n", b"{}"]:
        entry.write_bytes(data)
        assert ResultCache(folder).get(WORK) is None
    entry.unlink()
    entry.mkdir()
    assert ResultCache(folder).get(WORK) is None


def put_many(folder: Path, model: Path, first: int) -> bool:
    cache = ResultCache(folder)
    reads = reads_of(model)
    for number in range(40):
        cache.put(["work", (first + number) % 50], reads, RESULT)
    cache.close()
    return cache.problem is None


def test_many_processes_write_at_once(folder: Path, model: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        assert all(pool.map(partial(put_many, folder, model), range(0, 40, 10)))
    assert all(ResultCache(folder).get(["work", number]) == Hit(RESULT) for number in range(50))
    assert {path.name for path in folder.iterdir()} == {".gitignore", TAG, *(path.name for path in entries(folder))}


def test_entries_are_written_before_the_end(tmp_path: Path, model: Path) -> None:
    cache, reads = ResultCache(tmp_path / "cache"), reads_of(model)
    for number in range(caches.TOGETHER):
        cache.put(["work", number], reads, RESULT)
    assert len(entries(tmp_path / "cache")) == caches.TOGETHER


def test_the_least_recently_used_results_are_deleted_first(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, reads = ResultCache(folder), reads_of(model)
    (oldest,) = entries(folder)
    size = oldest.stat().st_size
    for number in range(9):
        cache.put(["work", number], reads, RESULT)
    cache.close()
    for path in entries(folder):
        os.utime(path, (5, 5))
    assert cache.get(["work", 3]) == Hit(RESULT)
    cache.put(WORK, reads, RESULT)
    monkeypatch.setattr(caches, "MOST", 5 * size)
    (folder / "notes.txt").write_bytes(bytes(10 * size))
    cache.close()
    assert 1 <= len(entries(folder)) <= 3
    assert cache.get(["work", 3]) == Hit(RESULT)
    assert (folder / "notes.txt").exists()


def test_a_folder_that_cannot_be_written_only_has_a_problem(tmp_path: Path, model: Path) -> None:
    cache = ResultCache(tmp_path / "cache")
    (tmp_path / "cache").write_bytes(b"")
    for number in range(3):
        cache.put(["work", number], reads_of(model), RESULT)
        cache.close()
    assert isinstance(cache.problem, NotADirectoryError | FileNotFoundError | FileExistsError)
    assert cache.get(["work", 0]) is None


def test_a_file_in_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    with pytest.raises(NotADirectoryError):
        ResultCache(tmp_path / "cache")


def test_a_touched_model_is_compared_once(folder: Path, model: Path) -> None:
    (entry,) = entries(folder)
    os.utime(model, (2, 2))
    before = entry.read_bytes()
    cache = ResultCache(folder)
    assert cache.get(WORK) == Hit(RESULT)
    cache.close()
    after = entry.read_bytes()
    assert after != before
    time.sleep(0.01)
    assert ResultCache(folder).get(WORK) == Hit(RESULT)
    assert entry.read_bytes() == after
