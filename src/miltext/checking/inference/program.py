"""Inference over a whole Program: every op of every function, with the types declared and the types inferred.

Messages are read by their fields, so that those of `miltext.schema.proto` and of coremltools both serve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.checking.inference.operands import Arguments, Conflict, NestedBlock, Operand, read_value
from miltext.checking.inference.rules import apply
from miltext.checking.inference.value_types import Type, compatible, join, read_type
from miltext.checking.inference.values import infer_value
from miltext.schema.operations import signature

if TYPE_CHECKING:
    from miltext.schema import proto

Path: TypeAlias = "tuple[str | int, ...]"
Scope: TypeAlias = "dict[str, Operand]"

UNDEFINED = Operand(None)


class Inference(NamedTuple):
    """What inference says of one op.

    `path` leads to it: the function's name, its specialization, the op's place in the block, then for an
    op inside another the block's place and its own, and so on. `declared` are the types that the outputs
    state, None for those that state none; `inferred` those that follow from the inputs, None when they
    cannot be told. `conflict` says why the inputs cannot go together, when they cannot. `arguments` is what
    the op is given.
    """

    path: Path
    operation: proto.Operation
    declared: list[Type]
    inferred: Sequence[Type] | None
    conflict: str | None
    arguments: Arguments

    @property
    def agrees(self) -> bool:
        """Whether the declared types can be right."""
        if self.inferred is None:
            return self.conflict is None
        return len(self.inferred) == len(self.declared) and all(map(compatible, self.declared, self.inferred))


def infer(
    op_type: str,
    inputs: Mapping[str, Sequence[Operand]],
    opset: str | None = None,
    blocks: Sequence[NestedBlock] = (),
) -> Sequence[Type] | None:
    """The types of an op's outputs; None where no rule knows the op, or it cannot tell.

    `inputs` are the operands by parameter, those among the op's attributes included; `opset` is that of
    the function, in either spelling, the newest when there is none. Raises Conflict when the inputs
    cannot go together.
    """
    return apply(Arguments(op_type, inputs, opset, blocks))


def infer_types(program: proto.Program) -> list[Inference]:
    """What inference says of each op, nested ones before the op that holds them.

    Users of an output are told what it declares, and what was inferred where it declares nothing. Where the
    two cannot both be right, nobody knows which is, and users are told neither: one wrong type is one finding.
    """
    found: list[Inference] = []
    types: dict[bytes, Type] = {}
    for name, function in program.functions.items():
        for opset, block in function.block_specializations.items():
            walk = Walk(opset, types, found)
            walk.block(block, walk.declare({}, function.inputs), (name, opset))
    return found


class Walk:
    """One specialization of a function; `types` remembers each type by its bytes, for a Program has few."""

    def __init__(self, opset: str, types: dict[bytes, Type], found: list[Inference]) -> None:
        self.opset = opset
        self.types = types
        self.found = found

    def block(self, block: proto.Block, outer: Scope, path: Path, given: Sequence[Operand] = ()) -> NestedBlock:
        """What a block takes and gives; `given` is what its inputs stand for, whose types they may not contradict."""
        scope = self.declare(outer, block.inputs)
        inputs = [scope[value.name].type for value in block.inputs]
        for value, stated, operand in zip(block.inputs, inputs, given):  # noqa: B905  # where they differ, others say so
            if not compatible(stated, operand.type):
                scope[value.name] = Operand(None, constant=False)
        for place, operation in enumerate(block.operations):
            self.operation(operation, scope, (*path, place))
        outputs = [scope[name].type if name in scope else None for name in block.outputs]
        return NestedBlock(inputs, outputs)

    def operation(self, operation: proto.Operation, scope: Scope, path: Path) -> None:
        operands = self.operands(operation, scope)
        blocks = self.nested(operation, operands, scope, path) if operation.blocks else []
        arguments = Arguments(operation.type, operands, self.opset, blocks)
        inferred, conflict = None, None
        try:
            inferred = apply(arguments)
        except Conflict as refused:
            conflict = str(refused)
        declared = [self.read(output.type) for output in operation.outputs]
        self.found.append(Inference(path, operation, declared, inferred, conflict, arguments))
        for output, stated, followed in zip_longest(operation.outputs, declared, inferred or ()):
            if output is not None:
                agreed = stated or followed if compatible(stated, followed) else join(stated, followed)
                scope[output.name] = _result(arguments, agreed)

    def nested(
        self, operation: proto.Operation, operands: Mapping[str, Sequence[Operand]], scope: Scope, path: Path
    ) -> list[NestedBlock]:
        known = signature(operation.type, self.opset)
        stand_for = [block.inputs or "" for block in known.blocks] if known else []
        return [
            self.block(block, scope, (*path, place), operands.get(name, ()))
            for place, (block, name) in enumerate(zip_longest(operation.blocks, stand_for[: len(operation.blocks)]))
        ]

    def operands(self, operation: proto.Operation, scope: Scope) -> dict[str, list[Operand]]:
        operands = {
            name: [self.binding(binding, scope) for binding in argument.arguments]
            for name, argument in operation.inputs.items()
        }
        for name, value in operation.attributes.items():
            if name != "name":
                operands.setdefault(name, [self.constant(value)])
        return operands

    def binding(self, binding: proto.Argument.Binding, scope: Scope) -> Operand:
        if binding.name:
            return scope.get(binding.name, UNDEFINED)
        return self.constant(binding.value)

    def constant(self, value: proto.Value) -> Operand:
        stated = self.read(value.type)
        return Operand(stated, partial(read_value, value, stated))

    def declare(self, outer: Scope, values: Iterable[proto.NamedValueType]) -> Scope:
        return {**outer, **{value.name: Operand(self.read(value.type), constant=False) for value in values}}

    def read(self, message: proto.ValueType) -> Type:
        key = message.SerializeToString()
        if key not in self.types:
            self.types[key] = read_type(message)
        return self.types[key]


def _result(arguments: Arguments, type: Type) -> Operand:
    """One output, with its value where that is known."""
    if arguments.op_type == "const":
        made = arguments.operands.get("val")
        return Operand(type, lambda: made[0].value if made else None)
    constant = all(operand.constant for operands in arguments.operands.values() for operand in operands)
    return Operand(type, value=infer_value(arguments, type), constant=constant)
