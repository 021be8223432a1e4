"""The costs of a model, and their growth, as text for people and as records for programs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from miltext.costing.work import Work, most, total
from miltext.diffing.telling import in_bytes, in_units, signed, signed_bytes
from miltext.schema.types import show
from miltext.scopes.families import family
from miltext.sizing.rows import (
    family_name,
    grouped,
    has_several_functions,
    in_camel_case,
    limited,
    place_name,
    scope_family,
    scope_name,
    share,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.costing.growth import CostGrowth, FunctionCostGrowth, OperationCostGrowth
    from miltext.costing.work import FunctionCost, ModelCost, OperationCost, ScopeCost
    from miltext.diagnostics.dynamic import Record

SHOWN_VALUES = 4
"""The most values of a peak in the text."""

HEADINGS = ("macs", "share", "read", "written")


class CostRow(NamedTuple):
    """A row of a table: its name, the number of its operations, and their work."""

    name: str
    op_count: int
    work: Work


def cost_lines(cost: ModelCost, most_rows: int | None = None) -> Iterator[str]:
    """Yield the lines of the report: the functions, and the tables of scopes, types and operations.

    A table has `most_rows` rows, None for all, and a row for the rest. `macs` are multiply-accumulates.
    """
    for each in cost.functions:
        yield from _function_lines(each)
    for heading, rows in _tables(cost):
        if rows:
            yield ""
            yield from _shown(sorted(rows, key=lambda row: most(row.work)), heading, cost.work, most_rows)
    yield from (f"note: {each}" for each in cost.notes)


def _function_lines(cost: FunctionCost) -> Iterator[str]:
    """Yield the work of a function, and its peak."""
    name = "/".join(filter(None, (cost.model, cost.function)))
    inputs = ", ".join(f"{each} {show(shape)}" for each, shape in cost.inputs)
    work = cost.work
    weights = f", of them {in_bytes(work.weight_bytes)} of weights" if work.weight_bytes else ""
    macs = f"{in_units(work.macs)} multiply-accumulates"
    yield f"{name}({inputs}): {macs}, {in_bytes(work.read_bytes)} read{weights}, {in_bytes(work.written_bytes)} written"
    values = [f"{each} {in_bytes(size)}" for each, size in cost.peak_values]
    more = [f"{len(values) - SHOWN_VALUES} more"] if len(values) > SHOWN_VALUES else []
    at = "at the beginning" if cost.peak_at is None else f"at {cost.peak_at}"
    named = f": {', '.join([*values[:SHOWN_VALUES], *more])}" if values else ""
    yield f"{name}: {in_bytes(cost.peak_bytes)} of values at most, {at}{named}"
    if cost.state_bytes:
        yield f"{name}: {in_bytes(cost.state_bytes)} of states"


def _tables(cost: ModelCost) -> Iterator[tuple[str, list[CostRow]]]:
    scopes = grouped(cost.scopes, scope_family)
    yield "scope", [CostRow(scope_name(group), *_sum(group)) for group in scopes]
    yield "type", [CostRow(*each) for each in cost.types]
    operation_name = partial(_operation_name, with_function=has_several_functions(cost.functions))
    operations = grouped(cost.ops, lambda each: (*each[:2], family(each.name), each.type, each.work))
    yield (
        "operation",
        [CostRow(operation_name(each), len(each), total(one.work for one in each)) for each in operations],
    )


def _sum(group: Sequence[ScopeCost]) -> tuple[int, Work]:
    return sum(each.operation_count for each in group), total(each.work for each in group)


def _operation_name(group: Sequence[OperationCost | OperationCostGrowth], *, with_function: bool) -> str:
    """Return the name of a row, with the first name of several, as the same family may have rows of other work."""
    example = f", such as {group[0].name}" if len(group) > 1 else ""
    name = place_name(group[0], family_name([each.name for each in group]), with_function=with_function)
    return f"{group[0].type} {name}{example}"


def _shown(rows: Sequence[CostRow], heading: str, whole: Work, most_rows: int | None) -> list[str]:
    """Return the lines of a table, with the sum of the rows that it leaves out."""
    lines = [(*_cells(row.work, whole), f"{row.op_count:,}", row.name) for row in rows]
    headings = (*HEADINGS, "operations", heading)
    return limited(lines, headings, most_rows, lambda start: _cells(total(row.work for row in rows[start:]), whole))


def _cells(work: Work, whole: Work) -> tuple[str, ...]:
    return (
        *(in_units(work.macs), share(work.macs, whole.macs)),
        *(in_bytes(work.read_bytes), in_bytes(work.written_bytes)),
    )


# ---- growth


def cost_growth_lines(growth: CostGrowth, most_rows: int | None = None) -> Iterator[str]:
    """Yield the lines of a growth: the functions, and the scopes and operations with other work, the largest change
    first.
    """
    yield f"{growth.old} -> {growth.new}"
    for function in growth.functions:
        yield from _function_growth(function)
    scopes = [
        ChangeRow(scope_name(group), total(each.old for each in group), total(each.new for each in group))
        for group in grouped(growth.scopes, scope_family)
    ]
    key = lambda each: (*each[:2], family(each.name), *each[3:])  # noqa: E731
    operation_name = partial(_operation_name, with_function=has_several_functions(growth.functions))
    operations = [
        ChangeRow(operation_name(group), *(total(side or Work() for side in sides) for sides in _sides(group)))
        for group in grouped(growth.ops, key)
    ]
    for heading, rows in (("scope", scopes), ("operation", operations)):
        if rows:
            yield ""
            yield from _shown_changes(rows, heading, most_rows)
    yield from (f"note: {each}" for each in growth.notes)


class ChangeRow(NamedTuple):
    """A row of a growth: its name, and the work before and after."""

    name: str
    old: Work
    new: Work

    @property
    def macs(self) -> int:
        """The change of the multiply-accumulates."""
        return self.new.macs - self.old.macs

    @property
    def bytes(self) -> int:
        """The change of the bytes."""
        return self.new.bytes - self.old.bytes


def _sides(group: Sequence[OperationCostGrowth]) -> Iterator[Iterator[Work | None]]:
    yield (each.old for each in group)
    yield (each.new for each in group)


def _function_growth(growth: FunctionCostGrowth) -> Iterator[str]:
    name = "/".join(filter(None, (growth.model, growth.function)))
    parts = [
        ("multiply-accumulates", in_units, growth.old.macs, growth.new.macs),
        ("read", in_bytes, growth.old.read_bytes, growth.new.read_bytes),
        ("written", in_bytes, growth.old.written_bytes, growth.new.written_bytes),
        ("of values at most", in_bytes, growth.old_peak_bytes, growth.new_peak_bytes),
    ]
    for what, spelled, old, new in parts:
        if old != new:
            yield f"{name}: {signed(spelled(new - old))} {what}: {spelled(old)} -> {spelled(new)}"
    if all(old == new for _, _, old, new in parts):
        yield f"{name}: no change of the sums"


def _shown_changes(rows: Sequence[ChangeRow], heading: str, most_rows: int | None) -> list[str]:
    rows = sorted(rows, key=lambda row: (-abs(row.macs), -abs(row.bytes)))

    def sums(start: int) -> list[str]:
        rest = rows[start:]
        return [
            signed(in_units(sum(row.macs for row in rest))),
            *["", ""],
            signed_bytes(sum(row.bytes for row in rest)),
        ]

    lines = [
        (
            *(signed(in_units(row.macs)), in_units(row.old.macs), in_units(row.new.macs)),
            *(signed_bytes(row.bytes), in_bytes(row.old.bytes), in_bytes(row.new.bytes), row.name),
        )
        for row in rows
    ]
    return limited(lines, ("macs", "was", "now", "bytes", "was", "now", heading), most_rows, sums)


# ---- records


def cost_record(cost: ModelCost) -> Record:
    """Return the costs as JSON has them."""
    return {
        "name": cost.name,
        **_work(cost.work),
        "functions": [_function_record(each) for each in cost.functions],
        "scopes": [_record(each) for each in cost.scopes],
        "types": [_record(each) for each in cost.types],
        "operations": [_record(each) for each in cost.ops],
        "notes": [*cost.notes],
    }


def _work(work: Work) -> Record:
    return in_camel_case(work._asdict())


def _record(each: NamedTuple) -> Record:
    """Return a record with the work among the other fields."""
    fields = each._asdict()
    return {**in_camel_case({name: value for name, value in fields.items() if name != "work"}), **_work(fields["work"])}


def _function_record(cost: FunctionCost) -> Record:
    return {
        **_record(cost),
        "inputs": [{"name": name, "shape": [*shape]} for name, shape in cost.inputs],
        "peakValues": [{"name": name, "bytes": size} for name, size in cost.peak_values],
    }


def cost_growth_record(growth: CostGrowth) -> Record:
    """Return a growth as JSON has it."""
    return {
        "old": growth.old,
        "new": growth.new,
        "functions": [_sides_record(each) for each in growth.functions],
        "scopes": [_sides_record(each) for each in growth.scopes],
        "operations": [_sides_record(each) for each in growth.ops],
        "notes": [*growth.notes],
    }


def _sides_record(each: NamedTuple) -> Record:
    """Return a record with the works of both sides; null for a missing one."""
    fields = each._asdict()
    works = {name: work and _work(work) for name in ("old", "new") for work in [fields.pop(name)]}
    return {**in_camel_case(fields), **works}
