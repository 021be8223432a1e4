"""An edited program, followed by its description, by the pipelines around it, and by the specification version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from miltext.building.pipeline_updates import carry, pipelines_around
from miltext.descriptions.program_descriptions import required_version, update
from miltext.schema.function_io import interfaces

if TYPE_CHECKING:
    from miltext.building.choices import BuildOptions
    from miltext.building.new_model import NewModel
    from miltext.descriptions.changes import Counterparts
    from miltext.descriptions.counterparts import Version
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import Model as Spec


def follow(new: NewModel, way: Sequence[Spec], before: Version, choices: BuildOptions) -> Counterparts:
    """Fit the descriptions and versions of a model, and of the pipelines on the way to it, to its edited program and
    the requested sizes. Return the former counterparts of its functions.
    """
    spec = way[-1]
    known: Counterparts = {}
    after = interfaces(spec.mlProgram)
    needed = required_version(before.program, spec.description) if before.program else 0
    if choices.asked or _listed(after) != _listed(before.interfaces):
        pipelines = pipelines_around(way, choices.check)
        losses, known = update(
            spec.description, before, spec.mlProgram, after, choices.asked, keeps_names=choices.edit is not None
        )
        carried = carry(pipelines, spec, known)
        new.losses += [*losses, *carried.losses]
        new.warnings += carried.warnings
    version = required_version(spec.mlProgram, spec.description)
    for each in way if version > needed else ():
        each.specificationVersion = max(each.specificationVersion, version)
    return known


def _listed(interfaces: Mapping[str, Interface]) -> list[tuple[str, list[list[object]]]]:
    """Return the inputs and outputs of functions, in their order."""
    return [(name, [[*types.items()] for types in each.sides.values()]) for name, each in interfaces.items()]
