"""Texts in colour: what they were without the escapes, whatever they are, and written as they are made."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from support.commands import miltext as run

from miltext.cli.coloring import MIL, RULES, colored_pieces, coloring, mil_coloring, whole_lines

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
OTHER = ROOT / "examples" / "tutorial" / "mlp.mil"
TEXTS = [*sorted((ROOT / "tests" / "golden").rglob("*.mil"))[::7], *sorted((ROOT / "examples").rglob("*.mil"))]
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
LINE = '            tensor<fp16, [2]> y = relu(x = x)[name = string("y")]; // as it is\n'


def plain(text: str) -> str:
    return ESCAPE.sub("", text)


def test_each_word_has_the_colour_of_its_kind() -> None:
    color = mil_coloring()
    color("program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2]> x) {\n")
    found = dict(re.findall(r"\x1b\[([0-9;]*)m([^\x1b]+)", color(LINE))[::-1])
    assert found[MIL["Name.Builtin"]] == "relu"
    assert found[MIL["Keyword.Type"]] == "tensor"
    assert found[MIL["Name.Attribute"]] == "x"
    assert found[MIL["Number"]] == "2"
    assert found[MIL["String"]] == '"y"'
    assert found[MIL["Comment"]] == "// as it is"


def test_texts_exist() -> None:
    assert len(TEXTS) > 40


@pytest.mark.parametrize("number", range(4))
def test_colours_of_lines_equal_those_of_the_unchanged_text(number: int) -> None:
    for path in TEXTS[number::4]:
        text = path.read_bytes().decode(errors="replace").replace("\x1b", "?")
        whole = mil_coloring()(text)
        assert plain(whole) == text, path
        assert "".join(colored_pieces(text.splitlines(keepends=True), "mil")) == whole, path


@given(
    st.sampled_from(["mil", *RULES]),
    st.lists(st.sampled_from([*" \n\t\"'`#[]{}()=+-@*/$.,;_aM0\\\0\r\u2028\xe9", "MIL604", "func", '"""', "```"])),
)
def test_coloured_text_keeps_its_kind(kind: str, words: list[str]) -> None:
    text = "".join(words)
    shown = "".join(colored_pieces(words, kind))
    assert plain(shown) == text
    for line in shown.split("\n"):  # which pagers show by themselves
        assert ESCAPE.findall(line)[-1:] in ([], ["\x1b[0m"])


def test_lines_come_as_soon_as_they_are_made() -> None:
    made: list[str] = []

    def endless() -> Iterator[str]:
        for number in itertools.count():
            made.append(f"{number}")
            yield "program(1.3)"
            yield f" // {number}\n{{}}\n"

    shown = iter(colored_pieces(endless(), "mil"))
    assert plain(next(shown)) == "program(1.3) // 0\n{}\n"
    assert plain(next(shown)) == "program(1.3) // 1\n{}\n"
    assert made == ["0", "1"]
    assert list(whole_lines(["a", "b\nc", "\n", "d"])) == ["ab\nc\n", "d"]
    assert list(whole_lines([])) == []


def test_a_text_without_colours_is_unchanged() -> None:
    pieces = ["a", "b"]
    assert colored_pieces(pieces, "html") is pieces
    assert coloring("text") is None


@pytest.mark.parametrize(
    "words",
    [
        ("print", EXAMPLE),
        ("print", EXAMPLE, "--compact"),
        ("print", EXAMPLE, "--as-coremlc"),
        ("print", EXAMPLE, "--draft"),
        ("infer", OTHER),
        ("fmt", "-"),
        ("fmt", "--diff", "-"),
        ("check", "--fix", "-"),
        ("describe", EXAMPLE),
        ("explain", "MIL604"),
        ("explain",),
        ("ops", "conv"),
        ("ops", "conv", "--example"),
        ("extract", OTHER, "hidden"),
        ("generate",),
        ("diff", "--format", "unified", "-", EXAMPLE),
    ],
    ids=lambda words: " ".join(getattr(each, "name", each) for each in words),
)
def test_each_text_of_a_verb_has_colours_on_demand(words: tuple[object, ...]) -> None:
    given = f"program(1.3)\n{{\n    func main<ios18>(tensor<fp16, [2]> x) {{\n{LINE}}} -> (y);\n}}".encode()
    before = run(*words, input=given)
    after = run(*words, "--color", "always", input=given)
    assert after.returncode == before.returncode
    assert b"\x1b[" not in before.stdout
    assert b"\x1b[" in after.stdout
    assert plain(after.stdout.decode()) == before.stdout.decode()


def test_pages_and_json_have_none() -> None:
    for words in (("print", EXAMPLE, "--html"), ("info", EXAMPLE, "--json"), ("parse", EXAMPLE, "--to", "txtpb")):
        assert run(*words, "--color", "always").stdout == run(*words).stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_shows_them_and_nothing_else_imports_lexer() -> None:
    import pty

    code = (
        "import sys, runpy; sys.argv = ['miltext', 'print', '-']\n"
        "try: runpy.run_module('miltext', run_name='__main__')\n"
        "finally: print('pygments' in sys.modules, file=sys.stderr)"
    )
    environment = {name: text for name, text in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    command = [sys.executable, "-c", code]
    master, slave = pty.openpty()
    try:
        shown = subprocess.run(
            command, input=b"program(1.3) {}", stdout=slave, stderr=subprocess.PIPE, check=True, env=environment
        )
        os.close(slave)
        assert os.read(master, 1 << 16).startswith(b"\x1b[35mprogram\x1b[0m(")
    finally:
        os.close(master)
    piped = subprocess.run(command, input=b"program(1.3) {}", capture_output=True, check=True, env=environment)
    assert (shown.stderr, piped.stderr, piped.stdout) == (b"True\n", b"False\n", b"program(1.3)\n{\n}\n")
