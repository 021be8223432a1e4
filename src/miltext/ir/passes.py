"""Edits of whole graphs, which return whether they changed anything, and removals of operations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from miltext.diagnostics.arguments import checked
from miltext.ir.needs import written

if TYPE_CHECKING:
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op


@checked()
def remove_dead(graph: Graph) -> bool:
    """Remove operations without used outputs and without writes to a state, also in inner blocks.

    Args:
        graph: A Graph, which is changed.

    Returns:
        Whether an operation was removed.

    Raises:
        GraphError: The graph contradicts itself.

    Example:
        changed = miltext.remove_dead(miltext.Graph(miltext.parse(text)))
    """
    return remove_where(graph.walk(), is_dead)


def is_dead(op: Op) -> bool:
    """Return whether nothing uses the outputs of an operation, and neither it nor one inside it writes to a state."""
    return not op.is_used and not any(written(op))


def remove_where(ops: Iterable[Op], goes: Callable[[Op], bool]) -> bool:
    """Remove each operation for which `goes` is true at its turn, the last first; return whether there was any."""
    removed = False
    for op in reversed([*ops]):
        if goes(op):
            op.remove()
            removed = True
    return removed
