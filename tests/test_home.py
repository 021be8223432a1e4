"""Where miltext lives is said in one place, `miltext.diagnostics.home`, and `scripts/publish.py` fills it in there."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from support.verbs import verbs

from miltext.diagnostics import home
from miltext.diagnostics.codes import explanation

sys.path.insert(0, str(ROOT / "scripts"))
import publish

URL = "https://git.example/models/tool"
OURS = re.compile(
    r"(?:\b(?:https?|ssh|git)://|\bgit@)[\w.:/~@%-]*miltext|\bmiltext\.(?:dev|io|org|com|github\.io|readthedocs\.io)\b"
)
"""A URL that claims a home of ours."""

EXTRAS = re.compile(r"pip install '[^'\n]*\[(\w+)\]'")
"""A command that installs an extra for users; developers have an editable install."""

INSTALLED = {"coremltools", "dask", "hypothesis", "images", "lsp", "safetensors"}
"""The extras for users."""

pytestmark = pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="needs the source tree")


def tracked() -> list[Path]:
    """Every text of the repository, apart from this file."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git, and a clone")
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    paths = [ROOT / name for name in names.split("\0") if name and name != "tests/test_home.py"]
    return [path for path in paths if path.is_file() and b"\0" not in path.read_bytes()[:8000]]


# ---- the one place


def test_no_file_claims_another_home() -> None:
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="replace")
        name = path.relative_to(ROOT).as_posix()
        if home.HOME and name in (publish.HOME, publish.HOOKS, publish.EXTENSION):
            text = text.replace(home.HOME, "")
        found += [f"{name}: {match[0]}" for match in OURS.finditer(text)]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/miltext/miltext",
        "https://raw.githubusercontent.com/miltext/miltext/main/a.svg",
        "https://miltext.github.io/",
        "https://someone.example/our/miltext.git",
        "git@github.com:someone/miltext",
        "see miltext.dev for more",
    ],
)
def test_a_claim_is_noticed(text: str) -> None:
    assert OURS.search(text)


@pytest.mark.parametrize(
    "text", ["/usr/bin/miltext", "https://pre-commit.com/#miltext", "`miltext.io_names`", "a@miltext"]
)
def test_other_words_are_not_a_claim(text: str) -> None:
    assert OURS.search(text) is None


@pytest.mark.parametrize(
    ("where", "page", "site"),
    [
        (URL, f"{URL}/blob/main/docs/diff.md", ""),
        ("https://github.com/a/b", "https://github.com/a/b/blob/main/docs/diff.md", "https://a.github.io/b/"),
    ],
)
def test_the_urls_of_a_home(where: str, page: str, site: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "HOME", where)
    assert (home.page("docs/diff.md"), home.site()) == (page, site)
    assert home.page("docs", is_folder=True) == f"{where}/tree/main/docs"
    assert home.raw("a.svg") == f"{where}/raw/main/a.svg"


# ---- how an extra is installed


def test_each_extra_is_installed_in_the_same_words_everywhere() -> None:
    """In messages, helps, pages and editors: what names the command says all of the way."""
    told: dict[str, set[str]] = {}
    for path in tracked():
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(("src/", "docs/", "editors/", "website/pages/", "README.md")) or name == publish.HOME:
            continue
        text = " ".join(path.read_text(encoding="utf-8").split())
        for extra in EXTRAS.findall(text):
            told.setdefault(extra, set()).add(name)
            text = text.replace(home.install(extra), "", 1)
        assert EXTRAS.findall(text) == [], name
    assert told.keys() <= INSTALLED


@pytest.mark.parametrize(
    ("code", "extra"), [("MIL419", "safetensors"), ("MIL480", "coremltools"), ("MIL839", "images")]
)
def test_page_of_a_code_explains_how_to_install_a_missing_part(code: str, extra: str) -> None:
    assert home.install(extra) in explanation(code)


def test_the_server_explains_how_to_install_its_extra() -> None:
    assert home.install("lsp") in (verbs()["lsp"].epilog or "")


# ---- publishing


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what is published, as far as it says where from."""
    names = ("pyproject.toml", "hatch_build.py", "LICENSE", publish.HOME, "src/miltext/schema/proto/LICENSE.Apple")
    paths = {path for place in publish.PLACES for path in ROOT.glob(place)} | {ROOT / name for name in names}
    for path in paths:
        if "node_modules" not in path.parts:
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


needs_no_home = pytest.mark.skipif(bool(home.HOME), reason="miltext is published, at its home")


@needs_no_home
def test_a_dry_run_shows_a_patch_and_writes_nothing(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(tree)
    publish.main(["--home", URL, "--dry-run"], tree)
    assert contents(tree) == before
    shown = capsys.readouterr().out
    assert "--- a/src/miltext/diagnostics/home.py\n+++ b/src/miltext/diagnostics/home.py\n@@ " in shown
    assert f'-HOME = ""\n+HOME = "{URL}"\n' in shown
    assert f"+  - repo: {URL}\n+    rev: v0.1.0\n" in shown


@needs_no_home
def test_published_files_have_the_given_url(tree: Path) -> None:
    before = contents(tree)
    publish.main(["--home", f"{URL}.git/"], tree)
    after = contents(tree)
    changed = {name for name in before if before[name] != after[name]}
    assert {publish.HOME, publish.HOOKS, publish.EXTENSION, "docs/diagnostics.md", "docs/tutorial.md"} <= changed
    text = "\n".join(each.decode("utf-8", errors="replace") for name, each in after.items() if name != publish.HOME)
    assert "WHEEL" not in text.replace((ROOT / "README.md").read_text(encoding="utf-8"), "")
    assert "pip install '.[" not in text
    assert {*EXTRAS.findall(text)} == INSTALLED
    assert after[publish.EXTENSION].count(f'"repository": "{URL}"'.encode()) == 1
    publish.main(["--home", URL], tree)
    assert contents(tree) == after
    publish.main(["--home", "https://github.com/a/b"], tree)
    again = contents(tree)
    assert {name for name in after if after[name] != again[name]} == {publish.HOME, publish.HOOKS, publish.EXTENSION}
    assert URL.encode() not in b"".join(again.values())


@needs_no_home
@pytest.mark.parametrize("where", ["https://github.com/a/b", URL, None])
def test_the_metadata_of_a_wheel(tree: Path, where: str | None) -> None:
    """On a package index, nothing of the repository is beside README."""
    pytest.importorskip("hatchling", reason="needs hatchling, which builds the package")
    if where:
        publish.main(["--home", where], tree)
    code = (
        "from hatchling.metadata.core import ProjectMetadata\n"
        "from hatchling.plugin.manager import PluginManager\n"
        "core = ProjectMetadata('.', PluginManager()).core\n"
        "print('\\n'.join(core.urls.values()))\nprint('--', core.readme, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    urls, _, readme = done.stdout.partition("--\n")
    links = re.findall(r"\]\(([^)\s]+)\)|^\[[\w -]+\]: (\S+)$", readme, re.MULTILINE)
    assert len(links) > 30
    beside = [link for link in map("".join, links) if not link.startswith("https://")]
    if where is None:
        assert (urls.strip(), len(beside)) == ("", len(links))
        return
    assert beside == []
    assert all(url.startswith(("https://a.github.io/b/", where)) for url in urls.split())
    assert f"]({where}/raw/main/docs/images/front.svg)" in readme
    assert "(a.b)" not in readme
    source = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^```.*?^```$", readme, re.MULTILINE | re.DOTALL) == re.findall(
        r"^```.*?^```$", source, re.MULTILINE | re.DOTALL
    )


@pytest.mark.parametrize(
    "word", ["", "miltext", "http://a.example/b", "https://a.example", "https://a.example/b?c", "https://a b/c"]
)
def test_a_url_of_no_repository_is_refused(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        publish.main(["--home", word, "--dry-run"])
    assert "is not the URL of a repository" in capsys.readouterr().err
