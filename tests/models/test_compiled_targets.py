"""Where a compiled model is written, what that replaces, and what a failure leaves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from models.test_build_safety import blob, contents, text_model, weight_file
from models.test_compiling import FILES, in_package, written
from support.containers import write_package
from support.pipelines import unary

import miltext
from miltext.containers.opening import open_model
from miltext.diagnostics import ModelError

EXAMPLE = Path(__file__).parents[2] / "examples" / "Classifier.mlpackage"


def test_a_target_is_replaced_only_with_force_or_by_itself(tmp_path: Path) -> None:
    bundle = written(unary("x", "y"), tmp_path)
    before = contents(bundle)
    with pytest.raises(FileExistsError, match="it already exists"):
        miltext.build(open_model(bundle), bundle)
    miltext.build(open_model(bundle), bundle, force=True)
    after = contents(bundle)
    del before["analytics/coremldata.bin"], after["analytics/coremldata.bin"]  # the hash of a package of the bundle
    assert after == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["In.mlpackage", "Out.mlmodelc"]


def a_package(path: Path) -> None:
    write_package(path, b"")


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "mine.txt").write_text("mine")


def a_file(path: Path) -> None:
    path.write_text("mine")


@pytest.mark.parametrize("make", [a_package, a_folder, a_file])
def test_files_of_another_kind_are_not_replaced(make: Any, tmp_path: Path) -> None:
    make(tmp_path / "C.mlmodelc")
    source = in_package(unary("x", "y"), tmp_path / "in")
    before = contents(tmp_path)
    with pytest.raises(ModelError, match=r"MIL402.*not a compiled model"):
        miltext.build(source, tmp_path / "C.mlmodelc", force=True)
    assert contents(tmp_path) == before


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "C.mlmodelc").mkdir()
    miltext.build(in_package(unary("x", "y"), tmp_path / "in"), tmp_path / "C.mlmodelc", force=True)
    assert list(contents(tmp_path / "C.mlmodelc")) == FILES


def test_nothing_is_written_inside_the_input(tmp_path: Path) -> None:
    source = in_package(unary("x", "y"), tmp_path)
    with pytest.raises(ModelError, match=r"MIL402.*inside the input"):
        miltext.build(source, tmp_path / "P.mlpackage" / "C.mlmodelc")
    bundle = written(unary("x", "y"), tmp_path)
    with pytest.raises(ModelError, match="MIL402"):
        miltext.build(open_model(bundle / "model.mil"), bundle, force=True)


@pytest.mark.parametrize("fails", ["os.fsync", "json.dumps"])
def test_a_build_that_fails_leaves_the_old_bundle_whole(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = written(unary("x", "y"), tmp_path)
    before = contents(tmp_path)

    def broken(*_: object, **__: object) -> None:
        raise OSError(28, "no space left")

    source = open_model(EXAMPLE)
    monkeypatch.setattr(fails, broken)
    with pytest.raises(OSError, match="no space left"):
        miltext.build(source, bundle, force=True)
    assert contents(tmp_path) == before


def test_other_files_of_a_bundle_are_reported(tmp_path: Path) -> None:
    bundle = written(unary("x", "y"), tmp_path)
    (bundle / "notes.txt").write_text("mine")
    for ending in (".mlpackage", ".mlmodelc", ".mlmodel"):
        (told, *_) = miltext.build(open_model(bundle), tmp_path / f"New{ending}")
        assert (told.code, told.message.endswith(": notes.txt")) == ("MIL442", True)


def test_progress_counts_the_bytes_that_are_written(tmp_path: Path) -> None:
    sizes: list[int] = []
    expected: list[int] = []
    told: Any = {"progress": sizes.append, "expect": lambda size: expected.append(size())}
    miltext.build(open_model(EXAMPLE), tmp_path / "C.mlmodelc", **told)
    assert sum(sizes) == expected[0] == (tmp_path / "C.mlmodelc" / "weights" / "weight.bin").stat().st_size
    weight_file(tmp_path)
    del sizes[:], expected[:]
    miltext.build(text_model(blob(), tmp_path), tmp_path / "D.mlmodelc", externalize=1, prune_weights=True, **told)
    assert sum(sizes) == expected[0] > 0
