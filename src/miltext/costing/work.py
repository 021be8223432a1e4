"""The costs of a model as data: the work of its operations, with the sums by scope, type and function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from miltext.sizing.rows import grouped

if TYPE_CHECKING:
    from collections.abc import Iterable


class Work(NamedTuple):
    """Multiply-accumulates, and bytes that are read, of which `weight_bytes` are of weights as stored, and written."""

    macs: int = 0
    read_bytes: int = 0
    weight_bytes: int = 0
    written_bytes: int = 0

    @property
    def bytes(self) -> int:
        """The bytes read and written."""
        return self.read_bytes + self.written_bytes


class OperationCost(NamedTuple):
    """The work of an operation; `model` is the path of its model in a pipeline, and `scope` its scope."""

    model: str
    function: str
    scope: str
    name: str
    type: str
    work: Work


class ScopeCost(NamedTuple):
    """The work in a scope of a function; `scope` is empty for the operations without a scope."""

    model: str
    function: str
    scope: str
    operation_count: int
    work: Work


class TypeCost(NamedTuple):
    """The work of all operations of a type."""

    type: str
    operation_count: int
    work: Work


class FunctionCost(NamedTuple):
    """The work of a function for inputs of these shapes, the bytes of its states, and its peak.

    `peak_bytes` are the most bytes that values take at a time, besides weights and states: when the operation `peak_at`
    runs, None for the beginning, with the `peak_values`, the largest first.
    """

    model: str
    function: str
    inputs: tuple[tuple[str, tuple[int | None, ...]], ...]
    operation_count: int
    work: Work
    state_bytes: int
    peak_bytes: int
    peak_at: str | None
    peak_values: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ModelCost:
    """The costs of a model's `functions`, and of the counted `ops`, in the order of the program.

    `notes` list the uncounted and unknown costs.
    """

    name: str
    functions: tuple[FunctionCost, ...]
    ops: tuple[OperationCost, ...]
    notes: tuple[str, ...] = ()

    @property
    def work(self) -> Work:
        """The work of all functions."""
        return total(each.work for each in self.functions)

    @property
    def scopes(self) -> tuple[ScopeCost, ...]:
        """The work by scope, in the order of the program."""
        groups = grouped(self.ops, lambda each: (each.model, each.function, each.scope))
        return tuple(ScopeCost(*group[0][:3], len(group), total(each.work for each in group)) for group in groups)

    @property
    def types(self) -> tuple[TypeCost, ...]:
        """The work by type of operation, the most first."""
        groups = grouped(self.ops, lambda each: each.type)
        found = [TypeCost(group[0].type, len(group), total(each.work for each in group)) for group in groups]
        return tuple(sorted(found, key=lambda each: (*most(each.work), each.type)))


def total(works: Iterable[Work]) -> Work:
    """Return the sum of works."""
    return Work(*map(sum, zip(*works, strict=True))) if (works := [*works]) else Work()


def most(work: Work) -> tuple[int, int]:
    """Return the key by which the most work comes first: by multiply-accumulates, then by bytes."""
    return -work.macs, -work.bytes
