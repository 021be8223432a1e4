"""Put faults into transformers with masked attention, and count which `compare` reports first.

The networks are two encoders and two decoders, converted from torch in fp32 and fp16, with masks of -1e4, -65504 and
-inf. A fault is the type, an attribute or a weight of one operation, on the way of queries, keys or values, in the
mask, or after the softmax. A network is held against itself with the fault, and with --across the network in fp32
against the faulty one in fp16. The exit code is 1 if fewer than 98 % of the faults that are reported have the first
place. The script needs the tests' requirements, torch and coremltools: `python scripts/try_compare.py`.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.attention_faults import Fault, faults
from support.attention_networks import MASKS, NETWORKS, Converted, converted

from miltext import compare

if TYPE_CHECKING:
    from miltext import Comparison

FIRST, LATER, MISSED, NONE = "first", "later", "missed", "without effect"
PRECISIONS = ("fp32", "fp16")
LEAST = 0.98
"""The share of faults that have to be reported first."""


@click.command()
@click.option("--across", is_flag=True, help="Hold fp32 against the fault in fp16, instead of each against itself.")
@click.option("--each", default=1, help="Only every so many-th fault.  [1]")
@click.option("--network", "chosen", type=click.Choice(list(NETWORKS)), multiple=True, help="Only this network.")
@click.option("--mask", "masks", type=click.Choice(list(MASKS)), multiple=True, help="Only this mask.")
@click.option("--precision", "kinds", type=click.Choice(PRECISIONS), multiple=True, help="Only in this precision.")
@click.option("--all", "full", is_flag=True, help="Print all faults that are not reported first.")
def main(
    across: bool, each: int, chosen: tuple[str, ...], masks: tuple[str, ...], kinds: tuple[str, ...], full: bool
) -> None:
    """Print how many faults are reported first, by network, mask and way, and those that are not."""
    logging.disable(logging.ERROR)
    counts: Counter[tuple[str, str]] = Counter()
    numbers: Counter[int] = Counter()
    precisions = [("fp32", "fp16")] if across else [(kind, kind) for kind in kinds or PRECISIONS]
    for label, old, new in _pairs(chosen or tuple(NETWORKS), masks or tuple(MASKS), precisions):
        for fault in list(faults(new.program))[::each]:
            outcome, comparison = _tried(fault, old, new)
            for row in (label, f"way: {fault.way}", "all"):
                counts[row, outcome] += 1
            if outcome == FIRST:
                numbers[sum(origin.reaches_output for origin in comparison.origins) or 1] += 1
            if full and outcome in (LATER, MISSED):
                reported = [(origin.value.name, origin.value.operation) for origin in comparison.origins[:3]]
                print(f"{label}: {fault.way}, {fault.kind} of {fault.name}: {outcome}, {reported}", flush=True)
    for row in dict.fromkeys(row for row, _ in counts):
        print(f"{row:<38}", *(f"{counts[row, outcome]:>6} {outcome}" for outcome in (FIRST, LATER, MISSED, NONE)))
    print("origins of one fault, where it is first:", dict(sorted(numbers.items())))
    known = sum(counts["all", outcome] for outcome in (FIRST, LATER, MISSED))
    print(f"{counts['all', FIRST] / max(1, known):.1%} of {known} are first")
    sys.exit(counts["all", FIRST] < LEAST * known or not known)


def _pairs(
    names: tuple[str, ...], masks: tuple[str, ...], precisions: list[tuple[str, str]]
) -> Iterator[tuple[str, Converted, Converted]]:
    """Yield networks to compare, with a label: the old one, and that which faults are put into."""
    for name in names:
        for mask in masks:
            used = {each for pair in precisions for each in pair}
            made = {precision: converted(name, MASKS[mask], precision) for precision in used}
            for old, new in precisions:
                yield f"{name}, {mask}, {new}", made[old], made[new]


def _tried(fault: Fault, old: Converted, new: Converted) -> tuple[str, Comparison]:
    program, names = fault.put_in(new.program)
    comparison = compare(old.program, program, new.inputs)
    reported = [origin.value.name for origin in comparison.origins]
    if not reported:
        return NONE if comparison.ok else MISSED, comparison
    if reported[0] in names:
        return FIRST, comparison
    return LATER if names & {*reported} else MISSED, comparison


if __name__ == "__main__":
    main()
