"""The findings of a Difference as data, which text, Markdown and HTML render.

What matters comes first: the summary, then the causes, and then the consequences.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import tally
from miltext.diffing.entries import ReportEntry, ScopedEntry
from miltext.diffing.folding import folded
from miltext.diffing.structure import (
    BlockDifference,
    Change,
    ChangedOperation,
    Consequence,
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
    consequence_text,
    counts,
    function_text,
    model_title,
    move_text,
    operation_name,
    rename_text,
    shown_renames,
    summary_lines,
    unpaired_text,
    weight_words,
    weights_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diffing.difference import Difference
    from miltext.diffing.entries import At

LISTED = 20
"""Number of renamed values, or weights, listed unless `full`."""

REASONS = 3
"""Number of causes whose consequences are counted one by one unless `full`."""

COLUMNS = ("weight", "type", "difference")
"""The titles of the columns of rows."""

_SIGNS = {"added": "+", "removed": "-", "changed": "@"}
"""The sign of a function, a block or a model by its status."""


class Shown(NamedTuple):
    """The folds that a report opens: repeats and long lists with `full`, and consequences.

    `ways` are the words of its reader for these two.
    """

    full: bool = False
    consequences: bool = False
    ways: tuple[str, str] = ("`full=True`", "`consequences=True`")

    @property
    def limit(self) -> int:
        """The number of renamed values, or weights, to list."""
        return sys.maxsize if self.full else LISTED


class DiffReport(NamedTuple):
    """All findings of a Difference: the two names, whether they are the same, the sentence about that unless they
    differ, the parts that could not be compared, the summary, the causes and the consequences, and the number of
    differences in each part.
    """

    old: str
    new: str
    same: bool | None
    verdict: str
    notes: tuple[ReportEntry, ...]
    summary: tuple[ReportEntry, ...]
    found: tuple[ReportEntry, ...]
    counts: tuple[tuple[str, str], ...]


def report(difference: Difference, shown: Shown) -> DiffReport:
    """Return the findings of a Difference, with the folds that are `shown` open."""
    notes = tuple([ReportEntry("#", (note,)) for note in difference.notes])
    head = difference.old, difference.new, difference.same, difference.verdict
    summary = () if difference.breaking else tuple(_summary(difference))
    return DiffReport(*head, notes, summary, tuple(_found(difference, shown, "")), tuple(counts(difference)))


def _summary(difference: Difference) -> Iterator[ReportEntry]:
    return (ReportEntry("", (line,)) for line in summary_lines(difference.summary))


def _found(difference: Difference, shown: Shown, model: str) -> Iterator[ReportEntry]:
    """Yield all differences in the model at a path: causes, and then consequences."""
    findings = _Findings(shown, model)
    yield from findings.changes(difference.changes)
    for function in difference.functions:
        yield from findings.function(function)
    yield from findings.weights(difference.weights)
    for each in difference.models:
        kind = "" if each.difference else f": {each.type}"
        path = path_of(each, model)
        inner = (*_summary(each.difference), *_found(each.difference, shown, path)) if each.difference else ()
        yield ReportEntry(
            _SIGNS[each.status], (f"model {model_title(each)}{kind}",), inner, (path,) if each.difference else ()
        )
    yield from findings.consequences()


class _Findings:
    """The findings of one model, whose path is `model`; consequences are gathered until all causes are listed."""

    def __init__(self, shown: Shown, model: str) -> None:
        self._shown = shown
        self._model = model
        self._rewired: dict[str, list[tuple[str, str]]] = {}
        self._gathered: dict[str, list[tuple[Consequence, ReportEntry]]] = {}

    # ---- functions

    def changes(self, changes: Iterable[Change], at: At = ()) -> Iterator[ReportEntry]:
        """Yield the changes outside of operations."""
        for change in changes:
            sign = "+" if change.old is None else "-" if change.new is None else "~"
            yield from self._unless(change.follows, ReportEntry(sign, (change_text(change, with_kind=True),), at=at))

    def function(self, function: FunctionDifference) -> Iterator[ReportEntry]:
        """Yield the causes in a function, if there are any."""
        at = (self._model, "function", function.name)
        self._rewired = rewired(function)
        inner = [*self.changes(function.changes, at), *self._renames(function.renamed, at)]
        for block in function.blocks:
            found = [*self._block(block, (self._model, "operation", function.name, block.place))]
            if found and (len(function.blocks) > 1 or block.status != "changed"):
                inner.append(_heading(block))
            inner += found
        if inner or function.status != "changed" or function.name != function.old_name:
            yield ReportEntry(_SIGNS[function.status], (function_text(function),), tuple(inner), at)

    def _block(self, block: BlockDifference, at: At) -> Iterator[ReportEntry]:
        yield from self.changes(block.changes, (at[0], "function", at[2]))
        found = [
            ScopedEntry(operation_name(operation), _changed_type(operation), operation.scope, entry)
            for operation in block.operations
            for entry in self._operation(operation, at)
        ]
        yield from [each.entry for each in found] if self._shown.full else folded(found)
        yield from self._renames(block.renamed, at)

    def _operation(self, operation: OperationDifference, at: At) -> Iterator[ReportEntry]:
        """Yield the entry of an operation, unless all of its differences follow."""
        if isinstance(operation, MovedOperations):
            entry = ReportEntry(">", (move_text(operation),), at=(*at, str(operation.new_index)))
            yield from self._unless(operation.follows, entry)
        elif isinstance(operation, ChangedOperation):
            yield from self._changed(operation, (*at, str(operation.new_index)))
        else:
            sign = "-" if isinstance(operation, RemovedOperation) else "+"
            text = unpaired_text(operation, self._rewired.get(operation.name, ()))
            entry = ReportEntry(sign, (text,), at=(*at, f"{sign.strip('+')}{operation.index}"))
            yield from self._unless(operation.follows, entry)

    def _changed(self, operation: ChangedOperation, at: At) -> Iterator[ReportEntry]:
        head = ReportEntry("~", (changed_text(operation),), at=at)
        causes = [ReportEntry("", (change_text(each),)) for each in operation.changes if each.follows is None]
        for change in operation.changes:
            if change.follows is not None:
                self._gather(change.follows, head._replace(inner=(ReportEntry("", (change_text(change),)),)))
        inner = ((block, tuple(self._block(block, (*at, block.place)))) for block in operation.blocks)
        causes += [_heading(block)._replace(inner=found) for block, found in inner if found]
        if causes:
            yield head._replace(inner=tuple(causes))

    def _renames(self, renamed: Sequence[Rename], at: At) -> Iterator[ReportEntry]:
        entries = (
            (rename, ReportEntry("=", (rename_text(rename),), at=(at[0], "value", at[2], rename.of)))
            for rename in shown_renames(renamed)
        )
        found = [each for rename, entry in entries for each in self._unless(rename.follows, entry)]
        yield from found[: self._shown.limit]
        yield from self._more(found)

    def _more(self, listed: Sequence[object]) -> Iterator[ReportEntry]:
        if len(listed) > self._shown.limit:
            more = f"and {len(listed) - self._shown.limit} more of {len(listed)}" + self._way(0, "all")
            yield ReportEntry("=", (more,))

    # ---- weights

    def weights(self, weights: WeightDifference) -> Iterator[ReportEntry]:
        """Yield the weights, if any differ; a cut list begins with the most different ones."""
        several = len({weight.function for weight in weights.changed}) > 1
        listed = []
        for weight in weights.changed:
            at = (self._model, "value", weight.function, weight.operation)
            entry = ReportEntry("~", weight_words(weight, several), at=at)
            if any(True for _ in self._unless(weight.follows, entry)):
                listed.append((weight, entry))
        if not listed:
            return
        limit = self._shown.limit
        if len(listed) > limit:
            listed = [each for each in listed if each[0].measure is not None]
            listed.sort(key=lambda each: each[0].measure.snr or 0 if each[0].measure else 0)
        rows = [entry for _, entry in listed[:limit]]
        if limit < len(weights.changed):
            unread = sum(weight.measure is None for weight in weights.changed)
            read = len(weights.changed) - unread - len(rows)
            more = [f"{count} {words}" for count, words in ((read, "more"), (unread, "not read")) if count]
            rows.append(ReportEntry("=", ("and " + ", ".join(more) + self._way(0, "all"),)))
        yield ReportEntry("@", (f"weights: {weights_summary(weights)}",), tuple(rows))

    def _way(self, which: int, what: str) -> str:
        """Return the way to open a fold."""
        way = self._shown.ways[which]
        return f"; {way} lists {what}" if way else ""

    # ---- consequences

    def _unless(self, follows: Consequence | None, entry: ReportEntry) -> Iterator[ReportEntry]:
        """Yield the entry of a cause; gather that of a consequence."""
        if follows is None:
            yield entry
        else:
            self._gather(follows, entry)

    def _gather(self, follows: Consequence, entry: ReportEntry) -> None:
        self._gathered.setdefault(follows.cause, []).append((follows, entry))

    def consequences(self) -> Iterator[ReportEntry]:
        """Yield the consequences, by cause: counted, or listed if they are shown."""
        groups = sorted(self._gathered.items(), key=lambda each: -len(each[1]))
        if not groups:
            return
        is_open = self._shown.full or self._shown.consequences
        inner = [
            ReportEntry(
                "",
                (consequence_text(cause, [follows.kind for follows, _ in found]),),
                tuple(entry for _, entry in found) if is_open else (),
                folded=tuple(entry for _, entry in found),
            )
            for cause, found in groups
        ]
        if not is_open and len(inner) > REASONS + 1:
            left = [each for _, found in groups[REASONS:] for each, _ in found]
            more = consequence_text("", [each.kind for each in left], len(groups) - REASONS)
            inner[REASONS:] = [ReportEntry("", (more,))]
        total = sum(len(found) for _, found in groups)
        way = "" if is_open else self._way(1, "them")
        yield ReportEntry("@", (f"{tally(total, 'consequence')}{way}",), tuple(inner))


def path_of(model: ModelDifference, above: str) -> str:
    """Return the unique path of a model in a Difference, as the first of an At."""
    return f"{above}/{model.place}"


def _heading(block: BlockDifference) -> ReportEntry:
    return ReportEntry(_SIGNS[block.status], (f"block {block.place}",))


def rewired(function: FunctionDifference) -> dict[str, list[tuple[str, str]]]:
    """Return the arguments that take another value since an operation was added or removed, by its name."""
    found: dict[str, list[tuple[str, str]]] = {}
    for block in (each for outer in function.blocks for each in outer.walk()):
        for operation in block.changed:
            for change in operation.changes:
                if change.follows is not None and change.follows.kind == "operand":
                    found.setdefault(change.follows.cause, []).append((operation.name, change.name))
    return found


def _changed_type(operation: OperationDifference) -> str:
    return operation.type if isinstance(operation, ChangedOperation) else ""
