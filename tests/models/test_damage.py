"""Whatever is in a file, a verb reads it or refuses it: no other exception, nothing written, nothing left."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import PROFILE
from models.test_hostile_arrays import IN_TEXTS
from support.damage import KINDS, OTHER, READ, REFUSED, Case, _judged, cases, make_scene, run, tally

SEED, COUNT = 11, 60 if PROFILE == "thorough" else 30

ARRAYS = [kind[1:] for kind in IN_TEXTS]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scene")
    make_scene(folder)
    return folder


@pytest.fixture
def here(scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the scene, where the process is."""
    folder = tmp_path / "here"
    shutil.copytree(scene, folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_file_is_read_or_refused(name: str, here: Path) -> None:
    counts, wrong = tally(name, here, SEED, COUNT)
    assert [(case.verb, case.story) for case in wrong] == []
    assert counts[REFUSED] + counts[READ] == COUNT


@pytest.mark.parametrize(
    "name", ["mlpackage", "pipeline", "stage", "bundle's text", "mil", "input", "inputs", "states", *ARRAYS]
)
def test_whole_files_are_read(name: str, here: Path) -> None:
    """The verbs do what they should, so that it is the damage that they refuse."""
    for verb in KINDS[name].calls:
        case = run(verb, b"", here)
        assert case.outcome == READ, (verb, case.story)


def test_a_whole_picture_is_read(here: Path) -> None:
    pytest.importorskip("PIL", reason="pictures are read with the extra `images`")
    assert [run(verb, b"", here).outcome for verb in KINDS["picture"].calls] == [READ]


def test_damage_is_found_out(here: Path) -> None:
    """The law can fail: what is left behind, said without a word, or written all the same is told."""
    assert _judged("print m", 0, "", [".a.tmp"]).outcome == OTHER
    assert _judged("print m", 1, "m: error[MIL253]: ...", ["out.mil"]).outcome == OTHER
    assert _judged("print m", 1, "", []).outcome == OTHER
    assert _judged("print m", 1, "m: error[MIL253]: ...", []).outcome == REFUSED
    found = [next(cases("weights", here, SEED)) for _ in range(2)]
    assert isinstance(found[0], Case)
    assert found[0] == found[1]
