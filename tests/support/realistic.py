"""Programs like those that converters write: functions of operations whose arguments name what came before."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from support.strategies import DATA_TYPES, dictionary_value, fitting_tensors, fitting_values, floats, tensor_type

from miltext.schema.opsets import OPSETS
from miltext.schema.proto import Block, Function, Operation, Program, Value, ValueType

Scope = list[tuple[str, ValueType]]
SHAPES: list[list[int | None]] = [[], [1], [1, 3, 224, 224], [None, 80], [2, None]]

types = st.builds(tensor_type, st.sampled_from(DATA_TYPES), st.sampled_from(SHAPES))


def scalar(dtype: int, field: str, element: Any) -> Value:
    """A tensor of rank 0 with one element."""
    made = Value(type=tensor_type(dtype, []))
    getattr(made.immediateValue.tensor, field).values.append(element)
    return made


def string(text: str) -> Value:
    """`string("...")`."""
    return scalar(2, "strings", text)


class Builder:
    """Draws the operations of one function, each with names of its own."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"op_{self.count}"

    def operation(self, block: Any, scope: Scope, depth: int) -> None:
        kind = self.draw(st.sampled_from([self.const, self.blob, self.compute, self.join, self.split, self.write]))
        if depth and not self.draw(st.integers(0, 5)):
            self.choose(block, scope, depth)
        else:
            kind(block, scope)

    def _add(self, block: Any, type_: str, outputs: list[ValueType], scope: Scope) -> Operation:
        operation = block.operations.add(type=type_)
        operation.attributes["name"].CopyFrom(string(self.name()))
        for value_type in outputs:
            name = self.name()
            operation.outputs.add(name=name, type=value_type)
            scope.append((name, value_type))
        return operation  # type: ignore[no-any-return]

    def bind(self, operation: Operation, key: str, *bindings: str | Value) -> None:
        argument = operation.inputs[key]
        for binding in bindings:
            if isinstance(binding, str):
                argument.arguments.add(name=binding)
            else:
                argument.arguments.add(value=binding)

    def any_name(self, scope: Scope) -> str:
        return self.draw(st.sampled_from(scope))[0]

    def const(self, block: Any, scope: Scope) -> None:
        value = self.draw(st.one_of(fitting_tensors(), fitting_values(8)))
        self._add(block, "const", [value.type], scope).attributes["val"].CopyFrom(value)

    def blob(self, block: Any, scope: Scope) -> None:
        value = Value(type=self.draw(types))
        value.blobFileValue.fileName = "@model_path/weights/weight.bin"
        value.blobFileValue.offset = 64 * self.draw(st.integers(0, 1 << 30))
        self._add(block, "constexpr_blockwise_shift_scale", [value.type], scope).attributes["data"].CopyFrom(value)

    def compute(self, block: Any, scope: Scope) -> None:
        operation = self._add(block, self.draw(st.sampled_from(["add", "mul"])), [self.draw(types)], scope)
        self.bind(operation, "x", self.any_name(scope[:-1]))
        made = Value(type=tensor_type(11, []))
        made.immediateValue.tensor.floats.CopyFrom(floats([self.draw(st.integers(0, 2**32 - 1))]))
        self.bind(operation, "y", made if self.draw(st.booleans()) else self.any_name(scope[:-1]))

    def join(self, block: Any, scope: Scope) -> None:
        names = self.draw(st.lists(st.sampled_from([name for name, _ in scope]), min_size=2, max_size=4))
        operation = self._add(block, "concat", [self.draw(types)], scope)
        self.bind(operation, "values", *names)
        self.bind(operation, "axis", scalar(23, "ints", self.draw(st.integers(-4, 3))))
        self.bind(operation, "interleave", scalar(1, "bools", False))

    def split(self, block: Any, scope: Scope) -> None:
        outputs = self.draw(st.lists(types, min_size=2, max_size=3))
        self.bind(self._add(block, "split", outputs, scope), "x", scope[0][0])

    def write(self, block: Any, scope: Scope) -> None:
        operation = self._add(block, "write_state", [], scope)
        self.bind(operation, "input", scope[0][0])
        self.bind(operation, "data", self.any_name(scope))

    def choose(self, block: Any, scope: Scope, depth: int) -> None:
        made = self.draw(types)
        operation = self._add(block, self.draw(st.sampled_from(["cond", "while_loop"])), [made], scope)
        for _ in range(2):
            inner = list(scope[:-1])
            nested = operation.blocks.add()
            if operation.type == "while_loop":
                inner.append((self.name(), made))
                nested.inputs.add(name=inner[-1][0], type=made)
            self.fill(nested, inner, depth - 1)

    def fill(self, block: Block, scope: Scope, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, 5))):
            self.operation(block, scope, depth)
        block.outputs.append(scope[-1][0])


@st.composite
def functions(draw: st.DrawFn) -> Function:
    """A function of one block, that of its opset."""
    made = Function(opset=draw(st.sampled_from(OPSETS)).proto)
    scope: Scope = [(f"input_{index}", draw(types)) for index in range(draw(st.integers(1, 3)))]
    for name, value_type in scope:
        made.inputs.add(name=name, type=value_type)
    Builder(draw).fill(made.block_specializations[made.opset], scope, depth=3)
    return made


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """A Program of one or two functions, with its buildInfo."""
    made = Program(version=1)
    for name in draw(st.sampled_from([["main"], ["main"], ["encode", "decode"]])):
        made.functions[name].CopyFrom(draw(functions()))
    info = dictionary_value([(string("coremltools-version"), string("9.0"))])
    made.attributes["buildInfo"].CopyFrom(info)
    return made
