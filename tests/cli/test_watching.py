"""`miltext check --watch`: again after each change, and after no other."""

from __future__ import annotations

import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from support.commands import miltext as run

from miltext.batches.reads import listening
from miltext.cli.watching import CLEAR, Watched, state

HEAD = "program(1.3)\n{\n    func main<ios18>(tensor<fp16, [2]> x) {"
GOOD = f"{HEAD} fp16 z = const()[val = fp16(1)];\n        }} -> (z);\n}}\n"
BAD = GOOD.replace("-> (z)", "-> (y)")
DRAFT = GOOD.replace("fp16 z = const()[val = fp16(1)];\n        ", 'z = add(x, $npy("w.npy")); ')

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals are those of POSIX")


# ---- what has changed


def replaced(path: Path, text: str) -> None:
    """Replace a file as editors do, by another one."""
    made = path.with_name("made~")
    made.write_text(text)
    made.replace(path)


def touched_array(folder: Path) -> None:
    np.save(folder / "w.npy", np.zeros(2, np.float16))


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda folder: (folder / "a.mil").write_text(BAD),
    "replaced": lambda folder: replaced(folder / "a.mil", BAD),
    "gone": lambda folder: (folder / "a.mil").unlink(),
    "of another size at the same time": lambda folder: os.utime(folder / "a.mil", ns=(0, 0)),
    "a new text": lambda folder: (folder / "new.mil").write_text(GOOD),
    "a new folder": lambda folder: (folder / "inner" / "deeper").mkdir(),
    "a new model": lambda folder: (folder / "New.mlpackage").mkdir(),
    "a text in a folder": lambda folder: (folder / "inner" / "b.mil").unlink(),
    "settings": lambda folder: (folder / "pyproject.toml").write_text("[tool.miltext]\n"),
    "settings around it": lambda folder: (folder.parent / "pyproject.toml").write_text("[tool.miltext]\n"),
    "an array that was missing": touched_array,
    "all of it": shutil.rmtree,
}
NO_CHANGES: dict[str, Callable[[Path], object]] = {
    "nothing": lambda folder: None,
    "read": lambda folder: (folder / "a.mil").read_bytes(),
    "what an editor keeps": lambda folder: (folder / ".a.mil.swp").write_text("?"),
    "a note": lambda folder: (folder / "notes.txt").write_text("?"),
    "a hidden folder": lambda folder: (folder / ".git").mkdir(),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    (made / "inner").mkdir(parents=True)
    (made / "a.mil").write_text(DRAFT)
    (made / "inner" / "b.mil").write_text(GOOD)
    return made


def watched(*named: Path) -> Watched:
    """What a check of the paths has noted."""
    made = Watched(map(str, named))
    made.begin()
    with listening(made.note):
        run("check", *named)
    return made


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_file_read_in_a_folder_is_noticed(change: str, folder: Path) -> None:
    made = watched(folder)
    assert not made.changed()
    CHANGES[change](folder)
    assert made.changed()


@pytest.mark.parametrize("change", [each for each in CHANGES if " folder" not in each])
def test_a_change_of_a_file_read_for_a_text_is_noticed(change: str, folder: Path) -> None:
    made = watched(folder / "a.mil")
    assert not made.changed()
    CHANGES[change](folder)
    assert made.changed()


@pytest.mark.parametrize("change", NO_CHANGES)
def test_other_changes_are_not_noticed(change: str, folder: Path) -> None:
    made = watched(folder)
    NO_CHANGES[change](folder)
    assert not made.changed()


def test_a_change_during_a_run_is_noticed_after_it(folder: Path) -> None:
    made = Watched([str(folder / "a.mil")])
    made.begin()
    made.note(str(folder / "inner" / "b.mil"), 0)
    (folder / "inner" / "b.mil").write_text(BAD)
    made.note(str(folder / "inner" / "b.mil"), 0)
    assert made.changed()
    made.begin()
    assert not made.changed()


def test_files_written_by_a_run_are_not_changes(folder: Path) -> None:
    (folder / "a.mil").write_text(GOOD.replace("ios18", "IOS18"))
    made = Watched([str(folder)])
    made.begin()
    with listening(made.note):
        run("check", "--fix", "--unsafe-fixes", folder)
    assert (folder / "a.mil").read_text() == GOOD
    assert made.changed()
    made.end([str(folder / "a.mil")])
    assert not made.changed()
    (folder / "a.mil").write_text(BAD)
    assert made.changed()


def test_paths_that_are_not_files_are_passed_over(folder: Path) -> None:
    made = Watched([str(folder / "a.mil")])
    made.begin()
    with listening(made.note):
        for event, argument in (("open", 3), ("open", b"x.mil"), ("import", "os"), ("open", "/proc/self/stat")):
            sys.audit(event, argument, "rb", 0)
    assert not made.changed()
    assert state(str(folder / "gone")) is None


def test_a_file_that_is_written_in_steps_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = watched(folder / "a.mil")
    steps = [GOOD, GOOD + "//", GOOD + "// end"]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) > 2 and steps:
            (folder / "a.mil").write_text(steps.pop(0))

    monkeypatch.setattr("time.sleep", sleep)
    made.wait()
    assert steps == []
    assert 6 <= len(slept) <= 8


# ---- the command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("- --watch", "leave out `-`"),
        ("a.mil --watch --format json", "leave out --format json"),
        ("gone.mil --watch", "file or folder not found: gone.mil"),
        ("--watch", "name the models or folders to check"),
    ],
)
def test_an_input_that_cannot_be_watched_is_refused(words: str, said: str, folder: Path) -> None:
    done = run("check", *words.split(), cwd=folder, input=b"")
    assert (done.returncode, said in done.stderr.decode()) == (2, True)


CODE = """\
import sys, runpy
from miltext.cli import watching
watching.INTERVAL = 0.02
sys.argv = ['miltext', *sys.argv[1:]]
runpy.run_module('miltext', run_name='__main__')
"""


class Running:
    """A command that watches, of which each line is waited for."""

    def __init__(self, *words: str, cwd: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CODE, "check", "--watch", *words],
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, end: str) -> str:
        """All that is said until a line has these words."""
        said = ""
        while end not in said:
            said += self._lines.get(timeout=30)
        return said


@pytest.fixture
def running(folder: Path) -> Iterator[Running]:
    (folder / "a.mil").write_text(GOOD)
    made = Running(".", cwd=folder)
    yield made
    made.process.kill()
    made.process.wait()


@posix_only
def test_a_check_runs_again_after_each_change(running: Running, folder: Path) -> None:
    text = folder / "a.mil"
    assert "checking; again after each change, until Ctrl-C" in running.until("nothing found in 2 programs")
    replaced(text, BAD)
    assert "a.mil:4:15: error[MIL604]" in running.until("1 error in 2 programs")
    text.unlink()
    running.until("nothing found in 1 program\n")
    (folder / "inner" / "b.mil").unlink()
    running.until("nothing to read in the folder .")
    text.write_text(GOOD)
    running.until("nothing found in 1 program\n")
    (folder / "pyproject.toml").write_text("[tool.miltext]\nnot = 1\n")
    running.until("error[MIL46")
    (folder / "pyproject.toml").unlink()
    running.until("nothing found in 1 program\n")
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(30) == 130


@posix_only
def test_on_a_terminal_each_run_has_an_empty_screen(folder: Path) -> None:
    import pty

    (folder / "a.mil").write_text(GOOD)
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "check", "--watch", "a.mil"], cwd=folder, stdout=slave, stderr=slave
    )
    os.close(slave)
    shown = ""
    try:
        for count in (1, 2):
            while shown.count("nothing found in 1 program") < count:
                shown += os.read(master, 1 << 16).decode()
            replaced(folder / "a.mil", GOOD)
        assert shown.count(CLEAR) == 2
        assert shown.startswith(CLEAR)
    finally:
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
        os.close(master)


@posix_only
def test_a_reader_that_leaves_ends_it(folder: Path) -> None:
    (folder / "a.mil").write_text(BAD)
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, "check", "--watch", "a.mil"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    for _ in range(200):
        replaced(folder / "a.mil", BAD)
        try:
            assert process.wait(0.1) == 2
            break
        except subprocess.TimeoutExpired:
            pass
    else:
        process.kill()
        pytest.fail("it goes on")
