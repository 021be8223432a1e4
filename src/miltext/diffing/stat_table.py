"""The numbers of a Difference as a table: a line for each function and scope, and a bar of its differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import text_width, visible
from miltext.diffing.numbers import verdict_words
from miltext.diffing.scope_stats import NUMBERS, ScopeStat, added_up
from miltext.diffing.telling import count_line, counts, in_bytes, model_title, signed_bytes
from miltext.diffing.text import COLORS
from miltext.scopes.families import TIMES, family, spread, stem

if TYPE_CHECKING:
    from miltext.diffing.difference import Difference
    from miltext.diffing.structure import FunctionDifference

FEWEST_REPEATS = 2
"""The fewest scopes with equal numbers that share a line."""

SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}
"""The signs of the numbers of operations, which are also the pieces of the bar."""

NOUNS = {"renamed": "renamed", "weights": "weights", "interface": "interface", "consequences": "consequences"}
"""The titles of the columns for the other numbers."""

TOTAL = "total"
"""The name of the last line."""

SHORTEST = 8
"""The least width of a bar."""

LONGEST = 60
"""The greatest width of a bar."""


class StatRow(NamedTuple):
    """A line of the table: its name, its numbers, and words about the function."""

    name: str
    numbers: ScopeStat
    remark: str = ""


def render_stat(difference: Difference, width: int | None, color: bool) -> str:
    """Return the table, and a line for each part without scopes; with a width in columns, the table has bars."""
    rows = [*_rows(difference, "")]
    left = [f"{count_line(*each)}\n" for each in counts(difference, functions=False)]
    left += [f"{line}\n" for line in _verdicts(difference, "")]
    if not rows:
        return "".join(left)
    rows.append(StatRow(TOTAL, ScopeStat("", "", **_total(difference))))
    return "".join([*_table(rows, width, color), *left])


def _verdicts(difference: Difference, prefix: str) -> Iterator[str]:
    """Yield the verdicts about the numbers of a model, and of the models in it."""
    if difference.numbers is not None:
        yield f"{prefix}numbers: {verdict_words(difference.numbers)}"
    for model in difference.models:
        if model.difference is not None:
            yield from _verdicts(model.difference, f"{prefix}model {model_title(model)}: ")


def _rows(difference: Difference, prefix: str) -> Iterator[StatRow]:
    """Yield the lines of a model, and of the models in it."""
    changed = {function.name: function for function in difference.functions}
    by_name: dict[str, list[ScopeStat]] = {}
    for each in difference.stat.scopes:
        by_name.setdefault(each.function, []).append(each)
    for name, scopes in by_name.items():
        remark = _remark(changed[name]) if name in changed else ""
        for place, row in enumerate(_folded(scopes)):
            yield StatRow(f"{prefix}{row.name}", row.numbers, remark if not place else "")
    for model in difference.models:
        if model.difference is not None:
            yield from _rows(model.difference, f"{prefix}model {model_title(model)}: ")


def _remark(function: FunctionDifference) -> str:
    """Return the changes of a function itself."""
    if function.status != "changed":
        return function.status
    return "" if function.name == function.old_name else f"renamed from {function.old_name}"


def _total(difference: Difference) -> dict[str, int]:
    """Return the sums of a model, and of the models in it that differ."""
    inner = [ScopeStat("", "", **_total(each.difference)) for each in difference.models if each.difference]
    return added_up([difference.stat.total, *inner])


def _folded(scopes: Sequence[ScopeStat]) -> Iterator[StatRow]:
    """Yield the lines of a function, one for the scopes of a family with equal numbers."""
    groups: dict[tuple[object, ...], list[ScopeStat]] = {}
    for each in scopes:
        groups.setdefault(_key(each), []).append(each)
    for group in groups.values():
        labels = [each.scope for each in group]
        numbers = ScopeStat(group[0].function, "", **added_up(group))
        if len(group) < FEWEST_REPEATS:
            scope = labels[0]
        elif sum(key[0] == family(labels[0]) for key in groups) == 1:
            scope = f"{stem(labels[0])} {TIMES}{len(group)}"
        else:
            scope = f"{spread(labels)} {TIMES}{len(group)}"
        yield StatRow("/".join(filter(None, (group[0].function, scope))), numbers)


def _key(row: ScopeStat) -> tuple[object, ...]:
    return (family(row.scope), *(getattr(row, name) for name in NUMBERS))


# ---- the table


def _table(rows: Sequence[StatRow], width: int | None, color: bool) -> Iterator[str]:
    """Yield the lines: a title, the rows, and the sum."""
    columns = [["", *(visible(row.name) for row in rows)]]
    columns += _columns(rows)
    widths = [max(map(text_width, column)) for column in columns]
    lines = [_line(cells, widths) for cells in zip(*columns, strict=True)]
    room = 0 if width is None else min(width - max(map(text_width, lines)) - 2, LONGEST)
    bars = _bars(rows, room, color) if room >= SHORTEST else [""] * len(rows)
    for line, bar, remark in zip(lines, ["", *bars], ["", *(row.remark for row in rows)], strict=True):
        yield "  ".join(filter(None, (line, bar, remark))).rstrip() + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *numbers = cells
    padded = [f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=True)]
    return "  ".join([f" {name}{' ' * (widths[0] - text_width(name))} |", *padded])


def _columns(rows: Sequence[StatRow]) -> Iterator[list[str]]:
    """Yield the columns of numbers, without empty columns."""
    for name, sign in SIGNS.items():
        yield from _column("", [f"{sign}{count}" if (count := getattr(row.numbers, name)) else "" for row in rows])
    for name, title in NOUNS.items():
        yield from _column(title, [str(getattr(row.numbers, name) or "") for row in rows])
    numbers = [row.numbers for row in rows]
    counted = [(each.old_parameters, each.new_parameters) for each in numbers]
    sizes = [(each.old_bytes, each.new_bytes) for each in numbers]
    for title, pairs, words, signed in (
        ("parameters", counted, "{:,}".format, "{:+,}".format),
        ("bytes of weights", sizes, in_bytes, signed_bytes),
    ):
        yield from _column(title, [words(new) if any((old, new)) else "" for old, new in pairs])
        yield from _column("was", [words(old) if old != new else "" for old, new in pairs])
        yield from _column("change", [signed(new - old) if old != new else "" for old, new in pairs])


def _column(title: str, cells: list[str]) -> Iterator[list[str]]:
    if any(cells):
        yield [title, *cells]


def _bars(rows: Sequence[StatRow], room: int, color: bool) -> Iterator[str]:
    """Yield a bar for each row, except the sum: a piece for each operation, or for several if bars get too long."""
    counted = [{name: getattr(row.numbers, name) for name in SIGNS} for row in rows[:-1]]
    most = max((sum(each.values()) for each in counted), default=0)
    scale = min(1.0, room / most) if most else 1.0
    for each in counted:
        pieces = [(SIGNS[name], max(1, int(count * scale))) for name, count in each.items() if count]
        yield "".join(_piece(sign, length, color) for sign, length in pieces)
    yield ""


def _piece(sign: str, length: int, color: bool) -> str:
    return f"\x1b[{COLORS[sign]}m{sign * length}\x1b[0m" if color else sign * length
