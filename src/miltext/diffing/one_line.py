"""A Difference in one line, as for each commit of a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from miltext.diagnostics.wording import tally
from miltext.diffing.structure import PORTS
from miltext.diffing.telling import count_line, counts, first_of, kind_counts, model_title, signed_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diffing.difference import Difference
    from miltext.diffing.structure import BlockDifference, Change, FunctionDifference

METADATA = "metadata only"
"""The words for a difference in nothing but the metadata of the description."""

NO_WEIGHTS = "weights not here"
"""The words for weights whose file is absent, or a git-lfs pointer."""

MODELS = 2
"""The greatest number of models of a pipeline described one by one."""


def one_line(difference: Difference) -> str:
    """Return a difference in words: `+2 pad, -36 MB, output `y` renamed to `z``."""
    if difference.same is True:
        return difference.verdict
    found = [*_parts(difference)]
    if not found and difference.same is False:  # as of names of operations, and of consequences alone
        found = [count_line(*each) for each in counts(difference)]
    inner = [each.difference for each in difference.models if each.difference is not None]
    if not difference.complete and all(each.complete for each in inner):
        found.append(NO_WEIGHTS if difference.weights.unread or not difference.notes else difference.notes[0])
    return ", ".join(found)


def _parts(difference: Difference) -> Iterator[str]:
    summary = difference.summary
    kinds = [*kind_counts(summary)]
    if kinds:
        yield first_of(kinds)
    for function in difference.functions:
        yield from _function(function, len(difference.functions) > 1)
    sizes = summary.sizes
    if sizes.new_bytes != sizes.old_bytes:
        yield signed_bytes(sizes.new_bytes - sizes.old_bytes)
    read = [each for each in difference.weights.changed if each.measure is not None and each.measure.changed]
    unread = sum(each.measure is None for each in difference.weights.changed)
    held = len(difference.weights.changed) - len(read) - unread
    if read:
        yield f"{tally(len(read), 'weight')} changed"
    if held:
        yield f"{tally(held, 'weight')} in another form"
    yield from _models(difference)
    yield from _around(difference.changes, is_alone=not difference.functions and not difference.weights.changed)
    if summary.breaks:
        yield "breaks callers"


# ---- functions


def _function(function: FunctionDifference, several: bool) -> Iterator[str]:
    """Yield the differences of a function, apart from the types of operations that were added and removed."""
    named = f"function `{function.name}`"
    if function.status != "changed":
        yield f"{named} {function.status}"
        return
    if function.name != function.old_name:
        yield f"function `{function.old_name}` renamed to `{function.name}`"
    found = [*_inside(function)]
    if found:
        yield f"{named}: {', '.join(found)}" if several else ", ".join(found)


def _inside(function: FunctionDifference) -> Iterator[str]:
    blocks = [each for block in function.blocks for each in block.walk()]
    yield from map(_interface, [each for each in function.changes if each.follows is None])
    renamed = [*function.renamed, *(each for block in blocks for each in block.renamed)]
    yield from (f"{each.kind} `{each.old}` renamed to `{each.new}`" for each in renamed if each.kind in PORTS)
    changed = sum(any(map(_is_counted, each.changes)) for block in blocks for each in block.changed)
    moved = sum(len(each.names) for block in blocks for each in block.moved if each.follows is None)
    for count, word in ((changed, "changed"), (moved, "moved")):
        if count:
            yield f"{tally(count, 'operation')} {word}"
    yield from _blocks(function, blocks)
    values = [each for each in renamed if each.kind == "value" and each.follows is None]
    if values:
        yield f"{tally(len(values), 'value')} renamed"


def _is_counted(change: Change) -> bool:
    """Return whether a change is a cause, and not another type, which is named."""
    return change.follows is None and change.kind != "operation"


def _blocks(function: FunctionDifference, blocks: Sequence[BlockDifference]) -> Iterator[str]:
    """Yield the changes of blocks themselves."""
    own = {id(block) for block in function.blocks}
    for block in blocks:
        if block.status != "changed":
            yield f"block {block.place} {block.status}"
        changes = [each for each in block.changes if each.follows is None]
        yield from (_interface(each) for each in changes if id(block) in own)
        if changes and id(block) not in own:
            yield "inner block changed"


def _interface(change: Change) -> str:
    """Return `input `x` added` for a change of a function or its block."""
    if change.kind in PORTS:
        status = "added" if change.old is None else "removed" if change.new is None else "retyped"
        return f"{change.kind} `{change.name}` {status}"
    if change.kind == "opset":
        return f"opset {change.old or 'none'} -> {change.new or 'none'}"
    return f"{change.kind} {change.name}".rstrip() + " changed"


# ---- around the programs


def _models(difference: Difference) -> Iterator[str]:
    """Yield the first models of a pipeline that differ, and the number of the others."""
    for each in difference.models[:MODELS]:
        what = each.status if each.difference is None else one_line(each.difference)
        yield f"model {model_title(each)}: {what}"
    left = len(difference.models) - MODELS
    if left > 0:
        yield f"{tally(left, 'more model')} changed"


def _around(changes: Sequence[Change], *, is_alone: bool) -> Iterator[str]:
    """Yield the changes of the model and the program themselves that do not follow from others."""
    causes = [each for each in changes if each.follows is None]
    metadata = [each for each in causes if each.kind == "description" and each.name.startswith("metadata")]
    described = [each for each in causes if each.kind == "description" and each not in metadata]
    others = [each for each in causes if each.kind != "description"]
    if metadata and len(metadata) == len(changes) and is_alone:
        yield METADATA
    elif metadata:
        yield "metadata"
    if described:
        yield f"{tally(len(described), 'change')} of the description"
    yield from dict.fromkeys(map(_around_word, others))


def _around_word(change: Change) -> str:
    if change.kind in ("type", "specification", "version"):
        return f"{change.kind} {change.old} -> {change.new}"
    return f"{' '.join(filter(None, (change.kind, change.name)))} changed"
