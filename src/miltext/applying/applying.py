"""A Difference applied to its old model."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from miltext.applying.models import edited_alone, edited_model
from miltext.containers.sources import Source, is_text, model_of, require_source
from miltext.diffing.difference import Difference
from miltext.drafting.programs import completed, names_arrays
from miltext.schema.proto import Message, Program
from miltext.schema.proto.kinds import PROGRAM

if TYPE_CHECKING:
    import os

    from miltext.models.model import Model

_PROGRAM = "<program>"
"""The name of a Program in errors."""


@overload
def apply(difference: Difference, source: Message, *, weights_from: Source | None = None) -> Program: ...
@overload
def apply(difference: Difference, source: os.PathLike[str] | Model, *, weights_from: Source | None = None) -> Model: ...
@overload
def apply(difference: Difference, source: str, *, weights_from: Source | None = None) -> Program | Model: ...
def apply(difference: Difference, source: Source, *, weights_from: Source | None = None) -> Program | Model:
    """Return the old model of a Difference with the edits of its entries, which is the new model.

    The edits are taken from the entries that a report lists, so a Difference without an entry gives a model without its
    edit. New numbers of weights are read from the weight files of the new model, each by its digest. The source is not
    changed.

    Args:
        difference: What `miltext.diff` returned, whole or without some entries.
        source: The old model that was compared: MIL text, a path, a Program or a Model.
        weights_from: A model whose weight files contain the new weights, by default the compared new one.

    Returns:
        A Program for MIL text or a Program; for a path, a Model, or a text that names arrays in files, a Model, which
        can be saved, built and compared. Its new weights are in a temporary folder that lasts as long as the Model.
        Without a folder for weights, new ones keep their file names and offsets.

    Raises:
        ModelError: MIL495 for another model than the compared one, MIL496 for changes that cannot be applied, such as
            files of a compiled model, MIL497 without an entry that others need, MIL498 for a missing new weight; and
            the errors of reading a model.
        ParseError: The text is not MIL text.

    Example:
        difference = miltext.diff("Old.mlpackage", "New.mlpackage")
        miltext.apply(difference, "Old.mlpackage").save("Patched.mlpackage")
    """
    given: object = difference
    if not isinstance(given, Difference):
        wrong = type(given).__name__
        raise TypeError(f"`difference` of apply() must be a Difference, as from miltext.diff, not {wrong}")
    require_source(source)
    if weights_from is not None:
        require_source(weights_from)
    if isinstance(source, Message):
        return edited_alone(difference, model_of(source).program, _PROGRAM)
    model = _whole(source)
    if isinstance(source, str) and is_text(source) and not names_arrays(model):
        return edited_alone(difference, model.program, model.name)
    return edited_model(difference, model, None if weights_from is None else _whole(weights_from))


def _whole(source: Source) -> Model:
    """Return the model of a source; for a text, the completed model, with the arrays that it names in a weight file."""
    model = model_of(source)
    if model.type == PROGRAM and (whole := completed(model)).kind == "mil":
        return whole
    return model
