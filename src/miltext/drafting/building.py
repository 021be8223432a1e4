"""Building: a model from any source, and from a draft as from the text that it is completed to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import COMPILED, prepare, write
from miltext.building.choices import BuildOptions
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.diagnostics import MiltextError, ModelError, ParseError
from miltext.drafting.judging import judge, judge_compiled, judge_draft, refuse_text
from miltext.models.model import Model
from miltext.parsing.parser import OF_DRAFTS

if TYPE_CHECKING:
    import os

    from miltext.building.choices import Expect
    from miltext.building.given_weights import GivenWeights
    from miltext.building.new_model import NewModel
    from miltext.checking.verifier import WrittenOut
    from miltext.descriptions.changes import DescriptionChange
    from miltext.descriptions.ranges import Range
    from miltext.diagnostics import Diagnostic
    from miltext.files.writing import Progress
    from miltext.printing.coremlc import Versions


def build(
    source: Model | str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    original: Model | str | os.PathLike[str] | None = None,
    model: str | int | None = None,
    weights: GivenWeights | None = None,
    externalize: int | None = None,
    force: bool = False,
    progress: Progress | None = None,
    expect: Expect | None = None,
    description: str | os.PathLike[str] | None = None,
    prune_weights: bool = False,
    renames: Mapping[str, str] | None = None,
    ranges: Mapping[str, Range] | None = None,
    no_loss: bool = False,
    on_change: Callable[[DescriptionChange], object] | None = None,
    versions: Versions | None = None,
    allow_unproven: bool = False,
    check: bool = True,
) -> list[Diagnostic]:
    """Write an `.mlpackage`, `.mlmodel` or `.mlmodelc` with the program of `source`; return the warnings there are.

    Both it and `original` are models, or paths of models. With `original`, all else comes from that model: description,
    metadata, weights; `model` names the model of its pipeline whose program is replaced. Without it, a `source` that is
    a whole model is written as it is, a compiled one turned back, and for a program by itself the description is made
    from its types, and its weights are in the folder that it stands in, unless they are given. `weights` gives a
    folder, a mapping of files by the names that the program has for them, below `@model_path`, or several of these:
    weights missing in the original are taken from there. A file in such a mapping may be a model with one weight file.
    Immediate constants of `externalize` elements or more are moved into the weight file. With `prune_weights`, weight
    files contain only weights that the model refers to, and of equal weights one; a note among the warnings states the
    number of bytes left out. A file or folder at `output` is replaced only if `force`, and only when all is written.
    `progress` is called with the bytes of each written piece, and before that `expect` with a function that returns
    their total. `renames` has new names of the model's features by their old ones, which are changed through all models
    of a pipeline.

    `description` is a file in TOML, as `miltext.describe` gives it, whose description takes the place of any other: it
    must fit the program. `ranges` has sizes of inputs, by name: `"1,3,64..512,64..512"`, or for each axis a size or the
    least and greatest one; each `?` of an input needs one. The description follows the features that it describes, and
    keeps all entries that still fit: with `no_loss`, a build that would lose an entry is refused, and `on_change` is
    called with each of its entries that changed, when all is written.

    An `.mlmodelc` is written as Apple's compiler would write it; a warning names its unproven parts. A part that Core
    ML reads and no known output of the compiler shows is refused, unless `allow_unproven`; `versions` are the stated
    versions of the compiler, by default the versions that a compiled model states already, or the newest known. Both
    are for an `.mlmodelc` alone (MIL444).

    The findings of `miltext.check` in the program come before the warnings, and errors are raised before anything is
    written, errors of a text before those of the model; without `check`, the program is not checked. An error of the
    original, or of a model written as it is, becomes a warning, and its warnings are left out. A draft is completed
    first, and always checked; findings have places in the draft.

    Raise ParseError for the text, FileExistsError and OSError for the files, WeightsError (MIL30x) for weights, and
    ModelError: MIL25x for the models that are read, MIL4xx for reasons that prevent this build (MIL47x: in the
    description), and the findings in a program that is not text.
    """
    whole = source if isinstance(source, Model) else open_model(source)
    choices = BuildOptions(
        original=original if original is None or isinstance(original, Model) else open_model(original),
        model=model,
        weights=weights,
        externalize=externalize,
        force=force,
        progress=progress,
        expect=expect,
        description=description,
        prune_weights=prune_weights,
        renames=renames,
        ranges=ranges or {},
        no_loss=no_loss,
        on_change=on_change,
        versions=versions,
        allow_unproven=allow_unproven,
        check=check,
    )
    return build_as_chosen(whole, Path(output), choices)


def build_as_chosen(source: Model, output: Path, choices: BuildOptions) -> list[Diagnostic]:
    """Write a model as `build` does, with all that can be chosen."""
    try:
        new = prepare(source, output, choices)
    except ParseError as failure:
        if not is_draft(source, failure):
            refuse_text(source, choices, failure)
            raise
    except ModelError as failure:
        refuse_text(source, choices, failure)
        raise
    else:
        found = judge(new, source, choices) if choices.check else []
        return [*found, *_write(new, source, output, choices)]
    whole, made = completed(source)
    if choices.check:
        judge_draft(made.diagnostics, source, choices)
    with told_in_draft(made, source):
        return [*made.diagnostics, *_write(prepare(whole, output, choices), whole, output, choices)]


def _write(new: NewModel, source: Model, output: Path, choices: BuildOptions) -> list[Diagnostic]:
    """Write a prepared model; return the warnings, for a compiled model with the warnings that a check of it finds."""
    is_judged = choices.check and output.suffix.lower() == COMPILED
    return [*(judge_compiled(new) if is_judged else ()), *write(new, source, output, choices)]


def is_draft(source: Model, failure: ParseError) -> bool:
    """Return whether a source cannot be built because it is a draft, beside any other errors.

    Nothing is read for that while texts are right.
    """
    if source.kind != "mil" or failure.text != source.text:
        return False
    if failure.diagnostics[0].code in OF_DRAFTS:
        return True
    from miltext.checking.drafts import draft_notice
    from miltext.parsing.recovery import recover

    return bool(draft_notice(recover(source.text or "")))


def completed(source: Model) -> tuple[TextModel, WrittenOut]:
    """Return a draft completed to a text, and the completion, with its findings, warnings at most.

    Findings about types and values left out of a draft are not reported: types are inferred, and values are looked for.
    Raise ParseError with all findings of `check`.
    """
    from miltext.checking.ignores import GAPS
    from miltext.checking.verifier import write_out

    draft = source.text or ""
    made = write_out(draft, source.name)
    found = [each for each in made.diagnostics if each.severity == "error" or each.code not in GAPS]
    if made.text is None:
        raise ParseError(found, text=draft, path=source.name)
    whole = TextModel(made.text.encode(), source.name, source.path)
    whole.model_path = source.model_path
    return whole, made._replace(diagnostics=found)


@contextmanager
def told_in_draft(made: WrittenOut, source: Model) -> Iterator[None]:
    """Report errors about the completed text in a `with` block at their places in the draft."""
    try:
        yield
    except MiltextError as failure:
        if failure.text == made.text:
            failure.diagnostics, failure.text = made.told(failure.diagnostics), source.text
        raise
