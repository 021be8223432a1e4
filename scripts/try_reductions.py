"""Reduce many models to each of their operations, and count what came of it: `python scripts/try_reductions.py`.

The models are the packages of the tests, and --large the programs of a thousand operations; --oracle adds the programs
of coremltools' own tests. The test of a reduction looks for an operation of one type. What is left has to be written
as a package and to open in coremltools, and `check` of it may report nothing that the whole does not have. The script
needs the tests' requirements; the oracle, the folder that the tests read it from.
"""

from __future__ import annotations

import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.kinds import PROGRAMS, kind
from support.large_programs import KINDS as LARGE
from support.model_checks import Reported, assert_coremltools_opens
from support.new_findings import new_findings, original_findings
from support.real_packages import PACKAGES, package

from miltext.containers.opening import open_model
from miltext.containers.programs import BareProgram
from miltext.diagnostics import MiltextError
from miltext.reduction.graph import count_operations
from miltext.reduction.reducing import Reduction, reduce
from miltext.schema.walk import is_constant, operations
from miltext.schema.wire import wire_of

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Program

NOT_BUILT = ("MIL302", "MIL452")
"""The codes of what keeps programs of the oracle from being built: their weights are not there, nor their ranges."""


@click.command()
@click.option("--oracle", type=click.Path(path_type=Path), help="The folder of the programs of coremltools' own tests.")
@click.option("--large", is_flag=True, help="Only the programs of a thousand operations, and their faults.")
@click.option("--jobs", default=1, help="How many tests run at once.  [1]")
@click.option("--share", default="0/1", help="Every so many-th model, from which on: 1/4.")
def main(oracle: Path | None, large: bool, jobs: int, share: str) -> None:
    """Print what came of it, and all that went wrong."""
    warnings.simplefilter("ignore")
    chosen, shares = map(int, share.split("/"))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        models = _large(Path(made)) if large else _models(oracle)
        for nth, (name, path, model, faults) in enumerate(models):
            for fault in faults if nth % shares == chosen else ():
                with tempfile.TemporaryDirectory() as folder:
                    out = Path(folder) / "Small.mlpackage"
                    counts[_tried(name, model, fault, jobs, out, original_findings(path))] += 1
    for what, count in sorted(counts.items()):
        print(f"{count:>6}  {what}")
    sys.exit(1 if any(what.startswith("WRONG") for what in counts) else 0)


def _large(folder: Path) -> Iterator[tuple[str, Path, Model, list[str]]]:
    for name, make in LARGE.items():
        made, path = make(), folder / f"{name}.pb"
        path.write_bytes(made.program.SerializeToString())
        yield name, path, BareProgram.read("pb", wire_of(made.program), name, None), [made.fault]


def _models(oracle: Path | None) -> Iterator[tuple[str, Path, Model, list[str]]]:
    """Yield each ML Program with its name, the model that it is of, and its faults."""
    paths = [*((name, kind(name)) for name in PROGRAMS), *((name, package(name)) for name in PACKAGES)]
    paths += [(path.name, path) for path in sorted(oracle.glob("*/*.pb"))] if oracle else []
    for name, path in paths:
        for stage in open_model(path).programs():
            found = {each.type for _, each in operations(stage.model.program) if not is_constant(each.type)}
            yield f"{name} {stage.place}", path, stage.model, sorted(found)


def _has(program: Program, fault: str) -> bool:
    return any(fault in (each.type, *(value.name for value in each.outputs)) for _, each in operations(program))


def _tried(name: str, model: Model, fault: str, jobs: int, out: Path, known: Counter[Reported]) -> str:
    """Reduce a model to a fault; return what came of it, and print that if it is unusual."""
    try:
        found = reduce(model, lambda candidate: _has(candidate.program, fault), jobs=jobs)
        found.best.save(out)
        if new := new_findings(known, out):
            print(f"WRONG {name}, {fault}: {[*new.elements()]}")
            return "WRONG check"
        assert_coremltools_opens(out)
    except MiltextError as failure:
        code = failure.diagnostics[0].code
        if code in NOT_BUILT:
            return f"not built, as the whole is not: {code}"
        print(f"WRONG {name}, {fault}: {failure}"[:1000])
        return f"WRONG {code}"
    except Exception as failure:  # noqa: BLE001 - whatever goes wrong is told
        print(f"WRONG {name}, {fault}: {type(failure).__name__}: {failure}"[:1000])
        traceback.print_exc()
        return f"WRONG {type(failure).__name__}"
    return _told(name, fault, found)


def _told(name: str, fault: str, found: Reduction) -> str:
    """Return how many operations are left, and print a line."""
    before, after = (count_operations(each.program) for each in (found.original, found.best))
    print(f"{name}, {fault}: {before} operations, {after} left, {found.tests} tests")
    return f"of {'many' if before > 100 else 'few'} operations {after} left"


if __name__ == "__main__":
    main()
