"""Two builds of the same inputs are equal byte for byte, also in another process and under another name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import EXAMPLE
from support.commands import miltext, miltext_process
from support.links import same_files

DRAFT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 4]> x, tensor<fp32, [1, 4]> gain) {
            w = const()[val = tensor<fp32, [4, 4]>($npy("w.npy"))];
            h = matmul(x, w);
            y = mul(h, gain);
        } -> (y);
}
"""

COMMANDS = {
    "a draft with arrays": ("build", "m.mil"),
    "a model as it is": ("build", "M.mlpackage"),
    "an edit": ("rename", "M.mlpackage", "image", "drawing"),
    "a part": ("extract", "M.mlpackage", "pooled_cast_fp16"),
    "a link": ("link", "m.mil", "M.mlpackage", "m.mil"),
    "functions": ("link", "a=m.mil", "b=M.mlpackage", "--functions"),
    "fp16": ("convert-weights", "m.mil", "--to", "fp16"),
    "an optimized model": ("optimize", "M.mlpackage"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_two_builds_are_equal(name: str, tmp_path: Path) -> None:
    """One is made in this process, the other in a process with other hashes, under another name."""
    written(tmp_path, COMMANDS[name], "one/One.mlpackage", "two/Two.mlpackage")


@pytest.mark.parametrize("name", ["a draft with arrays", "functions"])
def test_two_compiled_models_are_equal(name: str, tmp_path: Path) -> None:
    """Their class has the name of the output."""
    written(tmp_path, COMMANDS[name], "one/Same.mlmodelc", "two/Same.mlmodelc")


def written(folder: Path, words: tuple[str, ...], one: str, two: str) -> None:
    (folder / "M.mlpackage").symlink_to(EXAMPLE)
    (folder / "m.mil").write_text(DRAFT, encoding="utf-8")
    np.save(folder / "w.npy", np.arange(16, dtype=np.float32).reshape(4, 4))
    for out in (one, two):
        (folder / out).parent.mkdir()
    unproven = ["--allow-unproven"] if one.endswith("c") and words[0] == "build" else []
    made = miltext(*words, *unproven, "-o", one, cwd=folder)
    again = miltext_process(*words, *unproven, "-o", two, cwd=folder, PYTHONHASHSEED="1")
    assert (made.returncode, again.returncode) == (0, 0), made.stderr + again.stderr
    assert same_files(folder / one, folder / two)
