"""Linking of several models to one, whose values are bound to each other, or whose functions share weights."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.build import COMPILED, OUTPUTS, PACKAGE, work_of, write
from miltext.building.choices import BuildChoices
from miltext.building.compiling.other_files import files_beside
from miltext.building.new_model import NewModel
from miltext.building.pruning import refer_to_first, unite_files
from miltext.building.storing import Storing
from miltext.containers.programs import BareProgram
from miltext.descriptions.losses import warnings_of
from miltext.diagnostics import codes, warning
from miltext.drafting.judging import judge
from miltext.files.refusals import refusal
from miltext.linking.agreement import refine, require_agreement
from miltext.linking.bindings import bound, kept_outputs, later_outputs
from miltext.linking.describing import head_of_functions, head_of_joined
from miltext.linking.joining import join
from miltext.linking.opsets import common_opset, left_out
from miltext.linking.options import LinkOptions
from miltext.linking.parts import LinkedPart, read_parts
from miltext.linking.report import Linked, LinkedValue, UnitedWeights
from miltext.models.manifest import model_file
from miltext.models.outputs import check_kept, check_target
from miltext.schema.proto import Program
from miltext.schema.types import TensorType
from miltext.syntax.gc_pause import gc_paused
from miltext.syntax.keywords import taking
from miltext.syntax.names import fitting
from miltext.syntax.recursion import with_room
from miltext.weight_files.blob_storage import BlobFile
from miltext.weight_files.model_weights import blob_values
from miltext.weight_files.paths import resolve
from miltext.weight_files.usage import used_sizes

if TYPE_CHECKING:
    from miltext.descriptions.losses import DescriptionLoss
    from miltext.diagnostics import Diagnostic
    from miltext.linking.bindings import Bindings
    from miltext.linking.options import Models
    from miltext.linking.parts import End
    from miltext.schema.tensors import InType


@dataclass(frozen=True)
class _LinkRequest(LinkOptions):
    models: Models
    output: str | os.PathLike[str]
    options: LinkOptions | None = field(default=None, kw_only=True)


@taking(_LinkRequest)
def link(request: _LinkRequest) -> Linked:
    """Write one ML Program of several models; return the bindings, and the warnings.

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
        apart: Names of inputs that are neither bound to outputs nor joined with inputs of other models.
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
            types differ, MIL489 for inputs of one name that differ; MIL254 and MIL257 for a model that is not an ML
            Program; and the errors of `miltext.build`.
        TypeError: `functions` is given with `bind`, `apart`, `keep` or `cast`.

    Example:
        done = miltext.link({"old": "Old.mlpackage", "new": "New.mlpackage"}, "Both.mlpackage", functions=True)
    """
    with gc_paused:
        return _linked(request, Path(request.output))


@with_room
def _linked(request: _LinkRequest, output: Path) -> Linked:
    if request.functions and (request.bind or request.cast or [*request.apart] or [*request.keep]):
        raise TypeError("`functions` cannot be combined with `bind`, `apart`, `keep` or `cast`: leave these out")
    if output.suffix.lower() not in OUTPUTS:
        message = f"linked models are an .mlpackage, an .mlmodel or an .mlmodelc, not `{output.name}`"
        raise refusal(codes.WRONG_ENDING, message, output)
    choices = BuildChoices.of(request, prune_weights=True)
    parts = read_parts(request.models, request.function, choices)
    check_target(output, request.force, [part.source for part in parts])
    linked = Linked()
    losses: list[DescriptionLoss] = []
    linked.warnings += [each for part in parts for each in (*part.built.warnings, *_files_beside(part))]
    new = _of_functions(parts, linked, losses) if request.functions else _joined(request, parts, linked, losses)
    _write(new, parts, output, choices, linked, losses)
    return linked


def _files_beside(part: LinkedPart) -> Iterator[Diagnostic]:
    """Yield a warning about the further files of a package, which the whole does not have."""
    if part.built.package is not None and (others := files_beside(part.built)):
        message = f"other files of `{part.name}` are not kept: {', '.join(others)}"
        yield warning(codes.FILES_NOT_KEPT, message)


def _joined(request: _LinkRequest, parts: list[LinkedPart], linked: Linked, losses: list[DescriptionLoss]) -> NewModel:
    """Return the model of one function."""
    apart, keep = ([each] if isinstance(each, str) else [*each] for each in (request.apart, request.keep))
    made = bound(parts, request.bind or {}, apart)
    linked.warnings += later_outputs(made, apart)
    outputs = kept_outputs(made, keep)
    refined = refine(made, linked.warnings.append, losses)
    opset = common_opset(parts)
    casts = require_agreement(made, request.cast, opset)
    linked.values = [_value(made, end, refined, casts) for end in made.sources]
    linked.warnings += [each for part in parts for each in left_out(part)]
    linked.weights = _take_files(parts)
    joined = join(made, outputs, casts, opset, prune=bool(keep))
    linked.inputs, linked.outputs = [*joined.taken.values()], [*joined.given.values()]
    linked.inner = sorted(made.spelled(end) for end in made.used.difference(outputs))
    linked.renamed, linked.constants = joined.renamed, joined.constants
    new = NewModel(head_of_joined(made, joined, losses))
    new.spec.mlProgram.CopyFrom(joined.program)
    return new


def _value(made: Bindings, end: End, refined: Mapping[End, str], casts: set[End]) -> LinkedValue:
    source, known = made.sources[end], made.type(end)
    dtype = known.dtype if end in casts and isinstance(known, TensorType) else ""
    spelled = made.spelled(source), made.spelled(end)
    return LinkedValue(*spelled, source.side != "output", end in made.stated, refined.get(end, ""), dtype)


def _of_functions(parts: Sequence[LinkedPart], linked: Linked, losses: list[DescriptionLoss]) -> NewModel:
    """Return the model whose functions are those of the models, under similar names that need no quotes."""
    for part in parts:
        others = [each.name for each in parts if each is not part]
        part.name = fitting(part.name, others) or part.name
    linked.weights = _take_files(parts)
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


def _take_files(parts: Sequence[LinkedPart]) -> UnitedWeights:
    """Make the names of weight files and of arrays different in each model; values with equal records then refer to
    one. Return the bytes of the records.
    """
    for part in parts:
        part.claim(str(part.place))
    programs = [part.built.spec.mlProgram for part in parts]
    before = sum(size for sizes in used_sizes(programs).values() for size in sizes.values())
    refer_to_first(programs, {name: path for part in parts for name, path in part.claimed.files.items()})
    return UnitedWeights(before, before)


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
        new.files.update(part.claimed.files)
        arrays.update(part.claimed.arrays)
    new.linked = [part.source for part in parts]
    linked.warnings += warnings_of(losses, refused=choices.no_loss)
    _require_files(new, parts)
    if arrays:
        new.storing = Storing(new.spec.mlProgram, arrays, None, new.spec.specificationVersion)
        check_kept(output, [*new.storing.sources])
    unite_files(new, choices, partial(work_of, new, output))
    whole = BareProgram("pb", new.spec.mlProgram, str(output), None)
    linked.warnings += judge(new, whole, output, choices)
    linked.warnings += write(new, whole, output, choices)
    linked.weights = UnitedWeights(linked.weights.before, _written_bytes(new, output))


def _require_files(new: NewModel, parts: Sequence[LinkedPart]) -> None:
    """Raise WeightsError for a missing weight file of a model that the whole uses."""
    missing = {name: failure for part in parts for name, failure in part.built.missing.items()}
    for held in blob_values(new.spec.mlProgram) if missing else ():
        if held.value.blobFileValue.fileName in missing:
            raise missing[held.value.blobFileValue.fileName]


def _written_bytes(new: NewModel, output: Path) -> int:
    """Return the bytes of the records in the one written weight file; 0 without one."""
    held = next(blob_values(new.spec.mlProgram), None)
    if held is None:
        return 0
    ending = output.suffix.lower()
    folder = model_file(output).parent if ending == PACKAGE else output if ending == COMPILED else output.parent
    with BlobFile(resolve(held.value.blobFileValue.fileName, folder)) as file:
        return sum(blob.size for blob in file)
