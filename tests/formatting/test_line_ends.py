"""A file keeps its line ends, whatever verb writes it anew; the first line decides for all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, corpus_files
from support.commands import miltext

from miltext import format_text
from miltext.formatting.document import keep_line_ends

LAID_OUT = """\
program(1.3)
{
    // of the function
    func main<ios18>(tensor<fp16, [2]> x) {
            tensor<fp16, [2]> h = relu(x = x)[name = string("h")]; // of h
            /* two
               lines */
            tensor<fp16, [2]> y = mul(x = h, y = tensor<fp16, [2]>([0x1p+0, 0x1p+1]))[name = string("y")];
        } -> (y);
}
"""
MESSY = LAID_OUT.replace("            tensor", "  tensor").replace("x = h, y =", "\n x = h,\n y =")
DRAFT = MESSY.replace("tensor<fp16, [2]> h", "_ h")


def windows(text: str) -> str:
    return text.replace("\n", "\r\n")


def mixed(text: str) -> str:
    """Every other line ends in CRLF, the first one too."""
    lines = text.split("\n")
    return "".join(line + ("\r\n", "\n")[number % 2] for number, line in enumerate(lines[:-1])) + lines[-1]


def mixed_otherwise(text: str) -> str:
    first, _, rest = text.partition("\n")
    return f"{first}\n{mixed(rest)}"


Ends = Callable[[str], str]
ENDS: list[Ends] = [str, windows, mixed, mixed_otherwise]
ENDED = [("\n", "\r\n")[ends in (windows, mixed)] for ends in ENDS]


def run(*arguments: object, input: bytes | None = None, cwd: Path | None = None) -> tuple[int, bytes]:
    done = miltext(*arguments, input=input, cwd=cwd)
    return done.returncode, done.stdout


@pytest.mark.parametrize(("ends", "ended"), list(zip(ENDS, ENDED, strict=True)))
@pytest.mark.parametrize("text", [LAID_OUT, MESSY], ids=["laid out", "messy"])
def test_fmt_keeps_them(ends: Ends, ended: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    before = ends(text).encode()
    path.write_bytes(before)
    expected = LAID_OUT.replace("\n", ended).encode()
    status = int(before != expected)
    assert run("fmt", "--check", path)[0] == status
    code, shown = run("fmt", "--diff", path)
    assert (code, bool(shown)) == (status, bool(status))
    assert path.read_bytes() == before
    assert run("fmt", "-", input=before) == (0, expected)
    assert run("fmt", path)[0] == 0
    assert path.read_bytes() == expected
    assert run("fmt", "--check", path) == (0, b"")


@pytest.mark.parametrize(("ends", "ended"), list(zip(ENDS, ENDED, strict=True)))
def test_infer_keeps_them(ends: Ends, ended: str, tmp_path: Path) -> None:
    path = tmp_path / "m.mil"
    path.write_bytes(ends(DRAFT).encode())
    expected = LAID_OUT.replace("\n", ended).encode()
    assert run("infer", path) == (0, expected)
    assert run("infer", path, "-o", tmp_path / "whole.mil")[0] == 0
    assert (tmp_path / "whole.mil").read_bytes() == expected


RENAMED = MESSY.replace(" h = relu", " hidden = relu").replace('"h"', '"hidden"').replace("= h,", "= hidden,")
EXPOSED = MESSY.replace("(y);", "(y, h);")


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize(("edit", "edited"), [(("rename", "h", "hidden"), RENAMED), (("expose", "h"), EXPOSED)])
def test_edits_of_a_text_leave_them(edit: tuple[str, ...], edited: str, ends: Ends, tmp_path: Path) -> None:
    (tmp_path / "m.mil").write_bytes(ends(MESSY).encode())
    assert run(edit[0], tmp_path / "m.mil", *edit[1:], "-o", tmp_path / "n.mil")[0] == 0
    assert (tmp_path / "n.mil").read_bytes() == ends(edited).encode()


@pytest.mark.parametrize("ends", [str, windows])
def test_a_sidecar_keeps_them(ends: Ends, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "Classifier.mlpackage", tmp_path / "M.mlpackage")
    assert run("sidecar", tmp_path / "M.mlpackage")[0] == 0
    path = tmp_path / "M.mlpackage.mil"
    text = path.read_bytes()
    checked_out = ends(text.decode()).encode()
    path.write_bytes(checked_out)
    assert run("sidecar", "--check", tmp_path / "M.mlpackage")[0] == 0
    assert run("fmt", "--check", path)[0] == 0
    path.write_bytes(checked_out.replace(b"relu", b"tanh"))
    assert run("sidecar", "--check", tmp_path / "M.mlpackage")[0] == 1
    assert run("sidecar", tmp_path / "M.mlpackage")[0] == 0
    assert path.read_bytes() == checked_out
    path.write_bytes(b"\xff\r\n")  # nothing that miltext made: it stays
    assert run("sidecar", tmp_path / "M.mlpackage")[0] == 2
    assert path.read_bytes() == b"\xff\r\n"


@pytest.mark.parametrize("path", corpus_files("handwritten/*.mil"))
def test_a_checkout_of_a_text_that_is_laid_out_is_laid_out(path: Path) -> None:
    laid_out = windows(format_text(path.read_bytes().decode()))
    assert keep_line_ends(laid_out, format_text(laid_out)) == laid_out


@pytest.mark.parametrize("text", ["", "no line", "\r", "a\rb\n", "\n\r\n", "a\r\rb"])
def test_without_a_first_line_of_windows_they_are_plain(text: str) -> None:
    assert keep_line_ends(text, "x\ny\n") == "x\ny\n"
    assert keep_line_ends("a\r\n" + text, "x\ny") == "x\r\ny"
