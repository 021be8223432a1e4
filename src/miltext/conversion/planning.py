"""The walk over a function that decides about each operation, and records the type that each use of a value needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import Arguments, Operand, read_value
from miltext.checking.inference.program import UNDEFINED, result
from miltext.conversion.deciding import Deciding, Decision, OldInput
from miltext.conversion.halves import BEYOND
from miltext.conversion.integers import is_exact, is_float, is_wide, may_count
from miltext.conversion.known import Known, KnownConstant
from miltext.conversion.scales import compressed, scaled
from miltext.diagnostics import codes
from miltext.files.refusals import refusal
from miltext.ir.flow import FLOWS
from miltext.ir.parts import Use, Value, literal_of
from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import signature
from miltext.schema.types import ListType, TensorType, Type, read_type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.conversion.contents import Contents
    from miltext.conversion.numbers import Numbers
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.ir.parts import Operand as GraphOperand
    from miltext.schema import proto

DATA = {"const": "val", "constexpr_cast": "source_val"}
"""The operations whose outputs are constants of either type, and the attributes with these constants."""


class BoundOperand(NamedTuple):
    """An argument, by its place, or an attribute: a known value, or a literal with its numbers."""

    given: OldInput
    place: int = 0
    known: Known | None = None
    literal: proto.Value | None = None
    numbers: Numbers | None = None

    @property
    def held(self) -> proto.Value | None:
        """The constant that it is, or comes from."""
        return self.literal if self.known is None else literal_of(self.known.value)

    @property
    def known_numbers(self) -> Numbers | None:
        """The numbers of a constant that can be of either type."""
        return self.known.numbers if isinstance(self.known, KnownConstant) else self.numbers


class KeptConstant(NamedTuple):
    """A constant outside of fp16's range: its greatest number, or a scale too small; and the values kept for it."""

    number: float
    outputs: list[str]


class Planning:
    """Plans the conversion of a block of a function, and of the blocks inside it.

    `known` are the facts of each value; an idle cast has the facts of the value that it casts. `kept` are the constants
    that keep operations as they are, by name; `rounded` the casts of integers that fp16 may not contain.
    """

    def __init__(self, contents: Contents, function: str, opset: str) -> None:
        self.precisions = contents.precisions
        self.known: dict[Value, Known] = {}
        self.kept: dict[str, KeptConstant] = {}
        self.rounded: list[str] = []
        self._idle_ones: dict[Value, Operand] = {}
        self._contents = contents
        self.function = function
        self._opset = opset
        self._deciding = Deciding(self.precisions, opset)
        self._overflows: dict[str, float] = {}

    @property
    def values(self) -> list[Known]:
        """The facts of values, each once, in the order of the text."""
        return list(dict.fromkeys(self.known.values()))

    def block(self, block: Block, inputs: Iterable[tuple[Value, Type]]) -> None:
        """Plan a block whose inputs are of these types from now on."""
        for value, now in inputs:
            self._require_rank(value)
            old = value.type
            made = self.known[value] = Known(value, Operand(old, constant=False), now, block)
            made.counts = is_wide(old) or is_float(old)
            if value.owner is block and now != old:
                value.type = now
        for op in block:
            self._operation(op, block)

    def _operation(self, op: Op, block: Block) -> None:
        if op.type in DATA and self._constant(op, block):
            return
        bound = self._bound(op)
        decision = self._with_blocks(op, bound) if op.blocks else self._decided(op, bound)
        if not self._idle(op, bound, decision):
            self._carry_out(op, bound, decision)
            self._outputs(op, block, bound, decision)

    def _require_rank(self, value: Value) -> None:
        """Refuse a value of the old data type without a rank, whose new type cannot be stated."""
        assert value.message is not None, "an undefined name is declared nowhere"
        if value.type is None and value.message.type.tensorType.dataType == BY_NAME[self.precisions.old].number:
            raise refusal(codes.UNCONVERTIBLE_VALUE, f"`{value.name}` cannot be converted: its type has no rank")

    def before(self, value: Value) -> Operand:
        """Return the old operand of a value, which may be the output of an idle cast."""
        return self._idle_ones.get(value) or self.known[value].operand

    # ---- constants

    def _constant(self, op: Op, block: Block) -> bool:
        """Enter an operation that can be of one type or the other; return whether it is one."""
        literal = op.literal(DATA[op.type])
        if literal is None or len(op.outputs) != 1:
            return False
        [value] = op.outputs
        old = value.type
        operand = Operand(old, partial(read_value, literal, read_type(literal.type)))
        numbers, now = None, old
        if op.type == "const" and old == STRING and operand.value in self.precisions:
            pass
        elif isinstance(old, TensorType) and old.dtype == self.precisions.old and self._is_data(op):
            numbers, now = self._contents.numbers(literal, value.name), self.precisions.of(old)
        else:
            return False
        made = self.known[value] = KnownConstant(value, operand, now, block, maker=op, numbers=numbers)
        if numbers is not None and self._is_beyond(numbers, value.name):
            made.type, made.wide = old, value.name
        return True

    def _is_data(self, op: Op) -> bool:
        return op.type == "const" or self.precisions.new == "fp16"

    def _is_beyond(self, numbers: Numbers, name: str) -> bool:
        overflow = self._contents.overflow(numbers)
        if overflow is not None:
            self._overflows[name] = overflow
        return overflow is not None

    # ---- the inputs of operations

    def _bound(self, op: Op) -> dict[str, list[BoundOperand]]:
        """Return the inputs of an operation, by parameter: its arguments, and its attributes except for the name."""
        found = {
            name: [self._binding(op, name, place, operand) for place, operand in enumerate(operands)]
            for name, operands in op.inputs.items()
        }
        for name, literal in op.attributes.items():
            if name != "name" and name not in found:
                found[name] = [self._binding(op, name, 0, literal)]
        return found

    def _binding(self, op: Op, name: str, place: int, operand: GraphOperand) -> BoundOperand:
        known = self.known.get(operand) if isinstance(operand, Value) else None
        if isinstance(operand, Value) and known is not None:
            return BoundOperand(OldInput(self.before(operand), known.type, known.wide), place, known)
        if operand is None or isinstance(operand, Value):
            return BoundOperand(OldInput(UNDEFINED, None, ""), place)
        old = read_type(operand.type)
        before = Operand(old, partial(read_value, operand, old))
        if not isinstance(old, TensorType) or old.dtype != self.precisions.old:
            return BoundOperand(OldInput(before, old, ""), place, literal=operand)
        called = _called(op, name)
        numbers = self._contents.numbers(operand, called)
        wide = called if self._is_beyond(numbers, called) else ""
        now = old if wide else self.precisions.of(old)
        return BoundOperand(OldInput(before, now, wide), place, literal=operand, numbers=numbers)

    def _is_exact(self, op: Op, bound: Mapping[str, list[BoundOperand]]) -> bool:
        return self.precisions.new == "fp16" and is_exact(op, bound)

    # ---- decisions

    def _decided(self, op: Op, bound: Mapping[str, list[BoundOperand]]) -> Decision:
        given = {name: [each.given for each in several] for name, several in bound.items()}
        declared = [output.type for output in op.outputs]
        known = signature(op.type, self._opset)
        decision = None
        if known is not None and not known.open and not self._is_exact(op, bound):
            decision = self._deciding.converted(op.type, known, given, declared)
        if decision is None:
            return self._kept(op, given, declared)
        beyond = self._beyond(op, bound) + [
            each.wide
            for name, several in given.items()
            for each, requested in zip(several, decision.required[name], strict=True)
            if each.wide and requested != each.type
        ]
        if beyond:
            self._keep(beyond, _made(op))
            return self._kept(op, given, declared)
        self._contents.changes += compressed(op, bound, self.function, self._contents)
        return decision

    def _kept(self, op: Op, given: dict[str, list[OldInput]], declared: Sequence[Type]) -> Decision:
        """Return the decision to keep an operation. Raise ModelError (MIL438) if it takes a list that changes."""
        for each in chain.from_iterable(given.values()):
            if isinstance(each.old, ListType) and each.type != each.old:
                message = f"`{_made(op)}` cannot be converted: `{op.type}` stays {self.precisions.old} here"
                raise refusal(
                    codes.UNCONVERTIBLE_VALUE, f"{message}, but its list becomes one of {self.precisions.new}"
                )
        return self._deciding.kept(given, declared)

    def _beyond(self, op: Op, bound: Mapping[str, list[BoundOperand]]) -> list[str]:
        """Return the name of a compressed constant if its factors may be beyond fp16, or below it.

        A scale is a factor, so it is neither raised to the least number of fp16 nor becomes 0.
        """
        made = scaled(op.type, bound, self._contents) if self.precisions.new == "fp16" else None
        if made is None:
            return []
        name, loss = op.outputs[0].name, made.scales.loss
        if made.greatest >= BEYOND:
            self._overflows[name] = made.greatest
        elif loss.raised or loss.zeros:
            self._overflows[name] = loss.least
        return [name] if name in self._overflows else []

    def _keep(self, beyond: Sequence[str], made: str) -> None:
        """Record that the operation of a value is kept because of constants beyond fp16."""
        for name in dict.fromkeys(beyond):
            self.kept.setdefault(name, KeptConstant(self._overflows[name], [])).outputs.append(made)

    def _with_blocks(self, op: Op, bound: Mapping[str, list[BoundOperand]]) -> Decision:
        """Decide about an operation with blocks, and plan the blocks: inputs and outputs of blocks have the types
        outside.
        """
        given = {name: [each.given for each in several] for name, several in bound.items()}
        declared = [output.type for output in op.outputs]
        decision = self._deciding.kept(given, declared)
        flow, variables = FLOWS.get(op.type), None
        if flow is not None and flow.variables:
            carried = given.get(flow.variables, [])
            variables = [each.old if each.wide else self.precisions.of(each.old) for each in carried]
            self._keep([each.wide for each in carried if each.wide], _made(op))
            outputs = variables if len(variables) == len(declared) else declared
            decision = decision._replace(required={**decision.required, flow.variables: variables}, outputs=outputs)
        elif flow is not None:
            decision = decision._replace(outputs=[self.precisions.of(old) for old in declared])
        for place, block in enumerate(op.blocks):
            gives = decision.outputs if flow is not None and place != flow.test else ()
            self._inner(block, variables, gives)
        return decision

    def _inner(self, block: Block, variables: Sequence[Type] | None, gives: Sequence[Type]) -> None:
        """Plan a block of an operation: its inputs have the types of `variables`, its outputs the types of `gives`."""
        inputs = [value.type for value in block.inputs]
        if variables is not None and len(inputs) == len(variables):
            inputs = [*variables]
        self.block(block, zip(block.inputs, inputs, strict=True))
        wanted = gives if len(gives) == len(block.outputs) else [None] * len(block.outputs)
        for place, (value, requested) in enumerate(zip(block.outputs, wanted, strict=True)):
            if known := self.known.get(value):
                dtype = self._wanted(self.before(value).type if requested is None else requested)
                known.use(Use(block, "", place), dtype)
                if known.wide and dtype == self.precisions.new:
                    self._keep([known.wide], known.value.name)

    def _wanted(self, type: Type) -> str | None:
        """Return the data type that a value needs, if it is old or new."""
        return type.dtype if isinstance(type, TensorType) and type.dtype in self.precisions else None

    # ---- the conversion of operations

    def _idle(self, op: Op, bound: Mapping[str, list[BoundOperand]], decision: Decision) -> bool:
        """Record a `cast` to the present type of its value, which replaces it; return whether it is one."""
        if op.type != "cast" or len(op.outputs) != 1:
            return False
        known = next((each.known for each in bound.get("x", ())), None)
        if known is None or not self._wanted(known.type) or known.type != decision.outputs[0]:
            return False
        [value] = op.outputs
        self._idle_ones[value] = Operand(value.type, constant=known.operand.constant)
        self.known[value] = known
        known.idle.append(op)
        for each in chain.from_iterable(bound.values()):
            if isinstance(each.known, KnownConstant) and each.known.numbers is None:
                each.known.lost_a_use = True
        return True

    def _carry_out(self, op: Op, bound: Mapping[str, list[BoundOperand]], decision: Decision) -> None:
        """Record the uses of an operation's inputs, and convert its literals."""
        for name, several in bound.items():
            for each, requested in zip(several, decision.required[name], strict=True):
                self._use(op, name, each, requested, name in decision.words)
        for name in decision.left_out:
            op.set_input(name, immediate(STRING, self.precisions.new))

    def _use(self, op: Op, name: str, each: BoundOperand, type: Type, is_word: bool) -> None:
        wanted = self.precisions.new if is_word else self._wanted(type)
        if each.known is not None:
            each.known.use(Use(op, name, each.place), wanted)
        elif each.literal is not None and is_word:
            op.own_literal(name, each.place).CopyFrom(immediate(STRING, self.precisions.new))
        elif each.numbers is not None and wanted == self.precisions.new:
            self._contents.convert(op.own_literal(name, each.place), each.numbers, _called(op, name), self.function)

    def _outputs(self, op: Op, block: Block, bound: Mapping[str, list[BoundOperand]], decision: Decision) -> None:
        """Enter the outputs of an operation."""
        given = [each.given for several in bound.values() for each in several]
        name = op.outputs[0].name if op.outputs else ""
        wide = next((each.wide for each in given if each.wide), name if name in self._overflows else "")
        is_constant = all(each.operand.constant for each in given)
        operands = {name: [each.given.operand for each in several] for name, several in bound.items()}
        arguments = Arguments(op.type, operands, self._opset)
        for value, now in zip(op.outputs, decision.outputs, strict=True):
            old = value.type
            self._require_rank(value)
            made = Known(value, result(arguments, old), now, block)
            made.wide = wide if is_constant and now == old else ""
            made.counts = may_count(op.type, chain(*bound.values()), old, made.operand.value)
            made.exact = now == old and self._is_exact(op, bound)
            is_half = now != old and self.precisions.new == "fp16"
            if is_half and made.counts and any(is_wide(each.old) for each in given):
                self.rounded.append(value.name)
            self.known[value] = made
            if now != old:
                value.type = now


def _called(op: Op, name: str) -> str:
    """Return the displayed name of an argument: `w.scale`."""
    return f"{_made(op)}.{name}"


def _made(op: Op) -> str:
    """Return the name of an operation's first output, or the type of the operation."""
    return op.outputs[0].name if op.outputs else op.type
