"""The models that the pages of docs/how-to speak of, made by coremltools, each once a process."""

from __future__ import annotations

import functools
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


MODELS: dict[str, Callable[[], Any]] = {
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
