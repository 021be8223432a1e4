"""Generate programs, and hold each to what must be true of it: `python scripts/try_generated.py`.

Each passes `check`, reads back from its text and from its draft, is computed, and is loaded by coremltools. The script
counts what fails, shows the first seed of each kind, and which operations and data types never came. It needs
coremltools.
"""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import click

import miltext
from miltext.checking.programs import findings_in
from miltext.containers.opening import read
from miltext.coreml import to_pymil
from miltext.evaluation.random_inputs import random_inputs
from miltext.generation.options import NOT_GENERATED, Options
from miltext.generation.programs import generate
from miltext.schema.operations import all_names, versions
from miltext.schema.proto import Operation, Program, ValueType
from miltext.schema.types import TensorType, read_type
from miltext.schema.walk import operations, parts

LABELLED = 150
"""Each so many-th program may be a classifier, and one of eight is: coremltools 9.0 does not load lists of labels."""


class Part(NamedTuple):
    """What came of some seeds: failures by step and words with their first seed, what was seen, and seconds by step."""

    failures: Counter[tuple[str, str]]
    first: dict[tuple[str, str], int]
    seen: Counter[str]
    dtypes: set[tuple[str, str, str]]
    seconds: defaultdict[str, float]


def options(seed: int) -> Options:
    """Return what is asked for: now and then several functions, and inputs of flexible sizes."""
    return Options(functions=1 + seed % 2, flexible=seed % 3 == 0, classifiers=seed % LABELLED == 0, ops=(1, 20))


def told(made: Program) -> None:
    """Fail where `check` finds anything."""
    found = findings_in(made)
    assert not found, f"{found[0].code} {found[0].message}"


def texts(made: Program) -> None:
    """Fail where a text or a draft does not read back equal."""
    assert miltext.parse(miltext.to_text(made)) == made, "the text reads back otherwise"
    assert miltext.parse(miltext.infer_draft(miltext.to_draft(made))) == made, "the draft reads back otherwise"


def computed(made: Program) -> None:
    """Fail where a function cannot be computed."""
    for function in made.functions:
        evaluator = miltext.Evaluator(made, function, check=False)
        tensors = {name: each for name, each in evaluator.inputs.items() if isinstance(each, TensorType)}
        shapes = {name: [2 if size is None else size for size in each.shape] for name, each in tensors.items()}
        evaluator.run(random_inputs(evaluator.inputs, shapes=shapes), state={}, seed=1)


def loaded(made: Program) -> None:
    """Fail where coremltools does."""
    to_pymil(read(made.SerializeToString(), "program.pb"))


STEPS: dict[str, Callable[[Program], None]] = {"check": told, "text": texts, "run": computed, "load": loaded}


def tried(asked: str, seeds: range) -> Part:
    """Try the programs of some seeds."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    part = Part(Counter(), {}, Counter(), set(), defaultdict(float))
    for seed in seeds:
        started = time.perf_counter()
        made = generate(seed, options(seed))
        part.seconds["generate"] += time.perf_counter() - started
        for name in asked.split(","):
            started = time.perf_counter()
            try:
                STEPS[name](made)
            except Exception as failure:  # noqa: BLE001  # whatever it is, it is counted
                kind = name, f"{type(failure).__name__}: {str(failure)[:160]}"
                part.failures[kind] += 1
                part.first.setdefault(kind, seed)
            part.seconds[name] += time.perf_counter() - started
        part.seen.update(operation.type for _, operation in operations(made))
        part.dtypes.update(taken(made))
    return part


def taken(made: Program) -> Iterator[tuple[str, str, str]]:
    """Yield each operation, parameter and data type that are together."""
    types: dict[tuple[str, str], str] = {}
    for path, each in parts(made):
        values = () if isinstance(each, Program) else each.outputs if isinstance(each, Operation) else each.inputs
        types |= {(str(path[1]), value.name): dtype_of(value.type) for value in values}
    for path, operation in operations(made):
        for name, argument in operation.inputs.items():
            for binding in argument.arguments:
                given = types.get((str(path[1]), binding.name)) if binding.name else dtype_of(binding.value.type)
                yield operation.type, name, given or ""
        for name, value in operation.attributes.items():
            yield operation.type, name, dtype_of(value.type)


def dtype_of(message: ValueType) -> str:
    """Return the data type of a tensor; nothing for what is not a tensor."""
    found = read_type(message)
    return found.dtype if isinstance(found, TensorType) else ""


def missing(parts: list[Part]) -> list[str]:
    """Return the operations that never came, and the data types of parameters that did not."""
    seen = sum((part.seen for part in parts), Counter[str]())
    dtypes = {one for part in parts for one in part.dtypes}
    found = [name for name in all_names() if not seen[name]]
    for name in all_names():
        for known in versions(name)[-1].parameters.values() if seen[name] else ():
            lacking = [each for each in sorted(known.dtypes) if (name, known.name, each) not in dtypes]
            found += [f"{name}.{known.name}: {' '.join(lacking)}"] if lacking else []
    return [each for each in found if each not in NOT_GENERATED]


@click.command()
@click.option("--seeds", default=10_000, show_default=True, help="How many programs.")
@click.option("--first", default=0, show_default=True, help="The first seed.")
@click.option("--steps", default=",".join(STEPS), show_default=True, help="What is tried of each.")
@click.option("--jobs", default=os.cpu_count() or 1, show_default=True, help="How many processes.")
def main(seeds: int, first: int, steps: str, jobs: int) -> None:
    """Print what failed, what never came, and how long each step took."""
    ranges = [range(start, min(start + 100, first + seeds)) for start in range(first, first + seeds, 100)]
    with ProcessPoolExecutor(jobs) as pool:
        done = list(pool.map(partial(tried, steps), ranges))
    failures = sum((part.failures for part in done), Counter[tuple[str, str]]())
    seeds_of = {kind: seed for part in reversed(done) for kind, seed in part.first.items()}
    for kind, count in failures.most_common():
        print(f"{count:>6}  {kind[0]:<6} seed {seeds_of[kind]}: {kind[1]}")
    for name in steps.split(","):
        failed = sum(count for kind, count in failures.items() if kind[0] == name)
        print(f"{name:<9} {seeds - failed} of {seeds} ({100 * (seeds - failed) / seeds:.2f} %)")
    for name in ("generate", *steps.split(",")):
        print(f"{name:<9} {sum(part.seconds[name] for part in done):.1f} s")
    print("never came:", *missing(done), sep="\n    ")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
