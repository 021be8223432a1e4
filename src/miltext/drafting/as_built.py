"""The model that a build of a text with its original would write, for the findings of `check --from`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from miltext.building.build import assemble
from miltext.building.choices import BuildChoices
from miltext.checking.contract.whole import contract_findings
from miltext.checking.findings import in_order
from miltext.checking.programs import as_diagnostics
from miltext.checking.unsaved import unsaved
from miltext.checking.verifier import errors_in
from miltext.diagnostics import MiltextError, ParseError, codes
from miltext.drafting.draft import Draft
from miltext.files.writing import WITH_DESCRIPTION

if TYPE_CHECKING:
    from miltext.checking.findings import Finding
    from miltext.containers.spec import SpecModel
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model


@dataclass
class AsBuilt:
    """The model that `build` would write of a text: `whole`, in memory, with the text's program at `place`.

    `described` are the contradictions between that program and its description, at places of the program. For a draft,
    they are `of_draft`, at places of its text. `whole` is None for a text whose errors prevent a build, and where the
    build is `refused` for another error.
    """

    text: str | None
    whole: SpecModel | None = None
    place: str = ""
    described: Sequence[Finding] = ()
    of_draft: list[Diagnostic] = field(default_factory=list)
    refused: MiltextError | None = None

    def added(self, found: list[Diagnostic]) -> list[Diagnostic]:
        """Return the findings in a text, and those of its build: the contradictions in a draft, or the build's refusal.

        Omit the refusal of a text with errors, which are its reason.
        """
        if self.refused is None or errors_in(found):
            return in_order([*found, *self.of_draft])
        has_places = self.refused.text is not None and self.refused.text == self.text
        return in_order(
            [*found, *(each if has_places else each._replace(span=None) for each in self.refused.diagnostics)]
        )


def as_built(source: Model, original: Model, model: str | int | None = None) -> AsBuilt | None:
    """Return the model that `build` would write of a text and an original, without writing it.

    `model` names the model of the original's pipeline. The result is None if the original is only a program.
    """
    if original.kind not in WITH_DESCRIPTION:
        return None
    try:
        return _built(source, original, model)
    except ParseError:  # which `check` reports
        return AsBuilt(source.text)
    except MiltextError as failure:
        return AsBuilt(source.text, refused=failure)


def _built(source: Model, original: Model, model: str | int | None) -> AsBuilt:
    chosen = original.select_only(model)
    choices = BuildChoices(original=original, model=model, check=False)
    draft = None
    try:
        new = assemble(source, choices)
    except ParseError as failure:
        draft = Draft.behind(failure, source)
        if draft is None:
            raise
        with draft.relocating():
            new = assemble(draft.model, choices)
    place = next(stage.place for stage in original.programs() if stage.model is chosen)
    whole = unsaved(new, original)
    described = [*contract_findings(whole.select(place))]
    if draft is None:
        return AsBuilt(source.text, whole, place, described)
    found = [each for each in as_diagnostics(described, draft.whole) if each.code != codes.USELESS_IGNORE]
    return AsBuilt(source.text, whole, place, of_draft=draft.relocated(found))
