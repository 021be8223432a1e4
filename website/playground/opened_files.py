"""Files that are dropped on the playground's page, as texts: texts, models, folders of packages, or those zipped."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from miltext.containers.opening import open_model
from miltext.diagnostics import MiltextError, ModelError, refusing
from miltext.files.contents import kind_of_data
from miltext.files.refusals import refusal
from miltext.files.writing import MODEL_FILES, MODEL_FOLDERS
from miltext.models.manifest import MANIFEST
from miltext.printing.printing import to_text
from miltext.schema.proto import Model as Spec
from miltext.schema.proto import Program
from website.playground.lost_numbers import lost_nans

ALL = ", ".join((*MODEL_FOLDERS, *MODEL_FILES))
WEIGHTS = (".bin", ".npy", ".npz", ".safetensors")
"""How the names of files end that hold weights: a text does not need them, and they are large."""

MOST_FILES = 2000
MOST_BYTES = 64 << 20
"""How much of a zip is unpacked: so many files, and so many bytes."""

LOST = (
    "{}: protobuf's backend in the browser loses the sign and payload of NaNs: of {} of them here, which are `nan`; "
    "`miltext print` shows them."
)

LONGEST = 255
"""Bytes of a name: Emscripten's files, as those of most systems, have no longer ones."""

ENCRYPTED = 1
"""The bit of an entry's flags that says so: 4.4.4 of PKWARE's APPNOTE."""


def opened(place: str) -> dict[str, Any]:
    """Tell the texts of what is in a folder, which is removed: of each model, or of each program of a pipeline.

    The notes tell what was not read, and what a text does not have of its file.
    """
    folder = Path(place)
    texts: list[dict[str, str]] = []
    notes = [] if any(folder.iterdir()) else ["There is no text and no model in this, or nothing but weights."]
    for path in sorted(folder.iterdir()):
        with _telling(path.name, notes):
            top = _unpacked(path) if path.suffix.lower() == ".zip" else path
            found = [*_models(top)]
            if not found:
                notes.append(
                    f"{path.name}: this is none of {ALL}, and has none in it: drop one of these, or a zip of it"
                )
            for model in found:
                name = path.name if model == path else f"{path.name}/{model.relative_to(top).as_posix()}"
                with _telling(name, notes):
                    texts += _texts(model, name)
                    notes += _lost(model, name)
    shutil.rmtree(folder, ignore_errors=True)  # a file that cannot be removed takes memory alone
    return {"texts": texts, "notes": notes}


@contextmanager
def _telling(name: str, notes: list[str]) -> Iterator[None]:
    """Add what is refused in a `with` block to the notes."""
    try:
        yield
    except MiltextError as error:
        notes.append(f"{name}: {error.diagnostics[0].message}")


def _unpacked(archive: Path) -> Path:
    """Return a folder with the files of a zip but weights. Raise ModelError for one that is broken or too large."""
    folder = archive.with_name(f"{archive.name} unpacked")
    folder.mkdir()
    with refusing(partial(_no_zip, archive.name)), zipfile.ZipFile(archive) as files:
        wanted = [each for each in files.infolist() if not _is_weights(each.filename.lower())]
        if reason := _unfit(wanted):
            raise refusal("MIL250", reason, archive.name)
        files.extractall(folder, wanted)
    return folder


def _unfit(entries: list[zipfile.ZipInfo]) -> str | None:
    """Return why entries of a zip are not unpacked, and what to do; None if they are."""
    size = sum(each.file_size for each in entries)
    if len(entries) > MOST_FILES or size > MOST_BYTES:
        return f"this holds {len(entries)} files of {size} bytes, which is too much for a page; use `miltext print`"
    if any(each.flag_bits & ENCRYPTED for each in entries):
        return "this zip is encrypted: unpack it, and drop what was in it"
    if any(len(part.encode()) > LONGEST for each in entries for part in each.filename.split("/")):
        return f"this zip has a name of more than {LONGEST} bytes: rename what has it"
    return None


def _is_weights(name: str) -> bool:
    return name.endswith(WEIGHTS) and not name.endswith("coremldata.bin")


def _no_zip(name: str, failure: Exception) -> ModelError:
    reason = f"this is not a whole zip: {failure}"
    if isinstance(failure, FileExistsError | NotADirectoryError | IsADirectoryError):
        reason = "this zip has a file and a folder of one name: unpack it, and drop what is wanted of it"
    elif isinstance(failure, NotImplementedError):
        reason = f"this zip cannot be unpacked ({failure}): drop what was in it"
    return refusal("MIL250", reason, name)


def _models(path: Path) -> Iterator[Path]:
    """Yield the models and texts at a path or below it, none of those inside another."""
    if path.is_dir() and path.suffix.lower() not in MODEL_FOLDERS and not (path / MANIFEST).exists():
        for inside in sorted(path.iterdir()):
            if inside.name != "__MACOSX":
                yield from _models(inside)
    elif path.is_dir() or path.suffix.lower() in MODEL_FILES:
        yield path


def _texts(path: Path, name: str) -> Iterator[dict[str, str]]:
    """Yield the text of each program of a model: its own where it is one, or else what `miltext print` prints."""
    for stage in open_model(path).select_all():
        title = f"{name}, model {stage.title}" if stage.place else name
        text = stage.model.text
        yield {"name": title, "text": to_text(stage.model.program) if text is None else text}


def _lost(path: Path, name: str) -> list[str]:
    """Tell of the numbers in a model's messages that its text does not have."""
    lost = 0
    for file in (path, *path.rglob("*.mlmodel")):
        data = file.read_bytes() if file.is_file() else b""
        kind = kind_of_data(data) if data else ""
        if kind in ("mlmodel", "pb"):
            lost += lost_nans(data, Spec if kind == "mlmodel" else Program)
    return [LOST.format(name, lost)] if lost else []
