"""Drafts: MIL text that leaves types to be inferred, those of outputs (`_ y = ...`) and those of literals (`axis = 1`).

The signature of its operation says what type a literal has; if that leaves a choice, the data types that stand beside
the literal decide. The type of an output follows by the rules of `miltext.checking.inference`.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, counted, located, named
from miltext.checking.inference.program import Scope, Walk, bound
from miltext.checking.inference.reading import Operation, Reader, read_program
from miltext.checking.literal_types import Undecided, literal_type
from miltext.checking.operations import message_path
from miltext.diagnostics import Diagnostic, ParseError, Span, warning
from miltext.parsing.parser import parse_value
from miltext.schema.operations import signature
from miltext.schema.paths import Key, Path
from miltext.schema.types import is_known, spelled, write_type
from miltext.syntax.lexer import FINE, lexer

if TYPE_CHECKING:
    from miltext.checking.inference import Inference
    from miltext.parsing.recovery import Recovered
    from miltext.schema.proto import NamedValueType, Value


def dialect_of(text: str) -> str:
    """Return the dialect that a text says it is in; 1.3 where that is not plain."""
    words = (word for terminal, word, _ in lexer(FINE).tokens(text, 0) if terminal != "COMMENT")
    return "1.0" if [*islice(words, 4)] == ["program", "(", "1.0", ")"] else "1.3"


class DraftTypes(NamedTuple):
    """The types of a draft: the texts that take the place of its spans, what is wrong, and what is still open.

    `stuck` is about outputs of which nothing can be told because nothing is known of an input: where anything else is
    wrong, that is the reason, and they are not worth telling.
    """

    edits: dict[Span, str]
    diagnostics: list[Diagnostic]
    stuck: list[Diagnostic]
    open: set[Path]

    def written(self, text: str) -> str:
        """Return the text of the draft with its types."""
        pieces, end = list[str](), 0
        for span in sorted(self.edits, key=lambda span: span.start):
            pieces += text[end : span.start], self.edits[span]
            end = span.end
        return "".join([*pieces, text[end:]])


def draft_types(text: str, read: Recovered) -> DraftTypes:
    """Infer the types that a draft leaves out, write them into its Program, and say which cannot be told."""
    types = DraftTypes({}, [], [], set(read.drafts))
    if read.program is None or read.root is None or not read.drafts:
        return types
    walk = _DraftWalk(text, read, types)
    walk.program(read_program(read.program))
    types.diagnostics.extend(located(walk.findings, read.root))
    types.stuck.extend(located(walk.stuck, read.root))
    return types


def draft_notice(read: Recovered) -> list[Diagnostic]:
    """Warn that a text is not yet a program, at the first thing that it leaves out."""
    if not read.drafts:
        return []
    first = min(read.drafts.values(), key=lambda phrase: phrase.start)
    types = counted(len(read.drafts), "type")
    message = f"this is a draft, which leaves out {types}; `miltext infer` fills in what is missing"
    return [warning("MIL712", message, first.span)]


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
        self.findings: list[Finding] = []
        self.stuck: list[Finding] = []

    def operation(self, operation: Operation, scope: Scope, path: tuple[str | int, ...]) -> None:
        place = message_path(path)
        for name, bindings in operation.inputs.items():
            for index in range(len(bindings)):
                gap = (*place, "inputs", Key(name), "arguments", index)
                value = self.literal(operation, name, gap, scope) if gap in self.gaps else None
                if value is not None:
                    operation.message.inputs[name].arguments[index].value.CopyFrom(value)
                    bindings[index] = self.reader.value(value)
        super().operation(operation, scope, path)
        for index, output in enumerate(operation.message.outputs):
            if (*place, "outputs", index) in self.gaps:
                self.output(output, index, (*place, "outputs", index))

    def output(self, output: NamedValueType, index: int, gap: Path) -> None:
        """Write the type of an output, which the last inference is about."""
        inference = self.found[-1]
        inferred = inference.inferred or ()
        is_there = index < len(inferred)
        if is_there and is_known(inferred[index]):
            output.type.CopyFrom(write_type(inferred[index]))
            self.settle(gap, self.gaps[gap].children[0].span, spelled(inferred[index], self.dialect))
            return
        message = f"the type of {named(output.name)} cannot be inferred: {_why(inference)}; write it out"
        is_its_own = (is_there or inference.inferred is None) and gap[:-2] not in self.flawed
        told = self.findings if is_its_own and not _is_stuck(inference) else self.stuck
        told.append(Finding((*gap, "type"), "MIL711", message))

    def literal(self, operation: Operation, name: str, gap: Path, scope: Scope) -> Value | None:
        """Return the value of a literal; None where its type cannot be told, or is not what the literal spells."""
        span = self.gaps[gap].span
        literal = self.text[span.start : span.end]
        known = signature(operation.type, self.opset)
        try:
            if known is None or name not in known.parameters:
                raise Undecided(f"nothing is known of {named(name)} of {named(operation.type)}; write it out")
            made = literal_type(literal, name, known.parameters, bound(operation, scope))
        except Undecided as undecided:
            message = f"the type of this literal cannot be inferred: {undecided}"
            self.findings.append(Finding(gap, "MIL711", message))
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


def _is_stuck(inference: Inference) -> bool:
    """Tell whether nothing follows because of what the operation is given."""
    operands = [operand for bound in inference.arguments.operands.values() for operand in bound]
    return inference.clash is not None or any(operand.type is None for operand in operands)


def _why(inference: Inference) -> str:
    if signature(inference.operation.type) is None:
        return f"the operation {named(inference.operation.type)} is not known"
    return "too little is known of what the operation is given"
