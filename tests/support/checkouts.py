"""Repositories that git is set up in for models, each test with a copy of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from support.git_scenes import Checkout


def _template(factory: pytest.TempPathFactory, lfs: bool) -> Path:
    if shutil.which("git") is None or (lfs and shutil.which("git-lfs") is None):
        pytest.skip("needs git-lfs" if lfs else "needs git")
    from support.git_scenes import Checkout  # which imports the root's conftest, whose plugin this is

    made = Checkout(factory.mktemp("template") / "repository", identity=True)
    made.set_up(lfs)
    return made.folder


def _copy(template: Path, folder: Path) -> Checkout:
    from support.git_scenes import Checkout

    shutil.copytree(template, folder / "repository")
    return Checkout(folder / "repository", identity=True)


@pytest.fixture(scope="session")
def git_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _template(tmp_path_factory, lfs=False)


@pytest.fixture(scope="session")
def lfs_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _template(tmp_path_factory, lfs=True)


@pytest.fixture
def checkout(git_template: Path, tmp_path: Path) -> Checkout:
    return _copy(git_template, tmp_path)


@pytest.fixture
def lfs_checkout(lfs_template: Path, tmp_path: Path) -> Checkout:
    return _copy(lfs_template, tmp_path)


@pytest.fixture(params=["no git-lfs", "git-lfs"])
def any_checkout(request: pytest.FixtureRequest) -> Checkout:
    name = "lfs_checkout" if request.param == "git-lfs" else "checkout"
    found: Checkout = request.getfixturevalue(name)
    return found
