"""Contradictions between the program of a model and its description, as findings at places of the program.

The rules are in `miltext.descriptions.contradictions`; a build from the text of a description uses the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from miltext.checking.findings import Finding, Remark
from miltext.descriptions.contract import Contradiction, place_words
from miltext.descriptions.contradictions import contradictions, pipeline_contradictions, version_contradictions
from miltext.descriptions.program_descriptions import DEFAULT_FUNCTION, required_version
from miltext.diagnostics import Diagnostic, codes
from miltext.files.contents import kind_of_model, stages
from miltext.ir.graph import Graph
from miltext.pipelines.connections import WHOLE
from miltext.pipelines.faults import message_of
from miltext.schema.function_io import interfaces
from miltext.schema.paths import Key, block_path
from miltext.schema.proto import Model as Spec
from miltext.schema.proto.kinds import PROGRAM
from miltext.schema.walk import blocks_of, own_opset

if TYPE_CHECKING:
    from miltext.descriptions.contract import ProgramPlace
    from miltext.diagnostics.dynamic import Record
    from miltext.models.model import Model
    from miltext.pipelines.connections import PipelinePlace
    from miltext.schema.paths import Path
    from miltext.schema.proto import Function, ModelDescription, Program


def interface_findings(
    program: Program, version: int, description: ModelDescription, *, is_updatable: bool = False
) -> Iterator[Finding]:
    """Yield the contradictions between a program and the description of its model, at places of the program."""
    for found in interface_contradictions(program, version, description, is_updatable=is_updatable):
        yield finding(found, program, description)
    yield from _unused_states(program)
    for name in sorted(program.functions):
        outputs, block = outputs_of(name, program.functions[name])
        for output, count in sorted(Counter(outputs).items()):
            if count > 1:
                place = (*block, "outputs", len(outputs) - 1 - outputs[::-1].index(output))
                yield misfit(place, f"the program has the output `{output}` of `{name}` twice")


def _unused_states(program: Program) -> Iterator[Finding]:
    """Yield the states that no operation of their function uses.

    A function uses a state by `read_state` and `write_state` (coremltools: `backend/mil/load.py`, which makes both of
    `coreml_update_state`). No public reader refuses an unused one, which takes memory in each `MLState`.
    """
    inputs = (value for function in program.functions.values() for value in function.inputs)
    has_state = any(value.type.WhichOneof("type") == "stateType" for value in inputs)
    for name, function in Graph(program).functions.items() if has_state else ():
        for index, value in enumerate(function.inputs):
            if value.is_state and not value.uses:
                path: Path = ("functions", Key(name), "inputs", index)
                message = f"the state `{value.name}` of `{name}` is not used: {codes.TABLE[codes.UNUSED_STATE].way_out}"
                yield Finding(path, codes.UNUSED_STATE, message, severity="note")


def interface_contradictions(
    program: Program, version: int, description: ModelDescription, *, is_updatable: bool = False
) -> Iterator[Contradiction]:
    """Yield the contradictions between a program and the description of its model."""
    head = Spec(description=description, isUpdatable=is_updatable)
    yield from version_contradictions(version, required_version(program, description))
    if not program.functions:  # `ResultReason.hpp`: PROGRAM_MAIN_FUNCTION_MISSING
        yield Contradiction(codes.DESCRIPTION_OF_NOTHING, "error", "the program has no function", "add one", ())
    yield from contradictions(head, PROGRAM, interfaces(program))


def finding(found: Contradiction, program: Program, description: ModelDescription) -> Finding:
    """Return a contradiction as a finding, whose message names its place in the description.

    The keys of a missing entry are a remark, since they follow from the type of the value.
    """
    path = _path(found.place, program)
    if found.code == codes.DESCRIPTION_OF_NOTHING and found.place.name and found.way_out:
        return misfit(path, found.fact, found.severity)._replace(remarks=(Remark(found.way_out, path),))
    last = [key for key in found.keys if isinstance(key, str)][-1:]
    subject = (found.code, *last, found.place.function, found.place.side, found.place.name)
    return misfit(path, _message(found, description), found.severity)._replace(subject=subject)


def _message(found: Contradiction, description: ModelDescription) -> str:
    where = place_words(found.keys, description)
    if where and f"`{where}`" not in found.fact:
        found = found._replace(fact=f"{found.fact} (description: {where})")
    return found.message


def pipeline_diagnostics(whole: Model) -> Iterator[Diagnostic]:
    """Yield the contradictions in the descriptions of an opened pipeline, and of its models other than ML Programs."""
    if whole.is_whole:
        yield from _described(message_of(whole), WHOLE)


def _described(spec: Spec, place: PipelinePlace) -> Iterator[Diagnostic]:
    kind = kind_of_model(spec) or ""
    if kind == PROGRAM:
        return
    for each in (*contradictions(spec, kind, {}), *pipeline_contradictions(spec)):
        yield Diagnostic(each.severity, codes.MISFIT_DESCRIPTION, f"{place}: {_message(each, spec.description)}")
    for index, model in enumerate(stages(spec)):
        yield from _described(model, place.inside(spec, index))


def _path(place: ProgramPlace, program: Program) -> Path:
    """Return the path of a place in a program, or of the nearest enclosing part that the program has."""
    if place.function not in program.functions:
        return ()
    function = program.functions[place.function]
    path: Path = ("functions", Key(place.function))
    if not place.side:
        return (*path, "key")
    outputs, block = outputs_of(place.function, function)
    if place.side == "output":
        return (*block, "outputs", outputs.index(place.name)) if place.name in outputs else path
    taken = [value.name for value in function.inputs]
    return (*path, "inputs", taken.index(place.name)) if place.name in taken else path


def described_functions(description: ModelDescription) -> Record:
    """Return the description of each function, by name; without a list of them, `main` alone is described."""
    return {each.name: each for each in description.functions} or {DEFAULT_FUNCTION: description}


def misfit(path: Path, message: str, severity: str = "warning") -> Finding:
    """Return the finding of a description that does not match the program at a path."""
    return Finding(path, codes.MISFIT_DESCRIPTION, message, severity=severity)


def undescribed() -> Finding:
    """Return the note about a model without any description.

    Apple's public validators refuse it: "Models must have one or more outputs." (coremltools: `Validators.hpp`,
    validateFeatureDescriptions), which Model.cpp calls for every model. It is a note, since Apple's compiler has
    compiled a published ML Program whose description is not known.
    """
    return misfit(
        (),
        "the model has no description, and Apple's validators require one: print the program with `miltext print`, "
        "and build the text with `miltext build --weights`, which describes inputs and outputs by their types",
        "note",
    )


def outputs_of(name: str, function: Function) -> tuple[list[str], Path]:
    """Return the names of a function's outputs, and the path of the block that gives them."""
    blocks = blocks_of(function)
    opset = own_opset(function.opset, blocks)
    return [] if opset is None else [*blocks[opset].outputs], block_path(name, opset or "")
