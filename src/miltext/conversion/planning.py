"""The walk over a function that decides what becomes of each operation, and notes all uses of all values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Arguments, Operand, read_value
from miltext.checking.inference.program import UNDEFINED, Walk, result
from miltext.checking.inference.reading import Binding, Constant
from miltext.conversion.deciding import Deciding, Decision, Given
from miltext.conversion.halves import BEYOND
from miltext.conversion.integers import is_exact, is_float, is_wide, may_count
from miltext.conversion.known import Known, KnownConstant, TakenOut, dtype_of
from miltext.conversion.places import BlockPlan
from miltext.conversion.scales import compressed, scaled
from miltext.diagnostics import codes
from miltext.models.refusals import refusal
from miltext.schema.dtypes import BY_NAME
from miltext.schema.operations import signature
from miltext.schema.types import ListType, TensorType, Type, write_type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Block, Declared, Operation
    from miltext.conversion.contents import Contents
    from miltext.conversion.numbers import Numbers
    from miltext.schema import proto

Scope: TypeAlias = "dict[str, Known]"

DATA = {"const": "val", "constexpr_cast": "source_val"}
"""The operations that are numbers of one type or the other, and where those are."""


class Bound(NamedTuple):
    """One thing that an argument is bound to: a value that is known by name, or a constant in its place."""

    given: Given
    put: Callable[[str], object]
    known: Known | None = None
    value: proto.Value | None = None
    numbers: Numbers | None = None

    @property
    def known_numbers(self) -> Numbers | None:
        """The numbers of a constant that can be of either type."""
        return self.known.numbers if isinstance(self.known, KnownConstant) else self.numbers


class KeptConstant(NamedTuple):
    """A constant that fp16 does not have: its greatest number, or too small a scale; and what is kept for it."""

    number: float
    outputs: list[str]


class Planning:
    """Plans the conversion of a block of a function, and of those inside it.

    `values` are all values that it knows, `blocks` all blocks, inner ones first. `kept` are the constants for which
    operations stay as they are, by name; `rounded` the casts of whole numbers that fp16 may not have.
    """

    def __init__(self, contents: Contents, function: str, opset: str, computed: set[str]) -> None:
        self.precisions = contents.precisions
        self.values: list[Known] = []
        self.blocks: list[BlockPlan] = []
        self.kept: dict[str, KeptConstant] = {}
        self.rounded: list[str] = []
        self._computed = computed
        self._idle_ones: dict[str, Operand] = {}
        self._contents = contents
        self.function = function
        self._walk = Walk()
        self._walk.opset = opset
        self._deciding = Deciding(self.precisions, self._walk)
        self._overflows: dict[str, float] = {}

    def block(
        self, block: Block, message: proto.Block, outer: Scope, inputs: Sequence[tuple[Declared, Type]]
    ) -> tuple[BlockPlan, Scope]:
        """Plan a block whose `inputs` are of these types from now on; return it, and what is known at its end."""
        plan = BlockPlan(message)
        scope = {**outer}
        for declared, now in inputs:
            self._require_rank(declared)
            made = Known(declared.name, Operand(declared.stated.type, constant=False), now, plan)
            made.counts = is_wide(declared.stated.type) or is_float(declared.stated.type)
            self.values.append(made)
            scope[declared.name] = made
        for plan.position, operation in enumerate(block.operations):
            self._operation(operation, scope, plan)
        plan.position = len(block.operations)
        self.blocks.append(plan)
        return plan, scope

    def _operation(self, operation: Operation, scope: Scope, plan: BlockPlan) -> None:
        if operation.type in DATA and self._constant(operation, scope, plan):
            return
        bound = self._bound(operation, scope)
        decision = self._with_blocks(operation, bound, scope) if operation.blocks else self._decided(operation, bound)
        if not self._idle(operation, bound, decision, scope, plan):
            self._carry_out(operation, bound, decision)
            self._outputs(operation, bound, decision, scope, plan)

    def _require_rank(self, declared: Declared) -> None:
        """Refuse a value of the old data type of which too little is known to state it in the new one."""
        stated = declared.stated
        if stated.type is None and stated.message.tensorType.dataType == BY_NAME[self.precisions.old].number:
            raise refusal(
                codes.UNCONVERTIBLE_VALUE, f"`{declared.name}` cannot be converted: its type does not say its rank"
            )

    def before(self, name: str, known: Known) -> Operand:
        """Return what a name stood for; that of a cast which is taken out stands for another value now."""
        return self._idle_ones.get(name, known.operand)

    # ---- constants

    def _constant(self, operation: Operation, scope: Scope, plan: BlockPlan) -> bool:
        """Enter an operation that can be of one type or the other; return whether it is one."""
        found = _data(operation)
        if found is None or len(operation.outputs) != 1:
            return False
        [declared] = operation.outputs
        old, read = declared.stated.type, partial(read_value, found.message, found.stated.type)
        operand = Operand(old, read)
        numbers, now = None, old
        if operation.type == "const" and old == STRING and operand.value in self.precisions:
            pass
        elif isinstance(old, TensorType) and old.dtype == self.precisions.old and self._is_data(operation):
            numbers, now = self._contents.numbers(found.message, declared.name), self.precisions.of(old)
        else:
            return False
        made = KnownConstant(declared.name, operand, now, plan, operation.message, numbers=numbers)
        if numbers is not None and self._is_beyond(numbers, declared.name):
            made.type, made.wide = old, declared.name
        self.values.append(made)
        scope[declared.name] = made
        return True

    def _is_data(self, operation: Operation) -> bool:
        return operation.type == "const" or self.precisions.new == "fp16"

    def _is_beyond(self, numbers: Numbers, name: str) -> bool:
        overflow = self._contents.overflow(numbers)
        if overflow is not None:
            self._overflows[name] = overflow
        return overflow is not None

    # ---- what operations are given

    def _bound(self, operation: Operation, scope: Scope) -> dict[str, list[Bound]]:
        """Return what an operation is given, by parameter: its inputs, and its attributes but for the name."""
        found = {
            name: [
                self._binding(binding, operation, name, message, scope)
                for binding, message in zip(bindings, operation.message.inputs[name].arguments, strict=True)
            ]
            for name, bindings in operation.inputs.items()
        }
        for name, constant in operation.attributes.items():
            if name != "name" and name not in found:
                found[name] = [self._inline(constant, operation, name)]
        return found

    def _binding(
        self, binding: Binding, operation: Operation, name: str, message: proto.Argument.Binding, scope: Scope
    ) -> Bound:
        if isinstance(binding, Constant):
            return self._inline(binding, operation, name)
        known = scope.get(binding or "")
        put = partial(setattr, message, "name")
        if known is None:
            return Bound(Given(UNDEFINED, None, ""), put)
        return Bound(Given(self.before(binding or "", known), known.type, known.wide), put, known)

    def _inline(self, constant: Constant, operation: Operation, name: str) -> Bound:
        old = constant.stated.type
        operand = Operand(old, partial(read_value, constant.message, old))
        if not isinstance(old, TensorType) or old.dtype != self.precisions.old:
            return Bound(Given(operand, old, ""), _unnamed, value=constant.message)
        called = _called(operation, name)
        numbers = self._contents.numbers(constant.message, called)
        wide = called if self._is_beyond(numbers, called) else ""
        now = old if wide else self.precisions.of(old)
        return Bound(Given(operand, now, wide), _unnamed, value=constant.message, numbers=numbers)

    def _is_exact(self, operation: Operation, bound: Mapping[str, list[Bound]]) -> bool:
        return self.precisions.new == "fp16" and is_exact(operation, bound, self._computed)

    # ---- decisions

    def _decided(self, operation: Operation, bound: Mapping[str, list[Bound]]) -> Decision:
        given = {name: [each.given for each in several] for name, several in bound.items()}
        declared = [output.stated.type for output in operation.outputs]
        known = signature(operation.type, self._walk.opset)
        decision = None
        if known is not None and not known.open and not self._is_exact(operation, bound):
            decision = self._deciding.converted(operation.type, known, given, declared)
        if decision is None:
            return self._kept(operation, given, declared)
        beyond = self._beyond(operation, bound) + [
            each.wide
            for name, several in given.items()
            for each, asked in zip(several, decision.arguments[name], strict=True)
            if each.wide and asked != each.type
        ]
        if beyond:
            self._keep(beyond, _made(operation))
            return self._kept(operation, given, declared)
        self._contents.changes += compressed(operation, bound, self.function, self._contents)
        return decision

    def _kept(self, operation: Operation, given: dict[str, list[Given]], declared: Sequence[Type]) -> Decision:
        """Return that an operation is left as it is. Raise ModelError (MIL438) if it takes a list that is not."""
        for each in chain.from_iterable(given.values()):
            if isinstance(each.old, ListType) and each.type != each.old:
                message = (
                    f"`{_made(operation)}` cannot be converted: `{operation.type}` stays {self.precisions.old} here"
                )
                raise refusal(
                    codes.UNCONVERTIBLE_VALUE, f"{message}, but its list becomes one of {self.precisions.new}"
                )
        return self._deciding.kept(given, declared)

    def _beyond(self, operation: Operation, bound: Mapping[str, list[Bound]]) -> list[str]:
        """Return the name of a compressed constant if what it is made of may be beyond fp16, or below it.

        As a scale is a factor, it is not raised to the least number of fp16, and does not become 0.
        """
        made = scaled(operation.type, bound, self._contents) if self.precisions.new == "fp16" else None
        if made is None:
            return []
        name, loss = operation.outputs[0].name, made.scales.loss
        if made.greatest >= BEYOND:
            self._overflows[name] = made.greatest
        elif loss.raised or loss.zeros:
            self._overflows[name] = loss.least
        return [name] if name in self._overflows else []

    def _keep(self, beyond: Sequence[str], made: str) -> None:
        """Note that what makes a value stays as it is for constants that are beyond fp16."""
        for name in dict.fromkeys(beyond):
            self.kept.setdefault(name, KeptConstant(self._overflows[name], [])).outputs.append(made)

    def _with_blocks(self, operation: Operation, bound: Mapping[str, list[Bound]], scope: Scope) -> Decision:
        """Decide about an operation with blocks, and plan these: what goes in and out of them is of the same types."""
        given = {name: [each.given for each in several] for name, several in bound.items()}
        declared = [output.stated.type for output in operation.outputs]
        decision = self._deciding.kept(given, declared)
        if operation.type == "cond":
            decision = decision._replace(outputs=[self.precisions.of(old) for old in declared])
        elif operation.type == "while_loop":
            variables = [each.old if each.wide else self.precisions.of(each.old) for each in given.get("loop_vars", ())]
            self._keep([each.wide for each in given.get("loop_vars", ()) if each.wide], _made(operation))
            outputs = variables if len(variables) == len(declared) else declared
            decision = decision._replace(arguments={**decision.arguments, "loop_vars": variables}, outputs=outputs)
        for place in range(len(operation.blocks)):
            self._inner(place, operation, decision, scope)
        return decision

    def _inner(self, place: int, operation: Operation, decision: Decision, scope: Scope) -> None:
        """Plan a block of an operation: what it takes are the operation's arguments, what it gives its outputs."""
        block, message = operation.blocks[place], operation.message.blocks[place]
        inputs, variables = [each.stated.type for each in block.inputs], decision.arguments.get("loop_vars", ())
        if operation.type == "while_loop" and len(inputs) == len(variables):
            inputs = [*variables]
        for declared, read, now in zip(message.inputs, block.inputs, inputs, strict=True):
            _state(declared.type, read.stated.type, now)
        _, inside = self.block(block, message, scope, [*zip(block.inputs, inputs, strict=True)])
        is_test = (operation.type, place) == ("while_loop", 0)
        gives = [] if is_test or len(block.outputs) != len(decision.outputs) else decision.outputs
        for index, (name, asked) in enumerate(zip_longest(block.outputs, gives)):
            if known := inside.get(name or ""):
                old = self.before(name or "", known).type
                is_own = asked is None or signature(operation.type) is None
                wanted = self._wanted(old if is_own else asked)
                known.use(partial(message.outputs.__setitem__, index), wanted)
                if known.wide and wanted == self.precisions.new:
                    self._keep([known.wide], known.name)

    def _wanted(self, type: Type) -> str | None:
        """Return the data type that is wanted of a value, if it is one of the two."""
        return type.dtype if isinstance(type, TensorType) and type.dtype in self.precisions else None

    # ---- what becomes of operations

    def _idle(
        self,
        operation: Operation,
        bound: Mapping[str, list[Bound]],
        decision: Decision,
        scope: Scope,
        plan: BlockPlan,
    ) -> bool:
        """Take out a `cast` to the type that its value has by now, which takes its place; return whether it is one."""
        if operation.type != "cast" or len(operation.outputs) != 1:
            return False
        known = next((each.known for each in bound.get("x", ())), None)
        if known is None or not self._wanted(known.type) or known.type != decision.outputs[0]:
            return False
        [declared] = operation.outputs
        self._idle_ones[declared.name] = Operand(declared.stated.type, constant=known.operand.constant)
        scope[declared.name] = known
        plan.remove(plan.position)
        uses = [(each.known, each.put) for several in bound.values() for each in several if each.known]
        old = dtype_of(declared.stated.type) or ""
        known.taken_out.append(TakenOut(declared.name, old, plan, plan.position, uses))
        for used, _ in uses:
            if isinstance(used, KnownConstant) and used.numbers is None:
                used.lost_a_use = True
        return True

    def _carry_out(self, operation: Operation, bound: Mapping[str, list[Bound]], decision: Decision) -> None:
        """Note the uses of what an operation is given, and convert what stands in its place."""
        for name, several in bound.items():
            for each, asked in zip(several, decision.arguments[name], strict=True):
                self._use(operation, name, each, asked, name in decision.words)
        for name in decision.left_out:
            operation.message.inputs[name].arguments.add().value.CopyFrom(immediate(STRING, self.precisions.new))

    def _use(self, operation: Operation, name: str, each: Bound, type: Type, is_word: bool) -> None:
        wanted = self.precisions.new if is_word else self._wanted(type)
        if each.known is not None:
            each.known.use(each.put, wanted)
        elif each.value is not None and is_word:
            each.value.CopyFrom(immediate(STRING, self.precisions.new))
        elif each.value is not None and each.numbers is not None and wanted == self.precisions.new:
            self._contents.convert(each.value, each.numbers, _called(operation, name), self.function)

    def _outputs(
        self,
        operation: Operation,
        bound: Mapping[str, list[Bound]],
        decision: Decision,
        scope: Scope,
        plan: BlockPlan,
    ) -> None:
        """Enter what an operation gives back."""
        given = [each.given for several in bound.values() for each in several]
        name = operation.outputs[0].name if operation.outputs else ""
        wide = next((each.wide for each in given if each.wide), name if name in self._overflows else "")
        is_constant = all(each.operand.constant for each in given)
        operands = {name: [each.given.operand for each in several] for name, several in bound.items()}
        arguments = Arguments(operation.type, operands, self._walk.opset)
        for index, (declared, now) in enumerate(zip(operation.outputs, decision.outputs, strict=True)):
            old = declared.stated.type
            self._require_rank(declared)
            _state(operation.message.outputs[index].type, old, now)
            made = Known(declared.name, result(arguments, old), now, plan, operation.message)
            made.wide = wide if is_constant and now == old else ""
            made.counts = may_count(operation.type, chain(*bound.values()), old, made.operand.value)
            made.exact = now == old and self._is_exact(operation, bound)
            is_half = now != old and self.precisions.new == "fp16"
            if is_half and made.counts and any(is_wide(each.old) for each in given):
                self.rounded.append(made.name)
            self.values.append(made)
            scope[declared.name] = made


def _state(message: proto.ValueType, old: Type, type: Type) -> None:
    """Have a message state another type than it did."""
    if type != old:
        message.CopyFrom(write_type(type))


def _data(operation: Operation) -> Constant | None:
    """Return the constant that an operation of DATA holds, as an attribute or as an input."""
    name = DATA[operation.type]
    bindings = operation.inputs.get(name, [operation.attributes.get(name)])
    return bindings[0] if len(bindings) == 1 and isinstance(bindings[0], Constant) else None


def _called(operation: Operation, name: str) -> str:
    """Return what people call an argument: `w.scale`."""
    return f"{_made(operation)}.{name}"


def _made(operation: Operation) -> str:
    """Return the name of what an operation gives back first, or that of the operation."""
    return operation.outputs[0].name if operation.outputs else operation.type


def _unnamed(_: str) -> None:
    """Leave a constant that does not have a name without one."""
