"""Judging a model before it is written: the findings of `check` in its programs, compared with the original's.

The original's findings are not the author's doing: its errors become warnings, and its warnings are not repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from miltext.building.build import COMPILED
from miltext.building.new_model import models_with_programs, way_to
from miltext.checking.programs import as_diagnostics, findings_in
from miltext.diagnostics import MiltextError, ModelError, Note, ParseError, PrintError, codes, line_and_column, warning
from miltext.files.contents import parse_text
from miltext.files.writing import WITH_DESCRIPTION
from miltext.printing.printing import to_text
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from pathlib import Path

    from miltext.building.choices import BuildChoices
    from miltext.building.new_model import NewModel
    from miltext.checking.findings import Finding
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.schema.proto import Program

UNKNOWN = (codes.UNKNOWN_OPERATION, codes.UNKNOWN_OPSET)
"""The codes of warnings about unknown parts, which may be right elsewhere, but which coremltools does not open."""

MISSING_NAMES = (codes.UNDEFINED_VALUE, codes.USE_BEFORE_DEFINITION, codes.VALUE_OF_OTHER_BLOCK)
"""The codes of undefined names: each use is compared with the original's, but each name is reported once."""

KNOWN = "known"
"""The severity of a warning that the original has, too, until ignored ones are taken out; it is not reported."""

WAY_OUT = Note("nothing is written; fix it, or write the model with --no-check, in Python check=False")

COMPILED_SO = Note("it is compiled so; --description describes the model anew")
"""The note on a description that does not fit the program of a compiled model."""


class Written(NamedTuple):
    """A program to be written, its `model`, and the name of that in errors.

    `before` returns the earlier program, None if there was none. A program that `is_edited` is not the program of the
    model's text.
    """

    program: Program
    model: Model
    name: str
    before: Callable[[], Program | None]
    is_edited: bool


def judge(new: NewModel, source: Model, output: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Return the findings of `check` in the programs of a model prepared from `source`, which are warnings.

    The result is empty if the choices disable the check. Spans point into the text of the source, if it has one. Raise
    ParseError or ModelError, with all findings in a program, for errors that its original does not have.
    """
    reported: list[Diagnostic] = []
    for written in _written(new, source, choices) if choices.check else ():
        findings = _once(_beside_original(_findings(written.program, written.model.text), written))
        text = _text_of(written, is_needed=bool(findings))
        found = [each for each in as_diagnostics(findings, text) if each.severity != KNOWN]
        if _errors(found):
            refused = ParseError if text is not None and text == source.text else ModelError
            raise refused(_with_way_out(found), text=text, path=written.name)
        reported += found if text == source.text else [_unplaced(each, text, written.name) for each in found]
    return [*reported, *judge_compiled(new, output, choices)]


def judge_compiled(new: NewModel, output: Path, choices: BuildChoices) -> Iterator[Diagnostic]:
    """Yield warnings of descriptions that do not fit the programs of a model, if it is to be compiled and checked.

    `check` reports the same about the compiled model. The behaviour of Core ML on such a model is unknown.
    """
    if not choices.check or output.suffix.lower() != COMPILED:
        return
    from miltext.checking.contract.interface import interface_findings

    for index, spec in enumerate(models_with_programs(new.spec)):
        where = f"the model {index}: " if new.spec is not spec else ""
        for found in interface_findings(spec.mlProgram, spec.specificationVersion, spec.description):
            if found.severity != "note":
                yield warning(found.code, f"{where}{found.message}", None, COMPILED_SO)


def refuse_text(source: Model, choices: BuildChoices, failure: MiltextError) -> None:
    """Refuse a text without an original for the findings of `check`, after another failure prevented a build.

    Errors of a text come before errors of a model. Raise ParseError with all findings, unless the first error is the
    failure.
    """
    if not choices.check or choices.original is not None or source.kind != "mil":
        return
    from miltext.checking.verifier import examine

    found = examine(source).diagnostics
    errors = _errors(found)
    if errors and not _is_same(found[errors[0]], failure.diagnostics[0]):
        raise ParseError(found, text=source.text, path=source.name) from failure


def _is_same(found: Diagnostic, raised: Diagnostic) -> bool:
    """Return whether two errors are the same; `raised` may have a closer place."""
    if found.span is None or raised.span is None:
        return (found.code, found.span) == (raised.code, raised.span)
    return found.code == raised.code and found.span.start <= raised.span.start and raised.span.end <= found.span.end


def judge_draft(found: list[Diagnostic], source: Model, choices: BuildChoices) -> None:
    """Refuse a draft without errors for UNKNOWN parts of it that its original does not have.

    Raise ParseError with all findings.
    """
    unknown = [each for each in found if each.code in UNKNOWN]
    original = choices.original.select_only(choices.model).program if unknown and choices.original else None
    known = Counter(each.message for each in (findings_in(original) if original is not None else ()))
    new = [each for each in unknown if not _is_taken(known, each.message)]
    if new:
        reported = [each._replace(severity="error") if each in new else each for each in found]
        raise ParseError(_with_way_out(reported), text=source.text, path=source.name)


def _is_taken(counts: Counter[str], message: str) -> bool:
    """Remove one use of a message from the counts, and return whether there was one."""
    counts[message] -= 1
    return counts[message] >= 0


def _errors(found: list[Diagnostic]) -> list[int]:
    return [nth for nth, each in enumerate(found) if each.severity == "error"]


def _with_way_out(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return findings with the way out added to the last error."""
    last = _errors(found)[-1]
    found[last] = found[last]._replace(notes=(*found[last].notes, WAY_OUT))
    return found


def _written(new: NewModel, source: Model, choices: BuildChoices) -> Iterator[Written]:
    """Yield the programs to judge: the new program of an original, or all programs of a model written as it is."""
    original, is_edited = choices.original, choices.edit is not None
    if original is not None and (original is not source or is_edited):
        chosen = original.select_only(choices.model)
        program = way_to(chosen, original, new.spec)[-1].mlProgram
        yield Written(program, source, source.name, lambda: chosen.program, is_edited)
    elif source.kind not in WITH_DESCRIPTION:
        yield Written(new.spec.mlProgram, source, source.name, lambda: None, is_edited)
    else:
        for stage in source.programs():
            yield Written(stage.model.program, stage.model, stage.name, partial(_as_read, source, stage.place), False)


def _as_read(source: Model, place: str) -> Program | None:
    """Return a program of a model as it was before any change in memory; an unreadable model was not changed."""
    with suppress(MiltextError, OSError):
        if source.reopen is not None:
            return source.reopen().select(place).program
    return source.select(place).program


def _findings(program: Program, text: str | None = None) -> list[Finding]:
    """Return the findings in a program, with UNKNOWN parts as errors."""
    found = findings_in(program, text, each_use=True, undescribed="error")
    return [each._replace(severity="error") if each.code in UNKNOWN else each for each in found]


def _beside_original(findings: list[Finding], written: Written) -> list[Finding]:
    """Return the findings, with the original's warnings as KNOWN, and the original's errors as warnings.

    Two findings of a code and severity are the same if their messages are equal, at best at the same place, otherwise
    if their places are.
    """
    before = written.before() if findings else None
    if before is None:
        return findings
    known = _findings(before)
    same: set[int] = set()
    for key in (_both, _said, _placed):
        same |= _paired(findings, known, key, same)
    return [_of_original(each) if nth in same else each for nth, each in enumerate(findings)]


def _once(findings: list[Finding]) -> list[Finding]:
    """Return the findings with one for each undefined name in a function, of each severity."""
    reported: dict[Hashable, Finding] = {}
    for nth, each in enumerate(findings):
        is_use = each.code in MISSING_NAMES
        reported.setdefault((each.path[:4], each.code, each.severity, each.message) if is_use else nth, each)
    return [*reported.values()]


def _both(finding: Finding) -> Hashable:
    return finding.code, finding.severity, finding.message, finding.path


def _said(finding: Finding) -> Hashable:
    return finding.code, finding.severity, finding.message


def _placed(finding: Finding) -> Hashable:
    return finding.code, finding.severity, finding.path


def _paired(
    findings: list[Finding], known: list[Finding], key: Callable[[Finding], Hashable], same: set[int]
) -> set[int]:
    """Return the indices of further findings paired with a `known` one, which is removed from them."""
    left: dict[Hashable, list[Finding]] = {}
    for each in known:
        left.setdefault(key(each), []).append(each)
    found: set[int] = set()
    for nth, each in enumerate(findings):
        if nth not in same and left.get(key(each)):
            known.remove(left[key(each)].pop())
            found.add(nth)
    return found


def _of_original(finding: Finding) -> Finding:
    if finding.severity != "error":
        return finding._replace(severity=KNOWN)
    return finding._replace(severity="warning", message=f"{finding.message}; the original has this error, too")


def _text_of(written: Written, *, is_needed: bool) -> str | None:
    """Return the text of a program, for places in it: the model's own, unless the program was changed since."""
    model, text = written.model, written.model.text
    if text is not None and "program" not in vars(model) and not written.is_edited:
        return text
    if not is_needed:
        return None
    if text is not None and not written.is_edited and wire_of(parse_text(text, model.name)) == wire_of(written.program):
        return text
    with suppress(PrintError):  # then there are no places
        return to_text(written.program)
    return None


def _unplaced(found: Diagnostic, text: str | None, name: str) -> Diagnostic:
    """Return a diagnostic of a text other than the source, with its place in a note."""
    notes = tuple(Note(note.message) for note in found.notes)
    if found.span is not None and text is not None:
        line, column = line_and_column(text, found.span.start)
        notes = (Note(f"at {name}:{line}:{column}, as `miltext check` shows"), *notes)
    return found._replace(span=None, notes=notes)
