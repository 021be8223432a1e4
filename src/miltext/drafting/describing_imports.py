"""The description of a text with imports: the entries of inputs and outputs that are those of an import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.losses import DescriptionLoss
from miltext.descriptions.program_descriptions import known_version
from miltext.drafting.model_parts import name_predictions, take_metadata
from miltext.schema.features import function_features

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from miltext.drafting.planting_imports import PlantedImport
    from miltext.schema.proto import FeatureDescription, FunctionDescription, ModelDescription
    from miltext.schema.proto import Model as Spec


def describe_imports(spec: Spec, planted: Sequence[PlantedImport], ranged: Collection[str]) -> list[DescriptionLoss]:
    """Replace the entries of inputs and outputs by those of the imports that they are of, except of the `ranged`
    inputs, and of inputs whose sizes the import does not limit, and take the metadata of the first import that has
    some. Return the facts about imports that the description does not state.
    """
    losses: list[DescriptionLoss] = []
    for function in dict.fromkeys(each.function for each in planted):
        described = function_features(spec.description, function)
        own = [each for each in planted if each.function == function]
        losses += _entries(described, own, ranged)
        losses += [_unrounded(each, name) for each in own for name in each.inner_images]
        name_predictions(described, [(each.part, each.outputs) for each in own], losses)
    take_metadata(spec.description, {id(each.part): each.part for each in planted}.values(), losses)
    version = known_version(spec.mlProgram, spec.description)
    spec.specificationVersion = max(spec.specificationVersion, version)
    return losses


def _unrounded(planted: PlantedImport, name: str) -> DescriptionLoss:
    message = (
        f"`{name}` was an image of `{planted.part.name}`, whose numbers Core ML rounds; the operations of the text"
    )
    return DescriptionLoss(f"{message} get them unrounded")


def _entries(
    described: ModelDescription | FunctionDescription, planted: Sequence[PlantedImport], ranged: Collection[str]
) -> list[DescriptionLoss]:
    """Replace entries by those of imports; return the losses where two imports describe one input differently."""
    losses: list[DescriptionLoss] = []
    taken: dict[tuple[str, str], FeatureDescription] = {}
    for each in planted:
        for side in ("input", "state", "output"):
            known = {entry.name: entry for entry in getattr(described, side)}
            names = each.outputs if side == "output" else each.inputs
            for name, entry in each.part.entries(side).items():
                whole = names.get(name, "")
                if whole not in known or whole in ranged or name in (each.part.choices.ranges or {}):
                    continue
                made = entry.__class__()
                made.CopyFrom(entry)
                made.name = whole
                if taken.setdefault((side, whole), made) != made:
                    message = f"another entry of `{whole}`, of the import `{each.part.name}`, is not kept"
                    losses.append(DescriptionLoss(message))
                else:
                    known[whole].CopyFrom(made)
    return losses
