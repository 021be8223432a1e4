"""The findings of a Difference as data, which text, Markdown and HTML render.

The order is by importance: the summary, the causes, the consequences.
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
    MovedOperations,
    OperationDifference,
    RemovedOperation,
    Rename,
    TensorDistance,
    WeightDifference,
)
from miltext.diffing.telling import (
    REMOVED,
    change_text,
    changed_text,
    consequence_text,
    counts,
    function_text,
    model_title,
    move_text,
    operation_name,
    rename_text,
    renamed_part,
    replaced,
    shown_renames,
    summary_lines,
    unpaired_text,
    weight_words,
    weights_summary,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diffing.difference import Difference, ModelDifference
    from miltext.diffing.entries import At
    from miltext.diffing.numbers import DiffNumbers

LISTED = 20
"""Number of renamed values, or weights, listed unless `full`."""

LIMIT = 65_536
"""The greatest number of characters in a comment on GitHub, whose error is "Body is too long (maximum is 65536
characters)".
"""

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
    """Return the findings of a Difference, with the folds in `shown` open."""
    notes = tuple([ReportEntry("#", (note,)) for note in difference.notes])
    head = difference.old, difference.new, difference.same, difference.verdict
    summary = () if difference.breaking else tuple(_summary(difference))
    return DiffReport(*head, notes, summary, tuple(_found(difference, shown, "")), tuple(counts(difference)))


def _summary(difference: Difference) -> Iterator[ReportEntry]:
    yield from (ReportEntry("", (line,)) for line in summary_lines(difference.summary))
    if difference.numbers is not None:
        from miltext.diffing.numbers import verdict_words

        yield ReportEntry("", (f"numbers: {verdict_words(difference.numbers)}",))


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
        at = (path,) if each.difference else ()
        yield ReportEntry(_SIGNS[each.status], (f"model {model_title(each)}{kind}",), inner, at, what="model")
    yield from findings.consequences()
    if difference.numbers is not None:
        yield from findings.numbers(difference.numbers)


class _Findings:
    """The findings of one model, whose path is `model`; consequences are gathered until all causes are listed."""

    def __init__(self, shown: Shown, model: str) -> None:
        self._shown = shown
        self._model = model
        self._rewired: dict[str, list[tuple[str, str]]] = {}
        self._gathered: dict[str, list[tuple[Consequence, ReportEntry]]] = {}

    # ---- functions

    def changes(self, changes: Iterable[Change], at: At = (), inside: str = "") -> Iterator[ReportEntry]:
        """Yield the changes outside of operations; consequences are listed with the block that they are `inside`."""
        for change in changes:
            sign = "+" if change.old is None else "-" if change.new is None else "~"
            words, part = (change_text(change, with_kind=True),), replaced(change, with_kind=True)
            entry = ReportEntry(sign, words, at=at, what="change", replaced=part)
            if change.follows is not None and inside:
                entry = ReportEntry("", (inside,), (entry,), at, what="block")
            yield from self._unless(change.follows, entry)

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
            yield ReportEntry(_SIGNS[function.status], (function_text(function),), tuple(inner), at, what="function")

    def _block(self, block: BlockDifference, at: At, inside: str = "") -> Iterator[ReportEntry]:
        yield from self.changes(block.changes, (at[0], "function", at[2]), inside)
        found = [
            ScopedEntry(operation_name(operation), operation.scope, entry, operation.repeat)
            for operation in block.operations
            for entry in self._operation(operation, at)
        ]
        yield from [each.entry for each in found] if self._shown.full else folded(found)
        yield from self._renames(block.renamed, at)

    def _operation(self, operation: OperationDifference, at: At) -> Iterator[ReportEntry]:
        """Yield the entry of an operation, unless all of its differences follow."""
        if isinstance(operation, MovedOperations):
            entry = ReportEntry(">", (move_text(operation),), at=(*at, str(operation.new_index)), what="move")
            yield from self._unless(operation.follows, entry)
        elif isinstance(operation, ChangedOperation):
            yield from self._changed(operation, (*at, str(operation.new_index)))
        else:
            sign = "-" if isinstance(operation, RemovedOperation) else "+"
            text = unpaired_text(operation, self._rewired.get(operation.name, ()))
            place = (*at, f"{sign.strip('+')}{operation.index}")
            entry = ReportEntry(sign, (text,), at=place, what=operation.type, scope=operation.scope)
            yield from self._unless(operation.follows, entry)

    def _changed(self, operation: ChangedOperation, at: At) -> Iterator[ReportEntry]:
        head = ReportEntry("~", (changed_text(operation),), at=at, what=operation.type, scope=operation.scope)
        causes = [_detail(each) for each in operation.changes if each.follows is None]
        for change in operation.changes:
            if change.follows is not None:
                self._gather(change.follows, head._replace(inner=(_detail(change),)))
        titles = [_title(block, operation) for block in operation.blocks]
        blocks = zip(operation.blocks, titles, strict=True)
        inner = ((block, tuple(self._block(block, (*at, block.place), title))) for block, title in blocks)
        causes += [_heading(block)._replace(inner=found) for block, found in inner if found]
        if causes:
            yield head._replace(inner=tuple(causes))

    def _renames(self, renamed: Sequence[Rename], at: At) -> Iterator[ReportEntry]:
        entries = (
            (rename, ReportEntry("=", (rename_text(rename),), at=(at[0], "value", at[2], rename.of), what="value"))
            for rename in shown_renames(renamed)
        )
        entries = ((rename, entry._replace(replaced=renamed_part(rename))) for rename, entry in entries)
        found = [each for rename, entry in entries for each in self._unless(rename.follows, entry)]
        limit = self._shown.limit
        yield from found[:limit]
        if found[limit:]:
            more = f"and {len(found) - limit} more of {len(found)}{self._way(0, 'all')}"
            yield ReportEntry("=", (more,), folded=tuple(found[limit:]))

    # ---- weights

    def weights(self, weights: WeightDifference) -> Iterator[ReportEntry]:
        """Yield the weights, if any differ; a cut list begins with the most different ones."""
        several = len({weight.function for weight in weights.changed}) > 1
        listed = []
        for weight in weights.changed:
            at = (self._model, "value", weight.function, weight.operation)
            entry = ReportEntry("~", weight_words(weight, several), at=at, what="weight")
            listed += [(weight.measure, each) for each in self._unless(weight.follows, entry)]
        if listed:
            rows = tuple(self._rows(listed))
            yield ReportEntry("@", (f"weights: {weights_summary(weights)}",), rows)

    def _rows(self, listed: list[tuple[TensorDistance | None, ReportEntry]]) -> Iterator[ReportEntry]:
        """Yield the rows of weights, and the number of omitted rows: unread weights come last."""
        limit = self._shown.limit
        if len(listed) > limit:
            listed.sort(key=lambda each: (each[0] is None, each[0].snr or 0 if each[0] else 0))
            limit = min(limit, sum(measure is not None for measure, _ in listed))
        yield from (entry for _, entry in listed[:limit])
        rest = listed[limit:]
        unread = sum(measure is None for measure, _ in rest)
        more = [f"{count} {words}" for count, words in ((len(rest) - unread, "more"), (unread, "not read")) if count]
        if rest:
            words = f"and {', '.join(more)}{self._way(0, 'all')}"
            yield ReportEntry("=", (words,), folded=tuple(entry for _, entry in rest))

    # ---- numbers

    def numbers(self, numbers: DiffNumbers) -> Iterator[ReportEntry]:
        """Yield the effect of each cause on numbers; a cut list has the greatest losses."""
        from miltext.diffing.numbers import cause_words, inputs_words, together_words

        limit = self._shown.limit
        causes = [*numbers.causes]
        if len(causes) > limit:
            causes.sort(key=lambda each: -each.at.lost if each.at else 0.0)
        found = [ReportEntry("", (cause_words(each),)) for each in causes]
        inner = [*found[:limit], *(ReportEntry("", (line,)) for line in together_words(numbers))]
        if found[limit:]:
            more = f"and {len(found) - limit} more of {len(found)}{self._way(0, 'all')}"
            inner.append(ReportEntry("=", (more,), folded=tuple(found[limit:])))
        if inner:
            yield ReportEntry("@", (f"numbers, {inputs_words(numbers)}",), tuple(inner))

    def _way(self, which: int, what: str) -> str:
        """Return the way to open a fold."""
        way = self._shown.ways[which]
        return f"; {way} lists {what}" if way else ""

    # ---- consequences

    def _unless(self, follows: Consequence | None, entry: ReportEntry) -> Iterator[ReportEntry]:
        """Yield the entry of a cause; gather a consequence's entry."""
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
                tuple(entry for _, entry in found),
                closed=not is_open,
                what="cause",
            )
            for cause, found in groups
        ]
        if not is_open and len(inner) > REASONS + 1:
            left = [each for _, found in groups[REASONS:] for each, _ in found]
            more = consequence_text("", [each.kind for each in left], len(groups) - REASONS)
            inner[REASONS:] = [ReportEntry("", (more,), folded=tuple(inner[REASONS:]))]
        total = sum(len(found) for _, found in groups)
        way = "" if is_open else self._way(1, "them")
        yield ReportEntry("@", (f"{tally(total, 'consequence')}{way}",), tuple(inner))


def path_of(model: ModelDifference, above: str) -> str:
    """Return the unique path of a model in a Difference, as the first of an At."""
    return f"{above}/{model.place}"


def _heading(block: BlockDifference) -> ReportEntry:
    return ReportEntry(_SIGNS[block.status], (f"block {block.place}",), what="block")


def _detail(change: Change) -> ReportEntry:
    return ReportEntry("", (change_text(change),), replaced=replaced(change))


def rewired(function: FunctionDifference) -> dict[str, list[tuple[str, str]]]:
    """Return the arguments that take another value since an operation was added or removed, by its name.

    Each is the operation with its new value, and the argument; or an inner block, and its outputs.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for owner, block in _owned(function):
        for change in block.changes:
            if change.follows is not None and change.kind == "outputs" and REMOVED not in (change.old or ""):
                found.setdefault(change.follows.cause, []).append((owner, change.kind))
        for operation in block.changed:
            for change in operation.changes:
                if change.follows is not None and change.follows.kind == "operand":
                    user = (
                        operation.name if change.new == change.follows.cause else f"{operation.name} (now {change.new})"
                    )
                    found.setdefault(change.follows.cause, []).append((user, change.name))
    return found


def _owned(function: FunctionDifference) -> Iterator[tuple[str, BlockDifference]]:
    """Yield the blocks of a function, also inner ones, by their names: `main`, `block CoreML8` or `block 0 of y`."""
    for block in function.blocks:
        yield f"block {block.place}" if len(function.blocks) > 1 else function.name, block
        yield from _inside(block)


def _inside(block: BlockDifference) -> Iterator[tuple[str, BlockDifference]]:
    for operation in block.changed:
        for inner in operation.blocks:
            yield _title(inner, operation), inner
            yield from _inside(inner)


def _title(block: BlockDifference, operation: ChangedOperation) -> str:
    """Return the name of a block of an operation."""
    return f"block {block.place} of {operation.name}"
