"""The table of recipes: each gives some arguments of an operation, where the table of operations contains too little.

A recipe takes a call, and gives the arguments that depend on others in ways beyond shapes, ranges and words; the rest
follows by the table. It raises Redraw where the drawn arguments lead nowhere. Its first alternatives are the simplest
ones, and with these it always leads to an operation. The source for the inputs of operations is coremltools 9.0's own
definitions (`converters/mil/mil/ops/defs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from miltext.generation.calls import Call

Recipe: TypeAlias = "Callable[[Call], None]"

RECIPES: dict[str, Recipe] = {}


def recipe(*op_types: str) -> Callable[[Recipe], Recipe]:
    """Enter a recipe into the table for the operations named."""

    def enter(function: Recipe) -> Recipe:
        RECIPES.update(dict.fromkeys(op_types, function))
        return function

    return enter
