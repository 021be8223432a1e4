"""`check --fix` on contradicted packages, drawn by a seed: `scripts/contradictions.py --fix` draws more of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.fix_law import Fixed, fixed_case
from support.whole_models import whole

from miltext.building import following
from miltext.checking.contract import fixing

KINDS = ("defaults", "enumerated", "image-enumerated", "image-ranges", "labels-int", "labels-string", "pipeline-2",
         "pipeline-3", "states", "two-files")  # fmt: skip
NAMES = ["image-beside-array", *(f"kind/{name}" for name in KINDS), "package/functions", "package/int4"]
PACKAGES = {name: partial(whole, name) for name in NAMES}

CASES = 6
"""The cases of one test."""


@pytest.fixture(autouse=True)
def _coremltools() -> None:
    pytest.importorskip("coremltools")


def cases(folder: Path, first: int, count: int = CASES) -> list[Fixed]:
    made = (fixed_case(PACKAGES, number, folder / str(number)) for number in range(first, first + count))
    return [each for each in made if each is not None]


@pytest.mark.parametrize("first", range(31_000, 31_036, CASES))
def test_a_fix_makes_the_model_better_as_reported(first: int, tmp_path: Path) -> None:
    assert [str(each) for each in cases(tmp_path, first) if each.broken] == []


def broken(folder: Path) -> str:
    return "\n".join(map(str, cases(folder, 31_000, 2 * CASES)))


def test_the_draw_has_fixed_and_unfixed_packages(tmp_path: Path) -> None:
    assert {each.is_written for each in cases(tmp_path, 31_000, 2 * CASES)} == {True, False}


def test_the_law_sees_a_file_that_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fixing, "write", lambda fix: None)
    assert "and the file was written: False" in broken(tmp_path)


def test_the_law_sees_another_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    true_write = fixing.write

    def write(fix: fixing.ModelFix) -> None:
        (fix.file.parent / "more").write_bytes(b"")
        true_write(fix)

    monkeypatch.setattr(fixing, "write", write)
    assert "another file changed" in broken(tmp_path)


def test_the_law_sees_a_wrong_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    true_fix = fixing.fix_of

    def fix_of(*given: Any) -> fixing.ModelFix | None:
        made = true_fix(*given)
        return made and made._replace(solved=made.solved + bool(made.solved))

    monkeypatch.setattr(fixing, "fix_of", fix_of)
    assert "findings are gone" in broken(tmp_path)


def test_the_law_sees_a_change_of_the_preferred_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    true_follow = following.follow_programs

    def follow_programs(spec: Any) -> Any:
        spec.mlProgram.version += 1
        return true_follow(spec)

    monkeypatch.setattr(fixing, "follow_programs", follow_programs)
    assert "the preferred mlProgram changed" in broken(tmp_path)


def test_a_number_makes_the_same_case_again(tmp_path: Path) -> None:
    assert cases(tmp_path / "a", 31_000) == cases(tmp_path / "b", 31_000)
