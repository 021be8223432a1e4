"""The editors' files are made of the tables: they are current, and one command brings a new word to all of them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

MADE = [
    "editors/vscode/syntaxes/mil.tmLanguage.json",
    "editors/sublime/MIL.sublime-syntax",
    "editors/vim/syntax/mil.vim",
    "editors/emacs/mil-tables.el",
    "editors/web/highlightjs-mil.mjs",
    "editors/rouge/mil.rb",
]
QUERIES = [
    "editors/helix/runtime/queries/mil/highlights.scm",
    "editors/tree-sitter/queries/highlights.scm",
    "editors/zed/languages/mil/highlights.scm",
]
"""In these, data types are nodes of the grammar."""

GRAMMAR = "editors/tree-sitter/grammar.js"
"""The rules of `mil.lark` alone: scripts/make_tables.py writes the data types there, and operations are only names."""


def generate(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(root / "editors" / "generate.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of all that the files are made of and of the files themselves."""
    for name in ("editors", "grammar", "scripts", "src"):
        ignored = shutil.ignore_patterns("node_modules", "__pycache__", "*.vsix")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_files_are_current() -> None:
    done = generate(ROOT, "--check")
    assert (done.returncode, done.stdout) == (0, ""), "run: python editors/generate.py"


def test_github_folds_exactly_the_generated_files(tree: Path) -> None:
    """Of those that `editors/generate.py` makes; `tests/review/test_attributes.py` has the others."""
    shutil.copy(ROOT / ".gitattributes", tree)
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    files = [
        path.relative_to(tree).as_posix()
        for path in tree.rglob("*")
        if path.is_file() and ".git" not in path.parts and "schema" not in path.parts and path.name != "tables.json"
    ]
    command = ["git", "check-attr", "--stdin", "linguist-generated"]
    listed = subprocess.run(command, cwd=tree, input="\n".join(files), capture_output=True, text=True, check=True)
    marked = {line.split(": ")[0] for line in listed.stdout.splitlines() if line.endswith(": set")}
    for name in marked | {*MADE, *QUERIES, GRAMMAR}:
        (tree / name).write_text("", encoding="utf-8")
    stale = {line.removeprefix("written: ") for line in generate(tree).stdout.splitlines()}
    assert marked == stale


def test_a_new_operation_comes_to_every_editor(tree: Path) -> None:
    table = tree / "src" / "miltext" / "schema" / "ops.json"
    operations = json.loads(table.read_text(encoding="utf-8"))
    operations["frobnicate"] = [{"opset": "ios19", "parameters": {"knob": {}}}]
    table.write_text(json.dumps(operations), encoding="utf-8")
    assert_all_get(tree, [*MADE, *QUERIES], "frobnicate")
    assert "knob" in (tree / "editors" / "vim" / "words" / "mil.txt").read_text(encoding="utf-8")
    assert "knob" in (tree / "editors" / "vscode" / "snippets" / "operations.json").read_text(encoding="utf-8")


def test_a_new_data_type_comes_to_every_editor(tree: Path) -> None:
    edit(
        tree / "src/miltext/schema/dtypes.py",
        '    DType("bool"',
        '    DType("fp12", 77, "F12", 8, "float", "<u1", "bytes", 99),\n    DType("bool"',
    )
    assert_all_get(tree, MADE, "fp12")


def test_a_new_keyword_of_the_grammar_comes_to_every_editor(tree: Path) -> None:
    edit(tree / "grammar" / "mil.lark", '| "$empty"  ', '| "$fresh" -> empty_type\n    | "$empty"  ')
    assert_all_get(tree, [*MADE, *QUERIES, GRAMMAR], "$fresh", r"\$fresh", "\\\\$fresh")


def assert_all_get(tree: Path, made: list[str], *spelled: str) -> None:
    """The files are stale until the command has run, and then each has the word in one of its spellings."""
    stale = generate(tree, "--check")
    assert stale.returncode == 1
    assert generate(tree).returncode == 0
    for path in made:
        text = (tree / path).read_text(encoding="utf-8")
        assert any(word in text for word in spelled), path
    assert generate(tree, "--check").returncode == 0
