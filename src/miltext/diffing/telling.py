"""The words for each part of a Difference, shared by all forms for people."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.diffing.entries import Replaced
from miltext.diffing.structure import ChangedOperation, MovedOperations, RemovedOperation
from miltext.syntax.literals import quote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.difference import Difference, ModelDifference
    from miltext.diffing.structure import (
        Change,
        DiffSummary,
        FunctionDifference,
        OperationDifference,
        OutputReach,
        Rename,
        TensorDistance,
        UnpairedOperation,
        WeightChange,
        WeightDifference,
        WeightSize,
        WeightSizes,
    )

VERDICTS = {
    (False, True): "no difference",
    (False, None): "undecided: all files that were read are equal, but some were not read; "
    "ignore the weights if neither model has weight files",
    (True, True): "no breaking change",
    (True, None): "undecided: no compared part breaks callers, but some parts could not be compared",
}
"""The line for two models without a difference, by whether only breaking ones were looked for, and whether they are the
same.
"""

LEFT_OUT = " (facts about tools differ, and are left out: `build_info=True`)"
"""The end of that line for two models whose tools or dates differ."""

REMOVED = " (removed)"
"""The mark of a value of a removed operation, if an added one has its name."""

USES = 3
"""Number of arguments named among the users of a constant."""

_TITLED = {"operation", "type", "outputs", "blocks"}
"""The kinds of changes of an operation with their own title; arguments and attributes have names."""


# ---- the summary


def summary_lines(summary: DiffSummary) -> Iterator[str]:
    """Yield the lines of the summary, each only if there is something to report."""
    if summary.breaks:
        named = [f"{change.kind} {change.name}".rstrip() for change in summary.breaks]
        yield f"interface: breaks callers: {first_of(named)}"
    elif summary.interface:
        verdict = "" if summary.breaks is None or summary.exchanged else "; breaks no callers"
        yield f"interface: {first_of(summary.interface)}{verdict}"
    if summary.exchanged:
        yield f"interface: other values under old names: {first_of(summary.exchanged)}"
    if summary.added or summary.removed:
        yield f"operations: {first_of([*kind_counts(summary)], KINDS)}"
    if summary.sizes.old_bytes != summary.sizes.new_bytes or summary.sizes.changed:
        yield f"bytes of weights: {_sizes(summary.sizes)}"
    if summary.outputs.reached or summary.outputs.unreached:
        yield f"outputs: {_outputs(summary.outputs)}"


KINDS = 8
"""The number of types of operations named in the summary."""


def kind_counts(summary: DiffSummary) -> Iterator[str]:
    """Yield the numbers of added and removed operations by type: `+3 pad`."""
    yield from (f"+{count} {kind}" for kind, count in summary.added.items())
    yield from (f"-{count} {kind}" for kind, count in summary.removed.items())


def first_of(words: Sequence[str], most: int = USES) -> str:
    """Return the first few words, and the number of the others."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return f"{', '.join(words[:most])}{more}"


def _sizes(sizes: WeightSizes) -> str:
    change = sizes.new_bytes - sizes.old_bytes
    rows = [f"{each.name} {signed_bytes(each.new_bytes - each.old_bytes)}{_of_weight(each)}" for each in sizes.changed]
    total = f"{signed_bytes(change)}, now {in_bytes(sizes.new_bytes)}"
    return (
        f"{total}: {first_of(rows)}"
        if rows
        else f"{total}: weights are stored once that were stored more often, or not"
    )


def _of_weight(weight: WeightSize) -> str:
    """Return the uses of a weight, and its forms: ` (weight of conv_1; fp16 where it was 8-bit linear)`."""
    old, new = weight.old_form, weight.new_form
    forms = f"{new} where it was {old}" if old and new and old != new else ""
    words = [*filter(None, (uses_text(weight.used_as, 1), forms))]
    return f" ({'; '.join(words)})" if words else ""


def in_units(number: int) -> str:
    """Return a number with three digits and a decimal prefix: `4.37 G`; below 1,000 all of it."""
    for unit, factor in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**3)):
        least = factor if unit == "k" else factor - factor // 2000  # which rounds to 1
        if abs(number) >= least:
            return f"{number / factor:.3g} {unit}"
    return str(number)


def in_bytes(size: int) -> str:
    """Return a number of bytes in a decimal unit with three digits: `36.4 MB`."""
    return f"{in_units(size)}{'B' if abs(size) >= 10**3 else ' B'}"


def signed(number: str) -> str:
    """Return a number in words with its sign: `+36.4 MB`."""
    return number if number.startswith("-") else f"+{number}"


def signed_bytes(size: int) -> str:
    """Return a difference of bytes with its sign: `+36.4 MB`."""
    return signed(in_bytes(size))


def _outputs(outputs: OutputReach) -> str:
    reached, unreached = outputs.reached, outputs.unreached
    if not reached:
        return f"{f'{unreached[0]} has' if len(unreached) == 1 else f'all {len(unreached)} have'} the same numbers"
    if not unreached:
        return f"{reached[0] if len(reached) == 1 else f'all {len(reached)}'} may have other numbers"
    return f"{first_of(reached)} may have other numbers, {first_of(unreached)} cannot"


KIND_NOUNS = {
    "type": "type",
    "size": "constant",
    "precision": "constant",
    "operand": "argument",
    "number": "numbered name",
    "name": "name",
    "constant": "constant",
    "place": "place",
    "weight": "weight",
    "description": "field",
}
"""The nouns of the kinds of consequences."""


def consequence_text(cause: str, kinds: Sequence[str], causes: int = 1) -> str:
    """Return `962 types and 25 constants follow from audio_signal`."""
    nouns = [tally(count, noun) for noun, count in Counter(KIND_NOUNS[kind] for kind in kinds).items()]
    source = cause or (f"{causes} other differences" if causes > 1 else "added and removed operations")
    several = " and ".join(filter(None, [", ".join(nouns[:-1]), nouns[-1]]))
    return f"{several} {'follows' if len(kinds) == 1 else 'follow'} from {source}"


# ---- functions and operations


def operation_name(operation: OperationDifference) -> str:
    """Return the name of an operation in a difference; for moved operations, the first name."""
    return operation.name if not isinstance(operation, MovedOperations) else operation.names[0]


def function_text(function: FunctionDifference) -> str:
    """Return the head of a function in only one program, or the name of a function in both."""
    if function.status != "changed":
        return f"{function.text}, {tally(function.operations, 'operation')}"
    renamed = "" if function.name == function.old_name else f", renamed from {function.old_name}"
    return f"func {function.name}{renamed}"


def unpaired_text(operation: UnpairedOperation, rewired: Sequence[tuple[str, str]]) -> str:
    """Return an operation that only one program has, with the arguments that took another value for it."""
    if not rewired:
        return operation.text
    return f"{operation.text}, {'was' if isinstance(operation, RemovedOperation) else 'now'} {uses_text(rewired)}"


def move_text(move: MovedOperations) -> str:
    """Return `c moved: now after w2`."""
    names = move.names
    what = names[0] if len(names) == 1 else f"{len(names)} operations, {names[0]} to {names[-1]},"
    return f"{what} moved: now {f'after {move.after}' if move.after else 'first'}"


def changed_text(operation: ChangedOperation) -> str:
    """Return `b_axis: const, axis of b`."""
    uses = [f"{argument} of {user}" for user, argument in operation.used_as]
    return f"{operation.name}: {', '.join([operation.type, *uses])}"


# ---- changes


def change_text(change: Change, with_kind: bool = False) -> str:
    """Return `strides: [1, 1] -> [2, 2]`."""
    what = _title(change, with_kind)
    if change.old is None or change.new is None:
        status = "" if with_kind else " added" if change.old is None else " removed"
        return f"{what}: {change.new if change.old is None else change.old}{status}"
    also = f", also {uses_text(change.also)}" if change.also else ""
    return f"{what}: {change.old} -> {change.new}{f' ({apart(change.measure)})' if change.measure else ''}{also}"


def _title(change: Change, with_kind: bool) -> str:
    kind = change.kind if with_kind or change.kind in _TITLED else ""
    return " ".join(filter(None, (kind, change.name)))


def replaced(change: Change, with_kind: bool = False) -> Replaced | None:
    """Return the part `old -> new` of the text of a change; None if there was nothing, or is nothing now."""
    if change.old is None or change.new is None:
        return None
    return Replaced(len(f"{_title(change, with_kind)}: "), change.old, change.new)


def uses_text(uses: Sequence[tuple[str, str]], most: int = USES) -> str:
    """Return the first few arguments that take a constant: `axis of b, axis of c and 2 more`."""
    return first_of([f"{argument} of {user}" for user, argument in uses], most)


def apart(measure: TensorDistance) -> str:
    """Return the distance of two tensors in words."""
    if not measure.changed:
        return f"the same {tally(measure.count, 'element')}"
    text = f"{measure.changed} of {tally(measure.count, 'element')}"
    if measure.maximum is None or measure.mean is None or measure.snr is None:
        return text
    if measure.maximum == math.inf:
        return f"{text}, with NaN or infinities"
    return f"{text}, max {measure.maximum:.3g}, mean {measure.mean:.3g}, SNR {measure.snr:.1f} dB"


def shown_renames(renamed: Sequence[Rename]) -> list[Rename]:
    """Return the renames to show, without renames of operations whose values were renamed."""
    named = {rename.new for rename in renamed if rename.kind != "name"}
    return [each for each in renamed if each.kind != "name" or named.isdisjoint(each.of.split(", "))]


def rename_text(rename: Rename) -> str:
    """Return `a -> b`."""
    if rename.kind == "name":
        return f"{rename.of}: name {rename.old or 'none'} -> {rename.new or 'none'}"
    return f"{rename.old} -> {rename.new}{'' if rename.kind == 'value' else f' ({rename.kind})'}"


def renamed_part(rename: Rename) -> Replaced | None:
    """Return the part `old -> new` of the text of a rename; None without one of the names."""
    if rename.old is None or rename.new is None:
        return None
    return Replaced(len(f"{rename.of}: name ") if rename.kind == "name" else 0, rename.old, rename.new)


# ---- models and weights


def model_title(model: ModelDifference) -> str:
    """Return the path of a model in a pipeline and, if it has one, its name."""
    return f"{model.place} {quote(model.name)}" if model.name else model.place


def weights_summary(weights: WeightDifference) -> str:
    """Return `1 differs, 1 equal, 2 not read, 1 of them at another place`; without weights in another form that have
    the same numbers, which are consequences.
    """
    causes = [each for each in weights.changed if each.follows is None]
    apart = sum(map(_is_unread, causes))
    read = len(causes) - apart
    differ = [f"{read} {'differs' if read == 1 else 'differ'}"] if read or not apart else []
    unread = [f"{weights.unread} not read"] if weights.unread else []
    if apart:
        unread.append(f"{apart} of them at another place" if apart == 1 else f"{apart} of them at other places")
    return ", ".join([*differ, f"{weights.equal} equal", *unread])


def _is_unread(weight: WeightChange) -> bool:
    """Return whether only the places of a weight were compared."""
    return weight.measure is None and weight.old_form is None


def weight_words(weight: WeightChange, with_function: bool) -> tuple[str, str, str]:
    """Return the name of a weight, its type, and its distance from the old one."""
    parameter = "" if weight.parameter == "val" else f" {weight.parameter}"
    name = f"{f'{weight.function}/' if with_function else ''}{weight.operation}{parameter}"
    return name, weight.type, _weight(weight)


def _weight(weight: WeightChange) -> str:
    if weight.old_form is not None:
        is_same = weight.old_form == weight.new_form
        forms = f"{weight.old_form}, held otherwise" if is_same else f"{weight.old_form} -> {weight.new_form}"
        return f"{forms}, {apart(weight.measure) if weight.measure else f'numbers not compared: {weight.problem}'}"
    if weight.measure:
        return apart(weight.measure)
    places = [f"{quote(place.file)} at {place.offset}" for place in (weight.old_place, weight.new_place) if place]
    return f"{' -> '.join(places)}, not read"


# ---- counts


def counts(difference: Difference, *, functions: bool = True) -> Iterator[tuple[str, str]]:
    """Yield each part with causes, the model, a function or the weights, and how many; then the consequences. Yield the
    verdict alone if there is no difference. Without `functions`, leave out the changes that scopes count.
    """
    if difference.same is not False:
        yield "", difference.verdict
    causes = [each for each in difference.changes if each.follows is None]
    if causes:
        yield "model", tally(len(causes), "change")
    if functions:
        summaries = ((function.name, _summary(function)) for function in difference.functions)
        yield from ((name, summary) for name, summary in summaries if summary)
    if any(each.follows is None for each in difference.weights.changed):
        yield "weights", weights_summary(difference.weights)
    following = sum(each.follows is not None for each in difference.changes)
    if functions:
        following += sum(each.follows is not None for each in difference.weights.changed)
        following += sum(_counted(each)["consequences"] for each in difference.functions)
    if following:
        yield "" if functions else "model", tally(following, "consequence")
    for model in difference.models:
        title = f"model {model_title(model)}"
        if model.difference:
            inner = counts(model.difference, functions=functions)
            yield from ((f"{title}: {what}" if what else title, counted) for what, counted in inner)
        else:
            yield title, model.status


def count_line(what: str, counted: str) -> str:
    """Return `main: 1 operation added`."""
    return f"{what}: {counted}" if what else counted


_COUNTED = {
    "added": "operation",
    "removed": "operation",
    "changed": "operation",
    "moved": "operation",
    "renamed": "value",
}
"""The nouns of counted causes, in their order."""


def _summary(function: FunctionDifference) -> str:
    """Return the number of causes in a function, by kind; nothing if there are only consequences."""
    if function.status != "changed":
        return f"{function.status}, {tally(function.operations, 'operation')}"
    found = _counted(function)
    parts = [] if function.name == function.old_name else [f"renamed from {function.old_name}"]
    parts += [f"{tally(found[kind], noun)} {kind}" for kind, noun in _COUNTED.items() if found[kind]]
    parts += [f"{what} changed" for what in ("interface", "inner block") if found[what]]
    return ", ".join(parts)


def _counted(function: FunctionDifference) -> Counter[str]:
    """Return the numbers of causes in a function, by kind, and of consequences."""
    found = Counter[str]()
    blocks = [each for outer in function.blocks for each in outer.walk()]
    own = {id(each) for each in function.blocks}
    changes = [("interface", each) for each in function.changes]
    for block in blocks:
        changes += [("interface" if id(block) in own else "inner block", each) for each in block.changes]
    for kind, change in changes:
        found[kind if change.follows is None else "consequences"] += 1
    for renamed in (function.renamed, *(block.renamed for block in blocks)):
        for rename in shown_renames(renamed):
            found["renamed" if rename.follows is None else "consequences"] += 1
    for block in blocks:
        operations: tuple[OperationDifference, ...] = (*block.added, *block.removed, *block.changed, *block.moved)
        for operation in operations:
            found.update(counted_operation(operation))
    return found


def counted_operation(operation: OperationDifference) -> dict[str, int]:
    """Return the number of operations in a difference by its kind, and of consequences."""
    if isinstance(operation, ChangedOperation):
        following = sum(each.follows is not None for each in operation.changes)
        return {"consequences": following, "changed": int(following < len(operation.changes))}
    if operation.follows is not None:
        return {"consequences": 1}
    if isinstance(operation, MovedOperations):
        return {"moved": len(operation.names)}
    return {"removed" if isinstance(operation, RemovedOperation) else "added": 1}
