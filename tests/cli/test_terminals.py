"""Output for people at a terminal: long literals are left out, and explanations have no marks of Markdown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import miltext

from miltext.cli.coloring import rendered
from miltext.diagnostics.codes import TITLES, explanation

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")

LONG = ", ".join(["0x1p+0"] * 5000)
TEXT = f"""program(1.3)
{{
    func main<ios18>(tensor<fp32, [5000]> x) {{
            tensor<fp32, [5000]> w = const()[name = string("w"), val = tensor<fp32, [5000]>([{LONG}])];
            tensor<fp32, [5000]> y = add(x = x, y = w)[name = string("y")];
        }} -> (y);
}}
"""


def on_terminal(*words: str | Path, color: str = "never") -> tuple[str, str]:
    """Return the output of a command on a terminal, and its standard error."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "miltext", *map(str, words), "--color", color]
    with subprocess.Popen(command, stdout=slave, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL) as running:
        os.close(slave)
        shown = b"".join(iter(lambda: _read(master), b""))
        os.close(master)
        assert running.stderr is not None
        return shown.decode().replace("\r\n", "\n"), running.stderr.read().decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux, at the end
        return b""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "long.mil"
    path.write_text(TEXT, encoding="utf-8", newline="\n")
    return path


def test_a_long_literal_is_left_out_and_the_way_to_it_stated(text: Path) -> None:
    shown, told = on_terminal("print", text)
    assert max(map(len, shown.splitlines())) < 500
    assert '$elided(5000, "sha256:' in shown
    assert "note[MIL107]: 1 literal of more than 64 elements is left out on this terminal" in told
    assert "`-o FILE` and a pipe get all of them" in told


@pytest.mark.parametrize("words", [("--elide", "5000"), ("--verify-roundtrip",), ("--strict",), ("--inline-weights",)])
def test_an_option_for_all_literals_prints_them(words: tuple[str, ...], text: Path) -> None:
    shown, _ = on_terminal("print", text, *words)
    assert shown == TEXT


def test_a_pipe_and_a_file_get_all(text: Path, tmp_path: Path) -> None:
    piped = miltext("print", text)
    assert (piped.stdout.decode(), piped.stderr) == (TEXT, b"")
    _, told = on_terminal("print", text, "-o", tmp_path / "out.mil")
    assert ((tmp_path / "out.mil").read_text(encoding="utf-8"), told) == (TEXT, "")


def test_quiet_leaves_the_note_out(text: Path) -> None:
    assert on_terminal("print", text, "--quiet")[1] == ""


def test_short_literals_need_no_note(text: Path) -> None:
    short = TEXT.replace(LONG, "0x1p+0, 0x1p+1").replace("5000", "2")
    text.write_text(short, encoding="utf-8", newline="\n")
    assert on_terminal("print", text) == (short, "")


def test_an_explanation_is_rendered_on_a_terminal() -> None:
    shown, _ = on_terminal("explain", "MIL604")
    assert shown.startswith("Undefined value. No operation")
    assert "\n    MIL604.mil:6:47: error[MIL604]: `hiden` is not defined" in shown
    assert "\x1b[1mUndefined value.\x1b[0m" in on_terminal("explain", "MIL604", color="always")[0]


@pytest.mark.parametrize("code", TITLES)
def test_no_mark_of_markdown_is_left(code: str) -> None:
    lines = [line for line in rendered(explanation(code), is_colored=False).splitlines() if not line.startswith("    ")]
    assert not [line for line in lines if "**" in line or "```" in line or "](" in line or "`" in line]


def test_an_operation_is_described_in_place_of_a_code() -> None:
    assert miltext("explain", "conv").stdout == miltext("ops", "conv").stdout != b""
    assert miltext("explain", "conv", "--json").stdout == miltext("ops", "conv", "--json").stdout != b""
