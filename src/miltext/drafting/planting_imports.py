"""Imported functions in the graph of a text, in place of the operations that stand for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.drafting.moving import Moving
from miltext.ir.parts import Op, Value
from miltext.printing.renaming import NAME, rename
from miltext.schema.types import read_type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from miltext.drafting.model_parts import ModelPart
    from miltext.ir.functions import Function


class PlantedImport(NamedTuple):
    """An imported function in the function of a text: the names there of inputs and outputs that are passed on as they
    are, by their own names. `inner_images` are the names of outputs that are images of the model, and that operations
    of the text use.
    """

    part: ModelPart
    function: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    inner_images: list[str]


def plant(calls: Iterable[tuple[Op, ModelPart, Mapping[str, str]]]) -> list[PlantedImport]:
    """Replace operations that stand for functions of parts by the operations of these; return what each passes on.

    Each call has the names of the part's inputs by the names of its arguments.
    """
    plantings: dict[Function, _Planting] = {}
    found = []
    for number, (op, part, names) in enumerate(calls):
        assert op.block is not None
        function = op.block.function
        if function not in plantings:
            plantings[function] = _Planting(function)
        found.append(plantings[function].put(op, part, names, str(number)))
    for planting in plantings.values():
        planting.finish()
    return found


class _Planting:
    """A function of a text that takes imported ones; its own values keep their names."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._moving = Moving(function)
        self._inputs = {*function.inputs}
        self._own = {*function.defined()}

    def put(self, op: Op, part: ModelPart, names: Mapping[str, str], number: str) -> PlantedImport:
        """Replace an operation by the operations of a part."""
        taken = part.graph()
        block, own = taken.block, op.block
        assert block is not None  # or the part would have been refused
        assert own is not None
        arguments = {own_name: self._operand(op, name, own_name) for name, own_name in names.items()}
        given = [*block.outputs]
        result = self._passed(op, part, arguments, [value.name for value in given])
        ops = self._moving.take(taken, block, number)
        for value in taken.inputs:
            value.replace_uses(arguments[value.name])
        self._moving.put(own, op, ops, {*given})
        passed = {value: arguments[value.name] for value in taken.inputs}
        made = [self._output(op, index, passed.get(value, value)) for index, value in enumerate(given)]
        for old, new in zip(op.outputs, made, strict=True):
            self._own.discard(old)
            if old in self._function.clashing:  # the text hides an outer value by this name
                self._function.clashing[new] = self._function.clashing.pop(old)
            old.replace_uses(new)
        op.remove()
        return result

    def _operand(self, op: Op, name: str, input_name: str) -> Value:
        """Return the value of an argument; of a literal, a constant."""
        operand = op.operand(name)
        if isinstance(operand, Value):
            return operand
        assert operand is not None  # or the text would have been refused
        stem = op.outputs[0].name if op.outputs else input_name
        called = self._function.fresh(f"{stem}_{input_name}")
        attributes = {"val": operand, NAME: immediate(STRING, called)}
        constant = Op.new("const", {}, {called: read_type(operand.type)}, attributes)
        assert op.block is not None
        op.block.insert_before(op, constant)
        self._own.add(constant.outputs[0])
        return constant.outputs[0]

    def _output(self, op: Op, index: int, value: Value) -> Value:
        """Return the value of an output under its name in the text: a copy of a value that has another name there."""
        name = op.outputs[index].name
        if value not in self._own and value.maker is not None:
            rename(value, name)
            if index == 0 and NAME in op.attributes:
                value.maker.own().attributes[NAME].CopyFrom(op.attributes[NAME])
            self._own.add(value)
            return value
        attributes = {NAME: immediate(STRING, name)}
        copy = Op.new("identity", {"x": value}, {name: value.type}, attributes)
        assert op.block is not None
        op.block.insert_before(op, copy)
        self._own.add(copy.outputs[0])
        return copy.outputs[0]

    def _passed(self, op: Op, part: ModelPart, arguments: Mapping[str, Value], given: list[str]) -> PlantedImport:
        """Return the inputs and outputs of the function that are those of the part, and the images used inside."""
        block = op.block
        is_returning = block is not None and block is self._function.block
        inputs = {name: value.name for name, value in arguments.items() if value in self._inputs}
        outputs = {
            name: value.name
            for name, value in zip(given, op.outputs, strict=True)
            if is_returning and block is not None and block.returns(value)
        }
        entries = part.entries("output")
        images = {name for name, entry in entries.items() if entry.type.WhichOneof("Type") == "imageType"}
        inner = [value.name for name, value in zip(given, op.outputs, strict=True) if name in images and value.users]
        return PlantedImport(part, self._function.name, inputs, outputs, inner)

    def finish(self) -> None:
        """Give the values of the parts names of their own."""
        self._moving.part_names(self._own)
