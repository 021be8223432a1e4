"""A program to run, from any source: the program, its model and files, and a text to locate findings in."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, located
from miltext.checking.ignores import without_ignored
from miltext.checking.inference.reading import StatedGraph
from miltext.checking.programs import verify
from miltext.checking.verifier import Checked
from miltext.containers.sources import model_of
from miltext.diagnostics import Diagnostic, MiltextError, ParseError, PrintError
from miltext.drafting.programs import draft_behind, names_arrays, with_stored_arrays
from miltext.parsing.parser import parse, parse_tree
from miltext.schema.wire import wire_of
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from miltext.containers.sources import Source
    from miltext.drafting.draft import Draft
    from miltext.evaluation.values import Constants
    from miltext.models.model import Model
    from miltext.schema import proto

ELIDE = 64
"""The greatest number of elements of a literal in a text printed only to locate a finding."""


@dataclass
class Subject:
    """A program to run.

    `folder` is the folder of `@model_path`, and `model` the source of the program. `draft` is the text of the program,
    where the model's text is a draft or names arrays. `keeps` is an object that must live as long as the subject.
    `constants` reads the constants, if it is not the reader of files in the folder.
    """

    program: proto.Program
    folder: Path | None
    model: Model | None = None
    draft: Draft | None = None
    keeps: object = None
    constants: Constants | None = None

    @property
    def name(self) -> str | None:
        """The name of the program in errors."""
        return self.model.name if self.model else None

    @property
    def description(self) -> proto.ModelDescription | None:
        """The description in its model."""
        return self.model.description if self.model else None

    @cached_property
    def graph(self) -> StatedGraph:
        """The graph of the program."""
        return StatedGraph(self.program)

    @with_room
    def errors(self) -> list[Finding]:
        """Return the errors that `check` finds in the program; errors of a draft were reported when it was
        completed.
        """
        if self.draft is not None:
            return []
        with gc_paused:
            return [finding for finding in verify(self.graph) if finding.severity == "error"]

    def refuse(self, findings: Collection[Finding]) -> None:
        """Raise MiltextError with the findings that no comment in the text ignores, if any."""
        if not findings:
            return
        reported, text = self.located(findings)
        if text is not None and text == self._text:
            reported = [each for each in without_ignored(text, reported) if each.severity == "error"]
        if reported:
            raise MiltextError(reported, text=text, path=self.name)

    def located(self, findings: Collection[Finding]) -> Checked:
        """Return diagnostics of findings, with the text that their spans point into.

        It is the program's draft or text, else the output of `print`.
        """
        try:
            root = parse_tree(self._printed, whole=True).root
        except PrintError:  # then there is no text of it
            return Checked([Diagnostic(each.severity, each.code, each.message) for each in findings], None)
        reported = located(findings, root)
        if self.draft is None or self.model is None:
            return Checked(reported, self._printed)
        return Checked(self.draft.relocated(reported), self.model.text)

    @cached_property
    def _text(self) -> str | None:
        """The program's text, if it was read from any, and still matches it."""
        if self.draft is not None:
            return self.draft.whole
        text = self.model.text if self.model else None
        return text if text is None or wire_of(parse(text)) == wire_of(self.program) else None

    @cached_property
    def _printed(self) -> str:
        from miltext.printing.printing import to_text

        return self._text if self._text is not None else to_text(self.program, elide=ELIDE)


def opened(subject: Source | Subject, weights: str | os.PathLike[str] | None = None) -> Subject:
    """Return the subject to run, from any source.

    The weight files that a text names are in the folder `weights`, or in the model's own. The arrays that a text names
    are beside it, the arrays of a string in that folder or the working folder. Raise ParseError for a text, and
    ModelError, as `load` and `build` do; TypeError for any other argument.
    """
    folder = None if weights is None else Path(weights)
    if isinstance(subject, Subject):
        return subject
    model = model_of(subject, folder)
    if model is subject or isinstance(subject, str | os.PathLike):
        chosen = model.select(None)
        _ = chosen.text  # raises the error of a bundle without its text
        return _of_model(chosen, folder)
    return Subject(model.program, folder)


def _of_model(model: Model, folder: Path | None) -> Subject:
    """Return the Subject of a model. The arrays that its text names are stored in a weight file, which exists as long
    as the Subject.
    """
    try:
        return Subject(model.program, folder or model.model_path, model)
    except ParseError as failure:
        draft = draft_behind(failure, model)
    whole = draft.model
    with draft.relocating():
        if not names_arrays(whole):
            return Subject(whole.program, folder or model.model_path, model, draft)
        stored = with_stored_arrays(whole, folder)
    return Subject(stored.program, stored.model_path, model, draft, keeps=stored)
