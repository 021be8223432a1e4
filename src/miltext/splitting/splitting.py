"""Division of a model into parts, each a model, or all of them one pipeline."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import PACKAGE
from miltext.building.choices import BuildChoices, WriteOptions
from miltext.containers.opening import open_model
from miltext.containers.sources import Source, model_of
from miltext.diagnostics import codes
from miltext.drafting.building import build_as_chosen
from miltext.drafting.programs import completed
from miltext.extraction.extracting import write_part
from miltext.files.refusals import refusal
from miltext.files.staging import Staging
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.outputs import check_folder, check_target
from miltext.schema.function_io import interfaces
from miltext.splitting.piping import write_pipeline
from miltext.splitting.planning import PlannedSplit, SplitRequest, plan_split
from miltext.splitting.results import Splitting
from miltext.syntax.keywords import taking

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.splitting.planning import Choose

DIRECT = ("mlpackage", "mlmodel")
"""The kinds of models whose parts are made of them as they are; any other model is built first."""

PART_NAME = re.compile(r"\d{2,}_.*\.mlpackage")
"""The names of written parts."""


@dataclass(frozen=True, kw_only=True)
class SplitOptions(WriteOptions):
    """The options of `miltext.split`.

    Args:
        parts: The number of parts, with about equal weights: no part has more than its share and a quarter, unless the
            possible boundaries require it.
        max_weights: The most bytes of weights of a part; there are as few parts as possible.
        at: Values after which boundaries are, in any order. Each part has the operations that its value needs, without
            the earlier parts, and the last part has the rest.
        functions: Whether each function of the model becomes a model.
        pipeline: Whether to write one pipeline of the parts.
        function: The function to divide.  [the only one]
        model: The model in a pipeline.  [the only ML Program]
        ranges: Sizes by name, as in `miltext.build`, of inputs and of values that cross boundaries.
        weights, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
    """

    parts: int | None = None
    max_weights: int | None = None
    at: Iterable[str] | str = ()
    functions: bool = False
    pipeline: bool = False
    function: str | None = None


@dataclass(frozen=True)
class _SplitArguments(SplitOptions):
    source: Source
    output: str | os.PathLike[str] | None = None
    options: SplitOptions | None = field(default=None, kw_only=True)


@taking(_SplitArguments)
def split(request: _SplitArguments) -> Splitting:
    """Divide a model into parts, and write each as a model, or all as one pipeline; return the parts.

    A part takes values directly from each earlier part that makes them, so that the parts, one after the other, compute
    the results of the model. Boundaries are where the fewest bytes cross them, for operations in the order of the
    program, with those that depend on constants alone before their first use. No value crosses that an input of a model
    cannot have. All uses of a state are in one part. Constants are in each part that uses them, with their weights.
    Inputs and outputs of the model keep their description. A draft is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        output: A folder for the packages `01_NAME.mlpackage` and so on, or the `.mlpackage` of a `pipeline`; None to
            write nothing.
        options: A `SplitOptions`, in place of these keywords.

    Returns:
        The parts, with the values between them, and the warnings.

    Raises:
        ModelError: MIL430 for an unknown name, MIL446 and MIL452 for a value that cannot cross a boundary, such as an
            image, MIL494 for a value in `at` that is not a boundary, MIL499 for an impossible number or size of parts;
            and the errors of `miltext.build`.
        TypeError: Not exactly one of `parts`, `max_weights`, `at` and `functions` is given.

    Example:
        made = miltext.split("Model.mlpackage", "parts", parts=3)
    """
    choose, names = _way(request)
    whole = model_of(request.source)
    chosen = whole.select_only(request.model)
    output = _output(whole, request)
    with ExitStack() as stack:
        found: list[Diagnostic] = []
        source = _source(chosen, output, request, found, stack)
        stem = chosen.pipeline_name or (whole.path.stem if whole.path is not None else "Model")
        wanted = SplitRequest(choose, names, request.function, request.ranges or {}, request.pipeline, stem)
        planned = plan_split(source, wanted)
        if output is not None:
            found += _write(source, planned, output, request)
        return Splitting(tuple(each.shown for each in planned.parts), planned.weights, found)


def _way(request: _SplitArguments) -> tuple[Choose | None, list[str]]:
    """Return the requested choice of boundaries, None for whole functions, and the values at boundaries."""
    names = [request.at] if isinstance(request.at, str) else [*dict.fromkeys(request.at)]
    parts, most = request.parts, request.max_weights
    if sum((parts is not None, most is not None, bool(names), request.functions)) != 1:
        raise TypeError("split() takes one of `parts`, `max_weights`, `at` and `functions`")
    if request.functions and (request.pipeline or request.function is not None):
        raise TypeError("`functions` makes a model of each function: leave out `pipeline` and `function`")
    for name, number in (("parts", parts), ("max_weights", most)):
        if number is not None and number < 1:
            raise ValueError(f"`{name}` must be at least 1, not {number}")
    if parts is not None:
        return (lambda cutting: cutting.by_number(parts)), names
    if most is not None:
        return (lambda cutting: cutting.by_size(most)), names
    return (lambda cutting: cutting.at(names)) if names else None, names


# ---- the source and the output


def _output(whole: Model, request: _SplitArguments) -> Path | None:
    """Return the output. Refuse one of the wrong ending, or without permission to replace it."""
    if request.output is None:
        return None
    output = Path(request.output)
    is_package = output.suffix.lower() == PACKAGE
    if request.pipeline and not is_package:
        raise refusal(codes.WRONG_ENDING, f"a pipeline is an {PACKAGE}, not `{output.name}`", output)
    if request.pipeline:
        check_target(output, request.force, [whole])
        return output
    if is_package:
        message = f"the parts are packages in a folder, which is not a {PACKAGE} itself; only a pipeline is"
        raise refusal(codes.WRONG_ENDING, message, output)
    check_folder(output, request.force, [whole], PART_NAME)
    return output


def _source(
    chosen: Model, output: Path | None, request: _SplitArguments, found: list[Diagnostic], stack: ExitStack
) -> Model:
    """Return the model to divide: one that parts can be written of, or the completed one if there is no output.

    A text or a compiled model is first built as a whole, with its warnings added to `found`.
    """
    if chosen.kind in DIRECT:
        return chosen
    whole = completed(chosen)
    if output is None:
        return whole
    inputs = {name for each in interfaces(whole.program).values() for name in each.inputs}
    path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="miltext-"))) / f"Model{PACKAGE}"
    choices = BuildChoices.of(
        request,
        model=None,
        original=chosen if chosen.kind in WITH_DESCRIPTION else None,
        ranges={name: sizes for name, sizes in (request.ranges or {}).items() if name in inputs},
        **dict.fromkeys(("on_change", "progress", "expect")),
    )
    found += build_as_chosen(chosen, path, choices)
    source = open_model(path)
    source.name = chosen.name
    return source


# ---- writing


def _write(source: Model, planned: PlannedSplit, output: Path, request: _SplitArguments) -> list[Diagnostic]:
    """Write all parts, or none; return the warnings, each once."""
    options = WriteOptions(
        weights=request.weights if source.kind in DIRECT else None,
        **{name: getattr(request, name) for name in ("no_loss", "force", "check", "on_change", "progress", "expect")},
    )
    if request.pipeline:
        return write_pipeline(source, planned, output, options)
    if request.expect:
        total = sum(each.shown.weights for each in planned.parts)
        request.expect(lambda: 2 * total)  # each weight is compared and written
    options = replace(options, expect=None, force=False)
    found: dict[Diagnostic, None] = {}
    with Staging(replace=True, parents=True) as staging:
        folder = staging.place(output)
        folder.mkdir()
        for each in planned.parts:
            path = folder / each.shown.name
            ranges = planned.ranges_of(each)
            written = write_part(source, path, each.planner, options, ranges, planned.entries)
            found.update(dict.fromkeys(written))
        staging.commit()
    return [*found]
