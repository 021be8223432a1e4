"""The pass `equal-weights`: equal constants are stored once, also in several functions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from miltext.rewriting.common_subexpressions import OpKeys, is_stored, merging
from miltext.rewriting.passes import GraphPass, RuleSite
from miltext.rewriting.weighing import contents_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op
    from miltext.rewriting.operands import ConstantContents
    from miltext.schema import proto


def _sites(graph: Graph, contents: ConstantContents) -> Iterator[RuleSite]:
    """Yield the constants equal to an earlier visible one, and then those with a record of their own."""
    keys = OpKeys(graph.walk(), contents)
    for function in graph.functions.values():
        for block in function.blocks.values():
            yield from merging(block, function, keys, _is_constant, {})
    yield from _records(graph, keys)


def _is_constant(op: Op) -> bool:
    return op.is_constant and bool(op.outputs)


def _records(graph: Graph, keys: OpKeys) -> Iterator[RuleSite]:
    """Yield the constants whose record in a weight file equals the record of an earlier constant."""
    first: dict[Hashable, tuple[Op, proto.Value]] = {}
    for op in graph.walk():
        for name, value in contents_of(op) if _is_constant(op) else ():
            if not is_stored(value):
                continue
            other, record = first.setdefault(keys.content(value), (op, value))
            if record.blobFileValue != value.blobFileValue:
                yield RuleSite(op, partial(_share, op, name, record), others=[other])


def _share(op: Op, name: str, record: proto.Value) -> None:
    """Use the record of an equal constant."""
    op.own_literal(name).blobFileValue.CopyFrom(record.blobFileValue)


EQUAL_WEIGHTS = GraphPass(
    "equal-weights",
    _sites,
    source="Anemll/Anemll: `anemll/utils/dedup_weights.py`",
    purpose="functions that were converted apart keep each weight twice",
)
