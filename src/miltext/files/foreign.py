"""Files of other formats that people take for models, by the bytes at their beginnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from miltext.diagnostics import ModelError, Note, codes, error

if TYPE_CHECKING:
    from pathlib import Path

_CONVERT = "coremltools converts it to an .mlpackage: `coremltools.convert`"
_OF_PYTORCH = "load it with PyTorch, and convert the model with `coremltools.convert`"


class ForeignFormat(NamedTuple):
    """A format: its name with an article, the bytes at an offset of each file, and how to get a model from it."""

    name: str
    signature: bytes
    way: str
    offset: int = 0


FORMATS = (
    ForeignFormat("a zip archive", b"PK\x03\x04", "unzip it, and name the folder or file in it"),
    ForeignFormat("a gzip file", b"\x1f\x8b\x08", "unpack it, and name the model in it"),
    ForeignFormat("a 7z archive", b"7z\xbc\xaf\x27\x1c", "unpack it, and name the model in it"),
    ForeignFormat("a bzip2 file", b"BZh", "unpack it, and name the model in it"),
    ForeignFormat("an xz file", b"\xfd7zXZ\x00", "unpack it, and name the model in it"),
    ForeignFormat("an HDF5 file, as Keras writes it", b"\x89HDF\r\n\x1a\n", _CONVERT),
    ForeignFormat("a TensorFlow Lite model", b"TFL3", "convert the TensorFlow model that it was made from", 4),
    ForeignFormat("a GGUF file of llama.cpp", b"GGUF", "convert the PyTorch model that it was made from"),
    ForeignFormat("a PyTorch file", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.", _OF_PYTORCH),
    ForeignFormat("a safetensors file", b'\0\0\0\0{"', 'a text names its arrays as `$safetensors("FILE", "KEY")`', 4),
    ForeignFormat(
        "an array of numpy", b"\x93NUMPY", 'a text names it as `$npy("FILE")`, and `miltext run` as an input'
    ),
    ForeignFormat("a PNG picture", b"\x89PNG\r\n\x1a\n", "`miltext run` takes it as an input"),
    ForeignFormat("a JPEG picture", b"\xff\xd8\xff", "`miltext run` takes it as an input"),
    ForeignFormat("a PDF document", b"%PDF-", "name a model"),
)
"""The signatures are from the formats' own specifications; none begins a MIL text, a Program or a Model."""

_ONNX = ForeignFormat("an ONNX model", b"", "convert the model that it was made from: coremltools no longer reads ONNX")

_PYTORCH = ForeignFormat("a PyTorch file", b"/data.pkl", _OF_PYTORCH)
"""A zip archive of `torch.save` or `torch.jit.save`, by the name of a file in it."""

_ZIP = FORMATS[0]


def refuse_foreign(data: bytes, name: str | Path) -> None:
    """Raise ModelError (MIL253) for the bytes of a file in another format; an ONNX model is known by its ending."""
    found = next((each for each in FORMATS if data.startswith(each.signature, each.offset)), None)
    if found is _ZIP and _PYTORCH.signature in data:
        found = _PYTORCH
    if str(name).lower().endswith(".onnx"):
        found = _ONNX
    if found is not None:
        message = f"this is {found.name}, and not a Core ML model"
        raise ModelError([error(codes.NOT_A_MODEL, message, None, Note(found.way))], path=str(name))
