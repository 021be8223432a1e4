"""The pass `common-subexpressions`: operations equal to an earlier one, and equal constants."""

from __future__ import annotations

from collections import Counter
from functools import partial
from math import prod
from typing import TYPE_CHECKING

from miltext.evaluation import operations  # noqa: F401  # importing it enters the rules
from miltext.evaluation.rules import RULES
from miltext.ir.parts import Op, Value, literal_of
from miltext.printing.renaming import rename
from miltext.rewriting.applying import is_output, kept_name, remove_unused
from miltext.rewriting.passes import GraphPass, RuleSite, in_each_function
from miltext.rewriting.random_operations import is_random
from miltext.rewriting.weighing import contents_of
from miltext.schema.tensors import Computed, tensor_form
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Operand
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema import proto

WORTH = 100
"""The least elements of constants that become one: coremltools' `const_deduplication` has the same number."""


def _sites(function: Function, contents: ConstantContents) -> Iterator[RuleSite]:
    """Yield the operations equal to an earlier one, in the order of the text."""
    keys = OpKeys(function.walk(), contents)
    for block in function.blocks.values():
        yield from merging(block, function, keys, _is_worth, {})


def merging(
    block: Block, function: Function, keys: OpKeys, is_wanted: Callable[[Op], bool], outer: dict[Hashable, Op]
) -> Iterator[RuleSite]:
    """Yield the wanted operations of a block equal to an earlier one; `outer` are visible in it, by key."""
    known = dict(outer)
    for op in block:
        for inner in op.blocks:
            yield from merging(inner, function, keys, is_wanted, known)
        if op.block is None or not is_wanted(op):
            continue
        key = keys.of(op)
        first = known.get(key)
        if first is None or first.block is None:
            known[key] = op
        else:
            yield RuleSite(op, partial(_merge, op, first, function), _reason(op, first, function), [first])


def is_repeatable(op: Op) -> bool:
    """Return whether an operation always has the same result for the same arguments, and does nothing else."""
    if op.type not in RULES or is_random(op.type) or op.blocks or not op.outputs:
        return False
    return all(isinstance(value.type, TensorType) for value in (*op.operands, *op.outputs))


def _is_worth(op: Op) -> bool:
    """Return whether equal ones of an operation become one; a `const` needs many elements."""
    if op.type != "const":
        return is_repeatable(op)
    form = tensor_form(op.attributes["val"].type) if op.outputs and "val" in op.attributes else None
    return form is not None and prod(form[1]) >= WORTH


def _reason(op: Op, first: Op, function: Function) -> str:
    """Return the reason why an operation stays beside an equal one; empty if nothing forbids it."""
    pairs = zip(op.outputs, first.outputs, strict=True)
    returned = ((old, new) for old, new in pairs if is_output(old, function))
    return next((kept_name(old, new, is_output(new, function)) for old, new in returned), "")


def _merge(op: Op, first: Op, function: Function) -> None:
    """Use the results of an equal operation in place of the results of `op`."""
    pairs = zip(op.outputs, first.outputs, strict=True)
    names = [(new, old.name) for old, new in pairs if is_output(old, function)]
    for old, new in zip(op.outputs, first.outputs, strict=True):
        old.replace_uses(new)
    remove_unused([op])
    for value, name in names:
        rename(value, name)


class OpKeys:
    """Keys of operations: equal keys mean equal results."""

    def __init__(self, ops: Iterable[Op], contents: ConstantContents) -> None:
        self._contents = contents
        self._known: dict[Op, Hashable] = {}
        self._digests: dict[Hashable, str | None] = {}
        values = (value for op in ops if op.is_constant for _, value in contents_of(op))
        places = {(_place(value), _type(value)) for value in values if is_stored(value)}
        self._alike = Counter(kind for _, kind in places)

    def of(self, op: Op) -> Hashable:
        """Return the key of an operation: its type, the types of its outputs, and its arguments and attributes."""
        made = tuple(value.type for value in op.outputs)
        inputs = tuple((name, tuple(map(self._operand, op.inputs[name]))) for name in sorted(op.inputs))
        inside = tuple((name, self.content(value)) for name, value in contents_of(op) if name not in op.inputs)
        return op.type, made, inputs, inside

    def _operand(self, operand: Operand) -> Hashable:
        """Return the key of an argument: equal constants have equal ones."""
        if not isinstance(operand, Value):
            return None if operand is None else self.content(operand)
        if operand.maker is None or operand.maker.type != "const":
            return operand
        known = self._known.get(operand.maker)
        if known is None:
            literal = literal_of(operand)
            known = self._known[operand.maker] = operand if literal is None else self.content(literal)
        return known

    def content(self, value: proto.Value) -> Hashable:
        """Return the key of a constant: its bits, which are read where another constant may be equal."""
        kind = _type(value)
        if not is_stored(value):
            return kind, value.SerializeToString(deterministic=True)
        if self._alike[kind] < 2:
            return kind, _place(value)
        place = kind, _place(value)
        if place not in self._digests:
            array = self._contents.array(value)
            self._digests[place] = None if array is None else Computed(array).digest()
        return kind, self._digests[place] or _place(value)


def is_stored(value: proto.Value) -> bool:
    """Return whether a constant is in a weight file."""
    return value.WhichOneof("value") == "blobFileValue"


def _type(value: proto.Value) -> bytes:
    return value.type.SerializeToString(deterministic=True)


def _place(value: proto.Value) -> Hashable:
    return value.blobFileValue.fileName, value.blobFileValue.offset


COMMON_SUBEXPRESSIONS = GraphPass(
    "common-subexpressions",
    in_each_function(_sites),
    source="coremltools: `remove_redundant_ops` and `const_deduplication`, at conversion only",
    purpose="the same result is computed once",
)
