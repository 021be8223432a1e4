"""A single file of a model as text to compare: the program as MIL text, a bundle's description, a table of weights.

The text depends only on the bytes of the file, since git caches the text by the bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.coremldata import FILE_NAME, parse_coremldata, parse_names
from miltext.containers.spec import SpecModel
from miltext.diagnostics import MiltextError, ModelError, ParseError
from miltext.files.contents import refuse_pointer
from miltext.files.writing import PIECE
from miltext.models.manifest import MANIFEST, by_paths
from miltext.models.overlays import NAMES, parsed
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.stamps import BUILD_INFO, STAMP
from miltext.syntax.literals import quote
from miltext.syntax.programs import own_copy

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.models.model import Model
    from miltext.schema.proto import Program

ELIDE = 256
"""Literals of more elements than this are shown by their digest."""

_SENTINEL = b"\xef\xbe\xad\xde"
"""The first bytes of a weight file's first record, which is at byte 64."""


class ModelForm(NamedTuple):
    """The form of models: as drafts if possible, and with the facts about the tools and the date."""

    as_draft: bool = False
    build_info: bool = False

    def program(self, program: Program) -> Iterable[str]:
        """Return the pieces of a program's text."""
        if not self.build_info and BUILD_INFO in program.attributes:
            program = own_copy(program)
            del program.attributes[BUILD_INFO]
        return _draft(program) if self.as_draft else _in_full(program)

    def description(self, model: Model) -> list[str]:
        """Return the parts of a model around its program."""
        description = None if self.build_info else model.description
        stated = description.metadata.userDefined if description else ()
        return around(model, [key for key in stated if key.startswith(STAMP)])


def file_text(path: Path, shown: ModelForm | None = None) -> Iterator[str]:
    """Yield the text of a file for display, in pieces.

    For an unreadable file, yield the reason and the digest of its bytes; for a `.mil` without a whole program, as a
    draft, the reason and the text as it is.

    Raise OSError where the file cannot be opened.
    """
    try:
        yield from _weights(path) if _is_weights(path) else _pieces(path, path.read_bytes(), shown or ModelForm())
    except MiltextError as failure:
        finding = failure.diagnostics[0]
        notes = "".join(f"// {note.message}\n" for note in finding.notes)
        held = failure.text if path.suffix == ".mil" and isinstance(failure, ParseError) else None
        held = held or f"// {_digest_of_file(path)}, {path.stat().st_size} bytes\n"
        yield f"// {finding.code}: {finding.message}\n{notes}{held}"


def _is_weights(path: Path) -> bool:
    """Return whether a file is a weight file, by its name or by its first record; one may be too large to be read
    whole.
    """
    with open(path, "rb", buffering=0) as file:
        head = file.read(128)
    return head[64:68] == _SENTINEL or path.name.endswith("weight.bin")


def _pieces(path: Path, data: bytes, shown: ModelForm) -> Iterator[str]:
    from miltext.containers.opening import read
    from miltext.files.contents import kind_of_data, parse_spec

    if path.name.endswith(MANIFEST):
        return _json(data, by_paths)
    if path.name.endswith(NAMES):
        return _json(data, lambda table: table)
    refuse_pointer(data, path)
    if path.name.endswith(FILE_NAME):
        return _coremldata(path, data, shown)
    if kind_of_data(data) == "mlmodel":  # perhaps not an ML Program, which is all that `read` gives
        return _model(SpecModel("mlmodel", path.name, None, None, parse_spec(data, path.name)), shown)
    return _model(read(data, path.name), shown)


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _digest_of_file(path: Path) -> str:
    state = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(PIECE):
            state.update(piece)
    return f"sha256:{state.hexdigest()}"


# ---- models


def _in_full(program: Program) -> Iterable[str]:
    from miltext.printing.printing import pieces
    from miltext.printing.tensors import Style

    return pieces(program, Style(floats="decimal", elide=ELIDE))


def _draft(program: Program) -> Iterable[str]:
    from miltext.drafting.writing import draft_text
    from miltext.printing.tensors import Style

    return [draft_text(program, Style(floats="decimal", elide=ELIDE))]


def _model(model: Model, shown: ModelForm) -> Iterator[str]:
    yield from shown.description(model)
    if model.type == PROGRAM:
        yield from shown.program(model.program)
    elif not model.models:
        assert model.spec is not None  # all else is a Program
        wire = model.spec.SerializeToString(deterministic=True)
        yield f"// a {model.type}, which has no text: {_digest(wire)}, {len(wire)} bytes\n"
    for index, nested in enumerate(model.models):
        yield f"\n// ---- model {index} {quote(nested.pipeline_name)}: {nested.type}\n"
        yield from _model(nested, shown)


def around(model: Model, without: Iterable[str] = ()) -> list[str]:
    """Return the parts of a model around its program, its version, its description and so on, as lines of comments;
    `without` some of the metadata that its users defined.
    """
    from google.protobuf import text_format

    shell = Spec()
    if model.spec is not None:
        fields = model.spec.ListFields()
        shell = Spec(**{field.name: content for field, content in fields if field.containing_oneof is None})
    elif model.description is not None:
        shell = Spec(specificationVersion=model.specification_version or 0, description=model.description)
    for key in without:
        del shell.description.metadata.userDefined[key]
    return [f"// {line}\n" for line in text_format.MessageToString(shell).splitlines()]


# ---- the parts of bundles


def _coremldata(path: Path, data: bytes, shown: ModelForm) -> Iterator[str]:
    from google.protobuf import text_format

    try:
        known = parse_coremldata(data, path)
    except ModelError:
        with suppress(ModelError):
            if names := parse_names(data, path):
                return iter([f"model: {quote(name)}\n" for name in names])
        raise
    if known.spec is not None:
        return _model(SpecModel("mlmodelc", path.name, None, None, known.spec), shown)
    head = f"type: {known.type}\nspecificationVersion: {known.specification_version}\n"
    return iter([head, text_format.MessageToString(known.description)])


def _json(data: bytes, shown: Callable[[Json], Json]) -> Iterator[str]:
    """Yield a package's manifest with paths in place of identifiers, which are random in each export, or an overlay,
    whose keys are in any order.
    """
    import json

    try:
        found = shown(parsed(data))
    except (ValueError, RecursionError):
        yield data.decode(errors="replace")
    else:
        yield json.dumps(found, indent=4, sort_keys=True, ensure_ascii=False) + "\n"


def _weights(path: Path) -> Iterator[str]:
    from miltext.schema.tensors import digest_of_pieces
    from miltext.weight_files.blob_storage import BlobFile

    with BlobFile(path) as file:
        yield f"{'offset':>12} {'type':<8} {'elements':>12} digest\n"
        for blob in file:
            digest = digest_of_pieces(blob.dtype, blob.pieces())
            yield f"{blob.offset:>12} {blob.dtype.name:<8} {blob.count:>12} sha256:{digest}\n"
