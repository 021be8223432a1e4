"""Faults in masked attention: the type, an attribute or a weight of one operation is another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from support.attention_networks import block_of, held, hold

from miltext.schema.proto import Block, Operation, Program
from miltext.schema.types import TensorType, read_type, write_type
from miltext.schema.value_builders import immediate

OTHER_TYPES = {"add": "sub", "sub": "add", "mul": "add", "real_div": "sub"}
"""The type that an elementwise operation is given instead of its own."""

AFTER, MASK = "after the softmax", "mask"

Change: TypeAlias = "Callable[[Block, Operation], tuple[str, ...]]"
"""Changes an operation of a block, and returns the names of the constants that it then takes."""


class Fault(NamedTuple):
    """One fault: the way that it is on, what is changed, the operation's first output, and how that is done."""

    way: str
    kind: str
    name: str
    change: Change

    def put_in(self, program: Program) -> tuple[Program, set[str]]:
        """Return a Program with the fault, and the names of the values where it begins."""
        made = Program()
        made.CopyFrom(program)
        block = block_of(made)
        return made, {self.name, *self.change(block, _maker(block, self.name))}


def faults(program: Program) -> Iterator[Fault]:
    """Yield the faults that a network of `attention_networks` can be given."""
    block = block_of(program)
    for name, way in _ways(block).items():
        for kind, change in _changes(block, _maker(block, name)):
            yield Fault(way, kind, name, change)


def _ways(block: Block) -> dict[str, str]:
    """Return the operations of all attention by their first outputs, in order, and the way that each is on."""
    found: dict[str, str] = {}
    inside: dict[str, str] = {}
    for operation in block.operations:
        name, given = operation.outputs[0].name, _given(operation)
        weight = next((each for each in given if each.startswith("attention_") and "_weight" in each), "")
        start = next((way for way in ("query", "key", "value") if f"_{way}_weight" in weight), "")
        before = {inside[each] for each in given if each in inside}
        if operation.type == "const" or not (start or before):
            continue
        if operation.type == "softmax":
            masking = next(each for each in given if each in inside)
            found.update(dict.fromkeys(_masks(block, masking, inside), MASK))
        inside[name] = start or (AFTER if operation.type == "softmax" or AFTER in before else min(before))
        if "_out_weight" in weight:
            found.update(inside)
            found[name] = AFTER
            inside = {}
    return found


def _masks(block: Block, name: str, inside: dict[str, str]) -> Iterator[str]:
    """Yield the mask that a value of scores was masked with, and what that is made by or chooses by."""
    for each in _given(_maker(block, name)):
        if each not in inside and each in _made(block):
            yield each
            yield from (other for other in _given(_maker(block, each)) if other in _made(block))


def _made(block: Block) -> set[str]:
    return {output.name for operation in block.operations for output in operation.outputs}


def _given(operation: Operation) -> list[str]:
    return [each.name for key in sorted(operation.inputs) for each in operation.inputs[key].arguments]


def _maker(block: Block, name: str) -> Operation:
    return next(each for each in block.operations if each.outputs[0].name == name)


# ---- what is changed


def _changes(block: Block, operation: Operation) -> Iterator[tuple[str, Change]]:
    """Yield the changes that an operation can have, with words for them."""
    kind = operation.type
    if kind in OTHER_TYPES:
        yield "type", _retyped(OTHER_TYPES[kind])
    if kind == "softmax":
        yield "type", _retyped("sigmoid")
        yield "axis", _with("axis", -2)
    if kind == "matmul" and _square(operation):
        for parameter in ("transpose_x", "transpose_y"):
            yield parameter, _with(parameter, 1 - _flag(block, operation, parameter))
    if kind == "transpose" and _square(operation):
        yield "perm", _with("perm", [0, 2, 3, 1])
    if kind in ("concat", "select"):
        yield "arguments", _swapped
    if kind == "layer_norm":
        yield "epsilon", _noised("epsilon", lambda array: array + np.float32(0.1))
    if kind == "const" and _is_floats(operation) and held(operation).size > 1:
        yield "seen", _masking(_seen)
        yield "biased", _masking(_biased)
    for parameter in ("weight", "bias", "gamma", "beta", "y"):
        if _holds_floats(block, operation, parameter):
            for words, edit in NUMBERS.items():
                yield f"{parameter}, {words}", _noised(parameter, edit)


def _scaled(array: np.ndarray) -> np.ndarray:
    return array * 1.05 + 0.01


def _pushed(array: np.ndarray) -> np.ndarray:
    made = array.astype(np.float32)
    made.reshape(-1)[made.size // 2] += 0.5
    return made


def _turned(array: np.ndarray) -> np.ndarray:
    return array[::-1] if array.size > 1 else array + 1


NUMBERS = {"all of it": _scaled, "one number": _pushed, "turned": _turned}


def _retyped(other: str) -> Change:
    def change(_: Block, operation: Operation) -> tuple[str, ...]:
        operation.type = other
        if "axis" in operation.inputs:
            del operation.inputs["axis"]
        return ()

    return change


def _with(parameter: str, number: int | list[int]) -> Change:
    """Have an operation take another attribute, in a constant of its own."""

    def change(block: Block, operation: Operation) -> tuple[str, ...]:
        numbers = number if isinstance(number, list) else [number]
        is_flag = parameter.startswith("transpose")
        kind = TensorType("bool" if is_flag else "int32", (len(numbers),) if isinstance(number, list) else ())
        made = Operation(type="const")
        made.outputs.add(name=f"changed_{parameter}").type.CopyFrom(write_type(kind))
        value = immediate(kind, [] if is_flag else numbers)
        if is_flag:
            value.immediateValue.tensor.ClearField("ints")
            value.immediateValue.tensor.bools.values.extend(map(bool, numbers))
        made.attributes["val"].CopyFrom(value)
        operation.inputs[parameter].arguments[0].name = f"changed_{parameter}"
        block.operations.insert(0, made)
        return (f"changed_{parameter}",)

    return change


def _swapped(_: Block, operation: Operation) -> tuple[str, ...]:
    """Swap the first two values that an operation takes."""
    if operation.type == "select":
        one, other = operation.inputs["a"].arguments[0], operation.inputs["b"].arguments[0]
    else:
        one, other = operation.inputs["values"].arguments[:2]
    one.name, other.name = other.name, one.name
    return one.name, other.name


def _noised(parameter: str, edit: Callable[[np.ndarray], np.ndarray]) -> Change:
    """Have an operation take other numbers, in a constant of its own."""

    def change(block: Block, operation: Operation) -> tuple[str, ...]:
        argument = operation.inputs[parameter].arguments[0]
        made = Operation()
        made.CopyFrom(_maker(block, argument.name))
        made.outputs[0].name = argument.name = f"{argument.name}_changed"
        hold(made, edit(held(made)))
        block.operations.insert(0, made)
        return (argument.name,)

    return change


def _seen(array: np.ndarray) -> np.ndarray:
    """Return a mask of which more is seen."""
    made = array.astype(np.float32)
    made.reshape(-1)[made.size // 3 :] = 0
    return made


def _biased(array: np.ndarray) -> np.ndarray:
    """Return a mask that prefers some of what is seen."""
    return np.where(array == 0, np.arange(array.size).reshape(array.shape) % 5 / 10, array)


def _masking(edit: Callable[[np.ndarray], np.ndarray]) -> Change:
    def change(_: Block, operation: Operation) -> tuple[str, ...]:
        hold(operation, edit(held(operation)))
        return ()

    return change


def _holds_floats(block: Block, operation: Operation, parameter: str) -> bool:
    if parameter not in operation.inputs or operation.inputs[parameter].arguments[0].name not in _made(block):
        return False
    maker = _maker(block, operation.inputs[parameter].arguments[0].name)
    return maker.type == "const" and _is_floats(maker)


def _is_floats(operation: Operation) -> bool:
    kind = read_type(operation.outputs[0].type)
    return isinstance(kind, TensorType) and kind.dtype in ("fp16", "fp32")


def _square(operation: Operation) -> bool:
    kind = read_type(operation.outputs[0].type)
    return isinstance(kind, TensorType) and kind.shape[-1] == kind.shape[-2]


def _flag(block: Block, operation: Operation, parameter: str) -> int:
    name = operation.inputs[parameter].arguments[0].name
    return int(_maker(block, name).attributes["val"].immediateValue.tensor.bools.values[0])
