"""Sidecars: a model's text beside it, for the review pages that show a repository's files as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.containers.opening import open_model
from miltext.diagnostics import visible
from miltext.files.writing import MODEL_FILES, MODEL_FOLDERS
from miltext.formatting.document import keep_line_ends
from miltext.printing.printing import pieces
from miltext.review.textconv import around
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.files.writing import Progress
    from miltext.models.model import Model

ENDING = ".mil"

_NAME = re.compile(rf"({'|'.join(map(re.escape, (*MODEL_FILES, *MODEL_FOLDERS)))})(\.[0-9]+)*\.mil$")
"""The ends of names of sidecars, as in the pre-commit hooks."""


def sidecars(
    path: Path, form: str, progress: Progress | None = None, width: int | None = None
) -> Iterator[tuple[Path, str]]:
    """Yield the sidecars of a model, each with its proper text: a sidecar for each program of a pipeline.

    `Model.mlpackage` has `Model.mlpackage.mil`, a model inside a pipeline `Model.mlpackage.1.mil`. The `form` is in
    FORMS; in each, weights are shown by their digests. With `width`, lists in lines of more columns are broken, as
    `format_text` does. `progress` gets the number of bytes of each weight read. Raise ModelError, WeightsError for a
    weight that cannot be read, and ParseError.
    """
    stages = open_model(path).select_all()
    options = " ".join(["miltext sidecar", *options_of(form, width)])
    for place, program in stages:
        inner, number = (f", model {place}", f".{place.replace('/', '.')}") if place else ("", "")
        name = visible(path.name)
        head = f"// Made by miltext {version('miltext')} from {name}{inner}: {options} {name}\n"
        body = "".join([*around(program), *FORMS[form](program, progress)])
        yield path.with_name(f"{path.name}{number}{ENDING}"), head + (body if width is None else _within(body, width))


def options_of(form: str, width: int | None) -> list[str]:
    """Return the options of a form and a width on the command line."""
    return [f"--{form}"] * (form != COMPACT) + [f"--width {width}"] * (width is not None)


def is_sidecar(name: str) -> bool:
    """Return whether a file is a sidecar, by its name: a text for reading, and not a model."""
    return _NAME.search(name) is not None


def is_current(path: Path, text: str) -> bool:
    """Return whether a sidecar is up to date, made by any version of miltext."""
    return path.is_file() and _without_head(path.read_bytes()) == _without_head(_bytes(text))


def write(path: Path, text: str) -> None:
    """Write the text of a sidecar, and keep the line ends of an existing file. Raise OSError."""
    from miltext.files.writing import write_file

    before = path.read_bytes().decode(errors="replace") if path.is_file() else ""
    write_file(path, [_bytes(keep_line_ends(before, text))])


def _bytes(text: str) -> bytes:
    return text.encode(errors="backslashreplace")


def _without_head(data: bytes) -> bytes:
    """Return a sidecar without its first line; git may have checked it out with other line ends."""
    return data.replace(b"\r\n", b"\n").partition(b"\n")[2]


def _within(text: str, width: int) -> str:
    from miltext.formatting.formatter import format_text

    return format_text(text, width=width)


def _compact(model: Model, progress: Progress | None) -> Iterable[str]:
    from miltext.models.compact import compact_pieces

    return compact_pieces(model, progress=progress)


def _full(model: Model, progress: Progress | None) -> Iterable[str]:
    if model.model_path is None:
        return pieces(model.program)
    from miltext.weight_files.printing import DigestPrinter, Digests

    return [*DigestPrinter(Digests(model.model_path, progress=progress)).program(own_copy(model.program)), "\n"]


def _draft(model: Model, progress: Progress | None) -> Iterable[str]:
    from miltext.drafting.writing import draft_text
    from miltext.models.compact import READABLE
    from miltext.weight_files.printing import Digests

    digests = Digests(model.model_path, progress=progress) if model.model_path else None
    return [draft_text(model.program, READABLE, spell=digests)]


COMPACT = "compact"

FORMS = {COMPACT: _compact, "full": _full, "draft": _draft}
"""The texts of a model for reading, by their options."""
