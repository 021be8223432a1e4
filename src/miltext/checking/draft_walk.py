"""Inference over a draft, which writes its results into the Program, and notes the text for omitted parts."""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING

from miltext.checking.draft_arrays import HeldArray, conversion
from miltext.checking.draft_constants import (
    ConstantUse,
    DraftLiteral,
    OpenConstant,
    TypingOperands,
    UsualWalk,
    is_of_function,
    takes,
)
from miltext.checking.findings import Finding, named, operations_around
from miltext.checking.import_calls import ImportCall, named_arguments, unnamed_arguments
from miltext.checking.inference.operands import Operand, read_value
from miltext.checking.inference.program import UNDEFINED, Outcome, is_misnamed
from miltext.checking.inference.reading import StatedGraph
from miltext.checking.literal_types import Misfit, UndecidedType, usual_type
from miltext.checking.not_inferred import why_not_inferred
from miltext.checking.operations import message_path
from miltext.diagnostics import Diagnostic, ParseError, Span, codes
from miltext.ir import parts as ir
from miltext.parsing.elaboration import UNNAMED
from miltext.parsing.lowering.imports import import_named
from miltext.parsing.lowering.left_out import array_named
from miltext.parsing.parser import parse_value
from miltext.schema.operations import first_opset, signature
from miltext.schema.paths import Key, Path
from miltext.schema.proto import Program, Value
from miltext.schema.types import StateType, TensorType, is_known, join, spelled, write_type
from miltext.syntax.lexer import dialect_of
from miltext.syntax.literals import shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from miltext.checking.arrays import Arrays
    from miltext.checking.draft_types import DraftTypes
    from miltext.checking.inference.operands import Arguments, NestedBlock
    from miltext.checking.inference.program import Path as InferencePath
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.parsing.recovery import Recovered
    from miltext.schema.operations import Signature
    from miltext.schema.proto import NamedValueType
    from miltext.schema.types import ListType, Type


class DraftWalk(UsualWalk):
    """Inference that writes its results into the Program.

    `carried` are the types of a loop's variables, by the inputs of its blocks without types: the types of the incoming
    and the returned values, with a `?` for each size that differs. If a type is wider than before the walk, another
    walk is necessary (`wider`). Only the last inference is kept, unless all are needed.
    """

    keeps_all = False

    def __init__(
        self,
        read: Recovered,
        types: DraftTypes,
        arrays: Arrays,
        carried: Mapping[Path, Type] | None = None,
    ) -> None:
        super().__init__(StatedGraph(read.program or Program()))
        self.arrays = arrays
        self.text, self.root = read.text, read.root
        self.dialect = dialect_of(read.text)
        self.gaps = read.drafts
        self.flawed = read.flawed
        self.around = {operation for path in read.flawed for operation in operations_around(path)}
        self.broken = {found[-1] for path in read.flawed if (found := [*operations_around(path)])}
        self.unknown = {UNDEFINED}
        self.wrong = sorted(each.span for each in read.diagnostics if each.span and each.severity == "error")
        self.types = types
        self.makers: dict[Operand, Path] = {}
        self.open: dict[Operand, OpenConstant] = {}
        self.held: dict[Operand, HeldArray] = {}
        self.elaborated = read.elaborated
        self.carried = carried or {}
        self.wider: dict[Path, Type] = {}

    def operation(self, op: Op, path: InferencePath) -> None:
        place = message_path(path)
        if signature(op.type, self.opset) is None:
            self.unnamed(op, place)
        self.attributes(op, place)
        if (call := self.call(op)) is not None:
            self.types.edits.update(named_arguments(call, place, self.names_of_places))
        if self.opened(op, place):
            return
        self.constants(op, place)
        self.arguments(op, place)
        super().operation(op, path)
        for index, output in enumerate(op.outputs):
            gap = (*place, "outputs", index)
            if gap in self.gaps and not self.output(output, index, gap):
                self.known[output] = UNDEFINED
        self.hold(op, place)
        self.use(place, [self.known[output] for output in op.outputs])

    # ---- imports

    def call(self, op: Op) -> ImportCall | None:
        """Return an operation as a call of an imported function that can be read; None for any other operation."""
        reference = import_named(op.type) if self.arrays.imports is not None else None
        if reference is None or self.arrays.imports is None:
            return None
        call = ImportCall(op, reference, self.arrays.imports, self.dialect)
        return call if call.is_readable else None

    @cached_property
    def names_of_places(self) -> dict[Path, Span]:
        """The names of arguments of imports that elaboration made of their places, by path."""
        return unnamed_arguments(self.root)

    def outcome(self, op: Op, arguments: Arguments, path: InferencePath) -> Outcome:
        made = super().outcome(op, arguments, path)
        if (call := self.call(op)) is not None:
            made = Outcome(arguments)  # another one for each import, whose folder may be another one
            made.inferred = call.followed({name: each[0].type for name, each in arguments.operands.items() if each})
        return made

    def arguments(self, op: Op, place: Path) -> None:
        """Write the literal arguments of an operation."""
        beside: TypingOperands | None = None
        for name, index in [(name, index) for name, several in op.inputs.items() for index in range(len(several))]:
            gap = (*place, "inputs", Key(name), "arguments", index)
            if gap not in self.gaps:
                continue
            beside = beside or self.surroundings(op, place)
            made = self.literal_type(op, name, gap, beside)
            value = self.value(gap, made) if made is not None else None
            if value is not None:
                constant = self.graph.bind(op, name, index, value)
                beside.note(name, index, Operand(made, value=constant.value))

    def hold(self, op: Op, place: Path) -> None:
        """Record an array in a `const`, or the conversions that an operation's arrays need."""
        literal = (*place, "attributes", Key("val"))
        if op.type == "const" and literal in self.gaps and self.is_array(literal):
            reference = array_named(op.attributes["val"])
            stored = self.arrays.stored(reference) if reference else None
            span = self.gaps[literal].first
            is_written = self.elaborated is None or self.elaborated.copies(span)
            if stored and op.outputs:
                self.held[self.known[op.outputs[0]]] = HeldArray(stored, literal, is_written)
            return
        known = signature(op.type, self.opset) if self.held else None
        if known is None:
            return
        given = self.operands(op)
        for name, operands in op.inputs.items():
            for index, each in enumerate(operands if name in known.parameters else ()):
                own = self.known.get(each) if isinstance(each, ir.Value) else None
                if own is None or own not in self.held:
                    continue
                made = conversion(self.held[own], own, name, known, given, self.usual)
                if made is not None:
                    binding_path: Path = (*place, "inputs", Key(name), "arguments", index)
                    self.types.conversions[binding_path] = made

    def unnamed(self, op: Op, place: Path) -> None:
        """Report arguments without names of an unknown operation."""
        for name in op.inputs if import_named(op.type) is None else ():
            if name.startswith(UNNAMED) and first_opset(op.type) is None:
                gap = (*place, "inputs", Key(name))
                message = f"{named(op.type)} is not known: write each argument with its parameter, `x = ...`"
                self.strange(gap, message)

    def nested(self, op: Op, operands: Mapping[str, Sequence[Operand]], path: InferencePath) -> list[NestedBlock]:
        known = signature(op.type, self.opset)
        for at, (block, kind) in enumerate(zip(op.blocks, known.blocks if known else ())):  # noqa: B905
            given = operands.get(kind.inputs or "", ())
            for index, value in enumerate(block.inputs):
                gap = (*message_path(path), "blocks", at, "inputs", index)
                if gap in self.gaps:
                    self.input(value, gap, given[index] if index < len(given) else None)
                    self.graph.reread(value)
        found = super().nested(op, operands, path)
        for at, (body, kind) in enumerate(zip(found, known.blocks if known else ())):  # noqa: B905
            if kind.inputs and len(body.inputs) == len(body.outputs):
                self.carry(body, at, len(op.blocks), message_path(path))
        return found

    def carry(self, body: NestedBlock, at: int, blocks: int, path: Path) -> None:
        """Record the outputs of a loop's body as the inputs of each of its blocks."""
        for index, (taken, given) in enumerate(zip(body.inputs, body.outputs, strict=True)):
            wider = join(taken, given)
            if is_known(taken) and is_known(given) and is_known(wider) and wider != taken:
                gaps: list[Path] = [(*path, "blocks", place, "inputs", index) for place in range(blocks)]
                if gaps[at] in self.gaps:
                    self.wider.update((gap, wider) for gap in gaps if gap in self.gaps)

    def input(self, value: ir.Value, gap: Path, operand: Operand | None) -> None:
        """Write the type of a block's input: the type of its operand."""
        if operand and is_known(operand.type):
            made = join(operand.type, self.carried.get(gap, operand.type))
            made = made if is_known(made) else operand.type
            declared(value).type.CopyFrom(write_type(made))
            self.state_type(gap, made)
        elif operand is not UNDEFINED and gap[:-4] not in self.flawed:
            what = f"the type of {named(value.name)} cannot be inferred"
            finding = Finding(
                (*gap, "type"), codes.NOT_INFERRED, f"{what}: its meaning does not follow from the text; write it out"
            )
            self.types.unknown.setdefault(gap[:-4], finding)

    # ---- attributes and constants

    def attributes(self, op: Op, place: Path) -> None:
        """Write the types of attributes, except for a `const` without types."""
        attributes = self.graph.attributes[op]
        for name in sorted(attributes):
            gap = (*place, "attributes", Key(name))
            if gap not in self.gaps or self.is_open(op, place, name):
                continue
            value = self.attribute(op, name, gap)
            if value is not None:
                op.message.attributes[name].CopyFrom(value)
                attributes[name] = self.graph.reader.value(value)

    def attribute(self, op: Op, name: str, gap: Path) -> Value | None:
        """Return the value of an attribute; None where it cannot be inferred."""
        is_constant = op.type == "const" and name == "val" and bool(op.outputs)
        made: Type = self.graph.type(op.outputs[0]) if is_constant else None
        if self.is_array(gap):
            return self.array(op.attributes[name], made, gap)
        if name == "name":
            made = TensorType("string", ())
        elif import_named(op.type) is not None:
            return None  # `import_findings` refuse it
        elif not is_constant:
            made = self.attribute_type(op, name, gap)
        return self.value(gap, made) if made is not None else None

    def is_array(self, gap: Path) -> bool:
        """Return whether a phrase without a type is an array file, which has a type."""
        return self.gaps[gap].is_array

    def array(self, value: Value, stated: Type, gap: Path) -> Value | None:
        """Return the value of an array, which may have a `stated` type; None for an unreadable array."""
        made, found = self.arrays.untyped(value, stated, gap)
        self.types.findings.extend(found)
        if made is None:
            self.types.misspelled.add(gap)  # nothing follows from it, even if the same file was reported before
            return None
        whole = Value()
        whole.CopyFrom(value)
        whole.type.CopyFrom(write_type(made))
        span = self.gaps[gap].last
        self.settle(gap, span, f"{spelled(made, self.dialect)}({self.spelling(gap)})")
        return whole

    def attribute_type(self, op: Op, name: str, gap: Path) -> TensorType | ListType | None:
        """Return the type of an attribute; an unknown attribute may be a string or a truth value."""
        known = signature(op.type, self.opset)
        if known and name in known.parameters and known.parameters[name].attribute:
            *_, place = operations_around(gap)
            return self.literal_type(op, name, gap, self.surroundings(op, place))
        try:
            usual = usual_type(self.spelling(gap), self.usual)
        except Misfit as misfit:
            self.types.findings.append(Finding(gap, misfit.code, str(misfit)))
            return None
        if usual.shape == () and usual.dtype in ("string", "bool"):
            return usual
        given = {*op.inputs, *op.attributes}
        if known and any(each.required and each.name not in given for each in known.parameters.values()):
            return None  # the missing part is reported; it may be this one
        written = f"{spelled(usual, self.dialect)}({self.spelling(gap)})"
        what = f"the type of this literal cannot be inferred: nothing is known of {named(name)} of"
        message = f"{what} {named(op.type)}; write it out, as in `{shown(written)}`"
        if first_opset(op.type) is None:
            self.strange(gap, message)
        else:
            self.types.findings.append(Finding(gap, codes.NOT_INFERRED, message, suggestion=written))
        return None

    def is_open(self, op: Op, place: Path, name: str = "val") -> bool:
        """Return whether an attribute is the value of a `const` without any type."""
        gaps = {(*place, "attributes", Key("val")), (*place, "outputs", 0)}
        is_const = op.type == "const" and name == "val" and len(op.outputs) == 1
        return is_const and gaps <= self.gaps.keys() and not self.is_array((*place, "attributes", Key("val")))

    def opened(self, op: Op, place: Path) -> bool:
        """Record a `const` whose type its uses determine; return whether the operation is such a `const`."""
        if not self.is_open(op, place):
            return False
        operand = self.known[op.outputs[0]] = Operand(None)
        gaps = (*place, "attributes", Key("val")), (*place, "outputs", 0)
        self.makers[operand] = place
        if self.has_error(self.gaps[gaps[0]].last):
            self.unknown.add(operand)
        else:
            self.open[operand] = OpenConstant(op, place, operand, *gaps)
        self.types.uses.append((place, ()))
        return True

    def constants(self, op: Op, place: Path) -> None:
        """Determine the types of constants at their first use, and compare later uses with them."""
        if not self.open:
            return
        known = signature(op.type, self.opset)
        beside = self.surroundings(op, place)
        for name, operands in op.inputs.items():
            for index, each in enumerate(operands):
                constant = self.open.get(self.operand(each)) if isinstance(each, ir.Value) else None
                if constant is None:
                    continue
                constant.is_doubtful |= beside.lacks and constant.use is None
                if known is not None and name in known.parameters:
                    use = ConstantUse(op.type, name, (*place, "inputs", Key(name), "arguments", index))
                    self.decide(constant, use, known, beside)
                    beside.note(name, index, constant.operand)

    def surroundings(self, op: Op, place: Path) -> TypingOperands:
        """Return the operands that may determine the types of an operation's literals and constants."""
        return TypingOperands(self.operands(op), lacks=self.lacks(op, place), guide=self.guide(op, place))

    def is_unknown(self, operand: Operand) -> bool:
        """Return whether an operand is unknown because of a mistake that was reported elsewhere."""
        return operand in self.unknown or (operand in self.open and self.open[operand].is_doubtful)

    def lacks(self, op: Op, place: Path) -> bool:
        """Return whether a mistake in an operation, or in the source of an operand, prevents inference of its types."""
        if place in self.broken or not self.unknown.isdisjoint(map(self.operand, op.operands)):
            return True
        known = signature(op.type, self.opset)
        if known is None:
            return any((*place, "outputs", index) in self.gaps for index in range(len(op.outputs)))
        return is_misnamed(op, known)

    def guide(self, op: Op, place: Path) -> str | None:
        """Return the declared data type of an operation's first output."""
        if not op.outputs or (*place, "outputs", 0) in self.gaps:
            return None
        stated = self.graph.type(op.outputs[0])
        return stated.dtype if isinstance(stated, TensorType) else None

    def decide(self, constant: OpenConstant, use: ConstantUse, known: Signature, beside: TypingOperands) -> None:
        """Determine the type of a constant at a use, or compare the use with the type."""
        first, made = constant.operand.type, None
        if constant.use and takes(known, use.parameter, getattr(first, "dtype", None), beside.operands()):
            return
        with suppress(Misfit, UndecidedType):
            usual = None if constant.is_doubtful else self.usual
            typed = DraftLiteral(self.spelling(constant.gap), use.parameter, int(use.path[-1]), known, self.opset)
            made = typed.type(beside, usual, without=constant.operand)
        if constant.use and isinstance(first, TensorType):
            self.types.findings.append(constant.conflict(use, first, made if made != first else None))
            self.reopen(constant)
        elif made is not None:
            constant.use = use
            self.close(constant, made)

    def close(self, constant: OpenConstant, made: TensorType | ListType) -> None:
        """Write the type of a constant."""
        value = self.value(constant.gap, made)
        if value is None:
            self.open.pop(constant.operand, None)
            self.unknown.add(constant.operand)
            return
        constant.op.message.attributes["val"].CopyFrom(value)
        declared(constant.op.outputs[0]).type.CopyFrom(write_type(made))
        constant.operand.settle(made, partial(read_value, value, made))
        self.state_type(constant.output, made)

    def reopen(self, constant: OpenConstant) -> None:
        """Remove the type of a constant whose uses disagree; report nothing more about it."""
        constant.op.message.attributes["val"].Clear()
        declared(constant.op.outputs[0]).ClearField("type")
        self.types.open.update((constant.gap, constant.output))
        self.unknown.add(constant.operand)
        del self.open[constant.operand]

    def leave(self, block: Block, path: InferencePath) -> None:
        """Give the usual types to constants that a block returns, and finally to unused constants."""
        is_last = is_of_function(path)
        for operand in [*self.open] if is_last else map(self.operand, block.outputs):
            constant = self.open.get(operand)
            if constant and operand.type is None and constant.is_doubtful:
                self.unknown.add(operand)
            elif constant and operand.type is None:
                del self.open[operand]
                try:
                    self.close(constant, usual_type(self.spelling(constant.gap), self.usual))
                except Misfit as misfit:
                    self.types.findings.append(Finding(constant.gap, misfit.code, str(misfit)))
        if is_last:
            self.open.clear()

    # ---- outputs and arguments

    def use(self, place: Path, outputs: list[Operand]) -> None:
        """Record the operations that the last inference's operation uses, and its outputs."""
        if not self.keeps_all:
            del self.found[:-1]
        given = self.found[-1].arguments.operands.values()
        used = {self.makers[operand] for bound in given for operand in bound if operand in self.makers}
        self.types.uses.append((place, (*used,)))
        self.makers |= {output: place for output in outputs if output is not UNDEFINED}

    def output(self, output: ir.Value, index: int, gap: Path) -> bool:
        """Write the type of an output of the last inference; return whether the type is known."""
        inference = self.found[-1]
        inferred = inference.inferred or ()
        if is_misnamed(inference.operation, signature(inference.operation.type, self.opset)):
            return False  # the argument may have been meant for a parameter that decides
        if index < len(inferred) and is_known(inferred[index]) and not isinstance(inferred[index], StateType):
            declared(output).type.CopyFrom(write_type(inferred[index]))
            self.state_type(gap, inferred[index])
            return True
        if import_named(inference.operation.type) is not None:
            return False  # `import_findings` contain the reason
        operands = [operand for bound in inference.arguments.operands.values() for operand in bound]
        what = f"the type of {named(output.name)} cannot be inferred"
        if first_opset(inference.operation.type) is None:
            self.strange(gap, f"{what}: the operation {named(inference.operation.type)} is not known; write it out")
        elif gap[:-2] not in self.around and not any(map(self.is_unknown, operands)):
            message = f"{what}: {why_not_inferred(inference, self.opset)}"
            self.types.unknown.setdefault(gap[:-2], Finding((*gap, "type"), codes.NOT_INFERRED, message))
        return False

    def strange(self, gap: Path, message: str) -> None:
        """Record the first omission beside an unknown operation."""
        *_, operation = operations_around(gap)
        if operation not in self.flawed:
            self.types.strange.setdefault((*operation, "type"), Finding(gap, codes.NOT_INFERRED, message))

    def spelling(self, gap: Path) -> str:
        """Return the literal of a binding or an attribute."""
        span = self.gaps[gap].last
        return self.text[span.start : span.end]

    def value(self, gap: Path, made: Type) -> Value | None:
        """Return the value of a literal of a type; None if the literal does not fit the type."""
        span = self.gaps[gap].last
        head = f"{spelled(made, self.dialect)}("
        written = f"{head}{self.spelling(gap)})"
        try:
            value = parse_value(written)
        except ParseError as failure:
            if not self.has_error(span):
                self.types.diagnostics.append(_shifted(failure.diagnostics[0], span.start - len(head), span))
            self.types.misspelled.add(gap)
            self.broken.update([*operations_around(gap)][-1:])
            return None
        self.settle(gap, span, written)
        return value

    def has_error(self, span: Span) -> bool:
        """Return whether reading of the text found an error in a span."""
        first = bisect_left(self.wrong, span)
        return first < len(self.wrong) and self.wrong[first].start < span.end

    def literal_type(self, op: Op, name: str, gap: Path, beside: TypingOperands) -> TensorType | ListType | None:
        """Return the type of a literal, or report the reason why it cannot be inferred, unless reported elsewhere, and
        return None.
        """
        known = signature(op.type, self.opset)
        if (call := self.call(op)) is not None and isinstance(taken := call.taken(name), TensorType):
            return taken
        what = "the type of this literal cannot be inferred"
        if known is None or name not in known.parameters:
            message = f"{what}: nothing is known of {named(name)} of {named(op.type)}; write it out"
            if known is not None and known.open:
                self.types.findings.append(Finding(gap, codes.NOT_INFERRED, message))
            elif first_opset(op.type) is None:
                self.strange(gap, message)
            return None
        try:
            *_, place = operations_around(gap)
            usual = None if beside.lacks or place in self.broken else self.usual
            index = int(gap[-1]) if gap[-2] == "arguments" else 0
            return DraftLiteral(self.spelling(gap), name, index, known, self.opset).type(beside, usual)
        except Misfit as misfit:
            self.types.findings.append(Finding(gap, misfit.code, str(misfit), suggestion=misfit.suggestion))
        except UndecidedType as undecided:
            is_reported = op.type == "const" and gap[-2] == "arguments"  # as an attribute
            if not is_reported and usual is not None:
                self.types.findings.append(Finding(gap, codes.NOT_INFERRED, f"{what}: {undecided}"))
        return None

    def state_type(self, gap: Path, type: Type) -> None:
        """Record the type of a value, in place of `_` or before the name."""
        phrase = self.gaps[gap]
        made = spelled(type, self.dialect)
        is_marked = phrase.first != phrase.last  # by `_`
        self.settle(gap, *((phrase.first, made) if is_marked else (Span(phrase.start, phrase.start), f"{made} ")))

    def settle(self, gap: Path, span: Span, text: str) -> None:
        """Record the text for an omitted part."""
        self.types.edits[span] = text
        self.types.open.discard(gap)


def _shifted(diagnostic: Diagnostic, shift: int, whole: Span) -> Diagnostic:
    """Return the diagnostic of a separately lowered literal at its place in the draft."""
    found = diagnostic.span
    inside = found is not None and whole.start <= found.start + shift and found.end + shift <= whole.end
    span = Span(found.start + shift, found.end + shift) if found and inside else whole
    return Diagnostic(diagnostic.severity, diagnostic.code, diagnostic.message, span)


def declared(value: ir.Value) -> NamedValueType:
    """Return the message that declares a value and contains its type."""
    assert value.message is not None, "an undefined name has no type"
    return value.message
