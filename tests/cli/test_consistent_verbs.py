"""One status and one form of message in every verb: unknown names, wrong options, missing and foreign files."""

from __future__ import annotations

import gzip
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from support.commands import miltext

import miltext as library

PACKAGE = "M.mlpackage"

READERS = {
    "build": ("build", "{}", "-o", "New.mlpackage"),
    "check": ("check", "{}"),
    "compare": ("compare", "{}", PACKAGE),
    "compare, second": ("compare", PACKAGE, "{}"),
    "convert-weights": ("convert-weights", "{}", "--to", "fp16", "-o", "New.mlpackage"),
    "describe": ("describe", "{}"),
    "diff": ("diff", "{}", PACKAGE),
    "diff, second": ("diff", PACKAGE, "{}"),
    "expose": ("expose", "{}", "v", "-o", "New.mlpackage"),
    "extract": ("extract", "{}", "v", "-o", "New.mlpackage"),
    "find": ("find", "softmax", "{}"),
    "fmt": ("fmt", "{}"),
    "fmt, check": ("fmt", "--check", "{}"),
    "infer": ("infer", "{}"),
    "info": ("info", "{}"),
    "link": ("link", "{}", "{}", "-o", "New.mlpackage"),
    "locate": ("locate", "{}", "1"),
    "merge": ("merge", "{}", "{}", "{}", "-o", "New.mil"),
    "optimize": ("optimize", "{}", "-o", "New.mlpackage"),
    "placement": ("placement", "{}", "--profile", "ane-m4-macos27"),
    "parse": ("parse", "{}", "-o", "New.pb"),
    "print": ("print", "{}"),
    "reduce": ("reduce", "{}", "--test", "true", "-o", "New.mil"),
    "rename": ("rename", "{}", "a", "b", "-o", "New.mlpackage"),
    "reshape": ("reshape", "{}", "x=1", "-o", "New.mlpackage"),
    "rewrite": ("rewrite", "softmax", "{}", "-o", "New.mlpackage"),
    "run": ("run", "{}", "--random", "1"),
    "sidecar": ("sidecar", "{}"),
    "size": ("size", "{}"),
    "cost": ("cost", "{}"),
    "split": ("split", "{}", "--parts", "2", "-o", "parts"),
    "weights": ("weights", "{}"),
}
"""How each verb is called that reads a model."""

UNDECIDED = ("compare", "compare, second", "diff", "diff, second", "merge")
"""Verbs whose status 1 is a difference or a conflict: there a model that cannot be read is status 2."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "examples" / "Classifier.mlpackage", tmp_path / PACKAGE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(verb: str, name: str) -> tuple[str, ...]:
    return tuple(word.replace("{}", name) for word in READERS[verb])


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("verb", READERS)
def test_a_missing_file_is_status_2_and_the_nearest_is_named(verb: str, folder: Path) -> None:
    ended = miltext(*called(verb, "M.mlpackge"))
    assert (ended.returncode, ended.stdout) == (2, b"")
    expected = b"miltext: file or folder not found: M.mlpackge; did you mean `M.mlpackage`?\n"
    assert ended.stderr.replace(b"\r\n", b"\n") == expected
    assert left(folder) == {PACKAGE}


SWAPPED = {
    "locate": ("locate", "242:12", PACKAGE),
    "rename": ("rename", "a", "b", PACKAGE, "-o", "New.mlpackage"),
    "expose": ("expose", "v", f"{PACKAGE}/", "-o", "New.mlpackage"),
    "extract": ("extract", "v", "w", PACKAGE),
    "reshape": ("reshape", "x=1", PACKAGE, "-o", "New.mlpackage"),
}
"""Calls with the model after another argument, which is no file."""


@pytest.mark.parametrize("verb", SWAPPED)
def test_a_model_that_is_not_the_first_argument_is_named(verb: str, folder: Path) -> None:
    call = SWAPPED[verb]
    ended, named = miltext(*call), next(word for word in call if word.startswith(PACKAGE))
    assert (ended.returncode, ended.stdout) == (2, b"")
    hint = f"; MODEL is the first argument, and {named} is not the first\n"
    assert ended.stderr.decode() == f"miltext: file or folder not found: {call[1]}{hint}"
    assert left(folder) == {PACKAGE}


def test_an_output_is_not_taken_for_the_model(folder: Path) -> None:
    ended = miltext("rename", "M.mlpackge", "a", "b", "-o", PACKAGE)
    assert ended.stderr.decode().endswith("not found: M.mlpackge; did you mean `M.mlpackage`?\n")


NUMBERS = {
    ("print", PACKAGE, "--elide", "four"): "Invalid value for '--elide': 'four' is not a whole number.",
    ("print", PACKAGE, "--inline-weights=few"): "Invalid value for '--inline-weights': 'few' is not a whole number.",
    ("generate", "--seed", "1.5"): "Invalid value for '--seed': '1.5' is not a whole number.",
    ("fmt", "--width", "wide", "."): "Invalid value for '--width': 'wide' is not a whole number.",
    ("reduce", PACKAGE, "--timeout", "soon"): "Invalid value for '--timeout': 'soon' is not a number.",
    ("print", PACKAGE, "--elide", "-1"): "Invalid value for '--elide': -1 is not in the range x>=0.",
    ("print", PACKAGE, "--elide"): "Option '--elide' requires an argument.",
    ("git", "setup", "--color"): "Option '--color' requires an argument.",
}


@pytest.mark.parametrize("call", NUMBERS, ids=" ".join)
def test_a_wrong_or_missing_value_of_an_option_shows_the_usage(call: tuple[str, ...], folder: Path) -> None:
    ended = miltext(*call)
    verb = " ".join(call[:2] if call[0] == "git" else call[:1])
    lines = ended.stderr.decode().splitlines()
    assert (ended.returncode, lines[0].startswith(f"Usage: miltext {verb} ")) == (2, True)
    assert lines[1:] == [f"Try 'miltext {verb} --help' for help.", "", f"Error: {NUMBERS[call]}"]


@pytest.mark.parametrize("verb", ["print", "check", "build"])
@pytest.mark.parametrize(("name", "near"), [("nowhere", None), ("sub/m.mi", "sub/m.mil"), ("missing/m.mil", None)])
def test_only_a_similar_name_beside_it_is_named(verb: str, name: str, near: str | None, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "m.mil").write_text("", encoding="utf-8")
    ended = miltext(*called(verb, name))
    assert ended.returncode == 2
    assert (b"did you mean" in ended.stderr) == (near is not None)
    if near is not None:
        assert f"did you mean `{Path(near)}`?".encode() in ended.stderr


def _zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("M.mlpackage/Manifest.json", "{}")


def _torch_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.pkl", b"pickled")
        file.writestr("archive/data/0", bytes(8))


OLD_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""The beginning of a file of `torch.save` before its zip archives: a pickled number."""

HEADER = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
SAFETENSORS = len(HEADER).to_bytes(8, "little") + HEADER + bytes(4)

FOREIGN = {
    "m.zip": (_zip, "a zip archive"),
    "m.mlpackage.gz": (lambda path: path.write_bytes(gzip.compress(b"text")), "a gzip file"),
    "m.h5": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40)), "an HDF5 file"),
    "m.tflite": (lambda path: path.write_bytes(b"\x1c\x00\x00\x00TFL3" + bytes(40)), "a TensorFlow Lite model"),
    "m.onnx": (lambda path: path.write_bytes(b"\x08\x08\x12\x07pytorch"), "an ONNX model"),
    "m.npy": (lambda path: np.save(path, np.zeros(3)), "an array of numpy"),
    "m.png": (lambda path: path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40)), "a PNG picture"),
    "m.gguf": (lambda path: path.write_bytes(b"GGUF" + bytes(40)), "a GGUF file"),
    "m.pt": (_torch_zip, "a PyTorch file"),
    "m.pth": (lambda path: path.write_bytes(OLD_TORCH + bytes(40)), "a PyTorch file"),
    "m.safetensors": (lambda path: path.write_bytes(SAFETENSORS), "a safetensors file"),
    "short.safetensors": (lambda path: path.write_bytes(b" \0\0\0\0\0\0\0" + SAFETENSORS[8:]), "a safetensors file"),
    "zip.mil": (_zip, "a zip archive"),
    "zip.mlmodel": (_zip, "a zip archive"),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("verb", READERS)
def test_another_kind_of_file_is_named(verb: str, name: str, folder: Path) -> None:
    make, noun = FOREIGN[name]
    make(folder / name)
    ended = miltext(*called(verb, name))
    said = ended.stdout + ended.stderr
    assert ended.returncode == (2 if verb in UNDECIDED else 1), said
    assert f"{name}: error[MIL253]: this is {noun}".encode() in said
    assert b"Traceback" not in said
    assert left(folder) == {PACKAGE, name}


@pytest.mark.parametrize("name", FOREIGN)
def test_another_kind_of_file_is_a_model_error(name: str, folder: Path) -> None:
    make, noun = FOREIGN[name]
    make(folder / name)
    with pytest.raises(library.ModelError, match=noun) as raised:
        library.load(name)
    assert raised.value.diagnostics[0].code == "MIL253"
    assert raised.value.diagnostics[0].notes


UNKNOWN = {
    "expose": (("expose", PACKAGE, "nope", "-o", "New.mlpackage"), 1),
    "extract": (("extract", PACKAGE, "nope", "-o", "New.mlpackage"), 1),
    "split": (("split", PACKAGE, "--at", "nope", "-o", "parts"), 1),
    "split, function": (("split", PACKAGE, "--parts", "2", "--function", "nope", "-o", "parts"), 1),
    "rename": (("rename", PACKAGE, "nope", "b", "-o", "New.mlpackage"), 1),
    "reshape": (("reshape", PACKAGE, "nope=1,2", "-o", "New.mlpackage"), 1),
    "build, range": (("build", PACKAGE, "--range", "nope=1,2", "-o", "New.mlpackage"), 1),
    "run, function": (("run", PACKAGE, "--random", "1", "--function", "nope"), 1),
    "run, value": (("run", PACKAGE, "--random", "1", "--value", "nope"), 1),
    "run, input": (("run", PACKAGE, "--input", "nope=3"), 1),
    "link, function": (("link", PACKAGE, "--function", "nope", "-o", "New.mlpackage"), 1),
    "link, input": (("link", PACKAGE, "--bind", "M.nope=M.nope", "-o", "New.mlpackage"), 1),
    "extract, function": (("extract", PACKAGE, "nope", "--function", "nope", "-o", "New.mlpackage"), 1),
    "optimize, rule": (("optimize", PACKAGE, "--skip", "nope", "--dry-run"), 1),
    "rewrite, site": (("rewrite", "softmax", PACKAGE, "--only", "nope", "--dry-run"), 1),
    "print, model": (("print", PACKAGE, "--model", "nope"), 1),
    "compare, function": (("compare", PACKAGE, PACKAGE, "--function", "nope"), 2),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_an_unknown_name_in_a_readable_model(case: str, folder: Path) -> None:
    words, status = UNKNOWN[case]
    ended = miltext(*words)
    assert ended.returncode == status, ended.stderr
    assert b"nope" in ended.stderr
    assert b"error[MIL" in ended.stderr
    assert left(folder) == {PACKAGE}


MISUSED = {
    "reshape": ("reshape", PACKAGE, "garbage", "-o", "New.mlpackage"),
    "reshape, sizes": ("reshape", PACKAGE, "image=a,b", "-o", "New.mlpackage"),
    "build, range": ("build", PACKAGE, "--range", "garbage", "-o", "New.mlpackage"),
    "run, shape": ("run", PACKAGE, "--random", "1", "--shape", "garbage"),
    "run, shape, sizes": ("run", PACKAGE, "--random", "1", "--shape", "image=a,b"),
    "run, weights": ("run", "m.mil", "--random", "1", "--weights", "nope"),
    "build, weights": ("build", "m.mil", "--weights", "nope", "-o", "New.mlpackage"),
    "run, random": ("run", PACKAGE, "--random", "many"),
    "print, dialect": ("print", PACKAGE, "--dialect", "9"),
    "diff, format": ("diff", PACKAGE, PACKAGE, "--format", "yaml"),
    "check, select": ("check", PACKAGE, "--select", "MIL999"),
}


@pytest.mark.parametrize("case", MISUSED)
def test_a_wrong_value_of_an_option_is_status_2(case: str, folder: Path) -> None:
    (folder / "m.mil").write_text("program(1.3) {}", encoding="utf-8")
    ended = miltext(*MISUSED[case])
    assert (ended.returncode, ended.stdout) == (2, b""), ended.stderr
    assert left(folder) == {PACKAGE, "m.mil"}


FORMS = {
    "print, page": (("print", PACKAGE, "-o", "o.html"), b"<!DOCTYPE html>"),
    "print, page, upper case": (("print", PACKAGE, "-o", "o.HTML"), b"<!DOCTYPE html>"),
    "print, text": (("print", PACKAGE, "-o", "o.mil"), b"program(1.3)"),
    "print, any": (("print", PACKAGE, "-o", "o.txt"), b"program(1.3)"),
    "diff, JSON": (("diff", PACKAGE, PACKAGE, "-o", "o.json"), b"{"),
    "diff, Markdown": (("diff", PACKAGE, PACKAGE, "-o", "o.md"), b"### "),
    "diff, page": (("diff", PACKAGE, PACKAGE, "-o", "o.html"), b"<!DOCTYPE html>"),
    "diff, any": (("diff", PACKAGE, PACKAGE, "-o", "o.txt"), b"no difference"),
    "diff, option": (("diff", PACKAGE, PACKAGE, "--format", "json", "-o", "o.txt"), b"{"),
    "describe": (("describe", PACKAGE, "-o", "o.toml"), b"#"),
}


@pytest.mark.parametrize("case", FORMS)
def test_the_ending_of_an_output_chooses_its_form(case: str, folder: Path) -> None:
    words, start = FORMS[case]
    ended = miltext(*words)
    assert ended.returncode == 0, ended.stderr
    assert (folder / words[-1]).read_bytes().startswith(start)


def test_an_ending_chooses_a_patch(folder: Path) -> None:
    text = library.to_text(PACKAGE)
    (folder / "a.mil").write_text(text, encoding="utf-8", newline="\n")
    (folder / "b.mil").write_text(text.replace("relu", "tanh"), encoding="utf-8", newline="\n")
    assert text != text.replace("relu", "tanh")
    for name in ("o.diff", "o.patch"):
        assert miltext("diff", "--ignore-weights", "a.mil", "b.mil", "-o", name).returncode == 1
        assert b"\n@@ " in (folder / name).read_bytes()


OTHERS = {
    "print, Program": (("print", PACKAGE, "-o", "o.pb"), "`miltext parse` writes"),
    "print, JSON": (("print", PACKAGE, "-o", "o.json"), "--format json`"),
    "print, model": (("print", PACKAGE, "-o", "o.mlpackage"), "`miltext build` writes"),
    "print, TOML": (("print", PACKAGE, "-o", "o.toml"), "`miltext describe` writes"),
    "describe, JSON": (("describe", PACKAGE, "-o", "o.json"), "--format json`"),
    "describe, text": (("describe", PACKAGE, "-o", "o.mil"), "`miltext print` writes"),
    "diff, text": (("diff", PACKAGE, PACKAGE, "-o", "o.mil"), "`miltext print` writes"),
    "diff, two forms": (("diff", PACKAGE, PACKAGE, "--format", "text", "-o", "o.json"), "--format json`"),
    "diff, counts": (("diff", PACKAGE, PACKAGE, "--stat", "-o", "o.json"), "--format json`"),
    "parse, JSON": (("parse", PACKAGE, "-o", "o.json"), ".pb or .txtpb"),
    "print, draft as a page": (("print", PACKAGE, "--draft", "-o", "o.html"), "--draft can be combined only with"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_an_ending_of_another_verb_is_refused_with_its_name(case: str, folder: Path) -> None:
    words, way = OTHERS[case]
    ended = miltext(*words)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert way in ended.stderr.decode()
    assert left(folder) == {PACKAGE}


WRITERS = [
    ("build", PACKAGE, "-o", "no/where/New.mlpackage"),
    ("build", PACKAGE, "-o", "no/New.mlmodel"),
    ("build", PACKAGE, "-o", "no/New.mlmodelc"),
    ("print", PACKAGE, "-o", "no/o.mil"),
    ("describe", PACKAGE, "-o", "no/o.toml"),
    ("diff", PACKAGE, PACKAGE, "-o", "no/o.json"),
    ("run", PACKAGE, "--random", "1", "-o", "no/o.npz"),
    ("rename", PACKAGE, "image", "x", "-o", "no/New.mlpackage"),
    ("reshape", PACKAGE, "image=1,1,16,16", "-o", "no/New.mlpackage"),
]


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_no_verb_makes_the_folder_of_its_output(words: tuple[str, ...], folder: Path) -> None:
    ended = miltext(*words)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"folder not found: no" in ended.stderr or b": No such file or directory" in ended.stderr
    assert left(folder) == {PACKAGE}
