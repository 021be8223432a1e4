"""The cases of tests/golden/diff, their weight files, and the lines of unified diffs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from conftest import GOLDEN

from miltext.schema.dtypes import BY_NAME
from miltext.weight_files.blob_storage import BlobWriter

FOLDER = GOLDEN / "diff"
CASES = sorted(path.name for path in FOLDER.iterdir())

FIRST = np.arange(32) / 8 - 2
SECOND = np.arange(8) / 4
OTHER = FIRST + (np.arange(32) % 5 - 2) / 64
ONE_ELSE = np.where(np.arange(32) == 9, 1.5, FIRST)
Record = tuple[str, Any]
BOTH: list[Record] = [("fp16", FIRST), ("fp32", SECOND)]
WEIGHTS: dict[str, dict[str, list[Record]]] = {
    "everything_at_once": {"a.bin": BOTH, "b.bin": [("fp16", ONE_ELSE), BOTH[1]]},
    "weight_element": {"a.bin": BOTH, "b.bin": [("fp16", ONE_ELSE), BOTH[1]]},
    "weight_inline": {"a.bin": BOTH},
    "weight_palettized": {
        "a.bin": BOTH,
        "b.bin": [("uint4", np.arange(32) // 2), ("fp16", FIRST[::2] + 1 / 16), BOTH[1]],
    },
    "weight_type": {"a.bin": BOTH, "b.bin": [("fp32", FIRST + 0.001), BOTH[1]]},
    "weights_absent": {},
    "weights_elsewhere": {"a.bin": BOTH, "b.bin": BOTH[::-1]},
    "weights_retrained": {"a.bin": BOTH, "b.bin": [("fp16", OTHER), ("fp32", SECOND * 1.01)]},
    "weights_swapped": {"a.bin": [("fp16", FIRST), ("fp16", OTHER)], "b.bin": [("fp16", OTHER), ("fp16", FIRST)]},
}
"""The weight files of the cases that have any."""


def write_weights(folder: Path, files: dict[str, list[Record]]) -> None:
    folder.mkdir()
    for name, records in files.items():
        with BlobWriter(folder / name) as writer:
            for dtype, values in records:
                writer.add(BY_NAME[dtype], np.asarray(values).astype(BY_NAME[dtype].numpy))


def numbered(unified: str) -> Iterator[tuple[str, int, str]]:
    """The lines of a unified diff: `-` with their numbers in the old text, `+` and ` ` with those in the new one."""
    old = new = 0
    for line in unified.splitlines():
        if line.startswith("@@"):
            ranges = [part[1:].partition(",") for part in line.split()[1:3]]
            old, new = [int(first) - 1 + (size == "0") for first, _, size in ranges]
        elif line[0] in " +-" and line[:4] not in ("--- ", "+++ "):
            old, new = old + (line[0] != "+"), new + (line[0] != "-")
            yield line[0], old if line[0] == "-" else new, line[1:].partition(" // sha256:")[0]
