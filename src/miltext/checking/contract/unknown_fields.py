"""Fields around the programs of a model that the schema lacks: a newer tool wrote them, and no rule reads them.

protobuf's own readers skip such a field, and Core ML of its time does, too (protobuf: "Updating A Message Type"). The
specification version, which Core ML compares, is judged by its own rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.descriptions.parts import UNKNOWN, part_of, unknown_places
from miltext.diagnostics import Diagnostic, Note, codes
from miltext.diagnostics.wording import listed
from miltext.files.contents import stages, unknown_fields
from miltext.pipelines.connections import WHOLE, PipelinePlace
from miltext.schema.proto.kinds import MODEL_KINDS, PROGRAM

if TYPE_CHECKING:
    from miltext.schema.proto import Model as Spec

_KEPT = Note("edits keep such a field, and no rule reads it; a newer miltext may know it")

_MOST_NAMED = 3
"""How many fields a note names."""


def unknown_field_notes(spec: Spec, place: PipelinePlace = WHOLE) -> Iterator[Diagnostic]:
    """Yield a note for each model of a message, from the outermost on, with the places of its unknown fields."""
    if names := [*_places(spec)]:
        where = f"{place}: " if place.path or stages(spec) else ""
        are = "is" if len(names) == 1 else "are"
        message = (
            f"{where}{listed(names, 'and', _MOST_NAMED)} {are} not in the schema that this version of miltext knows"
        )
        yield Diagnostic("note", codes.UNKNOWN_FIELD, message, notes=(_KEPT,))
    for index, model in enumerate(stages(spec)):
        yield from unknown_field_notes(model, place.inside(spec, index))


def _places(spec: Spec) -> Iterator[str]:
    """Yield the places of unknown fields in a model, apart from its program, its layers and the models in it."""
    yield from (f"{UNKNOWN}{number}" for number in unknown_fields(spec) if number not in MODEL_KINDS)
    yield from unknown_places(part_of(spec.description), "description")
    kind = spec.WhichOneof("Type")
    if kind is not None and kind != PROGRAM:
        yield from (f"{kind}.{UNKNOWN}{number}" for number in unknown_fields(getattr(spec, kind)))
