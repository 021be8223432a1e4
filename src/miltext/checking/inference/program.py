"""Inference over a whole Program: for each op of each function, the declared and the inferred types."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Arguments, InputClash, InputConflict, NestedBlock, Operand
from miltext.checking.inference.reading import Constant, StatedGraph
from miltext.checking.inference.rules import apply
from miltext.checking.inference.values import infer_value
from miltext.ir.parts import Value
from miltext.schema.operations import signature
from miltext.schema.types import Type, compatible, join

if TYPE_CHECKING:
    from miltext.checking.inference.reading import Binding
    from miltext.ir.functions import Block
    from miltext.ir.parts import Op
    from miltext.schema import proto
    from miltext.schema.operations import Signature

Path: TypeAlias = "tuple[str | int, ...]"

UNDEFINED = Operand(None)
"""The operand for a value unknown because of a mistake, which is reported at its definition."""


class Outcome:
    """The result for ops with equal inputs: one object for all of them, except for ops with blocks.

    `inferred` are the types that follow from the inputs, None when they cannot be inferred. `clash` contains the reason
    why the op rejects its inputs, if it does, and `doubts` the unusual but valid inputs. `right` are the forms of ops
    without errors: the number of their inputs apart from attributes, and their declared types.
    """

    __slots__ = ("clash", "doubts", "inferred", "right")

    def __init__(self, arguments: Arguments) -> None:
        self.inferred: Sequence[Type] | None = None
        self.clash: InputClash | None = None
        self.doubts: Sequence[InputClash] = ()
        self.right: set[Hashable] = set()
        try:
            self.inferred = apply(arguments)
            self.doubts = (*arguments.doubts,)
        except InputConflict as refused:
            self.clash = refused.clash


class _Outcomes(dict[Hashable, Outcome]):
    """The outcomes of ops by their inputs: most ops repeat another one, of this Program or of an earlier one."""

    cache_clear = dict.clear

    def of(self, arguments: Arguments) -> Outcome:
        """Return the result for an op without blocks, computed for the first op with the same inputs."""
        key = arguments.key
        known = self.get(key)
        if known is None:
            if len(self) >= MOST:
                self.clear()
            known = self[key] = Outcome(arguments)
        return known


OUTCOMES = _Outcomes()

MOST = 1 << 12
"""The number of kept outcomes."""


class Inference(NamedTuple):
    """The result of inference for one op.

    `path` is the function's name, its specialization, the op's place in the block, then for a nested op the block's
    place and its own, and so on. `declared` are the declared types of outputs, None for outputs without a type.
    `arguments` are the op's operands, and the `outcome` is their result.
    """

    path: Path
    operation: proto.Operation
    declared: list[Type]
    arguments: Arguments
    outcome: Outcome

    @property
    def inferred(self) -> Sequence[Type] | None:
        """The types that follow from the inputs, None when they cannot be inferred."""
        return self.outcome.inferred

    @property
    def clash(self) -> InputClash | None:
        """The reason why the op rejects its inputs, None for valid inputs."""
        return self.outcome.clash

    @property
    def doubts(self) -> Sequence[InputClash]:
        """The unusual but valid inputs of the op."""
        return self.outcome.doubts

    @property
    def agrees(self) -> bool:
        """Whether the declared types are possible."""
        if self.inferred is None:
            return self.clash is None
        return len(self.inferred) == len(self.declared) and all(map(compatible, self.declared, self.inferred))


def infer_types(program: proto.Program) -> list[Inference]:
    """Return the result of inference for each op, nested ones before the op that contains them.

    Users of an output get its declared type, or its inferred type where it declares none. If the two contradict each
    other, users get only their common part, so that a wrong type is reported once.

    Args:
        program: Any source; in this module, a Program.

    Returns:
        An `Inference` for each operation.

    Raises:
        ModelError: A source that cannot be read.
        ParseError: The text is not MIL text.

    Example:
        inferred = miltext.infer_types("model.mil")
    """
    return Walk(StatedGraph(program)).program()


class Walk:
    """Inference over a graph, function by function; `opset` is the opset of the current block.

    `known` are the operands of values so far. The `variables` are the inputs of an operation's blocks: one operand for
    each place and type in all blocks.
    """

    def __init__(self, graph: StatedGraph) -> None:
        self.graph = graph
        self.opset = ""
        self.known: dict[Value, Operand] = {}
        self.variables: dict[Hashable, Operand] = {}
        self.found: list[Inference] = []

    def program(self) -> list[Inference]:
        for name, function in self.graph.functions.items():
            for self.opset, block in function.blocks.items():
                self.declare(function.inputs)
                self.block(block, (name, self.opset))
        return self.found

    def declare(self, values: Iterable[Value]) -> None:
        """Record the inputs of a function or a block."""
        for value in values:
            stated = self.graph.stated[value]
            self.known[value] = UNDEFINED if stated.is_missing else Operand(stated.type, constant=False)

    def operand(self, value: Value) -> Operand:
        """Return the operand of a value, undefined for a name without a definition."""
        return self.known.get(value, UNDEFINED)

    def block(self, block: Block, path: Path, given: Sequence[Operand] = ()) -> NestedBlock:
        """Return the inputs and outputs of a block; its inputs may not contradict the types of the `given` operands."""
        known = self.known
        self.declare(block.inputs)
        self.enter(block, path)
        inputs = [known[value].type for value in block.inputs]
        for at, (value, stated, operand) in enumerate(zip(block.inputs, inputs, given)):  # noqa: B905  # others compare
            variable = self.variables.setdefault((path[:-1], at, stated), known[value])
            known[value] = variable if compatible(stated, operand.type) else UNDEFINED
        for place, op in enumerate(block):
            self.operation(op, (*path, place))
        self.leave(block, path)
        return NestedBlock(inputs, [self.operand(value).type for value in block.outputs])

    def enter(self, block: Block, path: Path) -> None:
        """Begin a block, whose inputs are known."""

    def leave(self, block: Block, path: Path) -> None:
        """Finish a block, before its outputs are read."""

    def operation(self, op: Op, path: Path) -> None:
        operands, op_type, stated = self.operands(op), op.type, self.graph.stated
        blocks = self.nested(op, operands, path) if op.blocks else []
        arguments = Arguments(op_type, operands, self.opset, blocks)
        outcome = self.outcome(op, arguments, path)
        declared = [stated[output].type for output in op.outputs]
        self.found.append(Inference(path, op.message, declared, arguments, outcome))
        for index, (output, followed) in enumerate(zip_longest(op.outputs, outcome.inferred or ())):
            if output is not None:
                self.known[output] = self.made(op, index, followed, arguments, path)

    def outcome(self, op: Op, arguments: Arguments, path: Path) -> Outcome:
        """Return the result for an operation at a path."""
        return Outcome(arguments) if arguments.blocks else OUTCOMES.of(arguments)

    def operands(self, op: Op, inputs: Mapping[str, Sequence[Binding]] | None = None) -> dict[str, list[Operand]]:
        """Return the operands of an operation, by parameter: its inputs, and its attributes except for the name."""
        bound, known = self.graph.inputs[op] if inputs is None else inputs, self.known.get
        operands = {
            name: [known(each, UNDEFINED) if isinstance(each, Value) else _given(each) for each in several]
            for name, several in bound.items()
        }
        for name, value in self.graph.attributes[op].items():
            if name != "name" and name not in operands:
                operands[name] = [Operand(value.stated.type, None, True, value.value)]
        return operands

    def made(self, op: Op, index: int, followed: Type, arguments: Arguments, path: Path) -> Operand:
        """Return an output of an operation for its users, given its inferred type."""
        stated = self.graph.stated[op.outputs[index]]
        if stated.type is not None and stated.type == followed:
            return result(arguments, followed)
        if stated.type is None and is_misnamed(op, signature(op.type, self.opset)):
            return UNDEFINED  # the argument may have been meant for a parameter that decides
        agreed = stated.type or followed if compatible(stated.type, followed) else join(stated.type, followed)
        is_mistaken = agreed is None and (stated.type is not None or stated.is_missing)
        return UNDEFINED if is_mistaken else result(arguments, agreed)

    def nested(self, op: Op, operands: Mapping[str, Sequence[Operand]], path: Path) -> list[NestedBlock]:
        known = signature(op.type, self.opset)
        stand_for = [block.inputs or "" for block in known.blocks] if known else []
        return [
            self.block(block, (*path, place), operands.get(name, ()))
            for place, (block, name) in enumerate(zip_longest(op.blocks, stand_for[: len(op.blocks)]))
        ]


def is_misnamed(op: Op | proto.Operation, known: Signature | None) -> bool:
    """Return whether an operation has an argument for an unknown parameter."""
    return known is not None and not known.open and any(name not in known.parameters for name in op.inputs)


def _given(binding: Binding) -> Operand:
    """Return the operand of a constant, or the operand of an undefined value."""
    return Operand(binding.stated.type, None, True, binding.value) if isinstance(binding, Constant) else UNDEFINED


def result(arguments: Arguments, type: Type) -> Operand:
    """Return one output, with its value if known."""
    if arguments.op_type == "const":
        made = arguments.operands.get("val")
        return Operand(type, None, True, made[0].value if made else None)
    constant = all(operand.constant for operands in arguments.operands.values() for operand in operands)
    value = infer_value(arguments, type)
    return Operand(type, None, constant, value)
