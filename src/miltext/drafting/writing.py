"""Writing of drafts: the shortest text of a Program that `infer` turns into the same Program."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.programs import verify
from miltext.checking.spelled_out import spelled_out
from miltext.diagnostics import Diagnostic
from miltext.diagnostics.arguments import checked
from miltext.drafting.draft import Draft
from miltext.drafting.draft_printer import DraftPrinter, literal_of
from miltext.drafting.folding import folded, movable
from miltext.drafting.implied import Implied, implied
from miltext.drafting.omitting import STATEMENT, gaps_of
from miltext.drafting.programs import of_source
from miltext.parsing.parser import parse
from miltext.printing.printer import Printer
from miltext.printing.printing import pieces
from miltext.printing.renaming import rename_values
from miltext.printing.tensors import Style
from miltext.schema.paths import Path
from miltext.schema.walk import statements
from miltext.schema.wire import wire_of
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.programs import own_copy
from miltext.syntax.recursion import with_room
from miltext.weight_files.printing import DigestPrinter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from miltext.checking.draft_types import DraftTypes
    from miltext.checking.findings import Finding
    from miltext.schema.proto import Message, Program
    from miltext.weight_files.printing import Spell

ROUNDS = 4
"""The number of attempts with longer drafts before the Program is written in full."""

_IN_FULL = "this is written in full, since `miltext infer` refuses a draft with errors; `miltext check` lists them: "


@of_source
@checked()
def to_draft(
    program: Message,
    *,
    drop_names: bool = False,
    dialect: str = "1.3",
    floats: str = "decimal",
    elide: int | None = None,
    on_warning: Callable[[Diagnostic], object] | None = None,
) -> str:
    """Return a draft of a Program: MIL text without the parts that `infer_draft` restores.

    `infer_draft` makes an equal Program of it. A Program with errors by `check` has no draft, for `infer_draft` would
    refuse it: its text is the output of `to_text`.

    Args:
        program: Any source; in this module, a Program.
        drop_names: Whether to leave out names of operations and defaults, and to write constants and operations with
            one use where they are used. `infer_draft` then makes a Program that computes the same.
        dialect: As in `miltext.to_text`.
        floats: As in `miltext.to_text`.
        elide: As in `miltext.to_text`.
        on_warning: A function that gets a Diagnostic with the reason if there is no draft.

    Returns:
        The draft.

    Raises:
        PrintError: As in `miltext.to_text`.
        ModelError: A source that cannot be read.

    Example:
        draft = miltext.to_draft("Model.mlpackage", drop_names=True)
    """
    return draft_text(program, Style(dialect, floats, elide), drop_names=drop_names, on_warning=on_warning)


@with_room
def draft_text(
    program: Message,
    style: Style,
    *,
    drop_names: bool = False,
    on_warning: Callable[[Diagnostic], object] | None = None,
    spell: Spell | None = None,
) -> str:
    """Return a draft as `to_draft` does. With `spell`, which spells weights in another way, it is for reading only."""
    whole = own_copy(program)
    with gc_paused:
        wrong = _first_error(whole, style.dialect)
        if wrong and on_warning:
            on_warning(Diagnostic("warning", wrong.code, f"{_IN_FULL}{wrong.message}"))
        drafts = () if wrong else _drafts(whole, style._replace(elide=None), drop_names)
        draft = next((draft for draft in drafts if draft), None)
        if draft:
            return "".join(draft.printer(style, spell).draft(draft.program))
        return "".join([*DigestPrinter(spell, style).program(whole), "\n"] if spell else pieces(whole, style))


def _first_error(program: Program, dialect: str) -> Finding | None:
    return next((each for each in verify(program, dialect) if each.severity == "error"), None)


class _Draft(NamedTuple):
    """The parts that a draft of a Program leaves out and moves, and its `whole` parts."""

    implied: Implied
    gaps: set[Path]
    whole: set[Path]
    movable: set[Path]

    @property
    def program(self) -> Program:
        return self.implied.program

    def printer(self, style: Style, spell: Spell | None = None) -> DraftPrinter:
        printer = DraftPrinter(style, self.gaps, self.whole, self.movable, spell)
        printer.marker = f" $draft({', '.join(self.implied.words)})" if self.implied.words else ""
        return printer


def _drafts(program: Program, style: Style, drop_names: bool) -> Iterator[_Draft | None]:
    """Yield the shortest requested draft, and longer ones; None for a draft that does not read back as the Program."""
    short = folded(program, style) if drop_names else program
    if drop_names and not _first_error(short, style.dialect):
        yield _proved(short, style, is_moved=True)
    yield _proved(program, style, is_marked=True)
    yield _proved(program, style)


def _proved(program: Program, style: Style, *, is_moved: bool = False, is_marked: bool = False) -> _Draft | None:
    """Return a draft of a Program that reads back as the Program; None if there is none.

    It may have its operations in another order, or a marker in its head. A statement that does not read back is written
    in full, and the rest is tried again.
    """
    whole, kept = set[Path](), set[Path]()
    for _ in range(ROUNDS):
        short = implied(program, style.dialect, kept) if is_marked else Implied(program, [], {})
        draft = _draft(short, style, whole, is_moved)
        written = Draft("".join(draft.printer(style).draft(draft.program)))
        if wrong := _wrong(written, draft.program, is_moved):
            whole = whole | (wrong if not wrong <= whole else _statements(draft.program))
        elif short.words and (wrong := _different(_spelled_out(written.types), program)):
            kept = kept | {short.owners.get(path, path) for path in wrong}
            whole = set()
        else:
            return draft
    return None


def _draft(short: Implied, style: Style, whole: set[Path], is_moved: bool) -> _Draft:
    """Return a draft, with the Program in the order of the draft."""
    spelling = partial(literal_of, Printer(style))
    for _ in range(ROUNDS):
        gaps = gaps_of(short.program, spelling, whole)
        draft = _Draft(short, gaps, whole, movable(short.program, gaps) if is_moved else set())
        if not is_moved:
            break
        if (moved := draft.printer(style).in_order(draft.program)) is None:
            break
        short = short._replace(program=moved)
    return draft


def _wrong(written: Draft, program: Program, is_moved: bool) -> set[Path]:
    """Return the paths of the statements that inference reads differently."""
    read, types = written.read, written.types
    if read.program is None or read.diagnostics or types.diagnostics:
        return _statements(program)
    reported = [*(finding.path for finding in types.findings), *types.unknown, *types.strange, *types.open]
    if reported:
        return {path[:STATEMENT] for path in reported}
    made, meant = read.program, program
    if is_moved:
        made, meant = own_copy(made), own_copy(meant)
        rename_values(made)
        rename_values(meant)
    return _different(made, meant)


def _spelled_out(types: DraftTypes) -> Program:
    """Return the Program of a draft with all parts that its marker requests."""
    typed = types.written().text
    long = spelled_out(typed)
    return parse(long.text if long else typed)


def _different(made: Program, meant: Program) -> set[Path]:
    """Return the paths of the statements in which two Programs differ; all of them where other parts differ, too."""
    if wire_of(made) == wire_of(meant):
        return set()
    others = {path: wire_of(operation) for path, operation in statements(made)}
    wrong = {path for path, operation in statements(meant) if others.pop(path, None) != wire_of(operation)}
    return wrong if wrong and not others else _statements(meant)


def _statements(program: Program) -> set[Path]:
    return {path for path, _ in statements(program)}
