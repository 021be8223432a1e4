"""Every verb that writes, at every kind of target: what happens there, and that nothing else changes."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from support.containers import TEXT, link, spec, write_bundle, write_package

from miltext.cli import command
from miltext.schema.proto import Function, Program

STREAMS: dict[str, Any] = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
RUNNER = CliRunner(**STREAMS)
DRAFT = TEXT.replace("tensor<fp16, [1, 4]> y", "_ y")
TWO = TEXT.replace(
    "        } -> (y)", '            tensor<fp16, [1, 4]> z = tanh(x = y)[name = string("z")];\n        } -> (z)'
)
"""A text with a value that is not returned."""

NOTES = b"Remember the milk.\n"

posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFOs, terminals and limits of this kind")

Tree = dict[str, tuple[int, object]]


def tree(folder: Path) -> Tree:
    """All that is in a folder: what each thing is, its mode, and what it holds."""

    def held(path: Path) -> object:
        return os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None

    return {str(path.relative_to(folder)): (path.lstat().st_mode, held(path)) for path in sorted(folder.rglob("*"))}


class Verb(NamedTuple):
    """A verb that writes to `-o`: its arguments before that, the ending of what it writes, and how that begins."""

    arguments: tuple[str, ...]
    ending: str
    begin: bytes

    @property
    def source(self) -> str:
        return self.arguments[1]

    def run(self, folder: Path, output: object, *more: str) -> Result:
        words = [str(folder / word) if "." in word else word for word in self.arguments]
        return RUNNER.invoke(command, [*words, "-o", str(output), *more])


TEXTS = {
    "print": Verb(("print", "in.mlmodel"), ".mil", b"program(1.3)"),
    "print html": Verb(("print", "in.mlmodel", "--html"), ".html", b"<!DOCTYPE html>"),
    "print proven": Verb(("print", "in.mlmodel", "--verify-roundtrip"), ".mil", b"program(1.3)"),
    "infer": Verb(("infer", "draft.mil"), ".mil", b"program(1.3)"),
    "parse": Verb(("parse", "in.mil", "--to", "pb"), ".pb", b"\x08\x01"),
    "parse to text": Verb(("parse", "in.mil", "--to", "txtpb"), ".txtpb", b"version: 1"),
}
MODELS = {
    "build": Verb(("build", "in.mil"), ".mlpackage", b""),
    "compile": Verb(("build", "in.mil"), ".mlmodelc", b""),
    "build a file": Verb(("build", "in.mil"), ".mlmodel", b"\x08"),
    "build from": Verb(("build", "in.mil", "--from", "in.mlmodel"), ".mlmodel", b"\x08"),
    "rename": Verb(("rename", "in.mlmodel", "x", "z"), ".mlpackage", b""),
    "rename to text": Verb(("rename", "in.mlmodel", "x", "z"), ".mil", b"program(1.3)"),
    "expose": Verb(("expose", "two.mil", "y"), ".mlmodel", b"\x08"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the inputs of all verbs, and with neighbours that are to stay as they are."""
    (tmp_path / "in.mil").write_text(TEXT)
    (tmp_path / "draft.mil").write_text(DRAFT)
    (tmp_path / "two.mil").write_text(TWO)
    made = tmp_path / "in.mlmodel"
    assert RUNNER.invoke(command, ["build", str(tmp_path / "in.mil"), "-o", str(made)]).exit_code == 0
    write_package(tmp_path / "Other.mlpackage", spec().SerializeToString())
    (tmp_path / "notes").write_bytes(NOTES)
    return tmp_path


def whole(path: Path) -> bytes:
    """What was written at a path: of a package or compiled model, nothing but that it is one."""
    return b"" if any((path / sign).is_file() for sign in ("Manifest.json", "coremldata.bin")) else path.read_bytes()


# ---- text and Programs


@pytest.fixture(params=TEXTS)
def text(request: pytest.FixtureRequest) -> Verb:
    return TEXTS[request.param]


def absent(folder: Path, verb: Verb) -> Path:
    return folder / f"out{verb.ending}"


def same_kind(folder: Path, verb: Verb) -> Path:
    path = absent(folder, verb)
    path.write_bytes(
        Program(version=1, functions={"old": Function()}).SerializeToString() if verb.ending == ".pb" else b"old"
    )
    path.chmod(0o640)
    return path


def no_ending(folder: Path, verb: Verb) -> Path:
    return folder / "out"


def same_kind_without_ending(folder: Path, verb: Verb) -> Path:
    made = absent(folder, verb)
    assert verb.run(folder, made).exit_code == 0
    return made.rename(folder / "out")


def empty_without_ending(folder: Path, verb: Verb) -> Path:
    (folder / "out").touch()
    return folder / "out"


def dangling_link(folder: Path, verb: Verb) -> Path:
    link(folder / "link", Path(absent(folder, verb).name))
    return folder / "link"


def link_to_same_kind(folder: Path, verb: Verb) -> Path:
    link(folder / "link", Path(same_kind(folder, verb)))
    return folder / "link"


def longest_name(folder: Path, verb: Verb) -> Path:
    return folder / ("o" * (255 - len(verb.ending)) + verb.ending)


WRITTEN = [
    absent,
    same_kind,
    no_ending,
    same_kind_without_ending,
    empty_without_ending,
    dangling_link,
    link_to_same_kind,
    longest_name,
]


@pytest.mark.parametrize("target", WRITTEN)
def test_text_is_written_over_nothing_or_its_own_kind(
    target: Callable[[Path, Verb], Path], text: Verb, folder: Path
) -> None:
    path = target(folder, text)
    is_link, mode = path.is_symlink(), path.stat().st_mode if path.exists() else None
    before = tree(folder)
    result = text.run(folder, path)
    assert (result.exit_code, result.output) == (0, "")
    assert path.read_bytes().startswith(text.begin)
    assert path.is_symlink() == is_link
    assert mode in (None, path.stat().st_mode)
    changed = {str(each.relative_to(folder)) for each in (path, Path(os.path.realpath(path)))}
    assert {**before, **tree(folder)}.keys() - before.keys() <= changed
    assert [name for name, held in before.items() if tree(folder)[name] != held and name not in changed] == []


def other_endings(folder: Path, verb: Verb) -> list[Path]:
    endings = {".mil", ".json", ".pb", ".txtpb", ".npy", ".mlmodel", ".mlpackage", ".mlmodelc", ".MLMODEL"}
    return [folder / f"out{ending}" for ending in endings - {verb.ending}]


def the_input(folder: Path, verb: Verb) -> list[Path]:
    shutil.copy(folder / verb.source, folder / "copy")
    os.link(folder / verb.source, folder / f"hard{verb.ending}")
    link(folder / f"soft{verb.ending}", Path(verb.source))
    return [folder / verb.source, folder / f"hard{verb.ending}", folder / f"soft{verb.ending}"]


def other_kind_without_ending(folder: Path, verb: Verb) -> list[Path]:
    shutil.copy(folder / "in.mlmodel", folder / "model")
    return [folder / "notes", folder / "model", folder / "Other.mlpackage" / "Manifest.json"]


def link_to_other_kind(folder: Path, verb: Verb) -> list[Path]:
    link(folder / f"link{verb.ending}", Path("Other.mlpackage"))
    link(folder / "bare", Path("in.mlmodel"))
    return [folder / f"link{verb.ending}", folder / "bare"]


def a_package(folder: Path, verb: Verb) -> list[Path]:
    return [folder / "Other.mlpackage", folder / "Other.mlpackage/Data/com.apple.CoreML/model.mlmodel"]


@pytest.mark.parametrize(
    "targets", [other_endings, the_input, other_kind_without_ending, link_to_other_kind, a_package]
)
def test_text_is_not_written_over_another_kind_or_its_input(
    targets: Callable[[Path, Verb], list[Path]], text: Verb, folder: Path
) -> None:
    for path in targets(folder, text):
        before = tree(folder)
        result = text.run(folder, path)
        assert (result.exit_code, "error[MIL40" in result.stderr, path.name in result.stderr) == (2, True, True), path
        assert tree(folder) == before


def test_a_part_of_the_input_is_not_replaced(folder: Path) -> None:
    bundle = folder / "C.mlmodelc"
    bundle.mkdir()
    (bundle / "model.mil").write_text(TEXT)
    before = tree(folder)
    for name in ("model.mil", "new.mil"):
        result = RUNNER.invoke(command, ["print", str(bundle), "-o", str(bundle / name)])
        assert (result.exit_code, "MIL402" in result.stderr) == (2, True)
    assert tree(folder) == before


def test_a_file_on_standard_input_is_not_replaced(folder: Path) -> None:
    before = tree(folder)
    for verb, name in (("print", "in.mil"), ("infer", "draft.mil")):
        with open(folder / name, "rb") as file:
            result = miltext(verb, "-", "-o", folder / name, stdin=file)
        assert (result.returncode, b"MIL402" in result.stderr) == (2, True)
    assert tree(folder) == before


@pytest.fixture(params=["folder", "missing folder", "file as folder", "read-only folder"])
def no_place(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which, or at whose place, nothing can be written."""
    path = folder / {"missing folder": "missing", "file as folder": "notes"}.get(request.param, "place")
    if path.name == "place":
        path.mkdir()
    if request.param == "folder":
        return path
    if request.param == "read-only folder":
        refuse_folders(path, monkeypatch)
    return path / "out"


def refuse_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be made in a folder, not even by root, who may write everywhere."""
    folder.chmod(0o555)
    mkdir = os.mkdir

    def refused(path: Any, *more: Any, **options: Any) -> None:
        if Path(path).parent == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        mkdir(path, *more, **options)

    monkeypatch.setattr(os, "mkdir", refused)
    if accessor := getattr(pathlib, "_NormalAccessor", None):  # Python 3.10, which keeps the function
        monkeypatch.setattr(accessor, "mkdir", staticmethod(refused))


@pytest.mark.parametrize("ending", [True, False])
def test_where_text_cannot_be_written_the_output_is_named(
    no_place: Path, ending: bool, text: Verb, folder: Path
) -> None:
    path = no_place if no_place.is_dir() or not ending else no_place.with_suffix(text.ending)
    before = tree(folder)
    result = text.run(folder, path)
    assert (result.exit_code, result.stderr.startswith(f"miltext: {path}: ")) == (2, True), result.stderr
    assert ".miltext" not in result.stderr
    assert tree(folder) == before


def drained(path: Path, done: Callable[[], object]) -> bytes:
    """What is written into a FIFO meanwhile."""
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()), daemon=True)
    reader.start()
    done()
    reader.join(20)
    return read[0]


@posix
@pytest.mark.parametrize("linked", [False, True])
def test_text_is_written_into_a_fifo(linked: bool, text: Verb, folder: Path) -> None:
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    path = folder / f"link{text.ending}" if linked else fifo
    if linked:
        link(path, fifo)
    before = tree(folder)
    results: list[Result] = []
    data = drained(fifo, lambda: results.append(text.run(folder, path)))
    assert (results[0].exit_code, data.startswith(text.begin)) == (0, True)
    assert tree(folder) == before


@posix
def test_text_is_written_into_a_device(text: Verb, folder: Path) -> None:
    import pty

    master, slave = pty.openpty()
    link(folder / "device", Path(os.ttyname(slave)))
    before = tree(folder)
    reader = threading.Thread(target=lambda: read_to_the_end(master), daemon=True)
    reader.start()
    assert text.run(folder, folder / "device").exit_code == 0
    assert stat.S_ISCHR(os.stat(folder / "device").st_mode)
    assert tree(folder) == before
    os.close(slave)
    reader.join(20)
    os.close(master)


def read_to_the_end(terminal: int) -> None:
    """Read what is written to a terminal until nobody has it open any more."""
    with suppress(OSError):
        while os.read(terminal, 1 << 16):
            pass


# ---- models


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Verb:
    return MODELS[request.param]


def told(model: Verb) -> str:
    """What a verb says of the description: only a new name changes it."""
    return "= input x -> z\n" if model is MODELS.get("rename") else ""


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("target", [absent, dangling_link, longest_name])
def test_a_model_is_written_where_nothing_is(
    target: Callable[[Path, Verb], Path], force: bool, model: Verb, folder: Path
) -> None:
    path = target(folder, model)
    if path.is_symlink():
        path = path.rename(path.with_suffix(model.ending))
    before = tree(folder)
    result = model.run(folder, path, *["--force"] * force)
    assert (result.exit_code, result.stderr) == (0, told(model))
    assert whole(path).startswith(model.begin)
    assert {name: held for name, held in tree(folder).items() if name in before} == before
    real = Path(os.path.realpath(path))
    assert {name.partition("/")[0] for name in tree(folder).keys() - before.keys()} == {real.name}


def existing(folder: Path, verb: Verb) -> Path:
    path = absent(folder, verb)
    if verb.ending == ".mlpackage":
        return write_package(path, spec().SerializeToString())
    if verb.ending == ".mlmodelc":
        return write_bundle(path)
    return same_kind(folder, verb)


def test_a_model_is_replaced_only_with_force(model: Verb, folder: Path) -> None:
    path = existing(folder, model)
    mode, before = path.stat().st_mode, tree(folder)
    link(folder / f"link{model.ending}", Path(path))
    for name in (path, folder / f"link{model.ending}"):
        result = model.run(folder, name)
        assert (result.exit_code, f"{name}: it already exists; --force" in result.stderr) == (2, True)
    (folder / f"link{model.ending}").unlink()
    assert tree(folder) == before
    result = model.run(folder, path, "--force")
    assert (result.exit_code, result.stderr) == (0, told(model))
    assert whole(path).startswith(model.begin)
    assert path.is_dir() or path.stat().st_mode == mode
    others = {name: held for name, held in before.items() if name.partition("/")[0] != path.name}
    assert {name: held for name, held in tree(folder).items() if name.partition("/")[0] != path.name} == others


def a_folder(folder: Path, path: Path) -> None:
    (path / "letters").mkdir(parents=True)


def link_to_folder(folder: Path, path: Path) -> None:
    (folder / "letters").mkdir()
    (folder / "letters" / "one").touch()
    link(path, folder / "letters")


@pytest.mark.parametrize("make", [a_folder, link_to_folder])
def test_a_model_never_replaces_another_kind_of_file(
    make: Callable[[Path, Path], None], model: Verb, folder: Path
) -> None:
    path = absent(folder, model)
    make(folder, path)
    before = tree(folder)
    result = model.run(folder, path, "--force")
    assert result.exit_code in (1, 2)
    assert str(path) in result.stderr
    assert tree(folder) == before


def test_a_model_that_holds_an_input_is_not_replaced(folder: Path) -> None:
    package = folder / "Other.mlpackage"
    inner = package / "Data" / "com.apple.CoreML" / "model.mlmodel"
    shutil.copy(folder / "in.mil", package / "Data")
    link(folder / "text.mlmodel", Path("in.mil"))
    before = tree(folder)
    for arguments in (
        ("build", package / "Data" / "in.mil", "-o", package),
        ("build", folder / "in.mil", "--from", inner, "-o", package),
        ("build", inner, "-o", package),
        ("rename", inner, "y", "z", "-o", package),
        ("build", package, "-o", package / "New.mlpackage"),
        ("build", package, "-o", package / "Data" / "New.mlmodel"),
        ("build", folder / "in.mil", "-o", folder / "text.mlmodel"),
    ):
        result = RUNNER.invoke(command, [*map(str, arguments), "--force"])
        assert (result.exit_code, "MIL402" in result.stderr) == (2, True), arguments
        assert tree(folder) == before
    assert RUNNER.invoke(command, ["build", str(package), "-o", str(package), "--force"]).exit_code == 0


def test_where_a_model_cannot_be_written_the_output_is_named(
    model: Verb, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder / "place"
    place.mkdir()
    refuse_folders(place, monkeypatch)
    before = tree(folder)
    for path in (place / f"out{model.ending}", folder / "notes" / f"out{model.ending}"):
        result = model.run(folder, path)
        assert (result.exit_code, result.stderr.startswith(f"miltext: {path}: ")) == (2, True), result.stderr
    assert tree(folder) == before


# ---- a full disk, and the verbs that choose their targets


def miltext(*arguments: object, room: int | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (room or 0, room or 0))

    words = [sys.executable, "-m", "miltext", *map(str, arguments)]
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, **options}
    if room is not None:
        options["preexec_fn"] = limit
    return subprocess.run(words, stderr=subprocess.PIPE, check=False, timeout=60, **options)


@posix
@pytest.mark.parametrize("name", [*TEXTS, *MODELS])
def test_on_a_full_disk_the_output_is_named_and_nothing_is_left(name: str, folder: Path) -> None:
    verb = {**TEXTS, **MODELS}[name]
    path = existing(folder, verb)
    before = tree(folder)
    words = [folder / word if "." in word else word for word in verb.arguments]
    result = miltext(*words, "-o", path, *["--force"] * (name in MODELS), room=8)
    assert (result.returncode, result.stderr) == (2, f"miltext: {path}: File too large\n".encode())
    assert tree(folder) == before


@posix
def test_weights_that_are_not_saved_leave_no_folders(folder: Path) -> None:
    before = tree(folder)
    result = miltext("weights", EXAMPLE, "--save", folder / "new" / "arrays", room=8)
    assert (result.returncode, b"File too large" in result.stderr) == (2, True)
    assert tree(folder) == before


@posix
@pytest.mark.parametrize("verb", ["fmt", "sidecar", "weights"])
def test_on_a_full_disk_the_other_verbs_leave_nothing(verb: str, folder: Path) -> None:
    (folder / "in.mil").write_text(TEXT.replace("x = x", "x=x"))
    (folder / "arrays").mkdir()
    weights = {"weights": (EXAMPLE, "--save", folder / "arrays"), "fmt": (folder / "in.mil",)}
    before = tree(folder)
    result = miltext(verb, *weights.get(verb, (folder / "in.mlmodel",)), room=8)
    assert (result.returncode, b": File too large" in result.stderr) == (2, True)
    assert str(folder).encode() in result.stderr
    assert b".miltext" not in result.stderr
    assert tree(folder) == before


EXAMPLE = Path(__file__).parents[2] / "examples" / "Classifier.mlpackage"


def test_a_sidecar_replaces_nothing_but_a_sidecar(folder: Path) -> None:
    sidecar = folder / "in.mlmodel.mil"
    for mine in (TEXT.encode(), NOTES):
        sidecar.write_bytes(mine)
        before = tree(folder)
        result = RUNNER.invoke(command, ["sidecar", str(folder / "in.mlmodel")])
        assert (result.exit_code, "MIL402" in result.stderr) == (2, True)
        assert tree(folder) == before
    sidecar.write_bytes(b"// Made by miltext 0.0.1 from in.mlmodel\nstale\n")
    assert RUNNER.invoke(command, ["sidecar", str(folder / "in.mlmodel")]).exit_code == 0
    assert b"program(1.3)" in sidecar.read_bytes()
    assert RUNNER.invoke(command, ["sidecar", "--check", str(folder / "in.mlmodel")]).exit_code == 0


@posix
@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("there", ["a FIFO", "a link to a FIFO", "/dev/null", "/dev/fd/1"])
def test_a_sidecar_is_written_only_to_a_file(there: str, check: bool, folder: Path) -> None:
    sidecar = folder / "in.mlmodel.mil"
    os.mkfifo(sidecar if there == "a FIFO" else folder / "fifo")
    if there != "a FIFO":
        link(sidecar, folder / "fifo" if there == "a link to a FIFO" else Path(there))
    before = tree(folder)
    result = miltext("sidecar", *["--check"] * check, folder / "in.mlmodel")
    assert (result.returncode, b"MIL402" in result.stderr, b"stale" in result.stderr) == (
        1 if check else 2,
        not check,
        check,
    )
    assert result.stdout == b""
    assert tree(folder) == before


@posix
def test_a_sidecar_and_fmt_keep_links_and_name_folders(folder: Path) -> None:
    sidecar = folder / "in.mlmodel.mil"
    link(sidecar, Path("elsewhere"))
    assert RUNNER.invoke(command, ["sidecar", str(folder / "in.mlmodel")]).exit_code == 0
    (folder / "loose").write_text(TEXT.replace("x = x", "x=x"))
    link(folder / "link.mil", Path("loose"))
    assert RUNNER.invoke(command, ["fmt", str(folder / "link.mil")]).exit_code == 0
    assert (sidecar.is_symlink(), (folder / "link.mil").is_symlink()) == (True, True)
    assert (folder / "elsewhere").read_bytes().startswith(b"// Made by miltext")
    assert (folder / "loose").read_text() == TEXT
    sidecar.unlink()
    sidecar.mkdir()
    before = tree(folder)
    result = RUNNER.invoke(command, ["sidecar", str(folder / "in.mlmodel")])
    assert (result.exit_code, result.stderr) == (2, f"miltext: {sidecar}: Is a directory\n")
    assert tree(folder) == before


def test_weights_are_saved_all_or_none(folder: Path) -> None:
    arrays = folder / "arrays"
    save = ["weights", str(EXAMPLE), "--save", str(arrays)]
    assert RUNNER.invoke(command, save).exit_code == 0
    assert len(tree(arrays)) == 2
    assert RUNNER.invoke(command, save).exit_code == 0
    first, last = sorted(arrays.iterdir())
    first.write_bytes(b"mine")
    before = tree(folder)
    result = RUNNER.invoke(command, save)
    assert (result.exit_code, f"{first}: error[MIL402]" in result.stderr) == (2, True)
    assert tree(folder) == before
    first.write_bytes(b"\x93NUMPY of mine")
    last.unlink()
    last.mkdir()
    before = tree(folder)
    result = RUNNER.invoke(command, save)
    assert (result.exit_code, str(last) in result.stderr) == (2, True)
    assert tree(folder) == before


@pytest.mark.parametrize("inside", ["", "Data", "Data/new"])
def test_arrays_are_not_saved_into_the_model_that_is_read(inside: str, tmp_path: Path) -> None:
    model = tmp_path / "M.mlpackage"
    shutil.copytree(EXAMPLE, model)
    before = tree(model)
    result = miltext("weights", model, "--save", model / inside)
    assert result.returncode == 2
    assert b"error[MIL402]: this is the input, or a part of it" in result.stderr
    assert tree(model) == before
