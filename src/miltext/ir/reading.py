"""Reading of a Program's message as a graph, with names resolved once.

A use refers to the last previous definition of its name in scope, by the rules of scopes in `MIL.proto`: inputs of the
function and of enclosing blocks, and outputs of earlier operations there. A name without such a definition is a Value
without an owner, one for each name in a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.functions import Block, Function
from miltext.ir.parts import Op, Operand, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.schema import proto


class Scope(dict[str, Value]):
    """The visible values by name. `hidden` are the defined names, in order, each with the value that it hides."""

    __slots__ = ("hidden",)

    def __init__(self) -> None:
        super().__init__()
        self.hidden: list[tuple[str, Value | None]] = []

    def leave(self, count: int) -> None:
        """Take back all definitions except the first ones."""
        while len(self.hidden) > count:
            name, before = self.hidden.pop()
            if before is None:
                self.pop(name, None)
            else:
                self[name] = before


def read_function(name: str, message: proto.Function) -> Function:
    """Read one function with the blocks of all of its opsets."""
    function = Function(name, message)
    reader = _BlockReader(function)
    function.inputs = reader.define(message.inputs, function)
    for opset in sorted(message.block_specializations):
        function.blocks[opset] = reader.block(message.block_specializations[opset], function)
    return function


class _BlockReader:
    """Reads the blocks of one function. They are nested no deeper than protobuf's limit, so that recursion is safe."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.scope = Scope()

    def define(self, messages: Iterable[proto.NamedValueType], owner: Op | Block | Function) -> list[Value]:
        """Return the values that messages declare, and add them to the scope."""
        values, scope = [], self.scope
        for message in messages:
            name = message.name
            value = Value(name, message, owner, self.function)
            before = scope.get(name)
            if before is not None:
                self.function.clashing[value] = before
            scope.hidden.append((name, before))
            scope[name] = value
            values.append(value)
        return values

    def block(self, message: proto.Block, owner: Function | Op) -> Block:
        """Read a block; its definitions are out of scope afterwards."""
        block = Block(message, owner)
        outer = len(self.scope.hidden)
        block.inputs = self.define(message.inputs, block)
        last: Op | None = None
        for operation in message.operations:
            op = self.operation(operation)
            op.block, op.previous = block, last
            if last is None:
                block.first = op
            else:
                last.next = op
            last = op
        block.last = last
        block.read_outputs([self.find(name) for name in message.outputs])
        self.scope.leave(outer)
        return block

    def operation(self, message: proto.Operation) -> Op:
        """Read an operation, its arguments before its definitions."""
        op = Op(message)
        inputs = message.inputs
        for parameter in sorted(inputs) if inputs else ():
            operands: list[Operand] = []
            for binding in inputs[parameter].arguments:
                name = binding.name
                if name or binding.WhichOneof("binding") == "name":
                    operands.append(self.find(name))
                else:
                    operands.append(binding.value if binding.WhichOneof("binding") == "value" else None)
            op.inputs[parameter] = operands
        if message.blocks:
            op.blocks = [self.block(block, op) for block in message.blocks]
        op.outputs = self.define(message.outputs, op)
        return op

    def find(self, name: str) -> Value:
        """Return the value of a name; an undefined name is one value throughout the function."""
        return self.scope.get(name) or self.function.unknown(name)
