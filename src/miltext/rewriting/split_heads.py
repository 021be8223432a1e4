"""The pass `split-heads`: attention over all heads at once, in rank 4, as attention head by head, in rank 3."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.ir.parts import Op, Value, maker_of
from miltext.printing.renaming import rename
from miltext.rewriting.applying import remove_unused, set_name
from miltext.rewriting.exactness import Exactness
from miltext.rewriting.literals import literal_message
from miltext.rewriting.passes import GraphPass, RuleSite
from miltext.rewriting.python_code import RuleConstants
from miltext.rewriting.sites import other_use
from miltext.schema.types import TensorType, read_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.ir.functions import Function
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Operand
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema.types import Type

PERM = [0, 2, 1, 3]
"""The transpose between [batch, places, heads, channels] and [batch, heads, places, channels]."""

HEADS, CHANNELS = 1, 2
"""The axis of the heads in rank 4, and the axis of the channels of all heads in rank 3."""

ELEMENTWISE = frozenset("add sub mul real_div maximum minimum select cast".split())
"""The operations between the scores and the softmax: factors, masks, and casts."""


class _Heads(NamedTuple):
    """A value of all heads in rank 3, as `source`, and the operations that make its heads in rank 4."""

    source: Value
    heads: int
    ops: tuple[Op, ...]


@dataclass
class _Attention:
    """Attention over all heads: the queries, keys and values, and the operations from the scores to the result.

    `chain` begins with the `matmul` of the scores and ends with the `matmul` of the result. `operand` is the parameter
    for the result of the operation before.
    """

    root: Op
    merged: Op
    chain: list[Op]
    query: _Heads
    key: _Heads
    value: _Heads
    heads: int
    operands: dict[Op, Value] = field(default_factory=dict)

    @property
    def ops(self) -> list[Op]:
        """The operations, the last one first."""
        return [
            *dict.fromkeys((self.root, self.merged, *self.chain[::-1], *self.value.ops, *self.key.ops, *self.query.ops))
        ]


def _sites(graph: Graph, contents: ConstantContents) -> Iterator[RuleSite]:
    """Yield the attentions with two heads or more, in the order of the text."""
    search = _Search(RuleConstants(contents))
    for function in graph.functions.values():
        for op in [*function.walk()]:
            found = search.attention(op) if op.type == "reshape" and op.block is not None else None
            if found is not None:
                yield RuleSite(op, partial(_Splitting(found, function).put), _reason(found.ops), found.ops[1:])


def _reason(ops: list[Op]) -> str:
    """Return the reason against a replacement of operations; empty if nothing forbids it."""
    inside = {*ops}
    for op in ops[1:]:
        for value in op.outputs:
            for use in value.uses:
                if use.op not in inside:
                    return other_use(value, use)
    return ""


class _Search:
    """Finds attention above the reshape that ends it."""

    def __init__(self, constants: RuleConstants) -> None:
        self._constants = constants

    def attention(self, root: Op) -> _Attention | None:
        """Return the attention that a `reshape` ends; None if it ends something else."""
        merged = self._maker(root, "x", "transpose")
        last = None if merged is None else self._maker(merged, "x", "matmul")
        if merged is None or last is None or not self._has(merged, "perm", PERM) or self._flags(last) != (False, False):
            return None
        chain, operands = [last], dict[Op, Value]()
        value = self._heads(last, "y")
        while (above := self._above(chain[-1], operands)) is not None and above.type != "matmul":
            chain.append(above)
        if above is None or value is None or self._flags(above) != (False, True):
            return None
        query, key = self._heads(above, "x"), self._heads(above, "y")
        whole = [*reversed([*chain, above])]
        if query is None or key is None or not self._is_softmax(whole) or not _is_merged(root, value):
            return None
        if len({query.heads, key.heads, value.heads}) > 1 or any(op.block is not root.block for op in whole):
            return None
        return _Attention(root, merged, whole, query, key, value, query.heads, operands)

    def _above(self, op: Op, operands: dict[Op, Value]) -> Op | None:
        """Return the operation before one in the chain, through the only argument with a score for each head."""
        given = [each for operands in op.inputs.values() for each in operands]
        if op.type in ELEMENTWISE:
            by_head = [each for each in given if not _is_for_all(each)]
            found = by_head[0] if len(by_head) == 1 else None
        else:
            found = op.operand("x") if op.type in ("matmul", "softmax") else None
        if not isinstance(found, Value) or not _has_rank_4(found):
            return None
        operands[op] = found
        return found.maker

    def _is_softmax(self, chain: list[Op]) -> bool:
        """Return whether a chain has one softmax, over the last axis, and only casts after it."""
        softmaxes = [place for place, op in enumerate(chain) if op.type == "softmax"]
        if len(softmaxes) != 1 or any(op.type != "cast" for op in chain[softmaxes[0] + 1 : -1]):
            return False
        axis = self._constants.read(chain[softmaxes[0]], "axis")
        return axis is not None and axis.item() in (-1, 3)

    def _heads(self, op: Op, parameter: str) -> _Heads | None:
        """Return the value whose heads an argument is; None if it is made in another way."""
        transposed = self._maker(op, parameter, "transpose")
        reshaped = None if transposed is None else self._maker(transposed, "x", "reshape")
        source = None if reshaped is None else reshaped.operand("x")
        if transposed is None or reshaped is None or not self._has(transposed, "perm", PERM):
            return None
        if not isinstance(source, Value) or {transposed.block, reshaped.block} != {op.block}:
            return None
        heads = _heads_in(reshaped.outputs[0].type, source.type)
        return None if heads is None else _Heads(source, heads, (transposed, reshaped))

    def _maker(self, op: Op, parameter: str, type: str) -> Op | None:
        """Return the operation of a type that makes an argument."""
        maker = maker_of(op.operand(parameter))
        return maker if maker is not None and maker.type == type and maker.block is op.block else None

    def _has(self, op: Op, parameter: str, wanted: object) -> bool:
        found = self._constants.read(op, parameter)
        return found is not None and found.tolist() == wanted

    def _flags(self, op: Op) -> tuple[object, ...]:
        found = (self._constants.read(op, name) for name in ("transpose_x", "transpose_y"))
        return tuple(None if each is None else each.item() for each in found)


def _heads_in(split: Type, whole: Type) -> int | None:
    """Return the number of heads of [1, places, heads, channels], which [1, places, heads * channels] contains."""
    if not isinstance(split, TensorType) or not isinstance(whole, TensorType):
        return None
    if len(split.shape) != 4 or len(whole.shape) != 3 or (split.shape[0], whole.shape[0]) != (1, 1):
        return None
    heads, channels = split.shape[2:]
    if heads is None or channels is None or heads < 2 or whole.shape[2] != heads * channels:
        return None
    return heads


def _is_merged(root: Op, value: _Heads) -> bool:
    """Return whether the last reshape puts the heads beside each other, as they are in the values."""
    made, source = root.outputs[0].type, value.source.type
    assert isinstance(source, TensorType), "its heads are known"
    return (
        isinstance(made, TensorType) and len(made.shape) == 3 and (made.shape[0], made.shape[2]) == (1, source.shape[2])
    )


def _type(operand: Operand) -> Type:
    if isinstance(operand, Value):
        return operand.type
    return None if operand is None else read_type(operand.type)


def _has_rank_4(operand: Operand) -> bool:
    stated = _type(operand)
    return isinstance(stated, TensorType) and len(stated.shape) == 4


def _is_for_all(operand: Operand) -> bool:
    """Return whether an argument is the same for each head."""
    stated = _type(operand)
    if not isinstance(stated, TensorType) or len(stated.shape) > 4:
        return False
    return all(size == 1 for size in stated.shape[-4:-2])


def _one(type: Type) -> TensorType:
    """Return the type of one head of a value of rank 4."""
    assert isinstance(type, TensorType), "its rank is known"
    return type._replace(shape=(type.shape[0], *type.shape[2:]))


class _Splitting:
    """Puts attention head by head in the place of attention over all heads."""

    def __init__(self, found: _Attention, function: Function) -> None:
        self._found = found
        self._function = function
        self._name = found.root.outputs[0].name
        self._squeezed: dict[int, Value] = {}

    def put(self) -> None:
        """Make the change."""
        found, root = self._found, self._found.root
        queries, keys, values = (self._split(each) for each in (found.query, found.key, found.value))
        results = [self._head(*parts) for parts in zip(queries, keys, values, strict=True)]
        given: dict[str, Operand | Sequence[Operand]] = {
            "values": results,
            "axis": _number(CHANNELS),
            "interleave": literal_message(np.array(False)),
        }
        joined = self._insert("concat", given, {"heads": root.outputs[0].type})
        root.outputs[0].replace_uses(joined[0])
        remove_unused(found.ops)
        rename(joined[0], self._name)

    def _split(self, whole: _Heads) -> list[Value]:
        """Insert the split of a value into its heads."""
        source = whole.source.type
        assert isinstance(source, TensorType), "its heads are known"
        channels = source.shape[CHANNELS]
        assert channels is not None, "its heads are known"
        part = source._replace(shape=(*source.shape[:CHANNELS], channels // whole.heads))
        given = {"x": whole.source, "axis": _number(CHANNELS), "num_splits": _number(whole.heads)}
        return self._insert("split", given, {f"{whole.source.name}_{head}": part for head in range(whole.heads)})

    def _head(self, query: Value, key: Value, value: Value) -> Value:
        """Insert the attention of one head, and return its result."""
        before = query
        for op in self._found.chain:
            given: dict[str, list[Operand]] = {
                name: [self._operand(op, each, before) for each in operands] for name, operands in op.inputs.items()
            }
            if op is self._found.chain[0]:
                given |= {"x": [query], "y": [key]}
            elif op is self._found.chain[-1]:
                given |= {"y": [value]}
            elif op.type == "softmax":
                given |= {"axis": [_number(-1)]}
            [before] = self._copy(op, given)
        return before

    def _operand(self, op: Op, operand: Operand, before: Value) -> Operand:
        """Return the argument of one head in place of the argument of all heads."""
        if operand is self._found.operands.get(op):
            return before
        return self._one_rank_less(operand) if _has_rank_4(operand) and op.type in ELEMENTWISE else operand

    def _one_rank_less(self, operand: Operand) -> Value:
        """Return an argument of rank 4 that is the same for all heads in rank 3."""
        if id(operand) not in self._squeezed:
            given = {"x": operand, "axes": literal_message(np.array([HEADS], np.int32))}
            [self._squeezed[id(operand)]] = self._insert("squeeze", given, {"for_all_heads": _one(_type(operand))})
        return self._squeezed[id(operand)]

    def _copy(self, op: Op, given: dict[str, list[Operand]]) -> list[Value]:
        """Insert a copy of an operation for one head."""
        made = op.copy()
        for name, operands in given.items():
            made.set_input(name, operands)
        for value in made.outputs:
            value.type = _one(value.type)
        return self._put(made, [value.name for value in made.outputs])

    def _insert(
        self, type: str, given: Mapping[str, Operand | Sequence[Operand]], outputs: Mapping[str, Type]
    ) -> list[Value]:
        return self._put(Op.new(type, given, outputs), outputs)

    def _put(self, op: Op, stems: Iterable[str]) -> list[Value]:
        """Insert an operation before the end of the attention, with free names."""
        block = self._found.root.block
        assert block is not None, "a site is in a block"
        for value, stem in zip(op.outputs, stems, strict=True):
            value.name = self._function.fresh(stem)
        set_name(op, self._found.root)
        block.insert_before(self._found.root, op)
        return op.outputs


def _number(number: int) -> Operand:
    return literal_message(np.array(number, np.int32))


SPLIT_HEADS = GraphPass(
    "split-heads",
    _sites,
    source="apple/ml-ane-transformers: `ane_transformers/reference/multihead_attention.py`",
    purpose="attention head by head in rank 3, which the Neural Engine computes without transposes in rank 4",
    systems="Neural Engine",
    exactness=Exactness("ulp 1"),
)
