"""Other names for the weight files of a program, for a text to be joined with another model's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import click

from miltext.building.new_model import rename_files
from miltext.weight_files.model_weights import blob_values
from miltext.weight_files.paths import MODEL_PATH, suspicion

if TYPE_CHECKING:
    from miltext.schema.proto import Program

Names = dict[str, str]
"""New names of weight files by the old ones, both below `@model_path`."""


def read_names(programs: Iterable[Program], words: Sequence[str]) -> Names:
    """Return the names of weight files in the words: `NEW` for the only file of all programs, or `OLD=NEW`.

    A name without a folder is in the folder of the old name. End the command for impossible names.
    """
    values = (held.value for program in programs for held in blob_values(program))
    old = sorted({value.blobFileValue.fileName.partition("/")[2] for value in values})
    names: Names = {}
    for word in words:
        before, new = _pair(word, old)
        if before in names:
            raise click.UsageError(f"--weights-as gives {before!r} two names")
        names[before] = new
    after = [names.get(each, each) for each in old]
    if twice := next((each for each in after if after.count(each) > 1), None):
        raise click.UsageError(f"--weights-as would name two weight files {twice!r}")
    return names


def with_weights_as(program: Program, names: Mapping[str, str]) -> Program:
    """Return a Program with other names for weight files."""
    made = deepcopy(program)
    rename_files(made, names)
    return made


def _pair(word: str, old: Sequence[str]) -> tuple[str, str]:
    """Return the old name and the new one in a word."""
    named, has_old, new = word.rpartition("=")
    meant = [each for each in old if not has_old or named in (each, f"{MODEL_PATH}/{each}")]
    if has_old and not meant:
        meant = [each for each in old if PurePosixPath(each).name == named]
    if len(meant) != 1:
        names = "".join(f"\n  {each}" for each in old) or " none"
        raise click.UsageError(f"--weights-as takes OLD=NEW, or NEW if there is one weight file; there are:{names}")
    new = new.removeprefix(f"{MODEL_PATH}/")
    if "/" not in new:
        new = str(PurePosixPath(meant[0]).with_name(new)) if new not in ("", ".", "..") else ""
    if reason := suspicion(f"{MODEL_PATH}/{new}"):
        raise click.UsageError(f"--weights-as: the name {new!r} {reason}")
    return meant[0], new
