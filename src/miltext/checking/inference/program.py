"""Inference over a whole Program: every op of every function, with the types declared and the types inferred."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Arguments, InputClash, InputConflict, NestedBlock, Operand
from miltext.checking.inference.reading import Binding, Constant, Declared, Operation, Program, ReadBlock, read_program
from miltext.checking.inference.rules import apply
from miltext.checking.inference.values import infer_value
from miltext.schema.operations import signature
from miltext.schema.types import Type, compatible, join

if TYPE_CHECKING:
    from miltext.schema import proto
    from miltext.schema.operations import Signature

Path: TypeAlias = "tuple[str | int, ...]"
Scope: TypeAlias = "dict[str, Operand]"

UNDEFINED = Operand(None)
"""The operand for a value unknown because of a mistake, reported where the value is made."""


class Outcome:
    """The result for ops with equal inputs: one object for all of them, except for ops with blocks.

    `inferred` are the types that follow from the inputs, None when they cannot be inferred. `clash` contains the reason
    why the op cannot take its inputs, when it cannot, and `doubts` the odd but valid inputs. `right` are the forms of
    ops without errors: the number of their inputs beside attributes, and the types that they declare.
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
"""How many outcomes are kept."""


class Inference(NamedTuple):
    """The result of inference for one op.

    `path` leads to it: the function's name, its specialization, the op's place in the block, then for an op inside
    another the block's place and its own, and so on. `declared` are the types that the outputs state, None for outputs
    without a type. `arguments` are the op's operands, and the `outcome` is their result.
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
        """Why the op cannot take its inputs, None when it can."""
        return self.outcome.clash

    @property
    def doubts(self) -> Sequence[InputClash]:
        """The odd but valid inputs of the op."""
        return self.outcome.doubts

    @property
    def agrees(self) -> bool:
        """Whether the declared types can be right."""
        if self.inferred is None:
            return self.clash is None
        return len(self.inferred) == len(self.declared) and all(map(compatible, self.declared, self.inferred))


def infer_types(program: proto.Program) -> list[Inference]:
    """Return the result of inference for each op, nested ones before the op that contains them.

    Users of an output get its declared type, or its inferred type where it declares none. If the two contradict each
    other, it is unknown which one is wrong, and users get only the part that both share: one wrong type is one finding.
    """
    return Walk().program(read_program(program))


class Walk:
    """Inference over a Program, function by function; `opset` is the opset of the current block.

    The `variables` are the inputs of an operation's blocks: one operand for a place and a type in all of them.
    """

    def __init__(self) -> None:
        self.opset = ""
        self.variables: dict[Hashable, Operand] = {}
        self.found: list[Inference] = []

    def program(self, program: Program) -> list[Inference]:
        for name, function in program.functions.items():
            for self.opset, block in function.blocks.items():
                self.block(block, declare({}, function.inputs), (name, self.opset))
        return self.found

    def block(self, block: ReadBlock, outer: Scope, path: Path, given: Sequence[Operand] = ()) -> NestedBlock:
        """Return the inputs and outputs of a block; its inputs may not contradict the types of the `given` operands."""
        scope = declare(outer, block.inputs)
        self.enter(block, scope, path)
        inputs = [scope[value.name].type for value in block.inputs]
        for at, (value, stated, operand) in enumerate(zip(block.inputs, inputs, given)):  # noqa: B905  # others compare
            known = self.variables.setdefault((path[:-1], at, stated), scope[value.name])
            scope[value.name] = known if compatible(stated, operand.type) else UNDEFINED
        for place, operation in enumerate(block.operations):
            self.operation(operation, scope, (*path, place))
        self.leave(block, scope, path)
        outputs = [scope[name].type if name in scope else None for name in block.outputs]
        return NestedBlock(inputs, outputs)

    def enter(self, block: ReadBlock, scope: Scope, path: Path) -> None:
        """Begin a block, whose inputs are in the scope."""

    def leave(self, block: ReadBlock, scope: Scope, path: Path) -> None:
        """Finish a block, before its outputs are looked at."""

    def operation(self, operation: Operation, scope: Scope, path: Path) -> None:
        operands = bound(operation, scope)
        blocks = self.nested(operation, operands, scope, path) if operation.blocks else []
        arguments = Arguments(operation.type, operands, self.opset, blocks)
        outcome = Outcome(arguments) if blocks else OUTCOMES.of(arguments)
        declared = [output.stated.type for output in operation.outputs]
        self.found.append(Inference(path, operation.message, declared, arguments, outcome))
        for index, (output, followed) in enumerate(zip_longest(operation.outputs, outcome.inferred or ())):
            if output is not None:
                scope[output.name] = self.made(operation, index, followed, arguments, path)

    def made(self, operation: Operation, index: int, followed: Type, arguments: Arguments, path: Path) -> Operand:
        """Return an output of an operation for its users, given the type that follows."""
        stated = operation.outputs[index].stated
        if stated.type is not None and stated.type == followed:
            return result(arguments, followed)
        if stated.type is None and is_misnamed(operation, signature(operation.type, self.opset)):
            return UNDEFINED  # the argument may have been meant for a parameter that decides
        agreed = stated.type or followed if compatible(stated.type, followed) else join(stated.type, followed)
        is_mistaken = agreed is None and (stated.type is not None or stated.is_missing)
        return UNDEFINED if is_mistaken else result(arguments, agreed)

    def nested(
        self, operation: Operation, operands: Mapping[str, Sequence[Operand]], scope: Scope, path: Path
    ) -> list[NestedBlock]:
        known = signature(operation.type, self.opset)
        stand_for = [block.inputs or "" for block in known.blocks] if known else []
        return [
            self.block(block, scope, (*path, place), operands.get(name, ()))
            for place, (block, name) in enumerate(zip_longest(operation.blocks, stand_for[: len(operation.blocks)]))
        ]


def is_misnamed(operation: Operation | proto.Operation, known: Signature | None) -> bool:
    """Return whether an operation names a parameter that it does not have."""
    return known is not None and not known.open and any(name not in known.parameters for name in operation.inputs)


def bound(operation: Operation, scope: Scope) -> dict[str, list[Operand]]:
    """Return the operands of an operation, by parameter: its inputs, and its attributes except for the name."""
    operands = {}
    for name, bindings in operation.inputs.items():
        operands[name] = [
            scope.get(binding, UNDEFINED) if binding and isinstance(binding, str) else _given(binding)
            for binding in bindings
        ]
    for name, value in operation.attributes.items():
        if name != "name" and name not in operands:
            operands[name] = [Operand(value.stated.type, None, True, value.value)]
    return operands


def _given(value: Binding) -> Operand:
    """Return the operand of a constant, or an undefined one."""
    if not isinstance(value, Constant):
        return UNDEFINED
    return Operand(value.stated.type, None, True, value.value)


def declare(outer: Scope, values: Iterable[Declared]) -> Scope:
    """Return the scope around with inputs in it."""
    return {**outer, **{value.name: _declared(value) for value in values}}


def _declared(value: Declared) -> Operand:
    return UNDEFINED if value.stated.is_missing else Operand(value.stated.type, constant=False)


def result(arguments: Arguments, type: Type) -> Operand:
    """Return one output, with its value if known."""
    if arguments.op_type == "const":
        made = arguments.operands.get("val")
        return Operand(type, None, True, made[0].value if made else None)
    constant = all(operand.constant for operands in arguments.operands.values() for operand in operands)
    value = infer_value(arguments, type)
    return Operand(type, None, constant, value)
