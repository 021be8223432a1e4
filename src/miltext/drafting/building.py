"""Building: a model from any source, and from a draft as from the text that it is completed to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError, ModelError, ParseError
from miltext.drafting.judging import judge, judge_compiled, judge_draft, refuse_text
from miltext.models.building.build import COMPILED, prepare, write
from miltext.models.building.choices import Choices
from miltext.models.model import Model
from miltext.models.opening import open_model
from miltext.models.programs import TextModel
from miltext.parsing.parser import OF_DRAFTS

if TYPE_CHECKING:
    import os

    from miltext.checking.verifier import WrittenOut
    from miltext.diagnostics import Diagnostic
    from miltext.models.building.changes import DescriptionChange
    from miltext.models.building.choices import Expect
    from miltext.models.building.given_weights import GivenWeights
    from miltext.models.building.new_model import NewModel
    from miltext.models.building.ranges import Range
    from miltext.models.files import Progress
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

    Both it and `original` are models, or paths of such. With `original`, all else is that model's: description,
    metadata, weights; `model` says which one of its pipeline the program takes the place of. Without it, a `source`
    that is a whole model is written as it is, a compiled one turned back, and for a program by itself the description
    is made from its types, and its weights are in the folder that it stands in, unless they are given. `weights` gives
    a folder, a mapping of files by the names that the program has for them, below `@model_path`, or several of these:
    what the original lacks is taken from there. A file in such a mapping may be a model that has one weight file.
    Immediate constants of `externalize` elements or more are moved into the weight file. With `prune_weights`, weight
    files have only what the model refers to, and of equal weights one; a note among the warnings says how much that
    leaves out. A file or folder at `output` is replaced only if `force`, and only when all is written. `progress` is
    called with the bytes of each piece that is written, and before that `expect` with what returns how many there will
    be. `renames` has new names of the model's features by their old ones, which are changed through all models of a
    pipeline.

    `description` is a file in TOML, as `miltext.describe` gives it, whose description takes the place of any other: it
    must fit the program. `ranges` has sizes of inputs, by name: `"1,3,64..512,64..512"`, or for each axis a size or the
    least and greatest one; each `?` of an input needs one. The description stays with what it describes, and keeps what
    still fits: with `no_loss`, a build in which it would say less is refused, and `on_change` is called with each of
    its entries that changed, when all is written.

    An `.mlmodelc` is what Apple's compiler would write; a warning says what of it is unproven. What Core ML reads there
    and no known output of the compiler shows is refused, unless `allow_unproven`; `versions` are the compiler's that it
    states, by default those that a compiled model states already, or the newest known. Both are for an `.mlmodelc`
    alone (MIL444).

    What `miltext.check` finds in the program comes before the warnings, and errors are raised before anything is
    written, of a text before any of the model's; without `check`, nothing looks for them. An error that the original
    has already, or the model that is written as it is, is a warning, and its warnings are left out. A draft is
    completed first, and always checked; what is found has places in it.

    Raise ParseError for the text, FileExistsError and OSError for the files, WeightsError (MIL30x) for weights, and
    ModelError: MIL25x for the models that are read, MIL4xx for what keeps this one from being built, of which MIL47x
    stand in the description, and what is found in a program that is not text.
    """
    whole = source if isinstance(source, Model) else open_model(source)
    choices = Choices(
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


def build_as_chosen(source: Model, output: Path, choices: Choices) -> list[Diagnostic]:
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


def _write(new: NewModel, source: Model, output: Path, choices: Choices) -> list[Diagnostic]:
    """Write a model that was prepared; return the warnings there are, of a compiled one also those that it gets."""
    is_judged = choices.check and output.suffix.lower() == COMPILED
    return [*(judge_compiled(new) if is_judged else ()), *write(new, source, output, choices)]


def is_draft(source: Model, failure: ParseError) -> bool:
    """Tell whether it is for being a draft that a source cannot be built, whatever else may be wrong with it.

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
    """Return a draft as the text that it is completed to, and how; with what was found in it, warnings at most.

    That it is a draft, and leaves out values, is not told: types are inferred, and values are looked for. Raise
    ParseError with all that `check` finds.
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
    """Have whatever is found wrong with the completed text in a `with` block be told at its place in the draft."""
    try:
        yield
    except MiltextError as failure:
        if failure.text == made.text:
            failure.diagnostics, failure.text = made.told(failure.diagnostics), source.text
        raise
