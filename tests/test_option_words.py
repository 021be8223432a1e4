"""Messages of the library name keywords of Python, and messages of the command the same options in its own words."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import click
import pytest
from support.commands import miltext as called
from support.named_options import named_options

import miltext
from miltext.building.choices import BuildOptions
from miltext.cli import VERBS
from miltext.cli import command as main
from miltext.cli.declared import declared
from miltext.cli.streams import show
from miltext.conversion.converting import ConvertOptions
from miltext.diagnostics import Note, codes, error
from miltext.diagnostics.option_words import FLAGS, of_both, of_command
from miltext.evaluation.random_inputs import random_inputs

SOURCE = Path(miltext.__file__).parent
KEYWORD = re.compile(rf"`(?:{'|'.join(FLAGS)})=")
OWN_OPTIONS = {"pytest_plugin.py", "choices.py", "option_words.py", "sidecar.py", "git.py", "model_texts.py"}
"""Files with options of their own, scripts for git, help of verbs, and comments of written files."""


def _messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module with more than one word, without docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    remarks = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(each) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(each.value) if isinstance(each, ast.Constant) else "{}" for each in node.values),
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (remarks | parts):
            yield node.lineno, node.value


def test_no_message_of_the_library_names_an_option() -> None:
    found = [
        (path.name, line, text)
        for path in sorted(SOURCE.rglob("*.py"))
        if "cli" not in path.parts and path.name not in OWN_OPTIONS
        for line, text in _messages(path)
        if " " in text and named_options(text)
    ]
    assert found == []


@pytest.mark.parametrize("code", codes.TITLES)
def test_each_way_out_has_the_words_of_its_reader(code: str) -> None:
    way = codes.TABLE[code].way_out
    assert not named_options(way)
    assert not KEYWORD.search(of_command(way))
    assert not KEYWORD.search(way) or "in Python" in codes.fix(code)


@pytest.mark.parametrize("code", codes.TITLES)
def test_the_command_shows_its_own_words(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    way = codes.TABLE[code].way_out
    show([error(code, way, None, Note(way))], None, None)
    shown = capsys.readouterr().err
    assert shown == f"error[{code}]: {of_command(way)}\nnote: {of_command(way)}\n"
    assert not KEYWORD.search(shown)


def _verbs() -> Iterator[click.Command]:
    with click.Context(main) as context:
        for name in VERBS:
            yield main.get_command(context, name)  # type: ignore[misc]


def test_each_word_is_a_keyword_and_an_option() -> None:
    given = {name for verb in _verbs() for each in verb.params for name in (*each.opts, *each.secondary_opts)}
    public = [getattr(miltext, name) for name in miltext.__all__]
    functions: list[Callable[..., object]] = [*filter(inspect.isfunction, public), random_inputs]
    taken = {name for each in functions for name in inspect.signature(each).parameters}
    assert {*FLAGS} <= taken
    assert {*FLAGS.values(), "--resize"} <= given


def test_words_equal_those_of_declared_options() -> None:
    for options in (BuildOptions, ConvertOptions):
        names = [each.name for each in fields(options) if each.metadata]
        command = click.command()(declared(options, *names)(lambda **_: None))
        assert {each.name: each.opts[0] for each in command.params if each.name in FLAGS} == {
            name: FLAGS[name] for name in names if name in FLAGS
        }


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("give `weights=`.", "give `--weights`."),
        ("with `check=False`", "with `--no-check`"),
        ("with `force=True`", "with `--force`"),
        ('as in `ranges={"x": "1,8..64"}`', "as in `--range x=1,8..64`"),
        ("`weights={NAME: FILE}`", "`--weights NAME=FILE`"),
        ('`ranges={"a:b": "1"}`', "`--range`"),
        ("`picture.resize((8, 4))`", "`--resize`"),
        ("weights= and `weights` and `w=`", "weights= and `weights` and `w=`"),
        ("`weights=3`, `my_weights=`, `weights=", "`weights=3`, `my_weights=`, `weights="),
        ("", ""),
    ],
)
def test_keywords_become_named_options(message: str, expected: str) -> None:
    assert of_command(message) == expected
    assert of_command(expected) == expected


def test_a_page_has_both_words() -> None:
    assert of_both("print without `elide=`.") == "print without `--elide` (in Python `elide=`)."


WEIGHT = 'tensor<fp32, [2]>(BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64(64)))'
TEXT = f"""program(1.3)
{{
    func main<ios18>(tensor<fp32, [2]> x) {{
        tensor<fp32, [2]> w = const()[name = string("w"), val = {WEIGHT}];
        tensor<fp32, [2]> y = add(x = x, y = w)[name = string("y")];
    }} -> (y);
}}
"""
OPEN = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, ?]> x) {
        tensor<fp32, [1, ?]> y = relu(x = x)[name = string("y")];
    } -> (y);
}
"""
REFUSALS = {
    "missing weights": (TEXT, ["build"], "`weights=`", "`--weights`"),
    "open sizes": (OPEN, ["build"], '`ranges={"x": "1,LEAST..GREATEST"}`', "`--range x=1,LEAST..GREATEST`"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_each_surface_names_its_own_words(case: str, tmp_path: Path) -> None:
    text, verb, keyword, option = REFUSALS[case]
    path = tmp_path / "m.mil"
    path.write_text(text)
    out = tmp_path / "M.mlpackage"
    with pytest.raises(miltext.MiltextError) as raised:
        miltext.build(path, out)
    assert keyword in str(raised.value)
    assert not named_options(str(raised.value))
    ended = called(*verb, path, "-o", out)
    assert ended.returncode == 1
    assert option in ended.stderr.decode()
    assert keyword not in ended.stderr.decode()


def test_a_report_for_programs_has_the_words_of_the_command(tmp_path: Path) -> None:
    """The verb that makes its own reports, in each of its forms."""
    path = tmp_path / "m.mil"
    path.write_text(TEXT.replace(WEIGHT, "tensor<fp32, [2]>([$elided])"))
    for form in ("text", "json", "sarif", "github"):
        ended = called("check", "--format", form, path)
        shown = (ended.stdout + ended.stderr).decode()
        assert "MIL107" in shown
        assert not KEYWORD.search(shown.replace("(in Python `", "")), shown
