"""A block that grows, operation by operation; inference runs only on new operations.

An operation with conflicting arguments or unusable outputs is removed and drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import Arguments, InputConflict
from miltext.checking.inference.program import result
from miltext.checking.inference.rules import apply
from miltext.checking.limits import clashes
from miltext.generation.calls import Call
from miltext.generation.constants import filling, operand_of, tensor_constant
from miltext.generation.options import CONTROL, STATES
from miltext.generation.recipes import RECIPES
from miltext.generation.scope import ChosenArgument, Redraw, ScopedValue
from miltext.generation.shapes import HIGHEST_RANK, MOST_ELEMENTS, elements_in
from miltext.schema.operations import all_names, signature
from miltext.schema.proto import Block, NamedValueType, Operation
from miltext.schema.types import ListType, TensorType, Type, is_known, write_type
from miltext.schema.walk import is_compressed

if TYPE_CHECKING:
    from miltext.generation.scope import FunctionScope
    from miltext.schema.proto import Value

ATTEMPTS = 300
"""The number of attempts for an operation before the block stops growing."""

RECENT = 40
"""The number of latest values among which an operation chooses its inputs."""

STRING = TensorType("string", ())

WEIGHTED = frozenset(["conv", "conv_quantized", "conv_transpose", "linear"])
"""Operations whose recipes give weights of the requested size."""


class Mark(NamedTuple):
    """The state of a block's growth."""

    operations: int
    items: int
    inputs: int
    states: int
    names: dict[str, int]


class Growth:
    """A block that grows, inside the block `outer` if there is one."""

    def __init__(self, scope: FunctionScope, outer: Growth | None = None, given: Sequence[ScopedValue] = ()) -> None:
        self.scope = scope
        self.outer = outer
        self.depth: int = outer.depth + 1 if outer else 0
        self.operations: list[Operation] = []
        self.items: list[ScopedValue] = list(given)
        self.candidates = [name for name in all_names() if self._may_have(name)]

    def _may_have(self, op_type: str) -> bool:
        options = self.scope.options
        known = signature(op_type, self.scope.opset)
        if known is None or not options.allows(op_type) or not options.fits(known):
            return False
        if op_type in CONTROL:
            return self.depth < 2
        if op_type in ("classify", "const"):
            return options.operations is not None and not self.depth
        return op_type not in STATES or not self.depth

    def in_reach(self) -> list[ScopedValue]:
        """Return the values that an operation may use, with unused ones several times, for deep graphs."""
        near = [*(self.outer.in_reach() if self.outer else self.scope.inputs), *self.items[-RECENT:]]
        unused = [item for item in near if item.name not in self.scope.used]
        return [*unused, *unused, *near]

    # ---- growing

    def grow(self, count: int) -> int:
        """Add a number of operations, as long as possible. Return the number of added ones."""
        count = count if self.candidates else 0
        return next((made for made in range(count) if not self.scope.choices.group(self.step)), count)

    def step(self) -> bool:
        """Add one operation, with the constants that it needs. Return whether that was possible."""
        weighted = [name for name in self.candidates if name in WEIGHTED] if self._lacks_weights() else []
        return self._add_one_of(weighted) or self._add_one_of(self.candidates)

    def _lacks_weights(self) -> bool:
        """Return whether weights are requested, and the block is still empty."""
        return self.scope.options.weights > 0 and not self.depth and not self.operations

    def _add_one_of(self, names: Sequence[str]) -> bool:
        """Add an operation of any of these types. Return whether that was possible.

        Each attempt starts after the previous type, so that the simplest choice does not repeat a failing type.
        """
        for turn in range(ATTEMPTS if names else 0):
            place = self.scope.choices.integer(0, len(names) - 1)
            if self.attempt(names[(place + turn) % len(names)]) is not None:
                return True
        return False

    def attempt(self, op_type: str) -> list[ScopedValue] | None:
        """Add an operation of a type, and return its outputs; None if the choices do not make one."""
        mark = self.mark()
        try:
            return self.add(op_type)
        except Redraw:
            self.take_back(mark)
            return None

    def add(self, op_type: str) -> list[ScopedValue]:
        """Add an operation of a type, and return its outputs. Raise Redraw."""
        known = signature(op_type, self.scope.opset)
        if known is None:
            raise Redraw
        call = Call(self, known)
        if op_type in RECIPES:
            RECIPES[op_type](call)
        call.fill()
        made = self.commit(call)
        if not all(self.scope.options.allows_type(item.type) for item in made):
            raise Redraw
        return made

    def call(self, op_type: str, **arguments: ScopedValue) -> list[ScopedValue]:
        """Add an operation with these arguments alone, and return its outputs. Raise Redraw."""
        known = signature(op_type, self.scope.opset)
        if known is None:
            raise Redraw
        call = Call(self, known)
        for name, item in arguments.items():
            call.give(name, ChosenArgument(item.operand, item.name))
        return self.commit(call)

    def constant(self, stem: str, value: Value, type: TensorType | ListType) -> ScopedValue:
        """Add a `const`, and return its output."""
        item = ScopedValue(self.scope.name(stem), operand_of(value, type), fresh=True)
        made = Operation(type="const")
        made.attributes["val"].CopyFrom(value)
        made.attributes["name"].CopyFrom(tensor_constant(STRING, [item.name]))
        made.outputs.append(declared(item))
        self.operations.append(made)
        return item

    def value_of(self, type: Type, count: int | None = None) -> ScopedValue:
        """Add a `const` of a type, with a given number or generated numbers. Raise Redraw for another type."""
        if not isinstance(type, TensorType) or None in type.shape:
            raise Redraw
        elements = filling(self.scope.choices).numbers(type) if count is None else [count]
        return self.constant("const", tensor_constant(type, elements), type)

    def takes_cast(self, type: TensorType) -> bool:
        """Return whether an input of floats may be added and cast to a type."""
        known = signature("cast", self.scope.opset)
        words = known.parameters["dtype"].words if known else ()
        return type.dtype in words and self.scope.takes_input(TensorType("fp32", type.shape))

    def cast(self, item: ScopedValue, dtype: str) -> ScopedValue:
        """Add a cast of a value, and return its output. Raise Redraw."""
        name = tensor_constant(STRING, [dtype])
        [made] = self.call("cast", x=item, dtype=self.constant("cast_dtype", name, STRING))
        return made._replace(fresh=item.fresh)

    def inner(self, given: Sequence[ScopedValue] = ()) -> Growth:
        """Return a block inside this one."""
        return Growth(self.scope, self, given)

    def mark(self) -> Mark:
        """Return a mark of the present state."""
        scope = self.scope
        return Mark(len(self.operations), len(self.items), len(scope.inputs), len(scope.states), dict(scope.names))

    def take_back(self, mark: Mark) -> None:
        """Remove all additions since a mark."""
        scope = self.scope
        del self.operations[mark.operations :], self.items[mark.items :]
        del scope.inputs[mark.inputs :], scope.states[mark.states :]
        scope.names.clear()
        scope.names.update(mark.names)

    # ---- an operation added

    def commit(self, call: Call) -> list[ScopedValue]:
        """Add the operation of a call if inference accepts it. Raise Redraw."""
        arguments = call.arguments()
        types = self._inferred(call, arguments)
        stem = self.scope.name(call.known.name)
        names = [stem] if len(types) == 1 else [f"{stem}_{place}" for place in range(len(types))]
        items = [
            ScopedValue(
                name,
                result(arguments, given),
                length=call.length,
                may_be_empty=call.may_be_empty,
                is_fixed=call.is_fixed,
                is_compressed=is_compressed(call.known.name),
            )
            for name, given in zip(names, types, strict=True)
        ]
        self.operations.append(_operation(call, stem, items))
        self.scope.used.update(given.name for row in call.given.values() for given in row)
        self.items += items
        return items

    def _inferred(self, call: Call, arguments: Arguments) -> Sequence[Type]:
        """Return the types of a call's outputs. Raise Redraw for an invalid call."""
        try:
            types = apply(arguments)
        except InputConflict:
            raise Redraw from None
        most = max(MOST_ELEMENTS, self.scope.options.weights * 64)
        if types is None or arguments.doubts or not all(_is_fit(each, most) for each in types):
            raise Redraw
        if next(clashes(call.known, arguments.operands, "1.3"), None) is not None:
            raise Redraw
        return types

    def block(self, outputs: Sequence[str], inputs: Sequence[ScopedValue] = ()) -> Block:
        """Return the finished block."""
        self.scope.used.update(outputs)
        return Block(operations=self.operations, outputs=outputs, inputs=[declared(item) for item in inputs])


def declared(item: ScopedValue) -> NamedValueType:
    """Return the declaration of an input or an output."""
    return NamedValueType(name=item.name, type=write_type(item.type))


def _is_fit(type: Type, most: int) -> bool:
    """Return whether values of a type may be used further: known, not empty, of no more elements than `most`."""
    if isinstance(type, ListType):
        return _is_fit(type.element, most)
    if not isinstance(type, TensorType):
        return is_known(type)
    return len(type.shape) <= HIGHEST_RANK and 0 not in type.shape and elements_in(type.shape) <= most


def _value(given: ChosenArgument) -> Value:
    """Return the value of an argument. Raise Redraw for an argument with a name."""
    if given.value is None:
        raise Redraw
    return given.value


def _operation(call: Call, name: str, outputs: Sequence[ScopedValue]) -> Operation:
    """Return the message of a call."""
    made = Operation(type=call.known.name, blocks=call.messages, outputs=map(declared, outputs))
    for parameter, row in call.given.items():
        known = call.known.parameters.get(parameter)
        if known is not None and known.attribute:
            made.attributes[parameter].MergeFrom(_value(row[0]))
            continue
        bindings = made.inputs[parameter].arguments
        for given in row:
            if given.name:
                bindings.add(name=given.name)
            else:
                bindings.add(value=_value(given))
    made.attributes["name"].CopyFrom(tensor_constant(STRING, [name]))
    return made
