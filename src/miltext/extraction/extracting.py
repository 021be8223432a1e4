"""Extraction of a part of a model between values, as a model or as text."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from miltext.building.build import require_ending
from miltext.building.choices import BuildChoices, WriteOptions
from miltext.checking.left_out import program_of
from miltext.checking.moved_texts import require_arrays
from miltext.containers.sources import Source, model_of
from miltext.descriptions.sizes import spell_sizes
from miltext.diagnostics import ModelError, ParseError, codes, warning
from miltext.drafting.building import build_as_chosen
from miltext.extraction.borders import Border
from miltext.extraction.cutting import as_planned
from miltext.extraction.planning import plan
from miltext.extraction.trimming import trimmed
from miltext.extraction.wanted import Wanted, function_with, listed, makes, wanted_values
from miltext.files.writing import WITH_DESCRIPTION, write_file
from miltext.ir.graph import Graph
from miltext.models.outputs import check_output
from miltext.parsing.lowering.left_out import LeavingOut
from miltext.parsing.parser import attempt
from miltext.printing.printing import to_text
from miltext.schema.opsets import specification_of
from miltext.syntax.editing import require_program
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.keywords import taking
from miltext.syntax.names import opset_text
from miltext.syntax.recursion import with_room
from miltext.weight_files.model_weights import blob_values

if TYPE_CHECKING:
    from miltext.descriptions.ranges import Range
    from miltext.diagnostics import Diagnostic
    from miltext.extraction.planning import PartPlan
    from miltext.models.model import Model
    from miltext.schema.proto import Program
    from miltext.schema.tensors import InType


Planner: TypeAlias = "Callable[[Program], PartPlan]"
"""A function that plans a part of a Program."""

INPUTLESS = 9
"""The first specification version in which a model may have no inputs: for earlier ones Core ML reports "Empty input is
only valid in specification version >= 9" (coremltools' issue 2578).
"""


@dataclass(frozen=True, kw_only=True)
class ExtractOptions(WriteOptions):
    """The options of `miltext.extract`, which describes them."""

    inputs: Iterable[str] | str = ()
    function: str | None = None


@dataclass(frozen=True)
class _ExtractRequest(ExtractOptions):
    source: Source
    values: Iterable[str] | str
    output: str | os.PathLike[str]
    options: ExtractOptions | None = field(default=None, kw_only=True)


@taking(_ExtractRequest)
def extract(request: _ExtractRequest) -> list[Diagnostic]:
    """Write the part of a model that computes some `values` from the `inputs`; return the warnings.

    The part is a model with a single function. Names stay, the description keeps all valid parts, and only used weights
    are kept. The part contains all writes to a state that it uses. A draft is completed first.

    Args:
        source: MIL text, a path, a Program or a Model.
        values: The outputs of the part: names, or one name.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`; or a `.mil` for a text, which keeps comments and layout of
            the source; impossible inputs and outputs of a model are then warnings.
        inputs: Values that become inputs, with their types, in the sizes of `ranges` or else in sizes derived from the
            ranges of the model's inputs. Needed inputs of the function are inputs, too.
        function: The function with the values.  [the only one with all of them]
        model: The model in a pipeline.  [the model with the values]
        weights, ranges, no_loss, force, check, on_change, progress, expect: As in `miltext.build`.
        options: An `ExtractOptions`, in place of these keywords.

    Returns:
        The warnings, as of `miltext.build`.

    Raises:
        ModelError: MIL430 for an unknown name, MIL446 for an impossible input, MIL447 for an input that no value needs,
            MIL448 for an impossible output; and the errors of `miltext.build`.

    Example:
        miltext.extract("Model.mlpackage", "flat_cast_fp16", "Part.mlpackage")
    """
    wanted, function, output = wanted_values(request.values, request.inputs), request.function, Path(request.output)
    require_ending(output, "a part of a model")
    whole = model_of(request.source)
    source = model_with(whole, wanted, request.model)
    if output.suffix.lower() == ".mil":
        return _write_text(source, wanted, function, output, request.force)
    ranges = {**_that_follow(source, wanted, function), **(request.ranges or {})}
    return write_part(source, output, partial(_checked_plan, wanted, function, request.check), request, ranges)


def write_part(
    source: Model,
    output: Path,
    planner: Planner,
    options: WriteOptions,
    ranges: Mapping[str, Range],
    elsewhere: Collection[tuple[str, str]] = (),
) -> list[Diagnostic]:
    """Write the part of a model that the `planner` plans; return the warnings. `ranges` are the sizes of its inputs,
    and `elsewhere` the entries of the description that other parts have.

    Raise as `miltext.build` does, and as the planner.
    """
    reported: list[Diagnostic] = []
    choices = part_choices(source, planner, options, ranges, reported, elsewhere)
    built = build_as_chosen(source, output, choices)
    return [*reported, *(each for each in built if each.code != codes.UNUSED_WEIGHTS or each.notes)]


def part_choices(
    source: Model,
    planner: Planner,
    options: WriteOptions,
    ranges: Mapping[str, Range],
    reported: list[Diagnostic],
    elsewhere: Collection[tuple[str, str]] = (),
) -> BuildChoices:
    """Return the choices to build a planned part, with only its weights; the build adds warnings to `reported`."""
    return BuildChoices.of(
        options,
        model=None,
        original=source if source.kind in WITH_DESCRIPTION else None,
        ranges=ranges,
        prune_weights=True,
        elsewhere=elsewhere,
        edit=partial(_edit, _RequestedPart(planner, source.specification_version or 0, reported)),
    )


def _checked_plan(wanted: Wanted, function: str | None, check: bool, program: Program) -> PartPlan:
    """Return the plan of a part; with `check`, refuse inputs and outputs that a model cannot have."""
    planned = plan(program, wanted, function)
    for fault in Border.of(planned).faults() if check else ():
        raise fault
    return planned


def _that_follow(source: Model, wanted: Wanted, function: str | None) -> dict[str, str]:
    """Return the sizes of a part's inputs, derived from the ranges in a model's description."""
    if not wanted.inputs or source.kind not in WITH_DESCRIPTION or source.description is None:
        return {}
    from miltext.extraction.open_sizes import ranges_that_follow

    found = ranges_that_follow(source, function_with(Graph(source.program), wanted, function), wanted.inputs)
    return {name: spell_sizes(sizes) for name, sizes in found.items()}


def model_with(whole: Model, wanted: Wanted, place: str | int | None) -> Model:
    """Return the ML Program at a place in a pipeline; without a place, the only one that computes the values, if any.

    Raise ModelError as `Model.select` does.
    """
    if place is None and whole.is_pipeline:
        found = [
            each.place
            for each in whole.programs()
            if any(makes(function, wanted) for function in Graph(each.model.program).functions.values())
        ]
        place = found[0] if len(found) == 1 else None
    return whole.select(place)


@with_room
def part_text(
    source: Model, values: Iterable[str] | str, inputs: Iterable[str] | str = (), *, function: str | None = None
) -> tuple[str, list[Diagnostic]]:
    """Return the text of the part that `extract` would write of an ML Program, and the warnings.

    The part of a text keeps its comments and layout, and a draft is completed first. Impossible inputs and outputs of a
    model are warnings (MIL446, MIL448). Raise ModelError and ParseError as `extract` does.
    """
    with gc_paused:
        return _part_text(source, wanted_values(values, inputs), function)


def _part_text(source: Model, wanted: Wanted, function: str | None) -> tuple[str, list[Diagnostic]]:
    text, program, found = _read(source)
    try:
        planned = plan(program, wanted, function)
    except ModelError as failure:
        failure.path = source.name
        raise
    refused = Border.of(planned).faults()
    faults = [each._replace(severity="warning") for fault in refused for each in fault.diagnostics]
    part = as_planned(planned)
    made = to_text(part) if text is None else trimmed(text, planned, part.functions[planned.function])
    if text is not None:
        require_program(attempt(made, LeavingOut()), part, source.name)
    return made, [*found, *faults, *_left_out(planned)]


def _write_text(source: Model, wanted: Wanted, function: str | None, output: Path, force: bool) -> list[Diagnostic]:
    """Write the text of a part, and return the warnings.

    Raise FileExistsError for an existing file, unless `force`; ModelError (MIL406) for arrays elsewhere.
    """
    check_output(str(output), "mil", str(source.path or "-"), force=force)
    text, reported = part_text(source, wanted.outputs, wanted.inputs, function=function)
    require_arrays(text, output, source.name, source.model_path)
    write_file(output, [text.encode()], replace=force)
    return reported


def _read(source: Model) -> tuple[str | None, Program, list[Diagnostic]]:
    """Return the text of a source, if it is one, the program, and warnings; omitted values of a text stay open."""
    text = source.text if source.kind == "mil" else None
    if text is None:
        return None, source.program, []
    program = attempt(text) or program_of(text, ())[0]
    if program is not None:
        return text, program, []
    try:
        return text, source.program, []
    except ParseError as failure:
        from miltext.drafting.draft import Draft

        draft = Draft.behind(failure, source)
        if draft is None:
            raise
    return (*_read(draft.model)[:2], draft.findings)


class _RequestedPart(NamedTuple):
    """The requested part of a model of a specification version. Warnings are collected in `warnings`."""

    planner: Planner
    version: int
    warnings: list[Diagnostic]


@with_room
def _edit(request: _RequestedPart, program: Program, arrays: dict[str, InType]) -> dict[str, InType]:
    """Reduce a program to the part; return its arrays, which must be stored."""
    planned = request.planner(program)
    version = max(request.version, specification_of(program.functions[planned.function].opset))
    request.warnings.extend([*_left_out(planned), *_inputless(planned, version)])
    program.CopyFrom(as_planned(planned))
    named = {held.value.blobFileValue.fileName for held in blob_values(program)}
    return {name: array for name, array in arrays.items() if name in named}


def _inputless(planned: PartPlan, version: int) -> list[Diagnostic]:
    """Return a warning about a part without inputs if Core ML cannot run such a model of its version."""
    if planned.taken or planned.new or version >= INPUTLESS:
        return []
    depends = "depends" if len(planned.outputs) == 1 else "depend"
    message = f"{listed(planned.outputs)} {depends} on no input, and Core ML runs a model that takes nothing from "
    return [
        warning(codes.IMPOSSIBLE_PART_OUTPUT, f"{message}specification {INPUTLESS} (ios18) on: this one has {version}")
    ]


def _left_out(planned: PartPlan) -> list[Diagnostic]:
    """Return a warning about omitted blocks, if there are any."""
    if not planned.left_out:
        return []
    opsets = listed([opset_text(each) for each in planned.left_out])
    return [
        warning(
            codes.LEFT_OUT_OF_PART,
            f"the block of `{planned.function}` for {opsets} is left out, as it does not have the values",
        )
    ]
