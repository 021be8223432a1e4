"""Nothing edited, nothing changed: a build of a model, or of what it is shown as, has the same Model message."""

from __future__ import annotations

from pathlib import Path

import miltext
from miltext.containers.opening import open_model
from miltext.containers.programs import TextModel
from miltext.drafting.building import build
from miltext.models.manifest import model_file
from miltext.models.model import Model


def places(model: Model, prefix: str = "") -> list[str]:
    """The ML Programs in a model, by what `--model` takes."""
    if not model.models:
        return [prefix] if model.type == "mlProgram" else []
    return [
        place for index, inner in enumerate(model.models) for place in places(inner, f"{prefix}/{index}".strip("/"))
    ]


def own_bytes(path: Path) -> bytes:
    """The bytes of a model's own `.mlmodel`."""
    return (model_file(path) if path.is_dir() else path).read_bytes()


def assert_unchanged(path: Path, folder: Path, elide: int | None = None) -> None:
    """A model is built as it is, and of each of its programs as text: with the bytes of its file."""
    out = folder / "New.mlpackage"
    before = own_bytes(path)
    if open_model(path).models or open_model(path).type == "mlProgram":
        build(open_model(path), out, force=True)
        assert own_bytes(out) == before, "as a whole"
    for place in places(open_model(path)):
        text = miltext.to_text(open_model(path).select(place).program, elide=elide)
        build(TextModel(text.encode(), "m.mil", None), out, original=open_model(path), model=place, force=True)
        assert own_bytes(out) == before, f"the model {place!r}"


def assert_described(path: Path, folder: Path) -> None:
    """A model is built the same with its description as text."""
    out, description = folder / "New.mlpackage", folder / "description.toml"
    description.write_bytes(miltext.describe(open_model(path)).encode())
    build(open_model(path), out, force=True, description=description)
    assert own_bytes(out) == own_bytes(path), "with its description"


def assert_compiled(path: Path, folder: Path) -> None:
    """What a compiled model is turned back to is compiled to the same files, but for what stands for the package."""
    bundle, back, again = folder / "C.mlmodelc", folder / "Back.mlpackage", folder / "Again.mlmodelc"
    build(open_model(path), bundle, force=True, allow_unproven=True, check=False)
    build(open_model(bundle), back, force=True)
    build(open_model(back), again, force=True, allow_unproven=True, check=False)
    assert _files(again) == _files(bundle)


OF_THE_PACKAGE = ("analytics/coremldata.bin", "metadata.json")
"""What a hash of the package is in, and what says how the model is called."""


def _files(bundle: Path) -> dict[str, bytes]:
    found = {each.relative_to(bundle).as_posix(): each.read_bytes() for each in bundle.rglob("*") if each.is_file()}
    return {name: data for name, data in found.items() if not name.endswith(OF_THE_PACKAGE)}
