"""Sidecars whose long lines are broken."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from support.commands import miltext

from miltext.review.sidecar import sidecars


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples" / "Classifier.mlpackage", tmp_path / "M.mlpackage"))


@pytest.mark.parametrize("form", ["compact", "full", "draft"])
def test_lists_of_arguments_are_broken_in_long_lines(model: Path, form: str) -> None:
    ((_, whole),) = sidecars(model, form)
    ((_, broken),) = sidecars(model, form, width=80)
    assert len(broken.splitlines()) > len(whole.splitlines())
    assert broken.split()[6:] != whole.split()[6:], "the head names other options"
    head, _, body = broken.partition("\n")
    assert head.endswith("--width 80 M.mlpackage")
    assert "".join(body.split()) == "".join(whole.partition("\n")[2].split()), "only white space differs"


def test_the_width_is_checked_too(model: Path) -> None:
    assert miltext("sidecar", "--width", "80", str(model)).returncode == 0
    assert miltext("sidecar", "--width", "80", "--check", str(model)).returncode == 0
    stale = miltext("sidecar", "--check", str(model))
    assert stale.returncode == 1
    assert stale.stderr.decode().rstrip().endswith(f"to write it: miltext sidecar {model}")
    stale = miltext("sidecar", "--check", "--draft", "--width", "90", str(model))
    assert stale.stderr.decode().rstrip().endswith(f"to write it: miltext sidecar --draft --width 90 {model}")


@pytest.mark.parametrize("width", ["0", "-1", "x"])
def test_a_width_is_a_number_of_columns(model: Path, width: str) -> None:
    assert miltext("sidecar", "--width", width, str(model)).returncode == 2


def test_sidecars_keep_their_layout_in_folder_that_is_formatted(model: Path) -> None:
    assert miltext("sidecar", "--width", "80", str(model)).returncode == 0
    assert miltext("fmt", str(model.parent)).returncode == 0
    assert miltext("fmt", "--check", str(model.parent)).returncode == 0
    assert miltext("sidecar", "--width", "80", "--check", str(model)).returncode == 0
