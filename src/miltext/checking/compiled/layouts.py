"""Parts around the description in a `coremldata.bin` that differ from the output of Apple's compiler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.compiled.coremldata import FILE_NAME, NAMES, expected_layout, names_data
from miltext.diagnostics import codes, warning
from miltext.schema.proto import ModelDescription

if TYPE_CHECKING:
    from collections.abc import Sequence

    from miltext.compiled.coremldata import CoremlData
    from miltext.diagnostics import Diagnostic

WORDS = {
    "form_version": "the version of its form",
    "head": "the 20 bytes before its form",
    "form": "its form",
    "zeros": "the 28 bytes after the specification version",
    "end": "what follows the description",
}
"""The names of the parts that follow from other parts; the rest is compared with the other files."""


def layout_findings(found: CoremlData, functions: int, stages: Sequence[CoremlData | None]) -> Iterator[Diagnostic]:
    """Yield the parts that do not fit a model with so many functions, or with such stages; None is an unknown stage."""
    known = [each for each in stages if each is not None]
    expected = expected_layout(found, functions, known)
    if expected is None:
        return
    left_out = {"form"} if len(known) < len(stages) else set[str]()
    if left_out:
        expected = expected._replace(end=found.end)
    for field, words in WORDS.items():
        is_, wanted = getattr(found, field), getattr(expected, field)
        if is_ != wanted and field not in left_out:
            yield warning(
                codes.UNUSUAL_COMPILED_DESCRIPTION,
                f"{FILE_NAME} has {_spelled(is_)} as {words}, and the compiler {_spelled(wanted)}",
            )


def unknown_fields(found: CoremlData) -> Iterator[Diagnostic]:
    """Yield the finding about a description with fields that the schema lacks; a whole Model also has kinds that it
    lacks.
    """
    if found.is_whole:
        return
    held = ModelDescription.FromString(found.held)
    size = held.ByteSize()
    held.DiscardUnknownFields()
    if size != held.ByteSize():
        message = f"{FILE_NAME} has fields in its description that this version of miltext does not know"
        yield warning(codes.UNUSUAL_COMPILED_DESCRIPTION, message)._replace(severity="note")


def _spelled(part: int | bytes) -> str:
    if isinstance(part, int):
        return str(part)
    if part.isascii() and part.decode().isprintable() and part:
        return f"`{part.decode()}`"
    return f"{len(part)} bytes, {part[:24].hex(' ')}{' ...' * (len(part) > 24)}" if part else "nothing"


def name_findings(names: Sequence[str], data: bytes, counts: Sequence[int]) -> Iterator[Diagnostic]:
    """Yield names of a pipeline's models that do not match the models by any count, or have more bytes after them."""
    if len(names) not in counts:
        yield warning(codes.MISFIT_COMPILED_PIPELINE, f"{NAMES} has {len(names)} names, but the models are {counts[0]}")
    for name in sorted(name for name, count in Counter(names).items() if count > 1):
        yield warning(codes.MISFIT_COMPILED_PIPELINE, f"{NAMES} has the name `{name}` twice")
    if names_data(names) != data:
        yield warning(codes.MISFIT_COMPILED_PIPELINE, f"{NAMES} has more than the names")
