"""Untyped literals of drafts: arguments, and constants, which get the type of their first use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.checking.findings import Finding, Remark
from miltext.checking.inference.operands import Arguments, Operand
from miltext.checking.inference.program import Walk
from miltext.checking.inference.rules import followed
from miltext.checking.literal_types import Beside, literal_type
from miltext.diagnostics import codes
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from miltext.checking.inference.operands import NestedBlock
    from miltext.checking.inference.program import Path as InferencePath
    from miltext.checking.inference.reading import StatedGraph
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.schema.operations import Signature
    from miltext.schema.paths import Path
    from miltext.schema.types import ListType

    Operands = Mapping[str, Sequence[Operand]]


@dataclass(slots=True)
class ConstantUse:
    """A parameter that uses a constant, and the type of its literal for it."""

    op_type: str
    parameter: str
    path: Path

    def __str__(self) -> str:
        return f"`{self.parameter}` of `{self.op_type}`"


@dataclass(slots=True)
class OpenConstant:
    """A `const` without a type, at the path `place`, and the use that decided it, if any.

    It `is_doubtful` if a mistake hides the types of other operands at a use, which might have decided its type.
    """

    op: Op
    place: Path
    operand: Operand
    gap: Path
    output: Path
    use: ConstantUse | None = None
    is_doubtful: bool = False

    def conflict(self, use: ConstantUse, first: TensorType | ListType, other: TensorType | ListType | None) -> Finding:
        """Return the finding about a use that needs another type."""
        as_other = f", and {use} as {_element(other)}" if other else f", which {use} does not take"
        message = f"the type of this literal cannot be inferred: {self.use} takes it as {_element(first)}{as_other}"
        found = [each for each in (self.use, use) if each]
        remarks = tuple(Remark(f"it is {each} here", each.path) for each in found)
        return Finding(self.gap, codes.NOT_INFERRED, f"{message}; write it out, or make a constant for each", remarks)


def _element(type: TensorType | ListType) -> str | None:
    return type.dtype if isinstance(type, TensorType) else "a list"


def takes(known: Signature, name: str, dtype: str | None, operands: Mapping[str, Sequence[Operand]]) -> bool:
    """Return whether a parameter accepts a constant of a data type beside the other operands."""
    parameter = known.parameters[name]
    same = [
        operand.type.dtype
        for other, bound in operands.items()
        if other in known.parameters and parameter.domain and known.parameters[other].domain == parameter.domain
        for operand in bound
        if isinstance(operand.type, TensorType)
    ]
    return (dtype in parameter.dtypes or not parameter.dtypes) and all(other in (None, dtype) for other in same)


class TypingOperands(Beside):
    """The operands of an operation that the types of its literals and constants may depend on.

    `bound` contains all of them. `lacks` is true if a mistake makes a part of them unknown, and `guide` is the data
    type that the operation states for its first output.
    """

    def __init__(self, operands: Operands, *, lacks: bool, guide: str | None) -> None:
        self.bound = {name: [*bound] for name, bound in operands.items()}
        self.lacks = lacks
        self.guide = guide
        super().__init__(operands)

    def note(self, name: str, index: int, operand: Operand) -> None:
        super().note(name, index, operand)
        self.bound[name][index] = operand


class DraftLiteral(NamedTuple):
    """A literal for the value at a place of a parameter of an operation."""

    spelling: str
    parameter: str
    place: int
    known: Signature
    opset: str

    def type(
        self, beside: TypingOperands, usual: Sequence[str] | None, without: Operand | None = None
    ) -> TensorType | ListType:
        """Return the type of the literal, given the operands `beside` it, `without` the literal's own constant.

        If several types are possible, it is the type that gives the output its declared data type. Raise UndecidedType
        or Misfit.
        """
        others, guide = beside.operands(without), beside.guide
        found = literal_type(self.spelling, self.parameter, self.known, others, usual)
        other = literal_type(self.spelling, self.parameter, self.known, others, usual, guide) if guide else found
        if found == other:
            return found
        before, after = (self.output(beside.bound, each) for each in (found, other))
        is_known = before is not None or after is not None
        guides = after == guide and before != guide if is_known else bool(self.known.parameters[self.parameter].domain)
        return other if guides else found

    def output(self, operands: Operands, made: TensorType | ListType) -> str | None:
        """Return the data type of the first output if the literal has a type."""
        bindings = [*operands.get(self.parameter, ())]
        bindings[self.place : self.place + 1] = [Operand(made)]
        outputs = followed(Arguments(self.known.name, {**operands, self.parameter: bindings}, self.opset))
        return outputs[0].dtype if outputs and isinstance(outputs[0], TensorType) else None


class UsualWalk(Walk):
    """Inference with the `usual` data types of the current function."""

    def __init__(self, graph: StatedGraph) -> None:
        super().__init__(graph)
        self.usual: list[str] = []

    def block(self, block: Block, path: InferencePath, given: Sequence[Operand] = ()) -> NestedBlock:
        if is_of_function(path):
            self.usual = usual_dtypes(self.known[value] for value in block.function.inputs)
        return super().block(block, path, given)


def is_of_function(path: InferencePath) -> bool:
    """Return whether a path of inference leads to a function's own block."""
    return len(path) == len(("function", "opset"))


def usual_dtypes(inputs: Iterable[Operand]) -> list[str]:
    """Return the default data types of literals in a function: int32 for integers.

    Fractions are fp16 if an input of the function is fp16 and none is fp32, else fp32.
    """
    dtypes = {operand.type.dtype for operand in inputs if isinstance(operand.type, TensorType)}
    return ["int32", "fp16" if "fp16" in dtypes and "fp32" not in dtypes else "fp32", "bool", "string"]
