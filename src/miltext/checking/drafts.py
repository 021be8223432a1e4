"""Drafts: MIL text that leaves types to be inferred, those of outputs (`_ y = ...`) and those of literals (`axis = 1`).

The signature of its operation says what type a literal has; if that leaves a choice, the data types that stand beside
the literal decide. The type of an output follows by the rules of `miltext.checking.inference`.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, Remark, counted, listed, named, operations_around
from miltext.checking.inference.program import UNDEFINED, Scope, Walk, bound
from miltext.checking.inference.reading import Operation, Reader, read_program
from miltext.checking.literal_types import Misfit, Undecided, literal_type
from miltext.checking.operations import message_path
from miltext.diagnostics import Diagnostic, ParseError, Span, warning
from miltext.parsing.parser import parse_value
from miltext.schema.operations import first_opset, signature
from miltext.schema.paths import Key, Path
from miltext.schema.types import StateType, TensorType, is_known, spelled, write_type
from miltext.syntax.lexer import FINE, lexer

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from miltext.checking.inference import Inference
    from miltext.checking.inference.operands import Operand
    from miltext.parsing.recovery import Recovered
    from miltext.schema.proto import NamedValueType, Value
    from miltext.schema.types import ListType


DRAFT_NOTICE = "MIL712"
"""The code of the warning that a text is a draft."""


def dialect_of(text: str) -> str:
    """Return the dialect that a text says it is in; 1.3 where that is not plain."""
    words = (word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != "COMMENT")
    return "1.0" if [*islice(words, 4)] == ["program", "(", "1.0", ")"] else "1.3"


_TYPED = re.compile(r"\w+(?:<[^()]*>)?\((?P<literal>.*)\)", re.DOTALL)
"""A literal with its type."""


class DraftTypes(NamedTuple):
    """The types of a draft: the texts that take the place of its spans, what is wrong, and what is still open.

    `findings` are about its literals. `unknown` are about operations of which an output's type cannot be told, though
    all that they are given is there. `strange` are about what is left out beside an operation that is not known, at the
    word for it. `uses` are the operations in order, each with those whose outputs it uses.
    """

    edits: dict[Span, str]
    diagnostics: list[Diagnostic]
    findings: list[Finding]
    unknown: dict[Path, Finding]
    strange: dict[Path, Finding]
    uses: list[tuple[Path, set[Path]]]
    open: set[Path]

    def joined(self, verified: Iterable[Finding], faulty: Iterable[Path]) -> list[Finding]:
        """Return all findings about a draft: these, and those that its Program has been `verified` to.

        One mistake is told once. What an operation leaves out is not told of if anything else is wrong with it, in a
        block of it, or with what it uses: the `faulty` are those of which that was told elsewhere. Without a name that
        is known, the operation is an error.
        """
        known = [_blamed(finding, self.strange.get(finding.path)) for finding in verified]
        told = {finding.path for finding in known}
        known += [finding for place, finding in self.strange.items() if place not in told]
        wrong = self._wrong([*faulty, *(finding.path for finding in known if finding.severity == "error")])
        return [*self.findings, *known, *(finding for place, finding in self.unknown.items() if place not in wrong)]

    def _wrong(self, mistakes: Iterable[Path]) -> set[Path]:
        """Return the paths of the operations that are wrong, or use what is; one that a gap is inside of, is."""
        wrong = {place for path in mistakes for place in operations_around(path)}
        wrong |= {place for gap in self.open for place in [*operations_around(gap)][:-1]}
        for place, used in self.uses if self.unknown else ():
            if not wrong.isdisjoint(used):
                wrong.update(operations_around(place))
        return wrong

    @property
    def missing(self) -> set[Path]:
        """The paths of what is not there: of bindings, and of the types of outputs."""
        return {(*gap, "type") if gap[-2] == "outputs" else gap for gap in self.open}

    def written(self, text: str) -> str:
        """Return the text of the draft with its types."""
        pieces, end = list[str](), 0
        for span in sorted(self.edits, key=lambda span: span.start):
            pieces += text[end : span.start], self.edits[span]
            end = span.end
        return "".join([*pieces, text[end:]])


def draft_types(text: str, read: Recovered) -> DraftTypes:
    """Infer the types that a draft leaves out, write them into its Program, and say which cannot be told."""
    types = DraftTypes({}, [], [], {}, {}, [], set(read.drafts))
    if read.program is not None and read.drafts:
        _DraftWalk(text, read, types).program(read_program(read.program))
    return types


def _blamed(finding: Finding, strange: Finding | None) -> Finding:
    """Return a finding about an operation that is not known: an error, if types hang on it."""
    if strange is None:
        return finding
    remark = Remark("no type follows from it for what is left out here; write it out", strange.path)
    return finding._replace(severity="error", remarks=(*finding.remarks, remark))


def as_in_draft(finding: Finding, gaps: Set[Path]) -> Finding:
    """Return a finding with its suggestion as a draft has it, `[1]`, if it is about a literal without a type."""
    typed = finding.suggestion and _TYPED.search(finding.suggestion)
    if not typed or finding.path[-1] == "key" or gaps.isdisjoint((finding.path, (*finding.path, "arguments", 0))):
        return finding
    suggestion = typed.string.replace(typed[0], typed["literal"])
    message = finding.message.replace(f"`{typed[0]}`", f"`{typed['literal']}`")
    return finding._replace(message=message, suggestion=suggestion)


def draft_notice(read: Recovered) -> list[Diagnostic]:
    """Warn that a text is not yet a program, at the first thing that it leaves out."""
    if not read.drafts:
        return []
    first = min(read.drafts.values(), key=lambda phrase: phrase.start)
    types = counted(len(read.drafts), "type")
    message = f"this is a draft, which leaves out {types}; `miltext infer` fills in what is missing"
    return [warning(DRAFT_NOTICE, message, first.span)]


class _DraftWalk(Walk):
    """Inference that writes what it finds into the Program as it goes."""

    def __init__(self, text: str, read: Recovered, types: DraftTypes) -> None:
        super().__init__()
        self.reader = Reader()
        self.text = text
        self.dialect = dialect_of(text)
        self.gaps = read.drafts
        self.flawed = read.flawed
        self.types = types
        self.makers: dict[Operand, Path] = {}

    def operation(self, operation: Operation, scope: Scope, path: tuple[str | int, ...]) -> None:
        place = message_path(path)
        for name, bindings in sorted(operation.inputs.items()):
            for index in range(len(bindings)):
                gap = (*place, "inputs", Key(name), "arguments", index)
                value = self.literal(operation, name, gap, scope) if gap in self.gaps else None
                if value is not None:
                    operation.message.inputs[name].arguments[index].value.CopyFrom(value)
                    bindings[index] = self.reader.value(value)
        super().operation(operation, scope, path)
        for index, output in enumerate(operation.message.outputs):
            gap = (*place, "outputs", index)
            if gap in self.gaps and not self.output(output, index, gap):
                scope[output.name] = UNDEFINED
        self.use(place, [scope[output.name] for output in operation.outputs])

    def use(self, place: Path, outputs: list[Operand]) -> None:
        """Note what the operation of the last inference uses, and that it makes the outputs."""
        given = self.found[-1].arguments.operands.values()
        used = {self.makers[operand] for bound in given for operand in bound if operand in self.makers}
        self.types.uses.append((place, used))
        self.makers |= {output: place for output in outputs if output is not UNDEFINED}

    def output(self, output: NamedValueType, index: int, gap: Path) -> bool:
        """Write the type of an output, which the last inference is about; tell whether it is known."""
        inference = self.found[-1]
        inferred = inference.inferred or ()
        if index < len(inferred) and is_known(inferred[index]) and not isinstance(inferred[index], StateType):
            output.type.CopyFrom(write_type(inferred[index]))
            self.settle(gap, self.gaps[gap].children[0].span, spelled(inferred[index], self.dialect))
            return True
        operands = [operand for bound in inference.arguments.operands.values() for operand in bound]
        what = f"the type of {named(output.name)} cannot be inferred"
        if first_opset(inference.operation.type) is None:
            self.strange(gap, f"{what}: the operation {named(inference.operation.type)} is not known; write it out")
        elif gap[:-2] not in self.flawed and UNDEFINED not in operands:
            message = f"{what}: {_why(inference, self.opset)}"
            self.types.unknown.setdefault(gap[:-2], Finding((*gap, "type"), "MIL711", message))
        return False

    def strange(self, gap: Path, message: str) -> None:
        """Note the first thing that is left out beside an operation that is not known."""
        *_, operation = operations_around(gap)
        if operation not in self.flawed:
            self.types.strange.setdefault((*operation, "type"), Finding(gap, "MIL711", message))

    def literal(self, operation: Operation, name: str, gap: Path, scope: Scope) -> Value | None:
        """Return the value of a literal; None where its type cannot be told, or is not what the literal spells."""
        span = self.gaps[gap].span
        literal = self.text[span.start : span.end]
        made = self.literal_type(operation, name, gap, scope)
        if made is None:
            return None
        head = f"{spelled(made, self.dialect)}("
        written = f"{head}{literal})"
        try:
            value = parse_value(written)
        except ParseError as failure:
            self.types.diagnostics.append(_shifted(failure.diagnostics[0], span.start - len(head), span))
            return None
        self.settle(gap, span, written)
        return value

    def literal_type(self, operation: Operation, name: str, gap: Path, scope: Scope) -> TensorType | ListType | None:
        """Return the type of a literal; None where it cannot be told. Tell why, unless that is told elsewhere."""
        span = self.gaps[gap].span
        known = signature(operation.type, self.opset)
        what = "the type of this literal cannot be inferred"
        if known is None or name not in known.parameters:
            message = f"{what}: nothing is known of {named(name)} of {named(operation.type)}; write it out"
            if known is not None and known.open:
                self.types.findings.append(Finding(gap, "MIL711", message))
            elif first_opset(operation.type) is None:
                self.strange(gap, message)
            return None
        try:
            return literal_type(self.text[span.start : span.end], name, known, bound(operation, scope))
        except Misfit as misfit:
            self.types.findings.append(Finding(gap, misfit.code, str(misfit), suggestion=misfit.suggestion))
        except Undecided as undecided:
            is_told = operation.type == "const" and name == "val"  # that it is an attribute
            if not is_told and not _lacks_a_name(operation, scope):
                self.types.findings.append(Finding(gap, "MIL711", f"{what}: {undecided}"))
        return None

    def settle(self, gap: Path, span: Span, text: str) -> None:
        """Note the text that is written where something was left out."""
        self.types.edits[span] = text
        self.types.open.discard(gap)


def _shifted(diagnostic: Diagnostic, shift: int, whole: Span) -> Diagnostic:
    """Return the diagnostic of a literal that was lowered by itself, at its place in the draft."""
    found = diagnostic.span
    inside = found is not None and whole.start <= found.start + shift and found.end + shift <= whole.end
    span = Span(found.start + shift, found.end + shift) if found and inside else whole
    return Diagnostic(diagnostic.severity, diagnostic.code, diagnostic.message, span)


def _why(inference: Inference, opset: str) -> str:
    """Say why no type follows from what a known operation is given."""
    op_type, operands = inference.operation.type, inference.arguments.operands
    known = signature(op_type, opset)
    needed = {name for name, parameter in known.parameters.items() if parameter.constant} if known else set()
    vague = [
        name
        for name, bound in sorted(operands.items())
        if any(not _is_known(operand, constant=name in needed) for operand in bound)
    ]
    if not all(_is_whole(part) for block in inference.arguments.blocks for part in (*block.inputs, *block.outputs)):
        return "too little is known of what its blocks take and give back; write it out"
    if vague:
        return f"too little is known of {listed(vague, 'and')}; write it out"
    return f"it does not follow from what `{op_type}` is given here; check that, or write the type out"


def _is_known(operand: Operand, *, constant: bool) -> bool:
    """Tell whether all of an operand's type is known, and the value of a tensor that must be `constant`."""
    is_open = constant and isinstance(operand.type, TensorType) and operand.value is None
    return _is_whole(operand.type) and not is_open


def _is_whole(part: object) -> bool:
    """Tell whether nothing of a type, or of a part of one, is unknown."""
    return all(map(_is_whole, part)) if isinstance(part, tuple) else part is not None


def _lacks_a_name(operation: Operation, scope: Scope) -> bool:
    """Tell whether an operation is given a value of which nothing is known for a mistake."""
    names = (each for bindings in operation.inputs.values() for each in bindings if isinstance(each, str))
    return any(scope.get(name, UNDEFINED) is UNDEFINED for name in names)
