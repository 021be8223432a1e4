"""The file that a BlobFileValue names, which is always inside the model's own folder."""

from __future__ import annotations

import mmap
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.models.refusals import refusal
from miltext.schema.walk import Held, values

if TYPE_CHECKING:
    from miltext.schema.proto import Program

MODEL_PATH = "@model_path"
"""What a BlobFileValue's fileName starts with: the folder of the `.mlmodel`, or the `.mlmodelc` itself."""


def blob_values(program: Program) -> Iterator[Held]:
    """Yield the Values of a Program that stand in weight files."""
    return (held for held in values(program) if held.value.WhichOneof("value") == "blobFileValue")


def resolve(file_name: str, model_path: Path) -> Path:
    """Return the real path of the weight file that a BlobFileValue names, inside the folder `model_path` stands for.

    Raise WeightsError: MIL301 when the name does not start with `@model_path/`, has a `..`, a backslash, a
    drive letter or a NUL, or leads outside through a link; MIL302 when it is not a regular file.
    """
    reason = _suspicion(file_name)
    if reason:
        raise refusal("MIL301", f"the file name {file_name!r} {reason}", model_path)
    root = os.path.realpath(model_path)
    try:
        real = Path(os.path.realpath(os.path.join(root, file_name[len(MODEL_PATH) + 1 :]), strict=True))
        regular = stat.S_ISREG(real.stat().st_mode)
    except (OSError, ValueError) as failure:
        raise refusal("MIL302", f"the weight file {file_name!r} cannot be found: {failure}", model_path) from failure
    if not real.is_relative_to(root):
        raise refusal("MIL301", f"the file name {file_name!r} leads outside through a link", model_path)
    if not regular:
        raise refusal("MIL302", f"the weight file {file_name!r} is not a regular file", model_path)
    return real


def _suspicion(file_name: str) -> str | None:
    start, _, rest = file_name.partition("/")
    parts = rest.split("/")
    reasons = {
        f"does not start with {MODEL_PATH}/ and a path": start != MODEL_PATH or not rest,
        "has an absolute path": not parts[0],
        "climbs out with '..'": ".." in parts,
        "has a backslash": "\\" in file_name,
        "has a drive letter": any(re.match("[A-Za-z]:", part) for part in parts),
        "has a NUL": "\0" in file_name,
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


def map_file(path: Path) -> mmap.mmap:
    """Return the whole of a regular file, mapped for reading; refuse links and devices, and do not wait for a FIFO."""
    try:
        with open(path, "rb", buffering=0, opener=_open_itself) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise refusal("MIL302", "the weight file is not a regular file", path)
            if not status.st_size:
                raise refusal("MIL304", "the weight file is empty", path)
            return mmap.mmap(file.fileno(), status.st_size, access=mmap.ACCESS_READ)
    except OSError as failure:
        why = "it is a link" if path.is_symlink() else failure.strerror or str(failure)
        raise refusal("MIL302", f"the weight file cannot be opened: {why}", path) from failure


def _open_itself(name: str, flags: int) -> int:
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
