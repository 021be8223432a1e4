"""New names for the features of a built model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from miltext.building.new_model import ml_programs, way_to
from miltext.diagnostics import Note, codes
from miltext.files.refusals import refusal
from miltext.pipelines.renaming import rename_features
from miltext.pipelines.value_names import value_names
from miltext.syntax.literals import quote
from miltext.syntax.names import fitting, unfit

if TYPE_CHECKING:
    from miltext.building.choices import BuildOptions
    from miltext.models.model import Model
    from miltext.schema.proto import Model as Spec


def rename(spec: Spec, original: Model | None, renames: Mapping[str, str], choices: BuildOptions) -> None:
    """Rename features, from the chosen model of the original outward; if it is checked, names in an ML Program must be
    identifiers (MIL426). Raise as `rename_features` does, too.
    """
    way = [spec] if original is None else way_to(original.at(choices.model), original, spec)
    rename_features(way, renames)
    for name in renames.values() if choices.check else ():
        why = unfit(name)
        if why and any(name in value_names(program) for program in ml_programs(spec)):
            near = fitting(name)
            notes = [Note(f"did you mean `{near}`?")] if near else []
            raise refusal(codes.WRONG_NAME, f"the name {quote(name)} {why}", None, *notes)
