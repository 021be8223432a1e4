"""A Difference as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diffing.structure import (
    AddedOperation,
    BlockDifference,
    Change,
    FunctionDifference,
    Measure,
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
    None: "cannot be told: what was read is the same, and not all weights were read; "
    "--ignore-weights is for models that have no weight files, neither of them",
}
"""What is said of two models, by whether they are the same, where there is nothing else to say."""

COLORS = {"+": "32", "-": "31", "~": "33", ">": "36", "=": "36", "#": "35", "@": "1"}
"""ANSI codes by the sign of a line: added, removed, changed, moved, renamed, a note, a heading."""


class Line(NamedTuple):
    """A line of text: how deep it stands, its sign (one of COLORS, or none), and what it says."""

    depth: int
    sign: str
    text: str

    def shown(self, color: bool) -> str:
        """Return the line as it is written; headings have no visible sign."""
        text = f"{'    ' * self.depth}{self.sign.strip('@')}{' ' * (self.sign not in ('@', ''))}{self.text}"
        return f"\x1b[{COLORS[self.sign]}m{text}\x1b[0m" if color and self.sign else text


def render_text(difference: Difference, color: bool, full: bool) -> str:
    """Return what a person would say of a Difference; long lists are cut unless `full`."""
    notes = [Line(0, "#", note) for note in difference.notes]
    if difference.same is not False:
        lines = [*notes, Line(0, "", VERDICTS[difference.same])]
    else:
        heads = [Line(0, "@", f"--- {difference.old}"), Line(0, "@", f"+++ {difference.new}")]
        limit = None if full else LISTED
        lines = [*heads, *notes, *_changes(difference.changes, 0)]
        lines += [line for function in difference.functions for line in _function(function, limit)]
        lines += _weights(difference.weights, limit)
    return "".join(f"{line.shown(color)}\n" for line in lines)


def render_stat(difference: Difference) -> str:
    """Return a line for each function that is different, for the model, and for the weights."""
    lines = [] if difference.same is False else [VERDICTS[difference.same]]
    if difference.changes:
        lines.append(f"model: {_count(len(difference.changes), 'change')}")
    lines += [f"{function.name}: {_summary(function)}" for function in difference.functions]
    if difference.weights.changed:
        lines.append(_weights_summary(difference.weights))
    return "".join(f"{line}\n" for line in lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ---- functions


def _function(function: FunctionDifference, limit: int | None) -> Iterator[Line]:
    if function.status != "changed":
        sign = "+" if function.status == "added" else "-"
        yield Line(0, sign, f"{function.text}, {_count(function.operations, 'operation')}")
        return
    renamed = "" if function.name == function.old_name else f", renamed from {function.old_name}"
    yield Line(0, "@", f"func {function.name}{renamed}")
    yield from _changes(function.changes, 1)
    yield from _renames(function.renamed, 1, limit)
    for block in function.blocks:
        if len(function.blocks) > 1 or block.status != "changed":
            yield _heading(block, 1)
        yield from _block(block, 1, limit)


def _heading(block: BlockDifference, depth: int) -> Line:
    return Line(depth, {"added": "+", "removed": "-", "changed": "@"}[block.status], f"block {block.place}")


def _block(block: BlockDifference, depth: int, limit: int | None) -> Iterator[Line]:
    yield from _changes(block.changes, depth)
    for operation in block.operations:
        yield from _operation(operation, depth, limit)
    yield from _renames(block.renamed, depth, limit)


def _operation(operation: OperationDifference, depth: int, limit: int | None) -> Iterator[Line]:
    if isinstance(operation, AddedOperation):
        yield Line(depth, "+", operation.text)
    elif isinstance(operation, RemovedOperation):
        yield Line(depth, "-", operation.text)
    elif isinstance(operation, MovedOperations):
        yield Line(depth, ">", _move(operation))
    else:
        uses = [f"{argument} of {user}" for user, argument in operation.used_as]
        yield Line(depth, "~", f"{operation.name}: {', '.join([operation.type, *uses])}")
        yield from (Line(depth + 1, "", change_text(change)) for change in operation.changes)
        for block in operation.blocks:
            yield _heading(block, depth + 1)
            yield from _block(block, depth + 2, limit)


def _move(move: MovedOperations) -> str:
    names = move.names
    what = names[0] if len(names) == 1 else f"{len(names)} operations, {names[0]} to {names[-1]},"
    return f"{what} moved: now {f'after {move.after}' if move.after else 'first'}"


# ---- changes


def _changes(changes: Sequence[Change], depth: int) -> Iterator[Line]:
    """Yield the changes of what is not an operation: a line each, with a sign."""
    for change in changes:
        sign = "+" if change.old is None else "-" if change.new is None else "~"
        yield Line(depth, sign, change_text(change, with_kind=True))


def change_text(change: Change, with_kind: bool = False) -> str:
    """`strides: [1, 1] -> [2, 2]`."""
    shown = (change.kind in _TOLD or with_kind, change.kind), (bool(change.name), change.name)
    what = " ".join([text for wanted, text in shown if wanted])
    both = [text for text in (change.old, change.new) if text is not None]
    if change.old is None or change.new is None:
        return f"{what}: {both[0]}{'' if with_kind else ' added' if change.old is None else ' removed'}"
    return f"{what}: {' -> '.join(both)}{f' ({_apart(change.measure)})' if change.measure else ''}"


_TOLD = {"operation", "type", "outputs", "blocks"}
"""The kinds of changes of an operation that are named; arguments and attributes are known by their names."""


def _apart(measure: Measure) -> str:
    if not measure.changed:
        return f"the same {_count(measure.count, 'element')}"
    text = f"{measure.changed} of {_count(measure.count, 'element')}"
    if measure.maximum is None or measure.mean is None or measure.snr is None:
        return text
    return f"{text}, max {measure.maximum:.3g}, mean {measure.mean:.3g}, SNR {measure.snr:.1f} dB"


def _renames(renamed: Sequence[Rename], depth: int, limit: int | None) -> Iterator[Line]:
    told = told_renames(renamed)
    yield from (Line(depth, "=", rename_text(rename)) for rename in told[:limit])
    yield from _more(told, depth, limit)


def told_renames(renamed: Sequence[Rename]) -> list[Rename]:
    """Names that are others; that of an operation goes without saying where its values have other names, too."""
    named = {rename.new for rename in renamed if rename.kind != "name"}
    return [each for each in renamed if each.kind != "name" or named.isdisjoint(each.of.split(", "))]


def rename_text(rename: Rename) -> str:
    """Return `a -> b`."""
    if rename.kind == "name":
        return f"{rename.of}: name {rename.old or 'none'} -> {rename.new or 'none'}"
    return f"{rename.old} -> {rename.new}{'' if rename.kind == 'value' else f' ({rename.kind})'}"


def _more(listed: Sequence[object], depth: int, limit: int | None) -> Iterator[Line]:
    if limit is not None and len(listed) > limit:
        yield Line(depth, "=", f"and {len(listed) - limit} more of {len(listed)}; --full lists all")


# ---- weights


def _weights_summary(weights: WeightDifference) -> str:
    unread = f", {weights.unread} compared by place" if weights.unread else ""
    differ = "differs" if len(weights.changed) == 1 else "differ"
    return f"weights: {len(weights.changed)} {differ}, {weights.equal} equal{unread}"


def _weights(weights: WeightDifference, limit: int | None) -> Iterator[Line]:
    """Yield the weights, those that differ most first if not all are listed."""
    if not weights.changed:
        return
    yield Line(0, "@", _weights_summary(weights))
    listed = list(weights.changed)
    if limit is not None and len(listed) > limit:
        listed.sort(key=lambda weight: weight.measure.snr or 0 if weight.measure else 0)
    several = len({weight.function for weight in listed}) > 1
    names = [_weight_name(weight, several) for weight in listed[:limit]]
    widths = max(map(len, names)), max(len(weight.type) for weight in listed[:limit])
    for name, weight in zip(names, listed, strict=False):  # only the first
        yield Line(1, "~", f"{name:{widths[0]}}  {weight.type:{widths[1]}}  {_weight(weight)}")
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

_NOUNS = {
    "added": "operation",
    "removed": "operation",
    "changed": "operation",
    "moved": "operation",
    "renamed": "value",
}


def _summary(function: FunctionDifference) -> str:
    if function.status != "changed":
        return f"{function.status}, {_count(function.operations, 'operation')}"
    counts = Counter(renamed=len(told_renames(function.renamed)))
    for block in function.blocks:
        _tally(block, counts)
    told = [f"{_count(counts[kind], noun)} {kind}" for kind, noun in _NOUNS.items() if counts[kind]]
    if function.name != function.old_name:
        told.insert(0, f"renamed from {function.old_name}")
    if function.changes or counts["other"]:
        told.append("interface changed")
    return ", ".join(told)


def _tally(block: BlockDifference, counts: Counter[str]) -> None:
    counts.update(added=len(block.added), removed=len(block.removed), changed=len(block.changed))
    counts.update(
        moved=sum(len(move.names) for move in block.moved),
        renamed=len(told_renames(block.renamed)),
        other=len(block.changes),
    )
    for operation in block.changed:
        for inner in operation.blocks:
            _tally(inner, counts)
