"""Packages that the real coremltools saves, each made once a process: every kind that a model comes in.

`PACKAGES` lists them by name; `package(name)` is the folder of one, not to be changed. Call
`pytest.importorskip("coremltools")` first.
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

PACKAGES: dict[str, Callable[[Path], None]] = {}


@functools.cache
def package(name: str) -> Path:
    """The folder of a package; made when it is first asked for."""
    path = _folder() / f"{name}.mlpackage"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PACKAGES[name](path)
    return path


@functools.cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="miltext-packages-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def made(name: str) -> Callable[[Callable[[Path], None]], Callable[[Path], None]]:
    def register(make: Callable[[Path], None]) -> Callable[[Path], None]:
        PACKAGES[name] = make
        return make

    return register


def weights(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).normal(0, 0.2, shape).astype(np.float32)


def network(mb: Any, x: Any) -> Any:
    """Two layers; their weights are large enough to be compressed."""
    made = mb.conv(x=x, weight=weights(8, 3, 3, 3), bias=weights(8), pad_type="same", strides=[2, 2], name="conv")
    made = mb.relu(x=made, name="lit")
    made = mb.linear(x=mb.reshape(x=made, shape=[1, -1], name="flat"), weight=weights(16, 128), name="scores")
    return mb.softmax(x=made, axis=-1, name="probabilities")


def sequence(mb: Any, x: Any) -> Any:
    return mb.gelu(x=mb.linear(x=x, weight=weights(16, 8), name="mixed"), mode="EXACT", name="y")


def convert(
    body: Callable[..., Any] = network,
    shape: tuple[Any, ...] = (1, 3, 8, 8),
    opset: str = "iOS18",
    precision: str = "FLOAT32",
    **options: Any,
) -> Any:
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb

    target = getattr(ct.target, opset)
    forget_names(mb)

    @mb.program(input_specs=[mb.TensorSpec(shape=shape)], opset_version=target)  # type: ignore[untyped-decorator]
    def program(x: Any) -> Any:
        return body(mb, x)

    return ct.convert(
        program,
        convert_to="mlprogram",
        minimum_deployment_target=target,
        compute_precision=getattr(ct.precision, precision),
        skip_model_load=True,
        **options,
    )


def forget_names(mb: Any) -> None:
    mb.name_count.clear()  # so that a program has the same names whichever were made before it


def palettized(model: Any, bits: int) -> Any:
    import coremltools.optimize.coreml as cto

    config = cto.OpPalettizerConfig(mode="uniform", nbits=bits, weight_threshold=100)
    return cto.palettize_weights(model, cto.OptimizationConfig(config))


def quantized(model: Any, dtype: str) -> Any:
    import coremltools.optimize.coreml as cto

    options = {"granularity": "per_block", "block_size": 8} if dtype == "int4" else {}
    config = cto.OpLinearQuantizerConfig(dtype=dtype, weight_threshold=100, **options)
    return cto.linear_quantize_weights(model, cto.OptimizationConfig(config))


@made("fp32")
def _fp32(path: Path) -> None:
    model = convert(opset="iOS15")
    model.short_description, model.author = "Two layers", "The tests"
    model.user_defined_metadata["a key"] = "a value"
    model.input_description["x"] = "what goes in"
    model.save(str(path))


@made("fp16")
def _fp16(path: Path) -> None:
    convert(precision="FLOAT16", opset="iOS16").save(str(path))


@made("int8")
def _int8(path: Path) -> None:
    quantized(convert(opset="iOS17"), "int8").save(str(path))


@made("int4")
def _int4(path: Path) -> None:
    quantized(convert(), "int4").save(str(path))


for bits in (1, 2, 3, 4, 6):
    made(f"palettized-{bits}")(lambda path, bits=bits: palettized(convert(), bits).save(str(path)))  # type: ignore[misc]
made("palettized-old")(lambda path: palettized(convert(opset="iOS16"), 4).save(str(path)))


@made("sparse")
def _sparse(path: Path) -> None:
    import coremltools.optimize.coreml as cto

    config = cto.OpMagnitudePrunerConfig(target_sparsity=0.7, weight_threshold=100)
    cto.prune_weights(convert(), cto.OptimizationConfig(config)).save(str(path))


@made("stateful")
def _stateful(path: Path) -> None:
    import coremltools as ct
    from coremltools.converters.mil import Builder as mb
    from coremltools.converters.mil.mil import types

    forget_names(mb)
    specs = [mb.StateTensorSpec((1, 20), dtype=types.fp16), mb.TensorSpec(shape=(1, 20), dtype=types.fp16)]

    @mb.program(input_specs=specs, opset_version=ct.target.iOS18)  # type: ignore[untyped-decorator]
    def program(memory: Any, x: Any) -> Any:
        old = mb.read_state(input=memory, name="old")
        new = mb.coreml_update_state(state=memory, value=mb.add(x=old, y=x, name="sum"), name="new")
        return mb.linear(x=new, weight=weights(4, 20).astype(np.float16), name="y")

    made = ct.convert(program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18, skip_model_load=True)
    made.save(str(path))


@made("functions")
def _functions(path: Path) -> None:
    import coremltools as ct

    description = ct.utils.MultiFunctionDescriptor()
    description.add_function(str(package("fp32-18")), "main", "narrow")
    description.add_function(str(package("flexible")), "main", "wide")
    description.default_function_name = "narrow"
    ct.utils.save_multifunction(description, str(path))


@made("fp32-18")
def _fp32_18(path: Path) -> None:
    convert().save(str(path))


@made("flexible")
def _flexible(path: Path) -> None:
    import coremltools as ct
    from coremltools.converters.mil.mil import get_new_symbol

    length = ct.RangeDim(lower_bound=1, upper_bound=64, default=4)
    inputs = [ct.TensorType(name="x", shape=(1, length, 8))]
    convert(sequence, (1, get_new_symbol(), 8), inputs=inputs).save(str(path))


@made("enumerated")
def _enumerated(path: Path) -> None:
    import coremltools as ct
    from coremltools.converters.mil.mil import get_new_symbol

    shapes = ct.EnumeratedShapes(shapes=[(1, 4, 8), (1, 16, 8)], default=(1, 4, 8))
    inputs = [ct.TensorType(name="x", shape=shapes)]
    convert(sequence, (1, get_new_symbol(), 8), inputs=inputs).save(str(path))


@made("image")
def _image(path: Path) -> None:
    import coremltools as ct

    picture = ct.ImageType(name="x", shape=(1, 3, 8, 8), scale=1 / 255, color_layout=ct.colorlayout.RGB)
    convert(inputs=[picture]).save(str(path))


@made("classifier")
def _classifier(path: Path) -> None:
    import coremltools as ct

    convert(classifier_config=ct.ClassifierConfig([f"label {each}" for each in range(16)])).save(str(path))


@made("pipeline")
def _pipeline(path: Path) -> None:
    import coremltools as ct

    def first(mb: Any, x: Any) -> Any:
        return mb.linear(x=x, weight=weights(12, 20), name="middle")

    def second(mb: Any, x: Any) -> Any:
        return mb.relu(x=mb.linear(x=x, weight=weights(6, 12), name="inner"), name="y")

    one, two = convert(first, (1, 20)), convert(second, (1, 12))
    spec = two.get_spec()
    ct.utils.rename_feature(spec, "x", "middle")
    two = ct.models.MLModel(spec, weights_dir=two.weights_dir, skip_model_load=True)
    ct.utils.make_pipeline(one, two).save(str(path))
