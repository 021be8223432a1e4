"""The unproven parts of a compiled model: no known output of Apple's compiler contains them.

There are two kinds: parts seen elsewhere, each with its source, and parts never seen. Features of a model that no known
compiled model has are reported, but not refused: the forms of the files are known, although not for such models.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from miltext.compiled.coremldata import WHOLE_STAGES
from miltext.compiled.definitions import CCV
from miltext.diagnostics.wording import evidence
from miltext.files.contents import kind_of_model, stages
from miltext.printing.flexible_shapes import flexible
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    from miltext.schema.proto import FunctionDescription, Model, ModelDescription


class Doubt(NamedTuple):
    """A construct that no known output of the compiler contains.

    It is refused if Core ML would read a guess in place of an unknown fact; otherwise it is reported. A construct with
    a `place` is only in `metadata.json`, for people: below these keys, in which names identify the entries and
    functions of lists. `source` is another known example, empty for a construct that was never seen.
    """

    what: str
    place: tuple[str, ...] = ()
    is_refused: bool = False
    source: str = ""

    def __str__(self) -> str:
        """Return the construct with its source, or with the remark that it has none."""
        return f"{self.what}, {evidence(self.source)}"


def _described(spec: Model) -> list[ModelDescription | FunctionDescription]:
    return [spec.description, *spec.description.functions]


def _has_flexible_inputs(spec: Model) -> bool:
    """Return whether a function has several inputs of flexible shape; known functions have at most one."""
    sizes = [[flexible(entry) for entry in each.input] for each in _described(spec)]
    return any(sum(each is not None and bool(each.shapes or each.ranges) for each in found) > 1 for found in sizes)


def _is_other_pipeline(spec: Model) -> bool:
    """Return whether a model is a pipeline with stages unlike known pipelines' stages."""
    kinds = [kind_of_model(stage) for stage in stages(spec)]
    return kind_of_model(spec) != PROGRAM and kinds != [PROGRAM, *WHOLE_STAGES]


def _is_of_10(spec: Model) -> bool:
    return kind_of_model(spec) == PROGRAM and spec.specificationVersion == 10


class Unseen(NamedTuple):
    """A feature that no known compiled model has: its test, and another source that shows it, if any."""

    has: Callable[[Model], bool]
    source: str = ""


UNSEEN: dict[str, Unseen] = {
    "the form of coremldata.bin for specification version 10": Unseen(_is_of_10, CCV),
    "a pipeline of other models than an ML Program and non-maximum suppression": Unseen(_is_other_pipeline),
    "a model with states": Unseen(
        lambda spec: any(each.state for each in _described(spec)),
        "the histogram of huggingface.co/finnvoorhees/coreml-SmolLM2-135M-Instruct-8bit",
    ),
    "a classifier": Unseen(lambda spec: any(each.predictedFeatureName for each in _described(spec))),
    "a model with optional inputs": Unseen(
        lambda spec: any(entry.type.isOptional for each in _described(spec) for entry in each.input)
    ),
    "a model with training inputs": Unseen(lambda spec: bool(spec.description.trainingInput)),
    "several inputs of flexible shape": Unseen(_has_flexible_inputs),
    "an updatable model": Unseen(lambda spec: spec.isUpdatable),
}
"""The features that no known compiled model has."""


def unseen(spec: Model) -> list[Doubt]:
    """Return the features of a model that no known compiled model has."""
    return [Doubt(what, source=feature.source) for what, feature in UNSEEN.items() if feature.has(spec)]
