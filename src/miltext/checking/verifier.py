"""The verifier: all errors and warnings of a text, a Program or a model, and their places."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.arrays import Arrays
from miltext.checking.draft_types import dtype_in_draft
from miltext.checking.drafts import draft_notice, draft_types, marker_words
from miltext.checking.dumps import dump_findings
from miltext.checking.findings import apart_from, elsewhere, in_order, located
from miltext.checking.further import further_findings
from miltext.checking.ignores import without_ignored
from miltext.checking.left_out import program_of
from miltext.checking.loading import loader_findings
from miltext.checking.programs import verify
from miltext.diagnostics import Note, ParseError, PrintError, codes
from miltext.diagnostics.selection import keeps_from_reading, noted
from miltext.dumps.recognition import is_dump
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.model import Model
from miltext.parsing.parser import attempt
from miltext.parsing.recovery import recover
from miltext.parsing.rule_texts import has_rules, no_program
from miltext.schema.proto import Program
from miltext.schema.refused import CODES
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import dialect_of
from miltext.syntax.names import IMPORT
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from miltext.checking.baked import Baked
    from miltext.checking.draft_types import DraftTypes
    from miltext.checking.findings import Finding
    from miltext.checking.further import Further
    from miltext.checking.imports import Imports
    from miltext.diagnostics import Diagnostic
    from miltext.parsing.recovery import Recovered
    from miltext.schema.paths import Path as Place
    from miltext.schema.proto import Message


class Checked(NamedTuple):
    """The findings of a check, and the text that the spans point into: None without findings."""

    diagnostics: list[Diagnostic]
    text: str | None


class CheckedText(NamedTuple):
    """The findings in a text; for a broken text or a draft, also its readable part, and its omitted types.

    The `stopping` are the errors that prevent an omitted type from being inferred.
    """

    diagnostics: list[Diagnostic]
    read: Recovered | None = None
    types: DraftTypes | None = None
    stopping: Sequence[Diagnostic] = ()

    def reported(self, text: str) -> list[Diagnostic]:
        """Return the findings that no comment of the text ignores.

        Errors that stop inference are reported nevertheless, with a note.
        """
        left = without_ignored(text, self.diagnostics)
        if self.types is None or not self.types.open:
            return left
        kept = [each for each in self.stopping if each not in left]
        if not errors_in([*left, *kept]):
            kept = [each for each in errors_in(self.diagnostics) if each not in left]
        stopping = self.stopping or errors_in(self.diagnostics)
        stated = [each._replace(stops=each in stopping and not keeps_from_reading(each)) for each in left]
        return in_order([*stated, *(noted(each._replace(stops=True)) for each in kept)])


def found_in(subject: str | Message | Model, path: str | None = None, also: Further | None = None) -> list[Diagnostic]:
    """Return the findings of `check` and of a further check in a text, a Program or a model."""
    if isinstance(subject, Model) and subject.is_pipeline:
        return _in_pipeline(subject, also)
    if isinstance(subject, Model):
        from miltext.checking.unsaved import as_saved

        subject = as_saved(subject)
    return [*_around(subject), *examine(subject, folder=folder_of(path), also=also).diagnostics]


def _in_pipeline(whole: Model, also: Further | None) -> list[Diagnostic]:
    """Return the findings in the files of a pipeline, and of the models in it."""
    from miltext.checking.contract.whole import bundle_files

    found = _around(whole)
    for stage in whole.select_all():
        checked = examine(stage.model, also=also)
        files = bundle_files(stage.model) if stage.place else []
        found += [each._replace(span=None) for file in files for each in file.diagnostics]
        found += [elsewhere(each, checked.text, stage.name) for each in checked.diagnostics]
    return found


def folder_of(path: str | None) -> Path | None:
    """Return the folder of the text at a path; for standard input, called `<stdin>`, the working folder."""
    from pathlib import Path

    return None if path is None else Path(path).parent


def beside(text: str, folder: Path | None) -> Arrays:
    """Return the arrays and the imports of a text in a folder, None for a text without one."""
    if IMPORT not in text:
        return Arrays(folder)
    from miltext.checking.imports import Imports  # opens models

    return Arrays(folder, Imports(folder, _read_import) if folder is not None else None, has_imports=True)


def _read_import(text: str, path: str, imports: Imports) -> Program:
    """Return the Program of an imported text at a path, with its types. Raise ParseError for a wrong text."""
    arrays = Arrays(folder_of(path), imports, has_imports=IMPORT in text)
    checked = _check_text(text, arrays=arrays)
    if found := errors_in(checked.reported(text)):
        raise ParseError(found, text=text, path=path)
    program = checked.read.program if checked.read is not None else attempt(text) or program_of(text, ())[0]
    assert program is not None  # or it would have an error
    return program


@with_room
def check_text(
    text: str,
    path: str | None = None,
    *,
    keep: bool = True,
    model: Model | None = None,
    also: Further | None = None,
) -> CheckedText:
    """Return all errors and warnings of MIL text, as `check` does, and the reading of the text.

    Without `keep`, the reading has no tree of a draft, and there are no warnings about a model of it. A text of a
    compiled `model` must match its description. `also` is a further check.
    """
    undescribed = "error" if model is not None else "warning" if path and keep else ""
    with gc_paused:
        said = _contract(model) if model is not None else []
        folder = folder_of(path)
        checked = _check_text(text, said, folder, (), _compiled(model), also, keep=keep, undescribed=undescribed)
    return checked._replace(diagnostics=checked.reported(text))


def errors_in(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the errors of some diagnostics."""
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]


@with_room
def examine(
    subject: str | Message | Model,
    *,
    with_coremltools: bool = False,
    originals: Sequence[Program] = (),
    folder: Path | None = None,
    described: Sequence[Finding] | None = None,
    also: Further | None = None,
) -> Checked:
    """Return the findings of `check`, with the text that they refer to; for a model, on request, also coremltools'
    findings.

    For a compiled model, these are the findings in its text. Omitted values of a text come from the `originals`. Array
    files of a text are in `folder`. `described` are the contradictions between a text and the description of the model
    that a build would write of it. `also` is a further check. Raise ModelError as `check` does, and MIL480 if
    coremltools is missing.
    """
    said: list[Finding] = []
    text_or_program: str | Message
    if isinstance(subject, Model):
        said = _contract(subject)
        with suppress(ParseError):
            said += loader_findings(subject) if with_coremltools else ()
        text_or_program = subject.program if subject.text is None else subject.text
    else:
        text_or_program = subject
    said += described or ()
    undescribed = "" if not isinstance(subject, Model) else "error" if subject.kind in WITH_DESCRIPTION else "warning"
    if described is not None:
        undescribed = "error"
    with gc_paused:
        if isinstance(text_or_program, str):
            if isinstance(subject, Model):
                folder = subject.model_path or folder_of(subject.name)
            known = _compiled(subject)
            checked = _check_text(text_or_program, said, folder, originals, known, also, undescribed=undescribed)
            return Checked(checked.reported(text_or_program), text_or_program)
        weights = subject.model_path if isinstance(subject, Model) else None
        return _check_program(text_or_program, said, undescribed, also, weights)


def _contract(model: Model) -> list[Finding]:
    """Return the contradictions between a program and its description: none in a text that does not parse."""
    from miltext.checking.contract.whole import contract_findings

    with suppress(ParseError):
        return [*contract_findings(model)]
    return []


def _around(subject: object) -> list[Diagnostic]:
    """Return the findings in the files around the programs of a model, without places."""
    if not isinstance(subject, Model):
        return []
    from miltext.checking.contract.whole import whole_findings

    return [found._replace(span=None) for file in whole_findings(subject) for found in file.diagnostics]


def _compiled(subject: object) -> Program | None:
    """Return the cached Program of a compiled model; None for an invalid one, and for other subjects."""
    with suppress(ParseError):
        return subject.program if isinstance(subject, Model) and subject.is_compiled else None
    return None


def _check_text(
    text: str,
    said: Sequence[Finding] = (),
    folder: Path | None = None,
    originals: Sequence[Program] = (),
    known: Program | None = None,
    also: Further | None = None,
    *,
    keep: bool = False,
    undescribed: str = "",
    arrays: Arrays | None = None,
) -> CheckedText:
    """Return the findings about a text, and the findings of others (`said`) about its Program, which may be `known`.

    With `keep`, the tree of a draft is kept as `recover` does. `undescribed` is as in `refused_findings`. The `arrays`
    are those beside the text in its folder.
    """
    if is_dump(text):
        return CheckedText(dump_findings(text, also=also, folder=folder))
    omitted: list[Diagnostic] = []
    arrays = arrays or beside(text, folder)
    program = known or attempt(text)
    if program is None:
        program, omitted = program_of(text, originals)
    if program is None:
        broken = _check_broken(text, arrays, undescribed, also, keep=keep)
        if broken.read and broken.types and omitted and originals and not errors_in(broken.diagnostics):
            whole = broken.types.written()
            omitted = broken.read.relocated(whole.relocated(program_of(whole.text, originals)[1]))
        return broken._replace(diagnostics=in_order([*omitted, *broken.diagnostics]))
    findings = verify(program, dialect_of(text), arrays=arrays, undescribed=undescribed)
    found = located([*findings, *said, *further_findings(also, program, folder)], text)
    return CheckedText(in_order([*omitted, *found]))


def _check_broken(text: str, arrays: Arrays, undescribed: str, also: Further | None, *, keep: bool) -> CheckedText:
    """Return the findings about a text that does not parse, or is a draft."""
    read = recover(text, keep=keep)
    if has_rules(read):
        return CheckedText([no_program(read)], read)
    return check_read(read, draft_types(read, arrays), arrays, undescribed=undescribed, also=also)


def check_read(
    read: Recovered,
    types: DraftTypes,
    arrays: Arrays,
    baked: Baked | None = None,
    undescribed: str = "",
    also: Further | None = None,
) -> CheckedText:
    """Return the findings, also of a further check, about the readable part of a text with inferred types."""
    is_draft = bool(read.drafts or read.elaborated)
    own = map(dtype_in_draft, read.diagnostics) if is_draft else read.diagnostics
    found = [*draft_notice(read), *own, *types.diagnostics]
    stopping: list[Diagnostic] = []
    if read.program is not None and read.root is not None:
        faulty: set[Place] = set()
        whole = verify(read.program, dialect_of(read.text), faulty, arrays, undescribed=undescribed)
        whole = apart_from(whole, read.flawed)
        if errors_in(read.diagnostics):  # the read part is not yet the program for Core ML
            whole = [finding for finding in whole if finding.code not in CODES]
        names = [finding for finding in whole if finding.path[-1:] == ("key",)]  # these are there without their values
        verified = [*dict.fromkeys([*apart_from(whole, types.missing), *names])]
        joined = types.joined(verified, faulty)
        joined = [*map(baked.with_constants, joined)] if baked else joined
        joined += apart_from(further_findings(also, read.program, arrays.folder), read.flawed)
        found += located(joined, read.root)
        stopping = located(types.stopping(joined), read.root)
    if "defaults" in marker_words(read.root):
        found = without_defaults(found)
    return CheckedText(read.relocated(found), read, types, read.relocated(stopping))


def without_defaults(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings in a text without those about omitted defaults, which `infer` writes out."""
    return [each for each in found if each.code != codes.REQUIRED_DEFAULT]


def _check_program(
    program: Message, said: list[Finding], undescribed: str, also: Further | None, weights: Path | None
) -> Checked:
    """Return the findings about a Program, and the findings of others (`said`) about it, with its printed text."""
    from miltext.printing.printing import to_text

    try:
        own = own_copy(program)
        findings = [*verify(own, undescribed=undescribed), *said, *further_findings(also, own, weights)]
        if not findings:
            return Checked([], None)
        text = to_text(program)
    except PrintError as failure:
        if failure.diagnostics[0].code == codes.UNKNOWN_FIELD:
            known = _known_part(program)
            return _with_note(_check_program(known, said, undescribed, also, weights), failure.diagnostics[0])
        return Checked(failure.diagnostics, None)
    return Checked(located(findings, text), text)


_REST_CHECKED = Note("the rest of the program was checked; verbs that print or build it refuse it")


def _known_part(program: Message) -> Program:
    """Return a Program without its fields that the schema lacks."""
    known = Program.FromString(program.SerializeToString())  # a class of a newer schema knows the fields
    known.DiscardUnknownFields()
    return known


def _with_note(checked: Checked, unknown: Diagnostic) -> Checked:
    """Return the findings about a Program apart from its unknown fields, which are a note."""
    note = unknown._replace(severity="note", notes=(_REST_CHECKED,))
    return checked._replace(diagnostics=[note, *checked.diagnostics])
