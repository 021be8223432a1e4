"""A program of coremltools between two passes, as it is written to a file."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from miltext.containers.programs import BareProgram
from miltext.pymil.exporting import export

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Program


@dataclass(frozen=True)
class Snapshot:
    """A Program and its weights, in a folder that lasts as long; equal digests mean equal programs and weights."""

    program: Program
    keeps: tempfile.TemporaryDirectory[str]
    digest: bytes

    @property
    def folder(self) -> Path:
        """The folder of `@model_path`."""
        return Path(self.keeps.name)

    @property
    def model(self) -> Model:
        """The program as a model with access to its weights."""
        return bare_model(self.program, self.folder)


def snapshot(pymil: Any) -> Snapshot:
    """Write a program of coremltools as it is. Raise coremltools' own errors."""
    keeps = tempfile.TemporaryDirectory(prefix="miltext-passes-")
    program = export(pymil, Path(keeps.name))
    digest = sha256(program.SerializeToString(deterministic=True))
    for path in sorted(Path(keeps.name).rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return Snapshot(program, keeps, digest.digest())


def bare_model(program: Program, folder: Path | None) -> Model:
    """Return a Program as a model without a description, whose weights are in a folder."""
    model = BareProgram("pb", program, "<program>", None)
    model.model_path = folder
    return model
