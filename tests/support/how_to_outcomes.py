"""What the pages on descriptions, sizes and weights come to, against the same edit of the spec in coremltools."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from support.how_to_models import how_to_model, photos

import miltext

WEIGHTS = Path("Data", "com.apple.CoreML", "weights", "weight.bin")


def spec(package: Path) -> Any:
    """The Model message as coremltools reads it."""
    import coremltools as ct

    return ct.models.utils.load_spec(str(package))


def assert_equal(made: Any, expected: Any) -> None:
    """The messages are equal; else say where."""
    difference = "\n".join(difflib.unified_diff(str(expected).splitlines(), str(made).splitlines(), lineterm=""))
    equal = made.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)
    assert equal, difference[:3000]


def default_added(folder: Path) -> None:
    expected = spec(folder / "Louder.mlpackage")
    gain = expected.description.input[1].type
    gain.isOptional, gain.multiArrayType.floatDefaultValue = True, 1.0
    assert_equal(spec(folder / "New.mlpackage"), expected)


def labels_set(folder: Path) -> None:
    expected = spec(folder / "Classifier.mlpackage")
    block = expected.mlProgram.functions["main"].block_specializations["CoreML6"]
    (classify,) = [each for each in block.operations if each.type == "classify"]
    labels = classify.inputs["classes"].arguments[0].value.immediateValue.list.values
    for value, label in zip(labels, ["disc", "box", "wedge"], strict=True):
        value.immediateValue.tensor.strings.values[:] = [label]
    assert_equal(spec(folder / "New.mlpackage"), expected)


def model_described(folder: Path) -> None:
    miltext.build(miltext.load(folder / "shapes.mil"), folder / "Plain.mlpackage")
    expected = spec(folder / "Plain.mlpackage")
    description = expected.description
    image, light = description.input
    image.shortDescription, light.shortDescription = "A photo of one shape", "How much brighter the photo is made"
    image.type.imageType.width = image.type.imageType.height = 64
    image.type.imageType.colorSpace = image.type.imageType.RGB
    light.type.isOptional, light.type.multiArrayType.floatDefaultValue = True, 1.0
    description.metadata.shortDescription = "Tells three shapes apart (untrained)"
    description.metadata.author = "Ada"
    assert_equal(spec(folder / "Shapes.mlpackage"), expected)
    weights = miltext.load(folder / "Shapes.mlpackage").weights
    assert np.array_equal(next(iter(weights.values())), np.load(folder / "edges.npy"))
    assert_equal(spec(folder / "New.mlpackage"), spec(folder / "Classifier.mlpackage"))


def image_resized(folder: Path) -> None:
    expected = photos(256).get_spec()  # as coremltools converts a network for such images
    expected.description.metadata.CopyFrom(spec(folder / "Photos.mlpackage").description.metadata)
    for name in ("New.mlpackage", "Same.mlpackage"):
        assert_equal(spec(folder / name), expected)
        assert (folder / name / WEIGHTS).read_bytes() == (how_to_model("Photos.mlpackage") / WEIGHTS).read_bytes()
    flexible = spec(folder / "Photos.mlpackage").description
    sizes = flexible.input[0].type.imageType.imageSizeRange
    for each in (sizes.widthRange, sizes.heightRange):
        each.lowerBound, each.upperBound = 64, 512
    assert_equal(spec(folder / "Flexible.mlpackage").description, flexible)


def model_shrunk(folder: Path) -> None:
    original = miltext.load(folder / "Classifier.mlpackage").weights["edges_weight_0_to_fp16"]
    for name in ("New.mlpackage", "Cut.mlpackage"):
        model = miltext.load(folder / name)
        assert [*model.weights] == ["edges_weight_0_to_fp16"]
        assert np.array_equal(model.weights["edges_weight_0_to_fp16"], original)
        assert (folder / name / WEIGHTS).stat().st_size < original.nbytes + 256
    assert_equal(spec(folder / "New.mlpackage"), spec(folder / "Cut.mlpackage"))


def packages_merged(folder: Path) -> None:
    import coremltools as ct

    wanted, joined = ct.utils.MultiFunctionDescriptor(), folder / "Joined.mlpackage"
    for name, package in {"encode": "Encoder.mlpackage", "decode": "Decoder.mlpackage"}.items():
        wanted.add_function(str(folder / package), "main", name)
    wanted.default_function_name = "encode"
    ct.utils.save_multifunction(wanted, str(joined))
    expected = spec(joined).description
    decode = expected.functions[1]
    for entry in (*decode.input, *decode.output):  # the page has these described by their types
        entry.shortDescription = ""
    expected.metadata.CopyFrom(spec(folder / "Encoder.mlpackage").description.metadata)
    assert_equal(spec(folder / "Both.mlpackage").description, expected)
    for function, package, inputs in (
        ("encode", "Encoder.mlpackage", {"x": np.ones((1, 16), np.float32)}),
        ("decode", "Decoder.mlpackage", {"code": np.ones((1, 4), np.float32)}),
    ):
        made = miltext.run(folder / "Both.mlpackage", inputs, function=function)
        assert_same_arrays(made, miltext.run(folder / package, inputs))
    stored = [path.stat().st_size for path in (folder / "Both.mlpackage" / WEIGHTS).parent.iterdir()]
    assert sum(stored) <= (joined / WEIGHTS).stat().st_size + 64  # a table that both have is there once


def assert_same_arrays(made: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert sorted(made) == sorted(expected)
    for name, array in expected.items():
        assert np.array_equal(made[name], array), name
