"""`miltext run`: the outputs of a program."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from miltext.cli.as_json import asks_json, format_option
from miltext.cli.captured import standard_output
from miltext.cli.given_inputs import InputChoices, given_inputs, input_options, naming_options
from miltext.cli.many_models import Manner, ManyModelsWithNumbers, models_argument
from miltext.cli.progress import Progress
from miltext.cli.run_results import Result, ShownResults, check_pictures, targets, write
from miltext.cli.sample_ranges import show_ranges
from miltext.cli.streams import (
    colored,
    existing,
    load_model,
    nested_option,
    tell,
    write_json,
    write_text,
)
from miltext.diagnostics import MiltextError

if TYPE_CHECKING:
    from miltext.diagnostics.dynamic import Json
    from miltext.evaluation.carried import Carried, Named
    from miltext.evaluation.evaluator import Evaluator
    from miltext.evaluation.machine import Made

EPILOG = """\b
Examples:
  miltext run Model.mlpackage --random 0
  miltext run Model.mlpackage --input image=cat.jpg --resize
  miltext run Model.mlpackage --inputs inputs.npz -o outputs.npz
  miltext run draft.mil --input x=[1,2,3] --all
  miltext run Model.mlpackage --random 0 --value relu_3 -o relu_3=relu_3.npy
  miltext run Model.mlpackage --random 0 --compute ane --explain
  miltext run Model.mlpackage --ranges samples.npz
  miltext run --random 0 --jobs auto --json models
  miltext run Decoder.mlpackage --input token=7 --state kv.npz --state-out kv.npz
\b
Exit status: 0 the outputs were computed; 1 the program is wrong, a name is unknown, or an operation has
no result; 2 usage, inputs, files.
"""


@click.command(
    "run", cls=ManyModelsWithNumbers, manner=Manner(alone={"outputs": "-o", "state_out": "--state-out"}), epilog=EPILOG
)
@models_argument
@input_options
@click.option("--function", default="main", metavar="NAME", help="The function to run.  [main, or the default one]")
@nested_option()
@click.option("--weights", metavar="DIR", help="The folder of MODEL's weight files.  [its own]")
@click.option("--value", "values", metavar="NAME", multiple=True, help="Also show an inner value; may be repeated.")
@click.option("--all", "everything", is_flag=True, help="Also show all inner values, except for constants.")
@click.option(
    "--compute",
    type=click.Choice(["float32", "native", "ane", "cpu"]),
    default="float32",
    help="Compute fp16 in float32 and round each result, natively in fp16, or as measured on the Neural Engine or on "
    "Core ML's CPU.  [float32]",
)
@click.option(
    "--chip",
    type=click.Choice(["M4", "M6"]),
    help="The chip whose measurements count for --explain.  [M4]",
)
@click.option(
    "--explain",
    is_flag=True,
    help="With --compute ane or cpu: list the operations computed as measured, and the others.",
)
@click.option(
    "--ranges",
    "samples",
    metavar="DATA",
    help="Instead: run the samples in an .npz, or a folder of them, and show the largest sums that their ranges allow.",
)
@click.option("--allow-nan", is_flag=True, help="Accept inputs with NaN and infinities.")
@click.option("--state", metavar="FILE", help="An .npz file of the initial states.  [zeros]")
@click.option("--state-out", metavar="FILE", help="Write the final states, perhaps to the same file.")
@click.option(
    "-o",
    "--output",
    "outputs",
    metavar="[NAME=]FILE",
    multiple=True,
    help="Write all values to an .npz instead of a table; or one value to an .npy, an image to a .png.",
)
@format_option
def command(
    model: str,
    nested: str | None,
    state: str | None,
    state_out: str | None,
    outputs: tuple[str, ...],
    chip: str | None,
    explain: bool,
    samples: str | None,
    **options: Carried,
) -> None:
    """Compute MODEL's outputs from its inputs, in numpy on any machine, and show a table of the outputs.

    MODEL may also be a draft. Each input is an array, numbers, or for an image a picture. For each value, the table has
    its type, the least, greatest and mean finite element, and the numbers of NaN, infinite and zero elements; short
    values, labels and the most probable classes are shown. Deviations of devices are not modelled, except by --compute.

    In an .npz, strings are numpy strings, and class probabilities are pairs of `key` and `value`; no object is pickled.
    For a value in a loop, the last iteration is used. A name is searched in the function's block, then in inner ones.
    """
    _refuse_undevised(options["compute"], chip, explain)
    given = InputChoices(**{name: options[name] for name in InputChoices._fields})
    if samples is not None:
        _refuse_beside_samples(outputs, state, state_out, given.read, given.seed is not None, explain)
    files, as_json = targets(outputs, state_out), asks_json()
    files.check([model, *given.read], state, as_json=as_json)
    evaluator = _evaluator(model, nested, chip, {name: options[name] for name in ("function", "weights", "compute")})
    if samples is not None:
        show_ranges(evaluator, samples, as_json=as_json)
        return
    check_pictures(files, evaluator.features)
    wanted = evaluator.wanted([*options["values"], *files.single])
    states = {} if state is None else _read_states(Path(state))
    with _naming(evaluator), naming_options(given):
        arrays, _ = evaluator.taken(given_inputs(evaluator, given), states, options["allow_nan"])
    shown = ShownResults(as_json) if as_json or not (files.archive or files.single) else None
    with Progress("running", lambda: len(evaluator.plan.steps)) as bar:
        results = _Run(evaluator, arrays, states, wanted, options["everything"]).results(given.seed, bar)
        write(files, shown.looked_at(results) if shown else results, states, evaluator.features)
    _show(evaluator, shown, as_json=as_json, explain=explain)


def _show(evaluator: Evaluator, shown: ShownResults | None, *, as_json: bool, explain: bool) -> None:
    """Show the results, if any, and the arithmetic of a device."""
    if shown is not None and as_json:
        write_json({"function": evaluator.function, **shown.records, **_arithmetic(evaluator, explain=explain)})
    elif shown is not None:
        write_text("-", [shown.to_text(color=colored(standard_output()))])
    if not as_json:
        _tell_arithmetic(evaluator, explain=explain)


def _evaluator(model: str, nested: str | None, chip: str | None, chosen: dict[str, Carried]) -> Evaluator:
    from miltext.evaluation.arithmetic import CHIPS
    from miltext.evaluation.evaluator import Evaluator

    if chosen["weights"] is not None:
        existing(chosen["weights"])
    return Evaluator(load_model(model, nested), chip=chip or CHIPS[0], **chosen)


def _read_states(path: Path) -> dict[str, Carried]:
    from miltext.evaluation.value_files import read_archive

    return read_archive(path)


def _refuse_beside_samples(*others: object) -> None:
    if any(others):
        raise click.UsageError("--ranges runs its samples, and writes no values: leave out other inputs, and -o")


def _refuse_undevised(compute: str, chip: str | None, explain: bool) -> None:
    """Refuse options that need a device's arithmetic without one."""
    if compute in ("float32", "native") and (chip is not None or explain):
        option = "--explain" if explain else "--chip"
        raise click.UsageError(f"{option} is about the arithmetic of a device: add --compute ane or --compute cpu")


def _arithmetic(evaluator: Evaluator, *, explain: bool) -> dict[str, Json]:
    """Return the keys of JSON about a device's arithmetic."""
    found = evaluator.standings()
    if not found:
        return {}
    arithmetic: list[Json] = [each.to_json() for each in found]
    return {
        "compute": evaluator.compute,
        "chip": evaluator.chip,
        **({"arithmetic": arithmetic} if explain else {}),
    }


def _tell_arithmetic(evaluator: Evaluator, *, explain: bool) -> None:
    """Tell how much of a device's arithmetic is measured; with `explain`, show it for each operation."""
    from miltext.evaluation.arithmetic import DEVICES

    if evaluator.compute not in DEVICES:
        return
    from miltext.evaluation.standing import lines, summary

    found = evaluator.standings()
    if explain:
        write_text("-", [f"{line}\n" for line in lines(found)])
    way = "" if explain else "; --explain lists them"
    tell(f"{summary(found, evaluator.compute, evaluator.chip)}{way}")


@contextmanager
def _naming(evaluator: Evaluator) -> Iterator[None]:
    """Make an error about inputs name the model."""
    try:
        yield
    except MiltextError as failure:
        failure.path = failure.path or evaluator.subject.name
        raise


class _Run(NamedTuple):
    """A run of a function from its `inputs`; `states` are first the initial and then the final ones. It returns the
    `requested` inner values, or with `everything` all except constants.
    """

    evaluator: Evaluator
    inputs: Named
    states: dict[str, Carried]
    requested: Set[str]
    everything: bool

    def results(self, seed: int | None, bar: Progress) -> Iterator[Result]:
        """Yield the inner values as they are made, values of inner blocks after all others, then outputs and states."""
        from miltext.evaluation.evaluator import Execution

        evaluator = self.evaluator
        running = Execution(evaluator.steps(self.inputs, self.states, seed, allow_nan=True))
        own, inside = {id(step) for step in evaluator.plan.steps}, dict[str, Result]()
        inner = self.requested - evaluator.outputs.keys()
        left = inner - evaluator.inputs.keys()
        taken = ((name, kind) for name, kind in evaluator.inputs.items() if name in inner)
        yield from (Result("inputs", name, self.inputs[name], kind) for name, kind in taken)
        for made in running:
            results = list(self._of_step(made))
            left.difference_update(each.name for each in results)
            if id(made.step) in own:
                yield from results
                bar.add(1)
            else:
                inside.update((each.name, each) for each in results)
        yield from inside.values()
        yield from (Result("outputs", name, running.outputs[name], kind) for name, kind in evaluator.outputs.items())
        yield from (Result("states", name, self.states[name], kind.wrapped) for name, kind in evaluator.states.items())
        for name in sorted(left):
            tell(f"miltext: the value {name!r} was not computed: its block was not run")

    def _of_step(self, made: Made) -> Iterator[Result]:
        """Yield the wanted values of a step; outputs come last."""
        is_constant = made.step.operation.type == "const"
        for name, value, declared in self.evaluator.of_step(made):
            is_requested = name in self.requested or (self.everything and not is_constant)
            if is_requested and name not in self.evaluator.outputs:
                yield Result("constants" if is_constant else "values", name, value, declared)
