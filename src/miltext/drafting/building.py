"""Building: a model from any source, and from a draft as from the text that it is completed to."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import prepare, write
from miltext.building.choices import BuildChoices, BuildOptions
from miltext.containers.sources import Source, model_of
from miltext.diagnostics import ModelError, ParseError
from miltext.drafting.importing import imports_of
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
