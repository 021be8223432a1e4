"""The description of any model as text, a draft's as that of the text that it is completed to."""

from __future__ import annotations

import os
from collections.abc import Callable

from miltext.diagnostics import ParseError
from miltext.drafting.building import completed, is_draft, told_in_draft
from miltext.models.describing import updated_description
from miltext.models.model import Model
from miltext.models.opening import open_model


def describe(model: Model | str | os.PathLike[str]) -> str:
    """Return what stands around a model's program, a Model's or that of a file or folder, as a text in TOML.

    The text has the description, the specification version, the labels of a classifier, and so of each model of a
    pipeline; of a program by itself, a draft too, what follows from its types. `miltext.build` takes it as a file, and
    gives back equal messages. Raise ModelError and ParseError for what cannot be read or described.
    """
    whole = model if isinstance(model, Model) else open_model(model)
    return _of_whole(whole, lambda text: text.description_text)


def update(model: Model, text: str, path: str) -> str:
    """Return the text of a description, from the file `path`, with what is other in a model; comments are kept.

    Raise ModelError, besides as `describe` does, for a text that is not a description, or has mistakes.
    """
    return _of_whole(model, lambda whole: updated_description(whole, text, path))


def _of_whole(model: Model, described: Callable[[Model], str]) -> str:
    """Return what is said of a model, of a draft when it is completed."""
    try:
        return described(model)
    except ParseError as failure:
        if not is_draft(model, failure):
            raise
    whole, made = completed(model)
    with told_in_draft(made, model):
        return described(whole)
