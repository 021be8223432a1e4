"""A Difference as text for people."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.structure import (
    BlockDifference,
    Change,
    ChangedOperation,
    FunctionDifference,
    Measure,
    ModelDifference,
    MovedOperations,
    OperationDifference,
    RemovedOperation,
    Rename,
    WeightChange,
    WeightDifference,
)
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference

LISTED = 20
"""How many renamed values, or weights, are listed unless all are asked for."""

VERDICTS = {
    True: "no difference",
    None: "cannot be told: what was read is the same, but not all weights were read; "
    "use --ignore-weights if neither model has weight files",
}
"""The line for two models without a difference, by whether they are the same."""

COLORS = {"+": "32", "-": "31", "~": "33", ">": "36", "=": "36", "#": "35", "@": "1"}
"""ANSI codes by the sign of a line: added, removed, changed, moved, renamed, a note, a heading."""

_SIGNS = {"added": "+", "removed": "-", "changed": "@"}
"""The sign of a function's or block's line by its status."""

_TOLD = {"operation", "type", "outputs", "blocks"}
"""The kinds of changes of an operation that are named; arguments and attributes have names."""


class Line(NamedTuple):
    """A line of text: its depth, its sign (one of COLORS, or none), and its words."""

    depth: int
    sign: str
    text: str

    def shown(self, color: bool) -> str:
        """Return the line as it is written; headings have no visible sign."""
        text = f"{'    ' * self.depth}{self.sign.strip('@')}{' ' * (self.sign not in ('@', ''))}{self.text}"
        return f"\x1b[{COLORS[self.sign]}m{text}\x1b[0m" if color and self.sign else text


def render_text(difference: Difference, color: bool, full: bool) -> str:
    """Return a Difference as a person would describe it; long lists are cut unless `full`."""
    lines = [Line(0, "#", note) for note in difference.notes]
    if difference.same is False:
        heads = [Line(0, "@", f"--- {difference.old}"), Line(0, "@", f"+++ {difference.new}")]
        lines = [*heads, *lines, *_found(difference, sys.maxsize if full else LISTED)]
    else:
        lines.append(Line(0, "", VERDICTS[difference.same]))
    return "".join(f"{line.shown(color)}\n" for line in lines)


def _found(difference: Difference, limit: int) -> Iterator[Line]:
    """Yield all that is different."""
    yield from _changes(difference.changes, 0)
    for function in difference.functions:
        yield from _function(function, limit)
    yield from _weights(difference.weights, limit)
    for model in difference.models:
        kind = "" if model.difference else f": {model.type}"
        yield Line(0, _SIGNS[model.status], f"model {model_title(model)}{kind}")
        if model.difference:
            yield from (line._replace(depth=line.depth + 1) for line in _found(model.difference, limit))


def model_title(model: ModelDifference) -> str:
    """Return the path of a model in a pipeline and, if it has one, its name."""
    return f"{model.place} {quote(model.name)}" if model.name else model.place


def render_stat(difference: Difference) -> str:
    """Return a line for each function that is different, for the model, and for the weights."""
    lines = [] if difference.same is False else [VERDICTS[difference.same]]
    if difference.changes:
        lines.append(f"model: {_count(len(difference.changes), 'change')}")
    lines += [f"{function.name}: {_summary(function)}" for function in difference.functions]
    if difference.weights.changed:
        lines.append(_weights_summary(difference.weights))
    for model in difference.models:
        inner = render_stat(model.difference).splitlines() if model.difference else [model.status]
        lines += [f"model {model_title(model)}: {line}" for line in inner]
    return "".join(f"{line}\n" for line in lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ---- functions


def _function(function: FunctionDifference, limit: int) -> Iterator[Line]:
    sign = _SIGNS[function.status]
    if function.status != "changed":
        yield Line(0, sign, f"{function.text}, {_count(function.operations, 'operation')}")
        return
    renamed = "" if function.name == function.old_name else f", renamed from {function.old_name}"
    yield Line(0, sign, f"func {function.name}{renamed}")
    yield from _changes(function.changes, 1)
    yield from _renames(function.renamed, 1, limit)
    for block in function.blocks:
        if len(function.blocks) > 1 or block.status != "changed":
            yield _heading(block, 1)
        yield from _block(block, 1, limit)


def _heading(block: BlockDifference, depth: int) -> Line:
    return Line(depth, _SIGNS[block.status], f"block {block.place}")


def _block(block: BlockDifference, depth: int, limit: int) -> Iterator[Line]:
    yield from _changes(block.changes, depth)
    for operation in block.operations:
        yield from _operation(operation, depth, limit)
    yield from _renames(block.renamed, depth, limit)


def _operation(operation: OperationDifference, depth: int, limit: int) -> Iterator[Line]:
    if isinstance(operation, MovedOperations):
        yield Line(depth, ">", _move(operation))
    elif isinstance(operation, ChangedOperation):
        uses = [f"{argument} of {user}" for user, argument in operation.used_as]
        yield Line(depth, "~", f"{operation.name}: {', '.join([operation.type, *uses])}")
        yield from (Line(depth + 1, "", change_text(change)) for change in operation.changes)
        for block in operation.blocks:
            yield _heading(block, depth + 1)
            yield from _block(block, depth + 2, limit)
    else:
        yield Line(depth, "-" if isinstance(operation, RemovedOperation) else "+", operation.text)


def _move(move: MovedOperations) -> str:
    names = move.names
    what = names[0] if len(names) == 1 else f"{len(names)} operations, {names[0]} to {names[-1]},"
    return f"{what} moved: now {f'after {move.after}' if move.after else 'first'}"


# ---- changes


def _changes(changes: Sequence[Change], depth: int) -> Iterator[Line]:
    """Yield the changes of anything but an operation: a line each, with a sign."""
    for change in changes:
        sign = "+" if change.old is None else "-" if change.new is None else "~"
        yield Line(depth, sign, change_text(change, with_kind=True))


def change_text(change: Change, with_kind: bool = False) -> str:
    """Return `strides: [1, 1] -> [2, 2]`."""
    kind = change.kind if with_kind or change.kind in _TOLD else ""
    what = " ".join(filter(None, (kind, change.name)))
    if change.old is None or change.new is None:
        status = "" if with_kind else " added" if change.old is None else " removed"
        return f"{what}: {change.new if change.old is None else change.old}{status}"
    return f"{what}: {change.old} -> {change.new}{f' ({_apart(change.measure)})' if change.measure else ''}"


def _apart(measure: Measure) -> str:
    if not measure.changed:
        return f"the same {_count(measure.count, 'element')}"
    text = f"{measure.changed} of {_count(measure.count, 'element')}"
    if measure.maximum is None or measure.mean is None or measure.snr is None:
        return text
    return f"{text}, max {measure.maximum:.3g}, mean {measure.mean:.3g}, SNR {measure.snr:.1f} dB"


def _renames(renamed: Sequence[Rename], depth: int, limit: int) -> Iterator[Line]:
    told = told_renames(renamed)
    yield from (Line(depth, "=", rename_text(rename)) for rename in told[:limit])
    yield from _more(told, depth, limit)


def told_renames(renamed: Sequence[Rename]) -> list[Rename]:
    """Return the renames to show: not that of an operation where its values have other names, too."""
    named = {rename.new for rename in renamed if rename.kind != "name"}
    return [each for each in renamed if each.kind != "name" or named.isdisjoint(each.of.split(", "))]


def rename_text(rename: Rename) -> str:
    """Return `a -> b`."""
    if rename.kind == "name":
        return f"{rename.of}: name {rename.old or 'none'} -> {rename.new or 'none'}"
    return f"{rename.old} -> {rename.new}{'' if rename.kind == 'value' else f' ({rename.kind})'}"


def _more(listed: Sequence[object], depth: int, limit: int) -> Iterator[Line]:
    if len(listed) > limit:
        yield Line(depth, "=", f"and {len(listed) - limit} more of {len(listed)}; --full lists all")


# ---- weights


def _weights_summary(weights: WeightDifference) -> str:
    unread = f", {weights.unread} compared by place" if weights.unread else ""
    differ = "differs" if len(weights.changed) == 1 else "differ"
    return f"weights: {len(weights.changed)} {differ}, {weights.equal} equal{unread}"


def _weights(weights: WeightDifference, limit: int) -> Iterator[Line]:
    """Yield the weights; if not all are listed, those that differ most come first."""
    if not weights.changed:
        return
    yield Line(0, "@", _weights_summary(weights))
    listed = list(weights.changed)
    if len(listed) > limit:
        listed.sort(key=lambda weight: weight.measure.snr or 0 if weight.measure else 0)
    several = len({weight.function for weight in listed}) > 1
    rows = [(_weight_name(weight, several), weight.type, _weight(weight)) for weight in listed[:limit]]
    name_width, type_width = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, type_text, apart in rows:
        yield Line(1, "~", f"{name:{name_width}}  {type_text:{type_width}}  {apart}")
    yield from _more(listed, 1, limit)


def _weight_name(weight: WeightChange, several: bool) -> str:
    parameter = "" if weight.parameter == "val" else f" {weight.parameter}"
    return f"{f'{weight.function}/' if several else ''}{weight.operation}{parameter}"


def _weight(weight: WeightChange) -> str:
    if weight.measure:
        return _apart(weight.measure)
    places = [f"{quote(place.file)} at {place.offset}" for place in (weight.old_place, weight.new_place) if place]
    return f"{' -> '.join(places)}, not read"


# ---- summaries


def _summary(function: FunctionDifference) -> str:
    if function.status != "changed":
        return f"{function.status}, {_count(function.operations, 'operation')}"
    counts = Counter(renamed=len(told_renames(function.renamed)))
    for block in [each for outer in function.blocks for each in outer.walk()]:
        counts.update(added=len(block.added), removed=len(block.removed), changed=len(block.changed))
        counts.update(moved=sum(len(move.names) for move in block.moved))
        counts.update(renamed=len(told_renames(block.renamed)), other=len(block.changes))
    told = [] if function.name == function.old_name else [f"renamed from {function.old_name}"]
    nouns = {**dict.fromkeys(("added", "removed", "changed", "moved"), "operation"), "renamed": "value"}
    told += [f"{_count(counts[kind], noun)} {kind}" for kind, noun in nouns.items() if counts[kind]]
    if function.changes or counts["other"]:
        told.append("interface changed")
    return ", ".join(told)
