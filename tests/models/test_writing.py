"""How files come into their place: races, interrupts, what crashes leave, closed streams, names, neighbours."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models.test_build_safety import blob, contents, program, text_model
from models.test_outputs import EXAMPLE, miltext, posix, tree
from support.containers import TEXT, spec, write_package

from miltext.containers.opening import load, open_model
from miltext.drafting.building import build
from miltext.files import staging
from miltext.files.staging import Staging
from miltext.files.writing import write_file
from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

# ---- nothing is replaced that comes late


@pytest.fixture(params=["second name", "system", "reserved"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves of files by a second name; on a file system without, by the system's own call; and without either."""
    if request.param != "second name":
        monkeypatch.setattr(os, "link", without_names)
    if request.param == "reserved":
        monkeypatch.setattr(staging, "_call", lambda *_: False)


def without_names(*_: Path) -> None:
    raise PermissionError(errno.EPERM, "the file system has no second names")


def a_file(path: Path, content: str) -> None:
    path.write_text(content)


def a_folder(path: Path, content: str) -> None:
    path.mkdir()
    (path / "Manifest.json").write_text(content)


Make = Callable[[Path, str], None]


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("late", [a_file, a_folder])
@pytest.mark.parametrize("make", [a_file, a_folder])
def test_a_file_that_appears_meanwhile_is_not_replaced(make: Make, late: Make, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with pytest.raises(FileExistsError, match="it already exists") as failure, Staging(replace=False) as staging:  # noqa: PT012
        make(staging.place(target), "ours")
        late(target, "theirs")
        staging.commit()
    assert failure.value.filename == str(target)
    assert list(contents(tmp_path).values()) == [b"theirs"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("ways")
@pytest.mark.parametrize("make", [a_file, a_folder])
def test_a_file_that_appears_meanwhile_is_replaced_by_kind(make: Make, tmp_path: Path) -> None:
    target = tmp_path / "out"
    with Staging(replace=True) as staging:
        make(staging.place(target), "ours")
        make(target, "theirs")
        staging.commit()
    assert list(contents(tmp_path).values()) == [b"ours"]
    other = a_folder if make is a_file else a_file
    with pytest.raises(FileExistsError, match="another kind"), Staging(replace=True) as staging:  # noqa: PT012
        other(staging.place(target), "others")
        staging.commit()
    assert list(contents(tmp_path).values()) == [b"ours"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def racer(number: int, folder: Path, make: Make, gate: Any, won: Any) -> None:
    for turn in range(25):
        gate.wait(30)
        try:
            with Staging(replace=False) as staging:
                make(staging.place(folder / str(turn)), str(number))
                staging.commit()
            won[turn * 4 + number] = 1
        except FileExistsError:
            pass


@pytest.mark.usefixtures("ways")
@posix
@pytest.mark.parametrize("make", [a_file, a_folder])
def test_exactly_one_of_four_racing_writes_succeeds(make: Make, tmp_path: Path) -> None:
    fork = multiprocessing.get_context("fork")
    gate, won = fork.Barrier(4), fork.Array("i", 100)
    racers = [fork.Process(target=racer, args=(number, tmp_path, make, gate, won)) for number in range(4)]
    for each in racers:
        each.start()
    for each in racers:
        each.join(60)
    for turn in range(25):
        (winner,) = [number for number in range(4) if won[turn * 4 + number]]
        path = tmp_path / str(turn)
        assert (path / "Manifest.json" if path.is_dir() else path).read_text() == str(winner)
    assert len(list(tmp_path.iterdir())) == 25


@pytest.mark.any_version
def test_exactly_one_of_four_racing_commands_succeeds(tmp_path: Path) -> None:
    for name in ("out.mlpackage", "out.mlmodel"):
        words = [sys.executable, "-m", "miltext", "build", str(EXAMPLE), "-o", str(tmp_path / name)]
        racing = [subprocess.Popen(words, stderr=subprocess.PIPE) for _ in range(4)]
        ends = [(each.communicate(timeout=100)[1], each.returncode) for each in racing]
        assert sorted(status for _, status in ends) == [0, 2, 2, 2]
        weights = os.path.join("weights", "weight.bin")  # the winner's, a moment before its model
        came = [f"{weights}: it appeared".encode(), f"{weights}: it already exists; --force".encode()]
        sayings = (f"{name}: it already exists; --force".encode(), *came * name.endswith(".mlmodel"))
        assert all(any(saying in said for saying in sayings) for said, status in ends if status)
        assert load(tmp_path / name).program == load(EXAMPLE).program
    assert {path.name for path in tmp_path.iterdir()} == {"out.mlpackage", "out.mlmodel", "weights"}


# ---- interrupts, and what crashes leave

STRUCK = """
import importlib, os, signal, sys, time
from miltext.__main__ import main

module = importlib.import_module("miltext.{module}")

def struck(*arguments, usual=module.{function}, **options):
    {before}
    os.kill(os.getpid(), signal.{number})
    time.sleep({seconds})
    {after}

module.{function} = struck
main()
"""
USUAL = "return usual(*arguments, **options)"


def struck(place: str, number: str, *arguments: object, before: str = "", after: str = "", seconds: float = 60) -> Any:
    """Run the command, which gets a signal in a function of miltext's."""
    module, _, function = place.rpartition(".")
    script = STRUCK.format(module=module, function=function, number=number, before=before, after=after, seconds=seconds)
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], capture_output=True, check=False, timeout=50
    )


SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]


@posix
@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_while_the_old_one_is_removed_lets_that_end(number: str, tmp_path: Path) -> None:
    old = write_package(tmp_path / "Old.mlpackage", spec().SerializeToString())
    arguments = ("build", EXAMPLE, "-o", old, "--force")
    result = struck("files.staging._remove", number, *arguments, after=USUAL, seconds=0.1)
    assert (result.returncode, result.stderr) == (128 + getattr(signal, number), b"")
    assert load(old).program == load(EXAMPLE).program
    assert [path.name for path in tmp_path.iterdir()] == [old.name]


@posix
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("verb", ["print", "fmt", "weights"])
def test_an_interrupt_leaves_nothing(verb: str, number: str, tmp_path: Path) -> None:
    source = tmp_path / "in.mil"
    source.write_text(TEXT.replace("x = x", "x=x"))
    (tmp_path / "arrays").mkdir()
    (tmp_path / "out.mil").write_text("old")
    before = tree(tmp_path)
    arguments = {
        "print": ("print", source, "-o", tmp_path / "out.mil"),
        "fmt": ("fmt", source),
        "weights": ("weights", EXAMPLE, "--save", tmp_path / "arrays"),
    }[verb]
    result = struck("files.writing.write_new", number, *arguments, before=USUAL.removeprefix("return "))
    assert (result.returncode, result.stderr) == (128 + getattr(signal, number), b"")
    assert tree(tmp_path) == before


CALLED: dict[tuple[object, ...], str] = {
    ("print", EXAMPLE): "containers.opening.open_model",
    ("check", EXAMPLE): "containers.opening.open_model",
    ("fmt", "--check", "in.mil"): "formatting.formatter.verified_format",
    ("infer", "in.mil"): "drafting.draft.complete",
    ("print", "--help"): "cli.import_module",
}
"""A function that each command calls."""


@posix
@pytest.mark.parametrize("arguments", CALLED, ids=str)
def test_ctrl_c_is_130(arguments: tuple[object, ...], tmp_path: Path) -> None:
    (tmp_path / "in.mil").write_text(TEXT)
    words = [tmp_path / word if word == "in.mil" else word for word in arguments]
    result = struck(CALLED[arguments], "SIGINT", *words)
    assert (result.returncode, result.stdout, result.stderr) == (130, b"", b"")


@posix
def test_findings_that_the_caller_ignores_are_ignored(tmp_path: Path) -> None:
    before = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    script = STRUCK.format(
        module="files.writing",
        function="write_new",
        number="SIGHUP",
        before=USUAL.removeprefix("return "),
        after="",
        seconds=0,
    ).replace("main()\n", f"{before}\nmain()\n")
    words = [sys.executable, "-c", script, "print", str(EXAMPLE), "-o", str(tmp_path / "out.mil")]
    result = subprocess.run(words, capture_output=True, check=False, timeout=50)
    assert (result.returncode, result.stderr) == (0, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["out.mil"]


@posix
def test_remains_of_a_killed_build_are_removed_by_the_next(tmp_path: Path) -> None:
    out = tmp_path / "out.mlpackage"
    script = "import os, signal\nfrom miltext.building import writing\nfrom miltext.__main__ import main\n"
    script += "writing.write_new = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\nmain()\n"
    words = [sys.executable, "-c", script, "build", str(EXAMPLE), "-o", str(out)]
    assert subprocess.run(words, check=False, timeout=50).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert len(contents(left)) > 0
    (left / "0" / "Data").chmod(0o555)
    write_file(tmp_path / "other.mil", [b"text"])
    assert [path.name for path in tmp_path.iterdir()] == ["other.mil"]


def test_an_unfinished_file_does_not_look_like_a_model(tmp_path: Path) -> None:
    with Staging(replace=False) as staging:
        for ending in ("mil", "mlmodel", "npy"):
            staging.place(tmp_path / f"out.{ending}").write_text("half")
        write_package(staging.place(tmp_path / "out.mlpackage"), b"half")
        assert [path for path in tmp_path.rglob("*") if path.suffix and path.parent.parent == tmp_path] == []


@posix
def test_files_in_use_or_of_other_users_are_not_removed(tmp_path: Path) -> None:
    for name in (".miltext-notours", ".miltext-0123456", "miltext-01234567", ".x.miltext-01234567"):
        (tmp_path / name).mkdir()
    (tmp_path / ".miltext-01234567").write_text("a file")
    (tmp_path / ".miltext-89abcdef").symlink_to(".miltext-notours")
    before = tree(tmp_path)
    with staging.workshop(tmp_path) as one:
        (one / "half").write_text("half")
        with staging.workshop(tmp_path):
            assert (one / "half").exists()
    assert tree(tmp_path) == before


def test_a_folder_that_is_taken_away_before_it_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = staging._locked
    taken: list[Path] = []

    def locked(folder: Path, *, wait: bool) -> int:
        if not taken:
            taken.append(folder)
            folder.rmdir()
        return usual(folder, wait=wait)

    monkeypatch.setattr(staging, "_locked", locked)
    write_file(tmp_path / "out", [b"whole"])
    assert len(taken) == 1
    assert contents(tmp_path) == {"out": b"whole"}


@pytest.mark.parametrize("failure", [OSError, ImportError])
def test_without_locks_nothing_is_removed(
    failure: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object, **__: object) -> int:
        raise failure

    monkeypatch.setattr(staging, "_locked", locked)
    (tmp_path / ".miltext-01234567").mkdir()
    write_file(tmp_path / "out", [b"whole"])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".miltext-01234567", "out"]


@posix
def test_one_may_write_in_a_folder_that_one_may_not_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unlisted(_: object) -> list[str]:
        raise PermissionError

    monkeypatch.setattr(os, "listdir", unlisted)
    write_file(tmp_path / "out", [b"whole"])
    assert (tmp_path / "out").read_bytes() == b"whole"


# ---- streams


@posix
@pytest.mark.parametrize(
    ("closed", "arguments", "status", "said"),
    [
        (0, ("print", "-"), 2, b"miltext: standard input: Bad file descriptor\n"),
        (0, ("fmt", "-"), 2, b"miltext: standard input: Bad file descriptor\n"),
        (0, ("infer", "-"), 2, b"miltext: standard input: Bad file descriptor\n"),
        (0, ("check", "-"), 2, b"miltext: standard input: Bad file descriptor\n"),
        (0, ("print", EXAMPLE), 0, b""),
        (1, ("print", EXAMPLE), 2, b"miltext: standard output: Bad file descriptor\n"),
        (1, ("parse", EXAMPLE, "--to", "pb"), 2, b"miltext: standard output: Bad file descriptor\n"),
        (1, ("info", EXAMPLE), 2, b"miltext: standard output: Bad file descriptor\n"),
        (1, ("print", EXAMPLE, "-o", "/dev/stdout"), 2, b"miltext: /dev/stdout: Bad file descriptor\n"),
        (1, ("--help",), 2, b"miltext: standard output: Bad file descriptor\n"),
        (1, ("check", EXAMPLE), 0, b"nothing found in 1 program\n"),
        (2, ("print", EXAMPLE), 0, b""),
        (2, ("print", "missing"), 2, b""),
        (2, ("build", EXAMPLE, "-o", "missing.onnx"), 2, b""),
    ],
)
def test_a_closed_stream(closed: int, arguments: tuple[object, ...], status: int, said: bytes) -> None:
    words = [sys.executable, "-m", "miltext", *map(str, arguments)]
    result = subprocess.run(words, capture_output=True, check=False, preexec_fn=lambda: os.close(closed), timeout=50)
    assert (result.returncode, result.stderr) == (status, said)


@posix
def test_a_file_does_not_get_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    script = 'exec "$@" >&- 2>&- <&-'
    words = [sys.executable, "-m", "miltext", "print", str(EXAMPLE), "-o", str(tmp_path / "out.mil")]
    assert subprocess.run(["sh", "-c", script, "sh", *words], check=False, timeout=50).returncode == 0
    assert (tmp_path / "out.mil").read_bytes() == miltext("print", EXAMPLE).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("print", "--help"), ("print", EXAMPLE)])
def test_a_full_device(arguments: tuple[object, ...]) -> None:
    with open("/dev/full", "wb") as full:
        result = miltext(*arguments, stdout=full)
    assert (result.returncode, result.stderr) == (2, b"miltext: standard output: No space left on device\n")


@posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_standard_output_by_its_name_is_written_where_it_is(name: str, tmp_path: Path) -> None:
    shown = miltext("print", EXAMPLE).stdout
    if name == "link":
        (tmp_path / name).symlink_to("/dev/stdout")
        name = str(tmp_path / name)
    assert miltext("print", EXAMPLE, "-o", name).stdout == shown
    for suffix in ("txt", "mlmodel"):
        with open(tmp_path / f"out.{suffix}", "wb") as file:
            file.write(b"head\n")
            file.flush()
            assert miltext("print", EXAMPLE, "-o", name, stdout=file).returncode == 0
            file.seek(0, os.SEEK_END)
            file.write(b"foot\n")
        assert (tmp_path / f"out.{suffix}").read_bytes() == b"head\n" + shown + b"foot\n"


# ---- names that are not Unicode


@pytest.fixture(params=[{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii:strict"}], ids=str)
def locale(request: pytest.FixtureRequest) -> dict[str, str]:
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG"))}
    return {**usual, **request.param}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, every name is Unicode")
@pytest.mark.parametrize(
    ("status", "arguments"),
    [
        (1, ("fmt", "--diff", "NAME")),
        (1, ("fmt", "--check", "NAME")),
        (0, ("fmt", "NAME")),
        (0, ("print", "NAME")),
        (0, ("print", "--html", "NAME")),
        (0, ("print", "--html", "NAME", "-o", "NAME.html")),
        (0, ("print", "--compact", "NAME")),
        (0, ("info", "NAME")),
        (0, ("info", "--json", "NAME")),
        (0, ("check", "NAME")),
        (0, ("check", "--format", "json", "NAME")),
        (0, ("check", "--format", "github", "NAME")),
        (0, ("check", "--format", "sarif", "NAME")),
        (0, ("sidecar", "NAME")),
        (0, ("diff", "NAME", "NAME")),
        (0, ("locate", "NAME", "4")),
        (0, ("textconv", "NAME")),
        (2, ("print", "NAME.missing")),
        (2, ("print", "NAME", "-o", "NAME.missing/out.mil")),
    ],
    ids=str,
)
def test_a_name_that_is_not_unicode(
    status: int, arguments: tuple[str, ...], locale: dict[str, str], tmp_path: Path
) -> None:
    path = os.fsencode(tmp_path) + b"/a\xff\xe9.mil"
    Path(os.fsdecode(path)).write_text(TEXT.replace("x = x", "x=x"))
    words = [path if word == "NAME" else word.encode().replace(b"NAME", path) for word in arguments]
    result = subprocess.run(
        [sys.executable, "-m", "miltext", *words], capture_output=True, check=False, env=locale, timeout=50
    )
    assert (result.returncode, b"Traceback" in result.stderr) == (status, False), result.stderr
    result.stdout.decode()
    result.stderr.decode()
    for made in tmp_path.iterdir():
        made.read_bytes().decode()


# ---- `fmt` on folders


@posix
def test_fmt_reports_every_file_in_a_folder(tmp_path: Path) -> None:
    loose = TEXT.replace("x = x", "x=x")
    (tmp_path / "a.mil").write_text(loose)
    (tmp_path / "b.mil").mkdir()
    (tmp_path / "b.mil" / "inner.mil").write_text(loose)
    (tmp_path / "c.mil").symlink_to("nowhere")
    os.mkfifo(tmp_path / "d.fifo")
    (tmp_path / "z.mil").write_text(loose)
    result = miltext("fmt", "--check", tmp_path)
    assert (result.returncode, result.stderr.count(b"would reformat"), result.stderr.count(b"MIL250")) == (2, 3, 1)
    result = miltext("fmt", tmp_path)
    assert (result.returncode, result.stderr.count(b"reformatted"), result.stderr.count(b"MIL250")) == (2, 3, 1)
    assert {path.read_text() for path in tmp_path.rglob("*.mil") if path.is_file()} == {TEXT}


@posix
def test_fmt_continues_where_one_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a.mil").write_text(TEXT.replace("x = x", "x=x") + "// " + "long" * 500)
    (tmp_path / "b.mil").write_text(TEXT.replace("x = x", "x=x"))
    result = miltext("fmt", tmp_path, room=1000)
    assert result.returncode == 2
    assert result.stderr.decode().splitlines() == [
        f"miltext: {tmp_path / 'a.mil'}: File too large",
        f"reformatted {tmp_path / 'b.mil'}",
    ]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("name", ["Model.mlpackage", "empty"])
def test_fmt_of_a_folder_without_text_reports_it(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    if name == "Model.mlpackage":
        folder.rmdir()
        write_package(folder, spec().SerializeToString())
    for option in ((), ("--check",), ("--diff",)):
        result = miltext("fmt", *option, folder)
        assert (result.returncode, f"no .mil file found in the folder {folder}" in result.stderr.decode()) == (2, True)


@posix
def test_fmt_writes_back_only_files(tmp_path: Path) -> None:
    words = f"{sys.executable} -m miltext fmt <(printf %s '{TEXT.replace('x = x', 'x=x')}')"
    result = subprocess.run(["bash", "-c", words], capture_output=True, check=False, timeout=50)
    assert (result.returncode, b"only a file is written back" in result.stderr) == (2, True)


# ---- several models in one folder


def source(folder: Path, first: int) -> Path:
    """A text by itself whose weights count up from `first`."""
    weights = folder / f"from-{first}" / "weights" / "weight.bin"
    if not weights.exists():
        weights.parent.mkdir(parents=True)
        with BlobWriter(weights) as writer:
            writer.add(BY_NAME["fp32"], np.arange(first, first + 16, dtype=np.float32))
    return Path(text_model(blob(), weights.parent.parent).path or "")


def first_weight(path: Path) -> float:
    return float(load(path).weights["w"][0])


def test_a_second_model_beside_the_first_harms_nothing(tmp_path: Path) -> None:
    build(open_model(source(tmp_path, 1)), tmp_path / "A.mlmodel")
    build(open_model(source(tmp_path, 2)), tmp_path / "B.mlmodel")
    assert [first_weight(tmp_path / f"{name}.mlmodel") for name in "AB"] == [1, 2]
    build(open_model(source(tmp_path, 3)), tmp_path / "B.mlmodel", force=True)
    assert [first_weight(tmp_path / f"{name}.mlmodel") for name in "AB"] == [1, 3]
    assert sorted(path.name for path in (tmp_path / "weights").iterdir()) == ["B-weight.bin", "weight.bin"]


def test_a_folder_that_another_process_makes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, exists = tmp_path / "models", Path.exists
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "exists", lambda path, **options: path != folder and exists(path, **options))
        build(open_model(source(tmp_path, 1)), folder / "A.mlmodel")
    assert first_weight(folder / "A.mlmodel") == 1


@pytest.mark.parametrize("force", [False, True])
def test_model_beside_another_that_is_being_built_harms_nothing(force: bool, tmp_path: Path) -> None:
    first, second = open_model(source(tmp_path, 1)), open_model(source(tmp_path, 2))
    done: list[int] = []

    def meanwhile(size: int) -> None:
        done.append(size)
        if len(done) == 1:
            build(second, tmp_path / "B.mlmodel", force=force)

    with pytest.raises(FileExistsError, match="run the command again") as failure:
        build(first, tmp_path / "A.mlmodel", force=force, progress=meanwhile)
    assert failure.value.filename == str(tmp_path / "weights" / "weight.bin")
    assert (first_weight(tmp_path / "B.mlmodel"), (tmp_path / "A.mlmodel").exists()) == (2, False)
    build(first, tmp_path / "A.mlmodel", force=force)
    assert [first_weight(tmp_path / f"{name}.mlmodel") for name in "AB"] == [1, 2]


@pytest.mark.parametrize("seed", range(8))
def test_every_model_of_a_folder_keeps_its_own_numbers(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "models"
    folder.mkdir()
    known: dict[Path, float] = {}
    for step in range(12):
        target = folder / f"{chance.choice('AB c')}.mlmodel"
        if known and chance.random() < 0.4:
            start = chance.choice(sorted(known))
            value = known[start]
        else:
            value = chance.randrange(4)
            start = source(tmp_path, int(value))
        build(open_model(start), target, force=target in known, externalize=chance.choice([None, 1]))
        known[target] = value
        assert {path: first_weight(path) for path in known} == known, step
    assert {path.suffix for path in folder.iterdir()} == {".mlmodel", ""}


def test_a_text_beside_a_model_keeps_its_weights(tmp_path: Path) -> None:
    text = source(tmp_path, 5)
    build(open_model(text), text.parent / "A.mlmodel")
    assert [path.name for path in (text.parent / "weights").iterdir()] == ["weight.bin"]
    inline = program("tensor<fp32, [16]>([" + ", ".join(["9.0"] * 16) + "])")
    (tmp_path / "inline").mkdir()
    build(text_model(inline, tmp_path / "inline"), text.parent / "A.mlmodel", force=True, externalize=1)
    assert first_weight(text.parent / "A.mlmodel") == 9
    assert float(open_model(text).weights["w"][0]) == 5
