"""Linking of several models to one, whose values are bound to each other, or whose functions share weights."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import OUTPUTS, work_of, write
from miltext.building.choices import BuildChoices, Expect
from miltext.building.new_model import NewModel, rename_files
from miltext.building.pruning import unite_files
from miltext.building.storing import Storing
from miltext.containers.opening import open_model
from miltext.containers.programs import BareProgram
from miltext.descriptions.losses import warnings_of
from miltext.diagnostics import codes
from miltext.drafting.judging import judge
from miltext.files.refusals import refusal
from miltext.linking.agreement import refine, require_agreement, type_of
from miltext.linking.bindings import bound, kept_outputs
from miltext.linking.constants import unite_constants
from miltext.linking.describing import head_of_functions, head_of_joined
from miltext.linking.joining import join
from miltext.linking.opsets import common_opset, left_out
from miltext.linking.parts import Functions, LinkedPart, Models, read_parts
from miltext.linking.report import Linked, LinkedValue, UnitedWeights
from miltext.models.outputs import check_kept, check_target
from miltext.schema.proto import Program
from miltext.schema.types import TensorType
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.keywords import option, taking
from miltext.syntax.recursion import with_room
from miltext.weight_files.model_weights import blob_values
from miltext.weight_files.paths import resolve

if TYPE_CHECKING:
    from miltext.building.given_weights import GivenWeights
    from miltext.descriptions.losses import DescriptionLoss
    from miltext.descriptions.ranges import Range
    from miltext.files.writing import Progress
    from miltext.linking.bindings import Bindings
    from miltext.linking.parts import End
    from miltext.schema.tensors import InType


@dataclass(frozen=True, kw_only=True)
class LinkOptions:
    """The options of `miltext.link`, which describes them."""

    bind: Mapping[str, str | Sequence[str]] | None = None
    apart: Iterable[str] | str = ()
    keep: Iterable[str] | str = ()
    cast: bool = option(False, "Cast bound values whose data types differ.")
    functions: bool = option(False, "Make each model a function of the whole, with the model's name.")
    function: Functions = None
    weights: GivenWeights | None = None
    ranges: Mapping[str, Range] | None = None
    no_loss: bool = option(False, "Refuse a loss of details in the descriptions.")
    force: bool = option(False, "Replace OUT if it exists.")
    check: bool = option(True, "Write it even with errors that `miltext check` finds; only drafts must be correct.")
    progress: Progress | None = None
    expect: Expect | None = None


@dataclass(frozen=True)
class _LinkRequest(LinkOptions):
    models: Models
    output: str | os.PathLike[str]
    options: LinkOptions | None = field(default=None, kw_only=True)


@taking(_LinkRequest)
def link(request: _LinkRequest) -> Linked:
    """Write one ML Program of several models; return what is bound, and the warnings.

    An input takes the last output of its name of an earlier model, otherwise it is one with the input of its name of an
    earlier model. Outputs that no input takes are the outputs of the whole. States of one name stay apart. An input,
    state or output whose name an earlier one has gets the name of its model before its own. The opset is the newest of
    the models, and the weights are in one file, equal ones once. The metadata are those of the first model that has
    some. A draft is completed first. Linking the same models again writes the same bytes.

    Args:
        models: Models by name, or several models, whose names are those of their files without the endings.
        output: An `.mlpackage`, `.mlmodel` or `.mlmodelc`.
        bind: The inputs that take an output, by the output: `{"encoder.y": "decoder.x"}`; a model is named by its name
            or its place, from 0 on. Two inputs or two states that are bound to each other are one.
        apart: Names of inputs that are no output and no input of another model, in spite of their names.
        keep: The outputs of the whole in their order, `y` or `encoder.y`.  [all that no input takes]
        cast: Whether bound values are cast where their data types differ.
        functions: Whether each model becomes a function of its name, and nothing is bound; the first is the default.
        function: The function of every model, or a mapping of models to their functions.  [the default one]
        weights, ranges, no_loss, force, check, progress, expect: As in `miltext.build`.
        options: A `LinkOptions`, in place of these keywords.

    Returns:
        The bound values, the inputs and outputs, the renamed values, the bytes of weights, and the warnings.

    Raises:
        ModelError: MIL430 for an unknown name, MIL485 for models that cannot be linked, MIL488 for a binding whose
            types differ, MIL489 for inputs of one name that differ; MIL254 and MIL257 for a model that is no ML
            Program; and the errors of `miltext.build`.

    Example:
        done = miltext.link(["Encoder.mlpackage", "Decoder.mlpackage"], "Whole.mlpackage")
    """
    with gc_paused:
        return _linked(request, Path(request.output))


@with_room
def _linked(request: _LinkRequest, output: Path) -> Linked:
    if output.suffix.lower() not in OUTPUTS:
        message = f"linked models are an .mlpackage, an .mlmodel or an .mlmodelc, not `{output.name}`"
        raise refusal(codes.WRONG_ENDING, message, output)
    choices = BuildChoices(
        weights=request.weights,
        ranges=request.ranges,
        no_loss=request.no_loss,
        force=request.force,
        check=request.check,
        progress=request.progress,
        expect=request.expect,
    )
    parts = read_parts(request.models, request.function, choices)
    check_target(output, request.force, [part.source for part in parts])
    linked = Linked()
    losses: list[DescriptionLoss] = []
    linked.warnings += [each for part in parts for each in part.built.warnings]
    new = _of_functions(parts, linked, losses) if request.functions else _joined(request, parts, linked, losses)
    _write(new, parts, output, choices, linked, losses)
    return linked


def _joined(request: _LinkRequest, parts: list[LinkedPart], linked: Linked, losses: list[DescriptionLoss]) -> NewModel:
    """Return the model of one function."""
    apart, keep = ([each] if isinstance(each, str) else [*each] for each in (request.apart, request.keep))
    made = bound(parts, request.bind or {}, apart)
    outputs = kept_outputs(made, keep)
    refined = refine(made, linked.warnings.append)
    opset = common_opset(parts)
    casts = require_agreement(made, request.cast, opset)
    linked.values = [_value(made, end, refined, casts) for end in made.sources]
    linked.warnings += [each for part in parts for each in left_out(part)]
    _take_files(parts)
    joined = join(made, outputs, casts, opset, prune=bool(keep))
    linked.inputs, linked.outputs, linked.renamed = [*joined.taken.values()], [*joined.given.values()], joined.renamed
    new = NewModel(head_of_joined(made, joined, losses))
    new.spec.mlProgram.CopyFrom(joined.program)
    return new


def _value(made: Bindings, end: End, refined: Mapping[End, str], casts: set[End]) -> LinkedValue:
    source, known = made.sources[end], type_of(made, end)
    dtype = known.dtype if end in casts and isinstance(known, TensorType) else ""
    spelled = made.spelled(source), made.spelled(end)
    return LinkedValue(*spelled, source.side != "output", end in made.stated, refined.get(end, ""), dtype)


def _of_functions(parts: Sequence[LinkedPart], linked: Linked, losses: list[DescriptionLoss]) -> NewModel:
    """Return the model whose functions are those of the models."""
    _take_files(parts)
    program = Program(version=max(part.built.spec.mlProgram.version for part in parts))
    for part in parts:
        own = part.built.spec.mlProgram
        program.functions[part.name].CopyFrom(part.message)
        program.docString = program.docString or own.docString
        for key, value in own.attributes.items():
            if key not in program.attributes:
                program.attributes[key].CopyFrom(value)
    linked.functions = [part.name for part in parts]
    new = NewModel(head_of_functions(parts, program, losses))
    new.spec.mlProgram.CopyFrom(program)
    return new


# ---- weights and writing


def _take_files(parts: Sequence[LinkedPart]) -> None:
    """Make the names of weight files and of arrays different in each model. Raise WeightsError for a missing file."""
    for part in parts:
        for failure in part.built.missing.values():
            raise failure
        rename_files(part.built.spec.mlProgram, {name: _own(part, name) for name in part.built.files})
        arrays = part.built.storing.arrays if part.built.storing is not None else {}
        for held in blob_values(part.built.spec.mlProgram) if arrays else ():
            blob = held.value.blobFileValue
            blob.fileName = _own(part, blob.fileName, at_end=True) if blob.fileName in arrays else blob.fileName


def _own(part: LinkedPart, name: str, *, at_end: bool = False) -> str:
    return f"{name}#{part.place}" if at_end else f"{part.place}/{name}"


def _write(
    new: NewModel,
    parts: Sequence[LinkedPart],
    output: Path,
    choices: BuildChoices,
    linked: Linked,
    losses: Sequence[DescriptionLoss],
) -> None:
    """Write the linked model, with the weights of its parts in one file."""
    arrays: dict[str, InType] = {}
    for part in parts:
        new.files.update({_own(part, name): path for name, path in part.built.files.items()})
        own = part.built.storing.arrays if part.built.storing is not None else {}
        arrays.update({_own(part, mark, at_end=True): array for mark, array in own.items()})
    new.linked = [part.source for part in parts]
    linked.warnings += warnings_of(losses, refused=choices.no_loss)
    before = sum(path.stat().st_size for part in parts for path in {*part.built.files.values()})
    before += sum(array.size for array in arrays.values())
    unite_files(new, choices, partial(work_of, new, output))
    linked.renamed = unite_constants(new.spec.mlProgram, linked.renamed)
    new.storing = Storing(new.spec.mlProgram, arrays, None, new.spec.specificationVersion)
    check_kept(output, [*new.storing.sources])
    whole = BareProgram("pb", new.spec.mlProgram, str(output), None)
    linked.warnings += judge(new, whole, output, choices)
    linked.warnings += write(new, whole, output, choices)
    linked.weights = UnitedWeights(before, _written_bytes(new, output))


def _written_bytes(new: NewModel, output: Path) -> int:
    """Return the size of the written weight files."""
    folder = open_model(output).model_path
    assert folder is not None
    names = {held.value.blobFileValue.fileName for held in blob_values(new.spec.mlProgram)}
    return sum(resolve(name, folder).stat().st_size for name in names)
