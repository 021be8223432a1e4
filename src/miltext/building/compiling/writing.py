"""Writing a compiled model: the `.mlmodelc` that Apple's compiler would write for a model, file by file.

A stage of a pipeline is an inner folder, `model0` and so on, with its weights.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from miltext.building.compiling.judging import refuse, warnings_of
from miltext.building.decompiling import order_inputs, strip, take_shapes
from miltext.building.new_model import ml_programs, models_with_programs
from miltext.building.overlaying import own_model
from miltext.building.writing import place_of, serialized, unedited, write_weights
from miltext.compiled import analytics
from miltext.compiled.coremldata import FILE_NAME, NAMES, TEXT, WHOLE_STAGES, coremldata, names_data
from miltext.compiled.metadata import metadata
from miltext.compiled.metadata_json import FILE_NAME as METADATA
from miltext.diagnostics import MiltextError, codes, warning
from miltext.files.contents import kind_of_model, stages
from miltext.files.refusals import BlamedPart, refusal
from miltext.files.staging import Staging
from miltext.files.writing import copy_file, write_new
from miltext.printing.coremlc import STRINGS, as_coremlc, says_what_is_described
from miltext.printing.flexible_shapes import ATTRIBUTE
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.stamps import BUILD_INFO
from miltext.schema.value_builders import immediate
from miltext.weight_files.model_weights import blob_values
from miltext.weight_files.paths import MODEL_PATH

if TYPE_CHECKING:
    from miltext.building.choices import BuildChoices
    from miltext.building.new_model import Added, NewModel
    from miltext.diagnostics import Diagnostic
    from miltext.files.writing import Progress
    from miltext.schema.proto import Value

OWN_FILES = (TEXT, FILE_NAME, METADATA, "analytics", "modelNames")
"""The own files of a compiled model, which cannot be weight files."""


def write_compiled(new: NewModel, output: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Write a model as an `.mlmodelc`; return warnings about lost facts and unproven parts.

    If the choices allow it, an existing folder is replaced after all files are written. Raise FileExistsError, OSError,
    WeightsError, PrintError, and ModelError as `refuse` does, and MIL301, MIL405, and MIL454 for omissions of the
    compiler.
    """
    restate(new)
    refuse(new, choices)
    with Staging(replace=choices.force, parents=True) as staging:
        made = staging.place(output)
        _make_folders(new, new.spec, made, choices.progress, {})
        left_out = _write_model(new.spec, made, choices)
        if choices.no_loss and left_out:
            raise refusal(codes.DESCRIPTION_LOSS, "; ".join(each.message for each in left_out))
        shown = metadata(new.spec, output.stem)  # of the values stored by now
        write_new(made / METADATA, [shown.text.encode()])
        _write_analytics(new.spec, made, analytics.details_of(_source(new)))
        staging.commit()
    return [*left_out, *warnings_of(new, shown.doubts)]


def compiled_work(new: NewModel) -> int:
    """Return the bytes that `write_compiled` reports as progress."""
    found = 0
    for spec in (new.spec, *stages(new.spec)):
        for name in _weights(new, spec):
            if name in new.pruned:
                found += sum(record.size for record in new.pruned[name])
            elif name in new.files:
                found += new.files[name].stat().st_size
            found += new.storing.size if new.storing and new.is_stored_in(name) else 0
    return found


def _make_folders(new: NewModel, spec: Spec, folder: Path, progress: Progress | None, written: dict[str, Path]) -> None:
    """Make the folders of a model and its stages, with their weight files; values to store get their offsets.

    A file of several stages is written once and then copied; `written` contains the files so far.
    """
    folder.mkdir()
    for index, stage in enumerate(stages(spec)):
        _make_folders(new, stage, folder / f"model{index}", progress, written)
    for name in sorted(_weights(new, spec)):
        _check_name(name)
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name in written:
            copy_file(written[name], target, progress)
        else:
            write_weights(new, name, name, target, progress)
        written.setdefault(name, target)


def _weights(new: NewModel, spec: Spec) -> set[str]:
    """Return the paths below `@model_path` of the existing weight files of a model, without its stages."""
    if kind_of_model(spec) != PROGRAM:
        return set()
    names = {held.value.blobFileValue.fileName.partition("/")[2] for held in blob_values(spec.mlProgram)}
    is_stored = new.storing and new.storing.program is spec.mlProgram
    return names & {*new.files} | ({new.store} if is_stored else set())


def _check_name(name: str) -> None:
    first = PurePosixPath(name).parts[0].casefold()
    if first in map(str.casefold, OWN_FILES) or re.fullmatch(r"model\d+", first):
        file_name = f"{MODEL_PATH}/{name}"
        message = f"the weight file {file_name!r} would be where a compiled model has a file of its own"
        raise refusal(codes.WEIGHT_FILE_OUTSIDE, message, about=BlamedPart("weight", file_name))


def _write_model(spec: Spec, folder: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Write the text and the description of a model, or of each stage; return the warnings."""
    left_out: list[Diagnostic] = _reordered(spec)
    for index, stage in enumerate(stages(spec)):
        with _naming_model(index):
            inner = _write_model(stage, folder / f"model{index}", choices)
        left_out += _about(index, inner)
        if kind_of_model(stage) not in WHOLE_STAGES:
            _write_analytics(stage, folder / f"model{index}", None)
    if kind_of_model(spec) == PROGRAM:
        dropped: list[Diagnostic] = []
        given = (spec.specificationVersion, spec.description, choices.versions, dropped.append)
        write_new(folder / TEXT, [as_coremlc(spec.mlProgram, *given).encode()])
        left_out += [each for each in dropped if each.code != codes.UNPROVEN_OUTPUT]
    elif spec.pipeline.names:
        (folder / NAMES).parent.mkdir()
        write_new(folder / NAMES, [names_data(spec.pipeline.names)])
    write_new(folder / FILE_NAME, [coremldata(spec)])
    return left_out


def _about(index: int, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics whose messages name the model of the pipeline."""
    return [each._replace(message=f"the model {index}: {each.message}") for each in found]


@contextmanager
def _naming_model(index: int) -> Iterator[None]:
    """Return a `with` block whose errors name the model of the pipeline."""
    try:
        yield
    except MiltextError as failure:
        failure.diagnostics = _about(index, failure.diagnostics)
        raise


def _reordered(spec: Spec) -> list[Diagnostic]:
    """Return a warning about functions whose order of inputs is lost, as neither text nor description contains it."""
    made = Spec(description=spec.description)
    for name in spec.mlProgram.functions if kind_of_model(spec) == PROGRAM else ():
        inputs = sorted(spec.mlProgram.functions[name].inputs, key=lambda value: value.name.encode())
        made.mlProgram.functions[name].inputs.extend(inputs)
    order_inputs(made)
    lost = [
        f"the order of the inputs of `{name}`"
        for name, function in sorted(made.mlProgram.functions.items())
        if list(function.inputs) != list(spec.mlProgram.functions[name].inputs)
    ]
    return [warning(codes.LEFT_OUT_BY_COMPILER, f"Apple's compiler leaves this out: {', '.join(lost)}")] if lost else []


def _write_analytics(spec: Spec, folder: Path, details: analytics.Tables | None) -> None:
    target = folder / analytics.FILE_NAME
    target.parent.mkdir()
    write_new(target, [analytics.analytics({**analytics.tables_of(spec), **(details or {})})])


def _source(new: NewModel) -> tuple[bytes, str]:
    """Return the bytes of the compiled `.mlmodel`, and its name without the ending.

    They are from the model's own file if it is unchanged, otherwise from the file in a package.
    """
    data = serialized(uncompiled(new))
    if new.origin is not None and (origin := unedited(data, new.origin)) is not None:
        return origin, new.origin.stem
    return data, place_of(new).stem


# ---- the additions of Apple's compiler


def restate(new: NewModel) -> None:
    """Restore the former compiler's entries in the programs of a decompiled model, and the shapes of functions with an
    unchanged description: their keys are unpublished hashes.

    The model's own shapes move to `own_shapes`, and stay in the program if they agree with the description.
    """
    if not new.added:
        new.own_shapes = [take_shapes(program) for program in ml_programs(new.spec)]
    for spec, added in zip(models_with_programs(new.spec), new.added, strict=False):
        _restate_entries(spec, added)
    for spec, shapes in zip(models_with_programs(new.spec), _shapes(new), strict=False):
        for name, attribute in shapes.items():
            function = spec.mlProgram.functions.get(name)
            if function is not None and says_what_is_described(attribute, spec.description, name, function):
                function.attributes[ATTRIBUTE].CopyFrom(attribute)


def _shapes(new: NewModel) -> list[dict[str, Value]]:
    """Return the former shapes of each ML Program's functions, by name."""
    return [added.shapes for added in new.added] or new.own_shapes


def _restate_entries(spec: Spec, added: Added) -> None:
    if not added.entries:
        return
    attributes = spec.mlProgram.attributes
    if BUILD_INFO not in attributes:
        attributes[BUILD_INFO].CopyFrom(immediate(STRINGS, {}))
    held = attributes[BUILD_INFO].immediateValue
    if held.HasField("dictionary"):
        held.dictionary.values.extend(added.entries)


def uncompiled(new: NewModel) -> Spec:
    """Return the message of a model in the form for a package."""
    if not new.added and not any(new.own_shapes):
        return own_model(new)
    spec = deepcopy(own_model(new))
    for program in ml_programs(spec) if new.added else ():
        strip(program)
    for program, shapes in zip(ml_programs(spec), new.own_shapes, strict=False):
        for name, attribute in shapes.items():
            program.functions[name].attributes[ATTRIBUTE].CopyFrom(attribute)
    return spec
