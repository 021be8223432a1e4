"""Packages with overlays, as Xcode writes them beside a model when somebody edits its texts there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.containers import write_package

import miltext
from miltext.descriptions.program_descriptions import describe
from miltext.schema.proto import Model

DATA = Path("Data", "com.apple.CoreML")
METADATA, FEATURES = DATA / "Metadata.json", DATA / "FeatureDescriptions.json"
USES = {METADATA: "External Metadata Overlay", FEATURES: "External FeatureDescription Overlay"}

TEXT = """program(1.3)
{
    func main<ios16>(tensor<fp32, [1, 4]> x) {
            tensor<fp32, [1, 4]> inner = relu(x = x)[name = string("inner")];
            tensor<fp32, [1, 4]> y = tanh(x = inner)[name = string("y")];
        } -> (y);
}
"""

METADATA_TABLE: dict[str, Any] = {
    "MLModelVersionStringKey": "2",
    "MLModelDescriptionKey": "over a model",
    "MLModelCreatorDefinedKey": {"shared": "over", "added": "over/there"},
    "MLModelAuthorKey": "Over Author",
    "MLModelLicenseKey": "own license",
}
FEATURES_TABLE: dict[str, Any] = {
    "Inputs": {"x": {"MLFeatureShortDescription": "over x"}},
    "Outputs": {"y": {"MLFeatureShortDescription": "own y"}},
    "TrainingInputs": {},
    "States": {},
}
"""Two texts here are the model's own; the others stand over others, or over none."""


def model() -> Model:
    """A model with texts of its own."""
    program = miltext.parse(TEXT)
    made = Model(specificationVersion=7, description=describe(program, None), mlProgram=program)
    metadata = made.description.metadata
    metadata.author, metadata.license, metadata.shortDescription = "Own Author", "own license", "a model"
    metadata.userDefined.update({"shared": "own", "kept": "own"})
    made.description.input[0].shortDescription = "own x"
    made.description.output[0].shortDescription = "own y"
    return made


def overlaid(
    folder: Path,
    spec: Model | None = None,
    metadata: object = METADATA_TABLE,
    features: object = FEATURES_TABLE,
    items: dict[str, Any] | None = None,
) -> Path:
    """A package with overlays, none for None; bytes are written as they are. `items` are further ones."""
    made = write_package(folder, (spec or model()).SerializeToString(deterministic=True))
    said = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": {
            "model": item("com.apple.CoreML/model.mlmodel", "CoreML Model Specification"),
            **(items or {}),
        },
        "rootModelIdentifier": "model",
    }
    (made / "Manifest.json").write_text(json.dumps(said), encoding="utf-8")
    add_overlays(made, metadata, features)
    return made


def add_overlays(package: Path, metadata: object, features: object) -> None:
    """Put overlays into a package, none for None."""
    manifest = json.loads((package / "Manifest.json").read_text(encoding="utf-8"))
    for path, table in ((METADATA, metadata), (FEATURES, features)):
        if table is not None:
            manifest["itemInfoEntries"][path.stem] = item(f"com.apple.CoreML/{path.name}", USES[path])
            (package / path).write_bytes(table if isinstance(table, bytes) else laid_out(table))
    (package / "Manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def item(path: str, use: str) -> dict[str, str]:
    """An item of a manifest."""
    return {"author": "com.apple.CoreML", "description": use, "name": Path(path).name, "path": path}


def laid_out(table: object) -> bytes:
    """JSON in any layout but Xcode's."""
    return json.dumps(table, indent=1).encode()


def tables(package: Path) -> tuple[Any, Any]:
    """The overlays of a package."""
    found = [json.loads((package / path).read_bytes()) for path in (METADATA, FEATURES)]
    return found[0], found[1]


def own(package: Path) -> Model:
    """The Model in the `.mlmodel` of a package, without overlays."""
    return Model.FromString((package / DATA / "model.mlmodel").read_bytes())
