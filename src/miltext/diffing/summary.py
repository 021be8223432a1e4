"""The facts of a difference that matter first: callers, operations, bytes of weights, and outputs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from miltext.diffing.breaking import breaking
from miltext.diffing.reach import output_reach
from miltext.diffing.structure import DiffSummary
from miltext.diffing.weight_sizes import WeightHolders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from miltext.diffing.comparing import ProgramComparison
    from miltext.diffing.structure import Change, FunctionDifference, UnpairedOperation
    from miltext.models.model import Model
    from miltext.pairing.pairing import PairedFunction


def summarize(
    comparison: ProgramComparison,
    pairs: Sequence[PairedFunction],
    functions: Iterable[FunctionDifference],
    models: tuple[Model | None, Model | None],
) -> DiffSummary:
    """Return the summary of a comparison; `models` are the models around the programs, if there are any."""
    blocks = [each for function in functions for block in function.blocks for each in block.walk()]
    partners = comparison.consequences.partners
    retyped = comparison.consequences.retyped_inputs()
    return DiffSummary(
        _breaks(*models),
        _kinds(each for block in blocks for each in block.added),
        _kinds(each for block in blocks for each in block.removed),
        WeightHolders(comparison.old, comparison.new, partners.ops).sizes(comparison.forms),
        output_reach(pairs, partners, comparison.different, retyped),
    )


def _breaks(old: Model | None, new: Model | None) -> tuple[Change, ...] | None:
    return None if old is None or new is None else breaking(old, new).changes


def _kinds(operations: Iterable[UnpairedOperation]) -> dict[str, int]:
    """Return the numbers of operations by type, the most frequent type first, without constants."""
    return dict(Counter(each.type for each in operations if each.type != "const").most_common())
