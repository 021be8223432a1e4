"""The verifier: all errors and warnings of a text, a Program or a model, and their places."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.arrays import Arrays
from miltext.checking.drafts import (
    as_in_draft,
    draft_notice,
    draft_types,
    dtype_in_draft,
    marker_of,
    marker_words,
)
from miltext.checking.findings import apart_from, in_order, located
from miltext.checking.ignores import without_ignored
from miltext.checking.left_out import program_of
from miltext.checking.loading import loader_findings
from miltext.checking.programs import verify
from miltext.checking.retyping import retype
from miltext.diagnostics import MiltextError, ParseError, PrintError, codes
from miltext.diagnostics.selection import keeps_from_reading, noted
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.model import Model
from miltext.parsing.parser import attempt, parse_tree
from miltext.parsing.recovery import recover
from miltext.schema.refused import CODES
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.lexer import dialect_of
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from miltext.checking.baked import Baked
    from miltext.checking.draft_types import DraftTypes
    from miltext.checking.findings import Finding
    from miltext.checking.retyping import Inputs, Retyped
    from miltext.diagnostics import Diagnostic
    from miltext.parsing.recovery import Recovered
    from miltext.schema.paths import Path as Place
    from miltext.schema.proto import Message, Program
    from miltext.syntax.editing import EditedText


class Checked(NamedTuple):
    """The findings of a check, and the text that the spans point into: None without findings."""

    diagnostics: list[Diagnostic]
    text: str | None


class Completed(NamedTuple):
    """A draft with its types, None for a wrong draft; and the findings in the draft."""

    text: str | None
    diagnostics: list[Diagnostic]


class WrittenOut(NamedTuple):
    """A draft with its types, as its author laid it out, None for a wrong draft; and the findings in the draft.

    The `steps` are those from the draft to the text.
    """

    text: str | None
    diagnostics: list[Diagnostic]
    steps: Sequence[Recovered | EditedText] = ()

    def told(self, found: list[Diagnostic]) -> list[Diagnostic]:
        """Return diagnostics of the text, with places in the draft."""
        for step in reversed(self.steps):
            found = step.told(found)
        return found


class CheckedText(NamedTuple):
    """The findings in a text; if it is broken or a draft, the part that was read, and its omitted types.

    The `stopping` are the errors that prevent an omitted type from being inferred.
    """

    diagnostics: list[Diagnostic]
    read: Recovered | None = None
    types: DraftTypes | None = None
    stopping: Sequence[Diagnostic] = ()

    def told(self, text: str) -> list[Diagnostic]:
        """Return the findings that no comment of the text ignores.

        Errors that stop inference are reported all the same, and so noted.
        """
        left = without_ignored(text, self.diagnostics)
        if self.types is None or not self.types.open:
            return left
        kept = [each for each in self.stopping if each not in left]
        if not _errors([*left, *kept]):
            kept = [each for each in _errors(self.diagnostics) if each not in left]
        stopping = self.stopping or _errors(self.diagnostics)
        stated = [each._replace(stops=each in stopping and not keeps_from_reading(each)) for each in left]
        return in_order([*stated, *(noted(each._replace(stops=True)) for each in kept)])


def check(subject: str | PathLike[str] | Message | Model, *, path: str | None = None) -> list[Diagnostic]:
    """Return all errors and warnings of MIL text, a Program, a model or the file of a path, in the order of the text.

    A string is MIL text; a file is named by a `pathlib.Path`, and opened as `miltext.load` does.

    A comment such as `// mil: ignore[MIL603]` at the end of a line suppresses findings there. The spans point into the
    text; of a Program, and of a model that is not text itself, into the output of `to_text`. The arrays that a text
    names, `$npy("w.npy")`, are looked for beside its `path`; without one, it has no folder. `subject` may be any
    message of the full name `CoreML.Specification.MILSpec.Program`, coremltools' too. Raise ModelError for a model
    whose program cannot be read.
    """
    if isinstance(subject, PathLike):
        from miltext.containers.opening import load

        subject = load(subject)
    return [*_around(subject), *examine(subject, folder=_folder(path)).diagnostics]


def _folder(path: str | None) -> Path | None:
    """Return the folder of the text at a path; for standard input, called `<stdin>`, the working folder."""
    from pathlib import Path

    return None if path is None else Path(path).parent


@with_room
def check_text(text: str, path: str | None = None) -> CheckedText:
    """Return all errors and warnings of MIL text, as `check` does, and the text as it was read."""
    with gc_paused:
        checked = _check_text(text, folder=_folder(path), keep=True, undescribed="warning" if path else "")
    return checked._replace(diagnostics=checked.told(text))


@with_room
def infer_draft(
    text: str,
    *,
    path: str | None = None,
    all: bool = False,
    names: bool = False,
    consts: bool = False,
    defaults: bool = False,
) -> str:
    """Return the canonical MIL text of a draft, with the types that it leaves out; comments, numbers, line ends stay.

    A text that leaves nothing out is only laid out. With `all`, types of outputs that it states are inferred anew, and
    stay only where none follows. With `names`, each operation has the attribute `name`; with `consts`, each literal
    that is an argument is an operation `const` before; with `defaults`, defaults are written out. A text requests the
    same in its head, `$draft(names, consts, defaults)`. `path` is the name that errors show; the arrays that the text
    names, `$npy("w.npy")`, are looked for beside it. Raise ParseError with all errors that `check` finds; MiltextError
    if the layout cannot be proved to have the same meaning.
    """
    options = {"names": names, "consts": consts, "defaults": defaults}
    asked = [word for word, is_asked in options.items() if is_asked]
    whole, found = complete_anew(text, path, asked) if all else complete(text, path, asked)
    if whole is None:
        raise ParseError(_errors(found), text=text, path=path)
    return whole


@with_room
def complete(text: str, path: str | None = None, asked: Collection[str] = ()) -> Completed:
    """Complete a draft as `infer_draft` does, with all findings of `check` except that it is a draft.

    The `asked` parts besides types are some of DRAFT_WORDS.
    """
    from miltext.formatting.document import keep_line_ends
    from miltext.formatting.formatter import verified_format

    made = write_out(text, path, asked)
    if made.text is None:
        return Completed(None, made.diagnostics)
    return Completed(keep_line_ends(text, verified_format(made.text, path=path)), made.diagnostics)


@with_room
def complete_anew(text: str, path: str | None = None, asked: Collection[str] = ()) -> Completed:
    """Complete a text as `complete` does, with all types of outputs that follow inferred anew."""
    retyped = retype(recover(text), text, Arrays(_folder(path)))
    with _told_before(retyped.written, text):
        whole, found = complete(retyped.written.text, path, asked)
    return Completed(whole, _found_anew(retyped, found))


@with_room
def infer_anew(text: str, path: str | None, ask: Callable[[Program], Inputs], weights: Path | None = None) -> Completed:
    """Infer the types of outputs that a text states anew; its layout and its omissions stay.

    `ask` returns the new types of its Program's inputs, and constants that follow from their sizes are written anew;
    constants in weight files are in the folder `weights`. The result may have errors; it is None where an error
    prevents inference.
    """
    read = recover(text)
    if read.program is None or _errors(read.diagnostics):
        return Completed(None, check(text, path=path))
    retyped = retype(read, text, Arrays(_folder(path)), ask(read.program), weights)
    made = retyped.written.text
    return Completed(None if retyped.types.open else made, _found_anew(retyped, check(made, path=path)))


@contextmanager
def _told_before(written: EditedText, text: str) -> Iterator[None]:
    """Report errors that a `with` block finds in a text at their places in the original text."""
    try:
        yield
    except MiltextError as failure:
        if failure.text == written.text:
            failure.diagnostics, failure.text = written.told(failure.diagnostics), text
        raise


def _found_anew(retyped: Retyped, found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings in a text with types inferred anew, at their places in the original text.

    Errors name the constants to change, if they were made for other sizes.
    """
    read = retyped.read
    kept = read.told(located(retyped.kept, read.root) if read.root is not None else [])
    explained = _check_read(read, retyped.types, retyped.arrays, retyped.baked).diagnostics if _errors(found) else []
    return in_order([*kept, *(explained if _errors(explained) else retyped.written.told(found))])


@with_room
def write_out(text: str, path: str | None = None, asked: Collection[str] = ()) -> WrittenOut:
    """Complete a draft as `complete` does, without its layout."""
    from miltext.checking.spelled_out import spelled_out

    with gc_paused:
        checked = _check_text(text, folder=_folder(path))
    types = checked.types
    found = [each for each in checked.told(text) if each.code != codes.DRAFT]
    if "defaults" in asked:
        found = _with_defaults(found)
    if _errors(found):
        return WrittenOut(None, found)
    steps: list[Recovered | EditedText] = [types.read, types.written()] if types is not None else []
    is_asked = bool(asked) or (types is not None and marker_of(types.read.root) is not None)
    if is_asked and (more := spelled_out(steps[-1].text if steps else text, asked)):
        steps.append(more)
    whole = steps[-1].text if steps else text
    made = WrittenOut(whole, found, steps)
    if steps and (left := _errors(without_ignored(text, made.told(_errors(check(whole, path=path)))))):
        raise ParseError(left, text=text, path=path)
    return made


def _errors(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]


@with_room
def examine(
    subject: str | Message | Model,
    *,
    with_coremltools: bool = False,
    originals: Sequence[Program] = (),
    folder: Path | None = None,
) -> Checked:
    """Return the findings of `check`, with the text that they refer to; of a model, on request, also coremltools'.

    Of a compiled model, these are the findings in its text. Omitted values of a text come from the `originals`. The
    arrays that it names are in a `folder`, if it is not a model that has one. Raise ModelError as `check` does, and
    MIL480 where coremltools is not there.
    """
    said: list[Finding] = []
    text_or_program: str | Message
    if isinstance(subject, Model):
        with suppress(ParseError):  # coremltools reports nothing about a text that does not parse
            said = loader_findings(subject) if with_coremltools else []
        text_or_program = subject.program if subject.text is None else subject.text
    else:
        text_or_program = subject
    undescribed = "" if not isinstance(subject, Model) else "error" if subject.kind in WITH_DESCRIPTION else "warning"
    with gc_paused:
        if isinstance(text_or_program, str):
            if isinstance(subject, Model):
                folder = subject.model_path or _folder(subject.name)
            checked = _check_text(text_or_program, said, folder, originals, _compiled(subject), undescribed=undescribed)
            return Checked(checked.told(text_or_program), text_or_program)
        return _check_program(text_or_program, said, undescribed=undescribed)


def _around(subject: object) -> list[Diagnostic]:
    """Return contradictions around the program of a compiled model; messages name its files."""
    if not isinstance(subject, Model) or not subject.is_compiled:
        return []
    from miltext.checking.compiled.bundles import bundle_findings

    return [found._replace(span=None) for file in bundle_findings(subject) for found in file.diagnostics]


def _compiled(subject: object) -> Program | None:
    """Return the Program of a compiled model, which was read once; None for a wrong one, and for another subject."""
    with suppress(ParseError):
        return subject.program if isinstance(subject, Model) and subject.is_compiled else None
    return None


def _check_text(
    text: str,
    said: Sequence[Finding] = (),
    folder: Path | None = None,
    originals: Sequence[Program] = (),
    known: Program | None = None,
    *,
    keep: bool = False,
    undescribed: str = "",
) -> CheckedText:
    """Return the findings about a text, and the findings of others (`said`) about its Program, which may be `known`.

    With `keep`, the tree of a draft is kept as `recover` does. `undescribed` is as in `refused_findings`.
    """
    told: list[Diagnostic] = []
    arrays = Arrays(folder)
    program = known or attempt(text)
    if program is None:
        program, told = program_of(text, originals)
    if program is None:
        broken = _check_broken(text, arrays, undescribed, keep=keep)
        if broken.read and broken.types and told and originals and not _errors(broken.diagnostics):
            whole = broken.types.written()
            told = broken.read.told(whole.told(program_of(whole.text, originals)[1]))
        return broken._replace(diagnostics=in_order([*told, *broken.diagnostics]))
    findings = [*verify(program, dialect_of(text), arrays=arrays, undescribed=undescribed), *said]
    found = located(findings, parse_tree(text, whole=True).root) if findings else []
    return CheckedText(in_order([*told, *found]))


def _check_broken(text: str, arrays: Arrays, undescribed: str, *, keep: bool) -> CheckedText:
    """Return the findings about a text that does not parse, or is a draft."""
    read = recover(text, keep=keep)
    return _check_read(read, draft_types(read, arrays), arrays, undescribed=undescribed)


def _check_read(
    read: Recovered, types: DraftTypes, arrays: Arrays, baked: Baked | None = None, undescribed: str = ""
) -> CheckedText:
    """Return the findings about the read part of a text, whose types were inferred."""
    is_draft = bool(read.drafts or read.elaborated)
    own = map(dtype_in_draft, read.diagnostics) if is_draft else read.diagnostics
    found = [*draft_notice(read), *own, *types.diagnostics]
    stopping: list[Diagnostic] = []
    if read.program is not None and read.root is not None:
        faulty: set[Place] = set()
        whole = verify(read.program, dialect_of(read.text), faulty, arrays, undescribed=undescribed)
        whole = apart_from(whole, read.flawed)
        if _errors(read.diagnostics):  # the read part is not yet the program for Core ML
            whole = [finding for finding in whole if finding.code not in CODES]
        names = [finding for finding in whole if finding.path[-1:] == ("key",)]  # these are there without their values
        verified = [*dict.fromkeys([*apart_from(whole, types.missing), *names])]
        joined = [as_in_draft(finding, types) for finding in types.joined(verified, faulty)]
        joined = [*map(baked.told, joined)] if baked else joined
        found += located(joined, read.root)
        stopping = located(types.stopping(joined), read.root)
    if "defaults" in marker_words(marker_of(read.root)):
        found = _with_defaults(found)
    return CheckedText(read.told(found), read, types, read.told(stopping))


def _with_defaults(found: list[Diagnostic]) -> list[Diagnostic]:
    """Return the findings in a text whose defaults `infer` writes out: without those about omitted defaults."""
    return [each for each in found if each.code != codes.REQUIRED_DEFAULT]


def _check_program(program: Message, said: list[Finding], *, undescribed: str = "") -> Checked:
    """Return the findings about a Program, and the findings of others (`said`) about it, with its printed text."""
    from miltext.printing.printing import to_text

    try:
        findings = [*verify(own_copy(program), undescribed=undescribed), *said]
        if not findings:
            return Checked([], None)
        text = to_text(program)
    except PrintError as error:
        return Checked(error.diagnostics, None)
    return Checked(located(findings, parse_tree(text, whole=True).root), text)
