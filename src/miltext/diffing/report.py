"""The findings of a Difference as data, which text, Markdown and HTML render."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.diffing.structure import (
    BlockDifference,
    Change,
    ChangedOperation,
    FunctionDifference,
    ModelDifference,
    MovedOperations,
    OperationDifference,
    RemovedOperation,
    Rename,
    WeightDifference,
)
from miltext.diffing.telling import (
    change_text,
    changed_text,
    counts,
    function_text,
    model_title,
    move_text,
    rename_text,
    shown_renames,
    weight_words,
    weights_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.difference import Difference

LISTED = 20
"""Number of renamed values, or weights, listed unless `full`."""

SIGNS = {"+": "added", "-": "removed", "~": "changed", ">": "moved", "=": "renamed", "#": "not compared", "@": "in"}
"""The meaning of a finding's sign; `@` is the sign of a heading, and is not shown."""

COLUMNS = ("weight", "type", "difference")
"""The titles of the columns of rows."""

_SIGNS = {"added": "+", "removed": "-", "changed": "@"}
"""The sign of a function, a block or a model by its status."""

At: TypeAlias = "tuple[str, ...]"
"""The place of a finding: the `path_of` its model, empty for the whole; then `function` with its name, `operation` with
the function, the block, and the index in it, and so on into inner blocks, or `value` with the function and the value's
name. An index is of the new program; an index after `-` belongs to an operation that only the old program has.
"""


class ReportEntry(NamedTuple):
    """One finding: its sign, its words, the findings below it, and its place in the texts.

    Several `words` are the columns of a row.
    """

    sign: str
    words: tuple[str, ...]
    inner: tuple[ReportEntry, ...] = ()
    at: At = ()


class DiffReport(NamedTuple):
    """All findings of a Difference: the two names, whether they are the same, the sentence about that unless they
    differ, the parts that could not be compared, the changes, and the number of differences in each part.
    """

    old: str
    new: str
    same: bool | None
    verdict: str
    notes: tuple[ReportEntry, ...]
    found: tuple[ReportEntry, ...]
    counts: tuple[tuple[str, str], ...]


def report(difference: Difference, *, full: bool) -> DiffReport:
    """Return the findings of a Difference; long lists are cut unless `full`."""
    notes = tuple([ReportEntry("#", (note,)) for note in difference.notes])
    found = tuple(_found(difference, sys.maxsize if full else LISTED, ""))
    head = difference.old, difference.new, difference.same, difference.verdict
    return DiffReport(*head, notes, found, tuple(counts(difference)))


def _found(difference: Difference, limit: int, model: str) -> Iterator[ReportEntry]:
    """Yield all differences in the model at a path."""
    yield from _changes(difference.changes)
    for function in difference.functions:
        yield _function(function, limit, model)
    yield from _weights(difference.weights, limit, model)
    for each in difference.models:
        kind = "" if each.difference else f": {each.type}"
        path = path_of(each, model)
        inner = tuple(_found(each.difference, limit, path)) if each.difference else ()
        yield ReportEntry(
            _SIGNS[each.status], (f"model {model_title(each)}{kind}",), inner, (path,) if each.difference else ()
        )


def path_of(model: ModelDifference, above: str) -> str:
    """Return the unique path of a model in a Difference, as the first of an At."""
    return f"{above}/{model.place}"


def _changes(changes: Sequence[Change], at: At = ()) -> Iterator[ReportEntry]:
    """Yield the changes outside of operations."""
    for change in changes:
        sign = "+" if change.old is None else "-" if change.new is None else "~"
        yield ReportEntry(sign, (change_text(change, with_kind=True),), at=at)


# ---- functions


def _function(function: FunctionDifference, limit: int, model: str) -> ReportEntry:
    at = (model, "function", function.name)
    inner = [*_changes(function.changes, at), *_renames(function.renamed, limit, at)]
    for block in function.blocks:
        if len(function.blocks) > 1 or block.status != "changed":
            inner.append(_heading(block))
        inner += _block(block, (model, "operation", function.name, block.place), limit)
    return ReportEntry(_SIGNS[function.status], (function_text(function),), tuple(inner), at)


def _heading(block: BlockDifference) -> ReportEntry:
    return ReportEntry(_SIGNS[block.status], (f"block {block.place}",))


def _block(block: BlockDifference, at: At, limit: int) -> Iterator[ReportEntry]:
    yield from _changes(block.changes, (at[0], "function", at[2]))
    for operation in block.operations:
        yield _operation(operation, at, limit)
    yield from _renames(block.renamed, limit, at)


def _operation(operation: OperationDifference, at: At, limit: int) -> ReportEntry:
    if isinstance(operation, MovedOperations):
        return ReportEntry(">", (move_text(operation),), at=(*at, str(operation.new_index)))
    if isinstance(operation, RemovedOperation):
        return ReportEntry("-", (operation.text,), at=(*at, f"-{operation.index}"))
    if isinstance(operation, ChangedOperation):
        return _changed(operation, (*at, str(operation.new_index)), limit)
    return ReportEntry("+", (operation.text,), at=(*at, str(operation.index)))


def _changed(operation: ChangedOperation, at: At, limit: int) -> ReportEntry:
    changes = [ReportEntry("", (change_text(change),)) for change in operation.changes]
    blocks = [
        _heading(block)._replace(inner=tuple(_block(block, (*at, block.place), limit))) for block in operation.blocks
    ]
    return ReportEntry("~", (changed_text(operation),), (*changes, *blocks), at)


def _renames(renamed: Sequence[Rename], limit: int, at: At) -> Iterator[ReportEntry]:
    shown = shown_renames(renamed)
    for rename in shown[:limit]:
        yield ReportEntry("=", (rename_text(rename),), at=(at[0], "value", at[2], rename.of))
    yield from _more(shown, limit)


def _more(listed: Sequence[object], limit: int) -> Iterator[ReportEntry]:
    if len(listed) > limit:
        yield ReportEntry("=", (f"and {len(listed) - limit} more of {len(listed)}; the full report lists all",))


# ---- weights


def _weights(weights: WeightDifference, limit: int, model: str) -> Iterator[ReportEntry]:
    """Yield the weights, if any differ; a cut list begins with the most different ones."""
    if not weights.changed:
        return
    listed = list(weights.changed)
    if len(listed) > limit:
        listed.sort(key=lambda weight: weight.measure.snr or 0 if weight.measure else 0)
    several = len({weight.function for weight in listed}) > 1
    rows = [
        ReportEntry("~", weight_words(weight, several), at=(model, "value", weight.function, weight.operation))
        for weight in listed[:limit]
    ]
    yield ReportEntry("@", (f"weights: {weights_summary(weights)}",), (*rows, *_more(listed, limit)))
