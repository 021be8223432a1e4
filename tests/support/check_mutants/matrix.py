"""The mutants' verdicts as a table, and the figures that follow from it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from support.check_mutants.drafts import RESULTS
from support.check_mutants.judging import TOLD, UNKNOWN, VERDICTS

Row = dict[str, Any]

VALUES_AND_SHAPES = (
    "axes",
    "rank of a constant",
    "rank of an operand",
    "shape of an operand",
    "shape of a constant",
    "strides, dilations, kernel, groups",
    "strings of a set",
    "slice bounds",
    "target shapes",
    "pads, crops",
    "einsum",
    "counts, indices, perm, others",
)
"""The classes of mistakes in values, ranks and shapes."""

DTYPES = ("data type of an operand", "data type of a constant")


def refused(row: Row) -> bool:
    """Whether coremltools refuses a mutant for something else than a declared type that does not follow."""
    return row["coremltools"] is not None and not row["declared"] and row["verdict"] != UNKNOWN


def table(rows: Iterable[Row], fine: bool = False) -> Iterator[str]:
    """Yield the lines of the matrix: for each class, of coremltools' own refusals, how miltext tells of them.

    The last columns are about what coremltools loads, and about what it cannot load whether right or wrong.
    """
    by_kind = defaultdict[str, Counter[str]](Counter)
    for row in rows:
        name = f"{row['kind']}: {row['label']}" if fine else row["kind"].partition(": ")[0]
        if row["declared"]:
            name = "(declared types, broken)" if name == "declared type" else "(declared types of other mutants)"
        by_kind[name][row["verdict"]] += 1
        by_kind["all"][row["verdict"]] += 1
    yield "\t".join(["class", "mutants", *VERDICTS])
    for name in sorted(by_kind, key=_order):
        counts = by_kind[name]
        yield "\t".join([name, str(counts.total()), *(str(counts[each] or ".") for each in VERDICTS)])


def _order(name: str) -> tuple[int, str]:
    head = name.partition(": ")[0]
    if head in VALUES_AND_SHAPES:
        return VALUES_AND_SHAPES.index(head), name
    return (len(VALUES_AND_SHAPES) + (name == "all"), name)


def share(rows: Iterable[Row], kinds: Iterable[str] | None = None) -> tuple[int, int]:
    """Return how many of coremltools' own refusals are told, of those in some classes, and how many there are."""
    classes = None if kinds is None else set(kinds)
    counted = [row for row in rows if refused(row) and (classes is None or row["kind"] in classes)]
    return sum(row["verdict"] == TOLD for row in counted), len(counted)


def markdown(rows: list[Row]) -> str:
    """Return a table of what is told of coremltools' own refusals, by class, for the docs."""
    others = {row["kind"] for row in rows} - {*VALUES_AND_SHAPES, *DTYPES}
    groups: list[tuple[str, Iterable[str] | None]] = [(kind, [kind]) for kind in VALUES_AND_SHAPES]
    groups += [("values, ranks and shapes in all", VALUES_AND_SHAPES), ("data types", DTYPES)]
    groups += [("names, parameters, opsets, blocks", others), ("all", None)]
    lines = ["| class | refused by coremltools | reported with the cause | share |", "|---|---:|---:|---:|"]
    for name, kinds in groups:
        told, whole = share(rows, kinds)
        lines.append(f"| {name} | {whole} | {told} | {100 * told / max(1, whole):.2f} % |")
    return "\n".join(lines)


def figures(rows: list[Row]) -> Iterator[str]:
    """Yield the figures; the last one is that of values, ranks and shapes."""
    drafts = Counter(row["draft"] for row in rows if "draft" in row)
    if drafts:
        yield "drafts: " + ", ".join(f"{drafts[result]} {result}" for result in RESULTS)
    yield _figure("told of coremltools' own refusals", share(rows))
    yield _figure("of these, of data types", share(rows, DTYPES))
    yield _figure("of these, of values, ranks and shapes", share(rows, VALUES_AND_SHAPES))


def _figure(name: str, told: tuple[int, int]) -> str:
    part, whole = told
    return f"{name}: {part} of {whole}, {100 * part / max(1, whole):.2f} %"
