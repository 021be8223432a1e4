"""What Apple's compiler had added to a model that is compiled anew, and that still holds."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from miltext.models.building.decompiling import strip
from miltext.models.building.new_model import ml_programs, models_with_programs
from miltext.printing.coremlc import BUILD_INFO, STRINGS, says_what_is_described
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.value_builders import immediate

if TYPE_CHECKING:
    from miltext.models.building.decompiling import Added
    from miltext.models.building.new_model import NewModel
    from miltext.schema.proto import Model as Spec


def restate(new: NewModel) -> None:
    """Give the programs of a model that was compiled what its compiler said of itself, and the shapes of functions
    whose description is as it was: their keys are hashes that are not published.
    """
    for spec, added in zip(models_with_programs(new.spec), new.added, strict=False):
        _restate_entries(spec, added)
        for name, attribute in added.shapes.items():
            function = spec.mlProgram.functions.get(name)
            if function is not None and says_what_is_described(attribute, spec.description, name, function):
                function.attributes[ATTRIBUTE].CopyFrom(attribute)


def _restate_entries(spec: Spec, added: Added) -> None:
    if not added.entries:
        return
    attributes = spec.mlProgram.attributes
    if BUILD_INFO not in attributes:
        attributes[BUILD_INFO].CopyFrom(immediate(STRINGS, {}))
    held = attributes[BUILD_INFO].immediateValue
    if held.HasField("dictionary"):
        held.dictionary.values.extend(added.entries)


def uncompiled(new: NewModel) -> Spec:
    """Return the message of a model as a package would have it."""
    if not new.added:
        return new.spec
    spec = deepcopy(new.spec)
    for program in ml_programs(spec):
        strip(program)
    return spec
