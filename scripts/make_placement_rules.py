"""Make src/miltext/placement/rules.tsv, the rules of profiles, from measurements; `--check` fails if it is stale.

`--evaluate` asks the rules about the measured operations: all rules about all, and the rules of the first folder alone
about the second. The measurements are in the folder `ane` beside the corpus that MILTEXT_CORPUS names; without them,
nothing is made.

A row with Apple's refusal is written by hand below, with its source; the script counts the cases that decide it, and
fails if an operation that is taken fits. A row of a supported operation is made from the cases: the data types, ranks
and words that were measured, numbers up to the largest that was measured, and the limits below.
"""

from __future__ import annotations

import csv
import os
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from generated import settle

import miltext
from miltext.dumps.texts import read_dump
from miltext.ir.graph import Graph
from miltext.placement.features import Features, Word, features_of
from miltext.placement.predicting import message_of
from miltext.placement.rules import ANY, COLUMNS, FILE, REFUSED, SUPPORTED, UNKNOWN, Rule, answering

CHIP, SYSTEM = "M4", "macOS 27.0.1"
FOLDERS = ("placement", "placement-2")
STUDY = "751K/Apple-Neural-Engine-Microarchitecture-Study-M6"
DISPATCH = "data/03_compile/opdispatch"
LIMITS = "final_report, sections 3.3 and 3.4"
SIZE = 65536
"""The largest size of a dimension, in Apple's own words; the study measured 65536 and 65537."""

ELEMENTS = 64 * 64 * 32 * 32
"""The most elements of a tensor: a batch of 64, which the study states, of its usual tensors, [1, 64, 32, 32]."""

TOOL = (
    Path(os.environ.get("MILTEXT_CORPUS") or Path(__file__).resolve().parents[2] / "shared" / "corpus").parent / "ane"
)


class Measured(NamedTuple):
    """A measured operation: whether the Neural Engine takes it, and Apple's reason where it was read."""

    folder: str
    case: str
    output: str
    operation: str
    features: Features
    names: dict[str, str]
    taken: bool
    reason: str


class Refusal(NamedTuple):
    """A row that is written by hand; `is_stated` if a source states its limit, beyond the cases."""

    operation: str
    when: str
    message: str
    fix: str
    source: str
    is_stated: bool = False


DUMPS = "analytics.mil"
"""The source of a message that was read in dumps."""

FP16_INDEX = "compute in fp16, or keep it on the CPU and cast to fp16 once, at the border"
OTHER_OPERATION = "write it with operations that are taken, or accept the CPU"
SMALLER_KERNEL = "split the kernel: two convolutions of smaller kernels, one after the other"

REFUSALS = (
    # operations that have no form on the Neural Engine, whatever the types: the sentence names the operation
    *(
        Refusal(name, "", f'Unsupported MIL operation "{name}".', OTHER_OPERATION, DUMPS)
        for name in (
            "acos acosh asin asinh atanh band_part cosh cumsum gru lstm mod non_zero one_hot random_normal reduce_prod "
            "rnn scatter_along_axis sinh tan"
        ).split()
        if name not in ("acosh", "asinh")  # not measured
    ),
    Refusal("sliding_windows", "", "MIL converter not implemented.", OTHER_OPERATION, DUMPS),
    Refusal(
        "scatter", "", "scatter MIL op is currently only supported on uANE targets (u1-u4)", OTHER_OPERATION, DUMPS
    ),
    # operations with sentences of their own about int32
    Refusal(
        "reduce_argmax", "out is int32", "Output type int32 is not supported.",
        "keep it last, so that one segment ends there", DUMPS,
    ),
    Refusal(
        "crop_resize", "box_indices.type is int32",
        'type int32 for "box_indices" is not supported. only support UInt16.', "give the indices as uint16", DUMPS,
    ),
    Refusal(
        "greater_equal", "in is int32; computed is x; y.rank in 0", 'Unable to resolve operation input "y".',
        FP16_INDEX, DUMPS,
    ),
    Refusal(
        "add", "in is int32; computed is x; y.rank >= 1", 'Failed to extract constant value "add"', FP16_INDEX, DUMPS
    ),
    Refusal(
        "range_1d", "in is int32; computed is end", "Failed to retrieve parameter start",
        "give the range as a constant", DUMPS,
    ),
    Refusal(
        "slice_by_size", "in has int32; computed has begin",
        'Op "{output}_4D454D5F4F5054__@cast_scale" is connected to an invalid live-in "{begin}": '
        "Unsupported tensor data type: int32",
        "give begin as a constant", DUMPS,
    ),
    Refusal(
        "gather", "computed has indices; in has int16", "Unsupported gather index type",
        "give the indices as a constant, or use gather_along_axis", DUMPS,
    ),
    # limits of sizes
    Refusal(
        "conv", "square is true; kernel_width >= 17; strides in 1; dilations in 1; groups in 1",
        "Error: conv with large kernel does not meet decomposition preconditions", SMALLER_KERNEL, LIMITS, True,
    ),
    Refusal(
        "conv", "kernel_height in 1; kernel_width >= 16; strides in 1; dilations in 1; groups in 1",
        "Error: conv with large kernel does not meet decomposition preconditions", SMALLER_KERNEL, LIMITS, True,
    ),
    Refusal(
        "conv", "kernel_width in 1; kernel_height >= 32; strides in 1; dilations in 1; groups in 1",
        "Error: conv with large kernel does not meet decomposition preconditions", SMALLER_KERNEL, LIMITS, True,
    ),
    Refusal(
        "max_pool", "kernel_width >= 9; kernel_width <= 31",
        "Invalid Pool kernel width ({kernel_width}), must be [1-8] or 32.",
        "pool in steps of at most 8 columns", DUMPS, True,
    ),
    Refusal(
        "max_pool", "kernel_width >= 33", "Invalid Pool kernel width ({kernel_width}), must be [1-8] or 32.",
        "pool in steps of at most 8 columns", DUMPS, True,
    ),
    Refusal(
        "matmul", "in is fp16; inner >= 32769",
        "Error: the output channel of input A ({inner_bytes} kB) can not fit the Kmem (65536 kB)",
        "split the inner size, and add the products", DUMPS, True,
    ),
    # every operation
    Refusal(ANY, "any has int32", "Unsupported tensor data type: int32", FP16_INDEX, DUMPS, True),
    Refusal(
        ANY, "largest >= 65537",
        "Tensor dimensions {dimensions} are not within supported range, "
        "N[1-65536]D[1-65536]C[1-65536]H[1-65536]W[1-65536].",
        "split the dimension, or fold a part of it into another one", DUMPS, True,
    ),
)  # fmt: skip

PLACES = frozenset("begin end shape output_shape target_size_height target_size_width resized_dims seed".split())
"""The whole numbers that name places and sizes in a tensor, which the sizes of the tensors limit already."""

NOT_CONDITIONS = frozenset(
    "parameters computed in out any weights rank ranks sizes elements largest steps kernel_sizes".split()
)
"""The features with conditions of their own, or without."""

APART = ("pad_type", "mode", "strides", "interpolation_mode", "sampling_mode", "dtype", "axis", "perm")
"""The parameters whose measurements are not put together: each value has its own row."""

RANKS = {"relu": [f"{rank} -> {rank}" for rank in range(1, 6)]}
"""The ranks that the study states beyond the cases; section 3.4."""

LINES = {
    "conv": (
        "square is true; kernel_width <= 16; dilations in 1; groups in 1; strides in 1; pad_type in same",
        "square is true; kernel_width <= 15; dilations in 1; groups in 1; strides in 1; pad_type in valid",
        "kernel_height in 1; kernel_width <= 15; dilations in 1; groups in 1; strides in 1; pad_type in same, valid",
        "kernel_width in 1; kernel_height <= 31; dilations in 1; groups in 1; strides in 1; pad_type in same",
        "square is true; kernel_width in 3; dilations in 1; groups <= 64; strides in 1; pad_type in same",
        "square is true; kernel_width in 3; dilations in 2; groups in 1; strides in 1; pad_type in same",
        "square is true; steps in true; kernel_width <= 8; dilations in 1; groups in 1; pad_type in valid",
        "square is true; kernel_width in 7; dilations in 1; groups in 1; strides in 2; pad_type in same",
    ),
    "max_pool": (
        "square is true; kernel_width <= 8; strides in 1; pad_type in same",
        "kernel_height in 1; kernel_width <= 8; strides in 1; pad_type in same",
        "kernel_width in 1; kernel_height <= 9; strides in 1; pad_type in same",
    ),
}
"""The kernels in two dimensions, as the study measured them and states their limits in sections 3.3 and 3.4: each limit
holds with the other numbers that it was measured with. Strides of 2 to 8 were measured with kernels of the same size.
"""

OF_LINES = frozenset("square kernel_height kernel_width dilations groups strides pad_type".split())


def main() -> None:
    """Write the table, compare it with the file, or evaluate the rules."""
    if not TOOL.is_dir():
        print("the measurements are not there: nothing is made")
        return
    cases = [each for folder in FOLDERS for each in measured(folder)]
    if "--evaluate" in sys.argv:
        evaluate(cases)
        return
    settle(__doc__ or "", [(FILE, text(rows(cases)))])


def text(made: Iterable[Rule]) -> str:
    """Return the table as a text."""
    lines = ["\t".join(COLUMNS), *("\t".join(map(str, row)) for row in made)]
    return "".join(f"{line}\n" for line in lines)


# ---- the measurements


def measured(folder: str) -> Iterator[Measured]:
    """Yield the measured operations of a folder: those of the index, and those of its dumps."""
    with (TOOL / folder / "index.tsv").open(encoding="utf-8", newline="") as file:
        index = [*csv.DictReader(file, delimiter="\t")]
    graphs = {name: Graph(miltext.parse(text)) for name, text in texts(folder, "cases").items()}
    found = {name: {op.outputs[0].name: op for op in graph.walk() if op.outputs} for name, graph in graphs.items()}
    for row in index:
        op = found[f"{row['case']}.mil"][row["output"]]
        assert op.type == row["operation"], row
        reason = row["reason_by_apple"]
        yield Measured(
            folder, row["case"], row["output"], op.type, features_of(op), names_of(op), row["ane"] == "yes", reason
        )


def in_dumps(folder: str) -> Iterator[Measured]:
    """Yield the operations of the dumps of a folder."""
    for name, text in texts(folder, "dumps").items():
        dump = read_dump(text)
        ops = Graph(dump.stated).operations()
        for placed in dump.placed:
            if not placed.is_conversion and placed.supported:
                op = ops[placed.path]
                yield Measured(
                    folder, name, placed.name, op.type, features_of(op), names_of(op), "ane" in placed.supported,
                    placed.reason or "",
                )  # fmt: skip


def names_of(op: object) -> dict[str, str]:
    """Return the words for the braces of a message about an operation."""
    from miltext.placement.predicting import words_of

    return words_of(op)  # type: ignore[arg-type]


def texts(folder: str, kind: str) -> dict[str, str]:
    """Return the texts of an archive by name."""
    with tarfile.open(TOOL / folder / f"{kind}.tar.xz") as archive:
        files = [each for each in archive.getmembers() if each.isfile()]
        return {each.name.partition("/")[2]: archive.extractfile(each).read().decode() for each in files}  # type: ignore[union-attr]


# ---- the rows


def rows(cases: Sequence[Measured], *, stated: bool = True) -> list[Rule]:
    """Return the rows that cases decide, and those whose limits are stated; each with its number of cases."""
    extra = [each for folder in dict.fromkeys(each.folder for each in cases) for each in in_dumps(folder)]
    made = [refused(each) for each in REFUSALS] + [*learned([*cases, *extra])]
    used = Counter[int]()
    folders = defaultdict[int, set[str]](set)
    own = by_operation(made)
    for case in cases:
        row = answering(case.features, case.operation, own)
        if row is None:
            continue
        assert case.taken == (row.answer == SUPPORTED), (case, row)
        used[id(row)] += 1
        folders[id(row)].add(case.folder)
    counted = [row._replace(cases=used[id(row)], folders=", ".join(sorted(folders[id(row)]))) for row in made]
    known = {(each.operation, each.when) for each in REFUSALS if each.is_stated and stated}
    return [row for row in counted if row.cases or (row.operation, row.when) in known or row.answer == SUPPORTED]


def refused(row: Refusal) -> Rule:
    """Return a refusal as a row."""
    source = f"{STUDY}: {row.source if row.source != DUMPS else f'{DISPATCH}/ana'}"
    return Rule(CHIP, SYSTEM, row.operation, REFUSED, row.when, row.message, row.fix, 0, "", source)


def learned(cases: Iterable[Measured]) -> Iterator[Rule]:
    """Yield the rows of supported operations: the cases of one operation with the same types, together."""
    groups = defaultdict[tuple[object, ...], list[Measured]](list)
    taken = [case for case in cases if case.taken]
    for case in taken:
        groups[kind_of(case)].append(case)
    for group in groups.values():
        for when in conditions(group):
            source = f"{STUDY}: {DISPATCH}/plan_iso_cpune.tsv"
            yield Rule(CHIP, SYSTEM, group[0].operation, SUPPORTED, when, "", "", 0, "", source)


def kind_of(case: Measured) -> tuple[object, ...]:
    """Return what cases of one row have in common."""
    features = case.features
    apart = () if has_lines(case) else tuple(features.get(name) for name in APART)
    ranks = None if case.operation in RANKS else features["ranks"]
    return (case.operation, *(features[name] for name in ("computed", "in", "out", "weights")), ranks, *apart)


def has_lines(case: Measured) -> bool:
    """Return whether the kernel of a case is one of those in `LINES`."""
    features = case.features
    return case.operation in LINES and features["computed"] == {"x"} and features["rank"] == {4}


def conditions(group: Sequence[Measured]) -> list[str]:
    """Return the conditions of the rows of a group."""
    first = group[0]
    exact = [f"{name} is {spelled(first.features[name])}" for name in ("computed", "in", "out", "weights")]
    ranks = {*united(group, "ranks"), *RANKS.get(first.operation, ())}
    limits = [
        f"ranks in {spelled(ranks)}",
        "sizes >= 1",
        f"sizes <= {SIZE}",
        f"elements <= {ELEMENTS}",
        f"parameters in {spelled(united(group, 'parameters'))}",
    ]
    names = sorted({name for case in group for name in case.features if name not in NOT_CONDITIONS and "." not in name})
    lines = LINES[first.operation] if has_lines(first) else ("",)
    if has_lines(first):
        names = [name for name in names if name not in OF_LINES]
    own = [atom for name in names if (atom := measured_range(name, first.operation, group))]
    return ["; ".join(filter(None, [*exact, *limits, *own, line])) for line in lines]


def measured_range(name: str, operation: str, group: Sequence[Measured]) -> str:
    """Return the condition on a parameter: the measured words, or the range of the measured numbers."""
    words = united(group, name)
    if not words or name in PLACES:
        return f"{name} >= 0" if words and name in ("begin", "end") else ""
    optional = "" if all(name in case.features for case in group) else "?"
    is_listed = name.startswith("scale_factor") or (operation, name) == ("pow", "y") or operation.startswith("resize")
    if is_listed or all(isinstance(each, str) for each in words):
        return f"{name}{optional} in {spelled(words)}"
    if all(isinstance(each, int) for each in words):
        numbers = sorted(int(each) for each in words)
        return f"{name}{optional} >= {min(numbers[0], 1)}; {name}{optional} <= {numbers[-1]}"
    return ""


def united(group: Sequence[Measured], name: str) -> frozenset[Word]:
    """Return the values of a feature in all cases of a group."""
    return frozenset(word for case in group for word in case.features.get(name, ()))


def spelled(words: Iterable[object]) -> str:
    """Return words for a condition; `nothing` for none."""
    return ", ".join(sorted(map(str, words))) or "nothing"


def by_operation(made: Sequence[Rule]) -> dict[str, list[Rule]]:
    """Return rows by operation."""
    found = defaultdict[str, list[Rule]](list)
    for row in made:
        found[row.operation].append(row)
    return found


# ---- evaluation


def evaluate(cases: Sequence[Measured]) -> None:
    """Print how many answers are right: all rules about all cases, and those of the first folder about the second."""
    first, second = ([each for each in cases if each.folder == folder] for folder in FOLDERS)
    print("all rules, all cases:", tallied(rows(cases), cases))
    print("rules of the first folder, cases of the second:", tallied(rows(first), second))
    print("rules of the second folder, cases of the first:", tallied(rows(second), first))


def tallied(made: Sequence[Rule], cases: Sequence[Measured]) -> str:
    """Return the numbers of right, wrong and unknown answers, and of other reasons than Apple's."""
    own, counts = by_operation(made), Counter[str]()
    unknown = []
    for case in cases:
        row = answering(case.features, case.operation, own)
        answer = UNKNOWN if row is None else "right" if (row.answer == SUPPORTED) == case.taken else "wrong"
        counts[answer] += 1
        if row is None:
            unknown.append(case.case)
        elif not case.taken and case.reason and message_of(row, case.names) != case.reason:
            counts["other reasons"] += 1
            print(f"  {case.case}: {case.reason!r} is answered by {message_of(row, case.names)!r}")
        if answer == "wrong":
            print(f"  {case.case}: {case.output} is answered by {row}")
    return f"{dict(counts)} of {len(cases)}; unknown: {', '.join(unknown)}"


if __name__ == "__main__":
    main()
