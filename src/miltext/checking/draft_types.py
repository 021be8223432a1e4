"""The types inferred for a draft, its errors, and its open types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.draft_arrays import at_array
from miltext.checking.findings import Finding, Remark, operations_around
from miltext.diagnostics import codes
from miltext.parsing.misread_types import AS_STRING
from miltext.syntax.editing import EditedText, edited

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.checking.draft_arrays import ArrayConversion
    from miltext.diagnostics import Diagnostic, Span
    from miltext.parsing.recovery import Recovered
    from miltext.schema.paths import Path

_TYPED = re.compile(r"\w+(?:<[^()]*>)?\((?P<literal>.*)\)", re.DOTALL)
"""A literal with its type."""

_WRITTEN_AS_ARGUMENTS = (codes.UNDEFINED_VALUE, codes.REQUIRED_DEFAULT)
"""The codes of findings that may suggest an argument, whose type follows from its parameter."""

_TYPED_ARGUMENT = re.compile(r"`(?:\w+ = )?(?P<typed>\w+(?:<[^()`]*>)?\((?P<literal>[-\d.e+]+|true|false|\"\w+\")\))`")
"""An argument with its type, but not `fp16(inf)`: without it, that would be a name."""


class DraftTypes(NamedTuple):
    """The types of a draft: the texts that replace its spans, its findings, and its open types.

    All places are in the long spelling of the text `read`.

    `findings` concern its literals, `unknown` operations with all arguments whose output type cannot be inferred, and
    `strange` omissions beside an unknown operation, at its name. `uses` are the operations in order, each with the
    operations whose outputs it uses. `misspelled` are literals without a value, reported before. `conversions` are the
    conversions of arrays, by the bindings that give them to a parameter.
    """

    read: Recovered
    edits: dict[Span, str]
    diagnostics: list[Diagnostic]
    findings: list[Finding]
    unknown: dict[Path, Finding]
    strange: dict[Path, Finding]
    uses: list[tuple[Path, tuple[Path, ...]]]
    open: set[Path]
    misspelled: set[Path]
    conversions: dict[Path, ArrayConversion]

    def joined(self, verified: Iterable[Finding], faulty: Iterable[Path]) -> list[Finding]:
        """Return all findings about a draft, in its spelling: its own, and the findings of its `verified` Program.

        One mistake is reported once. An omission in an operation is not reported beside another error in the operation,
        in its blocks, or in its operands; `faulty` are the places with an error reported elsewhere. An operation
        without a known name is an error.
        """
        known = [_blamed(finding, self.strange.get(finding.path)) for finding in verified]
        reported = {finding.path for finding in known}
        known += [finding for place, finding in self.strange.items() if place not in reported]
        own = [finding for finding in self.findings if (*finding.path, "key") not in reported]  # a wrong name
        errors = (finding.path for finding in [*own, *known] if finding.severity == "error")
        wrong = self._wrong([*faulty, *self.misspelled, *errors])
        unknown = (finding for place, finding in self.unknown.items() if place not in wrong)
        found = [*own, *(at_array(finding, self.conversions) for finding in known), *unknown]
        return [self._in_draft(finding) for finding in found]

    def _in_draft(self, finding: Finding) -> Finding:
        """Return a finding with its suggestion in a draft's spelling, without an inferable type: `[1]`, `true`."""
        gaps = self.read.drafts.keys()
        if finding.path[-1] == "key" or finding.code == codes.NOT_INFERRED or not (gaps or self.read.elaborated):
            return finding
        is_literal = not gaps.isdisjoint((finding.path, (*finding.path, "arguments", 0)))
        said = finding.suggestion or ""
        typed = _TYPED.search(said) if is_literal and "$" not in said else None
        if typed:
            return _replacing(finding, typed[0], typed["literal"])
        *_, operation = (), *operations_around(finding.path)
        if finding.code not in _WRITTEN_AS_ARGUMENTS or (*operation, "type") in self.strange:
            return finding
        typed = _TYPED_ARGUMENT.search(finding.message)
        return _replacing(finding, typed["typed"], typed["literal"]) if typed else finding

    def _wrong(self, mistakes: Iterable[Path]) -> set[Path]:
        """Return the paths of wrong operations and of their users; an operation that contains a gap is wrong."""
        wrong = {place for path in mistakes for place in operations_around(path)}
        wrong |= {place for gap in self.open for place in [*operations_around(gap)][:-1]}
        for place, used in self.uses if self.unknown else ():
            if not wrong.isdisjoint(used):
                wrong.update(operations_around(place))
        return wrong

    def stopping(self, joined: Iterable[Finding]) -> list[Finding]:
        """Return the errors, of all `joined` findings, that prevent a type.

        These are errors at omitted types, and errors of operations whose outputs are used by an operation with an
        omitted type.
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
        """The paths of the omitted parts: of bindings, and of the types of outputs."""
        return {(*gap, "type") if gap[-2] in ("outputs", "inputs") else gap for gap in self.open}

    def written(self) -> EditedText:
        """Return the text of the draft with its types."""
        return edited(self.read.text, ((*span, written) for span, written in self.edits.items()))

    def placed(self) -> dict[Span, str]:
        """Return the texts for the omitted parts, by their places in the written text."""
        found: dict[Span, str] = {}
        for span, text in self.edits.items():
            found.setdefault(self.read.written(span), text)  # an array that becomes a separate constant comes first
        return found


def _blamed(finding: Finding, strange: Finding | None) -> Finding:
    """Return a finding about an unknown operation: an error if types depend on it, with a remark about these types.

    The types follow from a suggested operation.
    """
    if strange is None:
        return finding
    if finding.suggestion is not None:
        return finding._replace(severity="error")
    remark = Remark("it does not determine the type that is left out here; write the type", strange.path)
    return finding._replace(severity="error", remarks=(*finding.remarks, remark))


def _replacing(finding: Finding, typed: str, literal: str) -> Finding:
    """Return a finding that suggests a literal without its type."""
    suggestion = finding.suggestion and finding.suggestion.replace(typed, literal)
    return finding._replace(message=finding.message.replace(f"{typed}`", f"{literal}`"), suggestion=suggestion)


def dtype_in_draft(diagnostic: Diagnostic) -> Diagnostic:
    """Return a diagnostic about a data type not written as a string, spelled for drafts: `cast(x, fp32)`."""
    typed = _TYPED.fullmatch(diagnostic.suggestion or "")
    if not typed or not diagnostic.message.endswith(f"{AS_STRING}: `{typed[0]}`"):
        return diagnostic
    return diagnostic._replace(message=f"{AS_STRING}: `{typed['literal']}`", suggestion=typed["literal"])
