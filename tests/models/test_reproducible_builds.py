"""Two builds of one source are equal byte for byte: in other processes, at other times, and with other names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE

import miltext

DRAFT = """program(1.3) {
    func main<ios18>(tensor<fp16, [2, 3]> x, state<tensor<fp16, [2, 3]>> s) {
        w = linear(x, $npy("w.npy"), $npy("b.npy"));
        r = read_state(s);
        t = add(r, x);
        write_state(s, t);
    } -> (w);
    func second<ios18>(tensor<fp16, [2, 3]> x) { y = relu(x); } -> (y);
}
"""

CALLS = {
    "draft": ("build", "draft.mil"),
    "package": ("build", str(EXAMPLE)),
    "text of a package": ("build", "edited.mil", "--from", str(EXAMPLE)),
    "renamed": ("rename", str(EXAMPLE), "image", "drawing"),
    "extracted": ("extract", str(EXAMPLE), "lit_cast_fp16"),
    "converted": ("convert-weights", str(EXAMPLE), "--to", "fp32"),
    "optimized": ("optimize", str(EXAMPLE)),
    "linked": ("link", "draft.mil", str(EXAMPLE), "--function", "draft=main"),
    "functions": ("link", "a=draft.mil", f"b={EXAMPLE}", "--functions", "--function", "a=main"),
}
"""Verbs that write a model."""

ENDINGS = (".mlpackage", ".mlmodel", ".mlmodelc")

BUILDS = [("0", "UTC", "One"), ("1", "Asia/Tokyo", "Two"), ("random", "America/Lima", "One")]
"""Processes that write all models, each with its seed of hashes, its time zone, and the names of its models."""

CALLED = """
import json, sys
from miltext.cli import command
for words in json.load(sys.stdin):
    command(["-q", *words], standalone_mode=False)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all models of each process."""
    folder = tmp_path_factory.mktemp("builds")
    (folder / "draft.mil").write_text(DRAFT, encoding="utf-8")
    for name, shape in {"w": (4, 3), "b": (4,)}.items():
        np.save(folder / f"{name}.npy", np.arange(np.prod(shape), dtype=np.float16).reshape(shape))
    text = miltext.to_text(str(EXAMPLE))
    assert "= relu(" in text
    (folder / "edited.mil").write_text(text.replace("= relu(", "= tanh("), encoding="utf-8")
    for number, (seed, zone, name) in enumerate(BUILDS):
        written = [(call, ending) for call in CALLS for ending in ENDINGS]
        calls = []
        for call, ending in written:
            target = folder / place_of(number, call, ending) / f"{name}{ending}"
            target.parent.mkdir(parents=True)
            calls.append([*CALLS[call], "-o", str(target)])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone}
        command = [sys.executable, "-c", CALLED]
        subprocess.run(command, input=json.dumps(calls).encode(), cwd=folder, env=environment, check=True)
    return folder


def place_of(number: int, call: str, ending: str) -> str:
    return f"{number}/{call}{ending}"


def contents(model: Path) -> dict[str, bytes]:
    """The files of a model; the weights of an .mlmodel are beside it."""
    files = [path for path in model.parent.rglob("*") if path.is_file()]
    return {path.relative_to(model.parent).as_posix().replace(model.name, "MODEL"): path.read_bytes() for path in files}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_two_builds_are_equal_byte_for_byte(ending: str, call: str, folder: Path) -> None:
    names = [name for *_, name in BUILDS]
    made = [contents(folder / place_of(number, call, ending) / f"{name}{ending}") for number, name in enumerate(names)]
    assert made[0] == made[2]
    assert len(made[0]) >= (1 if ending == ".mlmodel" else 3)
    if ending == ".mlmodelc":  # one key follows from the name of the folder
        for each, name in zip(made, names, strict=True):
            text = each["MODEL/metadata.json"].decode()
            assert json.loads(text)[0]["generatedClassName"] == name
            each["MODEL/metadata.json"] = text.replace(f'"{name}"', '"Name"').encode()
    assert made[0] == made[1]
