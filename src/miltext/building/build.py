"""Building: a model from MIL text, from a text and its original model, or from a compiled model.

`prepare` makes the whole model, step by step, and `write` writes it, so no partial model is written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from miltext.building.choices import NO_CHOICES, BuildChoices
from miltext.building.compiling.judging import refuse_kinds
from miltext.building.compiling.other_files import files_beside
from miltext.building.compiling.writing import compiled_work, write_compiled
from miltext.building.decompiling import order_inputs, strip
from miltext.building.editing import require_fit
from miltext.building.filling import Filled, program_of
from miltext.building.given_weights import GivenFolder
from miltext.building.new_model import NewModel, ml_programs, way_to
from miltext.building.originals import remade, version_before
from miltext.building.placing import placed
from miltext.building.pruning import settle_unused
from miltext.building.redescribing import Edited, redescribe
from miltext.building.storing import WIDE_INTEGERS_SINCE, Storing
from miltext.building.updates import follow
from miltext.building.writing import work, write_model
from miltext.descriptions.changes import around, changes
from miltext.descriptions.losses import warnings_of
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION, own_head
from miltext.diagnostics import ModelError, Note, PrintError, codes, warning
from miltext.files.contents import stages
from miltext.files.refusals import WeightsError, refusal
from miltext.files.writing import WITH_DESCRIPTION
from miltext.models.outputs import check_kept, check_target
from miltext.pipelines.connections import WHOLE
from miltext.pipelines.faults import faults
from miltext.pipelines.renaming import rename_features, value_names
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import values
from miltext.schema.wire import wire_of
from miltext.syntax.names import unfit
from miltext.weight_files.model_weights import LooseFolder
from miltext.weight_files.paths import MODEL_PATH, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from miltext.diagnostics import Diagnostic
    from miltext.models.model import Model
    from miltext.pipelines.connections import PipelinePlace
    from miltext.schema.proto import Program
    from miltext.schema.tensors import InType

PACKAGE, COMPILED = ".mlpackage", ".mlmodelc"
OUTPUTS = (PACKAGE, ".mlmodel", COMPILED)


def build(source: Model, output: str | os.PathLike[str], choices: BuildChoices = NO_CHOICES) -> list[Diagnostic]:
    """Write an `.mlpackage`, `.mlmodel` or `.mlmodelc` with the program of `source`; return the warnings.

    It is `miltext.build`, but refuses drafts: ParseError, MIL112 or MIL113.
    """
    output = Path(output)
    new = prepare(source, output, choices)
    return write(new, source, output, choices)


def require_ending(output: Path, what: str) -> None:
    """Refuse an output that is neither a model nor a text by its ending; `what` is its subject. Raise ModelError."""
    if output.suffix.lower() not in (*OUTPUTS, ".mil"):
        message = f"{what} is an .mlpackage, .mlmodel, .mlmodelc or .mil, not `{output.name}`"
        raise refusal(codes.WRONG_ENDING, message, output)


def prepare(source: Model, output: Path, choices: BuildChoices) -> NewModel:
    """Return the model to write, complete except for values stored later. Raise as `build` does."""
    if output.suffix.lower() not in OUTPUTS:
        message = f"a model is built as an .mlpackage, an .mlmodel or an .mlmodelc, not as {output.name!r}"
        raise refusal(codes.WRONG_ENDING, message, output)
    original = choices.original
    is_compiled = output.suffix.lower() == COMPILED
    if not is_compiled and (choices.versions is not None or choices.allow_unproven):
        message = "only an .mlmodelc has versions of Apple's compiler and unproven parts"
        raise refusal(codes.OPTION_FOR_COMPILED, message, output)
    check_target(output, choices.force, [source, original] if original else [source])
    if is_compiled and (kept := _original(source, choices)) is not None:
        refuse_kinds(kept)
    new = assemble(source, choices)
    try:
        _check_read(new, output, choices)
        if choices.renames:
            rename(new.spec, _original(source, choices), choices.renames, choices)
        new.warnings += warnings_of(new.losses, refused=choices.no_loss, elsewhere=choices.elsewhere)
        if choices.check:
            new.warnings += [*inherited_faults(new), *unreachable_functions(new)]
        new.changes = [*changes(new.around, around(new.spec), new.known, choices.renames or {})]
        settle_unused(new, output, choices, partial(work_of, new, output))
    except ModelError as failure:
        raise placed(failure, source) from failure
    return new


def work_of(new: NewModel, output: Path) -> int:
    """Return the bytes that `write` reports as progress."""
    return compiled_work(new) if output.suffix.lower() == COMPILED else work(new, output)


def write(new: NewModel, source: Model, output: Path, choices: BuildChoices) -> list[Diagnostic]:
    """Write a prepared model; return the warnings. Raise as `build` does."""
    is_compiled = output.suffix.lower() == COMPILED
    if new.package is not None and output.suffix.lower() != PACKAGE and (others := files_beside(new)):
        message = f"other files of the package are not kept: {', '.join(others)}"
        new.warnings.append(warning(codes.FILES_NOT_KEPT, message))
    if choices.expect and not choices.prune_weights:
        choices.expect(partial(work_of, new, output))
    try:
        if is_compiled:
            new.warnings += write_compiled(new, output, choices)
        else:
            write_model(new, output, choices.force, choices.progress)
    except ModelError as failure:
        raise placed(failure, source) from failure
    except PrintError as failure:
        failure.path = failure.path or source.name
        raise
    if choices.on_change:
        for change in new.changes:
            choices.on_change(change)
    return new.warnings


def store(source: Model, output: Path, choices: BuildChoices) -> None:
    """Write a text's program, with the arrays that it names in a weight file, as an `.mlmodel` without a description.

    The result is for running the program. The weight files that the program names are in the text's folder, unless the
    choices name another one. Raise as `build` does.
    """
    program, arrays = _edited_program(source, [], choices)
    new = NewModel(Spec(specificationVersion=WIDE_INTEGERS_SINCE, mlProgram=program))
    try:
        write_model(_with_weights(new, source, arrays, choices), output, False, None)
    except ModelError as failure:
        raise placed(failure, source) from failure


# ---- the program in its model


def assemble(source: Model, choices: BuildChoices) -> NewModel:
    """Return the model to write, before anything depends on its output. Raise as `build` does."""
    try:
        return _assembled(source, _original(source, choices), choices)
    except ModelError as failure:
        raise placed(failure, source) from failure


def _original(source: Model, choices: BuildChoices) -> Model | None:
    """Return the original of a build; a source that is a whole model is its own."""
    return source if choices.original is None and source.kind in WITH_DESCRIPTION else choices.original


def _assembled(source: Model, original: Model | None, choices: BuildChoices) -> NewModel:
    """Return a new model of a program, or the original with the program; a whole model without edits is returned
    unchanged.
    """
    if choices.asked and choices.description is not None:
        raise refusal(
            codes.IMPOSSIBLE_RANGE, "sizes of inputs are given in addition to a description, which contains them"
        )
    if original is None:
        return _alone(source, choices)
    if original.kind not in WITH_DESCRIPTION:
        raise refusal(
            codes.NO_MODEL_IN_ORIGINAL, f"a model of the kind `{original.kind}` has only a program", original.name
        )
    is_any = choices.description is not None or choices.any_kind
    is_whole = source is original and (source.models or (source.type != PROGRAM and is_any))
    new = _whole(source, choices) if is_whole else _edited(original, source, choices)
    if original.is_compiled:
        order_inputs(new.spec)
    return new


def _alone(source: Model, choices: BuildChoices) -> NewModel:
    """Return a new model of a program, without an original."""
    program, arrays = _edited_program(source, [], choices)
    new = NewModel(Spec() if choices.description is not None else own_head(program, choices.asked))
    new.spec.mlProgram.CopyFrom(program)
    if choices.description is not None:
        redescribe(new, choices.description, Edited(new.spec, {}), check=choices.check)
    return _with_weights(new, source, arrays, choices)


def _whole(source: Model, choices: BuildChoices) -> NewModel:
    """Return a model that is not an ML Program, such as a pipeline, unchanged or with a new description."""
    if choices.asked:
        raise refusal(codes.IMPOSSIBLE_RANGE, "sizes can be set only for an ML Program", source.name)
    new = remade(source, {}, source, choices)
    if choices.description is not None:
        redescribe(new, choices.description, None, check=choices.check)
    return new


def _edited(original: Model, source: Model, choices: BuildChoices) -> NewModel:
    """Return the original with the program of the source in place of its own."""
    chosen = original.select_only(choices.model)
    before = version_before(chosen, is_changed=source is original and "program" in vars(chosen))
    program, arrays = _edited_program(source, [chosen.program], choices)
    new = remade(original, {chosen: program}, source, choices)
    if original.is_compiled:
        strip(program)
    way = way_to(chosen, original, new.spec)
    is_edited = before.program is None or wire_of(before.program) != wire_of(program)
    if choices.description is not None:
        edited = Edited(way[-1], before.interfaces) if is_edited else None
        redescribe(new, choices.description, edited, check=choices.check)
    elif (is_edited or choices.asked) and not _is_described_by_types(chosen):
        follow(new, way, before, choices)
    _store(new, way[-1], arrays, choices.externalize, original.model_path)
    return new


def _is_described_by_types(chosen: Model) -> bool:
    """Return whether a model's description is made from the types of the written program."""
    return chosen.is_compiled and chosen.description is None


def _edited_program(source: Model, originals: Sequence[Program], choices: BuildChoices) -> Filled:
    """Return the program of a source, as it will be written."""
    program, arrays = program_of(source, originals, imports=choices.imports is not None)
    for edit in filter(None, (choices.imports, choices.edit)):
        arrays = edit(program, arrays)
    return Filled(program, arrays)


# ---- files


def _check_read(new: NewModel, output: Path, choices: BuildChoices) -> None:
    """Refuse a target that contains an array of the text or the description; a rewritten package keeps its contents."""
    is_kept = new.package is not None and output.exists() and output.samefile(new.package)
    if not is_kept:
        described = [] if choices.description is None else [Path(choices.description)]
        check_kept(output, [*(new.storing.sources if new.storing is not None else ()), *described])


def _with_weights(new: NewModel, source: Model, arrays: dict[str, InType], choices: BuildChoices) -> NewModel:
    """Return a new model with its weight files and the arrays to store."""
    try:
        own, is_edited = LooseFolder(source.model_path or Path.cwd()), (choices.imports or choices.edit) is not None
        folder = GivenFolder(own, choices.weights, [new.spec.mlProgram], is_edited=is_edited)
        new.find_files(folder)
    except WeightsError as failure:
        found = failure.diagnostics[0]
        if found.code == codes.MISSING_WEIGHT_FILE:
            way = (
                "name the folder of the weights with `weights=`, or the original model of the program with `original=`"
            )
            failure.diagnostics[0] = found._replace(notes=(*found.notes[:-1], Note(way)))
        raise
    _store(new, new.spec, arrays, choices.externalize, None)
    return new


def _store(new: NewModel, spec: Spec, arrays: dict[str, InType], externalize: int | None, folder: Path | None) -> None:
    """Note the values to store, in the first weight file that the program names, by default the file of coremltools.

    `folder` is the original's folder; an existing file there is kept and extended.
    """
    new.storing = Storing(spec.mlProgram, arrays, externalize, spec.specificationVersion)
    named = {held.value.blobFileValue.fileName.partition("/")[2] for held in values(spec.mlProgram)}
    new.store = min(named & set(new.files), key=lambda name: (name in new.given, name), default=new.store)
    if folder and new.store not in new.files and os.path.lexists(folder / new.store):
        new.files[new.store] = resolve(f"{MODEL_PATH}/{new.store}", folder)


# ---- warnings about the new model


def unreachable_functions(new: NewModel) -> Iterator[Diagnostic]:
    """Yield a warning for a single function of another name than `main` that no description makes the default.

    There is no warning if the original has the same problem.
    """
    yield from _unreachable(new, new.spec, WHOLE)


def _unreachable(new: NewModel, spec: Spec, place: PipelinePlace) -> Iterator[Diagnostic]:
    names = [] if spec.description.functions else [*spec.mlProgram.functions]
    known = new.known.get(place.path, {})
    for name in names if len(names) == 1 else ():
        was = known[name].name if name in known else "" if not new.around else name
        if name not in (DEFAULT_FUNCTION, was):
            where = f" of {place}" if place.path else ""
            before = f", which was `{was}`" if was else ""
            message = (
                f"the only function{where} is `{name}`{before}, and Core ML runs `{DEFAULT_FUNCTION}` of a model that "
                f"lists no functions: call it `{DEFAULT_FUNCTION}`, or give it the opset ios18, which has them listed"
            )
            yield warning(codes.WRONG_NAME, message)
    for index, model in enumerate(stages(spec)):
        yield from _unreachable(new, model, place.inside(spec, index))


def inherited_faults(new: NewModel) -> Iterator[Diagnostic]:
    """Yield a warning for each fault that a pipeline inherits from its original; a checked build refuses other
    faults.
    """
    for fault in faults(new.spec):
        yield warning(fault.code, f"{fault.message}; the original has this error, too")


# ---- new names of features


def rename(spec: Spec, original: Model | None, renames: Mapping[str, str], choices: BuildChoices) -> None:
    """Rename features, from the chosen model of the original outward; if it is checked, names in an ML Program must be
    identifiers (MIL426). Raise as `rename_features` does, too.
    """
    way = [spec] if original is None else way_to(original.at(choices.model), original, spec)
    rename_features(way, renames)
    for name in filter(unfit, renames.values() if choices.check else ()):
        if any(name in value_names(program) for program in ml_programs(spec)):
            require_fit(name)
