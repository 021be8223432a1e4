"""Judging a model before it is written: the findings of `check`, compared with the original's.

The original's findings are not the author's doing: its errors become warnings, and its warnings are not repeated. A
contradiction between a program and its description that the original does not have is an error, even if `check` only
warns of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.building.build import COMPILED
from miltext.building.new_model import models_with_programs
from miltext.checking.contract.whole import contract_findings
from miltext.checking.findings import Remark, described_fact
from miltext.checking.programs import as_diagnostics, findings_in
from miltext.containers.spec import SpecModel
from miltext.diagnostics import MiltextError, ModelError, Note, ParseError, PrintError, codes, line_and_column
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
    from miltext.schema.proto import Model as Spec
    from miltext.schema.proto import Program

UNKNOWN = (codes.UNKNOWN_OPERATION, codes.UNKNOWN_OPSET)
"""The codes of warnings about unknown parts, which may be right elsewhere, but which coremltools does not open."""

MISSING_NAMES = (codes.UNDEFINED_VALUE, codes.USE_BEFORE_DEFINITION, codes.VALUE_OF_OTHER_BLOCK)
"""The codes of undefined names: each use is compared with the original's, but each name is reported once."""

KNOWN = "known"
"""The severity of a warning that the original has, too, until ignored ones are taken out; it is not reported."""

WAY_OUT = Note("nothing is written; fix it, or write the model with `check=False`")

COMPILED_SO = "it is compiled so; `description=` describes the model anew"
"""The note on a description that does not fit the program of a compiled model."""


class Written(NamedTuple):
    """An ML Program to be written, in its `spec`, the `model` with its text, and the name of the text in errors.

    `before` returns the earlier models, several for a linked one. A program that `is_edited` is not the program of the
    model's text; a program that `is_kept` is the earlier model's, whose description may have changed.
    """

    spec: Spec
    program: Program
    model: Model
    name: str
    before: Callable[[], Sequence[Model]]
    is_edited: bool = False
    is_kept: bool = False


def judge(new: NewModel, source: Model, output: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Return the findings of `check` in a model prepared from `source`, which are warnings.

    The result is empty if the choices disable the check. Spans point into the text of the source, if it has one. Raise
    ParseError or ModelError, with all findings in a program, for errors that its original does not have.
    """
    return [*_judged(new, source, output, choices, _program_findings)]


def judge_contract(new: NewModel, source: Model, output: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Return the findings of `judge` between programs and descriptions alone, as for the whole text of a draft.

    Comments that ignore other findings are not idle.
    """
    judged = _judged(new, source, output, choices, lambda _: [])
    return [each for each in judged if each.code != codes.USELESS_IGNORE]


def _judged(
    new: NewModel,
    source: Model,
    output: Path,
    choices: BuildChoices,
    found_in: Callable[[Written], list[Finding]],
) -> Iterator[Diagnostic]:
    """Yield the findings of a rule for programs, and the contradictions of a new model. Raise as `judge` does."""
    is_compiled = output.suffix.lower() == COMPILED
    for written in _written(new, source, choices) if choices.check else ():
        findings = [*_contradictions(written, new, is_compiled=is_compiled), *found_in(written)]
        text = _text_of(written, is_needed=bool(findings))
        found = [each for each in as_diagnostics(findings, text) if each.severity != KNOWN]
        is_own = written.model is source and text == source.text
        if _errors(found):
            refused = ParseError if is_own and text is not None else ModelError
            raise refused(_with_way_out(found), text=text, path=written.name)
        yield from found if is_own else [_unplaced(each, text, written.name) for each in found]


def _program_findings(written: Written) -> list[Finding]:
    """Return the findings in a program that may have changed, beside the original's."""
    if written.is_kept:
        return []
    findings = _findings(written.program, written.model.text)
    known = [each for before in written.before() for each in _findings(before.program)] if findings else []
    return _once(_beside(findings, known, ANYWHERE))


def _contradictions(written: Written, new: NewModel, *, is_compiled: bool) -> list[Finding]:
    """Return the contradictions between a program and its description: new ones are errors.

    The original's are warnings in a compiled model. The behaviour of Core ML on such a model is unknown.
    """
    made = SpecModel("mlmodel", written.name, None, None, written.spec)
    found = [each for each in contract_findings(made) if each.severity != "note"]
    before = written.before() if found else ()
    known = [_renamed(each, new) for model in before for each in contract_findings(model)]
    judged: list[Finding] = []
    for finding, beside in zip(found, _beside(found, known, CONTRADICTING), strict=True):
        if beside is finding:
            judged.append(finding._replace(severity="error"))
        elif is_compiled:
            judged.append(finding._replace(severity="warning", remarks=(Remark(COMPILED_SO, finding.path),)))
        else:
            judged.append(beside)
    return judged


def _renamed(finding: Finding, new: NewModel) -> Finding:
    """Return a finding of the original in the names of the new model."""
    names: dict[str, str] = {}
    for known in new.known.values():
        for function, before in known.items():
            names[before.name] = function
            names |= {old: now for each in before.sides.values() for old, now in each.items()}
    message = _NAME.sub(lambda name: f"`{names.get(name[1], name[1])}`", finding.message)
    return finding._replace(message=message, subject=tuple(names.get(word, word) for word in finding.subject))


_NAME = re.compile("`([^`]*)`")
"""A name in a message."""


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
    """Yield the programs to judge: the new program of an original, or all programs of a model written as it is.

    The other programs of an original follow, for their descriptions.
    """
    original, is_edited = choices.original, choices.edit is not None
    if original is None and source.kind not in WITH_DESCRIPTION:
        yield Written(new.spec, new.spec.mlProgram, source, source.name, lambda: new.linked, is_edited)
        return
    whole = original or source
    chosen = None if whole is source and not is_edited else whole.select_only(choices.model)
    for stage, spec in zip(whole.programs(), models_with_programs(new.spec), strict=True):
        program, as_read = stage.model.program, partial(_as_read, whole, stage.place)
        if chosen is None:
            yield Written(spec, program, stage.model, stage.name, as_read)
        elif stage.model is chosen:
            yield Written(spec, spec.mlProgram, source, source.name, lambda: (chosen,), is_edited)
        else:
            yield Written(spec, program, stage.model, stage.name, as_read, is_kept=True)


def _as_read(source: Model, place: str) -> tuple[Model]:
    """Return a model as it was before any change in memory; an unreadable model was not changed."""
    with suppress(MiltextError, OSError):
        if source.reopen is not None:
            return (source.reopen().select(place),)
    return (source.select(place),)


def _findings(program: Program, text: str | None = None) -> list[Finding]:
    """Return the findings in a program, with UNKNOWN parts as errors."""
    found = findings_in(program, text, each_use=True, undescribed="error")
    return [each._replace(severity="error") if each.code in UNKNOWN else each for each in found]


def _beside(findings: list[Finding], known: list[Finding], keys: Sequence[SameBy]) -> list[Finding]:
    """Return findings beside the original's `known` ones: its warnings as KNOWN, and its errors as warnings.

    Two findings are the same if any key is equal, the first key at best.
    """
    known, same = [*known], set[int]()
    for key in keys:
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


SameBy: TypeAlias = "Callable[[Finding], Hashable]"
"""A function that returns the key by which findings are compared."""

ALIKE = (_both, _said)
"""Findings with equal messages, at best at one place."""

CONTRADICTING = (*ALIKE, described_fact)
"""Contradictions as in ALIKE, otherwise about one fact of a description."""

ANYWHERE = (*ALIKE, _placed)
"""Findings as in ALIKE, otherwise at one place."""


def _paired(findings: list[Finding], known: list[Finding], key: SameBy, same: set[int]) -> set[int]:
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
