"""Drafts: MIL text that leaves types to be inferred, those of outputs (`_ y = ...`) and those of literals (`axis = 1`).

The signature of its operation says what type a literal has; if that leaves a choice, the data types that stand beside
the literal decide. The type of an output follows by the rules of `miltext.checking.inference`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.arrays import Arrays
from miltext.checking.draft_arrays import at_array
from miltext.checking.draft_walk import DraftWalk
from miltext.checking.findings import Finding, Remark, counted, operations_around
from miltext.checking.inference.reading import read_program
from miltext.diagnostics import Diagnostic, Span, codes
from miltext.parsing.elaboration import Elaborated, rewritten
from miltext.parsing.misread_types import AS_STRING
from miltext.parsing.spans import name_of
from miltext.syntax.lexer import dialect_of
from miltext.syntax.tree import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from miltext.checking.draft_arrays import Conversion
    from miltext.checking.inference.operands import Operand
    from miltext.parsing.elaboration import Elaborated
    from miltext.parsing.recovery import Recovered
    from miltext.schema.paths import Path
    from miltext.schema.types import Type
    from miltext.syntax.tree import Node

    Operands = Mapping[str, Sequence[Operand]]


_TYPED = re.compile(r"\w+(?:<[^()]*>)?\((?P<literal>.*)\)", re.DOTALL)
"""A literal with its type."""

_WRITTEN_AS_ARGUMENTS = (codes.UNDEFINED_VALUE, codes.REQUIRED_DEFAULT)
"""The codes of findings that may suggest to write an argument, whose type follows from its parameter."""

_TYPED_ARGUMENT = re.compile(r"`(?:\w+ = )?(?P<typed>\w+(?:<[^()`]*>)?\((?P<literal>[-\d.e+]+|true|false|\"\w+\")\))`")
"""An argument with its type, but not `fp16(inf)`: without it, that would be a name."""


MOST_WALKS = 8
"""How often a draft is gone over to find the types that its loops carry. coremltools builds the blocks of a loop at
most twice (iOS15/control_flow.py); what still changes then is an error.
"""


class DraftTypes(NamedTuple):
    """The types of a draft: the texts that take the place of its spans, what is wrong, and what is still open.

    All places are in the long spelling of what was `read`.

    `findings` are about its literals. `unknown` are about operations of which an output's type cannot be told, though
    all that they are given is there. `strange` are about what is left out beside an operation that is not known, at the
    word for it. `uses` are the operations in order, each with those whose outputs it uses. `misspelled` are literals
    of which no value could be made, as was told. `conversions` are those of arrays, by the bindings where they are
    given to something.
    """

    read: Recovered
    edits: dict[Span, str]
    diagnostics: list[Diagnostic]
    findings: list[Finding]
    unknown: dict[Path, Finding]
    strange: dict[Path, Finding]
    uses: list[tuple[Path, set[Path]]]
    open: set[Path]
    misspelled: set[Path]
    conversions: dict[Path, Conversion]

    def joined(self, verified: Iterable[Finding], faulty: Iterable[Path]) -> list[Finding]:
        """Return all findings about a draft: these, and those that its Program has been `verified` to.

        One mistake is told once. What an operation leaves out is not told of if anything else is wrong with it, in a
        block of it, or with what it uses: the `faulty` are those of which that was told elsewhere. Without a name that
        is known, the operation is an error.
        """
        known = [_blamed(finding, self.strange.get(finding.path)) for finding in verified]
        told = {finding.path for finding in known}
        known += [finding for place, finding in self.strange.items() if place not in told]
        own = [finding for finding in self.findings if (*finding.path, "key") not in told]  # a name that is wrong
        errors = (finding.path for finding in [*own, *known] if finding.severity == "error")
        wrong = self._wrong([*faulty, *self.misspelled, *errors])
        unknown = (finding for place, finding in self.unknown.items() if place not in wrong)
        return [*own, *(at_array(finding, self.conversions) for finding in known), *unknown]

    def _wrong(self, mistakes: Iterable[Path]) -> set[Path]:
        """Return the paths of the operations that are wrong, or use what is; one that a gap is inside of, is."""
        wrong = {place for path in mistakes for place in operations_around(path)}
        wrong |= {place for gap in self.open for place in [*operations_around(gap)][:-1]}
        for place, used in self.uses if self.unknown else ():
            if not wrong.isdisjoint(used):
                wrong.update(operations_around(place))
        return wrong

    def stopping(self, joined: Iterable[Finding]) -> list[Finding]:
        """Return the errors, of all that are `joined`, for which a type does not follow: those where it is left out,
        and those of operations of which such a one uses an output.
        """
        open_places = {place for gap in self.open for place in [*operations_around(gap)][-1:]}
        places = open_places.union(*(used for place, used in self.uses if place in open_places))
        return [
            finding
            for finding in (joined if self.open else ())
            if finding.severity == "error"
            and (finding.path in self.open or not places.isdisjoint([*operations_around(finding.path)][-1:]))
        ]

    @property
    def missing(self) -> set[Path]:
        """The paths of what is not there: of bindings, and of the types of outputs; the names of arguments are."""
        return {(*gap, "type") if gap[-2] in ("outputs", "inputs") else gap for gap in self.open}

    def written(self) -> Elaborated:
        """Return the text of the draft with its types."""
        return rewritten(self.read.text, self.edits.items())


def draft_types(read: Recovered, arrays: Arrays | None = None) -> DraftTypes:
    """Infer the types that a draft leaves out, write them into its Program, and say which cannot be told.

    The `arrays` are those that the draft names; without them, it has no folder. What a loop carries has the type of
    what goes in, with a `?` for each size that changes from turn to turn: the draft is gone over until none does.
    """
    types = _nothing_inferred(read)
    if read.program is None or not (read.drafts or read.elaborated):
        return types
    arrays = arrays or Arrays(None)
    before = read.program.__class__()
    carried: dict[Path, Type] = {}
    has_loops = any(gap[-2] == "inputs" and any(operations_around(gap)) for gap in read.drafts)
    if has_loops:
        before.CopyFrom(read.program)
    for turn in range(MOST_WALKS):
        walk = DraftWalk(read, types, dialect_of(read.text), arrays, carried)
        walk.program(read_program(read.program))
        if not walk.wider or turn + 1 == MOST_WALKS:
            break
        carried |= walk.wider
        types = _nothing_inferred(read)
        arrays.tell_again()
        read.program.CopyFrom(before)
    types.findings.extend(_outside(gap) for gap in sorted(types.open, key=str) if not any(operations_around(gap)))
    return types


def _nothing_inferred(read: Recovered) -> DraftTypes:
    return DraftTypes(read, {}, [], [], {}, {}, [], set(read.drafts), set(), {})


def _outside(gap: Path) -> Finding:
    """Return the finding about what is left out where no operation is."""
    if gap[-2] == "inputs":
        return Finding(gap, codes.NOT_INFERRED, "an input of a function needs its type; write it before the name")
    return Finding(
        gap, codes.NOT_INFERRED, "the type of this literal cannot be inferred: nothing takes it; write it out"
    )


def _blamed(finding: Finding, strange: Finding | None) -> Finding:
    """Return a finding about an operation that is not known: an error, if types hang on it, and say what does.

    Where an operation is suggested, the types follow from that.
    """
    if strange is None:
        return finding
    if finding.suggestion is not None:
        return finding._replace(severity="error")
    remark = Remark("no type follows from it for what is left out here; write it out", strange.path)
    return finding._replace(severity="error", remarks=(*finding.remarks, remark))


def as_in_draft(finding: Finding, types: DraftTypes) -> Finding:
    """Return a finding with what it suggests as a draft has it, without a type where one follows: `[1]`, `true`."""
    gaps = types.read.drafts.keys()
    if finding.path[-1] == "key" or finding.code == codes.NOT_INFERRED or not (gaps or types.read.elaborated):
        return finding
    is_literal = not gaps.isdisjoint((finding.path, (*finding.path, "arguments", 0)))
    typed = _TYPED.search(finding.suggestion or "") if is_literal and "$" not in (finding.suggestion or "") else None
    if typed:
        return _replacing(finding, typed[0], typed["literal"])
    *_, operation = (), *operations_around(finding.path)
    if finding.code not in _WRITTEN_AS_ARGUMENTS or (*operation, "type") in types.strange:
        return finding
    typed = _TYPED_ARGUMENT.search(finding.message)
    return _replacing(finding, typed["typed"], typed["literal"]) if typed else finding


def _replacing(finding: Finding, typed: str, literal: str) -> Finding:
    """Return a finding that suggests a literal without its type."""
    suggestion = finding.suggestion and finding.suggestion.replace(typed, literal)
    return finding._replace(message=finding.message.replace(f"{typed}`", f"{literal}`"), suggestion=suggestion)


def dtype_in_draft(diagnostic: Diagnostic) -> Diagnostic:
    """Return what is said of a data type that is not written as a string as a draft has it: `cast(x, fp32)`."""
    typed = _TYPED.fullmatch(diagnostic.suggestion or "")
    if not typed or not diagnostic.message.endswith(f"{AS_STRING}: `{typed[0]}`"):
        return diagnostic
    return diagnostic._replace(message=f"{AS_STRING}: `{typed['literal']}`", suggestion=typed["literal"])


def marker_of(root: Node | None) -> Node | None:
    """Return the marker in the head of a draft; None where there is none."""
    return next(named(root, "draft_marker"), None) if root else None


def marker_words(marker: Node | None) -> set[str]:
    """Return what a marker asks for besides types."""
    return {name_of(word.token or "") for word in named(marker, "NAME")} if marker else set()


def draft_notice(read: Recovered) -> list[Diagnostic]:
    """Return the note that a text is not yet a program, at the first thing that it leaves out; none for another."""
    first = read.elaborated.first if read.elaborated else None
    if first is not None:
        message = "this is a draft in the short spelling; `miltext infer` writes it out"
        return [Diagnostic("note", codes.DRAFT, message, Span(first, first + 1))]
    if not read.drafts:
        marker = marker_of(read.root)
        message = "this is a draft, whose head asks for more than types; `miltext infer` writes it out"
        return [Diagnostic("note", codes.DRAFT, message, marker.span)] if marker else []
    phrase = min(read.drafts.values(), key=lambda phrase: phrase.start)
    types = counted(len(read.drafts), "type")
    message = f"this is a draft, which leaves out {types}; `miltext infer` fills in what is missing"
    return [Diagnostic("note", codes.DRAFT, message, phrase.span)]
