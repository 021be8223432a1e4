"""A Comparison as text for people, with its origins as diagnostics in the text of the new program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, named
from miltext.checking.verifier import Checked
from miltext.diagnostics import Diagnostic, Note, codes, render, visible
from miltext.syntax.names import name_text

if TYPE_CHECKING:
    from miltext.evaluation.comparing.comparison import ComparedValue, Comparison, FirstOddity, Origin
    from miltext.evaluation.comparing.measures import Measure


LISTED = 10
"""Number of inner values listed unless `full`, and of origins."""

WARNED = 3
"""Number of origins reported if no output fell."""

LOUD = 20.0
"""The least reported loss in dB; rounding alone loses less."""

MANY = 0.1
"""The least reported share of vanished elements; a few small ones always become 0."""

LISTED_NAMES = 4
"""The number of named inputs of an origin, the worst ones, and of operations before it."""

COLORS = {"!": "31", "@": "1", "#": "35"}
"""ANSI codes for fallen values, headings and notes."""

SIDES = {"old": "the old program", "new": "the new one"}


def render_text(comparison: Comparison, color: bool, full: bool) -> str:
    """Return a Comparison as text; long lists are cut unless `full`."""
    lines = [_colored(f"--- {comparison.old}", "@", color), _colored(f"+++ {comparison.new}", "@", color)]
    lines += [_colored(f"# {visible(note)}", "#", color) for note in (*_seed(comparison), *comparison.notes)]
    lines += _origins(comparison, full)
    lines += [_oddity(each) for each in _by_kind(comparison.oddities)]
    fallen = sum(output.fell for output in comparison.outputs)
    lost = f", {len(comparison.lost)} only in {SIDES['old']}" if comparison.lost else ""
    head = f"{_count(len(comparison.outputs), 'output')}, {_below(fallen, comparison.outputs)}{lost}"
    lines.append(_colored(head, "@", color))
    lines += _table(comparison.outputs, color)
    lines += _values(comparison, color, full)
    return "".join(f"{line}\n" for line in lines)


def _seed(comparison: Comparison) -> Iterator[str]:
    """Yield a note about random inputs: with others, values may differ."""
    if comparison.seed is not None:
        yield f"random inputs, with the seed {comparison.seed}"


def _colored(text: str, sign: str, color: bool) -> str:
    return f"\x1b[{COLORS[sign]}m{text}\x1b[0m" if color and sign in COLORS else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _are(number: int) -> str:
    return f"{number} {'is' if number == 1 else 'are'}"


def _below(number: int, values: Sequence[ComparedValue]) -> str:
    """Return the number of values that fell, and their thresholds."""
    thresholds = _thresholds(values)
    if len(thresholds) == 1:
        return f"{number or 'none'} below {_decibel(thresholds[0])}"
    *least, most = thresholds
    return f"{number or 'none'} below {', '.join(f'{each:.1f}' for each in least)} or {_decibel(most)}"


def _thresholds(values: Iterable[ComparedValue]) -> list[float]:
    """Return the thresholds of values that differ, or of all if none does, in order."""
    values = list(values)
    measured = [each for each in values if each.measure.level < math.inf]
    return sorted({each.min_snr for each in measured or values})


# ---- where values fell


def located(comparison: Comparison, origins: Sequence[Origin]) -> Checked:
    """Return the diagnostics of origins, in their order, and the text that they point into."""
    findings = [_finding(origin) for origin in origins]
    reported = comparison.locate(findings) if comparison.locate and findings else Checked([], None)
    by_message = {found.message: found for found in reported.diagnostics}
    diagnostics = [
        by_message.get(each.message, Diagnostic(each.severity, each.code, each.message))._replace(
            notes=tuple(map(Note, _reasons(origin)))
        )
        for each, origin in zip(findings, origins, strict=True)
    ]
    return Checked(diagnostics, reported.text)


def _origins(comparison: Comparison, full: bool) -> Iterator[str]:
    origins = comparison.origins
    shown = origins if full else origins[: WARNED if comparison.ok else LISTED]
    found = located(comparison, shown)
    yield from (render(diagnostic, found.text, comparison.new) for diagnostic in found.diagnostics)
    if len(origins) > len(shown):
        yield f"... and {_count(len(origins) - len(shown), 'more value')}that fell while their inputs did not"
    steepest = comparison.steepest
    if steepest and steepest.value.lost > LOUD and not any(each.value == steepest.value for each in origins):
        yield (
            f"most is lost at {named(steepest.value.name)} ({_maker(steepest.value)}): {steepest.value.lost:.1f} dB, "
            f"to {_decibel(steepest.measure.level)}"
        )


def _finding(origin: Origin) -> Finding:
    severity = "error" if origin.reaches_output else "warning"
    message = f"{named(origin.value.name)} ({_maker(origin.value)}) {_fall(origin)}"
    return Finding(origin.path, codes.TOO_FAR, message, severity=severity)


def _maker(value: ComparedValue) -> str:
    return value.operation or "input"


def _fall(origin: Origin) -> str:
    measure = origin.measure
    run = f" in run {origin.turn + 1}" if origin.turn else ""
    if measure.misfit:
        return f"cannot be compared{run}: {measure.misfit}"
    if measure.snr is None:
        return f"differs in {_differing(measure)}{run}"
    return f"falls to {_decibel(measure.snr)}{run}, below {_decibel(origin.value.min_snr)}{_though(origin.inputs)}"


def _though(inputs: Sequence[tuple[str, float]]) -> str:
    """Return the clause about the precision of a value's inputs, if any."""
    worst = min((level for _, level in inputs), default=None)
    if worst is None:
        return ""
    return "; its inputs are the same" if worst == math.inf else f"; its inputs have {_decibel(worst)} or more"


def _differing(measure: Measure) -> str:
    return f"{round((1 - measure.equal) * measure.count)} of {_count(measure.count, 'element')}"


def _reasons(origin: Origin) -> Iterator[str]:
    """Yield further facts of a fall."""
    value, measure = origin.value, origin.measure
    if value.old_operation not in (value.operation, ""):
        yield f"the reference is made by `{value.old_operation}`"
    for names, which in ((origin.between, "new"), (origin.removed, "old")):
        if names:
            more = len(names) - LISTED_NAMES
            listed = f"{', '.join(names[:LISTED_NAMES])}{f' and {more} more' if more > 0 else ''}"
            yield f"before it, only the {which} program has {listed}"
    counts = ((measure.infinities, "infinite"), (measure.nans, "NaN"))
    reported = [f"{_are(new)} {what}, and {old} of the reference" for (old, new), what in counts if old != new]
    vanished = measure.vanished if measure.vanished >= MANY * measure.count else 0
    reported += [f"{_are(vanished)} 0, and not in the reference"] if vanished else []
    if reported:
        yield f"of {_count(measure.count, 'element')}, {'; '.join(reported)}"
    worst = sorted(origin.inputs, key=lambda each: each[1])
    if len(worst) > 1 and worst[0][1] < math.inf:
        yield f"its inputs: {', '.join(f'{name} {_decibel(level)}' for name, level in worst[:LISTED_NAMES])}"


# ---- NaN and infinity


def _by_kind(oddities: Sequence[FirstOddity]) -> list[FirstOddity]:
    """Return the oddities in order, the two sides of a kind together."""
    return sorted(oddities, key=lambda each: (each.kind, each.side != "old"))


def _oddity(each: FirstOddity) -> str:
    run = f", run {each.turn + 1}" if each.turn else ""
    maker = each.operation or "input"
    return (
        f"{each.kind} first comes from {named(each.name)} ({maker}{run}) in {SIDES[each.side]}: "
        f"{_count(each.count, 'element')}"
    )


# ---- tables


def _values(comparison: Comparison, color: bool, full: bool) -> Iterator[str]:
    values = comparison.values
    if not values:
        return
    fallen = sum(value.fell for value in values)
    yield _colored(f"{_count(len(values), 'inner value')}, {_below(fallen, values)}", "@", color)
    if full:
        yield from _table(values, color)
        return
    worst = sorted((each for each in values if each.measure.level < math.inf), key=lambda each: each.measure.level)
    yield from _table(worst[:LISTED], color)
    if len(worst) > LISTED:
        yield f"    ... the {LISTED} worst of {len(worst)} that differ"


def _table(values: Iterable[ComparedValue], color: bool) -> Iterator[str]:
    values = list(values)
    if not values:
        return
    rows: list[tuple[str, ...]] = [("", "name", "operation", "type", "SNR", "max difference", "cosine", "")]
    rows += [_row(value) for value in values]
    if len(_thresholds(values)) > 1:
        least = ["at least", *("" if each.measure.snr is None else _decibel(each.min_snr) for each in values)]
        rows = [(*row[:5], each, *row[5:]) for row, each in zip(rows, least, strict=True)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row[1:], widths[1:], strict=True)).rstrip()
        yield _colored(f"  {row[0] or ' '} {line}", row[0], color)


def _row(value: ComparedValue) -> tuple[str, ...]:
    measure = value.measure
    snr = "-" if measure.snr is None else _decibel(measure.snr)
    maximum = "-" if measure.maximum is None else f"{measure.maximum:.3g}"
    cosine = "-" if measure.cosine is None else f"{measure.cosine:.6f}"
    name, kind = visible(name_text(value.name)), value.type
    if value.name != value.old_name:
        name += f" (was {visible(name_text(value.old_name))})"
    if value.type != value.old_type and value.old_type and not measure.misfit:
        kind += f" (was {value.old_type})"
    return "!" if value.fell else "", name, _maker(value), kind, snr, maximum, cosine, _remark(value)


def _remark(value: ComparedValue) -> str:
    measure = value.measure
    reported = [measure.misfit] if measure.misfit else []
    if measure.snr is None and not reported:
        reported.append("all equal" if measure.equal == 1 else f"{_differing(measure)} differ")
    reported += [f"{new} NaN against {old}" for old, new in [measure.nans] if old != new]
    reported += [f"{new} infinite against {old}" for old, new in [measure.infinities] if old != new]
    reported += [f"run {value.turn + 1}"] if value.turn else []
    return ", ".join(reported)


def _decibel(level: float) -> str:
    return f"{level:.1f} dB" if math.isfinite(level) else f"{level} dB"
