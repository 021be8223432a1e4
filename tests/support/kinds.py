"""Packages of every kind that a description knows, saved by the real coremltools: each made once a process, in 0.1 s.

`kind(name)` is the folder of one, not to be changed. `PROGRAMS` lists those that are an ML Program by themselves,
`PIPELINES` the others, and `KINDS` both. Call `pytest.importorskip("coremltools")` first.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from support.coremltools_programs import pymil
from support.real_packages import weights

Make = Callable[[], Any]
"""What makes an MLModel, or the Model message of one without weights."""

PROGRAMS: dict[str, Make] = {}
PIPELINES: dict[str, Make] = {}


def kind(name: str) -> Path:
    """The folder of a package; made when it is first asked for."""
    path = _folder() / f"{name}.mlpackage"
    if not path.exists():
        import coremltools as ct

        made = model(name)
        save = made.save if hasattr(made, "save") else functools.partial(ct.models.utils.save_spec, made)
        save(str(path))
    return path


@functools.cache
def model(name: str) -> Any:
    """The MLModel of a kind, or its message."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**PROGRAMS, **PIPELINES}[name]()


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="miltext-kinds-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _made(name: str, table: dict[str, Make] = PROGRAMS) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        table[name] = make
        return make

    return register


# ---- programs


def painted(mb: Any, image: Any) -> Any:
    """An image of the same size as the one that goes in."""
    return mb.relu(x=mb.mul(x=image, y=image, name="half"), name="painted")


def scored(mb: Any, image: Any) -> Any:
    """A number for each of four classes, of an image of any size."""
    lit = mb.relu(x=mb.conv(x=image, weight=weights(4, image.shape[1], 1, 1), name="conv"), name="lit")
    return mb.softmax(x=mb.reduce_mean(x=lit, axes=[2, 3], keep_dims=False, name="scores"), axis=-1, name="chances")


def mixed(mb: Any, x: Any) -> Any:
    return mb.relu(x=mb.linear(x=x, weight=weights(4, 4), name="mixed"), name="y")


def summed(mb: Any, x: Any, more: Any) -> Any:
    return mb.add(x=mb.relu(x=x, name="lit"), y=more, name="y")


def converted(body: Callable[..., Any], taken: dict[str, str], opset: str = "ios18", **options: Any) -> Any:
    """A model of a body that takes what is written as in `coremltools_programs.add`; all in and out is described."""
    import coremltools as ct

    options = {"compute_precision": ct.precision.FLOAT32, **options}
    target = getattr(ct.target, opset.replace("ios", "iOS"))
    program = pymil(opset, {"main": (body, taken)})
    if "outputs" in options:  # which `convert` only reads for a model of torch or TensorFlow
        program.functions["main"].set_output_types(options.pop("outputs"))
    made = ct.convert(
        program, convert_to="mlprogram", minimum_deployment_target=target, skip_model_load=True, **options
    )
    for each in made.get_spec().description.input:
        made.input_description[each.name] = f"what goes in as {each.name}"
    for each in made.get_spec().description.output:
        made.output_description[each.name] = f"what comes out as {each.name}"
    return made


def pictured(layout: str, channels: int = 3, opset: str = "ios16") -> Any:
    """An image in, of one colour layout, and an image out of the same."""
    import coremltools as ct

    colour = getattr(ct.colorlayout, layout)
    image = ct.ImageType(name="image", shape=(1, channels, 8, 6), color_layout=colour)
    spec, out = {"image": f"fp32[1,{channels},8,6]"}, ct.ImageType(name="painted", color_layout=colour)
    return converted(painted, spec, opset, inputs=[image], outputs=[out])


for layout, channels in {"RGB": 3, "BGR": 3, "GRAYSCALE": 1, "GRAYSCALE_FLOAT16": 1}.items():
    _made(f"image-{layout}")(functools.partial(pictured, layout, channels))


@_made("image-ranges")
def _image_ranges() -> Any:
    import coremltools as ct

    shape = ct.Shape(shape=(1, 3, ct.RangeDim(4, 32, default=8), ct.RangeDim(2, 16, default=6)))
    image = ct.ImageType(name="image", shape=shape, color_layout=ct.colorlayout.RGB, scale=1 / 255)
    return converted(scored, {"image": "fp32[1,3,h,w]"}, inputs=[image])


@_made("image-enumerated")
def _image_enumerated() -> Any:
    import coremltools as ct

    shapes = ct.EnumeratedShapes(shapes=[(1, 3, 8, 6), (1, 3, 16, 12)], default=(1, 3, 8, 6))
    image = ct.ImageType(name="image", shape=shapes, color_layout=ct.colorlayout.BGR)
    return converted(scored, {"image": "fp32[1,3,h,w]"}, inputs=[image])


def classifying(labels: list[Any]) -> Any:
    import coremltools as ct

    config = ct.ClassifierConfig(labels, predicted_feature_name="label")
    image = ct.ImageType(name="image", shape=(1, 3, 8, 6), color_layout=ct.colorlayout.RGB)
    return converted(scored, {"image": "fp32[1,3,8,6]"}, inputs=[image], classifier_config=config)


_made("labels-string")(functools.partial(classifying, ["cat", "dog", "a bird", "\u00fcber"]))
_made("labels-int")(functools.partial(classifying, [3, 1, 4, -15]))


@_made("ranges")
def _ranges() -> Any:
    import coremltools as ct

    x = ct.TensorType(name="x", shape=(ct.RangeDim(1, 4), ct.RangeDim(1, 64, default=3), 4))
    return converted(mixed, {"x": "fp32[b,s,4]"}, inputs=[x])


@_made("enumerated")
def _enumerated() -> Any:
    import coremltools as ct

    x = ct.TensorType(name="x", shape=ct.EnumeratedShapes(shapes=[(1, 2, 4), (1, 8, 4)], default=(1, 8, 4)))
    return converted(mixed, {"x": "fp32[1,s,4]"}, inputs=[x])


@_made("defaults")
def _defaults() -> Any:
    """Two optional inputs: one with a float for a default, one with an integer."""
    import coremltools as ct

    def body(mb: Any, x: Any, gain: Any, shift: Any) -> Any:
        return mb.add(x=mb.mul(x=x, y=gain, name="lit"), y=mb.cast(x=shift, dtype="fp32", name="moved"), name="y")

    inputs = [
        ct.TensorType(name="x", shape=(1, 4)),
        ct.TensorType(name="gain", shape=(1, 4), default_value=np.full((1, 4), 0.1, np.float32)),
        ct.TensorType(name="shift", shape=(1, 4), default_value=np.full((1, 4), -7, np.int32), dtype=np.int32),
    ]
    made = converted(body, {"x": "fp32[1,4]", "gain": "fp32[1,4]", "shift": "int32[1,4]"}, inputs=inputs)
    made._spec.description.input[2].type.multiArrayType.intDefaultValue = -7  # for which coremltools has a float
    return made


@_made("fp16")
def _fp16() -> Any:
    import coremltools as ct

    inputs = [ct.TensorType(name=name, shape=(1, 4), dtype=np.float16) for name in ("x", "more")]
    out = ct.TensorType(name="y", dtype=np.float16)
    return converted(summed, {"x": "fp16[1,4]", "more": "fp16[1,4]"}, "ios16", inputs=inputs, outputs=[out])


@_made("int8")
def _int8() -> Any:
    """Inputs of iOS 26."""
    return converted(lambda mb, x: mb.cast(x=x, dtype="fp32", name="y"), {"x": "int8[1,4]"}, "ios26")


@_made("states")
def _states() -> Any:
    def body(mb: Any, memory: Any, total: Any, x: Any) -> Any:
        new = mb.coreml_update_state(state=memory, value=mb.add(x=mb.read_state(input=memory), y=x), name="new")
        total = mb.coreml_update_state(state=total, value=mb.add(x=mb.read_state(input=total), y=x), name="all")
        return mb.mul(x=new, y=total, name="y")

    made = converted(body, {"memory": "state fp16[1,4]", "total": "state fp16[1,4]", "x": "fp16[1,4]"})
    for each in made._spec.description.state:
        each.shortDescription = f"what is kept as {each.name}"
    return made


@_made("functions")
def _functions() -> Any:
    """Three functions, of which the second is the default one; the first has labels, the last states."""
    import coremltools as ct

    wanted = ct.utils.MultiFunctionDescriptor()
    wanted.add_function(str(kind("labels-string")), "main", "classify")
    wanted.add_function(str(kind("ranges")), "main", "mix")
    wanted.add_function(str(kind("states")), "main", "keep")
    wanted.default_function_name = "mix"
    path = _folder() / "joined.mlpackage"
    ct.utils.save_multifunction(wanted, str(path))
    made = ct.models.MLModel(str(path), skip_model_load=True)
    for function in made._spec.description.functions:
        for each in (*function.input, *function.output, *function.state):
            each.shortDescription = f"{each.name} of {function.name}"
    return made


@_made("metadata")
def _metadata() -> Any:
    made = converted(summed, {"x": "fp32[1,4]", "more": "fp32[1,4]"}, "ios15")
    made.short_description, made.author, made.license = "Two are summed", "The tests", "MIT"
    made.version = "1.0 \u03b2"
    made.user_defined_metadata.update({"a key": "a value", "com.github.apple.coremltools.source": "torch", "empty": ""})
    return made


@_made("bare")
def _bare() -> Any:
    """No entry of a description at all."""
    made = converted(mixed, {"x": "fp32[1,4]"})
    made._spec.ClearField("description")
    return made


@_made("two-files")
def _two_files() -> Any:
    """Weights in two files."""

    def body(mb: Any, x: Any) -> Any:
        return mb.linear(x=mb.relu(x=mb.linear(x=x, weight=weights(8, 4), name="one")), weight=weights(4, 8), name="y")

    made = converted(body, {"x": "fp32[1,4]"})
    folder = Path(made.weights_dir)
    shutil.copyfile(folder / "weight.bin", folder / "more.bin")
    block = made._spec.mlProgram.functions["main"].block_specializations["CoreML8"]
    named = [each for each in block.operations if "blobFileValue" in str(each.attributes)]
    named[-1].attributes["val"].blobFileValue.fileName = "@model_path/weights/more.bin"
    return made


# ---- pipelines


def joined(*stages: Any) -> Any:
    """A pipeline of models that give one another what is called alike."""
    import coremltools as ct

    return ct.utils.make_pipeline(*stages)


def stage(body: Callable[..., Any], taken: dict[str, str], renamed: dict[str, str], **options: Any) -> Any:
    """A model to be in a pipeline, with features renamed by coremltools."""
    import coremltools as ct

    made = converted(body, taken, **options)
    for old, new in renamed.items():
        ct.utils.rename_feature(made._spec, old, new)
    return ct.models.MLModel(made._spec, weights_dir=made.weights_dir, skip_model_load=True)


@_made("pipeline-2", PIPELINES)
def _pipeline_2() -> Any:
    """An image through a network into a second one, whose labels are the pipeline's output."""
    import coremltools as ct

    image = ct.ImageType(name="image", shape=(1, 3, 8, 6), color_layout=ct.colorlayout.RGB)
    first = stage(scored, {"image": "fp32[1,3,8,6]"}, {"chances": "middle"}, inputs=[image])
    config = ct.ClassifierConfig(["a", "b", "c", "d"], predicted_feature_name="label")
    made = joined(first, stage(mixed, {"x": "fp32[1,4]"}, {"x": "middle"}, classifier_config=config))
    made.short_description, made.author = "Two stages", "The tests"
    made.user_defined_metadata["a key"] = "a value"
    return made


@_made("pipeline-3", PIPELINES)
def _pipeline_3() -> Any:
    """Three stages with names; the last takes an input of its own beside what the second gives."""
    one = stage(mixed, {"x": "fp32[1,4]"}, {"y": "first"})
    two = stage(mixed, {"x": "fp32[1,4]"}, {"x": "first", "y": "second"})
    made = joined(one, two, stage(summed, {"x": "fp32[1,4]", "more": "fp32[1,4]"}, {"x": "second"}))
    made._spec.pipeline.names.extend(["prepare", "mix", "sum"])
    return made


@_made("pipeline-network", PIPELINES)
def _pipeline_network() -> Any:
    """A neural network in front of an ML Program."""
    import coremltools as ct
    from coremltools.models import datatypes
    from coremltools.models.neural_network import NeuralNetworkBuilder

    features = [("samples", datatypes.Array(1, 4))], [("middle", datatypes.Array(1, 4))]
    builder = NeuralNetworkBuilder(*features, disable_rank5_shape_mapping=True)
    builder.add_activation("lit", "RELU", "samples", "middle")
    builder.spec.description.input[0].shortDescription = "what goes into the network"
    network = ct.models.MLModel(builder.spec, skip_model_load=True)
    return joined(network, stage(mixed, {"x": "fp32[1,4]"}, {"x": "middle"}))


@_made("pipeline-suppression", PIPELINES)
def _pipeline_suppression() -> Any:
    """An ML Program that finds boxes, and the suppression of those that are found twice, as detectors are saved."""
    import coremltools as ct

    def body(mb: Any, image: Any) -> list[Any]:
        found = mb.reshape(x=mb.relu(x=image, name="lit"), shape=[8, 6], name="found")
        return [
            mb.slice_by_size(x=found, begin=[0, 0], size=[8, 2], name="raw_confidence"),
            mb.slice_by_size(x=found, begin=[0, 2], size=[8, 4], name="raw_coordinates"),
        ]

    image = ct.ImageType(name="image", shape=(1, 1, 8, 6), color_layout=ct.colorlayout.GRAYSCALE)
    found = stage(body, {"image": "fp32[1,1,8,6]"}, {}, inputs=[image])
    spec = joined(found, ct.models.MLModel(suppression(), skip_model_load=True))._spec
    for name in ("iouThreshold", "confidenceThreshold"):
        entry = next(each for each in spec.description.input if each.name == name)
        entry.shortDescription = "(optional) a threshold"
    return spec


def suppression() -> Any:
    """Non-maximum suppression as YOLO's exporters write it, with four inputs of which two are optional numbers."""
    import coremltools as ct

    spec = ct.proto.Model_pb2.Model(specificationVersion=5)
    element = ct.proto.FeatureTypes_pb2.ArrayFeatureType.DOUBLE
    for side, prefix in ((spec.description.input, "raw_"), (spec.description.output, "")):
        for name, width in (("confidence", 2), ("coordinates", 4)):
            array = side.add(name=prefix + name).type.multiArrayType
            array.dataType = element
            for least, greatest in ((0, -1), (width, width)):
                array.shapeRange.sizeRanges.add(lowerBound=least, upperBound=greatest)
    for name in ("iouThreshold", "confidenceThreshold"):
        entry = spec.description.input.add(name=name)
        entry.type.doubleType.SetInParent()
        entry.type.isOptional = True
    names = spec.nonMaximumSuppression
    names.confidenceInputFeatureName, names.coordinatesInputFeatureName = "raw_confidence", "raw_coordinates"
    names.confidenceOutputFeatureName, names.coordinatesOutputFeatureName = "confidence", "coordinates"
    names.iouThresholdInputFeatureName = "iouThreshold"
    names.confidenceThresholdInputFeatureName = "confidenceThreshold"
    names.iouThreshold, names.confidenceThreshold = 0.45, 0.25
    names.pickTop.perClass = True
    names.stringClassLabels.vector.extend(["cat", "dog"])
    return spec


@_made("pipeline-dictionary", PIPELINES)
def _pipeline_dictionary() -> Any:
    """A dictionary, an integer and a number made into an array, for an ML Program."""
    import coremltools as ct
    from coremltools.models import datatypes
    from coremltools.models.feature_vectorizer import create_feature_vectorizer

    features = [("words", datatypes.Dictionary(int)), ("count", datatypes.Int64()), ("share", datatypes.Double())]
    spec, _ = create_feature_vectorizer(features, "middle", {"words": 2})
    spec.description.input[0].shortDescription = "how often each word comes"
    first = ct.models.MLModel(spec, skip_model_load=True)
    return joined(first, stage(mixed, {"x": "fp32[4]"}, {"x": "middle"}))


@_made("pipeline-classifier", PIPELINES)
def _pipeline_classifier() -> Any:
    """A `pipelineClassifier`, with a sequence among its outer features."""
    import coremltools as ct

    plain = model("pipeline-2")
    spec = ct.proto.Model_pb2.Model(specificationVersion=9, description=plain._spec.description)
    spec.pipelineClassifier.pipeline.CopyFrom(plain._spec.pipeline)
    entry = spec.description.output.add(name="words")
    entry.type.sequenceType.stringType.SetInParent()
    entry.type.sequenceType.sizeRange.upperBound = -1
    return ct.models.MLModel(spec, weights_dir=plain.weights_dir, skip_model_load=True)


KINDS = {**PROGRAMS, **PIPELINES}
