"""The statements of a compiled model beside its program and description: in its analytics, and in `metadata.json`."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.analytics import FILE_NAME as ANALYTICS
from miltext.compiled.analytics import HASH, NAME, SOURCE, Tables, parse_analytics, source_hash
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.compiled.metadata_json import read_metadata
from miltext.diagnostics import ModelError
from miltext.files.contents import read_file, read_inside
from miltext.models.manifest import model_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from miltext.diagnostics.dynamic import Json, Record
    from miltext.models.model import Model

CLASS = "generatedClassName"
MOST = 1 << 26
"""The most bytes of a file with statements; the compiler's have a few thousand."""

_SHOWN = ("computePrecision", "storagePrecision", CLASS, "method", "isUpdatable", "metadataOutputVersion")


class CompiledFacts(NamedTuple):
    """The contents of the files; a missing file is empty. `problems` are the errors of reading, by the files' names."""

    analytics: Tables
    metadata: Record
    problems: dict[str, ModelError]


def stated(folder: Path) -> CompiledFacts:
    """Return the statements in the files of a compiled model, or of a stage."""
    problems: dict[str, ModelError] = {}

    def read(name: str, parse: Callable[[bytes, Path], Json]) -> Json:
        if not os.path.lexists(folder / name):
            return {}
        try:
            return parse(read_inside(folder, name, MOST), folder / name)
        except ModelError as failure:
            problems[name] = failure
            return {}

    return CompiledFacts(read(ANALYTICS, parse_analytics), read(METADATA, read_metadata), problems)


class CompiledSource(NamedTuple):
    """The analytics' facts about the compiled file."""

    hash: str
    name: str


def source_when_compiled(model: Model) -> CompiledSource | None:
    """Return the facts of a model for the analytics after compiling; None for a model that no compiler accepts."""
    if model.path is None or model.kind not in ("mlpackage", "mlmodel"):
        return None
    file = model_file(model.path) if model.kind == "mlpackage" else model.path
    return CompiledSource(source_hash(read_file(file)), file.stem)


def class_name(folder: str) -> str:
    """Return the name of the class that Xcode generates for a compiled model, by its folder's name."""
    return re.sub(r"\W", "_", folder)


def summary(folder: Path) -> Record:
    """Return the facts in the files for people, as JSON, with the complete analytics."""
    read = stated(folder)
    details = read.analytics.get(SOURCE, {})
    found: Record = {key: details[key] for key in (HASH, NAME) if key in details}
    found |= {"analytics": dict(read.analytics)} if read.analytics else {}
    found |= {key: read.metadata[key] for key in _SHOWN if isinstance(read.metadata.get(key), str)}
    availability = read.metadata.get("availability")
    found |= {"availability": availability} if isinstance(availability, dict) else {}
    found |= {"problems": [each.diagnostics[0].message for each in read.problems.values()]} if read.problems else {}
    return found
