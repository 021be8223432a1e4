"""Compare `miltext optimize` with the passes of coremltools: `python scripts/compare_with_passes.py`.

The programs are those of `tests/support/program_sources.py`. On each that coremltools loads, its default passes run one
by one, without those that change precisions or names. A pass counts if all results stay equal bit for bit, by the
evaluator on random inputs and edge values. Otherwise it is undone, and the operations that it took out are counted
apart, as inexact; a pass that makes more operations is undone, too. Programs without results are left out. The
operations that make an output which a pass made a constant do not count: Core ML has no such outputs, so `optimize`
leaves them. `optimize` must take out at least as many operations as the exact passes together, with equal results, and
nothing more when it runs again: the exit code is 1 if it does not. The script needs coremltools and the tests'
requirements.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import coremltools as ct
from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY
from support.program_sources import SOURCES, Inputs, subjects

from miltext import Evaluator, Graph, MiltextError, Model, load, optimize
from miltext.containers.sources import model_of
from miltext.coreml import from_pymil, to_pymil
from miltext.rewriting.exactness import Exactness
from miltext.rewriting.inputs import INNER_STEPS, INNER_STEPS_AFTER, InputDrawer
from miltext.rewriting.random_operations import is_random
from miltext.schema.types import ListType, TensorType, spelled
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.ir.parts import Op, Value
    from miltext.schema.proto import Program

LEFT_OUT = frozenset(
    f"common::{name}"
    for name in (
        "add_fp16_cast", "add_int16_cast", "update_output_dtypes", "sanitize_input_output_names",
        "dedup_op_and_var_names", "topological_reorder", "image_input_preprocess",
    )
)  # fmt: skip
"""The passes that change precisions, names, the order or inputs, and take nothing out."""

PASSES = [name for name in ct.PassPipeline.DEFAULT.passes if name not in LEFT_OUT]

PATIENCE = 2.0
"""The seconds after which a function gets no more inputs."""

EXACT = Exactness("exact")


@dataclass
class Outcome:
    """What both took out of a program."""

    before: int = 0
    theirs: int = 0
    ours: int = 0
    exact: Counter[str] = field(default_factory=Counter)
    inexact: Counter[str] = field(default_factory=Counter)
    raised: Counter[str] = field(default_factory=Counter)
    inputs: int = 0
    fault: str = ""


@click.command()
@click.argument("sources", nargs=-1, type=click.Choice([*SOURCES]))
@click.option("--generated", default=300, help="How many programs are generated.  [300]")
@click.option("--inputs", "most", default=10, help="How many inputs each function is given.  [10]")
@click.option("--every", default=1, help="Only every so many-th program.  [1]")
@click.option("--largest", default=1500, help="The most operations of a program.  [1500]")
@click.option("--verbose", is_flag=True, help="Also programs without a difference.")
def main(sources: Sequence[str], generated: int, most: int, every: int, largest: int, verbose: bool) -> None:
    """Print a row for each source, and each program with less taken out by `optimize`; exit with 1 for one of these."""
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)
    is_wrong = False
    for source in sources or SOURCES:
        row = Row(source)
        for name, model, given in islice(subjects(source, generated), 0, None, every):
            outcome = _outcome(model, given, most, largest)
            row.add(outcome)
            if isinstance(outcome, str):
                if verbose:
                    print(f"{source}: {name}: {outcome}")
                continue
            is_less = outcome.ours < outcome.theirs
            is_wrong = is_wrong or is_less or bool(outcome.fault)
            if verbose or is_less or outcome.fault:
                print(f"{source}: {name}: {outcome}", flush=True)
        row.show()
    sys.exit(is_wrong)


class Row:
    """The sums of a source."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.refused: Counter[str] = Counter()
        self.outcomes: list[Outcome] = []

    def add(self, outcome: Outcome | str) -> None:
        """Add a program, or the reason why it is left out."""
        if isinstance(outcome, str):
            self.refused[outcome.partition(":")[0]] += 1
        else:
            self.outcomes.append(outcome)

    def show(self) -> None:
        """Print the sums."""
        found = self.outcomes
        before, theirs, ours = (sum(getattr(each, key) for each in found) for key in ("before", "theirs", "ours"))
        less = sum(each.ours < each.theirs for each in found)
        inexact, raised = (
            sum((each.inexact for each in found), Counter()),
            sum((each.raised for each in found), Counter()),
        )
        print(
            f"{self.source}: {len(found)} programs, {before} operations; taken out by exact passes {theirs}, ", end=""
        )
        print(
            f"by optimize {ours}; optimize less in {less}; faults {sum(bool(each.fault) for each in found)}; ", end=""
        )
        print(f"inputs {sum(each.inputs for each in found)}")
        print(f"    inexact: {dict(inexact)}; raised: {dict(raised)}; left out: {dict(self.refused)}", flush=True)


# ---- both


def _outcome(model: Model, given: list[Inputs], most: int, largest: int) -> Outcome | str:
    """Return what both take out of a program; the reason if one of them cannot read it."""
    try:
        made = Outcome(_count(model.program))
    except Exception as failure:  # noqa: BLE001  # whatever it is, it is no program
        return f"no program: {failure}"
    if any(is_random(op.type) for op in Graph(model.program).walk()):
        return "random numbers: they depend on the number of random operations before"
    if made.before > largest:
        return "too large: "
    try:
        loaded = to_pymil(model)
    except Exception as failure:  # noqa: BLE001  # coremltools raises anything
        return f"coremltools does not load it: {str(failure)[:200]}"
    try:
        runs = {name: _Runs(model, name, given, most) for name in model.program.functions}
    except MiltextError as failure:
        return f"the evaluator does not run it: {str(failure)[:200]}"
    made.inputs = sum(len(each.inputs) for each in runs.values())
    if not made.inputs:
        return "no results: nothing shows whether a pass is exact"
    _theirs(made, model, loaded, runs)
    _ours(made, model, runs)
    return made


class _Runs:
    """A function of a program with inputs, and its results."""

    def __init__(self, model: Model, function: str, given: list[Inputs], most: int) -> None:
        self._function = function
        evaluator = Evaluator(model, function)
        fitting = [each for each in given if {*each} == {*evaluator.inputs}]
        self.inputs: list[Inputs] = []
        self._wanted: list[Mapping[str, Any]] = []
        closed = {name: _closed(each) for name, each in evaluator.inputs.items()}
        with contextlib.suppress(Exception):  # of inputs that are no tensors
            fitting += islice(InputDrawer(closed).inputs(), most)
        began = time.monotonic()
        for inputs in fitting:
            if time.monotonic() - began > PATIENCE:
                break
            with contextlib.suppress(Exception):
                self._wanted.append(evaluator.run(inputs, seed=0, allow_nan=True, inner_steps=INNER_STEPS))
                self.inputs.append(inputs)

    def difference(self, model: Model) -> str:
        """Return the first output of another version that is not equal; empty if all are."""
        evaluator = Evaluator(model, self._function, check=False)
        for inputs, wanted in zip(self.inputs, self._wanted, strict=True):
            found = evaluator.run(inputs, seed=0, allow_nan=True, inner_steps=INNER_STEPS_AFTER)
            for name, value in wanted.items():
                if name not in found or not _is_equal(value, found[name]):
                    return name
        return ""


def _closed(type: Any) -> Any:
    return type._replace(shape=tuple(size or 2 for size in type.shape)) if isinstance(type, TensorType) else type


def _is_equal(one: Any, other: Any) -> bool:
    """Return whether values are equal bit for bit; NaNs are equal."""
    if isinstance(one, dict | list):
        return repr(one) == repr(other)
    before, after = np.asarray(one), np.asarray(other)
    if before.dtype != after.dtype or before.shape != after.shape:
        return False
    return not EXACT.excess(before, after, before.dtype.name).any()


def _theirs(made: Outcome, model: Model, loaded: Any, runs: Mapping[str, _Runs]) -> None:
    """Run the passes one by one on a program that coremltools has loaded."""
    accepted = model
    types = first = _types_of_pymil(loaded)
    for name in PASSES:
        try:
            PASS_REGISTRY[name](loaded)
            now = _types_of_pymil(loaded)
            if now == types:
                continue
            new = from_pymil(loaded)
            difference = next(filter(None, (each.difference(new) for each in runs.values())), "")
        except Exception:  # noqa: BLE001  # coremltools raises anything
            made.raised[name] += 1
            new, difference = accepted, name
        fewer = sum(types.values()) - sum(now.values())
        if not difference and fewer >= 0:
            made.exact[name] += fewer
            types, accepted = now, new
            continue
        if name not in made.raised and difference:
            made.inexact[name] += fewer
        try:
            loaded = to_pymil(accepted)
        except Exception:  # noqa: BLE001  # coremltools raises anything
            made.raised["the loader"] += 1
            break
    made.theirs = sum(first.values()) - sum(types.values()) - _made_constant(model.program, accepted.program)


def _ours(made: Outcome, model: Model, runs: Mapping[str, _Runs]) -> None:
    """Optimize a program, and what is made of it again."""
    with tempfile.TemporaryDirectory() as folder:
        output = _output(model, Path(folder))
        try:
            done = optimize(model, output, check=False)
            made.ours = done.operations[0] - done.operations[1]
            new = load(output) if output else model_of(done.program)
            difference = next(filter(None, (each.difference(new) for each in runs.values())), "")
            again = optimize(new)
        except MiltextError as failure:
            made.fault = str(failure)
            return
        if difference or again.replaced:
            made.fault = f"`{difference}` differs" if difference else f"again: {again.replaced[0]}"


def _output(model: Model, folder: Path) -> Path | None:
    """Return the path of the optimized model; None if it needs neither a path nor, for its open sizes, ranges.

    A text stays beside its weights, which are in a folder of this script.
    """
    inputs = (value for function in Graph(model.program).functions.values() for value in function.inputs)
    if model.spec is not None or not any("?" in spelled(value.type) for value in inputs):
        return folder / "New.mlpackage"
    return model.path.with_name("New.mil") if model.path and [*blob_values(model.program)] else None


def _count(program: Any) -> int:
    return sum(not op.is_constant for op in Graph(program).walk())


def _made_constant(before: Program, after: Program) -> int:
    """Return how many operations that went made the outputs that are constants only afterwards."""
    constants = {name: {value.name for value in outputs if value.is_constant} for name, outputs in _outputs(after)}
    made: set[Op] = set()
    for name, outputs in _outputs(before):
        for value in outputs:
            if value.name in constants[name] and not value.is_constant and value.maker is not None:
                made |= _with_lists(value.maker)
    left = {value.name for op in Graph(after).walk() if not op.is_constant for value in op.outputs}
    return sum(left.isdisjoint(value.name for value in op.outputs) for op in made)


def _outputs(program: Program) -> Iterator[tuple[str, list[Value]]]:
    for name, function in Graph(program).functions.items():
        yield name, [value for block in function.blocks.values() for value in block.outputs]


def _with_lists(op: Op) -> set[Op]:
    """Return an operation, and those that make its lists, which are never constants."""
    lists = [value.maker for value in op.operands if isinstance(value.type, ListType) and value.maker]
    return {op}.union(*map(_with_lists, lists))


def _types_of_pymil(program: Any) -> Counter[str]:
    """Return how often each type of operation is in a program of coremltools, constants aside."""
    counts: Counter[str] = Counter()
    todo = [*program.functions.values()]
    while todo:
        for op in todo.pop().operations:
            if op.op_type != "const" and not op.op_type.startswith("constexpr_"):
                counts[op.op_type] += 1
            todo += op.blocks
    return counts


if __name__ == "__main__":
    main()
