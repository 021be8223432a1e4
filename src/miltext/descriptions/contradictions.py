"""Contradictions in a description that Core ML refuses for any program.

The rules are from coremltools 9.0: `mlmodel/src/Validation/InterfaceValidators.cpp` and `PipelineValidator.cpp`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.descriptions.kinds import has_list, rule_of
from miltext.descriptions.words import FUNCTIONS, SIDES, STAGES
from miltext.diagnostics import codes
from miltext.files.contents import kind_of_model, pipeline_of
from miltext.printing.flexible_shapes import flexible
from miltext.schema.features import LABEL_ELEMENTS, PREDICTIONS
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.types import show
from miltext.toml.reading import Mistake

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Fields
    from miltext.schema.proto import FeatureDescription
    from miltext.schema.proto import Model as Spec
    from miltext.toml.reading import Keys


PREDICTED = dict(zip(PREDICTIONS, (tuple(f"{each}Type" for each in LABEL_ELEMENTS), ("dictionaryType",)), strict=True))
"""The types of the outputs in a classifier's fields."""


def contradictions(spec: Spec, at: Keys) -> Iterator[Mistake]:
    """Yield the contradictions in the description of a model, apart from its inner models, each with its place in the
    text.
    """
    kind, description = kind_of_model(spec) or "", spec.description
    if kind == PROGRAM and spec.isUpdatable:
        message = "an ML Program cannot be trained on a device: leave out `isUpdatable`"
        yield Mistake(codes.DESCRIPTION_OF_OTHER_TYPE, message, (*at, "isUpdatable"))
    yield from _described(description, kind, at)
    for index, function in enumerate(description.functions):
        yield from _described(function, kind, (*at, FUNCTIONS, index))
    for side in SIDES if description.functions else ():
        if getattr(description, side):
            way = f"write it as `[[function.{side}]]` below its function"
            message = f"a `[[{side}]]` is beside a `[[function]]`: {way}"
            yield Mistake(codes.DESCRIPTION_ENTRY_COUNT, message, (*at, side, 0))
    yield from _stages(spec, kind, at)


def _described(described: Fields, kind: str, at: Keys) -> Iterator[Mistake]:
    """Yield the contradictions in the description of a model, or of a function."""
    for side in SIDES:
        for index, entry in enumerate(getattr(described, side, ())):
            yield from _sizes(entry, (*at, side, index))
    outputs = {entry.name: entry for entry in described.output}
    for key, types in PREDICTED.items():
        predicted = getattr(described, key)
        if not predicted:
            continue
        if predicted not in outputs and kind != PROGRAM:
            message = f"`{key}` names no output of the model: `{predicted}`"
            yield Mistake(codes.DESCRIPTION_OF_NOTHING, message, (*at, key))
        elif predicted in outputs and (kind == PROGRAM or kind.endswith("Classifier")):
            yield from _predicted(key, outputs[predicted], types, at)


def _predicted(key: str, entry: FeatureDescription, types: tuple[str, ...], at: Keys) -> Iterator[Mistake]:
    """Yield a mistake for a classifier's field with an output of another type."""
    found = entry.type.WhichOneof("Type")
    if found not in types and found is not None:
        wanted, is_ = (" or ".join(f'"{each.removesuffix("Type")}"' for each in some) for some in (types, (found,)))
        way = f"name an output of the type {wanted}, or none"
        message = f"`{key}` names `{entry.name}`, which has the type {is_}: {way}"
        yield Mistake(codes.DESCRIPTION_OF_OTHER_TYPE, message, (*at, key))


def _sizes(entry: FeatureDescription, at: Keys) -> Iterator[Mistake]:
    """Yield a mistake for an empty list of sizes, or one without the preferred size."""
    sizes, (preferred, listed, _) = flexible(entry), rule_of(entry).keys
    if sizes is None or not has_list(entry):
        return
    if not sizes.shapes:
        yield Mistake(
            codes.DESCRIPTION_ENTRY_COUNT,
            f"`{listed}` of `{entry.name}` is empty: leave it out, or list sizes",
            (*at, listed),
        )
    elif sizes.default not in sizes.shapes:
        message = f"`{entry.name}` has the size {show(tuple(sizes.default))}, which `{listed}` leaves out: list it, too"
        yield Mistake(codes.DESCRIPTION_OF_OTHER_TYPE, message, (*at, preferred))


def _stages(spec: Spec, kind: str, at: Keys) -> Iterator[Mistake]:
    """Yield the stages of a pipeline with a duplicate name, or without a name beside named ones."""
    pipeline = pipeline_of(spec, kind)
    names = [*pipeline.names] if pipeline else []
    count = len(pipeline.models) if pipeline else 0
    for index, name in enumerate([*names, *[""] * count][:count] if any(names) else ()):
        where = (*at, STAGES, index)
        if not name:
            message = f"the stage {index} has no `name`, and others have one: name all of them, or none"
            yield Mistake(codes.DESCRIPTION_ENTRY_COUNT, message, where)
        elif name in names[:index]:
            yield Mistake(
                codes.DESCRIPTION_ENTRY_COUNT,
                f"the stage {index} has the name `{name}` of another one",
                (*where, "name"),
            )
