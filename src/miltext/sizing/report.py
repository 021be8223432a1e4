"""The sizes of a model, and their growth, as text for people and as records for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics.wording import tally
from miltext.diffing.telling import in_bytes, signed_bytes
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
    from collections.abc import Iterable, Iterator, Sequence

    from miltext.diagnostics.dynamic import Record
    from miltext.sizing.growth import FileGrowth, Growth, ScopeGrowth, WeightGrowth
    from miltext.sizing.sizes import FileBytes, ModelSize, ScopeBytes, WeightBytes


class SizeRow(NamedTuple):
    """A row of a table: its name, its bytes, and the cells between."""

    name: str
    bytes: int
    cells: tuple[str, ...] = ()


def size_lines(size: ModelSize, most: int | None = None) -> Iterator[str]:
    """Yield the lines of the report: the sum, the tables of scopes, operations and weights, and the files.

    A table has `most` rows, None for all, and a row for the rest.
    """
    total = size.bytes
    in_program = total - sum(each.stored for each in size.weights)
    beside = f", of them {in_bytes(in_program)} in the program itself" if in_program else ""
    counted = f"{size.parameters:,} parameters in {tally(len(size.weights), 'weight')}"
    yield f"{in_bytes(total)} of weights: {counted}{beside}"
    for headings, rows in _tables(size):
        if rows:
            yield ""
            yield from _shown(rows, headings, total, most)
    yield from ([""] if size.files else [])
    yield from map(_file_line, size.files)
    yield from (f"note: {each}" for each in size.notes)


def _tables(size: ModelSize) -> Iterator[tuple[Sequence[str], list[SizeRow]]]:
    scopes = [*_scope_rows(size.scopes)]
    yield ("scope", "parameters", "operations"), sorted(scopes, key=lambda row: -row.bytes)
    rows = [SizeRow(each.operation, each.bytes, (f"{each.parameters:,}", f"{each.weights:,}")) for each in size.types]
    yield ("used by", "parameters", "weights"), rows
    yield ("weight", "form", "used by"), [*_weight_rows(size.weights, with_function=has_several_functions(size.scopes))]


def _shown(rows: Sequence[SizeRow], headings: Sequence[str], total: int, most: int | None) -> list[str]:
    """Return the lines of a table, with the sum of the rows that it leaves out."""

    def sums(start: int) -> tuple[str, str]:
        rest = sum(row.bytes for row in rows[start:])
        return in_bytes(rest), share(rest, total)

    name, *cells = headings
    lines = [(in_bytes(row.bytes), share(row.bytes, total), *row.cells, row.name) for row in rows]
    return limited(lines, ("bytes", "share", *cells, name), most, sums)


def _scope_rows(scopes: Sequence[ScopeBytes]) -> Iterator[SizeRow]:
    """Yield a row for each family of scopes."""
    for group in grouped(scopes, scope_family):
        size = sum(each.bytes for each in group)
        name = scope_name(group)
        counts = f"{sum(each.parameters for each in group):,}", f"{sum(each.operation_count for each in group):,}"
        yield SizeRow(name, size, counts)


def _weight_rows(weights: Sequence[WeightBytes], *, with_function: bool) -> Iterator[SizeRow]:
    """Yield a row for the weights of one form and shape whose names differ in their first number, largest sum first."""
    rows = []
    for group in grouped(weights, lambda each: (each.model, each.function, family(each.name), each.form, each.shape)):
        first = group[0]
        form = f"{first.form} [{', '.join(map(str, first.shape))}]" if first.form else "-"
        name = place_name(first, family_name([each.name for each in group]), with_function=with_function)
        is_even = len({each.bytes for each in group}) == 1 < len(group)
        each_of = f", {in_bytes(first.bytes)} each" if is_even else ""
        rows.append(SizeRow(f"{name}{each_of}", sum(each.bytes for each in group), (form, _users(first))))
    return iter(sorted(rows, key=lambda row: -row.bytes))


def _users(weight: WeightBytes) -> str:
    """Return the operations that use a weight."""
    if not weight.uses:
        return "an output"
    name, kind, _ = weight.uses[0]
    more = len(weight.uses) - 1
    return f"{kind} {name}{f' and {more} more' if more else ''}"


def _file_line(file: FileBytes) -> str:
    """Return the line of a weight file."""
    records = f"{in_bytes(file.data)} in {tally(file.records, 'record')}"
    if file.bytes is None:
        return f"{file.path}: {records} by the program; {file.problem}"
    unused = f", {in_bytes(file.unused)} unused" if file.unused else ""
    layout = f", {in_bytes(file.layout)} of headers and padding" if file.layout >= 0 else ", and is cut"
    return f"{file.path}: {in_bytes(file.bytes)}: {records}{layout}{unused}"


# ---- growth


_GROWN = ("change", "was", "now")
"""The first headings of each table of a growth."""


def growth_lines(growth: Growth, most: int | None = None) -> Iterator[str]:
    """Yield the lines of a growth: the sums, and the scopes, weights and files with other sizes, the largest change
    first.
    """
    yield f"{_changed(growth.old_bytes, growth.new_bytes)} of weights, {growth.old} -> {growth.new}"
    for headings, rows in (
        (("scope",), _grown_scopes(growth.scopes)),
        (("form", "used by", "weight"), _grown_weights(growth.weights, with_function=growth.functions > 1)),
        (("unused", "file"), _grown_files(growth.files)),
    ):
        if rows:
            yield ""
            yield from _shown_growth(rows, headings, most)
    yield from (f"note: {each}" for each in growth.notes)


def _changed(old: int, new: int) -> str:
    if old == new:
        return f"no change: {in_bytes(new)}"
    return f"{signed_bytes(new - old)}: {in_bytes(old)} -> {in_bytes(new)}"


class GrowthRow(NamedTuple):
    """A row of a growth: the sizes before and after, and the other cells; the last one names it."""

    old: int
    new: int
    cells: tuple[str, ...]


def _shown_growth(rows: Sequence[GrowthRow], headings: Sequence[str], most: int | None) -> list[str]:
    rows = sorted(rows, key=lambda row: -abs(row.new - row.old))
    lines = [(signed_bytes(row.new - row.old), in_bytes(row.old), in_bytes(row.new), *row.cells) for row in rows]
    return limited(
        *(lines, (*_GROWN, *headings), most),
        lambda start: [signed_bytes(sum(row.new - row.old for row in rows[start:]))],
    )


def _grown_scopes(scopes: Sequence[ScopeGrowth]) -> list[GrowthRow]:
    """Return a row for each family of scopes."""
    return [GrowthRow(*_sums(group), (scope_name(group),)) for group in grouped(scopes, scope_family)]


def _grown_weights(weights: Sequence[WeightGrowth], *, with_function: bool) -> list[GrowthRow]:
    """Return a row for the weights whose forms are equal and whose names differ in their first number."""
    found = []
    for group in grouped(
        weights, lambda each: (each.model, each.function, family(each.name), each.old_form, each.new_form)
    ):
        first = group[0]
        forms = [form for form in dict.fromkeys((first.old_form, first.new_form)) if form]
        name = place_name(first, family_name([each.name for each in group]), with_function=with_function)
        users = [f"{operation}.{parameter}" for operation, parameter in first.used_as]
        user = f"{users[0]}{f' and {len(users) - 1} more' if users[1:] else ''}" if users else "-"
        found.append(GrowthRow(*_sums(group), (" -> ".join(forms), user, name)))
    return found


def _grown_files(files: Sequence[FileGrowth]) -> list[GrowthRow]:
    """Return a row for each file, with its unused bytes, both if they changed."""
    found = []
    for each in files:
        unused = dict.fromkeys((in_bytes(each.old_unused), in_bytes(each.new_unused)))
        found.append(GrowthRow(each.old_bytes, each.new_bytes, (" -> ".join(unused), each.path)))
    return found


def _sums(group: Iterable[ScopeGrowth | WeightGrowth]) -> tuple[int, int]:
    """Return the bytes before and after."""
    sizes = [(each.old_bytes, each.new_bytes) for each in group]
    return sum(old for old, _ in sizes), sum(new for _, new in sizes)


# ---- records


def size_record(size: ModelSize) -> Record:
    """Return the sizes as JSON has them."""
    return {
        "name": size.name,
        "bytes": size.bytes,
        "parameters": size.parameters,
        "scopes": [in_camel_case(each._asdict()) for each in size.scopes],
        "types": [each._asdict() for each in size.types],
        "weights": [{**each._asdict(), "uses": [_use(*use) for use in each.uses]} for each in size.weights],
        "files": [{**each._asdict(), "layout": each.layout} for each in size.files],
        "notes": [*size.notes],
    }


def _use(name: str, kind: str, parameter: str) -> dict[str, str]:
    return {"operation": name, "type": kind, "parameter": parameter}


def growth_record(growth: Growth) -> Record:
    """Return a growth as JSON has it."""
    return {
        "old": growth.old,
        "new": growth.new,
        "oldBytes": growth.old_bytes,
        "newBytes": growth.new_bytes,
        "scopes": [in_camel_case(each._asdict()) for each in growth.scopes],
        "weights": [
            {**in_camel_case(each._asdict()), "usedAs": [list(use) for use in each.used_as]} for each in growth.weights
        ],
        "files": [in_camel_case(each._asdict()) for each in growth.files],
        "notes": [*growth.notes],
    }
