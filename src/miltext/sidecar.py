"""Sidecars: a model's text beside it, for the review pages that show a repository's files as they are."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from miltext.describing import around
from miltext.diagnostics import visible
from miltext.models import Model, open_model
from miltext.models.model import PROGRAM
from miltext.printing import pieces
from miltext.programs import own_copy

ENDING = ".mil"


def sidecars(path: Path, full: bool) -> Iterator[tuple[Path, str]]:
    """The sidecars of a model, each with the text that it is to have: one, or of a pipeline one for each program.

    `Model.mlpackage` has `Model.mlpackage.mil`, a model inside a pipeline `Model.mlpackage.1.mil`. Weights are shown by
    their digests. Raises ModelError, WeightsError where a weight cannot be read, and ParseError.
    """
    model = open_model(path)
    programs = list(_programs(model, ""))
    if not programs:
        programs = [("", model.select(None))]  # which says what the model is instead
    option = " --full" if full else ""
    for place, program in programs:
        inner = f", model {place[1:].replace('.', '/')}" if place else ""
        name = visible(path.name)
        head = f"// Made by miltext {version('miltext')} from {name}{inner}: miltext sidecar{option} {name}\n"
        yield path.with_name(f"{path.name}{place}{ENDING}"), "".join([head, *around(program), *_text(program, full)])


def is_current(path: Path, text: str) -> bool:
    """Whether a sidecar says what it should, whichever version of miltext made it."""
    return path.exists() and path.read_bytes().partition(b"\n")[2] == text.encode().partition(b"\n")[2]


def _programs(model: Model, place: str) -> Iterator[tuple[str, Model]]:
    if model.type == PROGRAM:
        yield place, model
    for index, nested in enumerate(model.models):
        yield from _programs(nested, f"{place}.{index}")


def _text(model: Model, full: bool) -> Iterator[str]:
    if not full:
        from miltext.compact import compact_pieces

        return compact_pieces(model)
    if model.model_path is None:
        return pieces(model.program)
    from miltext.digests import DigestPrinter

    return iter([*DigestPrinter(model.model_path).program(own_copy(model.program)), "\n"])
