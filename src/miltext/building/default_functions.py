"""A function that cannot be reached: of a model whose description lists no functions, Core ML runs `main`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION
from miltext.diagnostics import codes, warning
from miltext.files.contents import stages
from miltext.pipelines.connections import WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.building.new_model import NewModel
    from miltext.diagnostics import Diagnostic
    from miltext.pipelines.connections import PipelinePlace
    from miltext.schema.proto import Model as Spec


def unreached(new: NewModel) -> Iterator[Diagnostic]:
    """Yield a warning for an only function of another name that no description makes the default.

    There is none for a model whose original has the same problem.
    """
    yield from _unreached(new, new.spec, WHOLE)


def _unreached(new: NewModel, spec: Spec, place: PipelinePlace) -> Iterator[Diagnostic]:
    names = [] if spec.description.functions else [*spec.mlProgram.functions]
    known = new.known.get(place.path, {})
    for name in names if len(names) == 1 else ():
        was = known[name].name if name in known else "" if not new.around else name
        if name not in (DEFAULT_FUNCTION, was):
            where = f" of {place}" if place.path else ""
            before = f", which was `{was}`" if was else ""
            message = (
                f"the only function{where} is `{name}`{before}, and Core ML runs `{DEFAULT_FUNCTION}` of a model that "
                f"lists no functions: call it `{DEFAULT_FUNCTION}`, or give it the opset ios18, which has them listed"
            )
            yield warning(codes.WRONG_NAME, message)
    for index, model in enumerate(stages(spec)):
        yield from _unreached(new, model, place.inside(spec, index))
