"""Operations replaced by another value of the same type: an input of their own, to keep the path through them, or else
an earlier value.

The final values of a loop's variables are replaced by their initial values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from miltext.ir.flow import FLOWS
from miltext.ir.graph import Graph
from miltext.ir.passes import remove_where
from miltext.reduction.sweeping import sweep
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.ir.functions import Block, Function
    from miltext.ir.parts import Op, Value
    from miltext.schema.proto import Program


class Bypass(NamedTuple):
    """A bypass of an operation of a function: its outputs, and the values that replace them."""

    function: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def bypasses(program: Program, rank: int = 0) -> list[Bypass]:
    """Return the bypasses of operations, also in blocks; none for a name defined twice.

    If several inputs of an operation may replace it, the `rank` chooses one; an operation with fewer is left out.
    """
    return [
        found
        for function in Graph(program).functions.values()
        for block in function.blocks.values()
        for found in _around(function, block, rank)
    ]


def _around(function: Function, block: Block, rank: int) -> Iterator[Bypass]:
    """Yield the bypasses of the operations of a function's block."""
    counts = Counter(value.name for value in (*function.inputs, *block.defined()))
    first = {_kind(value): value for value in reversed(function.inputs)}
    for outer in block:
        for op in (outer, *outer.walk()):
            old, new = [value.name for value in op.outputs], _mates(op, first, rank)
            if new and all(counts[each] == 1 for each in old):
                yield Bypass(function.name, tuple(old), tuple(value.name for value in new))
        for value in outer.outputs if not outer.is_constant else ():
            first.setdefault(_kind(value), value)


def bypass(program: Program, chosen: Collection[Bypass]) -> Program | None:
    """Return a Program without some operations, replaced by their inputs; None if nothing is left."""
    graph = Graph(program)
    for name in {each.function for each in chosen}:
        pairs = [pair for each in chosen if each.function == name for pair in zip(each.old, each.new, strict=True)]
        for block in graph.functions[name].blocks.values():
            _bypass_in(block, graph.functions[name], dict(pairs))
    return graph.program() if sweep(graph) else None


def _bypass_in(block: Block, function: Function, names: Mapping[str, str]) -> None:
    """Replace values of a block by others, by names, which may form chains; remove the operations of the old values."""
    values = {value.name: value for value in (*function.inputs, *block.defined())}
    new = {values[name]: values[_end(name, names)] for name in names if name in values}
    block.outputs = [each for each in block.outputs if each not in new or new[each].owner is not function]
    for old, mate in new.items():
        old.replace_uses(mate)
    remove_where(block.walk(), lambda op: any(value in new for value in op.outputs))


def _end(name: str, names: Mapping[str, str]) -> str:
    """Return the end of a chain of names."""
    while name in names:
        name = names[name]
    return name


def _mates(op: Op, first: Mapping[bytes | None, Value], rank: int) -> list[Value]:
    """Return the replacement of each output: the operation's own input of its type with a given rank, or else the
    `first` value of the type; or none.
    """
    if op.is_constant or not op.outputs:
        return []
    kinds = [_kind(value) for value in op.outputs]
    if op.type in FLOWS and FLOWS[op.type].variables:
        given = op.values(FLOWS[op.type].variables)
        return given if not rank and [_kind(value) for value in given] == kinds else []
    own = [[value for value in dict.fromkeys(op.operands) if _kind(value) == kind] for kind in kinds]
    mates = [mine or ([first[kind]] if kind in first else []) for mine, kind in zip(own, kinds, strict=True)]
    is_ranked = all(mates) and rank < max(map(len, mates))
    return [each[min(rank, len(each) - 1)] for each in mates] if is_ranked else []


def _kind(value: Value) -> bytes | None:
    """Return the type of a value as bytes, to compare; None for an undefined name."""
    return None if value.message is None else wire_of(value.message.type)
