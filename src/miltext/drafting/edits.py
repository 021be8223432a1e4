"""Edits of a model by edits of its text: a renamed value, further outputs, other sizes of inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from miltext.building import editing
from miltext.building.build import require_ending
from miltext.building.choices import BuildChoices, WriteOptions
from miltext.checking.moved_texts import require_arrays
from miltext.containers.programs import TextModel
from miltext.containers.sources import Source, model_of
from miltext.descriptions.ranges import read_ranges
from miltext.descriptions.sizes import spell_sizes
from miltext.diagnostics.arguments import require_names
from miltext.drafting.building import build_as_chosen
from miltext.files.writing import write_file
from miltext.models.outputs import check_output
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.printing.printing import to_text
from miltext.schema.proto.kinds import PROGRAM
from miltext.syntax.keywords import taking

if TYPE_CHECKING:
    from miltext.descriptions.ranges import Range
    from miltext.descriptions.sizes import Sizes
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model

ELIDED = 64
"""The most elements of a literal in the edited text; larger ones are left out, and filled in again."""

WHOLE = ("mil", "pb", "txtpb")
"""The kinds of models with only a program."""


@dataclass(frozen=True, kw_only=True)
class EditOptions(WriteOptions):
    """The options of `miltext.rename`, `expose` and `reshape`: `function`, and the options of `miltext.build`."""

    function: str | None = None


@dataclass(frozen=True)
class _RenameRequest(EditOptions):
    source: Source
    old: str
    new: str
    output: str | os.PathLike[str]
    options: EditOptions | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class _ExposeRequest(EditOptions):
    source: Source
    values: Iterable[str] | str
    output: str | os.PathLike[str]
    options: EditOptions | None = field(default=None, kw_only=True)


@dataclass(frozen=True)
class _ReshapeRequest(EditOptions):
    source: Source
    sizes: Mapping[str, Range]
    output: str | os.PathLike[str]
    options: EditOptions | None = field(default=None, kw_only=True)


@taking(_RenameRequest)
def rename(request: _RenameRequest) -> list[Diagnostic]:
    """Write a model with the value `old` renamed to `new`; return the warnings.

    The name changes at its definition and all uses, also in inner blocks and in the description. In a pipeline, `old`
    is an input or output of the pipeline, or a value between its models, unless `model` selects an ML Program.

    Args:
        source: MIL text, a path, a Program or a Model.
        old: The name of a value, an input or an output.
        new: The new name.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`, or a `.mil` for the text with its comments and layout.
        function: The only function to edit; by default, all functions with the value.
        model: The model in a pipeline.
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: An `EditOptions`, in place of these keywords.

    Returns:
        The warnings of `miltext.build`.

    Raises:
        ModelError: MIL430 for an unknown name, MIL431 for a name in use, MIL426 for a name that is not an identifier,
            unless `check=False`; and the errors of `miltext.build`.
        TypeError: A name that is not a string.
        ValueError: `function` for a pipeline as a whole.

    Example:
        miltext.rename("Model.mlpackage", "var_42", "logits", "Out.mlpackage")
    """
    return renamed(model_of(request.source), request.old, request.new, Path(request.output), request).warnings


@taking(_ExposeRequest)
def expose(request: _ExposeRequest) -> list[Diagnostic]:
    """Write a model with inner values as further outputs; return the warnings.

    The description gets the outputs, too. An output of a model in a pipeline becomes an output of the pipeline, unless
    a later model has an input of that name.

    Args:
        source: MIL text, a path, a Program or a Model.
        values: The names of values, or one name.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`, or a `.mil` for the text with its comments and layout.
        function: The function with the values, where several have one.
        model: The model in a pipeline.
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: An `EditOptions`, in place of these keywords.

    Returns:
        The warnings of `miltext.build`.

    Raises:
        ModelError: MIL430 for an unknown name, MIL432 for a value that cannot be an output, MIL426 for a name that is
            not an identifier, unless `check=False`; and the errors of `miltext.build`.
        TypeError: A name that is not a string.
        ValueError: No values.

    Example:
        miltext.expose("Model.mlpackage", ["conv_3", "relu_3"], "Probed.mlpackage")
    """
    return exposed(model_of(request.source), request.values, Path(request.output), request).warnings


@taking(_ReshapeRequest)
def reshape(request: _ReshapeRequest) -> list[Diagnostic]:
    """Write a model with other sizes of inputs and states; return the warnings.

    All inferable types are inferred again, and constants that follow from the old sizes are computed again. For a
    range, both ends, the size after the least and a size in the middle must fit. In a pipeline, the model is the only
    ML Program that uses the inputs, unless `model` selects one.

    Args:
        source: MIL text, a path, a Program or a Model.
        sizes: The sizes by input: `"1,3,64..512,64..512"`, or for each axis a size or the least and greatest one.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`, or a `.mil` for the text with its comments and layout.
        function: The only function to edit; by default, all functions with the inputs.
        model: The model in a pipeline.
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: An `EditOptions`, in place of these keywords.

    Returns:
        Constants that were written anew (MIL490) or may have to be (MIL491), types that may be out of date (MIL436),
        and the warnings of `miltext.build`.

    Raises:
        ParseError: The errors that `miltext.check` finds in the result, and constants that cannot be computed for the
            new sizes (MIL492).
        ModelError: MIL430 for an unknown input, MIL434 for unreadable sizes, MIL435 for impossible ones; and the
            errors of `miltext.build`.
        ValueError: No sizes.

    Example:
        miltext.reshape("Model.mlpackage", {"image": [1, 3, 256, 256]}, "Out.mlpackage")
    """
    found: list[Diagnostic] = []
    whole, sizes = model_of(request.source), read_ranges(request.sizes)
    written = reshaped(whole, sizes, Path(request.output), request, lambda made: found.extend(made.warnings))
    return [*found, *written.warnings]


class Written(NamedTuple):
    """A written edit: the model or text that it was built from, and the warnings of the build."""

    source: Model
    warnings: list[Diagnostic]


class Reshaped(NamedTuple):
    """A text with other sizes, before it is written: the model of the text `before`, and warnings at places in it."""

    model: Model
    before: str
    text: str
    warnings: list[Diagnostic]


def is_of_pipeline(whole: Model, place: str | int | None) -> bool:
    """Return whether an edit is of a pipeline as a whole, and not of an ML Program in it."""
    return whole.is_pipeline and whole.at(place).type != PROGRAM


def renamed(whole: Model, old: str, new: str, output: Path, options: EditOptions) -> Written:
    """Write a model as `rename` does."""
    require_names(old, new)
    if not is_of_pipeline(whole, options.model):
        edit = partial(editing.rename, old=old, new=new, function=options.function, any_name=not options.check)
        return edited(whole, output, edit, options)
    if options.function is not None:
        raise ValueError("a function is chosen in an ML Program: choose one in the pipeline as the model")
    return Written(whole, build_as_chosen(whole, output, BuildChoices.of(options, renames={old: new})))


def exposed(whole: Model, values: Iterable[str] | str, output: Path, options: EditOptions) -> Written:
    """Write a model as `expose` does."""
    names = [values] if isinstance(values, str) else [*values]
    require_names(*names)
    if not names:
        raise ValueError("no value is named: name at least one to expose")
    edit = partial(editing.expose, names=names, function=options.function, any_name=not options.check)
    return edited(whole, output, edit, options)


def reshaped(
    whole: Model, sizes: Mapping[str, Sizes], output: Path, options: EditOptions, see: Callable[[Reshaped], object]
) -> Written:
    """Write a model as `reshape` does; `see` gets the new text before anything is written, and may raise."""
    from miltext.drafting.reshaping import reshape as reshape_text
    from miltext.pipelines.takers import only_taker

    if not sizes:
        raise ValueError("no sizes are given: give those of at least one input")
    place = only_taker(whole, sizes) if options.model is None and whole.is_pipeline else options.model
    chosen = whole.select(place)
    drops_ranges = whole.is_compiled and output.suffix.lower() != ".mil"  # build removes their attribute

    def edit(text: str, path: str) -> str:
        found: list[Diagnostic] = []
        made = reshape_text(
            text, sizes, function=options.function, path=path, weights=chosen.model_path, on_warning=found.append
        )
        shown = [each for each in found if not drops_ranges or ATTRIBUTE not in each.message]
        see(Reshaped(chosen, text, made, shown))
        return made

    ranges: dict[str, Range] = {
        name: spell_sizes(each) for name, each in sizes.items() if not all(size.is_fixed for size in each)
    }
    options = replace(options, model=place, ranges={**ranges, **(options.ranges or {})})
    return edited(whole, output, edit, options, elide=None)


def edited(
    whole: Model, output: Path, edit: Callable[..., str], options: WriteOptions, elide: int | None = ELIDED
) -> Written:
    """Write a model with its text edited; `edit` gets the text and the `path` for errors.

    Literals of more than `elide` elements are left out of the text of a model. An output that ends in `.mil` gets the
    edited text itself.
    """
    require_ending(output, "an edited model")
    chosen = whole.select(options.model)
    is_text = output.suffix.lower() == ".mil"
    if is_text:
        check_output(str(output), "mil", str(whole.path or "-"), force=options.force)
    text = chosen.text or to_text(chosen.program, elide=None if is_text else elide)
    made = edit(text, path=chosen.name).encode()
    source = TextModel(made, chosen.name, chosen.path if chosen.kind == "mil" else None)
    source.model_path = chosen.model_path
    if is_text:
        require_arrays(source.text, output, chosen.name, chosen.model_path)
        write_file(output, [source.text.encode()], replace=options.force)
        return Written(source, [])
    original = None if whole.kind in WHOLE else whole
    return Written(source, build_as_chosen(source, output, BuildChoices.of(options, original=original)))
