"""Building: a model from MIL text, from a text and the model it was printed from, or from a compiled model."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.diagnostics import MiltextError, ModelError, Note, error, warning
from miltext.models.building.carrying import carry, surroundings
from miltext.models.building.changes import Counterparts, around, changes
from miltext.models.building.choices import NO_CHOICES, Choices
from miltext.models.building.counterparts import Version
from miltext.models.building.decompiling import decompile, order_inputs, strip
from miltext.models.building.description import NO_SIZES, describe, known_version, required_version, update
from miltext.models.building.filling import Array, Filled, fill
from miltext.models.building.given_weights import GivenFolder, with_folder
from miltext.models.building.new_model import NewModel, ml_programs, path_to, way_to
from miltext.models.building.placing import placed
from miltext.models.building.pruning import note_unused, prune
from miltext.models.building.ranges import read_ranges
from miltext.models.building.redescribing import redescribe
from miltext.models.building.storing import WIDE_INTEGERS_SINCE, Storing
from miltext.models.building.writing import work, write_model
from miltext.models.contents import parse_text
from miltext.models.model_weights import MODEL_PATH, BlobFolder, LooseFolder, blob_values, resolve
from miltext.models.outputs import check_kept, check_target
from miltext.models.pipelines.faults import faults
from miltext.models.pipelines.renaming import rename_features
from miltext.models.pipelines.value_names import value_names
from miltext.models.refusals import WeightsError, refusal
from miltext.schema.function_io import interfaces
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import values
from miltext.syntax.literals import quote
from miltext.syntax.names import fitting, unfit

if TYPE_CHECKING:
    from miltext.diagnostics import Diagnostic
    from miltext.models.building.description import Loss
    from miltext.models.building.given_weights import GivenWeights
    from miltext.models.model import Model
    from miltext.models.sizes import Sizes
    from miltext.schema.function_io import Interface
    from miltext.schema.proto import Program

OUTPUTS = (".mlpackage", ".mlmodel")
WITH_DESCRIPTION = ("mlpackage", "mlmodel", "mlmodelc")


def build(source: Model, output: str | os.PathLike[str], choices: Choices = NO_CHOICES) -> list[Diagnostic]:
    """Write an `.mlpackage` or `.mlmodel` with the program of `source`; returns the warnings there are.

    It does and raises what `miltext.build` does, but refuses drafts: ParseError, MIL112 or MIL113.
    """
    output = Path(output)
    new = prepare(source, output, choices)
    return write(new, source, output, choices)


def prepare(source: Model, output: Path, choices: Choices) -> NewModel:
    """Return the model that is to be written, whole but for what is stored on the way. Raise as `build` does."""
    if output.suffix.lower() not in OUTPUTS:
        message = f"a model is built as an .mlpackage or an .mlmodel, not as {output.name!r}"
        raise refusal("MIL401", message, output)
    original = choices.original
    check_target(output, choices.force, [source, original] if original else [source])
    if original is None and source.kind in WITH_DESCRIPTION:
        original = source
    try:
        asked = read_ranges(choices.ranges)
        if asked and choices.description is not None:
            raise refusal("MIL425", "sizes of inputs are asked for beside a description, which says them itself")
        new = _alone(source, choices, asked) if original is None else _from(original, source, choices, asked)
        _check_read(new, output, choices)
        if choices.renames:
            _rename(new.spec, original, choices)
        _judge(new.losses, choices.no_loss, new.warnings)
        new.changes = [*changes(new.around, around(new.spec), new.known, choices.renames or {})]
        prune(new, output) if choices.prune_weights else note_unused(new)
    except ModelError as failure:
        raise placed(failure, source) from failure
    return new


def _rename(spec: Spec, original: Model | None, choices: Choices) -> None:
    """Give features new names; if that is checked, an ML Program gets none that is not an identifier (MIL426)."""
    assert choices.renames is not None
    way = [spec] if original is None else way_to(original.at(choices.model), original, spec)
    rename_features(way, choices.renames)
    for name in choices.renames.values():
        why = unfit(name) if choices.check else ""
        if why and any(name in value_names(program) for program in ml_programs(spec)):
            near = fitting(name)
            notes = [Note(f"did you mean `{near}`?")] if near else []
            raise refusal("MIL426", f"the name {quote(name)} {why}", None, *notes)


def write(new: NewModel, source: Model, output: Path, choices: Choices) -> list[Diagnostic]:
    """Write a model that was prepared; returns the warnings there are. Raise as `build` does."""
    if choices.expect:
        choices.expect(partial(work, new, output))
    try:
        write_model(new, output, choices.force, choices.progress)
    except ModelError as failure:
        raise placed(failure, source) from failure
    for change in new.changes if choices.on_change else ():
        choices.on_change(change)  # type: ignore[misc]
    return new.warnings


def store(source: Model, output: Path, weights: str | os.PathLike[str] | None = None) -> None:
    """Write a text's program, with the arrays that it names in a weight file, as an `.mlmodel` without a description.

    It is for those who run the program. The weight files that it names are in the folder `weights`, or in that of the
    text. Raise as `build` does.
    """
    program, arrays = _program(source, [])
    new = NewModel(Spec(specificationVersion=WIDE_INTEGERS_SINCE, mlProgram=program))
    try:
        write_model(_with_weights(new, source, arrays, Choices(weights=weights)), output, False, None)
    except ModelError as failure:
        raise placed(failure, source) from failure


def _check_read(new: NewModel, output: Path, choices: Choices) -> None:
    """Refuse a target that has an array of the text or the description in it; a package that is written again keeps
    what is in it.
    """
    is_kept = new.package is not None and output.exists() and output.samefile(new.package)
    if not is_kept:
        described = [] if choices.description is None else [Path(choices.description)]
        check_kept(output, [*(new.storing.sources if new.storing is not None else ()), *described])


def _program(source: Model, originals: list[Program]) -> Filled:
    """Return the program of a source; a text is read with what it leaves out, unless its program was asked for
    already.
    """
    if source.kind != "mil" or "program" in vars(source):
        return Filled(deepcopy(source.program), {})
    return fill(source.text or "", source.name, source.model_path or Path(), originals)


def _edited_program(source: Model, originals: list[Program], choices: Choices) -> Filled:
    """Return the program of a source, as it is to be written."""
    program, arrays = _program(source, originals)
    return Filled(program, choices.edit(program, arrays) if choices.edit else arrays)


def _judge(losses: Iterable[Loss], refused: bool, warnings: list[Diagnostic]) -> None:
    """Warn of what a description loses, or refuse it (MIL454)."""
    if refused and losses:
        failure = refusal("MIL454", "")
        (way,) = failure.diagnostics[0].notes
        failure.diagnostics = [error("MIL454", loss.message, None, way) for loss in losses]
        raise failure
    warnings += [warning("MIL450", loss.message) for loss in losses if not loss.is_meant]


def _alone(source: Model, choices: Choices, asked: Mapping[str, Sizes]) -> NewModel:
    """Return the model of a program by itself."""
    program, arrays = _edited_program(source, [], choices)
    if choices.description is not None:
        new = NewModel(Spec(mlProgram=program))
        redescribe(new.spec, choices.description, new.spec)
        return _with_weights(new, source, arrays, choices)
    description = describe(program, asked)
    version = known_version(program, description)
    new = NewModel(Spec(specificationVersion=version, description=description, mlProgram=program))
    return _with_weights(new, source, arrays, choices)


def _with_weights(new: NewModel, source: Model, arrays: dict[str, Array], choices: Choices) -> NewModel:
    """Return the model of a program by itself, with the weight files that it names and the arrays to be stored."""
    try:
        folder = GivenFolder(LooseFolder(source.model_path or Path.cwd()), choices.weights, [new.spec.mlProgram])
        new.find_files(folder)
    except WeightsError as failure:
        found = failure.diagnostics[0]
        if found.code == "MIL302":
            way = "name the folder of the weights with --weights, or with --from the model that the program is of"
            failure.diagnostics[0] = found._replace(notes=(*found.notes[:-1], Note(way)))
        raise
    _store(new, new.spec, arrays, choices.externalize, None)
    return new


def _from(original: Model, source: Model, choices: Choices, asked: Mapping[str, Sizes]) -> NewModel:
    """Return the original with the program of the source at its place; a whole pipeline as it is, and a model that is
    not an ML Program where it is described anew.
    """
    if original.kind not in WITH_DESCRIPTION:
        raise refusal("MIL404", f"a model of the kind `{original.kind}` has only a program", original.name)
    if source is original and (source.models or (source.type != PROGRAM and choices.description is not None)):
        if asked:
            raise refusal("MIL425", "sizes are asked for an input of a whole pipeline", source.name)
        new = _original(original, {}, choices.weights)
        if choices.description is not None:
            _redescribe(new, choices, None)
    else:
        chosen = original.select(choices.model)
        before = _before(chosen, changed=source is original and "program" in vars(chosen))
        program, arrays = _edited_program(source, [chosen.program], choices)
        new = _original(original, {chosen: program}, _given(original, source, choices), asked)
        if original.kind == "mlmodelc":
            strip(program)
        way = way_to(chosen, original, new.spec)
        is_made = chosen.kind == "mlmodelc" and chosen.description is None  # the description, of this very program
        is_edited = before.program is None or _wire(before.program) != _wire(program)
        if choices.description is not None:
            _redescribe(new, choices, way[-1] if is_edited else None)
        elif (is_edited or asked) and not is_made:
            new.known[path_to(chosen, original) or ""] = _edited(new, way, before, asked, choices.check)
        _store(new, way[-1], arrays, choices.externalize, original.model_path)
    if original.kind == "mlmodelc":
        order_inputs(new.spec)
    return new


def _given(original: Model, source: Model, choices: Choices) -> GivenWeights | None:
    """Return the weights that are given for a program: those of the model that it is in, too, if it is not a text."""
    if source is original or source.kind not in WITH_DESCRIPTION or source.model_path is None:
        return choices.weights
    return with_folder(choices.weights, source.model_path)


def _redescribe(new: NewModel, choices: Choices, edited: Spec | None) -> None:
    """Describe a model anew, and refuse a description by which models of a pipeline are not connected any more; unless
    that is not checked, and only told.
    """
    assert choices.description is not None
    before = {*faults(new.spec)}
    redescribe(new.spec, choices.description, edited)
    for fault in faults(new.spec):
        if fault not in before and choices.check:
            raise refusal(fault.code, fault.message, choices.description)
        new.warnings += [warning(fault.code, fault.message)] * (fault not in before)


def _wire(program: Program) -> bytes:
    return program.SerializeToString(deterministic=True)


def _before(chosen: Model, changed: bool) -> Version:
    """Return the program that the description of a model goes with, as it was read.

    One that may have been `changed` in memory is read again; it is not known where that does not give the same.
    """
    program: Program | None = chosen.program
    if changed:
        program = _read_again(chosen)
    if program is None or interfaces(program) != chosen.interfaces:
        return Version(chosen.interfaces, None)
    return Version(chosen.interfaces, strip(deepcopy(program)) if chosen.kind == "mlmodelc" else deepcopy(program))


def _read_again(model: Model) -> Program | None:
    if model.text is not None:
        return parse_text(model.text, model.name)
    with suppress(MiltextError):
        return model.reopen().program if model.reopen else None
    return None


def _edited(new: NewModel, way: list[Spec], before: Version, asked: Mapping[str, Sizes], check: bool) -> Counterparts:
    """Have the descriptions and versions of a model, and of the pipelines on the way to it, fit its edited program and
    the sizes that are `asked`. Return what its functions were.
    """
    spec = way[-1]
    known: Counterparts = {}
    after = interfaces(spec.mlProgram)
    needed = required_version(before.program, spec.description) if before.program else 0
    if asked or _listed(after) != _listed(before.interfaces):
        pipelines = surroundings(way, check)
        losses, known = update(spec.description, before, spec.mlProgram, after, asked)
        new.losses += losses
        carried = carry(pipelines, spec, known)
        new.losses += carried.losses
        new.warnings += carried.warnings
    version = required_version(spec.mlProgram, spec.description)
    for each in way if version > needed else ():
        each.specificationVersion = max(each.specificationVersion, version)
    return known


def _listed(interfaces: Mapping[str, Interface]) -> list[tuple[str, list[list[object]]]]:
    """Return what functions take and give, in its order."""
    return [(name, [[*types.items()] for types in each.sides.values()]) for name, each in interfaces.items()]


def _original(
    original: Model,
    programs: Mapping[Model, Program],
    weights: GivenWeights | None,
    asked: Mapping[str, Sizes] = NO_SIZES,
) -> NewModel:
    """Return a model that has a description, to be written again; `programs` take the place of its models' own, and
    may name weight files that are given.
    """
    if original.kind == "mlmodelc":
        return _compiled(original, programs, weights, asked)
    assert original.spec is not None  # it is not compiled
    new = NewModel(deepcopy(original.spec), package=original.path if original.kind == "mlpackage" else None)
    lacking = _blob_names(*ml_programs(new.spec))
    new.around = around(new.spec)
    new.former = {name.partition("/")[2] for name in lacking}
    for chosen, program in programs.items():
        way_to(chosen, original, new.spec)[-1].mlProgram.CopyFrom(program)
    folder = GivenFolder(BlobFolder(original.model_path), weights, programs.values() or ml_programs(new.spec), lacking)
    new.find_files(folder, lacking)
    new.given = folder.taken
    return new


def _compiled(
    original: Model, programs: Mapping[Model, Program], weights: GivenWeights | None, asked: Mapping[str, Sizes]
) -> NewModel:
    """Return a compiled model turned back."""
    if weights is not None and not programs:
        raise refusal("MIL311", "each model of a compiled pipeline has its own weights", original.name)
    folders = {
        each: GivenFolder(BlobFolder(each.model_path), weights, [program], _blob_names(each.program))
        for each, program in programs.items()
    }
    new = decompile(original, programs, folders, asked=asked)
    new.around = around(new.spec)
    return new


def _blob_names(*programs: Program) -> set[str]:
    """Return the weight files that programs name, by fileName."""
    return {held.value.blobFileValue.fileName for each in programs for held in blob_values(each)}


def _store(new: NewModel, spec: Spec, arrays: dict[str, Array], externalize: int | None, folder: Path | None) -> None:
    """Note what is to be stored, in the first weight file that the program names or else in coremltools'.

    `folder` is that of the original; a file that is there already is kept, and added to.
    """
    new.storing = Storing(spec.mlProgram, arrays, externalize, spec.specificationVersion)
    named = {held.value.blobFileValue.fileName.partition("/")[2] for held in values(spec.mlProgram)}
    new.store = min(named & set(new.files), key=lambda name: (name in new.given, name), default=new.store)
    if folder and new.store not in new.files and os.path.lexists(folder / new.store):
        new.files[new.store] = resolve(f"{MODEL_PATH}/{new.store}", folder)
