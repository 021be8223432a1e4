"""Vim, Neovim and Emacs at work on MIL: indents, the mode of a file, words to complete, the language server."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest
from conftest import CORPUS, GOLDEN
from support.highlighters import EDITORS, SCRIPTS, absent, emacs, run, texts_of, vim

INDENTED = [
    *[GOLDEN / "highlight" / f"{name}.mil" for name in ("everything", "short")],
    *sorted(CORPUS.glob("apple/*.mil")),
]

PROGRAM = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1]> x) {
            tensor<fp16, [1]> y = relu(x = x)[name = string("y")];
            // a remark;
            tensor<int32, [1]> n = while_loop(loop_vars = (i))[name = string("n (")]
                (tensor<int32, [1]> j) {
                    tensor<bool, [1]> less = less(x = j, y = limit);
                } -> (less)
                (tensor<int32, [1]> k) {
                    tensor<int32, [1]> next = add(
                        x = k,
                        y = one
                    );
                } -> (next);
        } -> (y)
        $block<ios17>(tensor<fp16, [1]> a) {
            tensor<fp16, [1]> y = relu(x = a);
        } -> (y);
    func other(
        int32 x
    ) {
            int32 y = relu(x = x);
        } -> (y);
}
"""
BELOW = [0, 4, 12, 12, 12, 16, 20, 20, 16, 20, 24, 24, 24, 20, 12, 8, 12, 12, 4, 8, 8, 12, 12, 4, 0]
"""Where a new line begins below each line of the program."""


def skip_without(program: str) -> None:
    if reason := absent(program):
        pytest.skip(reason)


def run_script(program: str, name: str, *paths: Path, **environment: str | Path) -> None:
    if program == "emacs":
        emacs(SCRIPTS / f"{name}.el", *paths, **environment)
    else:
        vim(program, SCRIPTS / f"{name}.vim", *paths, **environment)


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_lines_come_to_be_in_the_canonical_layout(program: str, tmp_path: Path) -> None:
    skip_without(program)
    written, output = tmp_path / "program.mil", tmp_path / "indents.jsonl"
    written.write_text(PROGRAM, encoding="utf-8")
    paths = [written, *INDENTED]
    run_script(program, "indent", *paths, MIL_OUT=output)
    found = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    for path, text, (again, _) in zip(paths, texts_of(paths), found, strict=True):
        assert again == [len(line) - len(line.lstrip(" ")) for line in text.splitlines()], path.name
    assert found[0][1] == BELOW


@pytest.mark.parametrize("program", ["vim", "nvim", "emacs"])
def test_a_file_is_opened_in_the_right_mode(program: str, tmp_path: Path) -> None:
    skip_without(program)
    path, output = tmp_path / "model.mil", tmp_path / "setup.json"
    path.write_text(PROGRAM, encoding="utf-8")
    run_script(program, "setup", path, MIL_OUT=output)
    found = json.loads(output.read_text(encoding="utf-8"))
    assert found["mode"] == ("mil-mode" if program == "emacs" else "mil")
    assert found["comment"].startswith("//")
    assert {"keep_dims", "relu", "tensor", "interleave_factors"} <= {*found["words"]}
    if program != "emacs":
        assert found["undone"] == ""


def test_emacs_compiles_the_mode_without_a_warning(tmp_path: Path) -> None:
    skip_without("emacs")
    for path in (EDITORS / "emacs").glob("*.el"):
        shutil.copy(path, tmp_path)
    strict = "(setq byte-compile-error-on-warn t)"
    files = sorted(tmp_path.glob("*.el"))
    run("emacs", "-Q", "--batch", "-L", tmp_path, "--eval", strict, "-f", "batch-byte-compile", *files)


def test_lines_for_emacs_set_mode_up_with_and_without_eglot(tmp_path: Path) -> None:
    skip_without("emacs")
    page = (EDITORS / "README.md").read_text(encoding="utf-8").partition("## Emacs")[2].partition("\n## ")[0]
    lines = page.partition("init.el`:")[2].replace("~/.emacs.d/mil", str(EDITORS / "emacs"))
    setup, output = tmp_path / "init.el", tmp_path / "mode"
    setup.write_text("\n".join(line for line in lines.splitlines() if line.startswith("    ")), encoding="utf-8")
    entered = f'(with-temp-buffer (mil-mode) (write-region (symbol-name major-mode) nil "{output}"))'
    run("emacs", "-Q", "--batch", "-l", setup, "--eval", entered)
    assert output.read_text(encoding="utf-8") == "mil-mode"


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """A folder with a command `miltext` that only says how it was started, and answers what a client asks first."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "miltext"
    answer = '{"jsonrpc": "2.0", "id": 1, "result": {"capabilities": {}}}'
    command.write_text(
        f"#!{sys.executable}\n"
        "import os, pathlib, sys, time\n"
        "pathlib.Path(os.environ['MIL_STARTED']).write_text(' '.join(sys.argv[1:]))\n"
        f"sys.stdout.write('Content-Length: {len(answer)}\\r\\n\\r\\n' + {answer!r})\n"
        "sys.stdout.flush()\n"
        "time.sleep(1)\n"
    )
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.mark.parametrize("program", ["nvim", "emacs"])
def test_the_language_server_is_started(program: str, server: Path, tmp_path: Path) -> None:
    skip_without(program)
    path, started = tmp_path / "model.mil", tmp_path / "started"
    path.write_text(PROGRAM, encoding="utf-8")
    found = os.pathsep.join([str(server), os.environ["PATH"]])
    run_script(program, "server", path, PATH=found, MIL_STARTED=started, XDG_STATE_HOME=tmp_path)
    if not started.exists() and program == "emacs":
        pytest.skip("this Emacs has no eglot")
    assert started.read_text() == "lsp"


BROKEN = """\
program(1.3)
{
    func main<ios18>(tensor<fp16, [1]> x) {
            tensor<fp16, [1]> y = relu(x = x)[name = string("y")];
            tensor<fp16, [1]> z = tanh(x = y)[name = string("z")];
        } -> (first);
}
"""


@pytest.mark.parametrize("program", ["nvim", "emacs"])
def test_editor_and_language_server_understand_one_another(program: str, tmp_path: Path) -> None:
    skip_without(program)
    pytest.importorskip("pygls", reason="needs pygls: pip install -e '.[lsp]'")
    command = tmp_path / "bin" / "miltext"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m miltext \"$@\"\n")
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    path, output = tmp_path / "model.mil", tmp_path / "answers.json"
    path.write_text(BROKEN, encoding="utf-8")
    found = os.pathsep.join([str(command.parent), os.environ["PATH"]])
    run_script(program, "answers", path, PATH=found, MIL_OUT=output, XDG_STATE_HOME=tmp_path)
    if not output.exists() and program == "emacs":
        pytest.skip("this Emacs has no eglot")
    answers = json.loads(output.read_text(encoding="utf-8"))
    assert "tensor<fp16, [1]> y" in answers["hover"]
    renamed = BROKEN.replace("> y", "> first").replace("x = y", "x = first").replace('"y"', '"first"')
    assert answers["renamed"] == renamed
    if program == "nvim":
        assert answers["diagnostics"] == [[5, 14, "MIL604", "miltext"]]
        assert answers["definition"]["range"]["start"] == {"line": 3, "character": 30}
        assert answers["left"] == 0
