"""The parts of a Model message that no file of a compiled model holds.

The files hold the kind, the specification version, the description as it is, and the program as text, which refuses
unknown fields; and of a pipeline its models and their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.files.contents import kind_of_model, pipeline_of, unknown_fields
from miltext.printing.flexible_shapes import ATTRIBUTE

if TYPE_CHECKING:
    from miltext.building.new_model import NewModel
    from miltext.schema.proto import Message, Model

_HELD = ("specificationVersion", "description")
"""The fields of a Model in `coremldata.bin`, beside its Type's."""


def unheld_of(new: NewModel) -> list[str]:
    """Return the lost parts of a model to write, its functions' own shapes included."""
    is_piped = bool(new.spec.pipeline.models)
    shapes = [
        f"`{ATTRIBUTE}` of `{name}`{f' of the model {index}' if is_piped else ''}, which is made of the description"
        for index, functions in enumerate(new.own_shapes)
        for name in functions
    ]
    return [*unheld(new.spec), *shapes]


def unheld(spec: Model, where: str = "") -> Iterator[str]:
    """Yield the lost parts of a model, and of its inner ones, each by name; `where` names the inner model."""
    kind = kind_of_model(spec)
    for field, _ in spec.ListFields():
        if field.name not in (*_HELD, kind):
            yield f"`{field.name}`{where}"
    yield from _unknown(spec, where)
    pipeline = pipeline_of(spec, kind)
    if pipeline is not None:
        yield from _unknown(pipeline, where)
        for index, stage in enumerate(pipeline.models):
            yield from unheld(stage, f" of the model {index}")


def _unknown(message: Message, where: str) -> Iterator[str]:
    return (f"the unknown field {number} of {message.DESCRIPTOR.name}{where}" for number in unknown_fields(message))
