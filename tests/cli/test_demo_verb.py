"""`miltext demo`: the steps are real commands, and nothing stays behind."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import EXAMPLE
from support.commands import miltext as run
from support.commands import miltext_process

from miltext.cli import demo_verb
from miltext.diagnostics.codes import TITLES

COMMAND = re.compile(r"^\$ miltext (\w+) .*$", re.MULTILINE)


def steps(shown: str) -> dict[str, str]:
    """Return what each command of the demo writes, by its verb; of a verb with several commands, the last."""
    parts = COMMAND.split(shown)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.fixture(scope="module")
def shown() -> str:
    done = miltext_process("demo")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def test_the_demo_prints_checks_runs_builds_and_compares(shown: str) -> None:
    assert COMMAND.findall(shown) == ["print", "check", "run", "print", "build", "diff"]
    told = steps(shown)
    assert "did you mean `softmax`?" in told["check"]
    assert "requests [1, 69], 69 elements" in told["check"]
    assert "\n2 errors in 1 program\n" in told["check"]
    assert re.search(r"classLabel_probs .*circle.*square.*triangle", told["run"])
    assert "operation: relu -> tanh" in told["diff"]
    assert not set(re.findall(r"MIL\d+", shown)) - TITLES.keys()


def test_each_command_has_the_same_output_elsewhere(shown: str, tmp_path: Path) -> None:
    there = run("print", str(EXAMPLE), "--draft", "--drop-names").stdout.decode()
    (first, *_) = COMMAND.split(shown)[2::2]
    assert first.startswith(f"\n{there}")
    commands = [line.removeprefix("$ miltext ").split() for line in shown.splitlines() if line.startswith("$ ")]
    for words in commands:
        assert run(*words, "--help").returncode == 0


def test_the_named_model_exists_and_is_shown(shown: str) -> None:
    named = re.findall(r"^The model is (.+)\. `miltext help`", shown, re.MULTILINE)
    assert [Path(each) for each in named] == [demo_verb.model()]
    assert demo_verb.model().samefile(EXAMPLE) or (demo_verb.model() / "Manifest.json").read_bytes()


def test_nothing_stays_behind_and_the_folder_may_be_read_only(tmp_path: Path) -> None:
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    work.mkdir()
    temporary.mkdir()
    work.chmod(0o500)
    done = miltext_process("demo", "--quiet", cwd=work, TMPDIR=str(temporary))
    work.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert [*work.iterdir(), *temporary.iterdir()] == []
    assert "A model is run" not in done.stdout.decode()


def test_colours_are_as_requested(shown: str) -> None:
    colored = miltext_process("demo", "--color", "always").stdout.decode()
    assert "\x1b[" in colored
    without = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert steps(without).keys() == steps(shown).keys()
    assert "\x1b[" not in shown


def test_a_step_that_fails_ends_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = (
        "from miltext.cli import demo_verb\n"
        "demo_verb.EDIT = ('= relu(', '= nothing_of_the_kind(')\n"
        "import sys; sys.argv = ['miltext', 'demo']\n"
        "from miltext.__main__ import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "`miltext build model.mil --from Classifier.mlpackage -o New.mlpackage` ended with" in done.stderr
    assert "Traceback" not in done.stderr
    assert "MIL501" in done.stdout


def test_the_demo_takes_no_arguments() -> None:
    assert run("demo", "Model.mlpackage").returncode == 2
