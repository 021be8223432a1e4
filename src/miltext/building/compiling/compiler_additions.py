"""The additions of Apple's compiler to a program: its former ones that still hold, and the model's own."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from miltext.building.decompiling import strip, take_shapes
from miltext.building.new_model import ml_programs, models_with_programs
from miltext.printing.coremlc import STRINGS, says_what_is_described
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.stamps import BUILD_INFO
from miltext.schema.value_builders import immediate

if TYPE_CHECKING:
    from miltext.building.decompiling import Added
    from miltext.building.new_model import NewModel
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import Value


def restate(new: NewModel) -> None:
    """Give the programs of a once compiled model its compiler's entries, and the shapes of functions with an unchanged
    description: their keys are unpublished hashes.

    Shapes of the model's own move to `own_shapes`, and stay in the program if they agree with the description.
    """
    if not new.added:
        new.own_shapes = [take_shapes(program) for program in ml_programs(new.spec)]
    for spec, added in zip(models_with_programs(new.spec), new.added, strict=False):
        _restate_entries(spec, added)
    for spec, shapes in zip(models_with_programs(new.spec), _shapes(new), strict=False):
        for name, attribute in shapes.items():
            function = spec.mlProgram.functions.get(name)
            if function is not None and says_what_is_described(attribute, spec.description, name, function):
                function.attributes[ATTRIBUTE].CopyFrom(attribute)


def _shapes(new: NewModel) -> list[dict[str, Value]]:
    """Return the former shapes of each ML Program's functions, by name."""
    return [added.shapes for added in new.added] or new.own_shapes


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
    """Return the message of a model as in a package."""
    if not new.added and not any(new.own_shapes):
        return new.spec
    spec = deepcopy(new.spec)
    for program in ml_programs(spec) if new.added else ():
        strip(program)
    for program, shapes in zip(ml_programs(spec), new.own_shapes, strict=False):
        for name, attribute in shapes.items():
            program.functions[name].attributes[ATTRIBUTE].CopyFrom(attribute)
    return spec
