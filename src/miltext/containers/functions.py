"""The chosen function of a model that another model takes in: by `link`, or by an import of a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION
from miltext.diagnostics import ModelError, Note, codes
from miltext.diagnostics.suggestions import did_you_mean, nearest
from miltext.diagnostics.wording import listed
from miltext.files.refusals import refusal
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import own_block

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Program


def require_program(source: Model, what: str) -> Model:
    """Return a model that is an ML Program; `what` is done with these alone. Raise ModelError: MIL254, MIL257."""
    if source.type == PROGRAM:
        return source
    try:
        return source.select(None)
    except ModelError as failure:
        found = failure.diagnostics[0]
        way = f"only ML Programs are {what}: take one out of the pipeline, as with `miltext extract` and its `model=`"
        failure.diagnostics[0] = found._replace(notes=(*found.notes, Note(way))) if source.models else found
        raise


def chosen_function(program: Program, default: str, name: str | None, path: str) -> str:
    """Return the function with a name, by default the function that Core ML runs; it has a block for its opset.

    The `default` is that of the description, empty for none. Raise ModelError: MIL430, and MIL485 without a block.
    """
    functions = program.functions
    known = sorted(functions)
    if name is None:
        likely = [each for each in (default, DEFAULT_FUNCTION, *known[: len(known) == 1]) if each in functions]
        if not likely:
            message = f"the model has several functions, {listed(known, 'and')}, and none is the default: choose one"
            raise refusal(codes.UNKNOWN_NAME, message, path)
        name = likely[0]
    if name not in functions:
        message = f"unknown function `{name}`{did_you_mean(nearest(name, known))}"
        raise refusal(codes.UNKNOWN_NAME, message, path, Note(f"the model has {listed(known, 'and')}"))
    if own_block(functions[name]) is None:
        message = f"the function `{name}` has no block for its opset, so there is nothing to link"
        raise refusal(codes.IMPOSSIBLE_LINK, message, path)
    return name
