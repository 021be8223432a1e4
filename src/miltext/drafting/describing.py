"""The description of any model as text, a draft's as that of the text that it is completed to."""

from __future__ import annotations

import os

from miltext.diagnostics import ParseError
from miltext.drafting.building import completed, is_draft, told_in_draft
from miltext.models.model import Model
from miltext.models.opening import open_model


def describe(model: Model | str | os.PathLike[str]) -> str:
    """Return what stands around a model's program, a Model's or that of a file or folder, as a text in TOML.

    The text has the description, the specification version, the labels of a classifier, and so of each model of a
    pipeline; of a program by itself, a draft too, what follows from its types. `miltext.build` takes it as a file, and
    gives back equal messages. Raise ModelError and ParseError for what cannot be read or described.
    """
    whole = model if isinstance(model, Model) else open_model(model)
    try:
        return whole.description_text
    except ParseError as failure:
        if not is_draft(whole, failure):
            raise
    text, made = completed(whole)
    with told_in_draft(made, whole):
        return text.description_text
