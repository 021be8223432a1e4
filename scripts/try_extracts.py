"""Extract the values of many models, and count what came of it: `python scripts/try_extracts.py`.

The models are the packages of the tests; --oracle adds the programs of coremltools' own tests. Each value is extracted
by itself, and with random cuts before it. A part has to pass `check` as the whole does, to open in coremltools, and
its values have to be, to the bit, those that the evaluator gives in the whole. What is refused is counted by its
reason. The script needs the tests' requirements; the oracle, the folder that the tests read it from.
"""

from __future__ import annotations

import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from support.kinds import KINDS, kind
from support.model_checks import assert_coremltools_opens
from support.real_packages import PACKAGES, package

import miltext
from miltext.diagnostics import MiltextError
from miltext.evaluation.evaluator import Evaluator
from miltext.evaluation.random_inputs import random_inputs
from miltext.extraction.needs import Needs
from miltext.models.opening import open_model
from miltext.schema.types import TensorType, read_type
from miltext.schema.walk import operations, own_block

if TYPE_CHECKING:
    from miltext.models.model import Model
    from miltext.schema.proto import Block, Function


class Whole(NamedTuple):
    """A function of a model, and what it computes: the values of its own block, or why it computes none."""

    name: str
    model: Model
    function: str
    inputs: Mapping[str, Any]
    values: Mapping[str, Any] | str


@click.command()
@click.option("--oracle", is_flag=True, help="Also the programs of coremltools' own tests.")
@click.option("--each", type=int, default=0, help="At most so many values of each program of the oracle.  [all]")
@click.option("--cuts", type=int, default=1, help="Random cuts for each value.  [1]")
@click.option("--share", default="0/1", help="Every so many-th program, from which on: 1/4.")
@click.option("--seed", type=int, default=0, help="What random choices are made with.  [0]")
def main(oracle: bool, each: int, cuts: int, share: str, seed: int) -> None:
    """Print what came of it, and all that went wrong."""
    warnings.simplefilter("ignore")
    chosen, shares = map(int, share.split("/"))
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for turn, whole in enumerate(_wholes(oracle, Path(folder))):
            if turn % shares == chosen:
                rng = random.Random(f"{seed} {whole.name}")
                _try_whole(whole, rng, each if whole.name.startswith("oracle") else 0, cuts, Path(folder), counts)
    for what, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        print(f"{count:>8}  {what}")
    sys.exit(1 if any(what.startswith("WRONG") for what in counts) else 0)


# ---- what there is to extract from


def _wholes(oracle: bool, folder: Path) -> Iterator[Whole]:
    for name, path in [
        *((f"kind {each}", kind(each)) for each in KINDS),
        *((each, package(each)) for each in PACKAGES),
    ]:
        for stage in open_model(path).programs():
            for function in sorted(stage.model.program.functions):
                yield _computed(f"{name} {stage.place} {function}", stage.model, function)
    for archive in ("ops", "torch") if oracle else ():
        yield from _of_oracle(archive, folder)


def _of_oracle(archive: str, folder: Path) -> Iterator[Whole]:
    from support.oracle import runs

    for case, *_ in runs(archive, 0, 1):
        place = folder / "oracle"
        case.write_weights(place)
        text = folder / "oracle" / "case.pb"
        text.write_bytes(case.program.SerializeToString())
        yield _computed(f"oracle {case.name}", open_model(text), case.function, case.inputs)


def _computed(name: str, model: Model, function: str, inputs: Mapping[str, Any] | None = None) -> Whole:
    try:
        evaluator = Evaluator(model, function, check=False)
        given = random_inputs(evaluator.inputs, features=evaluator.features) if inputs is None else inputs
        names = [each for step in evaluator.plan.steps for each in step.names]
        return Whole(name, model, function, given, evaluator.run(given, values=names, seed=0, allow_nan=True))
    except MiltextError as failure:
        return Whole(name, model, function, inputs or {}, failure.diagnostics[0].message)


# ---- parts


def _try_whole(whole: Whole, rng: random.Random, most: int, cuts: int, folder: Path, counts: Counter[str]) -> None:
    function = whole.model.program.functions[whole.function]
    block = own_block(function)
    if block is None:
        return
    counts["(models)"] += 1
    names = [output.name for operation in block.operations for output in operation.outputs]
    names = sorted(rng.sample(names, most)) if 0 < most < len(names) else names
    for name in names:
        for given in [[], *(_cut(function, block, name, rng) for _ in range(cuts))]:
            what = _tried(whole, block, name, given, folder)
            counts[what.partition("\n")[0]] += 1
            if what.startswith("WRONG"):
                print(f"{whole.name}: {name} from {given}: {what}", flush=True)


def _cut(function: Function, block: Block, name: str, rng: random.Random) -> list[str]:
    """Return some values that a value is made of, at which it may be cut: none of them constant."""
    needs = Needs(function, block)
    before = [block.operations[place] for place in needs.of([name]).operations]
    made = [output.name for each in before if not _is_constant(each.type) for output in each.outputs]
    made = [each for each in made if each != name]
    return rng.sample(made, min(len(made), rng.choice([1, 1, 2, 3])))


def _is_constant(op_type: str) -> bool:
    return op_type == "const" or op_type.startswith("constexpr_")


def _tried(whole: Whole, block: Block, name: str, given: list[str], folder: Path) -> str:
    """Return in a few words what came of a part."""
    out = folder / "Part.mlpackage"
    how = "cut" if given else "whole way"
    weights = folder / "oracle" if whole.name.startswith("oracle") else None
    how_to: dict[str, Any] = {"ranges": _ranges(block, given), "weights": weights, "force": True}
    try:
        miltext.extract(whole.model, [name], out, inputs=given, function=whole.function, **how_to)
    except MiltextError as failure:
        found = failure.diagnostics[0]
        return f"refused, {how}: {found.code} {_reason(found.message)}"
    if (wrong := _checked(whole, out)) or (wrong := _opened(out)):
        return f"WRONG: {wrong}"
    return _compared(whole, name, given, out, how)


def _ranges(block: Block, given: list[str]) -> dict[str, str]:
    """Return sizes for those of the values that have open ones."""
    types = {output.name: read_type(output.type) for each in block.operations for output in each.outputs}
    shapes = {each: known.shape for each in given if isinstance(known := types[each], TensorType)}
    return {
        name: ",".join("1..4096" if size is None else str(size) for size in shape)
        for name, shape in shapes.items()
        if None in shape
    }


def _reason(message: str) -> str:
    """Return a message without its names."""
    return " ".join("..." if "`" in word else word for word in message.split())[:90]


def _checked(whole: Whole, out: Path) -> str:
    known = {(each.code, each.message) for each in miltext.check(whole.model)}
    found = [each for each in miltext.check(open_model(out)) if (each.code, each.message) not in known]
    return f"check\n{found}" if found else ""


def _opened(out: Path) -> str:
    try:
        assert_coremltools_opens(out)
    except Exception as failure:  # noqa: BLE001 - whatever it raises
        return f"coremltools: {type(failure).__name__} {_reason(str(failure))}"
    return ""


def _compared(whole: Whole, name: str, given: list[str], out: Path, how: str) -> str:
    """Compare what the part computes with what the whole does."""
    if isinstance(whole.values, str):
        return f"extracted, {how}; the whole cannot be run"
    if any(each not in whole.values for each in (name, *given)):
        return f"extracted, {how}; no value to compare"
    part = Evaluator(open_model(out))
    known = {**whole.values, **whole.inputs}
    inputs = {each: known[each] for each in part.inputs if each in known}
    try:
        made = part.run(inputs, seed=0, allow_nan=True)[name]
    except MiltextError as failure:
        return f"WRONG: the part cannot be run: {_reason(failure.diagnostics[0].message)}"
    if _same(made, whole.values[name]):
        return f"extracted, {how}; equal"
    if any("random" in each.type for _, each in operations(whole.model.program)):
        return f"extracted, {how}; random"
    return "WRONG: another number"


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return bool(one == other)
    a, b = np.asarray(one), np.asarray(other)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


if __name__ == "__main__":
    main()
