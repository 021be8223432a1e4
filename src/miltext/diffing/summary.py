"""The facts of a difference that matter first: callers, operations, bytes of weights, and outputs."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from miltext.diffing.breaking import breaking
from miltext.diffing.reach import ReachCauses, output_reach
from miltext.diffing.structure import PORTS, DiffSummary
from miltext.diffing.weight_sizes import weight_sizes
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from miltext.diffing.comparing import ProgramComparison
    from miltext.diffing.structure import Change, FunctionDifference, Rename
    from miltext.models.model import Model
    from miltext.pairing.pairing import PairedFunction

_PARTS = ("opset", "input", "state", "inputs", "outputs")
"""The kinds of changes of a function's interface."""

_FEATURE = re.compile(r"(?:functions\[[^]]*\]\.)?(input|output|state|trainingInput)\[(.*?)\]")
"""The beginning of the path of a feature's field in a description."""


def summarize(
    comparison: ProgramComparison,
    pairs: Sequence[PairedFunction],
    functions: Sequence[FunctionDifference],
    changes: Sequence[Change],
    models: tuple[Model | None, Model | None],
) -> DiffSummary:
    """Return the summary of a comparison's `functions`, and of the `changes` of the models around the programs.

    `models` are these models, if there are any.
    """
    blocks = [each for function in functions for block in function.blocks for each in block.walk()]
    partners = comparison.consequences.partners
    retyped = comparison.consequences.retyped_inputs()
    operations = (comparison.different - comparison.equal) | comparison.unread
    replaced = [each for block in blocks for one in block.changed for each in one.changes if each.kind == "operation"]
    described = {_feature(each) for each in changes if _is_read_otherwise(each)}
    interface = [*_of_functions(functions, {name_text(pair.name): pair for pair in pairs}), *_of_descriptions(changes)]
    return DiffSummary(
        tuple(dict.fromkeys(interface)),
        tuple(name for function in functions for name in _exchanged(_renamed(function))),
        _breaks(*models),
        _kinds((each.type for block in blocks for each in block.added), (change.new for change in replaced)),
        _kinds((each.type for block in blocks for each in block.removed), (change.old for change in replaced)),
        weight_sizes(comparison.old, comparison.new, partners.ops, comparison.forms),
        output_reach(pairs, partners, ReachCauses(operations, retyped, described)),
    )


def _of_functions(functions: Iterable[FunctionDifference], pairs: Mapping[str, PairedFunction]) -> Iterator[str]:
    """Yield the changed parts of the interface of functions: `function f`, `input x`, `output y`, `opset`."""
    for function in functions:
        if function.status != "changed" or function.name != function.old_name:
            yield f"function {function.name}"
        outer = _renamed(function)
        yield from (f"{each.kind} {each.new}" for each in outer)
        own = [*function.changes, *(each for block in function.blocks for each in block.changes)]
        named = {name for each in outer if each.kind == "output" for name in (each.old, each.new)}
        for change in own:
            alone = _alone(pairs[function.name]) - named if change.kind == "outputs" else {*()}
            if alone:
                yield from (f"output {name}" for name in sorted(map(str, alone)))
            elif change.kind in _PARTS and change.follows is None:
                yield f"{change.kind} {change.name}".rstrip()


def _renamed(function: FunctionDifference) -> list[Rename]:
    """Return the renamed inputs, states and outputs of a function."""
    both = [*function.renamed, *(each for block in function.blocks for each in block.renamed)]
    return [each for each in both if each.kind in PORTS]


def _exchanged(renamed: Sequence[Rename]) -> Iterator[str]:
    """Yield the renamed inputs and outputs that have the old name of another one."""
    before = {(each.kind, each.old) for each in renamed}
    return (f"{each.kind} {each.new}" for each in renamed if (each.kind, each.new) in before)


def _alone(pair: PairedFunction) -> set[str | None]:
    """Return the names of the outputs that only one function of the pair has."""
    sides = [side.blocks.values() if side is not None else () for side in (pair.old, pair.new)]
    old, new = ({name_text(value.name) for block in side for value in block.outputs} for side in sides)
    return {*(old ^ new)}


def _of_descriptions(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the changed features of descriptions, apart from their texts: `input image`."""
    return (f"{kind} {name}" for kind, name in map(_feature, filter(_is_no_text, changes)) if kind)


def _is_no_text(change: Change) -> bool:
    return not change.name.endswith(".shortDescription")


def _is_read_otherwise(change: Change) -> bool:
    """Return whether callers give or read a feature in another way, as of another data type or colour."""
    return bool(_feature(change)[0]) and "].type" in change.name and not change.name.endswith(".isOptional")


def _feature(change: Change) -> tuple[str, str]:
    """Return the list and the name of a feature whose field changed by itself; empty ones for any other change."""
    match = _FEATURE.match(change.name) if change.kind == "description" and change.follows is None else None
    return ("", "") if match is None else (match[1], match[2])


def _breaks(old: Model | None, new: Model | None) -> tuple[Change, ...] | None:
    return None if old is None or new is None else breaking(old, new).changes


def _kinds(alone: Iterable[str], replaced: Iterable[str | None]) -> dict[str, int]:
    """Return the numbers of operations by type, the most frequent type first, without constants, for operations that
    only one program has (`alone`), and for `replaced` ones, with another type in the other program.
    """
    return dict(Counter(each for each in (*alone, *replaced) if each and each != "const").most_common())
