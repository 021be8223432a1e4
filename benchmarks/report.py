"""Results as tables, for a terminal and for docs/performance.md alike, and as JSON."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.protobuf.internal import api_implementation

from benchmarks.reach import REACHES, Reach

if TYPE_CHECKING:
    from benchmarks.measure import Result, Spread

Results = Mapping[str, "Result"]

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("protobuf", "lark", "numpy", "coremltools", "torch", "onnx", "xdsl")


def _duration(cost: float) -> str:
    for limit, factor, unit in ((1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if cost < limit:
            return f"{_figure(cost * factor)} {unit}"
    return f"{_figure(cost)} s"


def _figure(number: float) -> str:
    """Round to three significant digits, or to a whole number if it has more."""
    return f"{number:.0f}" if number >= 100 else f"{number:#.3g}"


UNITS: dict[str, Callable[[float], str]] = {
    "run": _duration,
    "operation": _duration,
    "byte": lambda cost: f"{_figure(1e-6 / cost)} MB/s",
    "element": lambda cost: f"{_figure(1e-6 / cost)} M/s",
    "memory": lambda cost: f"{_figure(cost * 1e-6)} MB",
}
"""How each unit's costs are shown: of a run, an operation, a byte of text, an element, or in memory."""

RATES = ("byte", "element")
"""Units whose figures fall as the cost grows."""

REACH_HEAD = ("what", "reach", "measured", "quartiles", "warm", "holds")


def table(rows: Sequence[Sequence[str]]) -> str:
    """Make a table in Markdown from its head and its rows; all columns but the first are numbers."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = ["-" * widths[0], *(f"{'-' * (width - 1)}:" for width in widths[1:])]
    lines = [
        " | ".join(f"{cell:{'>' if column else '<'}{widths[column]}}" for column, cell in enumerate(row))
        for row in (rows[0], rule, *rows[1:])
    ]
    return "".join(f"| {line} |\n" for line in lines)


def result_table(result: Result) -> str:
    """Show one contest: the cost of each contender, and its ratio to the first one's."""
    show, first = UNITS[result.unit], next(iter(result.costs))
    rows = [(result.contest, "median", "quartiles", "to the first's", "quartiles")]
    for name in result.costs:
        cost, ratio = result.cost(name), result.ratio(name, first)
        if cost is None or ratio is None:
            rows.append((name, "not installed", "", "", ""))
        else:
            ends = sorted((cost.low, cost.high), reverse=result.unit in RATES)
            rows.append((name, show(cost.median), " - ".join(map(show, ends)), *_shown(ratio, "x")))
    return table(rows)


def _shown(spread: Spread, unit: str) -> tuple[str, str]:
    return f"{_figure(spread.median)}{unit}", f"{_figure(spread.low)} - {_figure(spread.high)}"


def reach_table(results: Results) -> str:
    """Show each reach beside what was measured, for the contests that were run."""
    return table([REACH_HEAD, *_reach_rows(results)])


def _reach_rows(results: Results) -> list[tuple[str, ...]]:
    return [_reach_row(reach, results[reach.contest]) for reach in REACHES if reach.contest in results]


def _reach_row(reach: Reach, result: Result) -> tuple[str, ...]:
    cold, warm = reach.cold(result), reach.warm and reach.warm(result)
    head = (reach.what, f"{'>=' if reach.at_least else '<='} {reach.limit:g}{reach.unit}")
    if cold is None:
        return (*head, "not installed", "", "", "")
    holds = "yes" if reach.holds(cold) else "no"
    return (*head, *_shown(cold, reach.unit), _shown(warm, reach.unit)[0] if warm else "", holds)


def environment() -> dict[str, str]:
    """Describe the machine and what is installed on it."""
    facts = {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "miltext": _checkout() or _installed("miltext"),
    }
    if hasattr(os, "getloadavg"):
        facts["load"] = f"{os.getloadavg()[0]:.1f} when the run began"
    facts |= {package: _installed(package) for package in PACKAGES}
    facts["protobuf"] += f" ({api_implementation.Type()})"
    return facts


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    lines = information.read_text(encoding="utf-8").splitlines() if information.exists() else []
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _checkout() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    described = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return f"checkout {described}" if described else ""


TEXT_CONTESTS = (": parse", ": print")
"""The endings of contests in parsing and printing; the others have a section of their own, for a page of the site."""


def markdown(facts: dict[str, str], results: Results) -> str:
    """Show everything, as docs/performance.md has it."""
    machine = table([("what", "which"), *facts.items()])
    texts = [result_table(each) for name, each in results.items() if name.endswith(TEXT_CONTESTS)]
    others = [result_table(each) for name, each in results.items() if not name.endswith(TEXT_CONTESTS)]
    folded = (
        ("The targets", "The targets, and the measured figures", reach_table(results)),
        ("The machine", "The machine of the measurements, and the versions of the peers", machine),
        ("Parsing and printing", f"The figures of the {len(texts)} contests in parsing and printing", "\n".join(texts)),
        ("Other contests", f"The figures of the {len(others)} other contests", "\n".join(others)),
    )
    return "\n".join(f"## {title}\n\n{_folded(summary, tables)}" for title, summary, tables in folded)


def _folded(summary: str, tables: str) -> str:
    """Return tables that a reader unfolds, on GitHub and, told that Markdown is inside, on the site."""
    return f'<details markdown="1">\n<summary>{summary}</summary>\n\n{tables}\n</details>\n'


def as_json(facts: dict[str, str], results: Results) -> dict[str, Any]:
    """Collect everything, with every round's figure: costs in seconds (or bytes) for one unit."""
    contests = [{"contest": result.contest, "unit": result.unit, "costs": result.costs} for result in results.values()]
    reaches = [dict(zip(REACH_HEAD, row, strict=True)) for row in _reach_rows(results)]
    return {"environment": facts, "contests": contests, "reaches": reaches}
