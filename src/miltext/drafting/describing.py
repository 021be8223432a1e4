"""The description of any model as text; for a draft, the description of the completed text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.containers.sources import Source, model_of
from miltext.descriptions.model_texts import updated_description
from miltext.drafting.programs import of_completed, with_named_arrays

if TYPE_CHECKING:
    from miltext.models.model import Model


def describe(model: Source) -> str:
    """Return the description of a model, from any source, as a text in TOML.

    The text contains the description, the specification version, the labels of a classifier, and the same for each
    model of a pipeline; for a program by itself, a draft too, the facts that follow from its types. `miltext.build`
    takes it as a file, and returns equal messages.

    Args:
        model: MIL text, a path, a Program or a Model.

    Returns:
        The text.

    Raises:
        ModelError: A model that cannot be read or described.
        ParseError: The text is not MIL text.

    Example:
        toml = miltext.describe("Model.mlpackage")
    """
    return of_completed(model_of(model), lambda whole: whole.description_text, with_named_arrays)


def update(model: Model, text: str, path: str) -> str:
    """Return the text of a description, from the file `path`, updated to a model; comments are kept.

    Raise ModelError, besides the errors of `describe`, for a text other than a description, or with mistakes.
    """
    return of_completed(model, lambda whole: updated_description(whole, text, path), with_named_arrays)
