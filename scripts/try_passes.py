"""Test coremltools' passes on generated programs: `nice -n 19 python scripts/try_passes.py --count 2000`.

Each program goes through `miltext.coreml.validate_passes`. Half of the programs have operations of all kinds, the
others only a few, of which passes look for half. Reports with the same pass, kind and reduced operations are
one. The script prints each with the seed of its first program, and whether it is KNOWN. Its exit code is 1 if a report
is new, is not confirmed by coremltools, or has more than MOST operations.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import click

from miltext.coreml import validate_passes
from miltext.diagnostics import MiltextError
from miltext.generation.options import NOT_GENERATED, Options
from miltext.generation.programs import generate
from miltext.rewriting.random_operations import is_random
from miltext.schema.operations import all_names
from miltext.schema.walk import is_constant

if TYPE_CHECKING:
    from miltext.pass_validation.reports import PassReport
    from miltext.schema.proto import Program

MOST = 10
"""The most operations of a reduced program."""

FEW = 4
"""The number of operations of both kinds that every second program chooses from: of all, and of SOUGHT."""

SOUGHT = (
    "add", "cast", "concat", "conv", "expand_dims", "floor_div", "gather", "identity", "leaky_relu", "linear", "matmul",
    "mul", "pad", "pow", "prelu", "real_div", "reduce_max", "reduce_mean", "reduce_sum", "relu", "reshape",
    "slice_by_index", "split", "squeeze", "stack", "sub", "tile", "transpose",
)  # fmt: skip
"""Operations that passes look for."""

Kind: TypeAlias = tuple[str, str, tuple[str, ...]]
"""The pass, the kind of fault, and the operations of the reduced program, sorted."""

KNOWN = {
    ("common::add_fp16_cast", "raised", "classify"): "coremltools adds `classify` after the passes",
    ("common::add_int16_cast", "numbers", ""): "negative numbers are cast to uint16",
    ("common::fuse_conv_bias", "numbers", "conv"): "the constant of a `sub` is negated in place, for other uses, too",
    ("common::fuse_conv_bias", "raised", "conv"): "the bias of `sub` has another data type",
    ("common::fuse_stack_split", "raised", "split"): "an output of a split goes to another operation than squeeze",
    ("common::merge_consecutive_reshapes", "raised", "reshape"): "a reshape is used in an inner block",
    ("common::noop_elimination", "numbers", "floor_div"): "a division by 1 rounds down",
    ("common::noop_elimination", "numbers", "resize_bilinear"): "OFFSET_CORNERS mixes neighbours, also for equal sizes",
    ("common::reduce_transposes", "raised", "transpose"): "a reduction has no axes",
    ("common::remove_redundant_ops", "numbers", "write_state"): "a write between two equal ones is overlooked",
    ("common::select_optimization", "invalid", "select"): "value inference of a reduction raises with numpy 2.4",
}
"""The reasons of reports of coremltools 9.0, by the pass, the kind and an operation of the program, or ""."""


@click.command()
@click.option("--count", default=2000, help="The number of programs.  [2000]")
@click.option("--first", default=0, help="The first seed.  [0]")
@click.option("--full", is_flag=True, help="Print each new report in full.")
def main(count: int, first: int, full: bool) -> None:
    """Validate the passes on programs of some seeds, and print the reports."""
    began = time.monotonic()
    found: dict[Kind, list[tuple[int, PassReport]]] = {}
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        for kind, report in _reports(seed, counts):
            if full and kind not in found:
                print(f"---- seed {seed}\n{report.to_text()}", flush=True)
            found.setdefault(kind, []).append((seed, report))
    is_wrong = False
    for kind, reports in sorted(found.items()):
        is_wrong = _show(kind, reports) or is_wrong
    for reason, number in counts.most_common():
        print(f"{number:5} {reason}")
    print(f"seeds {first} to {first + count - 1}: {len(found)} kinds of reports, {time.monotonic() - began:.0f} s")
    sys.exit(is_wrong)


def program_of(seed: int) -> Program:
    """Return the program of a seed."""
    drawn = random.Random(seed)
    functions = 1 + seed % 4 // 2
    if seed % 2 == 0:
        return generate(seed, Options(functions=functions, ops=(1, 30)))
    names = [name for name in all_names() if name not in NOT_GENERATED and not is_constant(name)]
    names = [name for name in names if not is_random(name)]
    made = None
    chosen = [*drawn.sample(names, FEW), *drawn.sample(SOUGHT, FEW)]
    while made is None:  # some operations cannot be generated without others
        with suppress(MiltextError):
            made = generate(seed, Options(functions=functions, ops=(1, 30), operations=tuple(dict.fromkeys(chosen))))
        chosen[:FEW] = drawn.sample(names, FEW)
    return made


def _reports(seed: int, counts: Counter[str]) -> Iterator[tuple[Kind, PassReport]]:
    """Yield the reports of a program, and count it."""
    done = validate_passes(program_of(seed))
    counts["not loaded" if done.not_loaded else "loaded"] += 1
    if done.not_loaded:
        counts[f"not loaded: {done.not_loaded.partition(': ')[0]} {done.not_loaded.rpartition(', at ')[2]}"] += 1
    for note in done.notes:
        counts[f"note: {note.partition('`')[0]}... {note.rpartition('`: ')[2][:60]}"] += 1
    for report in done.reports:
        yield (report.pass_name, report.kind, tuple(sorted(report.op_types))), report


def _show(kind: Kind, reports: list[tuple[int, PassReport]]) -> bool:
    """Print the reports of a kind in a line; return whether they are new, not confirmed or too large."""
    name, fault, operations = kind
    seed, first = reports[0]
    confirmed = sum(report.confirmed for _, report in reports)
    known = next((KNOWN[name, fault, each] for each in (*operations, "") if (name, fault, each) in KNOWN), "")
    is_large = len(operations) > MOST
    words = ["NEW"] * (not known) + ["LARGE"] * is_large + ["UNCONFIRMED"] * (confirmed < len(reports))
    print(f"{name} | {fault} | {' '.join(operations)} | {confirmed} of {len(reports)} confirmed | seed {seed}", end="")
    print(f" | {first.message[:150]} | {' '.join(words) or f'known: {known}'}")
    if not first.confirmed:
        print(f"      {first.confirmation}")
    return bool(words)


if __name__ == "__main__":
    main()
