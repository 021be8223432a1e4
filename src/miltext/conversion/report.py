"""The losses of a conversion, reported to people and to programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from miltext.conversion.contents import ConvertedConstant
    from miltext.conversion.converting import Conversion
    from miltext.diagnostics.dynamic import Record

FORM = 1
"""The version of the JSON form, which changes when readers would break."""

SHOWN = 10
"""The number of constants listed without `full`."""

HEADINGS = ("name", "shape", "error", "relative", "zeros", "subnormal", "raised", "clamped")
COUNTS = {
    "zeros": "became 0",
    "subnormals": "became subnormal",
    "raised": "became 5.96e-08, the least of fp16, and not 0",
    "clamped": "stood for an infinity, and became the greatest of fp16, 65504",
}


def render_text(conversion: Conversion, *, full: bool) -> str:
    """Return a table of the losses of constants, the greatest first, and a summary."""
    lost = [change for change in conversion.changes if change.loss.absolute or change.loss.clamped]
    if not full:
        lost = sorted(lost, key=lambda change: -change.loss.absolute)[:SHOWN]
    lines = _table([HEADINGS, *map(_row, lost)]) if lost else []
    hidden = sum(1 for change in conversion.changes if change.loss.absolute or change.loss.clamped) - len(lost)
    lines += [f"and {hidden} more; the full report lists them"] * bool(hidden)
    return "".join(f"{line}\n" for line in [*lines, *_summary(conversion)])


def _summary(conversion: Conversion) -> list[str]:
    old = "fp16" if conversion.to == "fp32" else "fp32"
    number = sum(not change.compressed for change in conversion.changes)
    if not number:
        return [f"no constants of {old}: no numbers were converted"]
    counted = f"{number} constant{'s' * (number != 1)}"
    stored = f", weight files: {conversion.before:,} -> {conversion.after:,} bytes" if conversion.before else ""
    lines = [f"{counted}: {old} -> {conversion.to}{stored}"]
    largest = conversion.largest
    if largest is None:
        lines.append("every number is exact")
    else:
        share = f" ({100 * largest.loss.share:.3g} %)" if largest.loss.at else ""
        most = "at most " * largest.compressed
        lines.append(f"largest error {most}{largest.loss.absolute:.3g}{share} in {largest.name}")
    if any(change.compressed for change in conversion.changes):
        lines.append("errors of compressed weights are bounds, for the greatest numbers that their data can have")
    for name, saying in COUNTS.items():
        if count := sum(getattr(change.loss, name) for change in conversion.changes):
            lines.append(f"{count} number{'s' * (count != 1)} {saying}")
    return lines


def _row(change: ConvertedConstant) -> tuple[str, ...]:
    loss = change.loss
    shape = "x".join(map(str, change.shape)) or "scalar"
    counts = map(str, (loss.zeros, loss.subnormals, loss.raised, loss.clamped))
    return change.name, shape, f"{loss.absolute:.3g}", f"{100 * loss.relative:.3g} %", *counts


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def record(conversion: Conversion) -> Record:
    """Return a conversion as plain data."""
    return {
        "form": FORM,
        "to": conversion.to,
        "bytes": {"before": conversion.before, "after": conversion.after},
        "largest": None if conversion.largest is None else _record(conversion.largest),
        "constants": [_record(change) for change in conversion.changes],
        "warnings": [{"code": each.code, "message": each.message} for each in conversion.warnings],
    }


def _record(change: ConvertedConstant) -> Record:
    loss = change.loss
    return {
        "name": change.name,
        "function": change.function,
        "shape": list(change.shape),
        "absolute": loss.absolute,
        "at": loss.at,
        "relative": loss.relative,
        "compressed": change.compressed,
        **{name: getattr(loss, name) for name in COUNTS},
    }
