"""Texts that name arrays or import models, written into another folder than the text that they are made from."""

from __future__ import annotations

import os
from pathlib import Path

from miltext.checking.arrays import CODES
from miltext.checking.verifier import found_in
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.files.writing import is_stream
from miltext.syntax.names import FILES


def require_arrays(text: str, output: Path, name: str, folder: Path | None) -> None:
    """Refuse to write a text into a folder without the arrays that it names, and the models that it imports.

    The text is made from the text `name`, whose files are in `folder`, by default the working folder. A stream is in no
    folder. Raise ModelError (MIL406).
    """
    if is_stream(output) or not any(word in text for word in FILES):
        return
    source = os.path.realpath(folder or os.curdir)
    if source == os.path.dirname(os.path.realpath(output)):
        return
    found = next(
        (each for each in found_in(text, path=str(output)) if each.code in (*CODES, codes.IMPOSSIBLE_IMPORT)), None
    )
    if found is not None:
        problem = found.message.partition(";")[0]
        message = f"the result names files beside {name}, and would be in another folder: {problem}"
        raise refusal(codes.ARRAYS_ELSEWHERE, f"{message}; write it into {source}", output)
