"""The pass `constant-folding`: operations on constants alone, in whose place the evaluator's result is a constant."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.checking.findings import named
from miltext.diagnostics import MiltextError
from miltext.ir.parts import Op, Value, literal_of
from miltext.printing.renaming import NAME
from miltext.rewriting.applying import constant_output, is_output, remove_unused
from miltext.rewriting.common_subexpressions import is_repeatable
from miltext.rewriting.computing import computed
from miltext.rewriting.expressions import UnknownFact
from miltext.rewriting.literals import literal_message
from miltext.rewriting.passes import GraphPass, RuleSite, in_each_function
from miltext.rewriting.weighing import own_bytes
from miltext.schema.dtypes import BY_NAME
from miltext.schema.tensors import Computed
from miltext.schema.types import TensorType, is_whole, read_type
from miltext.schema.value_builders import STRING, immediate
from miltext.weight_files.usage import value_size

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from miltext.evaluation.rules import Array
    from miltext.ir.functions import Block, Function
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema import proto
    from miltext.schema.types import Type

SMALL = 4096
"""The bytes of a result that may be larger than the constants that are removed with the operation."""

LARGEST = 1 << 26
"""The most bytes of a computed result, and of the arrays of operations computed together."""

TOGETHER = 100
"""The most operations computed together, as one program: a program for each takes most of the time."""

KEPT = frozenset({"dequantize", "quantize"})
"""The operations that stay: a constant under `dequantize` is a compressed weight."""


def _sites(function: Function, contents: ConstantContents) -> Iterator[RuleSite]:
    """Yield the operations on constants, in the order of the text."""
    folding = _FunctionFolding(function, contents)
    for ops in folding.groups([op for op in function.walk() if not op.is_constant]):
        for op in folding.compute(ops):
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

    def groups(self, ops: Iterable[Op]) -> Iterator[list[Op]]:
        """Yield the operations that use constants and each other alone, some at a time, in their order."""
        group, size = dict[Op, None](), 0
        for op in ops:
            if not self._is_fit(op, group):
                continue
            own = _size([*op.outputs, *op.operands])
            if group and (len(group) == TOGETHER or size + own > LARGEST or _opset(op) != _opset(next(iter(group)))):
                yield [*group]
                group, size = {}, 0
            if self._is_fit(op, group):  # unless the former group has no result for an operand
                group[op], size = None, size + own
        yield [*group]

    def compute(self, ops: Iterable[Op]) -> list[Op]:
        """Compute operations together, or else by halves. Return those that have a result."""
        group = dict[Op, None]()
        for op in ops:
            group |= {op: None} if self._is_fit(op, group) else {}
        fit = [*group]
        try:
            results = computed(fit, _opset(fit[0]), self._literal) if fit else {}
        except (MiltextError, UnknownFact):
            half = len(fit) // 2
            return [*self.compute(fit[:half]), *self.compute(fit[half:])] if half else []
        return [op for op in fit if self._accept(op, {value: results[value] for value in op.outputs})]

    def _is_fit(self, op: Op, group: Collection[Op]) -> bool:
        """Return whether an operation can be computed with the operations of a group."""
        if op.type in KEPT or op.block is None:
            return False
        if not all(value.maker in group or self._is_known(value) for value in op.operands):
            return False
        return is_repeatable(op) and all(_is_whole(value.type) for value in op.outputs) and _size(op.outputs) <= LARGEST

    def _is_known(self, value: Value) -> bool:
        return value in self._computed or literal_of(value) is not None

    def _accept(self, op: Op, results: Mapping[Value, Array]) -> bool:
        """Keep the results of an operation, if they and its operands are as declared."""
        if not all(map(self._is_known, op.operands)):
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
        made, gone = _size(op.outputs), sum(map(own_bytes, _needed(op)))
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


def _opset(op: Op) -> str:
    assert op.block is not None, "it is in the graph"
    return op.block.opset


def _is_whole(type: Type) -> bool:
    return isinstance(type, TensorType) and is_whole(type.shape)


def _is_declared(type: Type, array: Array) -> bool:
    """Return whether the literal of an array has a declared type."""
    dtype = "string" if array.dtype == object else Computed(array).dtype.name
    return TensorType(dtype, array.shape) == type


def _is_compressed(type: Type) -> bool:
    """Return whether an array has elements of at most 8 bits, which is how weights are quantized."""
    dtype = BY_NAME[type.dtype] if isinstance(type, TensorType) and type.shape else None
    return dtype is not None and dtype.kind not in ("bool", "string") and dtype.bits <= 8


def _size(values: Iterable[Value]) -> int:
    """Return the bytes of values by their types."""
    return sum(value_size(value.message) for value in values if value.message is not None)


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
