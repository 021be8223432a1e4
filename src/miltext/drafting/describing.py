"""The description of any model as text; for a draft, the description of the completed text."""

from __future__ import annotations

import os
from collections.abc import Callable

from miltext.containers.opening import open_model
from miltext.descriptions.model_texts import updated_description
from miltext.diagnostics import ParseError
from miltext.models.model import Model


def describe(model: Model | str | os.PathLike[str]) -> str:
    """Return the description of a Model, or of the model in a file or folder, as a text in TOML.

    The text contains the description, the specification version, the labels of a classifier, and the same for each
    model of a pipeline; for a program by itself, a draft too, the facts that follow from its types. `miltext.build`
    takes it as a file, and returns equal messages. Raise ModelError and ParseError for a model that cannot be read
    or described.
    """
    whole = model if isinstance(model, Model) else open_model(model)
    return _of_whole(whole, lambda text: text.description_text)


def update(model: Model, text: str, path: str) -> str:
    """Return the text of a description, from the file `path`, updated to a model; comments are kept.

    Raise ModelError, besides the errors of `describe`, for a text other than a description, or with mistakes.
    """
    return _of_whole(model, lambda whole: updated_description(whole, text, path))


def _of_whole(model: Model, described: Callable[[Model], str]) -> str:
    """Return the description of a model; complete a draft first."""
    try:
        return described(model)
    except ParseError as failure:
        from miltext.drafting.draft import Draft

        draft = Draft.behind(failure, model)
        if draft is None:
            raise
    whole = draft.model
    with draft.relocating():
        return described(whole)
