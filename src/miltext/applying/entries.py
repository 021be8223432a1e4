"""The edits of all entries of a Difference, and the entries that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from miltext.applying.refusing import lacking, not_applicable
from miltext.diagnostics.wording import listed
from miltext.diffing.edits import NO_EDITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from miltext.diffing.difference import Difference
    from miltext.diffing.edits import Edit, Edits
    from miltext.diffing.structure import BlockDifference, Change, FunctionDifference

Kind = TypeVar("Kind")

_COUNTED = "blocks"
"""The kind of a change that counts blocks, which have entries of their own."""

_NOT_APPLICABLE = (
    "type", "contents", "analytics", "metadata.json", "file", "overlay", "own text", "item",
)  # fmt: skip
"""The kinds of changes of a model shown by size and digest, or found in files beside it."""


class EntryTable:
    """Edits by their class, in the order of the entries."""

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self._edits: dict[type, dict[int, Edit]] = {}
        self.add(edits)

    def add(self, edits: Iterable[Edit]) -> None:
        """Add edits, each once: several entries may show one constant."""
        for edit in edits:
            self._edits.setdefault(type(edit), {})[id(edit)] = edit

    def of(self, kind: type[Kind]) -> list[Kind]:
        """Return the edits of a class."""
        return [each for each in self._edits.get(kind, {}).values() if isinstance(each, kind)]


def require_applicable(difference: Difference, name: str) -> None:
    """Raise ModelError for a Difference with parts that cannot be carried out; `name` is the model."""
    if difference.breaking:
        raise not_applicable("a difference of only the breaking changes does not determine the new model", name)
    refused = sorted({each.kind for each in difference.changes if each.kind in _NOT_APPLICABLE})
    if refused:
        raise not_applicable(f"the difference has changes that cannot be applied, of the kind {listed(refused)}", name)


def edits_of(difference: Difference, name: str) -> Iterator[Edit]:
    """Yield the edits of a Difference, without the edits of models in a pipeline.

    Raise ModelError for an entry without edits.
    """
    for each in _parts(difference):
        if each is NO_EDITS:
            raise lacking("one was not made by `miltext.diff`, and has only its text", name)
        yield from each.walk()


def _parts(difference: Difference) -> Iterator[Edits]:
    yield from (each.edits for each in difference.changes)
    for function in difference.functions:
        yield from _of_function(function)
    yield from (each.edits for each in difference.weights.changed)


def _of_function(function: FunctionDifference) -> Iterator[Edits]:
    yield function.edits
    yield from _of_changes(function.changes)
    yield from (each.edits for each in function.renamed)
    for block in function.blocks:
        yield from _of_block(block)


def _of_block(block: BlockDifference) -> Iterator[Edits]:
    if block.status != "changed":
        yield block.edits
    yield from _of_changes(block.changes)
    yield from (each.edits for each in block.renamed)
    yield from (each.edits for each in block.added)
    yield from (each.edits for each in block.removed)
    yield from (each.edits for each in block.moved)
    for changed in block.changed:
        yield from _of_changes(changed.changes)
        for inner in changed.blocks:
            yield from _of_block(inner)


def _of_changes(changes: Iterable[Change]) -> Iterator[Edits]:
    return (each.edits for each in changes if each.kind != _COUNTED)
