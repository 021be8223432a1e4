"""Edits of whole graphs. Each takes a graph and returns whether it changed anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from miltext.diagnostics.arguments import checked
from miltext.ir.needs import written

if TYPE_CHECKING:
    from miltext.ir.graph import Graph
    from miltext.ir.parts import Op

Pass: TypeAlias = "Callable[[Graph], bool]"


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
    changed = False
    for op in reversed([*graph.walk()]):
        if is_dead(op):
            op.remove()
            changed = True
    return changed


def is_dead(op: Op) -> bool:
    """Return whether nothing uses the outputs of an operation, and neither it nor one inside it writes to a state."""
    return not any(value.uses for value in op.outputs) and not any(written(op))
