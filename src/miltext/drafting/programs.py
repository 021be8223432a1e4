"""The Program of any source, and functions of a Program that accept any source; a draft is completed first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from miltext.containers.programs import TextModel
from miltext.containers.sources import Source, model_of, require_source
from miltext.diagnostics import ParseError, codes
from miltext.schema.proto import Message, Program
from miltext.syntax.names import FILES, IMPORT

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

    Raise ParseError and ModelError as `load` does, and TypeError for an object that is not a source.
    """
    if isinstance(source, Message):
        require_source(source)
        return source
    return of_completed(model_of(source).select(None), lambda whole: whole.program)


def of_completed(
    model: Model, asked: Callable[[Model], Result], arrays: Callable[[TextModel], TextModel] | None = None
) -> Result:
    """Return a fact of a model; complete a draft first.

    A text that names arrays in files is first replaced by the text that `arrays` returns for it; without `arrays`, it
    has no Program. Errors have places in the text of the model.
    """
    try:
        return asked(model)
    except ParseError as failure:
        draft = draft_behind(failure, model, with_arrays=arrays is not None)
    whole = draft.model
    with draft.relocating():
        return asked(whole if arrays is None or not names_arrays(whole) else arrays(whole))


def completed(model: Model) -> Model:
    """Return a model whose program can be read: the model itself, or for a draft the completed text.

    Arrays that a text names are in a weight file, which lasts as long as the model. Raise ParseError and ModelError.
    """
    return of_completed(model, _once_read, with_stored_arrays)


def with_program(model: Model) -> Model:
    """Return a model whose program can be read, as `completed` does, but refuse a text that names arrays in files.

    Raise ParseError and ModelError.
    """
    return of_completed(model, _once_read)


def outlined(model: Model) -> Model:
    """Return a model whose program can be read, as `completed` does, but without the numbers of arrays.

    A value in an array file names the array, as `array_named` reads it. Raise ParseError and ModelError.
    """
    return of_completed(model, _once_read, with_named_arrays)


def with_imported(model: Model) -> Model:
    """Return a model whose weights can be read beside it: a text that imports models as `completed` makes it, any
    other model itself. Raise ParseError and ModelError.
    """
    return completed(model) if model.kind == "mil" and IMPORT in (model.text or "") else model


def _once_read(model: Model) -> Model:
    _ = model.program
    return model


def draft_behind(failure: ParseError, model: Model, *, with_arrays: bool = True) -> Draft:
    """Return the draft that a text is, or the text that names arrays in files; raise the failure for any other text."""
    from miltext.drafting.draft import Draft

    has_arrays = with_arrays and failure.diagnostics[0].code == codes.VALUE_IN_ARRAY_FILE
    draft = Draft.of(model) if has_arrays and model.kind == "mil" else Draft.behind(failure, model)
    if draft is None:
        raise failure
    return draft


# ---- arrays in files


def names_arrays(model: Model) -> bool:
    """Return whether a model is a text that names arrays in files, or imports models."""
    return model.kind == "mil" and any(word in (model.text or "") for word in FILES)


def with_stored_arrays(whole: TextModel, weights: Path | None = None) -> TextModel:
    """Return a text whose program has the arrays that it names in a weight file, in a folder that lasts as long.

    Other weight files are copied, from the folder `weights` or the text's own. Raise ParseError and ModelError.
    """
    from tempfile import TemporaryDirectory

    from miltext.building.build import store
    from miltext.building.choices import BuildChoices
    from miltext.containers.opening import load
    from miltext.drafting.importing import imports_of

    made = TemporaryDirectory(prefix="miltext-", ignore_cleanup_errors=True)  # Windows keeps mapped files
    path = Path(made.name) / "model.mlmodel"
    choices = BuildChoices(weights=weights)
    imports = imports_of(whole, choices)
    store(whole, path, imports.choices if imports else choices)
    model = _with_program(whole, load(path).program)
    model.model_path = path.parent
    model.keeps = made
    return model


def with_named_arrays(whole: TextModel) -> TextModel:
    """Return a text whose program has the names of arrays in place of their values. Raise ParseError.

    The arrays of a text with imports are stored, together with the weights of these.
    """
    if IMPORT in whole.text:
        return with_stored_arrays(whole)
    from miltext.parsing.lowering.left_out import NamingArrays
    from miltext.parsing.parser import lower

    return _with_program(whole, Program.FromString(lower(whole.text, whole.name, NamingArrays())))


def array_files(model: Model) -> dict[str, str]:
    """Return the files of the arrays that the text of a model names, by the names of the weights."""
    if not names_arrays(model):
        return {}
    from miltext.parsing.lowering.left_out import array_named

    named = {name: array_named(weight.value) for name, weight in outlined(model).weights.entries.items()}
    return {name: reference.file for name, reference in named.items() if reference is not None}


def _with_program(whole: TextModel, program: Program) -> TextModel:
    """Return a text with a program that was read in another way."""
    model = TextModel(whole.text.encode(), whole.name, whole.path)
    model.model_path = whole.model_path
    model.program = program
    return model
