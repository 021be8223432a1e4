"""The paths of weight files in values, and in a model's folder."""

from __future__ import annotations

import os
import re
import stat
import sys
from functools import lru_cache
from pathlib import Path

from miltext.diagnostics import codes
from miltext.files.contents import LOOKED_FOR
from miltext.files.refusals import reason_of, refusal

MODEL_PATH = "@model_path"
"""The beginning of a BlobFileValue's fileName: the folder of the `.mlmodel`, or the `.mlmodelc` itself."""


def resolve(file_name: str, model_path: Path) -> Path:
    """Return the real path of a BlobFileValue's weight file, inside the folder `model_path`.

    Raise WeightsError: MIL301 for a name that does not start with `@model_path/`, contains a `..`, a backslash, a drive
    letter or a NUL, names a folder, or leads outside through a link; MIL302 for a file that is missing or not regular.
    """
    reason = suspicion(file_name)
    if reason:
        raise refusal(codes.WEIGHT_FILE_OUTSIDE, f"the file name {file_name!r} {reason}", model_path)
    root = os.path.realpath(model_path)
    try:
        named = os.path.join(root, file_name[len(MODEL_PATH) + 1 :])
        sys.audit(LOOKED_FOR, named)
        real = Path(os.path.realpath(named, strict=True))
        regular = stat.S_ISREG(real.stat().st_mode)
    except (OSError, ValueError) as failure:
        is_there = not isinstance(failure, (FileNotFoundError, NotADirectoryError))
        why = f" cannot be followed: {reason_of(failure)}" if is_there else " does not exist"
        raise refusal(codes.MISSING_WEIGHT_FILE, f"the weight file `{file_name}`{why}", model_path) from failure
    if not real.is_relative_to(root):
        raise refusal(
            codes.WEIGHT_FILE_OUTSIDE, f"the file name `{file_name}` leads outside through a link", model_path
        )
    if not regular:
        raise refusal(codes.MISSING_WEIGHT_FILE, f"the weight file `{file_name}` is not a regular file", model_path)
    return real


def suspicion(file_name: str) -> str | None:
    """Return the reason why a fileName is not allowed; None for an allowed one."""
    start, _, rest = file_name.partition("/")
    return f"does not start with {MODEL_PATH}/ and a path" if start != MODEL_PATH or not rest else escape(file_name)


@lru_cache(maxsize=1 << 8)
def escape(file_name: str) -> str | None:
    """Return the reason why a fileName without its prefix leads outside of a model's folder; None if it does not."""
    path = file_name.removeprefix(f"{MODEL_PATH}/")
    parts = path.split("/")
    reasons = {
        "has an absolute path": bool(path) and not parts[0],
        "leads outside with '..'": ".." in parts,
        "has a backslash": "\\" in path,
        "has a drive letter": any(re.match("[A-Za-z]:", part) for part in parts),
        "has a NUL": "\0" in path,
        "names a folder": parts[-1] in ("", "."),
    }
    return next((reason for reason, applies in reasons.items() if applies), None)
