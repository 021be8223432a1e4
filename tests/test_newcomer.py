"""A newcomer's walk: the wheel in a clean environment, the tutorial, completion, the site, and the playground.

It takes a minute, and is walked where MILTEXT_NEWCOMER is set: with `1` as far as the tools of the machine go, with
`all`, as .ci/run has it, without an excuse. MILTEXT_WHEEL and MILTEXT_SITE name a wheel and a site that are built.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from conftest import EXAMPLE, ROOT
from support.browser import Opener, no_browser, served
from support.followed_page import follow
from support.playground import Driver
from support.shells import STARTS, Shell

WALK = os.environ.get("MILTEXT_NEWCOMER", "")

pytestmark = [
    pytest.mark.skipif(not WALK, reason="a minute's walk, which .ci/run does: MILTEXT_NEWCOMER=1 does it here"),
    pytest.mark.skipif(os.name == "nt", reason="the tutorial's commands are those of a Unix shell"),
]

WRONG = (
    "program(1.3) { func main<ios17>(tensor<fp32, [2]> image) "
    '{ tensor<fp32, [2]> y = relu(x = imagge)[name = string("y")]; } -> (y); }'
)
"""A text of one line, as editors close brackets that people type."""

MODULES = ROOT / "website" / "playground" / "node_modules"


def stop(reason: str) -> NoReturn:
    """Leave out a part of the walk, which fails where no part may be left out."""
    if WALK == "all":
        pytest.fail(reason)
    pytest.skip(reason)


def run(*words: object, **environment: str) -> str:
    """Run a command in the source tree, and return what it writes."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


# ---- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel: one that is built, or built now."""
    if named := os.environ.get("MILTEXT_WHEEL"):
        return Path(named)
    if importlib.util.find_spec("build") is None:
        stop("needs build: pip install -e '.[dev]'")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ".")
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def tools(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of a clean environment, in which the wheel is installed, and pytest."""
    folder = tmp_path_factory.mktemp("newcomer") / "venv"
    run(sys.executable, "-m", "venv", folder)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", wheel, "pytest")
    return folder / "bin"


def test_the_wheel_is_the_code_that_runs(tools: Path) -> None:
    where = run(tools / "python", "-I", "-c", "import miltext; print(miltext.__file__)")
    assert Path(where.strip()).is_relative_to(tools.parent)
    assert run(tools / "miltext", "--version").startswith("miltext ")
    assert run(tools / "miltext", "print", EXAMPLE).startswith("program(1.3)\n")


def test_the_tutorial(tools: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    commands = f"set -euo pipefail\nexport PATH={tools}:$PATH\n"
    assert follow(page, tmp_path, commands, others=False) == page


@pytest.mark.parametrize("name", STARTS)
def test_a_shell_completes(name: str, tools: Path, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        stop(f"needs {name}")
    shutil.copytree(EXAMPLE, tmp_path / EXAMPLE.name)
    shell = Shell(name, tmp_path, tools)
    try:
        assert shell.completed("miltext desc")[0] == "miltext describe "
        assert shell.completed("miltext info Cl")[0].rstrip(" /") == f"miltext info {EXAMPLE.name}"
        assert shell.completed("miltext check --form")[0].rstrip(" =") == "miltext check --format"
    finally:
        shell.close()


# ---- the site, and the playground in it


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site: one that is built, or built now, with its playground if what that needs is there."""
    if named := os.environ.get("MILTEXT_SITE"):
        folder = Path(named)
    elif importlib.util.find_spec("material") is None:
        stop("needs mkdocs-material: pip install -e '.[site]'")
    else:
        folder = tmp_path_factory.mktemp("site") / "site"
        run(sys.executable, "-m", "website", "build", "--out", folder, f"--{'no-' * (not MODULES.is_dir())}playground")
    return folder


@pytest.fixture(scope="module")
def playground(site: Path) -> Iterator[str]:
    """Where the playground is served, within the site."""
    if not (site / "playground" / "python.zip").exists():
        stop("needs Pyodide: run `npm ci` in website/playground")
    with served(site) as url:
        yield f"{url}playground/"


def test_the_site_has_the_tutorial(site: Path) -> None:
    assert "Tutorial: write, check, build and test a model" in (site / "tutorial" / "index.html").read_text("utf-8")


def test_a_finding_is_shown_and_fixed(playground: str, request: pytest.FixtureRequest) -> None:
    if reason := no_browser():
        stop(reason)
    opener = Opener(request.getfixturevalue("chromium"))
    try:
        page = Driver(opener(playground))
        page.write("")
        page.page.locator("#editor .cm-content").press_sequentially(WRONG, timeout=60_000)
        page.settle()
        assert "imagge is not defined; did you mean image?" in page["#pane"]
        page.click(".fix")
        assert ("imagge" in page.text, page["#status"]) == (False, "No problems found.")
        assert opener.wrong == []
    finally:
        opener.close()
