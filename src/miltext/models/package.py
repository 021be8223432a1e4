"""The `.mlpackage`: a folder whose Manifest.json says where its `.mlmodel` is."""

from __future__ import annotations

from pathlib import Path

from miltext.models.contents import read_file
from miltext.models.manifest import model_file
from miltext.models.spec import SpecModel, parse_spec


def open_package(folder: Path, name: str) -> SpecModel:
    """Return the model of a package. Raise ModelError: MIL255 for its manifest, and as for the reading of an
    `.mlmodel`.
    """
    path = model_file(folder)
    spec = parse_spec(read_file(path), str(path))
    return SpecModel("mlpackage", name, folder, path.parent, spec)
