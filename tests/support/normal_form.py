"""The normal form of a Program: what it computes, whatever its operations are called and wherever they stand.

Of two Programs of one normal form, the other is made of one by naming, moving, joining and repeating constants and
operations, and by writing defaults or leaving them out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import miltext
from miltext.parsing.parser import parse_value
from miltext.schema.operations import Signature, signature
from miltext.schema.proto import Block, Operation, Program, Value, ValueType

_TYPED = re.compile(r"(?P<type>[^()]*)\((?P<literal>.*)\)", re.DOTALL)

RANDOM = ("random_bernoulli", "random_categorical", "random_normal", "random_uniform")
"""Operations of which two of the same arguments return different values."""

FILLED = {"strides": 1, "dilations": 1, "pad": 0}
"""Defaults of layers that slide, as many as there are dimensions: coremltools' `default_inputs` of each."""

SLIDING = ("conv", "conv_quantized", "conv_transpose", "avg_pool", "l2_pool", "max_pool")

EPSILONS = {"inverse": 1e-4, "log": 1e-45, "rsqrt": 1e-12}
"""The same for `epsilon`, which has the data type of `x`."""


def normal(program: Program) -> Any:
    """Return what a Program computes, by function and opset: names and types of inputs, and each output as a tree.

    Names and places of operations and constants are no part of it, nor defaults that are written out, nor what the
    compiler notes beside. What reads or changes a state, is random or gives nothing back is part of it in its order.
    """
    return {
        (name, opset): _Body(opset).function(function, block)
        for name, function in program.functions.items()
        for opset, block in function.block_specializations.items()
    }


class _Given(NamedTuple):
    """A value: the tree that makes it, what it is if it is a constant, and its type."""

    tree: Any
    constant: Value | None = None
    type: ValueType | None = None


class _Body:
    """The block of a function. `numbers` are the operations in it, each of those that are alike once."""

    def __init__(self, opset: str) -> None:
        self.opset = opset
        self.numbers: dict[Any, int] = {}
        self.effects: list[Any] = []

    def function(self, function: Any, block: Block) -> Any:
        inputs = [*function.inputs, *block.inputs]
        given = {value.name: _Given(("input", value.name), type=value.type) for value in inputs}
        found = self.block(block, given)
        signed = [(value.name, _bytes(value.type)) for value in inputs]
        return signed, [*block.outputs], _unfolded((found, self.effects), [*self.numbers])

    def block(self, block: Block, outer: Mapping[str, _Given]) -> list[Any]:
        """Return the trees of a block's outputs."""
        values = dict(outer)
        for made in block.operations:
            values |= self.operation(made, values)
        return [values[name].tree for name in block.outputs]

    def operation(self, made: Operation, values: Mapping[str, _Given]) -> dict[str, _Given]:
        """Return the outputs of an operation."""
        if made.type == "const":
            [output], value = made.outputs, made.attributes["val"]
            return {output.name: _Given(("constant", literal(value)), value, output.type)}
        given = {name: [_given(each, values) for each in made.inputs[name].arguments] for name in made.inputs}
        found: Any = (
            made.type,
            tuple((name, tuple(each.tree for each in given[name])) for name in self.kept(made.type, given)),
            tuple((name, literal(made.attributes[name])) for name in sorted(made.attributes) if name != "name"),
            tuple(self.inner(block, values) for block in made.blocks),
            tuple(_bytes(output.type) for output in made.outputs),
        )
        if _has_effect(made, given):
            found = ("effect", len(self.effects), found)
            self.effects.append(("number", self.numbers.setdefault(found, len(self.numbers))))
        tree = ("number", self.numbers.setdefault(found, len(self.numbers)))
        return {
            output.name: _Given(("output", place, tree), type=output.type) for place, output in enumerate(made.outputs)
        }

    def inner(self, block: Block, values: Mapping[str, _Given]) -> Any:
        """Return a block of an operation; its inputs are called by their place, and by how deep it is."""
        depth = sum(name.startswith("depth@") for name in values)
        mark = {f"depth@{depth}": _Given(None)}
        given = {
            value.name: _Given(("inner", depth, place), type=value.type) for place, value in enumerate(block.inputs)
        }
        return tuple(_bytes(value.type) for value in block.inputs), tuple(
            self.block(block, {**values, **mark, **given})
        )

    def kept(self, op_type: str, given: Mapping[str, list[_Given]]) -> list[str]:
        """Return the parameters that are given anything but what they would be by default."""
        known = signature(op_type, self.opset)
        return sorted(name for name in given if known is None or not is_default(known, name, given))


def is_default(known: Signature, name: str, given: Mapping[str, list[_Given]]) -> bool:
    """Tell whether a parameter is given what stands for it where it is left out."""
    if name not in known.parameters or len(given[name]) != 1 or (value := given[name][0].constant) is None:
        return False
    default: Any = known.parameters[name].default
    if known.name in SLIDING and name in FILLED:
        default = [FILLED[name]] * _sizes(value.type)[0]
    elif known.name in EPSILONS and name == "epsilon":
        default = EPSILONS[known.name]
    elif known.name == "layer_norm" and name == "axes" and (of := given["x"][0].type):
        default = [*range(len(of.tensorType.dimensions))]
    return default is not None and value == _as(value, default)


def _as(value: Value, default: Any) -> Value | None:
    """Return a default in the type of another value; None if it is none of that type."""
    typed = _TYPED.fullmatch(literal(value))
    assert typed is not None
    try:
        return parse_value(f"{typed['type']}({json.dumps(default)})")
    except miltext.ParseError:
        return None


def _sizes(type: ValueType) -> list[int]:
    return [dimension.constant.size for dimension in type.tensorType.dimensions] or [0]


def _given(binding: Any, values: Mapping[str, _Given]) -> _Given:
    if binding.name:
        return values[binding.name]
    if binding.WhichOneof("binding") is None:
        return _Given("unset")
    return _Given(("constant", literal(binding.value)), binding.value, binding.value.type)


def _has_effect(made: Operation, given: Mapping[str, list[_Given]]) -> bool:
    types = [each.type for bound in given.values() for each in bound if each.type is not None]
    is_state = any(each.WhichOneof("type") == "stateType" for each in types)
    return is_state or not made.outputs or made.type in RANDOM


def literal(value: Value) -> str:
    """Return a value as text, with its type."""
    text = miltext.to_text(Program(attributes={"a": value}))
    typed = re.search(r"\[a = (.*)\]\n", text, re.DOTALL)
    assert typed is not None
    return typed[1]


def _bytes(type: ValueType) -> bytes:
    return type.SerializeToString(deterministic=True)


def _unfolded(found: Any, made: list[Any]) -> Any:
    """Return trees with operations numbered in the order in which the trees reach them, and those operations."""
    order: dict[int, int] = {}
    reached: list[Any] = []
    todo = [found]
    while todo:
        each = todo.pop()
        if isinstance(each, tuple) and len(each) == 2 and each[0] == "number":
            if each[1] not in order:
                order[each[1]] = len(order)
                reached.append(made[each[1]])
                todo.append(made[each[1]])
        elif isinstance(each, tuple | list):
            todo += reversed(each)
    return _renumbered(found, order), [_renumbered(each, order) for each in reached]


def _renumbered(each: Any, order: Mapping[int, int]) -> Any:
    if isinstance(each, tuple) and len(each) == 2 and each[0] == "number":
        return ("number", order[each[1]])
    return tuple(_renumbered(part, order) for part in each) if isinstance(each, tuple | list) else each
