"""The rows of reports about scopes: families of names in one row, and tables with a limit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from miltext.diagnostics.wording import table
from miltext.scopes.families import TIMES, family, spread

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Record

Item = TypeVar("Item")

ELSEWHERE = "(no scope)"
"""The name of the row for operations without a scope."""


class Placed(Protocol):
    """Anything in a function; `model` is the path of its model in a pipeline."""

    @property
    def model(self) -> str: ...

    @property
    def function(self) -> str: ...


class Scoped(Placed, Protocol):
    """Anything in a scope of a function."""

    @property
    def scope(self) -> str: ...


def grouped(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[list[Item]]:
    """Return the items with equal keys together, in the order of the first of each key."""
    groups: dict[Hashable, list[Item]] = {}
    for each in items:
        groups.setdefault(key(each), []).append(each)
    return [*groups.values()]


def scope_family(each: Scoped) -> Hashable:
    """Return the key of the scopes that share a row."""
    return each.model, each.function, family(each.scope)


def scope_name(group: Sequence[Scoped]) -> str:
    """Return the name of a family of scopes in a function."""
    labels = [each.scope for each in group]
    scope = f"{spread(labels)} {TIMES}{len(labels)}" if len(labels) > 1 else labels[0] or ELSEWHERE
    return "/".join(filter(None, (group[0].model, group[0].function, scope)))


def has_several_functions(items: Iterable[Placed]) -> bool:
    """Return whether items are in several functions of one model."""
    places = {(each.model, each.function) for each in items}
    return len(places) > len({model for model, _ in places})


def place_name(each: Placed, name: str, *, with_function: bool) -> str:
    """Return a name in its model of a pipeline, and in its function on request: `0/main/scores`."""
    return "/".join(filter(None, (each.model, each.function if with_function else "", name)))


def family_name(names: Sequence[str]) -> str:
    """Return the name of a row of names that differ in their first number."""
    return f"{family(names[0]).replace('#', '*')} {TIMES}{len(names)}" if len(names) > 1 else names[0]


def share(part: int, total: int) -> str:
    """Return a part in percent of a total."""
    return f"{100 * part / total:.1f} %" if total else "-"


def limited(
    lines: Sequence[Sequence[str]],
    headings: Sequence[str],
    most: int | None,
    rest: Callable[[int], Sequence[str]],
) -> list[str]:
    """Return the lines of a table with `most` rows, None for all; `rest` returns the first cells of the row for the
    others, which are those from a place on.
    """
    shown = [*lines[:most]]
    left = len(lines) - len(shown)
    if left:
        sums = rest(len(shown))
        empty = [""] * (len(headings) - 1 - len(sums))
        shown.append((*sums, *empty, f"{left} more: a limit of {len(lines)} lists them"))
    return table(shown, headings)


def in_camel_case(record: Record) -> Record:
    """Return a record with the names of JSON's keys."""
    return {_camel(key): value for key, value in record.items()}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return "".join([first, *map(str.capitalize, others)])
