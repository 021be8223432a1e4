"""Packages of Apple's public tests of manifests and weight files, and Apple's answer.

Apple's own code gives the answers where it is installed: `libmodelpackage` and `libmilstoragepython` of coremltools,
from `modelpackage/src/ModelPackage.cpp` and `mlmodel/src/MILBlob/Blob/StorageReader.cpp`. The tests of weight files are
those of `mlmodel/tests/MILBlob`; without a test there, the function or type that refuses.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from support.pipelines import of_text
from support.weight_records import header, record

from miltext.schema.proto import Model

TEXT = """program(1.3)
{{
    func main<ios18>(tensor<fp32, [2]> x) {{
            tensor<fp32, [2]> w = const()[name = string("w"), val = tensor<fp32, [2]>({value})];
            tensor<fp32, [2]> y = add(x = x, y = w)[name = string("y")];
        }} -> (y);
}}
"""
VALUE = 'BLOBFILE(path = string("@model_path/weights/weight.bin"), offset = uint64({offset}))'
WEIGHTS = "com.apple.CoreML/weights"
MODEL = "com.apple.CoreML/model.mlmodel"
DATA = b"\0" * 8


def good_weights() -> bytes:
    return header() + record(size=len(DATA)) + DATA


def manifest() -> dict[str, Any]:
    def item(path: str) -> dict[str, str]:
        return {"author": "com.apple.CoreML", "description": "a part", "name": Path(path).name, "path": path}

    return {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {"model": item(MODEL), "weights": item(WEIGHTS)},
        "rootModelIdentifier": "model",
    }


def write(folder: Path, manifest: Any, weights: bytes | None, offset: int = 64) -> Path:
    """A package of a program with one weight; `manifest` is an object, or the bytes of its file."""
    path = folder / "Model.mlpackage"
    (path / "Data" / WEIGHTS).mkdir(parents=True)
    made: Model = of_text(TEXT.format(value=VALUE.format(offset=offset)))
    (path / "Data" / MODEL).write_bytes(made.SerializeToString())
    if weights is not None:
        (path / "Data" / WEIGHTS / "weight.bin").write_bytes(weights)
    if manifest is not None:
        data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        (path / "Manifest.json").write_bytes(data)
    return path


# ---- manifests


class ManifestCase(NamedTuple):
    """A manifest in words, its contents after an edit, and whether Apple's code refuses it."""

    case: str
    is_refused: bool
    edit: Callable[[dict[str, Any]], Any]


def _changed(*keys: str, to: Any) -> Callable[[dict[str, Any]], Any]:
    def edit(said: dict[str, Any]) -> None:
        inner = said
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to

    return edit


def _without(*keys: str) -> Callable[[dict[str, Any]], Any]:
    def edit(said: dict[str, Any]) -> None:
        inner = said
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]

    return edit


ITEMS = "itemInfoEntries"
FORMAT = "fileFormatVersion"
MANIFESTS = [
    ManifestCase("as coremltools writes it", False, lambda said: None),
    ManifestCase("no Manifest.json", True, lambda said: b""),
    ManifestCase("no JSON", True, lambda said: b"{"),
    ManifestCase("no fileFormatVersion", True, _without(FORMAT)),
    ManifestCase("the fileFormatVersion 1.0", True, _changed(FORMAT, to="1.0")),
    ManifestCase("the fileFormatVersion one.0.0", True, _changed(FORMAT, to="one.0.0")),
    ManifestCase("the fileFormatVersion -1.0.0", True, _changed(FORMAT, to="-1.0.0")),
    ManifestCase("the fileFormatVersion 0.9.0", False, _changed(FORMAT, to="0.9.0")),
    ManifestCase("the fileFormatVersion 1.1.0", True, _changed(FORMAT, to="1.1.0")),
    ManifestCase("the fileFormatVersion 2.0.0", True, _changed(FORMAT, to="2.0.0")),
    *(
        ManifestCase(f"an item without its {key}", True, _without(ITEMS, "weights", key))
        for key in ("path", "name", "author", "description")
    ),
    ManifestCase("an item whose path is not there", True, _changed(ITEMS, "weights", "path", to="elsewhere")),
    ManifestCase("no rootModelIdentifier", True, _without("rootModelIdentifier")),
    ManifestCase("the rootModelIdentifier of no item", True, _changed("rootModelIdentifier", to="nothing")),
    ManifestCase("no item of the weights", False, _without(ITEMS, "weights")),
    ManifestCase("a key of nobody", False, _changed("comment", to="mine")),
]


def edited(case: ManifestCase) -> Any:
    """The contents of a case's manifest, None for none."""
    said = manifest()
    given = case.edit(said)
    return (given or None) if isinstance(given, bytes) else said


# ---- weight files


class WeightCase(NamedTuple):
    """A test of Apple's with the bytes of a weight file, where the program reads it, and whether Apple refuses it."""

    test: str
    case: str
    is_refused: bool
    data: bytes | None
    offset: int = 64


def _reader(name: str) -> str:
    return f"testStorageReaderTests{name}"


RECORD = record(size=len(DATA))
WEIGHT_FILES = [
    WeightCase(_reader("RawData"), "a record of fp32", False, header() + RECORD + DATA),
    WeightCase("testMMapFileReaderTestsFileErrorNotFound", "no file", True, None),
    WeightCase("testMMapFileReaderTestsFileErrorEmpty", "an empty file", True, b""),
    WeightCase(_reader("ZeroRecords"), "a header alone", True, header()),
    WeightCase(_reader("TruncatedHeader"), "8 bytes of a header", True, header(0)[:8]),
    WeightCase(_reader("TruncatedMetadata"), "a header, and half a record", True, header() + RECORD[:32]),
    WeightCase(_reader("TruncatedData"), "9 bytes of data in a file with 8", True, header() + record(size=9) + DATA),
    WeightCase(
        _reader("IncorrectDType"), "a record of the type 65535", True, header() + record(number=65535, size=8) + DATA
    ),
    WeightCase(
        "testStorageIntegrationTestsReadDataWithIncorrectType",
        "a record of uint8",
        True,
        header() + record(number=3, size=8) + DATA,
    ),
    WeightCase(_reader("IncorrectMetadata"), "an offset of no record", True, header() + RECORD + DATA, 0),
    WeightCase("EnsureLoaded", "a header of the version 1", True, header(version=1) + RECORD + DATA),
    WeightCase(
        "GetMetadata", "a record of another sentinel", True, header() + record(sentinel=0xDEADBEE0, size=8) + DATA
    ),
    WeightCase("Span::Slice", "a record of no bytes", True, header() + record(size=0) + DATA),
    WeightCase("Span::Slice", "data far past the end", True, header() + record(size=8, start=1 << 40) + DATA),
    WeightCase("blob_metadata", "reserved fields that are not zero", False, header() + RECORD[:40] + b"\1" * 24 + DATA),
    WeightCase("blob_metadata", "a padding beside whole bytes", False, header() + record(size=8, padding=5) + DATA),
    WeightCase("GetAllOffsets", "a header that counts no record", False, header(0) + RECORD + DATA),
]
