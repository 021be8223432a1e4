"""The models that the pages of docs/how-to speak of, made by coremltools, each once a process."""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from support.kinds import converted
from support.real_packages import weights

LABELS = ["bird", "cat", "dog", "fish"]


def photos(size: int = 224) -> Any:
    """A classifier of square photos."""
    import coremltools as ct

    def body(mb: Any, image: Any) -> Any:
        lit = mb.relu(x=mb.conv(x=image, weight=weights(8, 3, 3, 3), strides=[4, 4], pad_type="same"), name="lit")
        seen = mb.reduce_mean(x=lit, axes=[2, 3], keep_dims=False, name="seen")
        return mb.softmax(x=mb.linear(x=seen, weight=weights(4, 8), name="scores"), axis=-1, name="chances")

    image = ct.ImageType(name="image", shape=(1, 3, size, size), scale=1 / 255, color_layout=ct.colorlayout.RGB)
    config = ct.ClassifierConfig(LABELS, predicted_feature_name="label")
    return converted(body, {"image": f"fp32[1,3,{size},{size}]"}, "ios16", inputs=[image], classifier_config=config)


def louder() -> Any:
    """A sound made louder, and cut off softly."""

    def body(mb: Any, sound: Any, gain: Any) -> Any:
        return mb.tanh(x=mb.mul(x=sound, y=gain, name="scaled"), name="louder")

    return converted(body, {"sound": "fp32[1,16]", "gain": "fp32[1,1]"})


def encoder() -> Any:
    """Sixteen numbers as four, by a table that the decoder has, too."""

    def body(mb: Any, x: Any) -> Any:
        return mb.linear(x=mb.tanh(x=x, name="bounded"), weight=shared(), name="code")

    return converted(body, {"x": "fp32[1,16]"})


def decoder() -> Any:
    """Four numbers as sixteen."""

    def body(mb: Any, code: Any) -> Any:
        wide = mb.matmul(x=code, y=shared(), name="wide")
        return mb.linear(x=mb.relu(x=wide, name="lit"), weight=weights(16, 16), name="y")

    return converted(body, {"code": "fp32[1,4]"})


def shared() -> Any:
    return weights(4, 16)


def transformer() -> Any:
    """A block of a transformer, in fp16, with attention as many models have it: a softmax in five operations."""

    def body(mb: Any, x: Any) -> Any:
        normal = mb.layer_norm(x=x, axes=[-1], gamma=halves(32), beta=halves(32), epsilon=np.float16(1e-5))
        query, key, seen = (linear(mb, normal, 32, 32, name) for name in ("query", "key", "seen"))
        scores = mb.matmul(x=query, y=key, transpose_y=True, name="scores")
        wide = mb.cast(x=mb.mul(x=scores, y=np.float16(0.177), name="scaled"), dtype="fp32", name="wide")
        lower = mb.cast(x=wide, dtype="fp16", name="lower")
        powers = mb.exp(x=mb.sub(x=lower, y=mb.reduce_max(x=lower, axes=[-1], keep_dims=True)), name="powers")
        shares = mb.real_div(x=powers, y=mb.reduce_sum(x=powers, axes=[-1], keep_dims=True), name="shares")
        attended = mb.add(x=x, y=linear(mb, mb.matmul(x=shares, y=seen), 32, 32, "mixed"), name="attended")
        hidden = mb.gelu(x=linear(mb, attended, 64, 32, "hidden"), mode="TANH_APPROXIMATION")
        return mb.add(x=attended, y=linear(mb, hidden, 32, 64, "small"), name="y")

    import coremltools as ct

    passes = ct.PassPipeline()
    passes.remove_passes(["common::cast_optimization"])
    return converted(body, {"x": "fp16[1,8,32]"}, "ios17", pass_pipeline=passes)


def linear(mb: Any, x: Any, rows: int, columns: int, name: str) -> Any:
    """A layer with weights of its own: those of another order for another name."""
    weight = np.roll(halves(rows, columns), sum(map(ord, name)))
    return mb.linear(x=x, weight=weight, bias=halves(rows), name=name)


def halves(*shape: int) -> Any:
    return weights(*shape).astype(np.float16)


MODELS: dict[str, Callable[[], Any]] = {
    "Transformer.mlpackage": transformer,
    "Photos.mlpackage": photos,
    "Louder.mlpackage": louder,
    "Encoder.mlpackage": encoder,
    "Decoder.mlpackage": decoder,
}


@functools.cache
def how_to_model(name: str) -> Path:
    """The folder of a model, not to be changed."""
    path = Path(_folder().name, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        MODELS[name]().save(str(path))
    return path


@functools.cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="miltext-how-to-")
