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

    `source` and `original` are MIL text, a path, a Program or a Model. With `original`, all else comes from that model:
    description, metadata, weights; `model` names the model of its pipeline whose program is replaced, by default the
    only ML Program. Without an original, a `source` that is a whole model is written as it is, and a compiled model is
    turned back. A program by itself gets a description made from its types; its weights are in its own folder, unless
    they are given. `weights` is a folder, a mapping of files by their names in the program, below `@model_path`, or
    several of these; they provide the weights that the original lacks. A file in such a mapping may be a model with one
    weight file. Immediate constants of `externalize` elements or more are moved into the weight file. With
    `prune_weights`, weight files contain only weights that the model refers to, and equal weights once; a note among
    the warnings states the number of bytes left out. A file or folder at `output` is replaced only if `force`, and only
    when all is written. `progress` is called with the bytes of each written piece, and before that `expect` with a
    function that returns their total. `renames` maps old names of the model's features to new names, which all models
    of a pipeline get.

    `description` is a TOML file, as `miltext.describe` writes it. It replaces any other description, and must fit the
    program. `ranges` maps inputs to sizes: `"1,3,64..512,64..512"`, or for each axis a size or the least and greatest
    one; each `?` of an input needs one. The description follows the features that it describes, and keeps all entries
    that still fit: with `no_loss`, a build that would lose an entry is refused, and `on_change` is called with each of
    its entries that changed, when all is written.

    An `.mlmodelc` is written as Apple's compiler would write it; a warning names its unproven parts. A part that Core
    ML reads and no known output of the compiler shows is refused, unless `allow_unproven`; `versions` are the stated
    versions of the compiler, by default the versions that a compiled model states already, or the newest known. Both
    are for an `.mlmodelc` alone (MIL444).

    The findings of `miltext.check` in the program come before the warnings, and errors are raised before anything is
    written, errors of a text before those of the model; without `check`, the program is not checked. An error of the
    original, or of a model written as it is, becomes a warning, and its warnings are left out. A contradiction between
    a program and its description that the original does not have is an error. A draft is completed first, and always
    checked; findings have places in the draft.

    Raise ParseError for the text, FileExistsError and OSError for the files, WeightsError (MIL30x) for weights, and
    ModelError: MIL25x for the models that are read, MIL4xx for reasons that prevent this build (MIL47x: in the
    description), and the findings in a program that is not text.
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
    whole, found = draft.model, draft.findings
    if choices.check:
        judge_draft(found, source, choices)
    with draft.relocating():
        new = prepare(whole, output, choices)
        judged = judge_contract(new, whole, output, choices)
        return [*found, *draft.relocated(judged), *write(new, whole, output, choices)]
