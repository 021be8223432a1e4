"""Casts of values, in coremltools' form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.parts import Op
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from miltext.ir.parts import Value
    from miltext.schema.types import TensorType


def cast_ops(value: Value, name: str, type: TensorType, word: str) -> list[Op]:
    """Return a `cast` of a value to a type, with an output `name`, after the `const` of its data type, named `word`."""
    held = {"val": immediate(STRING, type.dtype), "name": immediate(STRING, word)}
    constant = Op.new("const", {}, {word: STRING}, held)
    inputs = {"x": value, "dtype": constant.outputs[0]}
    return [constant, Op.new("cast", inputs, {name: type}, {"name": immediate(STRING, name)})]
