"""The present contents of a generated function: its inputs, its names, and the values in scope."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.inference.operands import Operand
from miltext.schema.operations import opset_place
from miltext.schema.types import TensorType, Type

if TYPE_CHECKING:
    from miltext.generation.choices import Choices
    from miltext.generation.options import Options
    from miltext.schema.proto import Value

IN_AND_OUT = {"fp32": "ios15", "int32": "ios15", "fp16": "ios16", "int8": "ios19"}
"""The data types that inputs and outputs of a model have, with the opset of the specification that brought each
(Apple's `FeatureTypes.proto`: FLOAT16 is of specification 7, INT8 of 10).
"""


class Redraw(Exception):
    """The drawn choices do not make an operation: draw again."""


class ScopedValue(NamedTuple):
    """A value in scope. A `fresh` value is finite for all inputs: an input or a constant.

    `length` is the certain number of elements in a list; a list that `is_fixed` keeps its length. A tensor that
    `may_be_empty` has a size that values decide; a value that `is_compressed` is a constant.
    """

    name: str
    operand: Operand
    fresh: bool = False
    length: int = 0
    may_be_empty: bool = False
    is_fixed: bool = False
    is_compressed: bool = False

    @property
    def type(self) -> Type:
        return self.operand.type

    @property
    def is_settled(self) -> bool:
        """Whether the value is known before the program runs: the value of a constant, or of a shape."""
        return self.operand.constant or self.operand.value is not None


class ChosenArgument(NamedTuple):
    """The binding of an argument: an item, by its name, or a value."""

    operand: Operand
    name: str = ""
    value: Value | None = None


class FunctionScope:
    """The shared parts of a function's blocks: the choices, the names, the inputs and states, the used names.

    With `names_constants`, each constant is an operation of its own, as coremltools writes them; without it, constants
    are where they are used.
    """

    def __init__(self, choices: Choices, options: Options, opset: str) -> None:
        self.choices = choices
        self.options = options
        self.opset = opset
        self.names_constants = choices.flag()
        self.names: Counter[str] = Counter()
        self.used: set[str] = set()
        self.inputs: list[ScopedValue] = []
        self.states: list[ScopedValue] = []

    def name(self, stem: str) -> str:
        """Return a new name: `conv_0`, `conv_1`."""
        self.names[stem] += 1
        return f"{stem}_{self.names[stem] - 1}"

    def has(self, opset: str) -> bool:
        """Return whether the function has an opset or a later one."""
        return opset_place(self.opset) >= opset_place(opset)

    def goes_in_and_out(self, type: Type) -> bool:
        """Return whether an input or an output may be of a type."""
        return isinstance(type, TensorType) and type.dtype in IN_AND_OUT and self.has(IN_AND_OUT[type.dtype])

    def takes_input(self, type: TensorType) -> bool:
        """Return whether there may be one more input, of this type."""
        return len(self.inputs) < self.options.inputs and bool(type.shape) and self.goes_in_and_out(type)

    def add_input(self, type: TensorType) -> ScopedValue:
        """Add an input to the function."""
        item = ScopedValue(self.name("x"), Operand(type, constant=False), fresh=True)
        self.inputs.append(item)
        return item
