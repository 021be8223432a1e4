"""`miltext link` on the command line."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from support.commands import miltext
from support.strikes import struck

import miltext as library

ENCODER = """program(1.3)
{
    func main<ios18>(tensor<fp32, [4]> x) {
            tensor<fp32, [4]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""
DECODER = ENCODER.replace("tensor<fp32, [4]> x)", "tensor<fp32, [4]> y)").replace("(x = x)[", "(x = y)[")
DECODER = (
    DECODER.replace("[4]> y = relu", "[4]> z = tanh").replace('string("y")', 'string("z")').replace("-> (y)", "-> (z)")
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "enc.mil").write_text(ENCODER)
    (tmp_path / "dec.mil").write_text(DECODER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_link_is_reported(folder: Path) -> None:
    done = miltext("link", "enc.mil", "dec.mil", "-o", "W.mlpackage")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().splitlines() == [
        "enc.y -> dec.y",
        "inputs: x; outputs: z",
        "inside: enc.y",
        "weight files: 0 -> 0 bytes",
    ]
    again = miltext("link", "enc.mil", "dec.mil", "-o", "W.mlpackage")
    assert (again.returncode, b"--force" in again.stderr) == (2, True)


def test_json(folder: Path) -> None:
    done = miltext("link", "a=enc.mil", "b=enc.mil", "--bind", "a.y=b.x", "-o", "W.mlpackage", "--json")
    found = json.loads(done.stdout)
    assert found["output"] == "W.mlpackage"
    assert found["values"] == [
        {"source": "a.y", "target": "b.x", "is_shared": False, "is_requested": True, "sizes": "", "cast": ""}
    ]


def test_names_with_signs(folder: Path) -> None:
    """A file may have a `=` in its name, and a model a dot."""
    (folder / "v=1.5.mil").write_text(ENCODER)
    done = miltext("link", "v=1.5.mil", "1.5=dec.mil", "--bind", "v=1.5.y=1.5.y", "-o", "W.mlpackage")
    assert done.stdout.decode().splitlines()[0] == "v=1.5.y -> 1.5.y"


def test_functions(folder: Path) -> None:
    done = miltext("link", "a=enc.mil", "b=dec.mil", "--functions", "-o", "W.mlpackage")
    assert done.stdout.decode().startswith("functions: a, b (the default is a)\n")
    assert sorted(library.load("W.mlpackage").program.functions) == ["a", "b"]
    done = miltext(
        "link", "W.mlpackage", "f=W.mlpackage", "--function", "W=a", "--function", "f=b", "-o", "V.mlpackage"
    )
    assert done.stdout.decode().startswith("W.y -> f.y\n")


@pytest.mark.parametrize(
    ("words", "status", "expected"),
    [
        (("a=enc.mil", "a=dec.mil"), 1, "two models are named `a`"),
        (("enc.mil", "dec.mil", "--bind", "enc.y"), 2, "--bind must be OUTPUT=INPUT"),
        (("enc.mil", "dec.mil", "--function", "main", "--function", "a=main"), 2, "--function must be one name, or"),
        (("enc.mil", "dec.mil", "--functions", "--keep", "z"), 2, "--functions cannot be combined with --bind"),
        (("enc.mil", "=dec.mil"), 2, "=dec.mil has no name before the ="),
        (("enc.mil", "gone.mil"), 2, "file or folder not found: gone.mil"),
        (("enc.mil", "enc.mil", "--bind", "enc.y=enc.x"), 1, "binds a model to itself"),
    ],
)
def test_wrong_words(words: tuple[str, ...], status: int, expected: str, folder: Path) -> None:
    done = miltext("link", *words, "-o", "W.mlpackage")
    assert (done.returncode, expected in done.stderr.decode()) == (status, True), done.stderr.decode()
    assert not (folder / "W.mlpackage").exists()


def test_messages_name_options(folder: Path) -> None:
    (folder / "half.mil").write_text(DECODER.replace("fp32", "fp16"))
    done = miltext("link", "enc.mil", "half.mil", "-o", "W.mlpackage")
    assert "`--cast` casts values" in done.stderr.decode()
    assert "`--apart` with `y`" in done.stderr.decode()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(("number", "strike"), [("SIGINT", 1), ("SIGTERM", 2)])
@pytest.mark.parametrize("is_there", [False, True])
def test_an_interrupted_link_leaves_the_old_files(folder: Path, number: str, strike: int, is_there: bool) -> None:
    """Struck after the model, and after the manifest."""
    if is_there:
        miltext("link", "enc.mil", "-o", "W.mlpackage")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    words = ["link", "enc.mil", "dec.mil", "-o", "W.mlpackage", "--force"]
    result = struck(folder, number, strike, *words)
    assert (result.returncode, result.stderr) == (128 + getattr(signal, number), b"")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
