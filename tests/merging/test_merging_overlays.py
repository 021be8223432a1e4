"""The overlays of packages that are merged by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.commands import miltext
from support.overlays import FEATURES, FEATURES_TABLE, METADATA, METADATA_TABLE, overlaid, tables

from miltext.containers.opening import open_model


def merged(folder: Path, *tables: tuple[Any, Any], ending: str = ".mlpackage") -> tuple[Path, str]:
    """The merged model of packages with these overlays, base, ours and theirs, and what is told of it."""
    names = [overlaid(folder / f"{index}.mlpackage", None, *each) for index, each in enumerate(tables)]
    found = miltext("merge", *names, "-o", folder / f"N{ending}")
    assert found.returncode == 0, found.stderr
    return folder / f"N{ending}", found.stderr.decode()


def with_author(name: str, **more: object) -> dict[str, Any]:
    return {**METADATA_TABLE, "MLModelAuthorKey": name, **more}


BOTH = (METADATA_TABLE, FEATURES_TABLE)


def test_texts_of_both_sides_are_in_the_merged_overlay(tmp_path: Path) -> None:
    ours = (METADATA_TABLE, {**FEATURES_TABLE, "Inputs": {"x": {"MLFeatureShortDescription": "new x"}}})
    out, told = merged(tmp_path, BOTH, ours, (with_author("New"), FEATURES_TABLE))
    assert tables(out) == (with_author("New"), ours[1])
    assert told == ""


def test_an_overlay_that_one_side_added_is_kept(tmp_path: Path) -> None:
    out, _ = merged(tmp_path, (None, None), (None, None), BOTH)
    assert tables(out) == BOTH


def test_a_removed_overlay_is_not_there_but_texts_are(tmp_path: Path) -> None:
    out, _ = merged(tmp_path, BOTH, BOTH, (None, FEATURES_TABLE))
    assert not (out / METADATA).exists()
    assert (out / FEATURES).exists()
    read = open_model(out)
    assert read.description is not None
    assert read.description.metadata.author == "Own Author"


@pytest.mark.parametrize(
    ("ours", "theirs", "kept", "is_told"),
    [(1, 2, 2, False), (2, 1, 2, False), (2, 3, 2, True), (2, 2, 2, False)],
    ids=["of theirs", "of ours", "of both", "equal"],
)
def test_values_of_unknown_use_are_kept_or_named(
    ours: int, theirs: int, kept: int, is_told: bool, tmp_path: Path
) -> None:
    sides = [(with_author("Over Author", MLModelFutureKey=each), None) for each in (1, ours, theirs)]
    out, told = merged(tmp_path, *sides)
    assert open_model(out).overlays is not None
    assert f'"MLModelFutureKey" : {kept}' in (out / METADATA).read_text()
    assert ("not kept: com.apple.CoreML/Metadata.json MLModelFutureKey" in told) is is_told


def test_a_merged_file_has_the_texts(tmp_path: Path) -> None:
    out, told = merged(tmp_path, BOTH, BOTH, (with_author("New"), FEATURES_TABLE), ending=".mlmodel")
    read = open_model(out)
    assert read.description is not None
    assert read.description.metadata.author == "New"
    assert told == ""
