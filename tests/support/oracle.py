"""Cases of coremltools' own tests: a Program, inputs, and the outputs that those tests expect.

They are in two archives in the folder `oracle` beside the corpus: `ops`, the tests of operations, and `torch`, those
of the frontend for torch. Expected outputs are from numpy, torch or by hand, never from Core ML.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Mapping
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from conftest import CORPUS

from miltext.schema.proto import Program

ORACLE = CORPUS.parent / "oracle"


class Case(NamedTuple):
    """One case; `weights` are its weight files by name, `facts` says how near a result must come, and of what test."""

    name: str
    program: Program
    weights: dict[str, bytes]
    inputs: dict[str, Any]
    expected: dict[str, Any]
    facts: dict[str, Any]

    @property
    def function(self) -> str:
        names = sorted(self.program.functions)
        return "main" if "main" in names else names[0]

    def write_weights(self, folder: Path) -> Path:
        """Write the weight files where the Program names them, below a folder, and return that."""
        (folder / "weights").mkdir(parents=True, exist_ok=True)
        for name, held in self.weights.items():
            (folder / "weights" / name).write_bytes(held)
        return folder


@cache
def archive(name: str) -> dict[str, dict[str, bytes]]:
    """Return the files of an archive, by case and by what follows the name of that."""
    files: dict[str, dict[str, bytes]] = {}
    with tarfile.open(ORACLE / f"{name}.tar.xz") as tar:
        for member in tar:
            held = tar.extractfile(member)
            if held is not None:
                case, _, rest = member.name.removeprefix("./").partition(".")
                files.setdefault(case, {})[rest] = held.read()
    return files


def runs(name: str, chunk: int, chunks: int) -> Iterator[list[Case]]:
    """Yield every so many-th run of an archive: one case, or those that hand on their states, in their order."""
    grouped: dict[str, list[tuple[int, str]]] = {}
    for case, files in sorted(archive(name).items()):
        state = json.loads(files["json"]).get("state") or {"group": case, "step": 0}
        grouped.setdefault(str(state["group"]), []).append((state["step"], case))
    for group in sorted(grouped)[chunk::chunks]:
        yield [read(name, case) for _, case in sorted(grouped[group])]


def read(archived: str, name: str) -> Case:
    """Return a case of an archive."""
    files = archive(archived)[name]
    arrays = np.load(BytesIO(files["npz"]), allow_pickle=True)
    sides: dict[str, dict[str, Any]] = {"in": {}, "out": {}}
    for key in arrays:
        side, _, value = key.partition(".")
        sides[side][value] = arrays[key]
    weights = {key.removeprefix("weights/"): held for key, held in files.items() if key.startswith("weights/")}
    return Case(name, Program.FromString(files["pb"]), weights, sides["in"], sides["out"], json.loads(files["json"]))


def fault(made: Any, expected: Any, facts: Mapping[str, Any]) -> str | None:
    """Tell what is wrong with a result, or return None.

    coremltools compares fp16 with tolerances a hundred times wider, at least 0.5 and 0.05. As that passes nearly all,
    such a result must also be within 2e-3 of the largest value.
    """
    made, expected = np.atleast_1d(made), np.atleast_1d(expected)  # some tests expect scalars where [1] is declared
    if made.shape != expected.shape:
        return f"is {made.shape}, expected {expected.shape}"
    if expected.dtype.kind in "OUS":
        return None if (made.astype(str) == expected.astype(str)).all() else "has other strings"
    got, right = made.astype(np.float64), expected.astype(np.float64)
    atol, rtol, is_half = facts["atol"], facts["rtol"], facts["dtype"] == "fp16"
    if is_half:
        atol, rtol = max(atol * 100, 0.5), max(rtol * 100, 0.05)
    if not np.allclose(got, right, atol=atol, rtol=rtol, equal_nan=True):
        return f"differs by {np.nanmax(np.abs(got - right)):.4g}"
    finite = np.isfinite(right) & np.isfinite(got)
    if is_half and finite.any():
        most, largest = np.abs(got - right)[finite].max(), np.abs(right[finite]).max()
        if most > 2e-3 * largest:
            return f"differs by {most:.4g}, where the largest value is {largest:.4g}"
    return None
