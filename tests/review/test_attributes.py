"""Attributes of files, as the real git reads them: of this repository, on the page for editors, and of the setup."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from conftest import CORPUS, ROOT
from pygments.lexers import get_lexer_by_name
from pygments.token import Error
from support.repositories import Repository

sys.path.insert(0, str(ROOT / "scripts"))

import make_advisories_page
import make_cost_page
import make_json_schema
import make_neural_engine_page
import make_operations_page
import make_ops
import make_picture
import make_settings_schema

from benchmarks import chart

if shutil.which("git") is None:
    pytest.skip("needs git", allow_module_level=True)

MADE = (
    chart.PICTURE,
    make_advisories_page.PAGE,
    make_cost_page.PAGE,
    make_json_schema.SCHEMA,
    make_neural_engine_page.PAGE,
    make_operations_page.PAGE,
    make_ops.TABLE,
    make_picture.PICTURE,
    make_settings_schema.SCHEMA,
    *(ROOT / "src" / "miltext" / "schema" / "proto").glob("*.binpb"),
    ROOT / "src" / "miltext" / "schema" / "proto" / "__init__.pyi",
    ROOT / "src" / "miltext" / "syntax" / "tables.json",
)
"""The generated files that no editor reads."""


def attributes(folder: Path, name: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the value of an attribute for each path."""
    words = ["git", "check-attr", "-z", "--stdin", name]
    read = subprocess.run(words, cwd=folder, input="\0".join(paths), capture_output=True, text=True, check=True)
    fields = read.stdout.split("\0")[:-1]
    return dict(zip(fields[::3], fields[2::3], strict=True))


def repository_with(folder: Path, lines: str) -> Path:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".gitattributes").write_text(lines, encoding="utf-8")
    return folder


def test_github_folds_exactly_the_generated_files_of_the_scripts(tmp_path: Path) -> None:
    repository_with(tmp_path, (ROOT / ".gitattributes").read_text(encoding="utf-8"))
    every = [
        path.relative_to(ROOT).as_posix()
        for folder in ("docs", "grammar", "schema", "scripts", "src")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    marked = {path for path, value in attributes(tmp_path, "linguist-generated", every).items() if value == "set"}
    made = {path.resolve().relative_to(ROOT).as_posix() for path in MADE}
    assert len(made) > 9
    assert marked - {"src/miltext/syntax/keywords.json"} == made


def test_each_line_of_this_repository_has_a_file() -> None:
    """A renamed file would lose its attributes."""
    lines = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    patterns = [line.split()[0] for line in lines if line and not line.startswith("#")]
    assert len(patterns) > 20
    assert [each for each in patterns if "/" in each and not [*ROOT.glob(each)]] == []


def test_texts_of_the_repository_have_attributes(tmp_path: Path) -> None:
    repository_with(tmp_path, (ROOT / ".gitattributes").read_text(encoding="utf-8"))
    paths = ["m.mil", "tests/golden/print/a b.mil"]
    for name, value in (("linguist-language", "Rust"), ("linguist-detectable", "unset"), ("eol", "lf")):
        assert attributes(tmp_path, name, paths) == dict.fromkeys(paths, value)


ON_GITHUB = {
    "m.mil": ("lf", "Rust", "unspecified"),
    "deep/in a folder/m.mil": ("lf", "Rust", "unspecified"),
    "M.mlpackage.mil": ("lf", "Rust", "unspecified"),
    "M.mlmodelc/model.mil": ("lf", "Rust", "set"),
    "deep/M.mlmodelc/model.mil": ("lf", "Rust", "set"),
    "P.mlmodelc/model0/model.mil": ("lf", "Rust", "set"),
    "P.mlmodelc/model1/model0/model.mil": ("lf", "Rust", "set"),
    "M.mlmodelc/other.mil": ("lf", "Rust", "unspecified"),
    "M.mlmodelc.mil": ("lf", "Rust", "unspecified"),
    "M.mlmodelc/coremldata.bin": ("unspecified", "unspecified", "unspecified"),
    "m.mil.txt": ("unspecified", "unspecified", "unspecified"),
    "mil": ("unspecified", "unspecified", "unspecified"),
}
"""The line end, the language and whether a file is folded, by the lines on the page for editors."""


def test_the_lines_on_the_page_have_the_stated_effects(tmp_path: Path) -> None:
    page = (ROOT / "editors" / "README.md").read_text(encoding="utf-8").partition("\n## GitHub\n")[2]
    block = re.search(r"\n\n((?:    .*\n)+)\n", page)
    assert block
    repository_with(tmp_path, block[1])
    found = [attributes(tmp_path, name, ON_GITHUB) for name in ("eol", "linguist-language", "linguist-generated")]
    assert {path: tuple(each[path] for each in found) for path in ON_GITHUB} == ON_GITHUB


def test_rust_reads_each_token_of_texts() -> None:
    lexer = get_lexer_by_name("rust")
    folders = (ROOT / "tests" / "golden" / "print", ROOT / "examples", CORPUS)
    texts = [path for folder in folders for path in folder.rglob("*.mil") if path.stat().st_size < 100_000][:40]
    assert len(texts) > 10
    for path in texts:
        wrong = [word for kind, word in lexer.get_tokens(path.read_text(encoding="utf-8")) if kind is Error]
        assert wrong == [], path


SET_UP = {
    "m.mil": ("miltext-text", "miltext-text"),
    "deep/in a folder/m.mil": ("miltext-text", "miltext-text"),
    "M.mlpackage.mil": ("miltext-text", "miltext-text"),
    "M.mlmodel": ("miltext", "miltext"),
    "M.mlpackage/Manifest.json": ("miltext-manifest", "miltext"),
    "deep/A B.mlpackage/Manifest.json": ("miltext-manifest", "miltext"),
    "M.mlpackage/Data/com.apple.CoreML/model.mlmodel": ("miltext", "miltext"),
    "M.mlpackage/Data/com.apple.CoreML/weights/weight.bin": ("miltext", "miltext"),
    "M.mlpackage/Data/com.apple.CoreML/weights/0-weight.bin": ("miltext", "miltext"),
    "M.mlmodelc/model.mil": ("miltext-text", "miltext"),
    "P.mlmodelc/model0/model.mil": ("miltext-text", "miltext"),
    "M.mlmodelc/coremldata.bin": ("miltext", "unspecified"),
    "Manifest.json": ("unspecified", "unspecified"),
    "m.mil.txt": ("unspecified", "unspecified"),
    "other.bin": ("unspecified", "unspecified"),
}
"""The attributes `diff` and `merge` by `miltext git setup`."""


@pytest.mark.parametrize("committed", ["", "*.mlmodel filter=lfs diff=lfs merge=lfs -text\n*.mil -diff\n"])
def test_the_setup_gives_files_their_drivers(committed: str, tmp_path: Path) -> None:
    """Also where the repository has attributes of its own, such as those of git-lfs, whose filter is kept."""
    repository = Repository(tmp_path)
    (repository.folder / ".gitattributes").write_text(committed, encoding="utf-8")
    before = [attributes(repository.folder, name, SET_UP) for name in ("diff", "merge", "filter")]
    repository.miltext("git", "setup")
    repository.miltext("git", "setup")
    diff, merge, kept = (attributes(repository.folder, name, SET_UP) for name in ("diff", "merge", "filter"))
    assert {path: (diff[path], merge[path]) for path in SET_UP} == SET_UP
    assert kept == before[2]
    repository.miltext("git", "undo")
    assert [attributes(repository.folder, name, SET_UP) for name in ("diff", "merge", "filter")] == before


def test_each_driver_of_an_attribute_is_configured(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.miltext("git", "setup")
    for section, which in (("diff", "textconv|xfuncname"), ("merge", "driver")):
        for driver in {*attributes(repository.folder, section, SET_UP).values()} - {"unspecified"}:
            assert repository.git("config", "--get-regexp", rf"^{section}\.{driver}\.({which})$")
