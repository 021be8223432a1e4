"""What `check` says of texts and Programs: it has a place, is the same for both, and mending by it does good."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path

from miltext import Diagnostic, MiltextError, ParseError, build, check, format_text, open_model, parse, to_text
from miltext.checking.fixing import is_fixable, mend
from miltext.checking.verifier import examine
from miltext.diagnostics import Span, codes, render
from miltext.diagnostics.selection import keeps_from_reading
from miltext.drafting.draft import infer_draft
from miltext.drafting.judging import UNKNOWN
from miltext.parsing.parser import attempt
from miltext.schema.proto import Program


@lru_cache(maxsize=32)
def _remembered(text: str) -> tuple[Diagnostic, ...]:
    return (*check(text),)


def found_in(text: str) -> list[Diagnostic]:
    """Return what `check` finds in a text: several laws ask it of one text, and of the same texts on the way."""
    return [*_remembered(text)]


def check_places(text: str, found: list[Diagnostic]) -> None:
    """Each finding and each note has its place in the text, and is shown."""
    for each in found:
        for span in (each.span, *(note.span for note in each.notes)):
            assert span is None or 0 <= span.start <= span.end <= len(text), each
        assert each.code in render(each, text)


def check_first_report(text: str) -> None:
    """`parse` and `check` say the same of the first thing that keeps a text from being a program."""
    try:
        parse(text)
    except ParseError as caught:
        agree_on_first(text, caught.diagnostics, found_in(text))


def agree_on_first(text: str, parsed: list[Diagnostic], found: list[Diagnostic]) -> None:
    """What a parse is refused for is found by a check, too, or what explains it."""
    [said] = parsed
    if said not in found and _is_of_a_reserved_name(text, said, found):
        return
    if {each.code for each in found if each.severity == "error"} == {"MIL006"}:  # too deep: nothing else is reported
        return
    if said.code in ("MIL107", "MIL111"):  # a value that is left out, which is a note to a check if its type is known
        again = [each for each in found if each.code == said.code and _touch(each.span, said.span)]
        is_lost = any(keeps_from_reading(each) for each in found)  # with what is around it
        assert is_lost or any(each.severity == "note" or "the type of" in each.message for each in again), said
    elif said.code == "MIL025":  # a draft is told how a draft spells what is meant
        assert (said.code, said.span) in [(each.code, each.span) for each in found], said
    else:
        assert said in found or said.code in ("MIL112", "MIL113"), said


def _is_of_a_reserved_name(text: str, said: Diagnostic, found: list[Diagnostic]) -> bool:
    """Whether a mistake is at a use of a reserved word that the text calls a value, which is reported there alone."""
    names = {text[slice(*each.span)] for each in found if each.code == "MIL102" and each.span}
    places = (said.span.start, said.span.end) if said.span else ()
    return any(not names.isdisjoint(re.findall(r"\w+", text[:place])[-2:]) for place in places)


def _touch(one: Span | None, other: Span | None) -> bool:
    return one is not None and other is not None and one.start < other.end and other.start < one.end


def check_program(program: Program) -> None:
    """A Program is checked as the text that it prints as."""
    checked = examine(program)
    text = checked.text or to_text(program)
    check_places(text, checked.diagnostics)
    assert checked.diagnostics == check(to_text(program))


OF_TEXTS = ("MIL713", "MIL714", "MIL118")
"""What is left out of a text, which its Program does not have; what that explains is found only in the Program. And a
finding about a dump of the runtime, which is no Program even where its text can be read as one.
"""


def check_text_and_program(text: str) -> None:
    """The same is found in a text as in its Program, but for comments that ignore findings, and OF_TEXTS."""
    program = attempt(text)
    if program is None or "mil:" in text:
        return
    found = found_in(text)
    if not any(each.code in OF_TEXTS for each in found):
        assert _said(found) == _said(check(program))


def _said(found: list[Diagnostic]) -> list[tuple[str, str, str]]:
    return sorted((each.severity, each.code, each.message) for each in found)


def unread_lines(text: str, found: list[Diagnostic]) -> int:
    """How many lines have what keeps them from being read whole."""
    return len({each.span and text.count("\n", 0, each.span.start) for each in found if keeps_from_reading(each)})


def safe(found: Diagnostic) -> bool:
    return is_fixable(found, unsafe=False)


def unsafe(found: Diagnostic) -> bool:
    return is_fixable(found, unsafe=True)


def check_mending(text: str, chosen: Callable[[Diagnostic], bool]) -> None:
    """No text is made worse by mending, and nothing is left to mend."""
    mended = mend(text, found_in, chosen)
    before, after = found_in(text), found_in(mended.text)
    assert mended.diagnostics == after
    assert unread_lines(mended.text, after) <= unread_lines(text, before)
    if not any(keeps_from_reading(each) for each in before if chosen(each)):
        assert sum(each.severity == "error" for each in after) <= sum(each.severity == "error" for each in before)
    assert mend(mended.text, found_in, chosen).applied == 0


def first_error(found: list[Diagnostic]) -> tuple[str, Span | None] | None:
    """Return code and place of the first error of a report, None where it has none."""
    return next(((each.code, each.span) for each in found if each.severity == "error"), None)


def refusal(read: Callable[[str], object], text: str) -> tuple[str, Span | None] | None:
    """Return code and place of the first error for which a text is refused, None where it is taken."""
    try:
        read(text)
    except ParseError as refused:
        return first_error(refused.diagnostics)
    return None


def check_never_raises(text: str) -> None:
    """Whatever a text has in it, each verb takes it or says what is wrong, and a check and `infer` say the same."""
    found = found_in(text)
    check_places(text, found)
    check_first_report(text)
    refusal(format_text, text)
    mend(text, found_in, unsafe)
    assert refusal(infer_draft, text) == first_error(found)


OF_MODELS = ("MIL3", "MIL4")
"""How the codes begin of what keeps a model from being built of a text that is right: weights, and what is chosen."""


LEFT_OUT = (codes.ELIDED_LITERAL,)
"""The code of values that a text leaves out: a note to a check, which does without them, and a model needs them."""


def build_agrees(text: str) -> None:
    """`build` refuses a text for the first error of a check; without one, only for what a model lacks besides."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "draft.mil")
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
        try:
            source = open_model(path)
        except MiltextError:  # these bytes are no text, which any verb says
            return
        found, refused = check(path), _refusal(lambda: build(source, Path(folder, "M.mlmodel")))
    first = first_error(found)
    if isinstance(refused, ParseError):
        said = first_error(refused.diagnostics)
        firsts = [first, *(first_error(_refused(found, each)) for each in (UNKNOWN, LEFT_OUT))]
        assert any(_is_closer(said, each) for each in firsts), (said, first)
    else:
        assert first is None, (first, str(refused))
        assert refused is None or refused.diagnostics[0].code.startswith(OF_MODELS), str(refused)
        told = refused and refused.diagnostics[0]
        if told and told.code == codes.TYPE_NOT_IN_DESCRIPTIONS:
            assert (told.code, told.span) in [(each.code, each.span) for each in found], str(refused)


def _refusal(build: Callable[[], object]) -> MiltextError | None:
    """Return what a build is refused for; None where it is not."""
    try:
        build()
    except MiltextError as refused:
        return refused
    return None


def _is_closer(said: tuple[str, Span | None] | None, found: tuple[str, Span | None] | None) -> bool:
    """Whether two errors are one: an array that a text names is blamed by its file, a check blames its value."""
    if not said or not found or not said[1] or not found[1]:
        return said == found
    return said[0] == found[0] and found[1].start <= said[1].start and said[1].end <= found[1].end


def _refused(found: list[Diagnostic], refused: Collection[str]) -> list[Diagnostic]:
    """Return findings where some codes are errors."""
    return [each._replace(severity="error") if each.code in refused else each for each in found]
