"""Folders of small models, for verbs on many models."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conftest import EXAMPLE

HEAD = "program(1.3) { func main<ios16>(tensor<fp32, [2]> x) {"
GOOD, WRONG = f"{HEAD} y = relu(x); }} -> (y); }}\n", f"{HEAD} y = relu(z); }} -> (y); }}\n"
CANONICAL = """program(1.3)
{
    func main<ios16>(tensor<fp32, [2]> x) {
            tensor<fp32, [2]> y = relu(x = x)[name = string("y")];
        } -> (y);
}
"""

LONG_AGO = time.time() - 10**6

_opened: list[list[str]] = []
_hooks: list[object] = []


def make_zoo(folder: Path) -> Path:
    """Write two packages, a whole text, a draft and a wrong text, all of them old."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("A.mlpackage", "inner/B.mlpackage"):
        shutil.copytree(EXAMPLE, folder / name)
    for name, text in {"c.mil": CANONICAL, "d.mil": GOOD, "wrong.mil": WRONG}.items():
        (folder / name).write_text(text, encoding="utf-8")
    age(folder)
    return folder


MODELS = ["A.mlpackage", "c.mil", "d.mil", "inner/B.mlpackage", "wrong.mil"]
"""The models in a zoo, in the order of their names."""


def age(folder: Path) -> None:
    """Make all files in a folder old, so that their times are certain."""
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], (str, os.PathLike)):
        for each in _opened:
            each.append(os.path.abspath(os.fspath(arguments[0])))


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """Yield the files below a folder that this process opens within the block, once it is over."""
    if not _hooks:
        sys.addaudithook(_note)
        _hooks.append(_note)
    noted: list[str] = []
    _opened.append(noted)
    found: list[str] = []
    try:
        yield found
    finally:
        _opened.remove(noted)
        found += [path for path in noted if Path(path).is_relative_to(folder)]
