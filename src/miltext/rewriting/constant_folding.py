"""The pass `constant-folding`: operations on constants alone, in whose place the evaluator's result is a constant."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError
from miltext.ir.parts import Op, Value, literal_of
from miltext.printing.renaming import NAME
from miltext.rewriting.applying import constant_output, is_output, opset_of, remove_unused
from miltext.rewriting.common_subexpressions import is_repeatable
from miltext.rewriting.computing import computed
from miltext.rewriting.expressions import UnknownFact
from miltext.rewriting.literals import literal_message
from miltext.rewriting.passes import GraphPass, RuleSite, in_each_function
from miltext.rewriting.weighing import own_bytes
from miltext.schema.dtypes import BY_NAME, packed_size
from miltext.schema.tensors import Computed, tensor_form
from miltext.schema.types import TensorType, is_whole, read_type
from miltext.schema.value_builders import STRING, immediate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from miltext.evaluation.rules import Array
    from miltext.ir.functions import Function
    from miltext.ir.parts import Block
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema import proto
    from miltext.schema.types import Type

SMALL = 4096
"""The bytes of a result that may be larger than the constants that go with the operation."""

LARGEST = 1 << 26
"""The most bytes of a result that is computed."""

KEPT = frozenset({"dequantize", "quantize"})
"""The operations that stay: a constant under `dequantize` is a compressed weight."""


def _sites(function: Function, contents: ConstantContents) -> Iterator[RuleSite]:
    """Yield the operations on constants, in the order of the text."""
    folding = _FunctionFolding(function, contents)
    for op in [*function.walk()]:
        if op.block is not None and not op.is_constant and folding.compute(op):
            yield RuleSite(op, partial(folding.fold, op), folding.reason(op))


class _FunctionFolding:
    """The computed results in a function; the results of operations that stay count as constants, too.

    `narrow` are those that depend on compressed weights: arrays of at most 8 bits for each element.
    """

    def __init__(self, function: Function, contents: ConstantContents) -> None:
        self._function = function
        self._contents = contents
        self._computed: dict[Value, Array] = {}
        self._narrow: set[Value] = set()

    def compute(self, op: Op) -> bool:
        """Compute an operation whose arguments are all constants. Return whether it has a result."""
        is_constant = all(value in self._computed or literal_of(value) is not None for value in op.operands)
        if op.type in KEPT or not is_constant:
            return False
        if not is_repeatable(op) or not all(_is_known(value.type) for value in op.outputs) or _size(op) > LARGEST:
            return False
        assert op.block is not None, "it is in the graph"
        try:
            results = computed([op], opset_of(op.block), self._literal)
        except (MiltextError, UnknownFact):
            return False
        if not all(_is_declared(value.type, array) for value, array in results.items()):
            return False
        self._computed.update(results)
        literals = (read_type(each.type) for each in op.literals().values())
        types = [*(value.type for value in op.operands), *literals]
        if any(map(_is_compressed, types)) or not self._narrow.isdisjoint(op.operands):
            self._narrow.update(op.outputs)
        return True

    def _literal(self, value: Value) -> proto.Value:
        """Return a constant as a literal. Raise UnknownFact for an unreadable one."""
        if value in self._computed:
            return literal_message(self._computed[value])
        literal = literal_of(value)
        assert literal is not None, "it is a constant"
        is_stored = literal.WhichOneof("value") == "blobFileValue"
        return literal_message(self._contents.read(literal)) if is_stored else literal

    def reason(self, op: Op) -> str:
        """Return the reason against constants in place of an operation; empty if nothing forbids it."""
        for value in op.outputs:
            if is_output(value, self._function):
                return constant_output(value)
        made, gone = _size(op), sum(map(own_bytes, _needed(op)))
        if made <= gone or (made <= SMALL and self._narrow.isdisjoint(op.outputs)):
            return ""
        return f"{named(op.outputs[0].name)} would be a constant of {made} bytes in place of {gone}"

    def fold(self, op: Op) -> None:
        """Put constants in place of the outputs of an operation."""
        block = op.block
        assert block is not None, "it is in the graph"
        in_file = any(_is_stored(each) for each in _needed(op))
        for value in op.outputs:
            message = self._contents.store(self._computed[value], in_file=in_file)
            attributes = {"val": message} | ({NAME: immediate(STRING, value.name)} if NAME in op.attributes else {})
            const = Op.new("const", {}, {value.name: read_type(message.type)}, attributes)
            block.insert_before(op, const)
            value.replace_uses(const.outputs[0])
        remove_unused([op])


def _is_known(type: Type) -> bool:
    return isinstance(type, TensorType) and is_whole(type.shape)


def _is_declared(type: Type, array: Array) -> bool:
    """Return whether the literal of an array has a declared type."""
    dtype = "string" if array.dtype == object else Computed(array).dtype.name
    return TensorType(dtype, array.shape) == type


def _is_compressed(type: Type) -> bool:
    """Return whether an array has elements of at most 8 bits, which is how weights are quantized."""
    dtype = BY_NAME[type.dtype] if isinstance(type, TensorType) and type.shape else None
    return dtype is not None and dtype.kind not in ("bool", "string") and dtype.bits <= 8


def _size(op: Op) -> int:
    """Return the bytes of the outputs of an operation."""
    forms = (tensor_form(value.message.type) for value in op.outputs if value.message is not None)
    return sum(packed_size(prod(shape), dtype.bits) for dtype, shape in filter(None, forms))


def _needed(op: Op) -> list[Op]:
    """Return an operation, and those before it that nothing else needs."""
    found: dict[Op | Block, None] = {op: None}
    todo = [op]
    while todo:
        for value in todo.pop().operands:
            maker = value.maker
            if maker is not None and maker not in found and all(user in found for user in _users(maker)):
                found[maker] = None
                todo.append(maker)
    return [each for each in found if isinstance(each, Op)]


def _users(op: Op) -> Iterator[Op | Block]:
    return (use.user for value in op.outputs for use in value.uses)


def _is_stored(op: Op) -> bool:
    literal = op.literal("val") if op.type == "const" else None
    return literal is not None and literal.WhichOneof("value") == "blobFileValue"


CONSTANT_FOLDING = GraphPass(
    "constant-folding",
    in_each_function(_sites),
    source="coremltools: `const_elimination`, at conversion only",
    purpose="the result is computed once, before the model runs",
)
