"""Contradictions between the stages of a pipeline, and of them with its own interface."""

from __future__ import annotations

from typing import Any

from support.contradictions.contradicted import Case, contradiction, equivalent, is_array, some

from miltext.schema.features import ELEMENTS
from miltext.schema.proto import Argument
from miltext.schema.walk import messages

GIVEN = "Model.proto: a stage takes what the pipeline or an earlier stage gives"


def _rename(model: Any, old: str, new: str) -> None:
    """Give a feature of a stage another name, in its description and its program."""
    for side in (model.description.input, model.description.output):
        for entry in side:
            entry.name = new if entry.name == old else entry.name
    for _, message in messages(model.mlProgram):
        if isinstance(message, Argument):
            for bound in message.arguments:
                if bound.name == old:
                    bound.name = new
        for field in ("inputs", "outputs"):
            for index, value in enumerate(getattr(message, field, ()) if hasattr(message, field) else ()):
                if getattr(value, "name", value) == old:
                    if isinstance(value, str):
                        getattr(message, field)[index] = new
                    elif hasattr(value, "type"):
                        value.name = new


def _between(case: Case) -> tuple[Any, Any, str]:
    """Return a stage, a later one, and the name of what the one gives the other."""
    stages = case.pipeline.models
    found = [
        (one, other, entry.name)
        for index, one in enumerate(stages)
        for other in stages[index + 1 :]
        for entry in one.description.output
        if entry.name in [each.name for each in other.description.input]
    ]
    return case.pick(found)


@contradiction("pipelines", "what a stage gives renamed", GIVEN)
def _given_renamed(case: Case) -> str:
    one, _, name = _between(case)
    _rename(one, name, f"{name}_2")
    return f"a stage gives `{name}_2` for `{name}`"


@contradiction("pipelines", "what a stage takes renamed", GIVEN)
def _taken_renamed(case: Case) -> str:
    _, other, name = _between(case)
    _rename(other, name, f"{name}_2")
    return f"a stage takes `{name}_2` for `{name}`"


@contradiction("pipelines", "what a stage gives of another type", GIVEN)
def _given_type(case: Case) -> str:
    one, _, name = _between(case)
    entry = case.pick(each for each in one.description.output if each.name == name and is_array(each))
    entry.type.multiArrayType.dataType = ELEMENTS[case.pick(["int32", "fp16"])]
    return f"a stage gives `{name}` of another type"


@contradiction("pipelines", "what a stage takes of another size", GIVEN)
def _taken_size(case: Case) -> str:
    _, other, name = _between(case)
    entry = case.pick(each for each in other.description.input if each.name == name and is_array(each))
    entry.type.multiArrayType.shape[-1] += 1
    return f"a stage takes `{name}` of another size"


@contradiction("pipelines", "a stage dropped", GIVEN)
def _dropped(case: Case) -> str:
    one, _, name = _between(case)
    case.pipeline.models.remove(one)
    if case.pipeline.names:
        del case.pipeline.names[0]
    return f"no stage gives `{name}`"


@contradiction("pipelines", "two stages exchanged", "a stage takes what an earlier one gives")
def _exchanged(case: Case) -> str:
    _, _, name = _between(case)
    models = case.pipeline.models
    kept = [type(each).FromString(each.SerializeToString()) for each in models]
    del models[:]
    models.extend(reversed(kept))
    return f"`{name}` is taken before it is given"


@contradiction("pipelines", "no stages", "a pipeline has models")
def _none(case: Case) -> str:
    del case.pipeline.models[:]
    return "no stages"


@contradiction("pipelines", "an input missing", GIVEN)
def _input_missing(case: Case) -> str:
    _ = case.pipeline
    entry = case.pick(case.spec.description.input)
    name = entry.name
    case.spec.description.input.remove(entry)
    return f"the pipeline does not take `{name}`"


@contradiction("pipelines", "an input renamed", GIVEN)
def _input_renamed(case: Case) -> str:
    _ = case.pipeline
    entry = case.pick(case.spec.description.input)
    old, entry.name = entry.name, f"{entry.name}_2"
    return f"the pipeline takes `{entry.name}` for `{old}`"


@contradiction("pipelines", "an output renamed", "an output of a pipeline is one of a stage")
def _output_renamed(case: Case) -> str:
    _ = case.pipeline
    entry = case.pick(case.spec.description.output)
    old, entry.name = entry.name, f"{entry.name}_2"
    return f"the pipeline gives `{entry.name}` for `{old}`"


@contradiction("pipelines", "an input of another type", GIVEN)
def _input_type(case: Case) -> str:
    _ = case.pipeline
    entry = case.pick(each for each in case.spec.description.input if is_array(each))
    entry.type.multiArrayType.dataType = ELEMENTS["int32"]
    return f"the pipeline takes `{entry.name}` of another type"


@contradiction("pipelines", "an output of another type", "an output of a pipeline is one of a stage")
def _output_type(case: Case) -> str:
    _ = case.pipeline
    entry = case.pick(case.spec.description.output)
    entry.type.doubleType.SetInParent()
    return f"the pipeline gives `{entry.name}` of another type"


@contradiction("pipelines", "an output of another size", "an output of a pipeline is one of a stage")
def _output_size(case: Case) -> str:
    _ = case.pipeline
    entry = case.pick(each for each in case.spec.description.output if is_array(each))
    some(entry.type.multiArrayType.shape)
    entry.type.multiArrayType.shape[-1] += 1
    return f"the pipeline gives `{entry.name}` of another size"


@contradiction("pipelines", "names for other stages", "Model.proto: there are as many names as models, or none")
def _names(case: Case) -> str:
    case.pipeline.names.append("one more")
    if len(case.pipeline.names) == len(case.pipeline.models):
        case.pipeline.names.append("two more")
    return f"{len(case.pipeline.names)} names for {len(case.pipeline.models)} stages"


@equivalent("pipelines", "a version below that of a stage", "Core ML loads a public pipeline of 5 around a stage of 6")
def _version(case: Case) -> str:
    _ = case.pipeline
    case.spec.specificationVersion = 3
    return "the pipeline has the version 3"


@contradiction("pipelines", "a ghost output", "an output of a pipeline is one of a stage")
def _ghost_output(case: Case) -> str:
    _ = case.pipeline
    entry = case.spec.description.output.add(name="ghost")
    entry.type.multiArrayType.dataType = ELEMENTS["fp32"]
    entry.type.multiArrayType.shape.append(1)
    return "the pipeline gives a `ghost`"


@contradiction("pipelines", "a stage without a version", "PipelineValidator.cpp: each stage is valid by itself")
def _stage_version(case: Case) -> str:
    case.pick(case.pipeline.models).specificationVersion = 0
    return "a stage has the version 0"


@contradiction("pipelines", "an updatable stage", "PipelineValidator.cpp: only in an updatable pipeline")
def _updatable(case: Case) -> str:
    case.pick(case.pipeline.models).isUpdatable = True
    return "a stage is updatable"


@contradiction("pipelines", "a prediction that no stage gives", "a predicted feature is an output")
def _prediction(case: Case) -> str:
    _ = case.pipeline
    case.spec.description.predictedFeatureName = "nothing"
    return "predictedFeatureName is `nothing`"
