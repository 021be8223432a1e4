"""The texts of all ML Programs of a pipeline: one after the other in a stream, or each in a file of its own."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from miltext.cli.streams import naming_failures, tell, write_text
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.files.staging import Staging
from miltext.files.writing import is_stream, write_new
from miltext.models.manifest import MANIFEST
from miltext.models.outputs import ENDINGS, check_output, check_place
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.models.model import Model, Stage

Printed: TypeAlias = "Callable[[Stage], Iterable[str]]"

LONGEST = 64
"""The most characters of a model's name in its file's name."""


def write_texts(whole: Model, printed: Printed, output: str, kind: str, source: str) -> None:
    """Write the texts of a pipeline's ML Programs, as `printed`, to standard output or into a folder.

    All programs are read before anything is written. A file, or a page, can hold the text of a single program. Raise
    ModelError: MIL254 for no programs, MIL428 for several in an output for one, and the errors of `check_output`.
    """
    stages = program_stages(whole)
    is_for_streams = output == "-" or is_stream(Path(output))
    if len(stages) == 1 and (kind == "html" if is_for_streams else _is_file(Path(output))):
        write_text(output, printed(stages[0]), kind, source)
        return
    if not is_for_streams:
        _write_files(whole, printed, Path(output), kind, source)
        return
    if kind == "html":
        raise refusal(codes.SEVERAL_TEXTS, f"a page shows one program, and this pipeline has {len(stages)}", whole.name)
    write_text(output, one_after_another(whole, printed), kind, source)


def program_stages(whole: Model) -> list[Stage]:
    """Return the ML Programs of a pipeline, each read once. Raise ModelError (MIL254) if there are none."""
    stages = whole.select_all()
    for stage in stages:
        with naming_failures(stage.name):
            _ = stage.model.program
    return stages


def one_after_another(whole: Model, printed: Printed) -> Iterator[str]:
    """Yield a comment for each model of a pipeline, and the text of each ML Program."""
    gap = ""
    for stage in whole.stages():
        yield f"{gap}// {stage.title}: {stage.model.type}\n"
        gap = ""
        if stage.model.type == PROGRAM:
            last = ""
            with naming_failures(stage.name):
                for last in printed(stage):
                    yield last
            gap = "\n" if last.endswith("\n") else "\n\n"  # Apple's text ends without a newline


# ---- files


def _write_files(whole: Model, printed: Printed, folder: Path, kind: str, source: str) -> None:
    """Write each text into a file of a folder, all or none, and report each model's file."""
    _require_folder(folder, whole)
    check_place(str(folder), source)
    lines: list[str] = []
    with Staging(replace=True, parents=True) as staging:
        for stage in whole.stages():
            became = "without a text"
            if stage.model.type == PROGRAM:
                path = folder / file_name(stage, kind)
                _require_text(path, kind, source)
                _write_file(staging.place(path), printed, stage)
                became = f"written to {path}"
            lines.append(f"{stage.title}: {stage.model.type}, {became}")
        staging.commit()
    for line in lines:
        tell(line)


def _write_file(made: Path, printed: Printed, stage: Stage) -> None:
    with naming_failures(stage.name):
        write_new(made, (piece.encode(errors="backslashreplace") for piece in printed(stage)))


def file_name(stage: Stage, kind: str) -> str:
    """Return the name of the file for a model in a pipeline, which is valid on any system: `1.0-head.mil`."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", stage.model.pipeline_name)[:LONGEST]
    return f"{stage.place.replace('/', '.')}{'-' if name else ''}{name}.{kind}"


def _require_folder(folder: Path, whole: Model) -> None:
    """Refuse a model, or a file by its name or on the disk, as the output."""
    if _is_file(folder):
        programs = f"{len(whole.select_all())} ML Programs"
        raise refusal(
            codes.SEVERAL_TEXTS,
            f"the pipeline {whole.name} has {programs}, and a file contains the text of one",
            folder,
        )
    if (folder / MANIFEST).exists():
        raise refusal(codes.TARGET_WOULD_BE_LOST, "this is a model, so no text is written into it", folder)


def _is_file(output: Path) -> bool:
    """Return whether an output is a file, by its name or on the disk."""
    return output.suffix.lower() in ENDINGS or (os.path.lexists(output) and not output.is_dir())


def _require_text(path: Path, kind: str, source: str) -> None:
    """Refuse to replace any other file than a text."""
    check_output(str(path), kind, source)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
