"""Packages that the real coremltools converts, compresses, joins and cuts: whole models, in which nothing is wrong.

`WHOLE` lists them by name, together with those of `kinds` and `real_packages`; `whole(name)` is the folder of one, not
to be changed. Call `pytest.importorskip("coremltools")` first, and `torch` for a name in `TORCH`.
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
from support import kinds, real_packages
from support.kinds import converted, mixed, painted, scored, summed
from support.real_packages import convert, weights

Make = Callable[[], Any]
"""What makes an MLModel, or a package, whose path it returns."""

MADE: dict[str, Make] = {}
TORCH: dict[str, Make] = {}
"""The models that torch traces or exports."""

NOT_WHOLE = {
    "bare": "has no description",
    "pipeline-network": "gives fp64 to a stage that takes fp32",
    "pipeline-suppression": "gives fp32 to a stage that takes fp64",
    "pipeline-dictionary": "gives fp64 to a stage that takes fp32",
    "pipeline-classifier": "has an output that no stage gives",
}
"""Kinds that are made by hand for what a description can state, and the contradiction in each."""


@functools.cache
def whole(name: str) -> Path:
    """The folder of a package; made when it is first asked for."""
    source, _, inner = name.partition("/")
    if inner:
        return kinds.kind(inner) if source == "kind" else real_packages.package(inner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = {**MADE, **TORCH}[name]()
    return made if isinstance(made, Path) else _saved(made, name)


def _saved(made: Any, name: str) -> Path:
    path = _folder() / f"{name}.mlpackage"
    made.save(str(path))
    return path


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="miltext-whole-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _made(name: str, table: dict[str, Make] = MADE) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        table[name] = make
        return make

    return register


def _loaded(path: Path) -> Any:
    import coremltools as ct

    return ct.models.MLModel(str(path), skip_model_load=True)


# ---- images


def _scaled(layout: str, channels: int, **shown: Any) -> Any:
    import coremltools as ct

    image = ct.ImageType(
        name="image", shape=(1, channels, 8, 6), color_layout=getattr(ct.colorlayout, layout), scale=1 / 127.5, **shown
    )
    return converted(scored, {"image": f"fp32[1,{channels},8,6]"}, "ios16", inputs=[image])


_made("image-scale-bias-rgb")(lambda: _scaled("RGB", 3, bias=[-1.0, -0.5, 0.25]))
_made("image-scale-bias-bgr")(lambda: _scaled("BGR", 3, bias=[-1.0, -0.5, 0.25]))
_made("image-scale-grayscale")(lambda: _scaled("GRAYSCALE", 1, bias=-1.0))


@_made("image-grayscale-fp16-program")
def _image_fp16() -> Any:
    """An image of half floats, which an fp16 program takes and gives as it is."""
    import coremltools as ct

    colour = ct.colorlayout.GRAYSCALE_FLOAT16
    image = ct.ImageType(name="image", shape=(1, 1, 8, 6), color_layout=colour)
    options = {"inputs": [image], "outputs": [ct.ImageType(name="painted", color_layout=colour)]}
    half = ct.precision.FLOAT16
    return converted(painted, {"image": "fp16[1,1,8,6]"}, "ios16", compute_precision=half, **options)


@_made("image-beside-array")
def _image_beside_array() -> Any:
    """An image, an array, and an image and an array that come out."""
    import coremltools as ct

    def body(mb: Any, image: Any, gain: Any) -> list[Any]:
        lit = mb.mul(x=image, y=gain, name="painted")
        return [lit, mb.reduce_max(x=lit, axes=[1, 2, 3], keep_dims=False, name="most")]

    image = ct.ImageType(name="image", shape=(1, 3, 8, 6), color_layout=ct.colorlayout.BGR)
    outputs = [ct.ImageType(name="painted", color_layout=ct.colorlayout.BGR), ct.TensorType(name="most")]
    inputs = [image, ct.TensorType(name="gain", shape=(1,))]
    return converted(body, {"image": "fp32[1,3,8,6]", "gain": "fp32[1]"}, "ios16", inputs=inputs, outputs=outputs)


# ---- labels


def _labelled(labels: list[Any], opset: str = "ios16", **names: Any) -> Any:
    return converted(mixed, {"x": "fp32[1,4]"}, opset, classifier_config=_config(labels, **names))


def _config(labels: list[Any], **names: Any) -> Any:
    import coremltools as ct

    return ct.ClassifierConfig(labels, **names)


_made("labels-named")(lambda: _labelled(list("abcd"), predicted_feature_name="kind"))
_made("labels-probabilities")(lambda: _labelled([0, 1, 2, 3], predicted_probabilities_output="y"))
_made("labels-ios15")(lambda: _labelled(list("abcd"), "ios15"))


@_made("labels-fp16")
def _labels_fp16() -> Any:
    config = _config([f"label {each}" for each in range(16)], predicted_feature_name="class")
    return convert(precision="FLOAT16", opset="iOS17", classifier_config=config)


# ---- inputs and outputs


def _of_rank(rank: int) -> Any:
    sizes = ",".join(str(each + 1) for each in range(rank))
    return converted(lambda mb, x: mb.relu(x=x, name="y"), {"x": f"fp32[{sizes}]"}, "ios16")


for rank in range(1, 6):
    _made(f"rank-{rank}")(functools.partial(_of_rank, rank))


@_made("scalar-output")
def _scalar_output() -> Any:
    return converted(lambda mb, x: mb.reduce_sum(x=x, axes=[0, 1], keep_dims=False, name="y"), {"x": "fp32[2,3]"})


@_made("int32-output")
def _int32_output() -> Any:
    return converted(lambda mb, x: mb.reduce_argmax(x=x, axis=1, name="y"), {"x": "fp32[2,3]"}, "ios15")


@_made("int32-input")
def _int32_input() -> Any:
    return converted(lambda mb, ids: mb.gather(x=weights(10, 4), indices=ids, axis=0, name="y"), {"ids": "int32[1,5]"})


@_made("bool-output")
def _bool_output() -> Any:
    """A comparison, which no model gives as such: coremltools casts it."""
    return converted(lambda mb, x: mb.greater(x=x, y=np.float32(0), name="y"), {"x": "fp32[2,3]"}, "ios16")


@_made("straight-through")
def _straight_through() -> Any:
    return converted(lambda mb, x, more: [mb.relu(x=x, name="y"), more], {"x": "fp32[2]", "more": "fp32[3]"})


@_made("output-twice")
def _output_twice() -> Any:
    """Two outputs of equal values."""

    def body(mb: Any, x: Any) -> list[Any]:
        lit = mb.relu(x=x, name="lit")
        return [lit, mb.identity(x=lit, name="again")]

    return converted(body, {"x": "fp32[2,2]"})


@_made("many-features")
def _many_features() -> Any:
    def body(mb: Any, **taken: Any) -> list[Any]:
        return [*mb.split(x=mb.concat(values=[*taken.values()], axis=0, name="all"), num_splits=6, axis=0)]

    return converted(body, {f"x{each}": f"fp32[{each + 1},2]" for each in range(3)})


@_made("unusual-names")
def _unusual_names() -> Any:
    """Names that are no identifiers, which coremltools replaces."""
    made = converted(lambda mb, x: mb.relu(x=x, name="a/b:0"), {"x": "fp32[2]"})
    made.user_defined_metadata["com.apple.coreml.model.preview.type"] = "imageSegmenter"
    made.user_defined_metadata["com.apple.coreml.model.preview.parameters"] = '{"labels": ["a"], "colors": ["#000"]}'
    return made


@_made("no-inputs")
def _no_inputs() -> Any:
    """A function of nothing, as models may be from iOS 18 on."""
    return converted(lambda mb: mb.relu(x=mb.fill(shape=[2, 3], value=np.float32(1)), name="y"), {})


@_made("states-alone")
def _states_alone() -> Any:
    """A counter, which takes a state and no input."""

    def body(mb: Any, count: Any) -> Any:
        more = mb.add(x=mb.read_state(input=count), y=np.float16(1))
        return mb.mul(x=mb.coreml_update_state(state=count, value=more), y=np.float16(2), name="y")

    return converted(body, {"count": "state fp16[1]"})


@_made("fp16-features")
def _fp16_features() -> Any:
    return converted(summed, {"x": "fp16[1,4]", "more": "fp16[1,4]"}, "ios17")


@_made("no-weights")
def _no_weights() -> Any:
    return converted(summed, {"x": "fp32[1,4]", "more": "fp32[4]"}, "ios15")


@_made("blocks")
def _blocks() -> Any:
    """A condition and a loop."""

    def body(mb: Any, x: Any) -> Any:
        least = mb.reduce_min(x=x, axes=[0], keep_dims=False)
        lit = mb.cond(
            pred=mb.greater(x=least, y=np.float32(0)), _true_fn=lambda: mb.relu(x=x), _false_fn=lambda: mb.tanh(x=x)
        )
        run = mb.while_loop(
            _cond=lambda count, _: mb.less(x=count, y=np.int32(3)),
            _body=lambda count, each: (mb.add(x=count, y=np.int32(1)), mb.mul(x=each, y=each)),
            loop_vars=(np.int32(0), lit),
        )
        return mb.identity(x=run[1], name="y")

    return converted(body, {"x": "fp32[4]"}, "ios16")


# ---- targets and precisions


def _to_target(target: str, precision: str) -> Any:
    return convert(opset=target, precision=precision)


for target in ("iOS15", "iOS16", "iOS17", "iOS18", "iOS26"):
    for precision in ("FLOAT32", "FLOAT16"):
        _made(f"{target}-{precision}".lower())(functools.partial(_to_target, target, precision))
for target in ("macOS12", "macOS14", "watchOS11", "tvOS18"):
    _made(target.lower())(functools.partial(_to_target, target, "FLOAT16"))


# ---- flexible sizes


def _flexible(*sizes: Any, taken: str = "fp32[b,s,4]", opset: str = "ios18") -> Any:
    import coremltools as ct

    return converted(mixed, {"x": taken}, opset, inputs=[ct.TensorType(name="x", shape=sizes)])


def _range(*bounds: int, **options: Any) -> Any:
    import coremltools as ct

    return ct.RangeDim(*bounds, **options)


_made("range-of-one-size")(lambda: _flexible(_range(1, 1), _range(1, 9), 4, opset="ios15"))
_made("range-shared")(lambda: _flexible(*[_range(1, 5, symbol="s")] * 2, 4, taken="fp32[s,s,4]"))


@_made("range-unbounded")
def _range_unbounded() -> Any:
    """Ranges without an end, which coremltools wrote up to version 6."""
    made = _flexible(_range(1, 64, default=2), _range(3, 64, default=7), 4)
    for bounds in made._spec.description.input[0].type.multiArrayType.shapeRange.sizeRanges[:2]:
        bounds.upperBound = -1
    return made


@_made("enumerated-two-inputs")
def _enumerated_two() -> Any:
    """Enumerations of two inputs at once, as from iOS 18 on."""
    import coremltools as ct

    shapes = ct.EnumeratedShapes(shapes=[(1, 2), (1, 8), (1, 5)], default=(1, 8))
    inputs = [ct.TensorType(name=name, shape=shapes) for name in ("x", "more")]
    return converted(summed, {"x": "fp32[1,s]", "more": "fp32[1,s]"}, inputs=inputs)


@_made("range-and-default-value")
def _range_and_default() -> Any:
    import coremltools as ct

    inputs = [
        ct.TensorType(name="x", shape=(1, _range(1, 6, default=4))),
        ct.TensorType(name="more", shape=(1, 1), default_value=np.ones((1, 1), np.float32)),
    ]
    return converted(summed, {"x": "fp32[1,s]", "more": "fp32[1,1]"}, inputs=inputs)


@_made("materialized")
def _materialized() -> Path:
    """A function of fixed sizes beside that of any size."""
    import coremltools as ct

    path = _folder() / "materialized.mlpackage"
    ct.utils.materialize_dynamic_shape_mlmodel(
        _loaded(kinds.kind("ranges")), {"short": {"x": (1, 3, 4)}, "long": {"x": (2, 40, 4)}}, str(path)
    )
    return path


# ---- compressed weights


def _optimized(kind: str, source: Make = convert, **options: Any) -> Any:
    import coremltools.optimize.coreml as cto

    verb, config = {
        "palettize": (cto.palettize_weights, cto.OpPalettizerConfig),
        "quantize": (cto.linear_quantize_weights, cto.OpLinearQuantizerConfig),
        "magnitude": (cto.prune_weights, cto.OpMagnitudePrunerConfig),
        "threshold": (cto.prune_weights, cto.OpThresholdPrunerConfig),
    }[kind]
    joint = {"joint_compression": options.pop("joint")} if "joint" in options else {}
    return verb(source(), cto.OptimizationConfig(config(weight_threshold=100, **options)), **joint)


_sparse = functools.partial(_optimized, "magnitude", target_sparsity=0.6)
_made("palettized-8")(lambda: _optimized("palettize", mode="uniform", nbits=8))
_made("palettized-grouped")(
    lambda: _optimized("palettize", mode="uniform", nbits=4, granularity="per_grouped_channel", group_size=4)
)
_made("palettized-scaled")(
    lambda: _optimized(
        "palettize", mode="uniform", nbits=4, granularity="per_grouped_channel", enable_per_channel_scale=True
    )
)
_made("int8-asymmetric")(lambda: _optimized("quantize", mode="linear", dtype="uint8"))
_made("int8-tensor")(lambda: _optimized("quantize", granularity="per_tensor"))
_made("int8-old")(lambda: _optimized("quantize", functools.partial(convert, opset="iOS16", precision="FLOAT16")))
_made("uint4-blocks")(
    lambda: _optimized("quantize", mode="linear", dtype="uint4", granularity="per_block", block_size=4)
)
_made("sparse-threshold")(lambda: _optimized("threshold", threshold=0.2, minimum_sparsity_percentile=0.1))
_made("sparse-old")(lambda: _sparse(functools.partial(convert, opset="iOS16")))
_made("sparse-palettized")(lambda: _optimized("palettize", _sparse, mode="uniform", nbits=4, joint=True))
_made("sparse-quantized")(lambda: _optimized("quantize", _sparse, joint=True))
_made("palettized-quantized")(
    lambda: _optimized(
        "quantize",
        functools.partial(_optimized, "palettize", mode="uniform", nbits=4),
        granularity="per_tensor",
        joint=True,
    )
)


@_made("decompressed")
def _decompressed() -> Any:
    import coremltools.optimize.coreml as cto

    return cto.decompress_weights(_optimized("quantize"))


# ---- models made of models


@_made("renamed-features")
def _renamed() -> Any:
    import coremltools as ct

    made = converted(summed, {"x": "fp32[1,4]", "more": "fp32[1,4]"})
    for old, new in {"x": "first", "more": "second_input", "y": "sum"}.items():
        ct.utils.rename_feature(made._spec, old, new)
    return ct.models.MLModel(made._spec, weights_dir=made.weights_dir, skip_model_load=True)


@_made("retyped-features")
def _retyped() -> Any:
    """Inputs and outputs made fp16 after the conversion."""
    import coremltools as ct
    from coremltools.proto.FeatureTypes_pb2 import ArrayFeatureType

    source = converted(summed, {"x": "fp32[1,4]", "more": "fp32[1,4]"}, "ios17")
    return ct.utils.change_input_output_tensor_type(
        source, ArrayFeatureType.FLOAT32, ArrayFeatureType.FLOAT16, function_names=["main"],
        input_names=["*"], output_names=["*"],
    )  # fmt: skip


def _deep(mb: Any, x: Any) -> Any:
    """Weights large enough to be cut in two."""
    for index, (given, made) in enumerate([(8, 64), (64, 64), (64, 64), (64, 8)]):
        x = mb.relu(x=mb.linear(x=x, weight=weights(made, given), bias=weights(made), name=f"layer{index}"))
    return mb.identity(x=x, name="y")


@functools.cache
def _bisected(is_pipeline: bool) -> Path:
    import coremltools as ct

    folder = Path(tempfile.mkdtemp(dir=_folder()))
    source = converted(_deep, {"x": "fp16[1,8]"}, compute_precision=ct.precision.FLOAT16)
    source.save(str(folder / "deep.mlpackage"))
    ct.models.utils.bisect_model(
        str(folder / "deep.mlpackage"),
        str(folder),
        merge_chunks_to_pipeline=is_pipeline,
        check_output_correctness=False,
    )
    return folder


_made("chunk-1")(lambda: _bisected(is_pipeline=False) / "deep_chunk1.mlpackage")
_made("chunk-2")(lambda: _bisected(is_pipeline=False) / "deep_chunk2.mlpackage")
_made("chunks-joined")(lambda: _bisected(is_pipeline=True) / "deep_chunked_pipeline.mlpackage")


@_made("functions-shared-weights")
def _shared() -> Path:
    """Functions of one network, whose weights are stored once; the default is the last."""
    import coremltools as ct

    wanted = ct.utils.MultiFunctionDescriptor()
    for name in ("one", "two", "three"):
        wanted.add_function(str(real_packages.package("fp32-18")), "main", name)
    wanted.default_function_name = "three"
    path = _folder() / "shared.mlpackage"
    ct.utils.save_multifunction(wanted, str(path))
    return path


@_made("functions-of-images")
def _image_functions() -> Path:
    """A function of an image, a function with an enumeration, and a function of states."""
    import coremltools as ct

    wanted = ct.utils.MultiFunctionDescriptor()
    for name, source in {"paint": "image-RGB", "mix": "enumerated", "keep": "states"}.items():
        wanted.add_function(str(kinds.kind(source)), "main", name)
    wanted.default_function_name = "paint"
    path = _folder() / "images.mlpackage"
    ct.utils.save_multifunction(wanted, str(path))
    return path


@_made("saved-twice")
def _saved_twice() -> Any:
    return _loaded(whole("labels-named"))


# ---- torch


def _traced(make: str | Callable[[], Any], shape: tuple[int, ...], opset: str | None = "iOS18", **options: Any) -> Any:
    import coremltools as ct
    import torch
    from support import torch_models

    model = torch_models.fixed(getattr(torch_models, make) if isinstance(make, str) else make)
    given = torch.zeros(shape, dtype=torch.int64) if options.pop("is_tokens", False) else torch.zeros(shape)
    options.setdefault("inputs", [ct.TensorType(name="x", shape=shape)])
    if opset is not None:
        options["minimum_deployment_target"] = getattr(ct.target, opset)
    traced = torch.jit.trace(model, given, check_trace=False)
    return ct.convert(traced, convert_to="mlprogram", skip_model_load=True, **options)


_made("torch-residual", TORCH)(lambda: _traced("Residual", (1, 3, 32, 32)))
_made("torch-default-target", TORCH)(lambda: _traced("Mobile", (1, 3, 32, 32), None))
_made("torch-recurrent", TORCH)(lambda: _traced("Recurrent", (1, 6, 12), "iOS16"))


@_made("torch-tokens", TORCH)
def _torch_tokens() -> Any:
    import coremltools as ct

    inputs = [ct.TensorType(name="tokens", shape=(1, 12), dtype=np.int32)]
    return _traced("Encoder", (1, 12), "iOS17", inputs=inputs, is_tokens=True)


@_made("torch-image-to-image", TORCH)
def _torch_image() -> Any:
    """An image into a network, scaled, and one out of it."""
    import coremltools as ct
    from torch import nn

    inputs = [ct.ImageType(name="photo", shape=(1, 3, 16, 16), scale=1 / 255, bias=[-0.4, -0.4, -0.4])]
    outputs = [ct.ImageType(name="styled", color_layout=ct.colorlayout.RGB)]
    network = nn.Sequential(nn.Conv2d(3, 3, 3, padding=1), nn.Sigmoid())
    return _traced(lambda: network, (1, 3, 16, 16), "iOS16", inputs=inputs, outputs=outputs)


@_made("torch-image-classifier", TORCH)
def _torch_classifier() -> Any:
    import coremltools as ct

    inputs = [ct.ImageType(name="photo", shape=(1, 3, 32, 32), scale=1 / 255)]
    config = ct.ClassifierConfig([f"class {each}" for each in range(7)])
    return _traced("Mobile", (1, 3, 32, 32), "iOS15", inputs=inputs, classifier_config=config)


@_made("torch-enumerated", TORCH)
def _torch_enumerated() -> Any:
    import coremltools as ct
    from torch import nn

    shapes = ct.EnumeratedShapes(shapes=[(1, 3, 16, 16), (1, 3, 32, 24)], default=(1, 3, 32, 24))
    return _traced(lambda: nn.Conv2d(3, 4, 3), (1, 3, 32, 24), inputs=[ct.TensorType(name="x", shape=shapes)])


@_made("torch-states", TORCH)
def _torch_states() -> Any:
    """Buffers of a decoder as states."""
    import coremltools as ct
    import torch
    from support import torch_models

    model = torch_models.fixed(torch_models.Decoder)
    traced = torch.jit.trace(model, (torch.zeros(1, 16), torch.zeros(4, 1)), check_trace=False)
    sizes = {"keys": (4, 16), "values": (4, 16), "total": (1, 16)}
    states = [ct.StateType(wrapped_type=ct.TensorType(shape=size), name=name) for name, size in sizes.items()]
    inputs = [ct.TensorType(name="x", shape=(1, 16)), ct.TensorType(name="here", shape=(4, 1))]
    return ct.convert(
        traced, convert_to="mlprogram", inputs=inputs, states=states,
        minimum_deployment_target=ct.target.iOS18, skip_model_load=True,
    )  # fmt: skip


@_made("torch-exported", TORCH)
def _torch_exported() -> Any:
    """A model of `torch.export`, whose features have torch's names."""
    import coremltools as ct
    import torch
    from torch import nn

    model = nn.Sequential(nn.Linear(6, 5), nn.GELU(), nn.Linear(5, 2)).eval()
    exported = torch.export.export(model, (torch.zeros(2, 6),)).run_decompositions({})
    return ct.convert(exported, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS17, skip_model_load=True)


KINDS = [f"kind/{name}" for name in kinds.KINDS if name not in NOT_WHOLE]
PACKAGES = [f"package/{name}" for name in real_packages.PACKAGES]
WHOLE = [*KINDS, *PACKAGES, *MADE, *TORCH]
