"""The Program of any source, and functions of a Program that accept any source; a draft is completed first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from miltext.containers.sources import Source, model_of, require_source
from miltext.diagnostics import ParseError
from miltext.schema.proto import Message

if TYPE_CHECKING:
    from miltext.drafting.draft import Draft
    from miltext.models.model import Model

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def of_source(
    function: Callable[Concatenate[Any, Parameters], Result],
) -> Callable[Concatenate[Source, Parameters], Result]:
    """Return a function of a Program as a function of any source."""

    @wraps(function)
    def wrapper(source: Source, /, *values: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        return function(program_of(source), *values, **keywords)

    own = signature(function)
    first, *others = own.parameters.values()
    accepted = first.replace(annotation="Source", kind=first.POSITIONAL_ONLY)
    wrapper.__signature__ = own.replace(parameters=[accepted, *others])  # type: ignore[attr-defined]
    return wrapper


def program_of(source: Source) -> Message:
    """Return the Program of a source; a Program itself, of any pool, unchanged.

    Raise ParseError and ModelError as `load` does, and TypeError for an object that is no source.
    """
    if isinstance(source, Message):
        require_source(source)
        return source
    return of_completed(model_of(source).select(None), lambda whole: whole.program)


def of_completed(model: Model, asked: Callable[[Model], Result]) -> Result:
    """Return a fact of a model; complete a draft first."""
    try:
        return asked(model)
    except ParseError as failure:
        draft = _draft_behind(failure, model)
    whole = draft.model
    with draft.relocating():
        return asked(whole)


def completed(model: Model) -> Model:
    """Return a model whose program can be read: the model itself, or for a draft the completed text."""
    try:
        _ = model.program
    except ParseError as failure:
        return _draft_behind(failure, model).model
    return model


def _draft_behind(failure: ParseError, model: Model) -> Draft:
    """Return the draft that a text is; raise the failure for any other text."""
    from miltext.drafting.draft import Draft

    draft = Draft.behind(failure, model)
    if draft is None:
        raise failure
    return draft
