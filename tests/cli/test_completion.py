"""Completion: the table of words, names in models, and lines in real shells."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from conftest import ROOT
from support.commands import miltext as run
from support.commands import miltext_process
from support.shells import Shell, fish
from support.verbs import verbs

from miltext.cli import COMPLETE, command, model_names
from miltext.cli.completed_words import source_of, takes_text, with_words
from miltext.cli.completing import Bash, Fish, Zsh, script
from miltext.cli.model_names import names_in
from miltext.containers.opening import load

EXAMPLE = ROOT / "examples" / "Classifier.mlpackage"
TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp16, [4, 2]> x, tensor<fp16, [4, 2]> other) {
            tensor<fp16, [2, 2]> first, tensor<fp16, [2, 2]> second = split(axis = axes, x = x);
            tensor<int32, [1]> axes = const()[name = string("axes"), val = tensor<int32, [1]>([0])];
            tensor<fp16, [2]> y = reduce_sum<ios17>(axes = axes, x = first)[name = string("a = b(c)")];
        } -> (y);
    func second_one<ios18>(tensor<fp16, [2]> z) {
        } -> (z);
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models, texts and other files, some of strange names."""
    made = tmp_path_factory.mktemp("completed")
    for name in (
        "a b.mil",
        "it's.mil",
        "notes.txt",
        "p.pb",
        "w.npz",
        ".hidden.mil",
        "UPPER.MIL",
        "c:d.txtpb",
        "k=v.mil",
        "k=v.toml",
    ):
        (made / name).touch()
    for name in ("My Models/deep.mil", "Packed.mlpackage/Manifest.json"):
        (made / name).parent.mkdir()
        (made / name).touch()
    (made / "t.mil").write_text(TEXT)
    return made


def items(*words: str, shell: type[Bash] | type[Zsh] | type[Fish] = Fish) -> list[str]:
    """What the last of the words may become, in this process."""
    found = shell(command, {}, "miltext", COMPLETE).get_completions(list(words[:-1]), words[-1])
    return [item.value for item in found]


def test_the_table_shows_the_completion_of_each_word() -> None:
    unknown = [
        f"{words} {each.name}"
        for words, verb in verbs().items()
        for each in verb.params
        if takes_text(each) and source_of(words, each.name or "") is None
    ]
    assert unknown == []


def test_completing_changes_no_verb() -> None:
    before = run("textconv", EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel").stdout
    with_words(verbs()["textconv"], "textconv")
    assert run("textconv", EXAMPLE / "Data" / "com.apple.CoreML" / "model.mlmodel").stdout == before != b""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("pri", ["print"]),
        ("zz", []),
        ("lint ", []),
        ("--color ", ["auto", "always", "never"]),
        ("--color always pa", ["parse"]),
        ("--q", ["--quiet"]),
        ("--color=al", ["--color=always"]),
        ("--color=always pr", ["print"]),
        ("git ", ["setup", "undo"]),
        ("git setup --dr", ["--dry-run", "--draft"]),
        ("help inf", ["info", "infer"]),
        ("help git u", ["undo"]),
        ("help print ", []),
        ("print --dialect ", ["1.0", "1.3"]),
        ("print --dialect=1.", ["--dialect=1.0", "--dialect=1.3"]),
        ("print --elide ", []),
        ("print --col", ["--color"]),
        ("explain mil60", [f"MIL60{digit}" for digit in range(1, 10)]),
        ("check --select MIL603,MIL604", ["MIL603,MIL604"]),
        ("check --ignore=MIL603,MIL604", ["--ignore=MIL603,MIL604"]),
        ("ops conv_", ["conv_quantized", "conv_transpose"]),
        ("ops conv scatter_a", ["scatter_along_axis"]),
        ("generate --only=band", ["--only=band_part"]),
        ("generate --dtype fp1", ["fp16"]),
        ("ops --opset ios1", ["ios15", "ios16", "ios17", "ios18", "ios19"]),
        ("ops --family pool", ["pooling"]),
        ("completion ", ["bash", "zsh", "fish"]),
        # files
        ("print t", ["t.mil"]),
        ("print n", []),
        ("print -o t", ["t.mil"]),
        ("print .h", [".hidden.mil"]),
        ("print U", ["UPPER.MIL"]),
        ("print P", ["Packed.mlpackage"]),
        ("print k=", ["k=v.mil"]),
        ("print =", []),
        ("print t.mil=", []),
        ("check --config=k=", ["--config=k=v.toml"]),
        ("run k=v.mil --input=x=w", ["--input=x=w.npz"]),
        ("run t.mil --input x=k=", []),
        ("fmt P", ["Packed.mlpackage/"]),
        ("fmt p", []),
        ("fmt t.mil a", ["a b.mil"]),
        ("fmt M", ["My Models/"]),
        ("fmt gone/", []),
        ("run t.mil --inputs ", ["My Models/", "Packed.mlpackage/", "w.npz"]),
        ("run t.mil --inputs=w", ["--inputs=w.npz"]),
        ("weights t.mil --save ", ["My Models/", "Packed.mlpackage/"]),
        ("reduce t.mil --test n", ["notes.txt"]),
        ("check - --stdin-filename t", ["t.mil"]),
        # what the model has
        ("expose t.mil ", ["first", "second", "y"]),
        ("expose t.mil first ", ["second", "y"]),
        ("extract t.mil y --input f", ["first"]),
        ("expose gone.mil ", []),
        ("expose Packed.mlpackage ", []),
        ("rename t.mil o", ["other"]),
        ("rename t.mil other ", []),
        ("expose t.mil --function ", ["main", "second_one"]),
        ("reshape t.mil ", ["x=", "other=", "z="]),
        ("reshape t.mil x=1", []),
        ("run t.mil --input x=w", ["x=w.npz"]),
        ("run t.mil --input=x=w", ["--input=x=w.npz"]),
        ("run t.mil --random p", ["p.pb"]),
        ("check --cache ", ["My Models/", "Packed.mlpackage/"]),
        ("info --files-from n", ["notes.txt"]),
        ("run --random t", ["t.mil"]),
        ("compare t.mil p.pb --shape o", ["other="]),
    ],
)
def test_a_word_becomes(line: str, expected: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert items(*line.split(" ")) == expected


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_revisions_match_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert items("diff", "--git", "H") == []
    for line in ("init -q -b main", "-c user.name=a -c user.email=b commit -q --allow-empty -m first", "tag v1"):
        subprocess.run(["git", *line.split()], check=True)
    assert items("diff", "--git", "") == ["HEAD", "main", "v1"]
    assert items("diff", "--git=v1..m") == ["--git=v1..main"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_no_line_can_show_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (b"\xff.mil", b"a\nb.mil", b"c\td.mil", b"e\x1b.mil"):
        (tmp_path / os.fsdecode(name)).touch()
    (tmp_path / "\u00fc.mil").touch()
    done = miltext_process("miltext print ", "", cwd=tmp_path, _MILTEXT_COMPLETE="bash_complete")
    assert (done.returncode, done.stdout.decode()) == (0, "file\t\u00fc.mil\t\n")


def test_a_file_is_found_in_a_folder_with_a_space(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert items("fmt", "My Models/") == ["My Models/deep.mil"]


def test_a_file_is_found_below_the_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert items("print", "~/t") == ["~/t.mil"]
    assert items("print", f"{folder}/t") == [f"{folder}/t.mil"]


# ---- names in models


def test_names_in_a_model_match_its_program() -> None:
    program = load(EXAMPLE).program
    block = next(iter(program.functions["main"].block_specializations.values()))
    made = [out.name for each in block.operations if each.type != "const" for out in each.outputs]
    assert names_in(str(EXAMPLE), "values") == made
    assert names_in(str(EXAMPLE), "inputs") == ["image"]
    assert names_in(str(EXAMPLE), "names") == ["image", *made]
    assert names_in(str(EXAMPLE), "functions") == ["main"]
    assert names_in(str(EXAMPLE), "stages") == []


@pytest.mark.parametrize("options", [(), ("--draft",), ("--as-coremlc",), ("--dialect", "1.0")])
def test_names_in_a_text_match_its_model(options: tuple[str, ...], tmp_path: Path) -> None:
    text = tmp_path / "m.mil"
    run("print", EXAMPLE, *options, "-o", text)
    for kind in ("inputs", "functions", "values"):
        assert names_in(str(text), kind) == names_in(str(EXAMPLE), kind)


def test_names_of_a_large_or_broken_model_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = tmp_path / "m.mil"
    text.write_text(TEXT)
    (tmp_path / "broken.mlmodel").write_bytes(b"\xff")
    assert names_in(str(tmp_path / "broken.mlmodel"), "values") == []
    assert names_in(str(tmp_path), "values") == []
    monkeypatch.setattr(model_names, "LARGEST", 100)
    assert names_in(str(text), "values") == []
    assert names_in(str(EXAMPLE), "values") == []


# ---- the command


def test_verb_completes_behind_value_of_an_option_of_every_verb() -> None:
    done = miltext_process("miltext --color always check --wa", "--wa", _MILTEXT_COMPLETE="bash_complete")
    assert b"--watch" in done.stdout


def test_the_shell_gets_the_script() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert run("completion", shell).stdout.decode() == script(shell)
    assert run("completion", "tcsh").returncode == 2
    asked = miltext_process(_MILTEXT_COMPLETE="zsh_source")  # as click has it, which may add an empty line
    assert asked.stdout.decode().rstrip() == script("zsh").rstrip()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_an_old_bash_is_reported_so() -> None:
    old = script("bash").replace("BASH_VERSINFO[0]", "3").replace("BASH_VERSINFO[1]", "2")
    done = subprocess.run(["bash", "--norc", "-c", old + "complete -p miltext"], capture_output=True, check=False)
    assert (done.returncode, b"needs bash 4.4 or later" in done.stderr) == (1, True)


def test_completing_imports_little() -> None:
    code = "import sys, runpy; sys.argv = ['miltext', 'miltext check --ignore MIL', 'MIL']\n"
    code += "try: runpy.run_module('miltext', run_name='__main__')\n"
    code += "finally: print(*(name for name in ('google.protobuf', 'numpy', 'pygments', 'lark', 'tomlkit') if name in sys.modules), file=sys.stderr)"  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, COMPLETE: "bash_complete"}, capture_output=True, check=True
    )
    assert done.stderr == b"\n"
    assert b"plain\tMIL604\tundefined value\n" in done.stdout


# ---- real shells

LINES = {
    "miltext pri": "miltext print ",
    "miltext print t": "miltext print t.mil ",
    "miltext print a": "miltext print a\\ b.mil ",
    "miltext print it": "miltext print it\\'s.mil ",
    'miltext print "a': 'miltext print "a b.mil" ',
    "miltext fmt My": "miltext fmt My\\ Models/",
    "miltext fmt My\\ Models/d": "miltext fmt My\\ Models/deep.mil ",
    "miltext print n": "miltext print n",
    "miltext print ~/t": "miltext print ~/t.mil ",
    "miltext check --format=js": "miltext check --format=json ",
    "miltext check --format js": "miltext check --format json ",
    "miltext check --select=MIL603,MIL6044": "miltext check --select=MIL603,MIL6044",
    "miltext explain MIL603": "miltext explain MIL603 ",
    "miltext explain mil603": "miltext explain MIL603 ",
    "miltext --color always print t": "miltext --color always print t.mil ",
    "miltext print k=": "miltext print k=v.mil ",
    "miltext print k=v": "miltext print k=v.mil ",
    "miltext print =": "miltext print =",
    "miltext print $HOME/t": "miltext print $HOME/t.mil ",
    "miltext reshape t.mil ot": "miltext reshape t.mil other=",
    "cat t.mil | miltext expose t.mil fi": "cat t.mil | miltext expose t.mil first ",
    "miltext run --input=x=w": "miltext run --input=x=w.npz ",
    "miltext print t.mil > no": "miltext print t.mil > notes.txt ",
}
"""What is typed before the tabulator key, and what becomes of it."""


@pytest.fixture(scope="module", params=["bash", "zsh"])
def shell(request: pytest.FixtureRequest, folder: Path) -> Iterator[Shell]:
    if sys.platform == "win32" or shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    opened = Shell(request.param, folder)
    yield opened
    opened.close()


def test_a_line_becomes_in_a_real_shell(shell: Shell) -> None:
    assert {line: shell.completed(line)[0] for line in LINES} == LINES


def test_all_that_is_possible_is_listed(shell: Shell) -> None:
    made, shown = shell.completed("miltext check ")
    shown = shown.partition("miltext check ")[2]
    assert made == "miltext check "
    assert all(word in shown for word in ("t.mil", "p.pb", "Packed.mlpackage", "Models/"))
    assert not any(word in shown for word in ("notes.txt", "w.npz", "hidden"))


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_a_line_becomes_in_a_real_fish(folder: Path) -> None:
    lines = [line for line in LINES if "6044" not in line]
    of_variable, gone = "--config=$HOME/Packed.mlpackage/../k=v.t", "$HOME/gone"
    made = fish([*lines, "miltext check ", f"miltext check {of_variable}", f"miltext check {gone}"], folder)
    words = {line: [line.split(" ")[-1]] for line in lines}
    for line in lines:
        whole = LINES[line].rstrip(" ")
        word = whole.replace("\\ ", "\0").split(" ")[-1].replace("\0", " ").replace("\\'", "'").strip('"')
        words[line] = [] if whole == line else ["a b.mil"] if '"' in line else [word]
    words["miltext explain MIL603"] = ["MIL603"]
    words[f"miltext check {of_variable}"] = [f"{of_variable}oml"]
    words[f"miltext check {gone}"] = []
    words["miltext check "] = [
        "a b.mil",
        "c:d.txtpb",
        "it's.mil",
        "k=v.mil",
        "My Models/",
        "p.pb",
        "Packed.mlpackage",
        "t.mil",
        "UPPER.MIL",
    ]
    assert made == words


def test_options_are_completed_as_click_declares_them() -> None:
    assert isinstance(command, click.Group)
    assert items("print", "--quiet", "--qui") == []
