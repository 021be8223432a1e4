"""Each contradiction between a description and its program has a place in both, in a package as `check` reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import miltext as run
from support.containers import pipeline, write_package
from support.pipelines import of_text

from miltext.schema.proto import ArrayFeatureType, ImageFeatureType, Model

TEXT = """program(1.3)
{
    func main<ios18>(tensor<fp32, [1, 3, 8, 8]> image, tensor<fp32, [?, 2]> x, state<tensor<fp16, [4]>> s) {
            tensor<fp16, [4]> k = read_state(input = s)[name = string("k")];
            tensor<fp32, [1, 3, 8, 8]> y = relu(x = image)[name = string("y")];
            tensor<fp32, [?, 2]> z = relu(x = x)[name = string("z")];
        } -> (y, z, k);
}
"""
IMAGE, X, STATE, Y, FUNCTION, PROGRAM = "3:22", "3:56", "3:80", "7:15", "3:5", "1:1"
"""The places of the values, of the function and of the program in the text."""


def whole() -> Model:
    spec = of_text(TEXT)
    color = ImageFeatureType(width=8, height=8, colorSpace=ImageFeatureType.RGB)
    spec.description.input[0].type.imageType.CopyFrom(color)
    array = spec.description.input[1].type.multiArrayType
    array.shape[:] = [1, 2]
    array.ClearField("shapeRange")
    for limits in ((1, 9), (2, 2)):
        array.shapeRange.sizeRanges.add(lowerBound=limits[0], upperBound=limits[1])
    return spec


def image(spec: Model) -> ImageFeatureType:
    return spec.description.input[0].type.imageType


def array(spec: Model) -> ArrayFeatureType:
    return spec.description.input[1].type.multiArrayType


def state(spec: Model) -> ArrayFeatureType:
    return spec.description.state[0].type.stateType.arrayType


def optional(spec: Model) -> None:
    for entry in spec.description.input:
        entry.type.isOptional = True


def listed_beside_ranges(spec: Model) -> None:
    made = image(spec)
    made.enumeratedSizes.sizes.add(width=8, height=8)


def state_as_input(spec: Model) -> None:
    spec.description.input.append(spec.description.state[0])
    spec.description.ClearField("state")


CASES: dict[str, tuple[Callable[[Model], object], str, str, str]] = {
    "no color": (lambda s: image(s).ClearField("colorSpace"), "error", IMAGE, "needs `colorSpace`"),
    "an unknown color": (
        lambda s: image(s).MergeFromString(b"\x18\x15"),
        "error",
        IMAGE,
        "color space 21 (description: input `image`, colorSpace)",
    ),
    "another height": (lambda s: setattr(image(s), "height", 9), "error", IMAGE, "cannot be [1, 3, 9, 8]"),
    "one channel": (lambda s: setattr(image(s), "colorSpace", 10), "error", IMAGE, "cannot be [1, 1, 8, 8]"),
    "no height": (lambda s: image(s).ClearField("height"), "error", IMAGE, "needs `height`"),
    "sizes and ranges": (listed_beside_ranges, "error", X, "`x` has ranges of sizes, and `image` has a list"),
    "another data type": (
        lambda s: setattr(array(s), "dataType", ArrayFeatureType.INT32),
        "error",
        X,
        'has the `dataType` "fp32", not "int32" (description: input `x`, dataType)',
    ),
    "another rank": (lambda s: array(s).shape.append(1), "error", X, "has 3 dimensions, and the ranges are 2"),
    "a size out of the range": (
        lambda s: setattr(array(s).shapeRange.sizeRanges[0], "lowerBound", 2),
        "error",
        X,
        "has the size 1 in the dimension 0, which its range leaves out (description: input `x`, shapeRange)",
    ),
    "an empty range": (
        lambda s: setattr(array(s).shapeRange.sizeRanges[0], "lowerBound", 10),
        "error",
        X,
        "[10, 9] in the dimension 0, which is empty",
    ),
    "a range of a fixed size": (
        lambda s: setattr(array(s).shapeRange.sizeRanges[1], "upperBound", 3),
        "warning",
        X,
        "has only the size 2 in the dimension 1, but its range is [2, 3]",
    ),
    "a range without an end": (
        lambda s: setattr(array(s).shapeRange.sizeRanges[0], "upperBound", -1),
        "note",
        X,
        "has no greatest size in the dimension 0",
    ),
    "no range": (
        lambda s: array(s).ClearField("shapeRange"),
        "warning",
        X,
        "may be of any size in the dimension 0",
    ),
    "a default of another type": (
        lambda s: setattr(array(s), "intDefaultValue", 1),
        "error",
        X,
        "the default 1 in the field `intDefaultValue`, but is fp32",
    ),
    "a default of a required input": (
        lambda s: setattr(array(s), "floatDefaultValue", 1),
        "note",
        X,
        "has the default 1, but is not optional",
    ),
    "optional inputs alone": (optional, "error", PROGRAM, "all inputs are optional"),
    "an optional output": (
        lambda s: setattr(s.description.output[0].type, "isOptional", True),
        "error",
        Y,
        "the output `y` is optional",
    ),
    "a state of another shape": (lambda s: state(s).shape.append(2), "error", STATE, "cannot be [4, 2]"),
    "a state of fp32": (
        lambda s: setattr(state(s), "dataType", ArrayFeatureType.FLOAT32),
        "error",
        STATE,
        'has the `dataType` "fp32"',
    ),
    "a state of ranges": (lambda s: state(s).shapeRange.SetInParent(), "error", STATE, "has several shapes"),
    "an optional state": (
        lambda s: setattr(s.description.state[0].type, "isOptional", True),
        "error",
        STATE,
        "the state `s` is optional",
    ),
    "a state among the inputs": (
        state_as_input,
        "note",
        STATE,
        "the state `s` is among the inputs",
    ),
    "an input twice": (
        lambda s: s.description.input.append(s.description.input[1]),
        "warning",
        FUNCTION,
        "the input `x` is described twice (description: input `x`, name)",
    ),
    "a ghost": (
        lambda s: s.description.output.add(name="ghost").type.int64Type.SetInParent(),
        "error",
        FUNCTION,
        "`main` has no output `ghost` (description: output `ghost`, name)",
    ),
    "a missing output": (
        lambda s: s.description.output.pop(0),
        "error",
        Y,
        "the output `y` of `main` is not described",
    ),
    "an array for the label": (
        lambda s: setattr(s.description, "predictedFeatureName", "y"),
        "error",
        "3:10",
        '`predictedFeatureName` names `y`, which has the type "multiArray"',
    ),
    "a default function alone": (
        lambda s: setattr(s.description, "defaultFunctionName", "main"),
        "error",
        PROGRAM,
        "there is no function `main`",
    ),
    "an updatable program": (lambda s: setattr(s, "isUpdatable", True), "error", PROGRAM, "cannot be trained"),
    "the version 0": (lambda s: s.ClearField("specificationVersion"), "error", PROGRAM, "is 0, but the model needs 9"),
    "a version of the future": (
        lambda s: setattr(s, "specificationVersion", 99),
        "warning",
        PROGRAM,
        "`specificationVersion` is 99, but the newest known version is 10",
    ),
}


def found(spec: Model, tmp_path: Path, *options: str) -> tuple[Path, bytes]:
    package = write_package(tmp_path / "M.mlpackage", spec.SerializeToString())
    return package, run("check", package, *options).stdout


def reported(spec: Model, tmp_path: Path) -> list[dict[str, str]]:
    _, told = found(spec, tmp_path, "--format", "json", "--isolated")
    return [each for each in json.loads(told)["diagnostics"] if each["code"] == "MIL265"]


def test_a_whole_model_has_no_contradiction(tmp_path: Path) -> None:
    assert reported(whole(), tmp_path) == []


@pytest.mark.parametrize(("change", "severity", "place", "said"), CASES.values(), ids=CASES)
def test_a_contradiction_has_its_place_and_severity(
    change: Callable[[Model], object], severity: str, place: str, said: str, tmp_path: Path
) -> None:
    spec = whole()
    change(spec)
    package, told = found(spec, tmp_path, "--isolated")
    lines = [line for line in told.decode().splitlines() if "[MIL265]" in line and said in line]
    assert any(line.startswith(f"{package}:{place}: {severity}[MIL265]: ") for line in lines), told.decode()


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_a_contradiction_is_in_the_reports_of_programs(form: str, tmp_path: Path) -> None:
    spec = whole()
    state(spec).shape.append(2)
    _, told = found(spec, tmp_path, "--format", form, "--isolated")
    assert "description: state `s`, shape" in json.dumps(json.loads(told), ensure_ascii=False)


PIPELINES: dict[str, tuple[Callable[[Model], object], str, str]] = {
    "a name for one model": (lambda s: s.pipeline.names.append("a"), "error", "the stage 1 has no `name`"),
    "one name for two": (lambda s: s.pipeline.names.extend(["a", "a"]), "error", "has the name `a` of another one"),
    "names for more models": (
        lambda s: s.pipeline.names.extend(["a", "b", "c"]),
        "error",
        "has 3 names for 2 stages",
    ),
    "an updatable model": (
        lambda s: setattr(s.pipeline.models[0], "isUpdatable", True),
        "error",
        "the stage 0 is updatable",
    ),
    "an output without a name": (
        lambda s: s.description.output[0].ClearField("name"),
        "error",
        "an output has no name",
    ),
    "a smaller version": (lambda s: setattr(s, "specificationVersion", 8), "note", "is 8, but the model needs 9"),
    "the version 0": (lambda s: setattr(s, "specificationVersion", 0), "error", "is 0, but the model needs 9"),
}


@pytest.mark.parametrize(("change", "severity", "said"), PIPELINES.values(), ids=PIPELINES)
def test_the_description_of_a_pipeline_is_judged(
    change: Callable[[Model], object], severity: str, said: str, tmp_path: Path
) -> None:
    first, second = (of_text(_unary(*names)) for names in (("a", "b"), ("b", "c")))
    spec = pipeline(first, second)
    spec.description.input.append(first.description.input[0])
    spec.description.output.append(second.description.output[0])
    assert reported(spec, tmp_path / "whole") == []
    change(spec)
    told = reported(spec, tmp_path)
    assert [each["severity"] for each in told if said in each["message"]] == [severity], told


def _unary(taken: str, given: str) -> str:
    return (
        f"program(1.3) {{ func main<ios18>(tensor<fp16, [4]> {taken}) "
        f"{{ tensor<fp16, [4]> {given} = relu(x = {taken}); }} -> ({given}); }}"
    )
