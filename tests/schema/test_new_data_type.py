"""A new data type is one row of the table, and the scripts that make files of it: a copy of the tree gets such rows."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

ROWS = """    DType("int5", 95, "INT5", 5, "int", "<i1", "bytes", 95),
    DType("fp8e3m4", 96, "FLOAT8E3M4", 8, "float", "<u1", "bytes", 96, mantissa=4),
    DType("fp8e2m5fn", 97, "FLOAT8E2M5FN", 8, "float", "<u1", "bytes", 97, mantissa=5, infinite=False),
"""

ELEMENTS = {
    "int5": ["-16", "15", "1", "-1", "0"],
    "fp8e3m4": ["0x1p+0", "-0x1p-1", "0x1p-6", "0x1.fp+3"],
    "fp8e2m5fn": ["0x1p+0", "-0x1p-1", "0x1p-5", "0x1.fp+2"],
}

EXPECTED: dict[str, dict[str, Any]] = {
    "int5": {
        "packed": "f0850f00",  # 10000 01111 00001 11111 00000, the least significant bits first
        "in a weight file": ["int5", 5, "f0850f00", -16, 15, -0.2],
        "exchanged": [2, 31],
    },
    "fp8e3m4": {
        "packed": "30a0016f",
        "in a weight file": ["fp8e3m4", 4, "30a0016f", -0.5, 15.5, 4.004],
        "exchanged": [2, 1.5],
    },
    "fp8e2m5fn": {
        "packed": "2090017e",
        "in a weight file": ["fp8e2m5fn", 4, "2090017e", -0.5, 7.75, 2.07],
        "exchanged": [2, 1.5],
    },
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, whose table has more rows, after the scripts have run."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("editors", "grammar", "scripts", "src"):
        if not (ROOT / name).exists():
            pytest.skip("needs the source tree")
        ignored = shutil.ignore_patterns("node_modules", "__pycache__", "*.vsix")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    table = copy / "src" / "miltext" / "schema" / "dtypes.py"
    text = table.read_text(encoding="utf-8")
    first = '    DType("bool"'
    assert first in text
    table.write_text(text.replace(first, ROWS + first, 1), encoding="utf-8")
    run(copy, copy / "scripts" / "make_tables.py")
    run(copy, copy / "editors" / "generate.py")
    return copy


@pytest.fixture(scope="module")
def found(tree: Path) -> dict[str, dict[str, Any]]:
    script = ROOT / "tests" / "support" / "new_data_types.py"
    found: dict[str, dict[str, Any]] = json.loads(run(tree, script, json.dumps(ELEMENTS), str(tree)))
    return found


def run(tree: Path, *command: object) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(
        [sys.executable, *map(str, command)], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.any_version
@pytest.mark.parametrize("name", ELEMENTS)
def test_a_row_is_all_that_a_data_type_needs(name: str, found: dict[str, dict[str, Any]]) -> None:
    everywhere = {
        "arrays": EXPECTED[name]["packed"],
        "printed": True,
        "printed by its messages": True,
        "scalar": True,
        "raw bytes": True,
        "by the fine rules": True,
        "by stock Lark": True,
        "formatted": True,
        "checked": [],
        "misspelt": f"unknown data type `{name}x`; did you mean `{name}`?",
        "reserved": f'$"{name}"',
        "highlighted": ["Token.Keyword.Type"],
        "known word": True,
        "completed": True,
    }
    assert found[name] == everywhere | EXPECTED[name]


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize(
    "path",
    [
        "grammar/mil.lark",
        "src/miltext/syntax/tables.json",
        "editors/vscode/syntaxes/mil.tmLanguage.json",
        "editors/sublime/MIL.sublime-syntax",
        "editors/vim/syntax/mil.vim",
        "editors/emacs/mil-tables.el",
    ],
)
def test_the_files_that_are_made_have_it(path: str, name: str, tree: Path) -> None:
    assert name in (tree / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("script", ["scripts/make_tables.py", "editors/generate.py"])
def test_these_files_are_current_then(script: str, tree: Path) -> None:
    run(tree, tree / script, "--check")
