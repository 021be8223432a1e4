"""Any one file of a model as text to compare: the program as MIL text, a bundle's description, a table of weights.

The text depends on the bytes of the file alone, and not on the files around it: git caches it by them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics import MiltextError, ModelError, ParseError
from miltext.models.contents import refuse_pointer
from miltext.models.coremldata import FILE_NAME, parse_coremldata, parse_names
from miltext.models.manifest import MANIFEST
from miltext.models.spec import SpecModel
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Program

Written: TypeAlias = "Callable[[Program], Iterable[str]]"

ELIDE = 256
"""Literals of more elements than this are shown by their digest."""

_SENTINEL = b"\xef\xbe\xad\xde"
"""The first bytes of a weight file's first record, which is at byte 64."""


def file_text(path: Path, as_draft: bool = False) -> Iterator[str]:
    """Yield the text of a file, in pieces; programs as drafts where that is asked for, and where there is one.

    Of a file that cannot be read, yield the reason and the digest of its bytes; of a `.mil` that does not spell a
    program, as a draft does not, the reason and the text as it is.

    Raise OSError where the file cannot be opened.
    """
    data = path.read_bytes()
    try:
        yield from _pieces(path, data, _draft if as_draft else _in_full)
    except MiltextError as failure:
        finding = failure.diagnostics[0]
        notes = "".join(f"// {note.message}\n" for note in finding.notes)
        held = failure.text if path.suffix == ".mil" and isinstance(failure, ParseError) else None
        held = held or f"// {_digest(data)}, {len(data)} bytes\n"
        yield f"// {finding.code}: {finding.message}\n{notes}{held}"


def _pieces(path: Path, data: bytes, written: Written) -> Iterator[str]:
    from miltext.models.contents import is_binary, is_spec, parse_spec
    from miltext.models.opening import read

    if path.name.endswith(MANIFEST):
        return _manifest(data)
    if data[64:68] == _SENTINEL or path.name.endswith("weight.bin"):
        return _weights(path)
    refuse_pointer(data, path)
    if path.name.endswith(FILE_NAME):
        return _coremldata(path, data, written)
    if is_binary(data) and is_spec(data):  # perhaps not an ML Program, which is all that `read` gives
        return _model(SpecModel("mlmodel", path.name, None, None, parse_spec(data, path.name)), written)
    return _model(read(data, path.name), written)


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


# ---- models


def _in_full(program: Program) -> Iterable[str]:
    from miltext.printing.printing import pieces
    from miltext.printing.tensors import Style

    return pieces(program, Style(elide=ELIDE))


def _draft(program: Program) -> Iterable[str]:
    from miltext.drafting.writing import draft_text
    from miltext.printing.tensors import Style

    return [draft_text(program, Style(floats="decimal", elide=ELIDE))]


def _model(model: Model, written: Written) -> Iterator[str]:
    yield from around(model)
    if model.type == PROGRAM:
        yield from written(model.program)
    elif not model.models:
        assert model.spec is not None  # all else is a Program
        wire = model.spec.SerializeToString(deterministic=True)
        yield f"// a {model.type}, which has no text: {_digest(wire)}, {len(wire)} bytes\n"
    for index, nested in enumerate(model.models):
        yield f"\n// ---- model {index} {quote(nested.pipeline_name)}: {nested.type}\n"
        yield from _model(nested, written)


def around(model: Model) -> list[str]:
    """Return what surrounds the program of a model, its version, its description and so on, as lines of comments."""
    from google.protobuf import text_format

    shell = Spec()
    if model.spec is not None:
        fields = model.spec.ListFields()
        shell = Spec(**{field.name: content for field, content in fields if field.containing_oneof is None})
    elif model.description is not None:
        shell = Spec(specificationVersion=model.specification_version or 0, description=model.description)
    return [f"// {line}\n" for line in text_format.MessageToString(shell).splitlines()]


# ---- the parts of bundles


def _coremldata(path: Path, data: bytes, written: Written) -> Iterator[str]:
    from google.protobuf import text_format

    try:
        known = parse_coremldata(data, path)
    except ModelError:
        with suppress(ModelError):
            if names := parse_names(data, path):
                return iter([f"model: {quote(name)}\n" for name in names])
        raise
    if known.spec is not None:
        return _model(SpecModel("mlmodelc", path.name, None, None, known.spec), written)
    head = f"type: {known.type}\nspecificationVersion: {known.specification_version}\n"
    return iter([head, text_format.MessageToString(known.description)])


def _manifest(data: bytes) -> Iterator[str]:
    """Yield a package's manifest with paths in place of identifiers, which are random in each export."""
    import json

    try:
        manifest = json.loads(data)
        paths = {name: item["path"] for name, item in manifest["itemInfoEntries"].items()}
        root = paths[manifest["rootModelIdentifier"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        yield data.decode(errors="replace")
        return
    entries = {paths[name]: item for name, item in sorted(manifest["itemInfoEntries"].items())}
    if len(entries) < len(paths):
        yield data.decode(errors="replace")
        return
    yield json.dumps({**manifest, "itemInfoEntries": entries, "rootModelIdentifier": root}, indent=4, sort_keys=True)
    yield "\n"


def _weights(path: Path) -> Iterator[str]:
    from miltext.models.weights import BlobFile

    with BlobFile(path) as file:
        yield f"{'offset':>12} {'type':<8} {'elements':>12} digest\n"
        for blob in file:
            yield f"{blob.offset:>12} {blob.dtype.name:<8} {blob.count:>12} sha256:{blob.digest()}\n"
