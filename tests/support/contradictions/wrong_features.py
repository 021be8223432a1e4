"""Contradictions between the names of a description and its program: features, predictions, functions, versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from support.contradictions.contradicted import Case, Inapplicable, contradiction, equivalent, some

from miltext.schema.features import PREDICTIONS
from miltext.schema.function_io import SIDES

UNIQUE = "Core ML finds a feature by its name, and a name is of one feature"
BOTH = "the features of a description are those of its function, by name"


def _each_side(name: str, reason: str) -> Callable[[Callable[[Case, str], str]], None]:
    """Register a way for inputs, states and outputs."""

    def register(make: Callable[[Case, str], str]) -> None:
        for side in SIDES:
            contradiction("interface", f"{side} {name}", reason)(lambda case, side=side: make(case, side))  # type: ignore[misc]

    return register


@_each_side("renamed", BOTH)
def _renamed(case: Case, side: str) -> str:
    entry = case.entry(side)
    old, entry.name = entry.name, case.pick([f"{entry.name}_1", entry.name.swapcase(), "other", f"{entry.name} "])
    if old == entry.name:
        raise Inapplicable
    return f"the description has `{entry.name}` for `{old}`"


@_each_side("without a name", BOTH)
def _nameless(case: Case, side: str) -> str:
    entry = case.entry(side)
    old, entry.name = entry.name, ""
    return f"the description has no name for `{old}`"


@_each_side("missing", BOTH)
def _missing(case: Case, side: str) -> str:
    entry = case.entry(side)
    name = entry.name
    getattr(case.described, side).remove(entry)
    return f"the description lacks `{name}`"


@_each_side("all missing", BOTH)
def _all_missing(case: Case, side: str) -> str:
    names = some(each.name for each in getattr(case.described, side))
    case.described.ClearField(side)
    return f"the description lacks {', '.join(f'`{name}`' for name in names)}"


@_each_side("twice", UNIQUE)
def _twice(case: Case, side: str) -> str:
    entry = case.entry(side)
    getattr(case.described, side).add().CopyFrom(entry)
    return f"the description has `{entry.name}` twice"


@_each_side("a ghost", BOTH)
def _ghost(case: Case, side: str) -> str:
    made = getattr(case.described, side).add(name="ghost")
    array = made.type.stateType.arrayType if side == "state" else made.type.multiArrayType
    array.dataType = 65552
    array.shape.extend([1, 2])
    return "the description has a `ghost`"


@contradiction("interface", "two names exchanged", "two features of other types have each other's names")
def _exchanged(case: Case) -> str:
    side = case.pick(SIDES)
    entries = [*getattr(case.described, side)]
    first = case.entry(side)
    second = case.pick(each for each in entries if _declared(each) != _declared(first))
    first.name, second.name = second.name, first.name
    return f"`{first.name}` and `{second.name}` are exchanged"


@contradiction("interface", "on another side", "an input is no output, and a state is neither")
def _moved(case: Case) -> str:
    side, other = case.pick((a, b) for a in SIDES for b in SIDES if a != b and (a, b) != ("state", "input"))
    entry = case.entry(side)
    getattr(case.described, other).add().CopyFrom(entry)
    getattr(case.described, side).remove(entry)
    name = getattr(case.described, other)[-1].name
    return f"the {side} `{name}` is described as {other}"


def _declared(entry: Any) -> Any:
    """Return the type of an entry without what only the description has."""
    kind = type(entry.type).FromString(entry.type.SerializeToString())
    kind.isOptional = False
    if kind.WhichOneof("Type") == "multiArrayType" and kind.multiArrayType.WhichOneof("defaultOptionalValue"):
        kind.multiArrayType.ClearField(kind.multiArrayType.WhichOneof("defaultOptionalValue"))
    return kind


# ---- predictions


@contradiction("classifiers", "a prediction that is not there", "a predicted feature is an output")
def _ghost_prediction(case: Case) -> str:
    field = case.pick(PREDICTIONS)
    setattr(case.described, field, "nothing")
    return f"the description has the {field} `nothing`"


@contradiction(
    "classifiers", "the label named as the probabilities", "probabilities are a dictionary, and the label is not"
)
def _label_for_probabilities(case: Case) -> str:
    label = case.described.predictedFeatureName
    if not label or not case.described.predictedProbabilitiesName:
        raise Inapplicable
    case.described.predictedProbabilitiesName = label
    return f"predictedProbabilitiesName is `{label}`"


@contradiction("classifiers", "the probabilities named as the label", "the label is a string or an integer")
def _probabilities_for_label(case: Case) -> str:
    name = case.described.predictedProbabilitiesName
    if not name or not case.described.predictedFeatureName:
        raise Inapplicable
    case.described.predictedFeatureName = name
    return f"predictedFeatureName is `{name}`"


@contradiction("classifiers", "an array for the predicted feature", "a predicted feature is a string or an integer")
def _array_predicted(case: Case) -> str:
    entry, _ = case.array("output")
    case.described.predictedFeatureName = entry.name
    return f"predictedFeatureName is `{entry.name}`"


@contradiction("classifiers", "the label of another type", "the label is of the type of the classes")
def _other_label(case: Case) -> str:
    entry = case.entry("output", where=lambda each: each.type.WhichOneof("Type") in ("stringType", "int64Type"))
    getattr(entry.type, "int64Type" if entry.type.HasField("stringType") else "stringType").SetInParent()
    return f"`{entry.name}` is of another type"


@contradiction("classifiers", "probabilities with other keys", "the keys of the probabilities are the labels")
def _other_keys(case: Case) -> str:
    entry = case.entry("output", where=lambda each: each.type.HasField("dictionaryType"))
    keys = entry.type.dictionaryType
    getattr(keys, "int64KeyType" if keys.HasField("stringKeyType") else "stringKeyType").SetInParent()
    return f"`{entry.name}` has other keys"


def _classify(case: Case) -> Any:
    return case.pick(each for each in case.block.operations if each.type == "classify")


@contradiction("classifiers", "probabilities without a label", "a classifier has a predicted feature")
def _no_label(case: Case) -> str:
    if not case.described.predictedProbabilitiesName:
        raise Inapplicable
    case.described.ClearField("predictedFeatureName")
    return f"predictedProbabilitiesName is `{case.described.predictedProbabilitiesName}`, without a label"


@contradiction("classifiers", "a class less", "there is one probability for each class")
def _class_less(case: Case) -> str:
    operation = _classify(case)
    bound = operation.inputs["classes"].arguments[0]
    values = bound.value if bound.WhichOneof("binding") == "value" else _constant(case, bound.name)
    held = values.immediateValue.list.values
    del held[case.random.randrange(len(held))]
    values.type.listType.length.constant.size = len(held)
    if bound.WhichOneof("binding") == "name":
        made = next(each for each in case.block.operations if each.outputs and each.outputs[0].name == bound.name)
        made.outputs[0].type.listType.length.constant.size = len(held)
    return f"`{operation.outputs[0].name}` of {len(held)} classes"


def _constant(case: Case, name: str) -> Any:
    made = case.pick(each for each in case.block.operations if each.outputs and each.outputs[0].name == name)
    return made.attributes["val"]


# ---- functions and versions


def _listed(case: Case) -> Any:
    if not case.model.description.functions:
        raise Inapplicable
    return case.model.description


@contradiction("functions", "a default function that is not there", "the default function is one of those described")
def _ghost_default(case: Case) -> str:
    _listed(case).defaultFunctionName = "nothing"
    return "the default function is `nothing`"


@contradiction("functions", "no default function", "Model.proto: a list of functions has a default one")
def _no_default(case: Case) -> str:
    _listed(case).ClearField("defaultFunctionName")
    return "no default function"


@contradiction("functions", "a function not described", "each function of the program is described")
def _function_missing(case: Case) -> str:
    functions = _listed(case).functions
    gone = case.pick(functions)
    name = gone.name
    functions.remove(gone)
    return f"the description lacks the function `{name}`"


@contradiction("functions", "a described function renamed", "a function is found by its name")
def _function_renamed(case: Case) -> str:
    each = case.pick(_listed(case).functions)
    old, each.name = each.name, f"{each.name}_2"
    return f"the description has the function `{each.name}` for `{old}`"


@contradiction("functions", "a function described twice", "a function is found by its name")
def _function_twice(case: Case) -> str:
    functions = _listed(case).functions
    each = case.pick(functions)
    functions.add().CopyFrom(each)
    return f"the function `{each.name}` is described twice"


@contradiction("functions", "a ghost function", "each described function is in the program")
def _ghost_function(case: Case) -> str:
    functions = _listed(case).functions
    functions.add().CopyFrom(functions[0])
    functions[-1].name = "ghost"
    return "the description has a function `ghost`"


@contradiction(
    "functions", "functions and features beside them", "Model.proto: with functions, the model's own are unused"
)
def _features_beside(case: Case) -> str:
    description = _listed(case)
    side = case.pick(side for side in SIDES if getattr(description.functions[0], side))
    entry = getattr(description.functions[0], side)[0]
    getattr(description, side).add().CopyFrom(entry)
    return f"the description has `{entry.name}` beside its functions"


@contradiction("functions", "a prediction beside functions", "Model.proto: with functions, the model's own are unused")
def _prediction_beside(case: Case) -> str:
    field = case.pick(PREDICTIONS)
    setattr(_listed(case), field, "nothing")
    return f"the description has the {field} `nothing` beside its functions"


@contradiction(
    "functions", "a default function without functions", "InterfaceValidators.cpp: it is one of the functions"
)
def _lone_default(case: Case) -> str:
    if case.model.description.functions:
        raise Inapplicable
    case.model.description.defaultFunctionName = "main"
    return "the default function is `main`, of no list"


@contradiction("functions", "functions of a single-function version", "functions are from specification 9 on")
def _functions_too_early(case: Case) -> str:
    _listed(case)
    case.model.specificationVersion = case.pick([6, 7, 8])
    return f"the specification version is {case.model.specificationVersion}"


NEEDED = {"CoreML5": 6, "CoreML6": 7, "CoreML7": 8, "CoreML8": 9, "CoreML9": 10}
"""The specification version from which each opset is known: coremltools 9.0's `AvailableTarget`."""


@contradiction("versions", "a version too old", "the opset is from a later version on")
def _too_old(case: Case) -> str:
    least = max(NEEDED[function.opset] for function in case.program.functions.values())
    case.model.specificationVersion = case.random.randint(1, least - 1)
    return f"the specification version is {case.model.specificationVersion}, not {least}"


@contradiction("versions", "a version of the future", "no system reads it")
def _future(case: Case) -> str:
    case.model.specificationVersion = case.pick([50, 99, 2**31 - 1])
    return f"the specification version is {case.model.specificationVersion}"


@contradiction("versions", "no version", "Core ML needs a version above 0")
def _no_version(case: Case) -> str:
    case.model.specificationVersion = case.pick([0, -1])
    return f"the specification version is {case.model.specificationVersion}"


@contradiction("versions", "an ML Program that can be updated", "InterfaceValidators.cpp: no ML Program can")
def _updatable(case: Case) -> str:
    case.model.isUpdatable = True
    return "isUpdatable is set"


# ---- any value is right


@equivalent("interface", "a state among the inputs", "InterfaceTests.cpp: as older coremltools wrote them")
def _state_among_inputs(case: Case) -> str:
    entry = case.entry("state")
    case.described.input.add().CopyFrom(entry)
    case.described.state.remove(entry)
    return f"the state `{case.described.input[-1].name}` is described as an input"


@equivalent("interface", "the order of features", "features are found by their names")
def _reordered(case: Case) -> str:
    side = case.pick(SIDES)
    entries = [type(each).FromString(each.SerializeToString()) for each in some(getattr(case.described, side))]
    case.random.shuffle(entries)
    del getattr(case.described, side)[:]
    getattr(case.described, side).extend(entries)
    return f"the order of each {side}"


@equivalent("functions", "the order of functions", "functions are found by their names")
def _functions_reordered(case: Case) -> str:
    functions = _listed(case).functions
    functions.sort(key=lambda each: each.name, reverse=True)
    return "the order of functions"


@equivalent("functions", "another default function", "each function may be the default one")
def _another_default(case: Case) -> str:
    _listed(case).defaultFunctionName = case.pick(_listed(case).functions).name
    return "another default function"


@equivalent("interface", "other words for people", "words about a feature and metadata are for people alone")
def _other_words(case: Case) -> str:
    case.entry(*SIDES).shortDescription = "other words"
    case.spec.description.metadata.author = "Somebody"
    case.spec.description.metadata.userDefined["a"] = "b"
    return "other words"


@equivalent("versions", "a later version", "a system reads the models of all versions before")
def _later(case: Case) -> str:
    if case.spec.specificationVersion > 8 or case.stages:
        raise Inapplicable
    case.model.specificationVersion += 1
    return f"the specification version is {case.model.specificationVersion}"


@equivalent("classifiers", "a label renamed", "a class may have any name")
def _other_class(case: Case) -> str:
    operation = _classify(case)
    bound = operation.inputs["classes"].arguments[0]
    values = bound.value if bound.WhichOneof("binding") == "value" else _constant(case, bound.name)
    held = case.pick(values.immediateValue.list.values).immediateValue.tensor.strings.values
    some(held)
    held[0] = "another class"
    return "another class"
