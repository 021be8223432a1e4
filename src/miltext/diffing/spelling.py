"""Parts of a Program in a difference, as MIL text with decimal floats; a long literal is shown as its number of
elements, a weight as its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.pairing.keyed import NAME
from miltext.printing.printer import Printer, TypeText
from miltext.printing.tensors import Style
from miltext.schema.walk import sizes_of_blocks
from miltext.syntax.literals import quote
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.schema.proto import Function, NamedValueType, Operation, TensorValue, Value

SHOWN = 16
"""The greatest number of elements of a shown tensor; for longer ones, the distance is shown."""


class Spelling(Printer):
    """Prints the two sides of a change."""

    def __init__(self) -> None:
        super().__init__(style=Style(floats="decimal", elide=SHOWN))

    def type(self, message: NamedValueType | Value) -> str:
        """Return the type in the field `type` of a message."""
        return self.type_of(message, "type").text

    def literal(self, value: Value) -> str:
        """Return a Value without its type."""
        text, prefix = self.value(value), f"{self.type(value)}("
        return text[len(prefix) : -1] if text.startswith(prefix) else text

    def parameters(self, inputs: Iterable[NamedValueType]) -> str:
        """Return the inputs of a function or block, with their types, in parentheses."""
        return self._parameters(inputs)

    def opset(self, opset: str) -> str:
        """Return an opset in the text's spelling."""
        return self._opset(opset) if opset else ""

    def function(self, name: str, function: Function) -> str:
        """Return the head of a function."""
        opset = f"<{self.opset(function.opset)}>" if function.opset else ""
        return f"func {name_text(name)}{opset}{self.parameters(function.inputs)}"

    def operation(self, operation: Operation) -> str:
        """Return an operation without its attribute `name`, and with the sizes of its inner blocks in their place."""
        outputs = ", ".join([self._named_value(output) for output in operation.outputs])
        inputs = operation.inputs
        arguments = ", ".join([f"{name_text(key)} = {self._argument(inputs[key])}" for key in sorted(inputs)])
        stated = {key: value for key, value in operation.attributes.items() if key != NAME}
        text = f"{outputs}{' = ' if outputs else ''}{name_text(operation.type)}({arguments})"
        text += self._attributes(stated) if stated else ""
        sizes = [*map(str, sizes_of_blocks(operation))]
        return f"{text}, with blocks of {' and '.join(sizes)} operations" if sizes else text

    def _blob(self, path: str, offset: int) -> str:
        return f"{quote(path)} at {offset}"

    def _tensor(self, tensor: TensorValue, value_type: TypeText) -> str:
        text = super()._tensor(tensor, value_type)
        return f"{text[len('$elided(') : text.index(',')]} elements" if text.startswith("$elided(") else text
