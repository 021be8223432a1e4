"""Equal constants of one name in several models, which are one constant in the whole: as the parts of a split have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.ir.graph import Graph
from miltext.printing.renaming import NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from miltext.ir.parts import Op, Value
    from miltext.linking.joining import Renamed
    from miltext.schema.proto import Program


def unite_constants(program: Program, renamed: Iterable[Renamed]) -> list[Renamed]:
    """Make equal constants that had one name one constant, with that name; return the values that stay renamed.

    The weights of equal constants are one record already.
    """
    graph = Graph(program)
    left: list[Renamed] = []
    values = {value.name: value for function in graph.functions.values() for value in function.defined()}
    for each in renamed:
        one, other = values.get(each.old), values.get(each.new)
        if not each.is_inner or one is None or other is None or not _are_equal(one, other):
            left.append(each)
            continue
        assert other.maker is not None
        other.replace_uses(one)
        other.maker.remove()
    if graph.functions:
        program.CopyFrom(graph.program())
    return left


def _are_equal(one: Value, other: Value) -> bool:
    """Return whether two values are equal constants of a function's own block, the first before the second."""
    first, second = one.maker, other.maker
    if first is None or second is None or not first.is_constant or first.block is not second.block:
        return False
    if len(first.outputs) != 1 or one.type != other.type or first.type != second.type:
        return False
    return first.inputs == second.inputs and _stated(first) == _stated(second)


def _stated(op: Op) -> dict[str, object]:
    """Return the attributes of an operation, except its name."""
    return {key: value for key, value in op.attributes.items() if key != NAME}
