"""Conversion between pictures and a program's arrays, by the image's description.

The colour spaces are from `FeatureTypes.proto`, and pillow's modes for them are the modes that coremltools requires in
`predict`. A picture of another mode is not converted implicitly, for colours or alpha might be lost.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from miltext.diagnostics import MiltextError, Note, codes, error, refusing
from miltext.diagnostics.home import install
from miltext.schema.proto import ImageFeatureType

if TYPE_CHECKING:
    import os

    from miltext.evaluation.carried import Carried
    from miltext.evaluation.rules import Array


class Colours(NamedTuple):
    """The layout of pixels: the `mode` of pillow, and the places of its bands in the order of the program's
    channels.
    """

    mode: str
    channels: tuple[int, ...]


COLOURS = {
    ImageFeatureType.RGB: Colours("RGB", (0, 1, 2)),
    ImageFeatureType.BGR: Colours("RGB", (2, 1, 0)),
    ImageFeatureType.GRAYSCALE: Colours("L", (0,)),
    ImageFeatureType.GRAYSCALE_FLOAT16: Colours("F", (0,)),
}

UNSCALED = ("I", "F")
"""The modes of pillow for numbers of any size: pillow's conversion clips numbers outside 0 to 255."""

READABLE = "name a picture of a format that pillow reads: .png, .jpg"
SCALING = "scale its numbers to 0 to 255 and give them as an .npy of the input's shape, or as a picture of 8 bits"


def colours_of(image: ImageFeatureType) -> Colours:
    """Return the layout of an image's pixels; an image without a colour space is RGB for Core ML."""
    return COLOURS.get(image.colorSpace, COLOURS[ImageFeatureType.RGB])


def is_picture(value: object) -> bool:
    """Return whether a value is a picture of pillow, without importing pillow."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def shape_of(picture: Carried) -> tuple[int, ...]:
    """Return the shape of a picture's array."""
    return 1, len(picture.getbands()), picture.height, picture.width


def elements_of(picture: Carried, image: ImageFeatureType) -> Array:
    """Return a picture in the image's mode as an array: [1, channels, height, width]."""
    pixels = np.asarray(picture)
    bands = pixels[:, :, np.newaxis] if pixels.ndim == 2 else pixels
    return np.ascontiguousarray(bands[:, :, list(colours_of(image).channels)].transpose(2, 0, 1)[np.newaxis])


def picture_of(array: Array, image: ImageFeatureType) -> Carried:
    """Return an array [1, channels, height, width], or without the 1, as a picture of pillow.

    Numbers are rounded and cut to 0 to 255, except in the floats of GRAYSCALE_FLOAT16; NaN is 0. Raise MiltextError
    (MIL839) without pillow.
    """
    module, colours = pillow(), colours_of(image)
    channels = array.reshape(array.shape[-3:])[list(colours.channels)].astype(np.float32)
    if colours.mode != "F":
        channels = np.clip(np.rint(np.nan_to_num(channels)), 0, 255).astype(np.uint8)
    bands = channels.transpose(1, 2, 0)
    return module.fromarray(np.ascontiguousarray(bands[:, :, 0] if len(channels) == 1 else bands), colours.mode)


def read_picture(path: str | os.PathLike[str], image: ImageFeatureType) -> Carried:
    """Return the picture in a file, upright and converted to the image's mode.

    Raise MiltextError: MIL839 without pillow, MIL836 for a file without a picture, and for numbers without a known
    white.
    """
    module = pillow()
    from PIL.ImageOps import exif_transpose

    name = str(path)
    with (
        refusing(lambda failure: _unreadable(name, f"cannot be read: {failure}", READABLE)),
        module.open(path) as picture,
    ):
        return _converted(exif_transpose(picture), colours_of(image).mode, name)


def _converted(picture: Carried, mode: str, path: str) -> Carried:
    """Return a picture in another mode; 16 bits are scaled to 8, for pillow would clip numbers above 255 to white.

    Other numbers beyond 8 bits have no known white to scale by.
    """
    if picture.mode.startswith("I;16"):
        scaled = np.asarray(picture).astype(np.float32) / 257
        picture = pillow().fromarray(scaled if mode == "F" else np.rint(scaled).astype(np.uint8))
    if picture.mode in UNSCALED and picture.mode != mode:
        raise _unreadable(path, f"is of the mode {picture.mode!r}, whose numbers have no known white", SCALING)
    return picture.convert(mode)


def _unreadable(path: str, reason: str, way: str) -> MiltextError:
    return MiltextError([error(codes.UNREADABLE_INPUT_FILE, f"this picture {reason}", None, Note(way))], path=path)


def pillow() -> Carried:
    """Return pillow's module of images. Raise MiltextError (MIL839) where it is not installed."""
    try:
        import PIL.Image
    except ImportError as failure:
        way = Note(f"install it: {install('images')}")
        found = error(codes.NO_PILLOW, "pillow is not installed, and pictures need it", None, way)
        raise MiltextError([found]) from failure
    return PIL.Image
