"""Building: a model from any source, and from a draft as from the text that it is completed to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import prepare, write
from miltext.building.choices import BuildChoices, BuildOptions
from miltext.containers.sources import Source, model_of
from miltext.diagnostics import ModelError, ParseError
from miltext.drafting.judging import judge, judge_contract, judge_draft, refuse_text
from miltext.syntax.keywords import taking

if TYPE_CHECKING:
    import os

    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model


@dataclass(frozen=True)
class _BuildRequest(BuildOptions):
    source: Source
    output: str | os.PathLike[str]
    options: BuildOptions | None = field(default=None, kw_only=True)


@taking(_BuildRequest)
def build(requested: _BuildRequest) -> list[Diagnostic]:
    """Write an `.mlpackage`, `.mlmodel` or `.mlmodelc` with the program of `source`; return its warnings.

    With an original, all else comes from that model: description, metadata, weights. Without one, a whole model as
    source is written as it is, and a compiled model is turned back; a program by itself gets a description made from
    its types. The description follows the features that it describes, and keeps all entries that still fit.

    An `.mlmodelc` is written as Apple's compiler would write it; a warning names its unproven parts. A part that Core
    ML reads and no known output of the compiler shows is refused.

    A draft is completed first, and always checked; findings have places in the draft. An error of the original, or of a
    model written as it is, becomes a warning. A contradiction between a program and its description that the original
    does not have is an error.

    Args:
        source: MIL text, a path, a Program or a Model.
        output: The model to write, when all of it can be.
        original: The source of all that the program does not contain.
        model: The model in the pipeline of the original whose program is replaced.  [the only ML Program]
        weights: A folder, a mapping of files by their names in the program, below `@model_path`, or several of these,
            for weights that the original lacks. A file in a mapping may be a model with one weight file.
        ranges: Sizes by input, `"1,3,64..512,64..512"`, or for each axis a size or the least and greatest one; each `?`
            of an input needs one.
        description: A TOML file, as `miltext.describe` writes it, in place of any other description.
        externalize: The fewest elements of an immediate constant to move into the weight file.
        prune_weights: Whether weight files contain only weights that the model refers to, and equal weights once. A
            note states the number of bytes left out.
        renames: New names by old ones, of the features of all models of a pipeline.
        no_loss: Whether to refuse a build that would lose an entry of the description.
        allow_unproven: Whether an `.mlmodelc` may contain parts that no known output of the compiler shows.
        versions: The stated versions of the compiler.  [those of a compiled model, or the newest known]
        force: Whether to replace a file or folder at `output`.
        check: Whether errors of `miltext.check` in the program prevent the build.
        on_change: A function that gets each changed entry of the description, when all is written.
        progress: A function that gets the number of bytes of each written piece.
        expect: A function that gets, before that, a function that returns their total.
        options: A `BuildOptions`, in place of these keywords.

    Returns:
        The findings of `miltext.check` in the program, and the warnings of the build.

    Raises:
        ParseError: Errors of the text, before any of the model.
        ModelError: MIL25x for the models read, MIL4xx for reasons that prevent this build (MIL444: options for an
            `.mlmodelc` alone, MIL47x: the description), and the findings in a program other than text.
        WeightsError: MIL30x for weights.
        FileExistsError: Something is at `output`.
        OSError: A file cannot be read or written.

    Example:
        warnings = miltext.build("model.mil", "Out.mlpackage", original="Model.mlpackage")
    """
    source, original = model_of(requested.source), None if requested.original is None else model_of(requested.original)
    return build_as_chosen(source, Path(requested.output), BuildChoices.of(requested, original=original))


def build_as_chosen(source: Model, output: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Write a model as `build` does, with these choices."""
    try:
        new = prepare(source, output, choices)
    except ParseError as failure:
        from miltext.drafting.draft import Draft

        draft = Draft.behind(failure, source)
        if draft is None:
            refuse_text(source, choices, failure)
            raise
    except ModelError as failure:
        refuse_text(source, choices, failure)
        raise
    else:
        return [*judge(new, source, output, choices), *write(new, source, output, choices)]
    from miltext.drafting.importing import imports_of  # with all that completes drafts

    whole, found = draft.model, draft.findings
    if choices.check:
        judge_draft(found, source, choices)
    with draft.relocating():
        imports = imports_of(whole, choices)
        new = prepare(whole, output, imports.choices if imports else choices)
        if imports:
            imports.finish(new, output)
        judged = judge_contract(new, whole, output, choices)
        return [*found, *draft.relocated(judged), *write(new, whole, output, choices)]
