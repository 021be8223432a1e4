"""The pass `common-subexpressions`: operations equal to an earlier one, and equal constants."""

from __future__ import annotations

from collections import Counter
from functools import partial
from hashlib import blake2b
from math import prod
from typing import TYPE_CHECKING

from miltext.evaluation import operations  # noqa: F401  # importing it enters the rules
from miltext.evaluation.rules import RULES
from miltext.ir.parts import Op, Value, literal_of
from miltext.printing.renaming import rename
from miltext.rewriting.applying import is_output, kept_name, remove_unused
from miltext.rewriting.passes import Applied, GraphPass, PassSite
from miltext.rewriting.weighing import contents_of
from miltext.schema.tensors import tensor_form
from miltext.schema.types import TensorType

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from miltext.ir.functions import Function
    from miltext.ir.parts import Block, Operand
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema import proto

WORTH = 100
"""The least elements of constants that become one: coremltools' `const_deduplication` has the same number."""


def _sites(function: Function, contents: ConstantContents) -> Iterator[PassSite]:
    """Yield the operations that are equal to an earlier one, in the order of the text."""
    keys = _Keys(function, contents)
    for block in function.blocks.values():
        yield from _in_block(block, function, keys, {})


def _in_block(block: Block, function: Function, keys: _Keys, outer: dict[Hashable, Op]) -> Iterator[PassSite]:
    """Yield the sites of a block; `outer` are the operations that are visible in it, by key."""
    known = dict(outer)
    for op in block:
        for inner in op.blocks:
            yield from _in_block(inner, function, keys, known)
        if op.block is None or not (_is_worth(op) if op.type == "const" else is_repeatable(op)):
            continue
        key = keys.of(op)
        first = known.get(key)
        if first is None or first.block is None:
            known[key] = op
        else:
            yield PassSite(op, partial(_merge, op, first, function), _reason(op, first, function), beside=first)


def is_repeatable(op: Op) -> bool:
    """Return whether an operation always has the same result for the same arguments, and does nothing else."""
    if op.type not in RULES or is_random(op) or op.blocks or not op.outputs:
        return False
    return all(isinstance(value.type, TensorType) for value in (*op.operands, *op.outputs))


def is_random(op: Op) -> bool:
    """Return whether an operation draws random numbers."""
    return op.type in RULES and "random" in RULES[op.type].forms


def _is_worth(op: Op) -> bool:
    """Return whether a `const` has so many elements that equal ones become one."""
    form = tensor_form(op.attributes["val"].type) if op.outputs and "val" in op.attributes else None
    return form is not None and prod(form[1]) >= WORTH


def _reason(op: Op, first: Op, function: Function) -> str:
    """Return the reason why an operation stays beside an equal one; empty if nothing forbids it."""
    pairs = zip(op.outputs, first.outputs, strict=True)
    returned = ((old, new) for old, new in pairs if is_output(old, function))
    return next((kept_name(old, new, is_output(new, function)) for old, new in returned), "")


def _merge(op: Op, first: Op, function: Function) -> Applied:
    """Use the results of an equal operation in place of those of `op`."""
    pairs = zip(op.outputs, first.outputs, strict=True)
    names = [(new, old.name) for old, new in pairs if is_output(old, function)]
    for old, new in zip(op.outputs, first.outputs, strict=True):
        old.replace_uses(new)
    removed = [*remove_unused([op])]
    for value, name in names:
        rename(value, name)
    return Applied(removed, [])


class _Keys:
    """Keys of the operations of a function: equal keys mean equal results."""

    def __init__(self, function: Function, contents: ConstantContents) -> None:
        self._contents = contents
        self._known: dict[Op, Hashable] = {}
        values = (value for op in function.walk() if op.is_constant for _, value in contents_of(op))
        places = {(_place(value), _type(value)) for value in values if value.WhichOneof("value") == "blobFileValue"}
        self._alike = Counter(kind for _, kind in places)

    def of(self, op: Op) -> Hashable:
        """Return the key of an operation: its type, the types of its outputs, and its arguments and attributes."""
        made = tuple(value.type for value in op.outputs)
        inputs = tuple((name, tuple(map(self._operand, op.inputs[name]))) for name in sorted(op.inputs))
        inside = tuple((name, self._content(value)) for name, value in contents_of(op) if name not in op.inputs)
        return op.type, made, inputs, inside

    def _operand(self, operand: Operand) -> Hashable:
        """Return the key of an argument: equal constants have equal ones."""
        if not isinstance(operand, Value):
            return None if operand is None else self._content(operand)
        if operand.maker is None or operand.maker.type != "const":
            return operand
        known = self._known.get(operand.maker)
        if known is None:
            literal = literal_of(operand)
            known = self._known[operand.maker] = operand if literal is None else self._content(literal)
        return known

    def _content(self, value: proto.Value) -> Hashable:
        """Return the key of a constant: its bits, which are read where another constant may be equal."""
        kind, is_stored = _type(value), value.WhichOneof("value") == "blobFileValue"
        if is_stored and self._alike[kind] > 1 and (array := self._contents.array(value)) is not None:
            return kind, blake2b(array.tobytes(), digest_size=32).digest()
        return kind, _place(value) if is_stored else value.SerializeToString(deterministic=True)


def _type(value: proto.Value) -> bytes:
    return value.type.SerializeToString(deterministic=True)


def _place(value: proto.Value) -> Hashable:
    return value.blobFileValue.fileName, value.blobFileValue.offset


COMMON_SUBEXPRESSIONS = GraphPass(
    "common-subexpressions",
    _sites,
    source="coremltools: `remove_redundant_ops` and `const_deduplication`, at conversion only",
    purpose="the same result is computed once",
)
